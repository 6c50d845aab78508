//! How an idempotency key and what was answered under it are kept: hashed and sealed, so that nobody who
//! reads the database learns either.

use frontdesk_engine::model::tool::Item;
use frontdesk_engine::ports::{Claim, StoredAnswer};

use crate::vault::{Place, TenantKeys, Vault};

/// The same key of another client or for another tool looks different.
pub(crate) fn hash_of(keys: &TenantKeys, claim: &Claim) -> String {
    keys.digest(Place::Claim { client: claim.client.as_str(), tool: claim.tool }, &claim.key)
}

/// What is kept of a claim besides its key.
pub(crate) struct Kept {
    pub(crate) meaning: Vec<u8>,
    pub(crate) answer: Vec<u8>,
}

/// The meaning is sealed too: a plain hash of somebody's name and telephone number could be guessed at. The
/// tenant's key does it, so that a claim is still one when the tenant has moved to another master key.
pub(crate) fn seal(
    vault: &Vault,
    keys: &TenantKeys,
    tenant: &str,
    claim: &Claim,
    hash: &str,
    answer: &Item,
) -> Option<Kept> {
    let text = serde_json::to_string(&(&answer.id, &answer.body, &answer.masked, &answer.personal)).ok()?;
    Some(Kept {
        meaning: vault.seal(keys, &place("fd_claim meaning", tenant, claim, hash), &claim.request_hash)?,
        answer: vault.seal(keys, &place("fd_claim", tenant, claim, hash), text.as_bytes())?,
    })
}

pub(crate) fn open(keys: &TenantKeys, tenant: &str, claim: &Claim, hash: &str, kept: &Kept) -> Option<StoredAnswer> {
    let meaning = keys.open_bytes(&place("fd_claim meaning", tenant, claim, hash), &kept.meaning)?;
    let text = keys.open(&place("fd_claim", tenant, claim, hash), &kept.answer)?;
    let (id, body, masked, personal) = serde_json::from_str(&text).ok()?;
    Some(StoredAnswer { request_hash: meaning.try_into().ok()?, answer: Item { id, body, masked, personal } })
}

fn place<'a>(part: &'a str, tenant: &'a str, claim: &'a Claim, hash: &'a str) -> [&'a str; 5] {
    [tenant, part, claim.client.as_str(), claim.tool, hash]
}
