//! A plan made ready for the writer: everything hashed, sealed and in the order of its statements' parameters. It is
//! made on the thread of whoever asks, because the one thread that writes is the one that everybody waits for.

use std::sync::Arc;

use frontdesk_engine::model::plan::{self, Event, OnConflict};
use frontdesk_engine::model::table::{Row, SearchTerm, TableSpec};
use frontdesk_engine::model::tool::Item;
use frontdesk_engine::ports::{Claim, Commit};
use frontdesk_engine::{Fault, TenantId};
use rusqlite::types;

use super::{Shared, words};
use crate::StoreError;
use crate::audit::tenant_chain;
use crate::claims::{self, Kept};
use crate::sql::{self, Value};
use crate::vault::TenantKeys;

pub(crate) struct Ready {
    pub(super) tenant: TenantId,
    /// The name of the tenant's audit chain.
    pub(super) chain: String,
    pub(super) at: i64,
    pub(super) steps: Vec<Step>,
    pub(super) events: Vec<(String, Event)>,
    pub(super) claim: Option<Claiming>,
    pub(super) audit: String,
}

/// As the plan's, with its values as they are kept.
pub(super) enum Step {
    Insert { kind: &'static TableSpec, row: Values, taken: Fault },
    Update { kind: &'static TableSpec, row: Values, expect_version: i64, stale: OnConflict },
    Adjust { text: String, id: String, by: i64, floor: i64, below: Fault },
    Require { kind: &'static TableSpec, id: String, expect_version: i64, stale: OnConflict },
}

/// A row's values from the third parameter of `sql::insert` on, or of `sql::update`; before them come tenant and id.
pub(super) struct Values {
    pub(super) id: String,
    pub(super) rest: Vec<types::Value>,
    pub(super) words: Vec<String>,
}

/// A key to be claimed, and what is kept of the answer under it.
pub(super) struct Claiming {
    pub(super) claim: Claim,
    pub(super) hash: String,
    pub(super) kept: Kept,
    /// For an answer that was kept earlier.
    pub(super) keys: Arc<TenantKeys>,
}

impl Ready {
    pub(super) fn new(shared: &Shared, keys: &Arc<TenantKeys>, commit: Commit) -> Result<Ready, StoreError> {
        let Commit { tenant, at, steps, events, claim, answer, audit } = commit;
        let hand = Hand { shared, keys, tenant: tenant.as_str() };
        let steps = steps.into_iter().map(|step| hand.step(step)).collect::<Result<_, _>>()?;
        let claim = claim.map(|claim| hand.claim(claim, &answer)).transpose()?;
        Ok(Ready { chain: tenant_chain(tenant.as_str()), at: at.0, steps, events, claim, audit, tenant })
    }
}

struct Hand<'a> {
    shared: &'a Shared,
    keys: &'a Arc<TenantKeys>,
    tenant: &'a str,
}

impl Hand<'_> {
    fn step(&self, step: plan::Step) -> Result<Step, StoreError> {
        Ok(match step {
            plan::Step::Insert { table: kind, row, on_duplicate: taken } => {
                Step::Insert { kind, row: self.row(kind, row)?, taken }
            }
            plan::Step::Update { table: kind, row, expect_version, on_conflict: stale } => {
                let mut row = self.row(kind, row)?;
                row.rest.push(expect_version.into());
                Step::Update { kind, row, expect_version, stale }
            }
            plan::Step::Adjust { table: kind, id, column, by, floor, on_underflow: below } => {
                Step::Adjust { text: sql::for_sqlite(&sql::adjust(kind, column)), id, by, floor, below }
            }
            plan::Step::Require { table: kind, id, expect_version, on_conflict: stale } => {
                Step::Require { kind, id, expect_version, stale }
            }
        })
    }

    fn row(&self, kind: &TableSpec, row: Row) -> Result<Values, StoreError> {
        let sealed = match &row.personal {
            None => None,
            Some(personal) => {
                let place = [self.tenant, kind.name, row.id.as_str(), "personal"];
                let sealed = self.shared.vault.seal(self.keys, &place, personal.as_bytes());
                Some(sealed.ok_or(StoreError::WrongKey)?)
            }
        };
        let cells = sql::cells(kind, &row, self.keys).into_iter().map(owned).collect::<Vec<_>>();
        let mut words: Vec<String> = row.search_terms.iter().filter_map(|word| self.word(kind, word)).collect();
        words.sort_unstable();
        words.dedup();
        let mut rest = Vec::with_capacity(cells.len() + 8);
        rest.extend([row.version.into(), row.created_at.into(), row.updated_at.into()]);
        rest.extend([row.body.into(), row.masked.into(), sealed.into(), words::list(&words).into()]);
        rest.extend(cells);
        Ok(Values { id: row.id, rest, words })
    }

    /// As it stands in the table of words.
    fn word(&self, kind: &TableSpec, word: &SearchTerm) -> Option<String> {
        match Value::of_word(word, kind, Some(self.keys)) {
            Value::Text(text) => Some(text.to_owned()),
            Value::Digest(text) => Some(text),
            Value::Null | Value::Integer(_) => None,
        }
    }

    fn claim(&self, claim: Claim, answer: &Item) -> Result<Claiming, StoreError> {
        let hash = claims::hash_of(self.keys, &claim);
        let kept = claims::seal(&self.shared.vault, self.keys, self.tenant, &claim, &hash, answer);
        Ok(Claiming { kept: kept.ok_or(StoreError::WrongKey)?, hash, claim, keys: Arc::clone(self.keys) })
    }
}

fn owned(value: Value<'_>) -> types::Value {
    match value {
        Value::Null => types::Value::Null,
        Value::Text(text) => types::Value::Text(text.to_owned()),
        Value::Integer(number) => types::Value::Integer(number),
        Value::Digest(text) => types::Value::Text(text),
    }
}
