//! A plan encoded for the writer: everything is hashed, sealed and in the order of its statements' parameters. This
//! is done on the caller's thread, because all commits share the one writer thread.

use std::sync::Arc;

use frontdesk_engine::model::plan::{self, Event, OnConflict};
use frontdesk_engine::model::table::{Row, SearchTerm, TableSpec};
use frontdesk_engine::model::tool::Item;
use frontdesk_engine::ports::{Claim, Commit};
use frontdesk_engine::{ClientId, Fault, TenantId};
use rusqlite::types;

use super::{SqliteContext, search_terms};
use crate::StoreError;
use crate::audit::row_versions::with_written_rows;
use crate::audit::tenant_chain;
use crate::backend::usage::{ROW_BYTES, UsageChange, length};
use crate::idempotency::{self, StoredResponse};
use crate::keyring::{RowContent, RowPart, TenantKeys};
use crate::sql::{self, QueryParam};

pub(crate) struct EncodedCommit {
    pub(super) tenant: TenantId,
    /// What it was encoded with.
    pub(super) keys: Arc<TenantKeys>,
    /// The name of the tenant's audit chain.
    pub(super) chain: String,
    pub(super) at: i64,
    pub(super) steps: Vec<EncodedStep>,
    pub(super) events: Vec<(String, Event)>,
    pub(super) claim: Option<EncodedClaim>,
    pub(super) audit: String,
    /// Who asked for it; none for what the server does by itself.
    pub(super) client: Option<ClientId>,
    /// What it adds, as far as that does not depend on rows that exist.
    pub(super) usage: UsageChange,
}

/// A step of the plan with its values as they are stored.
pub(super) enum EncodedStep {
    Insert {
        table: &'static TableSpec,
        row: EncodedRow,
        on_duplicate: Fault,
    },
    Update {
        table: &'static TableSpec,
        row: EncodedRow,
        expect_version: i64,
        on_conflict: OnConflict,
        on_duplicate: Fault,
    },
    Adjust {
        text: String,
        id: String,
        by: i64,
        floor: i64,
        on_underflow: Fault,
    },
    Remove {
        table: &'static TableSpec,
        id: String,
        expect_version: i64,
        on_conflict: OnConflict,
    },
    Require {
        table: &'static TableSpec,
        id: String,
        expect_version: i64,
        on_conflict: OnConflict,
    },
    RequireAbsent {
        table: &'static TableSpec,
        id: String,
    },
}

pub(super) struct EncodedRow {
    pub(super) id: String,
    /// From the third parameter of `sql::insert` or `sql::update` on; the first two are tenant and id.
    pub(super) values: Vec<types::Value>,
    /// Sorted, without duplicates.
    pub(super) terms: Vec<String>,
    /// As `usage::row_size` counts them.
    pub(super) bytes: i64,
}

impl EncodedStep {
    /// Counts a step that was applied; `before` is the size of the row that it has changed or removed. Inserts were counted
    /// before, because they can be refused.
    pub(super) fn count(&self, before: i64, usage: &mut UsageChange) {
        match self {
            EncodedStep::Update { row, .. } => usage.update(row.bytes - before),
            EncodedStep::Remove { .. } => usage.remove(before),
            EncodedStep::Insert { .. }
            | EncodedStep::Adjust { .. }
            | EncodedStep::Require { .. }
            | EncodedStep::RequireAbsent { .. } => {}
        }
    }
}

/// An idempotency key and the response to store under it.
pub(super) struct EncodedClaim {
    pub(super) claim: Claim,
    pub(super) key_hash: String,
    pub(super) response: StoredResponse,
}

impl EncodedCommit {
    pub(super) fn new(
        context: &SqliteContext,
        keys: &Arc<TenantKeys>,
        commit: Commit,
    ) -> Result<EncodedCommit, StoreError> {
        let Commit { tenant, at, steps, events, claim, answer, audit, client } = commit;
        let audit = with_written_rows(&audit, &steps);
        let encoder = PlanEncoder { context, keys, tenant: tenant.as_str() };
        let steps = steps.into_iter().map(|step| encoder.step(step)).collect::<Result<Vec<_>, _>>()?;
        let claim = claim.map(|claim| encoder.claim(claim, &answer)).transpose()?;
        let usage = added(&steps, claim.as_ref());
        let (chain, keys) = (tenant_chain(tenant.as_str()), Arc::clone(keys));
        Ok(EncodedCommit { chain, keys, at: at.0, steps, events, claim, audit, client, usage, tenant })
    }
}

