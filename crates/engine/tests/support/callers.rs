//! The callers of the library, known by their names.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use frontdesk_engine::Caller;
use frontdesk_engine::model::fault::{Fault, FaultKind};
use frontdesk_engine::model::incoming::Credential;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::Identity;
use frontdesk_testkit::callers::caller;

/// Knows the callers of `support` by their names.
#[derive(Default)]
pub(crate) struct Callers {
    asleep: AtomicBool,
    narrow: AtomicBool,
}

impl Callers {
    /// From now on nobody is told anything.
    pub(crate) fn sleep(&self) {
        self.asleep.store(true, Ordering::SeqCst);
    }

    /// From now on the keeper may only read books.
    pub(crate) fn narrow(&self) {
        self.narrow.store(true, Ordering::SeqCst);
    }
}

const ALL: &str = "books:read books:write members:contact members:read";

impl Identity for Callers {
    fn identify<'a>(&'a self, credential: &'a Credential, resource: &'a str) -> Future<'a, Result<Arc<Caller>, Fault>> {
        Box::pin(async move {
            if self.asleep.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            assert_eq!(resource, "https://library.example/mcp");
            let name = match credential {
                Credential::Bearer(name) => name.as_str(),
                Credential::Missing | Credential::ApiKey(_) | Credential::Certificate(_) | Credential::Unusable => {
                    panic!("nothing to judge")
                }
            };
            let (tenants, scopes): (&[&str], &str) = match name {
                "reader" => (&["north"], "books:read"),
                "keeper" if self.narrow.load(Ordering::SeqCst) => (&["north"], "books:read"),
                "keeper" => (&["north"], ALL),
                "clerk" => (&["north"], "books:read books:write members:read"),
                "southerner" => (&["south"], ALL),
                "traveller" => (&["north", "south"], ALL),
                "vagrant" => (&[], ALL),
                "warden" => (&["north"], "*"),
                _ => return Err(Fault::new(FaultKind::Unauthenticated, "The access token is not valid.")),
            };
            Ok(Arc::new(caller(name, tenants, scopes)))
        })
    }
}
