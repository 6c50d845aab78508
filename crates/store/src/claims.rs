//! How an idempotency key and what was answered under it are kept: hashed and sealed, so that nobody who
//! reads the database learns either.

use frontdesk_engine::ports::Claim;
use frontdesk_engine::tool::Item;

use crate::vault::{Place, TenantKeys, Vault};

/// The same key of another client or for another tool looks different.
pub(crate) fn hash_of(keys: &TenantKeys, claim: &Claim) -> String {
    keys.digest(Place::Claim { client: claim.client.as_str(), tool: claim.tool }, &claim.key)
}

pub(crate) fn seal(
    vault: &Vault,
    keys: &TenantKeys,
    tenant: &str,
    claim: &Claim,
    hash: &str,
    answer: &Item,
) -> Option<Vec<u8>> {
    let text = serde_json::json!([answer.id, answer.body, answer.masked, answer.personal]).to_string();
    vault.seal(keys, &place(tenant, claim, hash), &text)
}

pub(crate) fn open(keys: &TenantKeys, tenant: &str, claim: &Claim, hash: &str, sealed: &[u8]) -> Option<Item> {
    let text = keys.open(&place(tenant, claim, hash), sealed)?;
    let (id, body, masked, personal) = serde_json::from_str(&text).ok()?;
    Some(Item { id, body, masked, personal })
}

fn place<'a>(tenant: &'a str, claim: &'a Claim, hash: &'a str) -> [&'a str; 5] {
    [tenant, "fd_claim", claim.client.as_str(), claim.tool, hash]
}
