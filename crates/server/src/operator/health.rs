//! How the desk is, for whoever runs it: on loopback only, and over TLS like everything else.

use std::sync::Arc;
use std::time::Duration;

use ::http::header::CONTENT_TYPE;
use ::http::{HeaderValue, Method, Request, Response, StatusCode};
use tokio::time::timeout;

use super::metrics::{Doors, metrics};
use crate::house::House;
use crate::net::{Body, ResponseBody};

/// Whoever asks is about to send calls here, and does not wait long.
const PATIENCE: Duration = Duration::from_secs(2);
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";

pub async fn health(house: Arc<House>, doors: Doors, request: Request<Body>) -> Response<ResponseBody> {
    let plain = "text/plain; charset=utf-8";
    let (status, kind, text) = match (request.method(), request.uri().path()) {
        (&Method::GET, "/healthz") => (StatusCode::OK, plain, "ok\n".to_owned()),
        (&Method::GET, "/readyz") => {
            let (status, text) = readiness(&house).await;
            (status, plain, text.to_owned())
        }
        // The version is part of the type (Prometheus text format).
        (&Method::GET, "/metrics") => (StatusCode::OK, METRICS, metrics(&house, &doors)),
        (&Method::GET, _) => (StatusCode::NOT_FOUND, plain, "there are /healthz, /readyz and /metrics\n".to_owned()),
        _ => (StatusCode::METHOD_NOT_ALLOWED, plain, "only GET is possible here\n".to_owned()),
    };
    let mut response = Response::new(ResponseBody::full(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
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
