//! How the desk is, for whoever runs it: on loopback only, and over TLS like everything else.

use std::sync::Arc;
use std::time::Duration;

use ::http::header::CONTENT_TYPE;
use ::http::{HeaderValue, Method, Request, Response, StatusCode};
use tokio::time::timeout;

use crate::house::House;
use crate::net::{Body, ResponseBody};

/// Whoever asks is about to send calls here, and does not wait long.
const PATIENCE: Duration = Duration::from_secs(2);

pub async fn health(house: Arc<House>, request: Request<Body>) -> Response<ResponseBody> {
    let (status, text) = match (request.method(), request.uri().path()) {
        (&Method::GET, "/healthz") => (StatusCode::OK, "ok\n"),
        (&Method::GET, "/readyz") => readiness(&house).await,
        (&Method::GET, _) => (StatusCode::NOT_FOUND, "there are /healthz and /readyz\n"),
        _ => (StatusCode::METHOD_NOT_ALLOWED, "only GET is possible here\n"),
    };
    let mut response = Response::new(ResponseBody::full(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

/// Reading goes on beside a writer that has died, so each is asked.
async fn readiness(house: &House) -> (StatusCode, &'static str) {
    if house.vaults.store.tenants().await.is_err() {
        return (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n");
    }
    match timeout(PATIENCE, house.vaults.store.writable()).await {
        Ok(Ok(())) => (StatusCode::OK, "ready\n"),
        Ok(Err(_)) | Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the database cannot be written\n"),
    }
}
