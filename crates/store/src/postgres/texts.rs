//! Texts that only PostgreSQL is sent. The walls' and the registry's stand beside what uses them.

use std::sync::Arc;

use frontdesk_engine::table::Kind;

use crate::sql;

pub const BEGIN: &str = "BEGIN";
pub const BEGIN_READ: &str = "BEGIN READ ONLY";
pub const COMMIT: &str = "COMMIT";

/// Until the transaction ends, row-level security lets only this tenant's rows through.
pub const TENANT: &str = "SELECT set_config('frontdesk.tenant', $1, true)";

/// Whoever writes for a tenant locks its row first, on whichever node: the tenant's numbers, its chain and
/// everything its plans have read stand still until the commit.
pub const LOCK: &str = "SELECT 1 FROM fd_tenant WHERE tenant = $1 FOR NO KEY UPDATE";

/// A key that is taken is met as no row, so that the rest of the flight is not lost with it.
pub const ADD_CLAIM: &str = "INSERT INTO fd_claim (tenant, client, tool, key_hash, meaning, sealed_answer, at) \
                             VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING";

/// All words of a row in one statement.
pub fn add_words(kind: &Kind) -> String {
    format!(
        "INSERT INTO {}_word (tenant, word, id) SELECT $1, word, $3 FROM unnest(CAST($2 AS TEXT[])) AS word \
         ON CONFLICT DO NOTHING",
        kind.name
    )
}

/// A kind's statements, made once.
pub(crate) struct Texts {
    pub(crate) get: Arc<str>,
    pub(crate) insert: Arc<str>,
    pub(crate) update: Arc<str>,
    pub(crate) require: Arc<str>,
    pub(crate) add_words: Arc<str>,
    pub(crate) remove_words: Arc<str>,
}

impl Texts {
    pub(crate) fn of(kind: &Kind) -> Texts {
        Texts {
            get: sql::get(kind).into(),
            insert: sql::insert(kind).into(),
            update: sql::update(kind).into(),
            require: format!("SELECT 1 FROM {} WHERE tenant = $1 AND id = $2 AND version = $3", kind.name).into(),
            add_words: add_words(kind).into(),
            remove_words: sql::remove_words(kind).into(),
        }
    }
}
