//! Health checks and the metrics page: on loopback only, and over TLS like everything else.

use std::sync::Arc;
use std::time::Duration;

use ::http::header::CONTENT_TYPE;
use ::http::{HeaderValue, Method, Request, Response, StatusCode};
use tokio::time::timeout;

use crate::app::App;
use crate::http::without_trailing_slash;
use crate::net::{CertificateValidity, IncomingBody, ResponseBody};
use crate::telemetry::{ListenerMetrics, metrics_page};

/// Load balancers do not wait long for an answer.
const READY_TIMEOUT: Duration = Duration::from_secs(2);
const METRICS_CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

pub async fn health(
    app: Arc<App>,
    listeners: ListenerMetrics,
    certificate: CertificateValidity,
    request: Request<IncomingBody>,
) -> Response<ResponseBody> {
    let plain = "text/plain; charset=utf-8";
    let (status, kind, text) = match (request.method(), without_trailing_slash(request.uri().path())) {
        (&Method::GET, "/healthz") => (StatusCode::OK, plain, "ok\n".to_owned()),
        (&Method::GET, "/readyz") => {
            let (status, text) = readiness(&app, &certificate).await;
            (status, plain, text.to_owned())
        }
        // The version is part of the type (Prometheus text format).
        (&Method::GET, "/metrics") => (StatusCode::OK, METRICS_CONTENT_TYPE, metrics_page(&app, &listeners)),
        (&Method::GET, _) => (StatusCode::NOT_FOUND, plain, "there are /healthz, /readyz and /metrics\n".to_owned()),
        _ => (StatusCode::METHOD_NOT_ALLOWED, plain, "only GET is possible here\n".to_owned()),
    };
    let mut response = Response::new(ResponseBody::full(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Reading works without the writer, so both are checked.
async fn readiness(app: &App, certificate: &CertificateValidity) -> (StatusCode, &'static str) {
    if !certificate.has_begun(app.desk.now()) {
        return (
            StatusCode::SERVICE_UNAVAILABLE,
            "the certificate is not valid yet; replace it, or correct the clock\n",
        );
    }
    if app.backend.store.tenants().await.is_err() {
        return (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n");
    }
    match timeout(READY_TIMEOUT, app.backend.store.writable()).await {
        Ok(Ok(())) => (StatusCode::OK, "ready\n"),
        Ok(Err(_)) | Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the database cannot be written\n"),
    }
}
