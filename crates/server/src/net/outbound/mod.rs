//! How this server calls others: HTTPS only, to addresses that it may reach, to exactly the address that was checked, with a
//! verified certificate, without following redirects, and within the time and the size that a request allows. No variable
//! of the environment has a say in it.

mod address_guard;
mod connection_pool;
mod exchange;
mod resolver;
mod target;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use bytes::Bytes;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::http_client::{DocumentRequest, HttpClient, HttpError, HttpRequest, HttpResponse};
use http::Request;
use rustls::ClientConfig;
use tokio::time::{Instant, timeout_at};

use address_guard::AddressGuard;
use connection_pool::HttpsPool;
use exchange::{Exchanged, connect, document_head, exchange, head};
pub(crate) use resolver::{Resolver, SystemResolver};
use target::Target;

use super::error::NetError;
use super::tls::outbound_config;
use crate::config::OutboundConfig;

pub struct OutboundClient {
    guard: AddressGuard,
    resolver: Arc<dyn Resolver>,
    tls: Arc<ClientConfig>,
    pool: HttpsPool,
}

impl OutboundClient {
    /// Reads the CA that is configured; without one the public CAs are trusted.
    pub fn open(config: &OutboundConfig) -> Result<OutboundClient, NetError> {
        OutboundClient::with_resolver(config, Arc::new(SystemResolver::default()))
    }

    pub(crate) fn with_resolver(
        config: &OutboundConfig,
        resolver: Arc<dyn Resolver>,
    ) -> Result<OutboundClient, NetError> {
        Ok(OutboundClient {
            guard: AddressGuard::new(config.allow.clone()),
            resolver,
            tls: Arc::new(outbound_config(config.ca.as_deref())?),
            pool: HttpsPool::default(),
        })
    }

    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let deadline = Instant::now() + request.timeout;
        let target = Target::parse(&request.url).ok_or(HttpError::Refused)?;
        let head = head(&target, &request).ok_or(HttpError::Refused)?;
        self.send_to(&target, head.map(|()| request.body.clone()), deadline, request.max_response).await
    }

    async fn fetch(&self, request: DocumentRequest) -> Result<HttpResponse, HttpError> {
        let deadline = Instant::now() + request.timeout;
        let target = Target::parse(&request.url).ok_or(HttpError::Refused)?;
        let head = document_head(&target, request.accept).ok_or(HttpError::Refused)?;
        self.send_to(&target, head.map(|()| Bytes::new()), deadline, request.max_response).await
    }

    async fn send_to(
        &self,
        target: &Target,
        mut message: Request<Bytes>,
        deadline: Instant,
        max_response: usize,
    ) -> Result<HttpResponse, HttpError> {
        while let Some(connection) = self.pool.take(target) {
            match timeout_at(deadline, exchange(connection, message, max_response)).await {
                Err(_) => return Err(HttpError::TimedOut),
                Ok(Exchanged::Answered(response, connection)) => {
                    self.pool.put(target, connection);
                    return Ok(response);
                }
                Ok(Exchanged::Failed(error)) => return Err(error),
                // The other side had closed it. Nothing was sent, so another connection can be used.
                Ok(Exchanged::Unsent(unsent)) => message = unsent,
            }
        }
        let connecting = connect(target, &self.guard, self.resolver.as_ref(), &self.tls);
        let connection = timeout_at(deadline, connecting).await.map_err(|_| HttpError::Unreachable)??;
        match timeout_at(deadline, exchange(connection, message, max_response)).await {
            Err(_) => Err(HttpError::TimedOut),
            Ok(Exchanged::Answered(response, connection)) => {
                self.pool.put(target, connection);
                Ok(response)
            }
            Ok(Exchanged::Failed(error)) => Err(error),
            Ok(Exchanged::Unsent(_)) => Err(HttpError::Unreachable),
        }
    }
}

impl HttpClient for OutboundClient {
    fn post<'a>(&'a self, request: HttpRequest) -> Future<'a, Result<HttpResponse, HttpError>> {
        Box::pin(self.send(request))
    }

    fn get<'a>(&'a self, request: DocumentRequest) -> Future<'a, Result<HttpResponse, HttpError>> {
        Box::pin(self.fetch(request))
    }
}
