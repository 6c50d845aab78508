//! Requests that the server itself makes to others. An implementation resolves the name, refuses addresses that are not
//! for it, verifies the certificate, follows no redirect, and keeps to the limits of the request.

use std::time::Duration;

use bytes::Bytes;

use crate::model::tool::Future;

/// A POST over HTTPS. Its address and its headers may be secret, so it is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// An `https` URL.
    pub url: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Bytes,
    /// For everything: name, connection, request and answer.
    pub timeout: Duration,
    /// A longer answer is an error.
    pub max_response: usize,
}

/// A GET over HTTPS of a document that anybody may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentRequest {
    /// An `https` URL.
    pub url: String,
    pub accept: &'static str,
    /// For everything: name, connection, request and answer.
    pub timeout: Duration,
    /// A longer answer is an error.
    pub max_response: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HttpResponse {
    pub status: u16,
    pub body: Bytes,
    pub content_type: Option<String>,
    /// For how many seconds it may be kept, if it says so.
    pub max_age: Option<u32>,
}

/// Why there is no answer. None of it says anything that the other side has sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpError {
    /// The address is no `https` URL, or requests must not go there.
    Refused,
    /// No connection, or no valid certificate: nothing was sent.
    Unreachable,
    /// The request may have arrived, and its answer did not in time.
    TimedOut,
    /// The request may have arrived, and the connection broke.
    Broken,
    /// The answer is longer than allowed.
    TooLarge,
}

impl HttpError {
    pub fn as_str(self) -> &'static str {
        match self {
            HttpError::Refused => "address refused",
            HttpError::Unreachable => "unreachable",
            HttpError::TimedOut => "timed out",
            HttpError::Broken => "connection broken",
            HttpError::TooLarge => "answer too large",
        }
    }
}

pub trait HttpClient: Send + Sync {
    fn post<'a>(&'a self, request: HttpRequest) -> Future<'a, Result<HttpResponse, HttpError>>;

    fn get<'a>(&'a self, request: DocumentRequest) -> Future<'a, Result<HttpResponse, HttpError>>;
}

/// Sends nothing: for a desk that has nobody to send to.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHttpClient;

impl HttpClient for NoHttpClient {
    fn post<'a>(&'a self, _: HttpRequest) -> Future<'a, Result<HttpResponse, HttpError>> {
        Box::pin(std::future::ready(Err(HttpError::Unreachable)))
    }

    fn get<'a>(&'a self, _: DocumentRequest) -> Future<'a, Result<HttpResponse, HttpError>> {
        Box::pin(std::future::ready(Err(HttpError::Unreachable)))
    }
}