fn added(steps: &[EncodedStep], claim: Option<&EncodedClaim>) -> UsageChange {
    let mut usage = UsageChange::default();
    for step in steps {
        match step {
            EncodedStep::Insert { row, .. } => usage.insert(row.bytes),
            EncodedStep::Update { .. } => usage.writes = true,
            EncodedStep::Adjust { .. }
            | EncodedStep::Remove { .. }
            | EncodedStep::Require { .. }
            | EncodedStep::RequireAbsent { .. } => {}
        }
    }
    if let Some(claim) = claim {
        usage.store_answer(&claim.response.answer);
    }
    usage
}

struct PlanEncoder<'a> {
    context: &'a SqliteContext,
    keys: &'a Arc<TenantKeys>,
    tenant: &'a str,
}

impl PlanEncoder<'_> {
    fn step(&self, step: plan::Step) -> Result<EncodedStep, StoreError> {
        Ok(match step {
            plan::Step::Insert { table, row, on_duplicate } => {
                EncodedStep::Insert { table, row: self.row(table, row)?, on_duplicate }
            }
            plan::Step::Update { table, row, expect_version, on_conflict, on_duplicate } => {
                let mut row = self.row(table, row)?;
                row.values.push(expect_version.into());
                EncodedStep::Update { table, row, expect_version, on_conflict, on_duplicate }
            }
            plan::Step::Adjust { table, id, column, by, floor, on_underflow } => {
                EncodedStep::Adjust { text: sql::for_sqlite(&sql::adjust(table, column)), id, by, floor, on_underflow }
            }
            plan::Step::Remove { table, id, expect_version, on_conflict } => {
                EncodedStep::Remove { table, id, expect_version, on_conflict }
            }
            plan::Step::Require { table, id, expect_version, on_conflict } => {
                EncodedStep::Require { table, id, expect_version, on_conflict }
            }
            plan::Step::RequireAbsent { table, id } => EncodedStep::RequireAbsent { table, id },
        })
    }

    fn row(&self, table: &TableSpec, row: Row) -> Result<EncodedRow, StoreError> {
        let seal = |part| self.context.keyring.seal_part(part, self.keys, self.tenant, table, &row);
        let (sealed, sealed_secret) = (seal(RowPart::Personal)?, seal(RowPart::Secret)?);
        let columns = sql::column_values(table, &row, self.keys).into_iter().map(owned).collect::<Vec<_>>();
        let mut terms: Vec<String> = row.search_terms.iter().filter_map(|term| self.term(table, term)).collect();
        terms.sort_unstable();
        terms.dedup();
        let texts = [Some(row.body.len()), row.masked.as_ref().map(String::len)];
        let sizes = texts.into_iter().chain([sealed.as_ref().map(Vec::len), sealed_secret.as_ref().map(Vec::len)]);
        let bytes = length(sizes.flatten().sum()) + ROW_BYTES;
        let content = RowContent {
            tenant: self.tenant,
            table: table.name,
            id: &row.id,
            version: row.version,
            created_at: row.created_at,
            updated_at: row.updated_at,
            body: &row.body,
            masked: row.masked.as_deref(),
            sealed: sealed.as_deref(),
            sealed_secret: sealed_secret.as_deref(),
        };
        let mac = content.mac(self.keys);
        let mut values = Vec::with_capacity(columns.len() + 10);
        values.extend([row.version.into(), row.created_at.into(), row.updated_at.into()]);
        values.extend([row.body.into(), row.masked.into(), sealed.into(), sealed_secret.into()]);
        values.extend([mac.into(), search_terms::to_json(&terms).into()]);
        values.extend(columns);
        Ok(EncodedRow { id: row.id, values, terms, bytes })
    }

    fn term(&self, table: &TableSpec, term: &SearchTerm) -> Option<String> {
        match QueryParam::of_term(term, table, Some(self.keys)) {
            QueryParam::Text(text) => Some(text.to_owned()),
            QueryParam::Digest(text) => Some(text),
            QueryParam::Null | QueryParam::Integer(_) => None,
        }
    }

    fn claim(&self, claim: Claim, answer: &Item) -> Result<EncodedClaim, StoreError> {
        let key_hash = idempotency::key_hash(self.keys, &claim);
        let response = idempotency::seal(&self.context.keyring, self.keys, self.tenant, &claim, &key_hash, answer)
            .ok_or(StoreError::WrongKey)?;
        Ok(EncodedClaim { response, key_hash, claim })
    }
}

fn owned(value: QueryParam<'_>) -> types::Value {
    match value {
        QueryParam::Null => types::Value::Null,
        QueryParam::Text(text) => types::Value::Text(text.to_owned()),
        QueryParam::Integer(number) => types::Value::Integer(number),
        QueryParam::Digest(text) => types::Value::Text(text),
    }
}
