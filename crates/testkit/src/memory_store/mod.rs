//! The engine's `Store` and `Registry` in memory. It passes the behavioural suite of the databases, and a test can
//! inspect what it holds and make it fail, hang or lose races.

mod faults;
mod login_records;
mod registry;
mod state;

use std::sync::{Arc, Mutex, MutexGuard};

use frontdesk_engine::model::page::{CountQuery, Page, Query};
use frontdesk_engine::model::plan::{Event, Step};
use frontdesk_engine::model::table::{Cell, Row, StoredRow, TableSpec};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::registry::Tenant;
use frontdesk_engine::ports::{Claim, Commit, Committed, Disclosure, Durability, OutboxEvent, Store, StoredAnswer};
use frontdesk_engine::{Fault, TenantId};
use tokio::sync::Semaphore;

pub use faults::{ClientChange, InjectedFault, InjectedFaults};
pub use state::{MemoryState, StoredEvent};

#[derive(Default)]
pub struct MemoryStore {
    state: Arc<Mutex<MemoryState>>,
    faults: Mutex<InjectedFaults>,
}

impl MemoryStore {
    pub fn with_tenants<const N: usize>(tenants: [&str; N]) -> MemoryStore {
        let store = MemoryStore::default();
        for tenant in tenants {
            store.add(tenant);
        }
        store
    }

    fn add(&self, tenant: &str) {
        let tenant = Tenant::new(TenantId::parse(tenant).unwrap(), tenant);
        self.inspect(|state| state.tenants.push(tenant));
    }

    pub fn state(&self) -> MutexGuard<'_, MemoryState> {
        self.state.lock().unwrap()
    }

    /// Reads or changes what is stored.
    pub fn inspect<T>(&self, with: impl FnOnce(&mut MemoryState) -> T) -> T {
        with(&mut self.state())
    }

    /// Changes which operations fail, and how.
    pub fn inject(&self, change: impl FnOnce(&mut InjectedFaults)) {
        change(&mut self.faults.lock().unwrap());
    }

    /// From now on each commit waits for a permit.
    pub fn hold_commits(&self) -> Arc<Semaphore> {
        let permits = Arc::new(Semaphore::new(0));
        self.inject(|faults| faults.commit_permits = Some(Arc::clone(&permits)));
        permits
    }

    /// Stores a row as it is, without events or audit.
    pub fn put(&self, tenant: &str, table: &'static TableSpec, row: Row) {
        self.inspect(|state| state.rows.insert(state::row_key(tenant, table, &row.id), row));
    }

    /// Adds the tenant if it is new and applies the steps, without events or audit.
    pub fn seed(&self, tenant: &str, steps: Vec<Step>) {
        if self.inspect(|state| !state.has_tenant(tenant)) {
            self.add(tenant);
        }
        let applied = self.inspect(|state| state.apply(tenant, steps));
        assert!(matches!(applied, Ok(Committed::Done)), "{applied:?}");
    }

    pub fn row(&self, tenant: &str, table: &'static TableSpec, id: &str) -> Option<Row> {
        self.inspect(|state| state.rows.get(&state::row_key(tenant, table, id)).cloned())
    }

    /// The records of this node's audit chain of administration.
    pub fn administration(&self) -> Vec<String> {
        self.inspect(|state| state.administration.clone())
    }

    /// The records of this node's audit chain of reads.
    pub fn records(&self) -> Vec<String> {
        self.inspect(|state| state.records.iter().map(|(record, _)| record.clone()).collect())
    }

    /// The records of all tenants' audit chains.
    pub fn audit(&self) -> Vec<String> {
        self.inspect(|state| state.audit.iter().map(|(_, record)| record.clone()).collect())
    }

    /// The events of all tenants, each as `kind change`.
    pub fn events(&self) -> Vec<String> {
        let text = |event: &Event| format!("{} {}", event.kind, event.change.as_str());
        self.inspect(|state| state.events.iter().map(|stored| text(&stored.event)).collect())
    }

    /// Rows, events and claims as one text, to compare before and after.
    pub fn contents(&self) -> String {
        self.inspect(|state| format!("{:?} {:?} {:?}", state.rows, state.events, state.claims))
    }

    /// Deletes rows whose value in this column is less than an instant.
    pub fn delete_rows(&self, table: &'static TableSpec, column: &str, before: Millis) {
        let is_kept = |row: &Row| state::number(table, row, column).is_none_or(|value| value >= before.0);
        self.inspect(|state| state.rows.retain(|key, row| key.1 != table.name || is_kept(row)));
    }

    /// Removes the personal part of the stored answers about these ids; how many were changed.
    pub fn erase_answers(&self, tenant: &TenantId, ids: &[String]) -> u64 {
        self.inspect(|state| {
            let of_tenant =
                state.claims.iter_mut().filter(|(key, _)| key.first().is_some_and(|key| key == tenant.as_str()));
            let about = of_tenant.map(|(_, stored)| &mut stored.answer).filter(|answer| ids.contains(&answer.id));
            about.filter_map(|answer| answer.personal.take()).count() as u64
        })
    }

    fn faults(&self) -> InjectedFaults {
        self.faults.lock().unwrap().clone()
    }

    async fn before_read(&self, table: &'static TableSpec) -> Result<(), Fault> {
        let faults = self.faults();
        faults.reads.happen().await?;
        match faults.reads_of.filter(|(name, _)| *name == table.name) {
            Some((_, fault)) => fault.happen().await,
            None => Ok(()),
        }
    }
}

