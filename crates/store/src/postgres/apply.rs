//! A plan as the changes it means, each with what it means when it does not hold. Nothing here speaks to
//! the database.

use std::sync::Arc;

use frontdesk_engine::Fault;
use frontdesk_engine::model::plan::{OnConflict, Step};
use frontdesk_engine::model::table::{Row, TableSpec};
use frontdesk_engine::ports::{Commit, Committed};
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use super::Shared;
use super::chains::{KEEP_HEAD, append, kept};
use super::texts::{ADD_CLAIMS, ADD_EVENTS, ADD_LINKS};
use super::values::Bound;
use crate::StoreError;
use crate::audit::{Head, tenant_chain};
use crate::claims;
use crate::sql::{self, Value};
use crate::vault::TenantKeys;

/// One statement of a plan.
pub(crate) struct Piece {
    pub(crate) text: Arc<str>,
    pub(crate) values: Vec<Bound>,
    /// What it means that fewer rows were met than it has.
    missing: Option<Ends>,
    /// What it means that a value is taken.
    taken: Option<Fault>,
    joins: Joins,
}

/// Whether a piece may be sent as one with others of its text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joins {
    /// It only adds rows, so many of them, and what others add makes no difference to it.
    Rows(u64),
    /// Its place among the others matters.
    Never,
}

/// How a plan ends that was not applied.
#[derive(Debug, Clone)]
pub(crate) enum Ends {
    As(Committed),
    /// The key is claimed; what was answered under it has to be looked up.
    Claimed,
}

/// A tenant's last event number and last audit link, while its row is locked.
#[derive(Clone)]
pub(crate) struct Numbers {
    pub(crate) event: i64,
    pub(crate) head: Head,
}

pub(crate) fn pieces(
    shared: &Shared,
    keys: &TenantKeys,
    commit: &Commit,
    numbers: &mut Numbers,
) -> Result<Vec<Piece>, StoreError> {
    let tenant = commit.tenant.as_str();
    let mut made = Vec::new();
    // The claim comes first: a key that is taken outranks whatever else would not hold.
    if let Some(claim) = &commit.claim {
        let hash = claims::hash_of(keys, claim);
        let kept = claims::seal(&shared.vault, keys, tenant, claim, &hash, &commit.answer);
        let kept = kept.ok_or(StoreError::WrongKey)?;
        let values = vec![
            Bound::text(tenant),
            Bound::text(claim.client.as_str()),
            Bound::text(claim.tool),
            Bound::Text(hash),
            Bound::Bytes(kept.meaning),
            Bound::Bytes(kept.answer),
            Bound::Integer(commit.at.0),
        ];
        made.push(Piece { missing: Some(Ends::Claimed), ..Piece::rows(ADD_CLAIMS, values) });
    }
    for step in &commit.steps {
        take_step(shared, keys, tenant, step, &mut made)?;
    }
    for (name, event) in &commit.events {
        numbers.event += 1;
        let values = vec![
            Bound::text(tenant),
            Bound::Integer(numbers.event),
            Bound::text(name),
            Bound::text(event.kind),
            Bound::text(&event.id),
            Bound::text(event.change.as_str()),
            Bound::Integer(commit.at.0),
        ];
        made.push(Piece::rows(ADD_EVENTS, values));
    }
    let link = append(&shared.audit_key, &tenant_chain(tenant), &mut numbers.head, commit.at.0, &commit.audit);
    made.push(Piece { joins: Joins::Rows(1), ..Piece::plain(ADD_LINKS, link) });
    Ok(made)
}

/// What keeps the numbers, once for all plans of a transaction.
pub(crate) fn closing(shared: &Shared, tenant: &str, from: &Numbers, to: &Numbers) -> Vec<Piece> {
    let mut made = Vec::new();
    if to.event != from.event {
        made.push(Piece::plain(sql::COUNT_EVENTS, vec![Bound::text(tenant), Bound::Integer(to.event)]));
    }
    if to.head.seq != from.head.seq {
        let chain = tenant_chain(tenant);
        made.push(Piece::plain(KEEP_HEAD, kept(&shared.audit_key, &chain, &to.head)));
    }
    made
}

/// The rows that several plans add, in one statement for each table instead of one for each row. Plans that do
/// more than add stay as they are.
pub(crate) fn joined(pieces: Vec<Piece>) -> Vec<Piece> {
    if pieces.iter().any(|piece| piece.joins == Joins::Never) {
        return pieces;
    }
    let mut made: Vec<Piece> = Vec::new();
    for piece in pieces {
        match made.iter_mut().find(|first| first.text == piece.text) {
            Some(first) => first.take(piece),
            None => made.push(piece),
        }
    }
    made
}

/// The first piece that did not hold, in the order they were sent; those after it failed because of it.
pub(crate) fn judge(pieces: &[Piece], answers: Vec<Result<u64, Error>>) -> Result<(), Failed> {
    for (piece, answer) in pieces.iter().zip(answers) {
        match (answer, &piece.missing, &piece.taken) {
            (Ok(met), Some(ends), _) if met < piece.rows_wanted() => return Err(Failed::Ends(ends.clone())),
            (Ok(_), _, _) => {}
            (Err(error), _, Some(fault)) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
                return Err(Failed::Ends(refused(fault)));
            }
            (Err(error), _, _) => return Err(Failed::Broken(error.into())),
        }
    }
    Ok(())
}

