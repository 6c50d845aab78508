//! Names to addresses. A port of its own, so that a test can answer differently every time.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use frontdesk_engine::model::tool::Future;
use tokio::net::lookup_host;
use tokio::sync::Semaphore;

/// A name server that hangs occupies a thread for each look-up.
const MAX_LOOKUPS: usize = 16;

pub(crate) trait Resolver: Send + Sync {
    fn resolve<'a>(&'a self, name: &'a str) -> Future<'a, io::Result<Vec<IpAddr>>>;
}

/// As the system is configured.
pub(crate) struct SystemResolver {
    lookups: Arc<Semaphore>,
}

impl Default for SystemResolver {
    fn default() -> SystemResolver {
        SystemResolver { lookups: Arc::new(Semaphore::new(MAX_LOOKUPS)) }
    }
}

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> Future<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let permit = Arc::clone(&self.lookups).acquire_owned().await.map_err(io::Error::other)?;
            let name = name.to_owned();
            // Also if nobody waits any more: the permit is held for as long as the thread is.
            let lookup = tokio::spawn(async move {
                let found = lookup_host((name.as_str(), 0)).await.map(|found| found.map(|at| at.ip()).collect());
                drop(permit);
                found
            });
            lookup.await.map_err(io::Error::other)?
        })
    }
}
