//! A store that only collects audit records.

use std::sync::Mutex;

use frontdesk_engine::TenantId;
use frontdesk_engine::model::fault::Fault;
use frontdesk_engine::model::page::{Page, Query};
use frontdesk_engine::model::table::{Cell, StoredRow, TableSpec};
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::{Claim, Commit, Committed, Disclosure, Durability, Store, StoredAnswer};

#[derive(Default)]
pub(crate) struct AuditStore(pub(crate) Mutex<Vec<(String, Durability)>>);

fn elsewhere<T>() -> Result<T, Fault> {
    Err(Fault::internal("the authorization server does not use this"))
}

impl Store for AuditStore {
    fn get<'a>(
        &'a self,
        _tenant: &'a TenantId,
        _kind: &'static TableSpec,
        _id: &'a str,
        _disclosure: Disclosure,
    ) -> Future<'a, Result<Option<StoredRow>, Fault>> {
        Box::pin(async { elsewhere() })
    }

    fn find<'a>(
        &'a self,
        _tenant: &'a TenantId,
        _kind: &'static TableSpec,
        _column: &'static str,
        _value: Cell,
    ) -> Future<'a, Result<Option<StoredRow>, Fault>> {
        Box::pin(async { elsewhere() })
    }

    fn page<'a>(&'a self, _tenant: &'a TenantId, _query: Query) -> Future<'a, Result<Page, Fault>> {
        Box::pin(async { elsewhere() })
    }

    fn find_claim<'a>(
        &'a self,
        _tenant: &'a TenantId,
        _claim: &'a Claim,
    ) -> Future<'a, Result<Option<StoredAnswer>, Fault>> {
        Box::pin(async { elsewhere() })
    }

    fn commit<'a>(&'a self, _commit: Commit) -> Future<'a, Result<Committed, Fault>> {
        Box::pin(async { elsewhere() })
    }

    fn append_audit<'a>(&'a self, record: String, durability: Durability) -> Future<'a, Result<(), Fault>> {
        Box::pin(async move {
            self.0.lock().unwrap().push((record, durability));
            Ok(())
        })
    }

    fn append_audit_detached(&self, record: String) {
        self.0.lock().unwrap().push((record, Durability::Grouped));
    }
}
