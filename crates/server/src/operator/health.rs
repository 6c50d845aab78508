//! How the desk is, for whoever runs it: on loopback only, and over TLS like everything else.

use std::sync::Arc;

use ::http::header::CONTENT_TYPE;
use ::http::{HeaderValue, Method, Request, Response, StatusCode};
use frontdesk_engine::registry::Registry as _;

use crate::house::House;
use crate::net::{Body, ResponseBody};

pub async fn health(house: Arc<House>, request: Request<Body>) -> Response<ResponseBody> {
    let (status, text) = match (request.method(), request.uri().path()) {
        (&Method::GET, "/healthz") => (StatusCode::OK, "ok\n"),
        (&Method::GET, "/readyz") => match house.vaults.store.tenants().await {
            Ok(_) => (StatusCode::OK, "ready\n"),
            Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n"),
        },
        (&Method::GET, _) => (StatusCode::NOT_FOUND, "there are /healthz and /readyz\n"),
        _ => (StatusCode::METHOD_NOT_ALLOWED, "only GET is possible here\n"),
    };
    let mut response = Response::new(ResponseBody::full(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
