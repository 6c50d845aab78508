//! What the audit is told: a store that keeps records and nothing else.

use std::sync::Mutex;

use frontdesk_engine::TenantId;
use frontdesk_engine::fault::Fault;
use frontdesk_engine::page::{Page, Query};
use frontdesk_engine::ports::{Claim, Claimed, Commit, Committed, Disclosure, Durability, Store};
use frontdesk_engine::table::{Cell, Found, Kind};
use frontdesk_engine::tool::Future;

#[derive(Default)]
pub(crate) struct Records(pub(crate) Mutex<Vec<(String, Durability)>>);

fn elsewhere<T>() -> Result<T, Fault> {
    Err(Fault::internal("the authorization server has no business here"))
}

impl Store for Records {
    fn get<'a>(
        &'a self,
        _tenant: &'a TenantId,
        _kind: &'static Kind,
        _id: &'a str,
        _disclosure: Disclosure,
    ) -> Future<'a, Result<Option<Found>, Fault>> {
        Box::pin(async { elsewhere() })
    }

    fn find<'a>(
        &'a self,
        _tenant: &'a TenantId,
        _kind: &'static Kind,
        _column: &'static str,
        _value: Cell,
    ) -> Future<'a, Result<Option<Found>, Fault>> {
        Box::pin(async { elsewhere() })
    }

    fn page<'a>(&'a self, _tenant: &'a TenantId, _query: Query) -> Future<'a, Result<Page, Fault>> {
        Box::pin(async { elsewhere() })
    }

    fn claimed<'a>(&'a self, _tenant: &'a TenantId, _claim: &'a Claim) -> Future<'a, Result<Option<Claimed>, Fault>> {
        Box::pin(async { elsewhere() })
    }

    fn commit<'a>(&'a self, _commit: Commit) -> Future<'a, Result<Committed, Fault>> {
        Box::pin(async { elsewhere() })
    }

    fn observe<'a>(&'a self, record: String, durability: Durability) -> Future<'a, Result<(), Fault>> {
        Box::pin(async move {
            self.0.lock().unwrap().push((record, durability));
            Ok(())
        })
    }

    fn observe_detached(&self, record: String) {
        self.0.lock().unwrap().push((record, Durability::Grouped));
    }
}