pub(crate) enum Failed {
    Ends(Ends),
    Broken(StoreError),
}

impl Piece {
    fn plain(text: impl Into<Arc<str>>, values: Vec<Bound>) -> Piece {
        Piece { text: text.into(), values, missing: None, taken: None, joins: Joins::Never }
    }

    /// Adds one row by a text that takes any number.
    fn rows(text: impl Into<Arc<str>>, values: Vec<Bound>) -> Piece {
        Piece { joins: Joins::Rows(1), ..Piece::plain(text, Bound::row(values)) }
    }

    fn rows_wanted(&self) -> u64 {
        match self.joins {
            Joins::Rows(rows) => rows,
            Joins::Never => 1,
        }
    }

    /// Takes over the rows of another with the same text, tenant or chain.
    fn take(&mut self, other: Piece) {
        if let (Joins::Rows(own), Joins::Rows(more)) = (self.joins, other.joins) {
            self.joins = Joins::Rows(own + more);
        }
        for (own, more) in self.values.iter_mut().zip(other.values) {
            if let (Bound::Many(own), Bound::Many(more)) = (own, more) {
                own.extend(more);
            }
        }
    }
}

fn take_step(
    shared: &Shared,
    keys: &TenantKeys,
    tenant: &str,
    step: &Step,
    made: &mut Vec<Piece>,
) -> Result<(), StoreError> {
    match step {
        Step::Insert { table: kind, row, on_duplicate: taken } => {
            let texts = shared.texts(kind)?;
            let values = row_values(shared, keys, tenant, kind, row)?;
            made.push(Piece { taken: Some(taken.clone()), ..Piece::rows(Arc::clone(&texts.insert), values) });
            made.extend(words(shared, keys, tenant, kind, row)?);
        }
        Step::Update { table: kind, row, expect_version, on_conflict: stale } => {
            let texts = shared.texts(kind)?;
            let mut values = row_values(shared, keys, tenant, kind, row)?;
            values.push(Bound::Integer(*expect_version));
            let text = Arc::clone(&texts.update);
            made.push(Piece { missing: Some(ends_stale(stale)), ..Piece::plain(text, values) });
            let whose = vec![Bound::text(tenant), Bound::text(&row.id)];
            made.push(Piece::plain(Arc::clone(&texts.remove_words), whose));
            made.extend(words(shared, keys, tenant, kind, row)?);
        }
        Step::Adjust { table: kind, id, column, by, floor, on_underflow: below } => {
            let text = sql::adjust(kind, column);
            let values = vec![Bound::text(tenant), Bound::text(id), Bound::Integer(*by), Bound::Integer(*floor)];
            made.push(Piece { missing: Some(refused(below)), ..Piece::plain(text, values) });
        }
        Step::Require { table: kind, id, expect_version, on_conflict: stale } => {
            // Whoever writes for this tenant holds its row, so what is seen here stays until the commit.
            let text = Arc::clone(&shared.texts(kind)?.require);
            let values = vec![Bound::text(tenant), Bound::text(id), Bound::Integer(*expect_version)];
            made.push(Piece { missing: Some(ends_stale(stale)), ..Piece::plain(text, values) });
        }
    }
    Ok(())
}

/// The values in the order of `sql::insert`.
fn row_values(
    shared: &Shared,
    keys: &TenantKeys,
    tenant: &str,
    kind: &TableSpec,
    row: &Row,
) -> Result<Vec<Bound>, StoreError> {
    let sealed = match &row.personal {
        None => None,
        Some(personal) => {
            let place = [tenant, kind.name, row.id.as_str(), "personal"];
            Some(shared.vault.seal(keys, &place, personal.as_bytes()).ok_or(StoreError::WrongKey)?)
        }
    };
    let mut values = vec![
        Bound::text(tenant),
        Bound::text(&row.id),
        Bound::Integer(row.version),
        Bound::Integer(row.created_at),
        Bound::Integer(row.updated_at),
        Bound::text(&row.body),
        Bound::maybe_text(row.masked.as_deref()),
        Bound::maybe_bytes(sealed),
    ];
    values.extend(sql::cells(kind, row, keys).into_iter().map(Bound::from));
    Ok(values)
}

fn words(
    shared: &Shared,
    keys: &TenantKeys,
    tenant: &str,
    kind: &TableSpec,
    row: &Row,
) -> Result<Option<Piece>, StoreError> {
    if row.search_terms.is_empty() {
        return Ok(None);
    }
    let words = row.search_terms.iter().map(|word| Bound::from(Value::of_word(word, kind, Some(keys))));
    let words: Vec<Bound> = words.filter(|word| !matches!(word, Bound::Null)).collect();
    let ids = words.iter().map(|_| Bound::text(&row.id)).collect();
    let text = Arc::clone(&shared.texts(kind)?.add_words);
    let values = vec![Bound::text(tenant), Bound::Many(words), Bound::Many(ids)];
    Ok(Some(Piece { joins: Joins::Rows(1), ..Piece::plain(text, values) }))
}

fn ends_stale(stale: &OnConflict) -> Ends {
    match stale {
        OnConflict::Fail(fault) => refused(fault),
        OnConflict::Retry => Ends::As(Committed::VersionConflict),
    }
}

fn refused(fault: &Fault) -> Ends {
    Ends::As(Committed::Refused(fault.clone()))
}