impl Store for MemoryStore {
    fn get<'a>(
        &'a self,
        tenant: &'a TenantId,
        table: &'static TableSpec,
        id: &'a str,
        disclosure: Disclosure,
    ) -> Future<'a, Result<Option<StoredRow>, Fault>> {
        Box::pin(async move {
            self.before_read(table).await?;
            self.inspect(|state| state.require_not_erased(tenant.as_str()))?;
            Ok(self.row(tenant.as_str(), table, id).map(|row| state::stored_row(row, disclosure)))
        })
    }

    fn find<'a>(
        &'a self,
        tenant: &'a TenantId,
        table: &'static TableSpec,
        column: &'static str,
        value: Cell,
    ) -> Future<'a, Result<Option<StoredRow>, Fault>> {
        Box::pin(async move {
            self.before_read(table).await?;
            self.inspect(|state| state.require_not_erased(tenant.as_str()))?;
            let row = self.inspect(|state| state.find(tenant.as_str(), table, column, &value));
            Ok(row.map(|row| state::stored_row(row, Disclosure::Masked)))
        })
    }

    fn page<'a>(&'a self, tenant: &'a TenantId, query: Query) -> Future<'a, Result<Page, Fault>> {
        Box::pin(async move {
            self.faults().reads.happen().await?;
            self.inspect(|state| state.require_not_erased(tenant.as_str()))?;
            Ok(self.inspect(|state| state.page(tenant.as_str(), &query)))
        })
    }

    fn count<'a>(&'a self, tenant: &'a TenantId, query: CountQuery) -> Future<'a, Result<usize, Fault>> {
        Box::pin(async move {
            self.faults().reads.happen().await?;
            self.inspect(|state| state.require_not_erased(tenant.as_str()))?;
            Ok(self.inspect(|state| state.count(tenant.as_str(), &query)))
        })
    }

    fn find_claim<'a>(
        &'a self,
        tenant: &'a TenantId,
        claim: &'a Claim,
    ) -> Future<'a, Result<Option<StoredAnswer>, Fault>> {
        Box::pin(async move {
            let hidden = self.faults().hidden_claims;
            self.inject(|faults| faults.hidden_claims = hidden.saturating_sub(1));
            if hidden > 0 {
                return Ok(None);
            }
            self.inspect(|state| state.require_not_erased(tenant.as_str()))?;
            self.inspect(|state| match state.has_tenant(tenant.as_str()) {
                true => Ok(state.claim(tenant.as_str(), claim).cloned()),
                false => Err(state::unknown_tenant(tenant.as_str())),
            })
        })
    }

    fn commit<'a>(&'a self, commit: Commit) -> Future<'a, Result<Committed, Fault>> {
        Box::pin(async move {
            let faults = self.faults();
            self.inject(InjectedFaults::count_commit);
            if faults.commits_left == Some(0) {
                return Err(Fault::unavailable("no commit is left"));
            }
            if faults.stale_commits > 0 {
                self.inspect(|state| state.commits += 1);
                return Ok(Committed::VersionConflict);
            }
            if let Some(rival) = faults.rival_claim {
                return Ok(Committed::AlreadyClaimed(rival));
            }
            let state = Arc::clone(&self.state);
            // It goes on whether or not anybody waits.
            let committing = tokio::spawn(async move {
                if let Some(permits) = faults.commit_permits {
                    let _ = permits.acquire().await;
                }
                faults.commits.happen().await?;
                state.lock().unwrap().commit(commit)
            });
            match faults.unknown_commit {
                true => Ok(Committed::Unknown),
                false => committing.await.unwrap(),
            }
        })
    }

    fn events<'a>(
        &'a self,
        tenant: &'a TenantId,
        after: i64,
        limit: usize,
    ) -> Future<'a, Result<Vec<OutboxEvent>, Fault>> {
        Box::pin(async move {
            self.faults().reads.happen().await?;
            self.inspect(|state| state.require_not_erased(tenant.as_str()))?;
            Ok(self.inspect(|state| state.events_after(tenant.as_str(), after, limit)))
        })
    }

    fn append_audit<'a>(&'a self, record: String, durability: Durability) -> Future<'a, Result<(), Fault>> {
        Box::pin(async move {
            let fault = self.faults().records;
            if fault != InjectedFault::Fail {
                self.inspect(|state| state.records.push((record, durability)));
            }
            fault.happen().await
        })
    }

    fn append_audit_detached(&self, record: String) {
        self.inspect(|state| state.records.push((record, Durability::Grouped)));
    }
}
