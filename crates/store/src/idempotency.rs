//! Idempotency keys and the responses stored under them. Keys are hashed and responses sealed, so that reading the
//! database reveals neither.

use frontdesk_engine::model::tool::Item;
use frontdesk_engine::ports::{Claim, StoredAnswer};

use crate::keyring::{HashDomain, Keyring, TenantKeys};

/// The same key has another hash for another client or tool.
pub(crate) fn key_hash(keys: &TenantKeys, claim: &Claim) -> String {
    keys.digest(HashDomain::Claim { client: claim.client.as_str(), tool: claim.tool }, claim.key.as_str())
}

/// What is stored under a key: the hash of the request and the answer, both sealed.
pub(crate) struct StoredResponse {
    pub(crate) request_hash: Vec<u8>,
    pub(crate) answer: Vec<u8>,
}

/// The request's hash is sealed too, because a plain hash of a name and a telephone number can be found by guessing.
/// It is sealed with the tenant's key, so that claims stay valid when the tenant moves to another master key.
pub(crate) fn seal(
    keyring: &Keyring,
    keys: &TenantKeys,
    tenant: &str,
    claim: &Claim,
    key_hash: &str,
    answer: &Item,
) -> Option<StoredResponse> {
    let text = serde_json::to_string(&(&answer.id, &answer.body, &answer.masked, &answer.personal)).ok()?;
    let data = |cell| associated_data(cell, tenant, claim, key_hash);
    Some(StoredResponse {
        request_hash: keyring.seal(keys, &data("fd_claim meaning"), &claim.request_hash)?,
        answer: keyring.seal(keys, &data("fd_claim"), text.as_bytes())?,
    })
}

pub(crate) fn open(
    keys: &TenantKeys,
    tenant: &str,
    claim: &Claim,
    key_hash: &str,
    stored: &StoredResponse,
) -> Option<StoredAnswer> {
    let data = |cell| associated_data(cell, tenant, claim, key_hash);
    let request_hash = keys.open_bytes(&data("fd_claim meaning"), &stored.request_hash)?;
    let text = keys.open(&data("fd_claim"), &stored.answer)?;
    let (id, body, masked, personal) = serde_json::from_str(&text).ok()?;
    Some(StoredAnswer { request_hash: request_hash.try_into().ok()?, answer: Item { id, body, masked, personal } })
}

fn associated_data<'a>(cell: &'a str, tenant: &'a str, claim: &'a Claim, key_hash: &'a str) -> [&'a str; 5] {
    [tenant, cell, claim.client.as_str(), claim.tool, key_hash]
}
