//! A plan as the changes it means, each with what it means when it does not hold. Nothing here speaks to
//! the database.

use std::sync::Arc;

use frontdesk_engine::Fault;
use frontdesk_engine::plan::{Stale, Step};
use frontdesk_engine::ports::{Commit, Committed};
use frontdesk_engine::table::{Kind, Row};
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use super::Shared;
use super::chains::{ADD_LINK, KEEP_HEAD, append, kept};
use super::texts::ADD_CLAIM;
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
    /// What it means that no row was met.
    none: Option<Ends>,
    /// What it means that a value is taken.
    taken: Option<Fault>,
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
        let sealed = claims::seal(&shared.vault, keys, tenant, claim, &hash, &commit.answer);
        let values = vec![
            Bound::text(tenant),
            Bound::text(claim.client.as_str()),
            Bound::text(claim.tool),
            Bound::Text(hash),
            Bound::Bytes(claim.meaning.to_vec()),
            Bound::Bytes(sealed.ok_or(StoreError::WrongKey)?),
            Bound::Integer(commit.at.0),
        ];
        made.push(Piece { text: ADD_CLAIM.into(), values, none: Some(Ends::Claimed), taken: None });
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
            Bound::text(event.change.word()),
            Bound::Integer(commit.at.0),
        ];
        made.push(Piece::plain(sql::ADD_EVENT, values));
    }
    let link = append(&shared.audit_key, &tenant_chain(tenant), &mut numbers.head, commit.at.0, &commit.audit);
    made.push(Piece::plain(ADD_LINK, link));
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

/// The first piece that did not hold, in the order they were sent; those after it failed because of it.
pub(crate) fn judge(pieces: &[Piece], answers: Vec<Result<u64, Error>>) -> Result<(), Failed> {
    for (piece, answer) in pieces.iter().zip(answers) {
        match (answer, &piece.none, &piece.taken) {
            (Ok(0), Some(ends), _) => return Err(Failed::Ends(ends.clone())),
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
    fn plain(text: &str, values: Vec<Bound>) -> Piece {
        Piece { text: text.into(), values, none: None, taken: None }
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
        Step::Insert { kind, row, taken } => {
            let texts = shared.texts(kind)?;
            let values = row_values(shared, keys, tenant, kind, row)?;
            made.push(Piece { text: Arc::clone(&texts.insert), values, none: None, taken: Some(taken.clone()) });
            made.extend(words(shared, keys, tenant, kind, row)?);
        }
        Step::Update { kind, row, expect_version, stale } => {
            let texts = shared.texts(kind)?;
            let mut values = row_values(shared, keys, tenant, kind, row)?;
            values.push(Bound::Integer(*expect_version));
            made.push(Piece { text: Arc::clone(&texts.update), values, none: Some(ends_stale(stale)), taken: None });
            let whose = vec![Bound::text(tenant), Bound::text(&row.id)];
            made.push(Piece { text: Arc::clone(&texts.remove_words), values: whose, none: None, taken: None });
            made.extend(words(shared, keys, tenant, kind, row)?);
        }
        Step::Adjust { kind, id, column, by, floor, below } => {
            let text = sql::adjust(kind, column).into();
            let values = vec![Bound::text(tenant), Bound::text(id), Bound::Integer(*by), Bound::Integer(*floor)];
            made.push(Piece { text, values, none: Some(refused(below)), taken: None });
        }
        Step::Require { kind, id, expect_version, stale } => {
            // Whoever writes for this tenant holds its row, so what is seen here stays until the commit.
            let text = Arc::clone(&shared.texts(kind)?.require);
            let values = vec![Bound::text(tenant), Bound::text(id), Bound::Integer(*expect_version)];
            made.push(Piece { text, values, none: Some(ends_stale(stale)), taken: None });
        }
    }
    Ok(())
}

/// The values in the order of `sql::insert`.
fn row_values(
    shared: &Shared,
    keys: &TenantKeys,
    tenant: &str,
    kind: &Kind,
    row: &Row,
) -> Result<Vec<Bound>, StoreError> {
    let sealed = match &row.personal {
        None => None,
        Some(personal) => {
            let place = [tenant, kind.name, row.id.as_str(), "personal"];
            Some(shared.vault.seal(keys, &place, personal).ok_or(StoreError::WrongKey)?)
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
    kind: &Kind,
    row: &Row,
) -> Result<Option<Piece>, StoreError> {
    if row.words.is_empty() {
        return Ok(None);
    }
    let words = row.words.iter().filter_map(|word| match Bound::from(Value::of_word(word, kind, Some(keys))) {
        Bound::Text(word) => Some(word),
        Bound::Null | Bound::Integer(_) | Bound::Bytes(_) | Bound::Texts(_) => None,
    });
    let values = vec![Bound::text(tenant), Bound::Texts(words.collect()), Bound::text(&row.id)];
    Ok(Some(Piece { text: Arc::clone(&shared.texts(kind)?.add_words), values, none: None, taken: None }))
}

fn ends_stale(stale: &Stale) -> Ends {
    match stale {
        Stale::Caller(fault) => refused(fault),
        Stale::Rerun => Ends::As(Committed::Stale),
    }
}

fn refused(fault: &Fault) -> Ends {
    Ends::As(Committed::Refused(fault.clone()))
}
