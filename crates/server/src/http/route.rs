//! Routing: contract endpoints, the front page, documents and the authorization server.

use std::sync::Arc;

use ::http::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS};
use ::http::request::Parts;
use ::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use frontdesk_contracts::shared_page;
use frontdesk_engine::desk::Mount;
use frontdesk_engine::dispatch::{DispatchPreference, dispatch};
use frontdesk_engine::model::event_sink::event_slot;
use frontdesk_engine::model::incoming::{Incoming, Listening, Verb};
use frontdesk_engine::model::reply::{Reply, ReplyKind};
use frontdesk_engine::model::route::{RouteBody, RouteMatch};
use frontdesk_engine::model::trace::Trace;
use frontdesk_engine::{Fault, FaultKind, serve_borrowed, serve_route};
use frontdesk_identity::OAuthRequest;

use super::accept::accepts_events;
use super::client_address::client_address;
use super::event_body::{EventBody, RunningCall, until_answered};
use super::headers::RequestHeaders;
use super::{demo_search, guard, notifications, page, receive, shared};
use crate::app::{App, Via};
use crate::config::CertificateConfig;
use crate::net::{ConnectionLimits, IncomingBody, Peer, ResponseBody};

/// Nearly every answer has fewer headers.
const RESERVED_HEADERS: usize = 6;

/// Where the systems of a partner report, below the path of its mount.
const NOTIFICATIONS: &str = "notifications";

/// Forms of the authorization server are small.
const FORM_BYTES: usize = 16 * 1024;

pub async fn respond(app: Arc<App>, request: Request<IncomingBody>, peer: Peer) -> Response<ResponseBody> {
    let (head, body) = request.into_parts();
    let headers = RequestHeaders::new(&head.headers);
    let trace = receive::trace(&headers).unwrap_or_else(|| app.desk.new_trace());
    let path = without_trailing_slash(head.uri.path());
    let rest = || app.mounts.find_route(path).filter(|_| app.mounts.document(path).is_none());
    let (mount, route) = match (app.mounts.find_dispatch(path), app.mounts.find(path)) {
        (Some(mount), _) => (mount, HttpRoute::Dispatch(preferred(&head.headers))),
        (None, Some(mount)) => (mount, HttpRoute::Serve),
        (None, None) if let Some((mount, prefix_length)) = rest() => (mount, HttpRoute::Rest { prefix_length }),
        (None, None) => {
            let trace = receive::with_any_trace_id(&app.mounts, trace, &headers);
            // Boxed, because hyper copies the future of a call several times before it is polled, so every call would pay
            // for the size of the largest branch.
            let reply = Box::pin(non_mcp_routes(&app, head, body, peer, &trace)).await;
            return build_response(&app, reply, &trace);
        }
    };
    let trace = receive::with_trace_id(mount, trace, &headers);
    let via = if headers.forwarded { Via::Proxy } else { Via::Direct };
    let is_reachable = app.allows_peer(mount, peer.address, via);
    let peer = client(&app, &head.headers, peer);
    let limit = match route {
        HttpRoute::Rest { prefix_length } if takes_text(mount, path, prefix_length) => app.config.limits.import_bytes,
        HttpRoute::Rest { .. } | HttpRoute::Serve | HttpRoute::Dispatch(_) => receive::body_limit(&app.config, mount),
    };
    let body = receive::lazy_body(body, limit);
    let mut incoming = receive::receive(&app.config, mount, &head, &headers, body, &peer, trace.clone());
    if let HttpRoute::Rest { prefix_length } = route {
        incoming.route = Some(Box::new(receive::route_request(&head, &headers, path, prefix_length)));
    }
    if !is_reachable {
        incoming.transport_fault = Some(Fault::new(
            FaultKind::HostNotAllowed,
            "Only direct callers on this machine are served here, not through a proxy; others need tokens.",
        ));
    }
    if matches!(route, HttpRoute::Serve) && accepts_events(&headers) {
        if !mount.streaming.time.is_zero() {
            let path = path.to_owned();
            // Boxed like the others, and because it may go on as the body of the answer.
            return Box::pin(respond_listening(app, path, incoming, trace)).await;
        }
        incoming.listening = Listening::AtOnce;
    }
    // No longer needed.
    drop((head, peer));
    let reply = match route {
        HttpRoute::Serve => serve_borrowed(&app.desk, mount, &incoming).await,
        HttpRoute::Dispatch(wanted) => Box::pin(dispatch(&app.desk, mount, wanted, incoming)).await,
        HttpRoute::Rest { .. } => Box::pin(serve_route(&app.desk, mount, incoming)).await,
    };
    build_response(&app, reply, &trace)
}

