//! A clock that stands still until told, dice that fall the same way in every test, the callers of
//! this house, and a guestbook of what was seen.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use frontdesk_engine::model::fault::{Fault, FaultKind};
use frontdesk_engine::model::incoming::Credential;
use frontdesk_engine::model::observation::Observation;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::{Clock, Identity, Observer, Random};
use frontdesk_engine::{Caller, ClientId, Scopes, TenantId};

/// Starts at 2026-01-01T00:00:00Z.
pub(crate) struct Hands(AtomicI64);

impl Default for Hands {
    fn default() -> Hands {
        Hands(AtomicI64::new(1_767_225_600_000))
    }
}

impl Hands {
    pub(crate) fn forward(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for Hands {
    fn now(&self) -> Millis {
        Millis(self.0.load(Ordering::SeqCst))
    }
}

#[derive(Default)]
pub(crate) struct Dice(AtomicU64);

impl Random for Dice {
    fn fill(&self, bytes: &mut [u8]) {
        for byte in bytes {
            // SplitMix64, one step a byte.
            let mut mixed = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::SeqCst);
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            *byte = (mixed ^ (mixed >> 31)) as u8;
        }
    }
}

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
                Credential::Missing | Credential::Unusable => panic!("nothing to judge"),
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
            Ok(Arc::new(Caller {
                client: ClientId::new(name),
                subject: name.into(),
                tenants: tenants.iter().map(|tenant| TenantId::parse(tenant).unwrap()).collect(),
                scopes: Scopes::parse(scopes).unwrap(),
                authenticated_at: None,
            }))
        })
    }
}

#[derive(Default)]
pub(crate) struct Guestbook(Mutex<Vec<(Observation, Option<String>)>>);

impl Guestbook {
    /// The record line of everything seen so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().iter().map(|(seen, _)| seen.to_line()).collect()
    }

    /// The last call that was seen.
    pub(crate) fn last(&self) -> Observation {
        self.0.lock().unwrap().last().unwrap().0.clone()
    }

    /// How each call ended.
    pub(crate) fn outcomes(&self) -> Vec<&'static str> {
        self.0.lock().unwrap().iter().map(|(seen, _)| seen.outcome).collect()
    }

    pub(crate) fn causes(&self) -> Vec<String> {
        self.0.lock().unwrap().iter().filter_map(|(_, cause)| cause.clone()).collect()
    }
}

impl Observer for Guestbook {
    fn on_call(&self, observation: &Observation, cause: Option<&str>) {
        self.0.lock().unwrap().push((observation.clone(), cause.map(str::to_owned)));
    }
}
