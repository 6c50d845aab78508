//! A store as the one who runs the desk sees it: the engine's two ports and the housekeeping, whichever
//! database is behind them.

use frontdesk_engine::Fault;
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::Store;
use frontdesk_engine::ports::registry::Registry;

use crate::{Load, PostgresStore, SqliteStore};

pub trait Keeper: Store + Registry {
    /// How busy whatever writes is.
    fn load(&self) -> Load;

    /// Whether something can be written and made durable right now.
    fn writable(&self) -> Future<'_, Result<(), Fault>>;

    /// Forgets idempotency keys that were claimed before this instant.
    fn forget_claims(&self, before: Millis) -> Future<'_, Result<(), Fault>>;

    /// Forgets rows whose instant in this column, one to sort by, has passed before this one.
    fn forget_rows(
        &self,
        kind: &'static TableSpec,
        column: &'static str,
        before: Millis,
    ) -> Future<'_, Result<(), Fault>>;

    /// Removes audit links written before this instant; the rest stays checkable.
    fn forget_audit(&self, before: Millis) -> Future<'_, Result<(), Fault>>;
}

impl Keeper for SqliteStore {
    fn load(&self) -> Load {
        SqliteStore::load(self)
    }

    fn writable(&self) -> Future<'_, Result<(), Fault>> {
        Box::pin(SqliteStore::writable(self))
    }

    fn forget_claims(&self, before: Millis) -> Future<'_, Result<(), Fault>> {
        Box::pin(SqliteStore::forget_claims(self, before))
    }

    fn forget_rows(
        &self,
        kind: &'static TableSpec,
        column: &'static str,
        before: Millis,
    ) -> Future<'_, Result<(), Fault>> {
        Box::pin(SqliteStore::forget_rows(self, kind, column, before))
    }

    fn forget_audit(&self, before: Millis) -> Future<'_, Result<(), Fault>> {
        Box::pin(SqliteStore::forget_audit(self, before))
    }
}

impl Keeper for PostgresStore {
    fn load(&self) -> Load {
        PostgresStore::load(self)
    }

    fn writable(&self) -> Future<'_, Result<(), Fault>> {
        Box::pin(PostgresStore::writable(self))
    }

    fn forget_claims(&self, before: Millis) -> Future<'_, Result<(), Fault>> {
        Box::pin(PostgresStore::forget_claims(self, before))
    }

    fn forget_rows(
        &self,
        kind: &'static TableSpec,
        column: &'static str,
        before: Millis,
    ) -> Future<'_, Result<(), Fault>> {
        Box::pin(PostgresStore::forget_rows(self, kind, column, before))
    }

    fn forget_audit(&self, before: Millis) -> Future<'_, Result<(), Fault>> {
        Box::pin(PostgresStore::forget_audit(self, before))
    }
}
