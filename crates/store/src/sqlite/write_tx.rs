//! The writer's open transaction. A plan's steps, its idempotency claim, its events with their gapless numbers and
//! its audit link are all applied here, so that they commit together.

use std::collections::HashMap;

use frontdesk_engine::model::plan::OnConflict;
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::ports::Committed;
use frontdesk_engine::{ClientId, Fault};
use rusqlite::{Connection, ErrorCode, OptionalExtension, Statement, ffi, params};

use super::commit_texts::find_claim;
use super::encode::{EncodedClaim, EncodedCommit, EncodedRow, EncodedStep};
use super::search_terms::TERMS_PER_STATEMENT;
use super::writer::WriteTask;
use super::{SqliteContext, is_unique_violation};
use crate::StoreError;
use crate::audit::ChainHead;
use crate::backend::usage::TenantUsage;
use crate::idempotency::StoredResponse;
use crate::keyring::TenantKeys;
use crate::sql::registry_rows::TENANTS;
use crate::sql::session;

/// The writer's connection, and the counters and chain heads that are written once per transaction.
pub(crate) struct WriteTx<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) context: &'a SqliteContext,
    counters: HashMap<String, EventCounter>,
    /// What tenants have stored, with what this transaction changes.
    pub(super) usage: HashMap<String, TenantUsage>,
    /// The last link of each chain that was written to.
    pub(super) heads: HashMap<String, ChainHead>,
    /// The chains whose row in `fd_audit_head` is older than `heads`.
    pub(super) dirty_heads: Vec<String>,
    /// Whether keys in memory may no longer be valid when the transaction is committed.
    pub(super) ends_keys: bool,
    state: TxState,
}

/// A tenant's event number as stored, and the last one given out in this transaction. The row is written once for
/// all plans of a batch, because each of them would overwrite it.
struct EventCounter {
    stored: i64,
    last: i64,
}

/// What the current plan has done to the transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TxState {
    Unchanged,
    Changed,
    /// It failed after a change, and there is no savepoint to roll back to.
    Aborted,
}

/// How a failing plan is kept from affecting the others of its batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Isolation {
    /// Not at all: a plan that fails after its first change aborts the batch, which is then rolled back and run again
    /// with `Savepoint`. Failures are rare, and a savepoint costs a copy of every page that is changed.
    Batch,
    /// Each plan has a savepoint.
    Savepoint,
}

/// Why a plan was not applied.
pub(super) enum Rejection {
    Outcome(Box<Committed>),
    Error(StoreError),
}

impl From<StoreError> for Rejection {
    fn from(error: StoreError) -> Rejection {
        Rejection::Error(error)
    }
}

impl From<rusqlite::Error> for Rejection {
    fn from(error: rusqlite::Error) -> Rejection {
        Rejection::Error(error.into())
    }
}

