//! The statements of a commit that are the same for every table, and the look-up of a claim.

use frontdesk_engine::ports::{Claim, StoredAnswer};
use rusqlite::{Connection, OptionalExtension, params};

use crate::StoreError;
use crate::backend::usage::{ADD_USAGE, GET_USAGE};
use crate::idempotency::{self, StoredResponse};
use crate::keyring::TenantKeys;
use crate::sql::{FIND_CLAIM, GET_EVENT_COUNTER, INSERT_CLAIM, INSERT_EVENT, SET_EVENT_COUNTER, for_sqlite};

/// The statements of a commit that do not depend on a table.
pub(super) struct CommitTexts {
    pub(super) find_claim: String,
    pub(super) insert_claim: String,
    pub(super) insert_event: String,
    pub(super) get_event_counter: String,
    pub(super) set_event_counter: String,
    pub(super) get_usage: String,
    pub(super) add_usage: String,
}

impl Default for CommitTexts {
    fn default() -> CommitTexts {
        CommitTexts {
            find_claim: for_sqlite(FIND_CLAIM),
            insert_claim: for_sqlite(INSERT_CLAIM),
            insert_event: for_sqlite(INSERT_EVENT),
            get_event_counter: for_sqlite(GET_EVENT_COUNTER),
            set_event_counter: for_sqlite(SET_EVENT_COUNTER),
            get_usage: for_sqlite(GET_USAGE),
            add_usage: for_sqlite(ADD_USAGE),
        }
    }
}

/// The response stored under an idempotency key, decrypted.
pub(super) fn find_claim(
    connection: &Connection,
    texts: &CommitTexts,
    keys: &TenantKeys,
    tenant: &str,
    claim: &Claim,
    key_hash: &str,
) -> Result<Option<StoredAnswer>, StoreError> {
    let values = params![tenant, claim.client.as_str(), claim.tool, key_hash];
    let stored = connection
        .prepare_cached(&texts.find_claim)?
        .query_row(values, |row| Ok(StoredResponse { request_hash: row.get(0)?, answer: row.get(1)? }))
        .optional()?;
    let open = |stored| idempotency::open(keys, tenant, claim, key_hash, &stored).ok_or(StoreError::WrongKey);
    stored.map(open).transpose()
}
