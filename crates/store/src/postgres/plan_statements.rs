//! A plan as SQL statements, each with what it means when it fails. Nothing is sent from here.

use std::sync::Arc;

use frontdesk_engine::model::plan::{OnConflict, Step};
use frontdesk_engine::model::table::{Row, TableSpec};
use frontdesk_engine::ports::{Commit, Committed};
use frontdesk_engine::{ClientId, Fault};
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use super::PgContext;
use super::sql_texts::{INSERT_CLAIMS, INSERT_EVENTS, INSERT_LINKS};
use super::values::{PgValue, storable, storable_text};
use crate::StoreError;
use crate::audit::row_versions::with_written_rows;
use crate::audit::{ChainHead, UPSERT_HEAD, tenant_chain};
use crate::backend::usage::{ADD_USAGE, ROW_BYTES, TenantUsage, UsageChange, length};
use crate::idempotency;
use crate::keyring::{RowContent, RowPart, TenantKeys};
use crate::sql::session::StoredValue;
use crate::sql::{self, QueryParam};

/// In the values of a row: what comes before its texts, and how many they are.
const BEFORE_TEXTS: usize = 4;
const TEXTS: usize = 4;

/// One statement of a plan.
pub(crate) struct PgStatement {
    pub(crate) text: Arc<str>,
    pub(crate) values: Vec<PgValue>,
    /// What it means that fewer rows were affected than expected.
    on_missing: Option<PlanRejection>,
    /// What it means that a unique value is taken.
    on_duplicate: Option<Fault>,
    merge: Merge,
}

/// Whether a statement may be merged with others of the same text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Merge {
    /// It only inserts, and does not depend on the other statements. The number of rows matters only with `on_missing`.
    Rows(u64),
    /// Its position among the others matters.
    Never,
}

/// Why a plan was not applied.
#[derive(Debug, Clone)]
pub(crate) enum PlanRejection {
    Outcome(Committed),
    /// The idempotency key is claimed; the stored response has to be looked up.
    Claimed,
}

pub(crate) enum StatementFailure {
    Rejected(PlanRejection),
    Error(StoreError),
}

/// A tenant's last event number and last audit link, while its row is locked.
#[derive(Clone)]
pub(crate) struct TenantState {
    pub(crate) event: i64,
    pub(crate) head: ChainHead,
    pub(crate) usage: TenantUsage,
}

pub(crate) fn plan_statements(
    context: &PgContext,
    keys: &TenantKeys,
    commit: &Commit,
    state: &mut TenantState,
) -> Result<Vec<PgStatement>, StoreError> {
    let encoder = PlanEncoder { context, keys, tenant: commit.tenant.as_str() };
    let tenant = encoder.tenant;
    let mut statements = Vec::new();
    let mut change = UsageChange::default();
    // The claim comes first, because a key that is taken outranks every other failure.
    if let Some(claim) = &commit.claim {
        let key_hash = idempotency::key_hash(keys, claim);
        let response = idempotency::seal(&context.keyring, keys, tenant, claim, &key_hash, &commit.answer)
            .ok_or(StoreError::WrongKey)?;
        change.store_answer(&response.answer);
        let values = [
            storable(claim.client.as_str()),
            claim.tool.into(),
            key_hash.into(),
            StoredValue::Bytes(response.request_hash),
            StoredValue::Bytes(response.answer),
            commit.at.0.into(),
        ];
        let insert = PgStatement::insert(INSERT_CLAIMS, tenant.into(), values);
        statements.push(PgStatement { on_missing: Some(PlanRejection::Claimed), ..insert });
    }
    let claimed = statements.len();
    for step in &commit.steps {
        encoder.step(step, &mut statements, &mut change)?;
    }
    let client = commit.client.as_ref().map(ClientId::as_str);
    if let Err(fault) = state.usage.check(&change, client, &context.limits()) {
        statements.truncate(claimed);
        statements.push(PgStatement { on_missing: Some(refused(&fault)), ..PgStatement::new(NO_ROW, Vec::new()) });
        return Ok(statements);
    }
    state.usage.add(&change, client);
    for (name, event) in &commit.events {
        state.event += 1;
        let values = [
            state.event.into(),
            storable(name),
            event.kind.into(),
            storable(&event.id),
            event.change.as_str().into(),
            commit.at.0.into(),
        ];
        statements.push(PgStatement::insert(INSERT_EVENTS, tenant.into(), values));
    }
    let chain = tenant_chain(tenant);
    let record = with_written_rows(&commit.audit, &commit.steps);
    statements.push(insert_link(context, &chain, &mut state.head, commit.at.0, &record));
    Ok(statements)
}

