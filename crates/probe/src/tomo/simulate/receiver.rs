//! Takes completions as TOMO does: over TLS, at the partner's path, with a signature; 201, or 401 SIGNATURE_INVALID. The
//! sender is not trusted: connections, bytes and times are bounded.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Method, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::super::doctor::now;
use super::completion;
use super::signature::{CompletionKeys, OldKeys};
use super::simulation::Simulation;
use crate::report::shown;

const MAX_CONNECTIONS: usize = 64;
const MAX_BODY: usize = 64 << 10;
const CONNECTION_DEADLINE: Duration = Duration::from_secs(60);
const HEADER_DEADLINE: Duration = Duration::from_secs(10);
const PATH: &str = "/api/v1/cpc/mcp_provider/";

pub(super) struct ReceiverRules {
    pub(super) keys: CompletionKeys,
    /// So many deliveries are answered with an error, to see that they come again.
    pub(super) fail_first: usize,
}

/// What was refused on purpose, until it comes again.
#[derive(Default)]
pub(super) struct Refused {
    pub(super) count: usize,
    /// Timestamp and body.
    deliveries: Vec<(String, Bytes)>,
}

/// Until it is dropped.
pub(super) async fn serve(listener: TcpListener, tls: TlsAcceptor, simulation: Arc<Simulation>) {
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files, perhaps: not a reason to spin.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let (tls, simulation) = (tls.clone(), Arc::clone(&simulation));
        tokio::spawn(async move {
            let _permit = permit;
            let connection = async {
                let Ok(stream) = tls.accept(stream).await else { return };
                let service = service_fn(|request| respond(request, Arc::clone(&simulation)));
                let mut builder = http1::Builder::new();
                builder.timer(TokioTimer::new()).header_read_timeout(HEADER_DEADLINE);
                let _ = builder.serve_connection(TokioIo::new(stream), service).await;
            };
            let _ = timeout(CONNECTION_DEADLINE, connection).await;
        });
    }
}

async fn respond(
    request: http::Request<Incoming>,
    simulation: Arc<Simulation>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = match Limited::new(body, MAX_BODY).collect().await {
        Ok(body) => body.to_bytes(),
        Err(_) => {
            simulation.completion_problem("", "a delivery broke off or is larger than 64 KiB");
            return Ok(answer(413, "REQUEST_TOO_LARGE"));
        }
    };
    let (status, code) = judge(&simulation, &head.method, head.uri.path(), &head.headers, body);
    Ok(answer(status, code))
}

fn judge(
    simulation: &Simulation,
    method: &Method,
    path: &str,
    headers: &HeaderMap,
    body: Bytes,
) -> (u16, &'static str) {
    let Some(rules) = &simulation.receiver else { return (404, "NOT_FOUND") };
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let wrong = |problem: &str| simulation.completion_problem("", problem);
    let expected = format!("{PATH}{}", simulation.partner_id());
    if path != expected {
        wrong(&format!("the path is {}; {expected} was declared", shown(path)));
        return (404, "NOT_FOUND");
    }
    if method != Method::POST {
        wrong(&format!("the method is {}; POST is expected", shown(method.as_str())));
        return (405, "METHOD_NOT_ALLOWED");
    }
    let kind = header(CONTENT_TYPE.as_str()).unwrap_or_default();
    let is_json = kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"));
    if !is_json {
        wrong("the Content-Type is not application/json");
        return (415, "UNSUPPORTED_MEDIA_TYPE");
    }
    let (timestamp, signature) = (header("x-tomo-timestamp"), header("x-tomo-signature"));
    let old_keys = if simulation.clock.has_passed_a_day() { OldKeys::Expired } else { OldKeys::Accepted };
    // The timestamp is of the partner's clock, which knows nothing of simulated hours.
    let now_millis = i64::try_from(now().unix_timestamp_nanos() / 1_000_000).unwrap_or_default();
    if let Err(problem) = rules.keys.verify(timestamp, signature, &body, now_millis, old_keys) {
        let (completion, _) = completion::read(&body);
        simulation.completion_problem(&completion.external_id, &format!("{problem}: 401 SIGNATURE_INVALID"));
        return (401, "SIGNATURE_INVALID");
    }
    let mut state = simulation.state();
    let timestamp = timestamp.unwrap_or_default().to_owned();
    let was_stamped = state.refused.deliveries.iter().any(|(time, before)| *time == timestamp && *before == body);
    let (completion, mut problems) = completion::read(&body);
    if was_stamped {
        problems.push("it came again with the timestamp of the first try".to_owned());
    }
    if state.refused.count < rules.fail_first {
        state.refused.count += 1;
        state.refused.deliveries.push((timestamp, body));
        return (503, "TRY_AGAIN");
    }
    problems.extend(state.bookings.complete(&completion, &body));
    drop(state);
    for problem in &problems {
        simulation.completion_problem(&completion.external_id, problem);
    }
    simulation.completed();
    if problems.is_empty() { (201, "") } else { (400, "INVALID_REQUEST") }
}

fn answer(status: u16, code: &str) -> Response<Full<Bytes>> {
    let body = if code.is_empty() { json!({"ok": true}) } else { json!({"ok": false, "error": {"code": code}}) };
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())));
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or_default();
    response.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    response
}