/// For a caller whose answer may be a stream that stays open: the call then goes on as the body of the response, with the
/// app it began with.
async fn respond_listening(
    app: Arc<App>,
    path: String,
    mut incoming: Incoming,
    trace: Trace,
) -> Response<ResponseBody> {
    let (sink, source) = event_slot();
    incoming.listening = Listening::Held(sink);
    let owner = Arc::clone(&app);
    let mut call: RunningCall = Box::pin(async move {
        match owner.mounts.find(&path) {
            Some(mount) => serve_borrowed(&owner.desk, mount, &incoming).await,
            None => problem(&incoming.trace, 404, "There is nothing at this path; GET / lists the endpoints."),
        }
    });
    let (head, ended) = until_answered(&mut call, &source).await;
    match (head, ended) {
        (None, ended) => build_response(&app, ended.unwrap_or_else(|| Reply::empty(202)), &trace),
        (Some(head), ended) => {
            let reply = Reply { kind: ReplyKind::Events, ..Reply::empty(200) };
            let reply = match head.trace {
                Some(trace) => reply.header("X-Trace-Id", trace),
                None => reply,
            };
            let body = match ended {
                None => EventBody::new(call, source),
                Some(reply) => EventBody::ended(source, reply),
            };
            build_response(&app, reply, &trace).map(|_| ResponseBody::stream(body))
        }
    }
}

/// People and clients append a slash to URLs. Only one is removed, before anything is decided by the path.
pub(crate) fn without_trailing_slash(path: &str) -> &str {
    match path.strip_suffix('/') {
        Some(shorter) if !shorter.is_empty() && !shorter.ends_with('/') => shorter,
        Some(_) | None => path,
    }
}

/// What a request to a contract endpoint is.
enum HttpRoute {
    Serve,
    Dispatch(DispatchPreference),
    /// A route of the mount, below a prefix of this length.
    Rest {
        prefix_length: usize,
    },
}

/// Whether a route takes a whole text as its body, which may be larger than arguments are.
fn takes_text(mount: &Mount, path: &str, prefix_length: usize) -> bool {
    match mount.routes.find(Verb::Post, path.get(prefix_length..).unwrap_or_default()) {
        RouteMatch::Tool { index, .. } => {
            let route = mount.contract.tools.get(index).and_then(|tool| tool.spec.route);
            matches!(route.map(|route| route.body), Some(RouteBody::Text { .. }))
        }
        RouteMatch::OtherVerbs(_) | RouteMatch::None => false,
    }
}

/// The other end, with the address of the client that a trusted proxy stands for.
fn client(app: &App, headers: &HeaderMap, peer: Peer) -> Peer {
    Peer { address: client_address(&app.config.trusted_proxies, headers, peer.address), ..peer }
}

fn preferred(headers: &HeaderMap) -> DispatchPreference {
    DispatchPreference::preferred(headers.get("prefer").and_then(|value| value.to_str().ok()))
}