/// Finds nothing, so that a plan is refused, but not before its key is known to be new.
const NO_ROW: &str = "SELECT 1 WHERE 1 = 0";

/// Appends a link to a chain.
pub(crate) fn insert_link(
    context: &PgContext,
    chain: &str,
    head: &mut ChainHead,
    at: i64,
    records: &str,
) -> PgStatement {
    head.append(&context.audit_key, chain, at, records);
    let values = [head.seq.into(), at.into(), storable(records), head.hash.as_slice().into()];
    PgStatement::insert(INSERT_LINKS, chain.into(), values)
}

pub(crate) fn upsert_head(context: &PgContext, chain: &str, head: &ChainHead) -> PgStatement {
    PgStatement::new(UPSERT_HEAD, head.params(&context.audit_key, chain).map(PgValue::One).into())
}

/// Stores the event number and the chain head, once for all plans of a transaction.
pub(crate) fn closing_statements(
    context: &PgContext,
    tenant: &str,
    from: &TenantState,
    to: &TenantState,
) -> Vec<PgStatement> {
    let mut statements = Vec::new();
    if to.event != from.event {
        let values = vec![PgValue::text(tenant), PgValue::integer(to.event)];
        statements.push(PgStatement::new(sql::SET_EVENT_COUNTER, values));
    }
    if to.usage.is_changed() {
        statements.push(PgStatement::new(ADD_USAGE, to.usage.params(tenant).map(PgValue::One).into()));
    }
    if to.head.seq != from.head.seq {
        statements.push(upsert_head(context, &tenant_chain(tenant), &to.head));
    }
    statements
}

/// Merges the inserts of several plans into one statement per table. If a statement does more than insert, all stay as
/// they are.
pub(crate) fn merge_inserts(statements: Vec<PgStatement>) -> Vec<PgStatement> {
    if statements.iter().any(|statement| statement.merge == Merge::Never) {
        return statements;
    }
    let mut merged: Vec<PgStatement> = Vec::new();
    for statement in statements {
        match merged.iter_mut().find(|first| first.text == statement.text) {
            Some(first) => first.absorb(statement),
            None => merged.push(statement),
        }
    }
    merged
}

/// The first statement that failed, in the order they were sent; those behind it failed because of it.
pub(crate) fn check_results(
    statements: &[PgStatement],
    results: Vec<Result<u64, Error>>,
) -> Result<(), StatementFailure> {
    for (statement, result) in statements.iter().zip(results) {
        match (result, &statement.on_missing, &statement.on_duplicate) {
            (Ok(rows), Some(rejection), _) if rows < statement.expected_rows() => {
                return Err(StatementFailure::Rejected(rejection.clone()));
            }
            (Ok(_), _, _) => {}
            (Err(error), _, Some(fault)) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
                return Err(StatementFailure::Rejected(refused(fault)));
            }
            (Err(error), _, _) => return Err(StatementFailure::Error(error.into())),
        }
    }
    Ok(())
}

impl PgStatement {
    fn new(text: impl Into<Arc<str>>, values: Vec<PgValue>) -> PgStatement {
        PgStatement { text: text.into(), values, on_missing: None, on_duplicate: None, merge: Merge::Never }
    }