impl<'a> WriteTx<'a> {
    pub(crate) fn new(connection: &'a Connection, context: &'a SqliteContext) -> WriteTx<'a> {
        WriteTx {
            connection,
            context,
            counters: HashMap::new(),
            usage: HashMap::new(),
            heads: HashMap::new(),
            dirty_heads: Vec::new(),
            ends_keys: false,
            state: TxState::Unchanged,
        }
    }

    pub(crate) fn begin(&mut self) -> Result<(), StoreError> {
        self.state = TxState::Unchanged;
        Ok(self.connection.execute_batch("BEGIN IMMEDIATE")?)
    }

    /// After a failed fsync the commit record may still be found in the WAL after a restart, so the outcome is
    /// unknown. After a failed write the commit record is incomplete, so the transaction did not happen.
    pub(crate) fn commit(&mut self) -> Result<(), StoreError> {
        self.flush_counters_and_heads()?;
        self.connection.execute_batch("COMMIT").map_err(|error| {
            let is_write_error =
                error.sqlite_error().is_some_and(|cause| cause.extended_code == ffi::SQLITE_IOERR_WRITE);
            match error.sqlite_error_code() {
                Some(ErrorCode::SystemIoFailure) if !is_write_error => StoreError::OutcomeUnknown,
                Some(_) | None => StoreError::Database(error),
            }
        })
    }

    /// Whether the transaction is still open. SQLite rolls back by itself on a full disk or an I/O error; later
    /// statements would then be committed one by one.
    pub(crate) fn is_open(&self) -> bool {
        !self.connection.is_autocommit()
    }

    pub(crate) fn rollback(&mut self) {
        if self.is_open() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        self.counters.clear();
        self.usage.clear();
        self.heads.clear();
        self.dirty_heads.clear();
        self.ends_keys = false;
    }

    /// Runs a task in a savepoint, so that its failure undoes nothing else.
    pub(crate) fn run_task(&mut self, task: WriteTask) -> Result<(), StoreError> {
        // Rolling back to the savepoint must not lose the counters of earlier plans, so they are written before it.
        // If that fails half way, the rows no longer match what is in memory, and the transaction is rolled back.
        if let Err(error) = self.flush_counters_and_heads() {
            self.rollback();
            return Err(error);
        }
        self.connection.execute_batch("SAVEPOINT plan")?;
        let outcome = task(self);
        let outcome = self.close_savepoint(outcome);
        if outcome.is_err() {
            // The links of the task were rolled back with it.
            self.heads.clear();
            self.dirty_heads.clear();
        }
        outcome
    }

    /// Releases the savepoint of a success and rolls back that of a failure. If that fails too, the content of the
    /// transaction is unknown, and all of it is rolled back.
    fn close_savepoint<T, E: From<StoreError>>(&mut self, outcome: Result<T, E>) -> Result<T, E> {
        let closed = match (&outcome, self.is_open()) {
            (Ok(_), _) => self.connection.execute_batch("RELEASE plan"),
            (Err(_), true) => self.connection.execute_batch("ROLLBACK TO plan; RELEASE plan"),
            (Err(_), false) => Ok(()),
        };
        match closed {
            Ok(()) => outcome,
            Err(error) => {
                self.rollback();
                outcome.and(Err(StoreError::from(error).into()))
            }
        }
    }

    /// Applies a plan, or says why not. The caller must check `is_aborted` before going on.
    pub(crate) fn apply(&mut self, plan: &EncodedCommit, isolation: Isolation) -> Result<Committed, StoreError> {
        self.state = TxState::Unchanged;
        let outcome = match isolation {
            Isolation::Batch => self.apply_plan(plan),
            Isolation::Savepoint => self.apply_in_savepoint(plan),
        };
        if outcome.is_err() && isolation == Isolation::Batch && self.state == TxState::Changed && self.is_open() {
            self.state = TxState::Aborted;
        }
        match outcome {
            Ok(()) => Ok(Committed::Done),
            Err(Rejection::Outcome(committed)) => Ok(*committed),
            Err(Rejection::Error(error)) => Err(error),
        }
    }

    /// Whether a failed plan has left some of its changes in the transaction.
    pub(crate) fn is_aborted(&self) -> bool {
        self.state == TxState::Aborted
    }

    fn apply_in_savepoint(&mut self, plan: &EncodedCommit) -> Result<(), Rejection> {
        self.connection.execute_batch("SAVEPOINT plan")?;
        let outcome = self.apply_plan(plan);
        self.close_savepoint(outcome)
    }

    /// The counter and the chain head in memory change last, when nothing can fail any more.
    fn apply_plan(&mut self, plan: &EncodedCommit) -> Result<(), Rejection> {
        let tenant = plan.tenant.as_str();
        let texts = &self.context.commit_texts;
        if !self.context.keyring.is_current(tenant, &plan.keys) {
            self.require_key(tenant, &plan.keys)?;
        }
        if let Some(EncodedClaim { claim, key_hash, .. }) = &plan.claim
            && let Some(earlier) = find_claim(self.connection, texts, &plan.keys, tenant, claim, key_hash)?
        {
            return Err(Rejection::Outcome(Box::new(Committed::AlreadyClaimed(earlier))));
        }
        let (client, mut change) = (plan.client.as_ref().map(ClientId::as_str), plan.usage);
        self.check_storage(tenant, client, &change)?;
        for step in &plan.steps {
            let before = self.size_before(tenant, step)?;
            self.apply_step(tenant, step)?;
            step.count(before, &mut change);
        }
        let mut last = self.event_counter(tenant)?.last;
        for (name, event) in &plan.events {
            last += 1;
            let values = params![tenant, last, name, event.kind, event.id, event.change.as_str(), plan.at];
            self.connection.prepare_cached(&texts.insert_event)?.execute(values)?;
            self.state = TxState::Changed;
        }
        if let Some(EncodedClaim { claim, key_hash, response, .. }) = &plan.claim {
            let StoredResponse { request_hash, answer } = response;
            let values = params![tenant, claim.client.as_str(), claim.tool, key_hash, request_hash, answer, plan.at];
            self.connection.prepare_cached(&texts.insert_claim)?.execute(values)?;
            self.state = TxState::Changed;
        }
        self.append_link(&plan.chain, plan.at, &plan.audit)?;
        self.event_counter(tenant)?.last = last;
        if let Some(usage) = self.usage.get_mut(tenant) {
            usage.add(&change, client);
        }
        Ok(())
    }

    /// Only this thread changes tenants. It removes their keys from memory when one is erased, so a plan that was encoded
    /// with a key that is still there needs no look at the table.
    fn require_key(&self, tenant: &str, keys: &TenantKeys) -> Result<(), StoreError> {
        let (key, rest) = (self.context.keyring.registry(), "WHERE tenant = $1 AND erasing_at IS NULL");
        let found = session::run_ready(TENANTS.find(self.connection, key, rest, &[tenant.into()]))?;
        let row = found.first().ok_or(StoreError::TenantErased)?;
        if keys.are_of(row.bytes("sealed_key")?) { Ok(()) } else { Err(StoreError::TenantErased) }
    }

    fn apply_step(&mut self, tenant: &str, step: &EncodedStep) -> Result<(), Rejection> {
        match step {
            EncodedStep::Insert { table, row, on_duplicate } => {
                let text = &self.context.texts(table)?.insert;
                match write_row(&mut *self.connection.prepare_cached(text)?, tenant, row) {
                    Ok(_) => {
                        self.state = TxState::Changed;
                        self.insert_terms(table, tenant, row)
                    }
                    Err(error) if is_unique_violation(&error) => Err(refused(on_duplicate)),
                    Err(error) => Err(error.into()),
                }
            }
            EncodedStep::Update { table, row, expect_version, on_conflict, on_duplicate } => {
                let texts = self.context.texts(table)?;
                self.delete_terms(&texts.delete_terms, tenant, &row.id, *expect_version)?;
                match write_row(&mut *self.connection.prepare_cached(&texts.update)?, tenant, row) {
                    Ok(0) => Err(conflict(on_conflict)),
                    Ok(_) => {
                        self.state = TxState::Changed;
                        self.insert_terms(table, tenant, row)
                    }
                    Err(error) if is_unique_violation(&error) => Err(refused(on_duplicate)),
                    Err(error) => Err(error.into()),
                }
            }
            EncodedStep::Remove { table, id, expect_version, on_conflict } => {
                let texts = self.context.texts(table)?;
                self.delete_terms(&texts.delete_terms, tenant, id, *expect_version)?;
                let values = params![tenant, id, expect_version];
                match self.connection.prepare_cached(&texts.remove)?.execute(values)? {
                    0 => Err(conflict(on_conflict)),
                    _ => {
                        self.state = TxState::Changed;
                        Ok(())
                    }
                }
            }
            EncodedStep::Adjust { text, id, by, floor, on_underflow } => {
                match self.connection.prepare_cached(text)?.execute(params![tenant, id, by, floor])? {
                    0 => Err(refused(on_underflow)),
                    _ => {
                        self.state = TxState::Changed;
                        Ok(())
                    }
                }
            }
            EncodedStep::Require { table, id, expect_version, on_conflict } => {
                let text = &self.context.texts(table)?.version;
                let mut statement = self.connection.prepare_cached(text)?;
                let version: Option<i64> = statement.query_row(params![tenant, id], |row| row.get(0)).optional()?;
                if version == Some(*expect_version) { Ok(()) } else { Err(conflict(on_conflict)) }
            }
            EncodedStep::RequireAbsent { table, id } => {
                let text = &self.context.texts(table)?.version;
                let exists = self.connection.prepare_cached(text)?.exists(params![tenant, id])?;
                if exists { Err(conflict(&OnConflict::Retry)) } else { Ok(()) }
            }
        }
    }

    /// Before a row is changed or removed, because it lists its own search terms. The version is checked here too.
    fn delete_terms(&mut self, text: &str, tenant: &str, id: &str, expect_version: i64) -> Result<(), Rejection> {
        if self.connection.prepare_cached(text)?.execute(params![tenant, id, expect_version])? > 0 {
            self.state = TxState::Changed;
        }
        Ok(())
    }

    fn insert_terms(&mut self, table: &TableSpec, tenant: &str, row: &EncodedRow) -> Result<(), Rejection> {
        let texts = &self.context.texts(table)?.insert_terms;
        for terms in row.terms.chunks(TERMS_PER_STATEMENT) {
            let text = texts.get(terms.len() - 1).ok_or(StoreError::UnknownTable(table.name))?;
            let mut statement = self.connection.prepare_cached(text)?;
            statement.raw_bind_parameter(1, tenant)?;
            statement.raw_bind_parameter(2, &row.id)?;
            for (number, term) in (3..).zip(terms) {
                statement.raw_bind_parameter(number, term)?;
            }
            statement.raw_execute()?;
        }
        Ok(())
    }

    fn event_counter(&mut self, tenant: &str) -> Result<&mut EventCounter, StoreError> {
        if !self.counters.contains_key(tenant) {
            let stored = self
                .connection
                .prepare_cached(&self.context.commit_texts.get_event_counter)?
                .query_row([tenant], |row| row.get(0))
                .optional()?
                .unwrap_or(0);
            self.counters.insert(tenant.to_owned(), EventCounter { stored, last: stored });
        }
        self.counters.get_mut(tenant).ok_or_else(|| StoreError::NotCommitted("the event counter is missing".to_owned()))
    }

    /// Writes the counters and heads that so far are only in memory, in the transaction of what they count.
    fn flush_counters_and_heads(&mut self) -> Result<(), StoreError> {
        for (tenant, counter) in self.counters.drain().filter(|(_, counter)| counter.last != counter.stored) {
            self.connection
                .prepare_cached(&self.context.commit_texts.set_event_counter)?
                .execute(params![tenant, counter.last])?;
        }
        self.write_usage()?;
        self.write_heads()
    }
}

fn write_row(statement: &mut Statement<'_>, tenant: &str, row: &EncodedRow) -> rusqlite::Result<usize> {
    statement.raw_bind_parameter(1, tenant)?;
    statement.raw_bind_parameter(2, &row.id)?;
    for (number, value) in (3..).zip(&row.values) {
        statement.raw_bind_parameter(number, value)?;
    }
    statement.raw_execute()
}

fn conflict(on_conflict: &OnConflict) -> Rejection {
    match on_conflict {
        OnConflict::Fail(fault) => refused(fault),
        OnConflict::Retry => Rejection::Outcome(Box::new(Committed::VersionConflict)),
    }
}

pub(super) fn refused(fault: &Fault) -> Rejection {
    Rejection::Outcome(Box::new(Committed::Refused(fault.clone())))
}