/// Everything that is not a contract endpoint.
async fn non_mcp_routes(app: &App, head: Parts, body: IncomingBody, peer: Peer, trace: &Trace) -> Reply {
    let headers = RequestHeaders::new(&head.headers);
    let peer = client(app, &head.headers, peer);
    let path = without_trailing_slash(head.uri.path());
    let refusal = if is_public(app, path) { guard::transport_refusal } else { guard::refusal };
    if let Some(why) = refusal(&app.config, &head.uri, &headers) {
        return problem(trace, 403, why);
    }
    if guard::has_ambiguous_framing(&headers) {
        return problem(trace, 400, "Ambiguous framing: Transfer-Encoding must be exactly `chunked`.")
            .header("connection", "close");
    }
    let read_only = |reply: Reply| match head.method {
        Method::GET => reply,
        Method::HEAD => Reply { body: Default::default(), ..reply },
        _ => problem(trace, 405, "Only GET is possible here.").header("allow", "GET, HEAD"),
    };
    if path == "/" {
        return read_only(page::front_page(app));
    }
    if path == page::CA_PATH
        && let Some(file) = page::ca_file(app)
    {
        return read_only(file);
    }
    if path == demo_search::PATH
        && let Some(search) = app.demo_search.get()
    {
        return match head.method {
            Method::GET => search.answer(app, head.uri.query(), &peer, trace).await,
            _ => problem(trace, 405, "Only GET is possible here.").header("allow", "GET"),
        };
    }
    if let Some(document) = app.mounts.document(path) {
        return read_only(document.reply());
    }
    if let Some((partner, mount, below)) = app.mounts.find_partner(path) {
        let context = (&peer, trace);
        if below == NOTIFICATIONS {
            return notifications::answer(app, (partner, mount), &head, body, context).await;
        }
        if let Some((shared_page::PATH, token)) = below.split_once('/') {
            return shared::answer(app, (partner, mount), token, &head, context).await;
        }
    }
    let documents = app.mounts.iter().flat_map(|(_, mount)| &mount.contract.documents);
    for (at, text) in documents {
        if *at == path {
            let reply = Reply::plain(200, text.clone());
            return read_only(
                reply.header("access-control-allow-origin", "*").header("cache-control", "public, max-age=3600"),
            );
        }
    }
    let Ok(body) = body.collect(FORM_BYTES, ConnectionLimits::default().body).await else {
        return problem(trace, 413, "The form is too large, or did not arrive in time.").header("connection", "close");
    };
    let authorization: Vec<&str> =
        head.headers.get_all(AUTHORIZATION).iter().map(|value| value.to_str().unwrap_or("\u{fffd}")).collect();
    let request = OAuthRequest {
        method: head.method.as_str(),
        path,
        query: head.uri.query(),
        content_type: head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()),
        authorization: &authorization,
        body: &body,
        address: peer.address,
        trace,
    };
    match app.identity.answer(request).await {
        Some(reply) => reply,
        None => problem(trace, 404, "There is nothing at this path; GET / lists the endpoints."),
    }
}

/// Documents that every page may read.
fn is_public(app: &App, path: &str) -> bool {
    let mut documents = app.mounts.iter().flat_map(|(_, mount)| &mount.contract.documents);
    path.starts_with("/.well-known/") || documents.any(|(at, _)| *at == path) || app.mounts.document(path).is_some()
}

fn problem(trace: &Trace, status: u16, message: &str) -> Reply {
    let error = serde_json::json!({"code": "request.refused", "message": message, "trace_id": trace.display_id()});
    let body = serde_json::json!({"error": error});
    Reply::plain(status, body.to_string())
}

fn build_response(app: &App, reply: Reply, trace: &Trace) -> Response<ResponseBody> {
    let body = match reply.kind {
        ReplyKind::Empty => ResponseBody::empty(),
        ReplyKind::Rpc | ReplyKind::Plain | ReplyKind::Events => ResponseBody::full(reply.body),
    };
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    // One allocation for all of them.
    headers.reserve(RESERVED_HEADERS);
    match reply.kind {
        ReplyKind::Empty => {}
        ReplyKind::Rpc | ReplyKind::Plain => {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        ReplyKind::Events => {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
            // Some proxies would otherwise keep events until there are many.
            headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
        }
    }
    // The default: an answer is for one caller and must not be cached.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // Not with a development certificate: it would apply to every other port of `localhost` for a year.
    if app.config.certificate != CertificateConfig::Development {
        headers.insert(STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    if let Ok(trace) = HeaderValue::from_str(trace.display_id()) {
        headers.insert(receive::TRACE_ID.clone(), trace);
    }
    for (name, value) in reply.headers {
        // Set above; parsing it again would cost every call of some contracts.
        if value == "no-store" && name.eq_ignore_ascii_case(CACHE_CONTROL.as_str()) {
            continue;
        }
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(&value)) {
            headers.insert(name, value);
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn future_size<F>(_: fn(Arc<App>, Request<IncomingBody>, Peer) -> F) -> usize {
        size_of::<F>()
    }

    /// hyper copies it several times for every call.
    #[test]
    fn the_future_of_a_call_stays_small() {
        assert!(future_size(respond) <= 4 * 1024, "{} bytes", future_size(respond));
    }
}