    /// Inserts one row by a text that inserts any number; the first value is the tenant or the chain.
    fn insert(
        text: impl Into<Arc<str>>,
        owner: StoredValue,
        values: impl IntoIterator<Item = StoredValue>,
    ) -> PgStatement {
        PgStatement { merge: Merge::Rows(1), ..PgStatement::new(text, PgValue::row(owner, values)) }
    }

    fn expected_rows(&self) -> u64 {
        match self.merge {
            Merge::Rows(rows) => rows,
            Merge::Never => 1,
        }
    }

    /// Takes over the rows of another statement with the same text and the same tenant or chain.
    fn absorb(&mut self, other: PgStatement) {
        if let (Merge::Rows(own), Merge::Rows(more)) = (self.merge, other.merge) {
            self.merge = Merge::Rows(own + more);
        }
        for (own, more) in self.values.iter_mut().zip(other.values) {
            if let (PgValue::Array(own), PgValue::Array(more)) = (own, more) {
                own.extend(more);
            }
        }
    }
}

struct PlanEncoder<'a> {
    context: &'a PgContext,
    keys: &'a TenantKeys,
    tenant: &'a str,
}

impl PlanEncoder<'_> {
    fn step(&self, step: &Step, statements: &mut Vec<PgStatement>, change: &mut UsageChange) -> Result<(), StoreError> {
        match step {
            Step::Insert { table, row, on_duplicate } => {
                let text = Arc::clone(&self.context.texts(table)?.insert);
                let values = self.row(table, row)?;
                change.insert(row_bytes(&values));
                let insert = PgStatement::insert(text, self.tenant.into(), values);
                statements.push(PgStatement { on_duplicate: Some(on_duplicate.clone()), ..insert });
                statements.extend(self.insert_terms(table, row)?);
            }
            Step::Update { table, row, expect_version, on_conflict, on_duplicate } => {
                let texts = self.context.texts(table)?;
                let mut values = vec![PgValue::text(self.tenant)];
                let row_values = self.row(table, row)?;
                // What the row has before is counted by the statement.
                change.update(0);
                statements.push(self.before_change(&texts.before_change, &row.id, row_bytes(&row_values)));
                values.extend(row_values.into_iter().map(PgValue::One));
                values.push(PgValue::integer(*expect_version));
                let update = PgStatement::new(Arc::clone(&texts.update), values);
                statements.push(PgStatement {
                    on_missing: Some(conflict(on_conflict)),
                    on_duplicate: Some(on_duplicate.clone()),
                    ..update
                });
                let key = vec![PgValue::text(self.tenant), PgValue::text(&row.id)];
                statements.push(PgStatement::new(Arc::clone(&texts.delete_terms), key));
                statements.extend(self.insert_terms(table, row)?);
            }
            Step::Adjust { table, id, column, by, floor, on_underflow } => {
                let values = vec![
                    PgValue::text(self.tenant),
                    PgValue::text(id),
                    PgValue::integer(*by),
                    PgValue::integer(*floor),
                ];
                let adjust = PgStatement::new(sql::adjust(table, column), values);
                statements.push(PgStatement { on_missing: Some(refused(on_underflow)), ..adjust });
            }
            Step::Remove { table, id, expect_version, on_conflict } => {
                let texts = self.context.texts(table)?;
                let key = vec![PgValue::text(self.tenant), PgValue::text(id)];
                let mut values = key.clone();
                values.push(PgValue::integer(*expect_version));
                change.remove(0);
                statements.push(self.before_change(&texts.before_change, id, 0));
                let remove = PgStatement::new(Arc::clone(&texts.remove), values);
                statements.push(PgStatement { on_missing: Some(conflict(on_conflict)), ..remove });
                statements.push(PgStatement::new(Arc::clone(&texts.delete_terms), key));
            }
            Step::Require { table, id, expect_version, on_conflict } => {
                // The tenant's row is locked by every writer, so the version stays until the commit.
                let values = vec![PgValue::text(self.tenant), PgValue::text(id), PgValue::integer(*expect_version)];
                let require = PgStatement::new(Arc::clone(&self.context.texts(table)?.require), values);
                statements.push(PgStatement { on_missing: Some(conflict(on_conflict)), ..require });
            }
            Step::RequireAbsent { table, id } => {
                let values = vec![PgValue::text(self.tenant), PgValue::text(id)];
                let require = PgStatement::new(Arc::clone(&self.context.texts(table)?.require_absent), values);
                statements.push(PgStatement { on_missing: Some(conflict(&OnConflict::Retry)), ..require });
            }
        }
        Ok(())
    }

    /// Before a row becomes one of so many bytes, or is removed.
    fn before_change(&self, text: &Arc<str>, id: &str, bytes: i64) -> PgStatement {
        let values = vec![PgValue::text(self.tenant), PgValue::text(id), PgValue::integer(bytes)];
        PgStatement::new(Arc::clone(text), values)
    }

    /// The values after the tenant, in the order of `FIXED_COLUMNS` and the declared columns.
    fn row(&self, table: &TableSpec, row: &Row) -> Result<Vec<StoredValue>, StoreError> {
        let seal = |part| self.context.keyring.seal_part(part, self.keys, self.tenant, table, row);
        let (sealed, sealed_secret) = (seal(RowPart::Personal)?, seal(RowPart::Secret)?);
        let (id, body) = (storable_text(&row.id), storable_text(&row.body));
        let masked = row.masked.as_deref().map(storable_text);
        let content = RowContent {
            tenant: self.tenant,
            table: table.name,
            id: &id,
            version: row.version,
            created_at: row.created_at,
            updated_at: row.updated_at,
            body: &body,
            masked: masked.as_deref(),
            sealed: sealed.as_deref(),
            sealed_secret: sealed_secret.as_deref(),
        };
        let mac = content.mac(self.keys);
        let mut values = vec![
            id.into(),
            row.version.into(),
            row.created_at.into(),
            row.updated_at.into(),
            body.into(),
            masked.into(),
            sealed.map_or(StoredValue::Null, StoredValue::Bytes),
            sealed_secret.map_or(StoredValue::Null, StoredValue::Bytes),
            StoredValue::Bytes(mac),
        ];
        values.extend(sql::column_values(table, row, self.keys).into_iter().map(StoredValue::from));
        Ok(values)
    }

    fn insert_terms(&self, table: &TableSpec, row: &Row) -> Result<Option<PgStatement>, StoreError> {
        if row.search_terms.is_empty() {
            return Ok(None);
        }
        let terms =
            row.search_terms.iter().map(|term| StoredValue::from(QueryParam::of_term(term, table, Some(self.keys))));
        let terms: Vec<StoredValue> = terms.filter(|term| *term != StoredValue::Null).collect();
        let ids = terms.iter().map(|_| storable(&row.id)).collect();
        let values = vec![PgValue::text(self.tenant), PgValue::Array(terms), PgValue::Array(ids)];
        let insert = PgStatement::new(Arc::clone(&self.context.texts(table)?.insert_terms), values);
        Ok(Some(PgStatement { merge: Merge::Rows(1), ..insert }))
    }
}

/// As `usage::row_size` counts them.
fn row_bytes(values: &[StoredValue]) -> i64 {
    let texts = values.iter().skip(BEFORE_TEXTS).take(TEXTS).map(|value| match value {
        StoredValue::Text(text) => length(text.len()),
        StoredValue::Bytes(bytes) => length(bytes.len()),
        StoredValue::Null | StoredValue::Integer(_) => 0,
    });
    texts.sum::<i64>() + ROW_BYTES
}

fn conflict(on_conflict: &OnConflict) -> PlanRejection {
    match on_conflict {
        OnConflict::Fail(fault) => refused(fault),
        OnConflict::Retry => PlanRejection::Outcome(Committed::VersionConflict),
    }
}

fn refused(fault: &Fault) -> PlanRejection {
    PlanRejection::Outcome(Committed::Refused(fault.clone()))
}
