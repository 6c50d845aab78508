//! Idempotency keys and the responses stored under them. Keys are hashed and responses sealed, so that reading the
//! database reveals neither.

use std::collections::HashSet;

use frontdesk_engine::model::tool::Item;
use frontdesk_engine::ports::{Claim, StoredAnswer};
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use serde::Deserialize;

use crate::StoreError;
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
    let encoded = encode(answer)?;
    let data = |cell| associated_data(cell, tenant, claim.client.as_str(), claim.tool, key_hash);
    Some(StoredResponse {
        request_hash: keyring.seal(keys, &data("fd_claim meaning"), &claim.request_hash)?,
        answer: keyring.seal(keys, &data("fd_claim"), &encoded)?,
    })
}

pub(crate) fn open(
    keys: &TenantKeys,
    tenant: &str,
    claim: &Claim,
    key_hash: &str,
    stored: &StoredResponse,
) -> Option<StoredAnswer> {
    let data = |cell| associated_data(cell, tenant, claim.client.as_str(), claim.tool, key_hash);
    let request_hash = keys.open_bytes(&data("fd_claim meaning"), &stored.request_hash)?;
    let encoded = keys.open_bytes(&data("fd_claim"), &stored.answer)?;
    Some(StoredAnswer { request_hash: request_hash.try_into().ok()?, answer: decode(&encoded)? })
}

/// Where a claim is stored, which it is sealed for.
pub(crate) struct ClaimPlace<'a> {
    pub(crate) tenant: &'a str,
    pub(crate) client: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) key_hash: &'a str,
}

/// The stored answer, if it and the hash of its request open.
pub(crate) fn open_at(keys: &TenantKeys, place: &ClaimPlace<'_>, request_hash: &[u8], answer: &[u8]) -> Option<Item> {
    let ClaimPlace { tenant, client, tool, key_hash } = place;
    let data = |cell| associated_data(cell, tenant, client, tool, key_hash);
    let request_hash = keys.open_bytes(&data("fd_claim meaning"), request_hash)?;
    decode(&keys.open_bytes(&data("fd_claim"), answer)?).filter(|_| request_hash.len() == 32)
}

/// The same answer without its personal part, sealed again, if it is about one of these ids and has such a part.
pub(crate) fn without_personal_part(
    keyring: &Keyring,
    keys: &TenantKeys,
    place: [&str; 5],
    sealed: &[u8],
    ids: &HashSet<String>,
) -> Result<Option<Vec<u8>>, StoreError> {
    let answer = keys.open_bytes(&place, sealed).and_then(|encoded| decode(&encoded)).ok_or(StoreError::WrongKey)?;
    if answer.personal.is_none() || !ids.contains(&answer.id) {
        return Ok(None);
    }
    let encoded = encode(&Item { personal: None, ..answer });
    let sealed = encoded.and_then(|encoded| keyring.seal(keys, &place, &encoded));
    sealed.map(Some).ok_or(StoreError::WrongKey)
}

/// An answer as a JSON array. Members are only ever added at the end, so that the answers of older releases stay
/// readable.
#[derive(Deserialize)]
struct EncodedAnswer(
    String,
    String,
    Option<String>,
    Option<String>,
    /// The version; older releases did not store it.
    #[serde(default)]
    i64,
);

/// The first byte of a deflated array. Older releases stored the array itself, which begins with a bracket.
const DEFLATED: u8 = 1;
/// The fastest level makes a typical answer half as long.
const DEFLATE_LEVEL: u8 = 1;
/// Far more than any answer has, so that a damaged one cannot fill the memory.
const MAX_ENCODED_BYTES: usize = 64 * 1024 * 1024;

/// Deflated before it is sealed: an answer is the largest thing that a write stores, and nobody can search it.
fn encode(answer: &Item) -> Option<Vec<u8>> {
    let mut encoded = vec![DEFLATED];
    encoded.extend(compress_to_vec(array(answer)?.as_bytes(), DEFLATE_LEVEL));
    Some(encoded)
}

fn array(answer: &Item) -> Option<String> {
    let Item { id, version, body, masked, personal } = answer;
    serde_json::to_string(&(id, body, masked, personal, version)).ok()
}

fn decode(encoded: &[u8]) -> Option<Item> {
    let inflated = match encoded.split_first()? {
        (&DEFLATED, deflated) => Some(decompress_to_vec_with_limit(deflated, MAX_ENCODED_BYTES).ok()?),
        _ => None,
    };
    let array = inflated.as_deref().unwrap_or(encoded);
    let EncodedAnswer(id, body, masked, personal, version) = serde_json::from_slice(array).ok()?;
    Some(Item { id, version, body, masked, personal })
}

fn associated_data<'a>(
    cell: &'a str,
    tenant: &'a str,
    client: &'a str,
    tool: &'a str,
    key_hash: &'a str,
) -> [&'a str; 5] {
    [tenant, cell, client, tool, key_hash]
}

/// What an answer is sealed for.
pub(crate) fn answer_place<'a>(tenant: &'a str, client: &'a str, tool: &'a str, key_hash: &'a str) -> [&'a str; 5] {
    associated_data("fd_claim", tenant, client, tool, key_hash)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use frontdesk_engine::ClientId;
    use frontdesk_engine::model::idempotency_key::IdempotencyKey;
    use frontdesk_engine::seal::SealKey;
    use frontdesk_testkit::TestRandom;

    use super::*;

    #[test]
    fn an_answer_is_stored_with_its_version() {
        let answer = Item {
            id: "b1".to_owned(),
            version: 7,
            body: r#"{"id":"b1"}"#.to_owned(),
            masked: None,
            personal: Some(r#"{"owner":"Ada"}"#.to_owned()),
        };
        let text = array(&answer).unwrap();
        assert_eq!(text, r#"["b1","{\"id\":\"b1\"}",null,"{\"owner\":\"Ada\"}",7]"#);
        assert_eq!(decode(text.as_bytes()).as_ref(), Some(&answer));
        assert_eq!(decode(&encode(&answer).unwrap()), Some(answer));
    }

    #[test]
    fn an_answer_is_stored_in_half_of_its_length() {
        let body = r#"{"id":"boa_01m7qdqg1vvhvtsv872y5mm6wn","type":"boat","harbour_id":"kiel","status":"new","interest":"buy","consent":{"status":"granted","channels":["email","sms"],"granted_at":"2026-11-18T13:32:21.435Z"},"consent_id":"cns_01m7qdqg1vsg12xkversth5g52","received_at":"2026-11-18T13:32:21.435Z","created_at":"2026-11-18T13:32:21.435Z","updated_at":"2026-11-18T13:32:21.435Z","version":1}"#;
        let masked = r#"{"source":{"channel":"ai_agent"},"contact":{"name":"D. R. *.","email":"d***@e***.com","phone":"+1******0001"},"redacted":["contact.name","contact.email","contact.phone","comments","consent_text"]}"#;
        let personal = r#"{"source":{"channel":"ai_agent"},"contact":{"name":"Dana Reyes","email":"dana1@example.com","phone":"+15125550001"},"comments":"After six, please.","consent_text":"Yes, do call me"}"#;
        let [body, masked, personal] = [body, masked, personal].map(str::to_owned);
        let answer = Item {
            id: "boa_01m7qdqg1vvhvtsv872y5mm6wn".to_owned(),
            version: 1,
            body,
            masked: Some(masked),
            personal: Some(personal),
        };
        let (plain, stored) = (array(&answer).unwrap(), encode(&answer).unwrap());
        assert!(stored.len() * 2 <= plain.len() + 32, "{} of {} bytes", stored.len(), plain.len());
        assert_eq!(decode(&stored), Some(answer));
        // A damaged one is no answer and no panic.
        for length in 0..stored.len() {
            assert_eq!(decode(stored.get(..length).unwrap()), None, "{length}");
        }
    }

    /// The array had four members until the version was added.
    #[test]
    fn a_claim_of_an_older_release_has_version_zero() {
        let keyring = Keyring::new(&SealKey::from_bytes([7; 32]), Arc::new(TestRandom::distinct()));
        keyring.unwrap("north", &keyring.create("north").unwrap()).unwrap();
        let keys = keyring.keys("north").unwrap();
        let claim = Claim {
            client: ClientId::new("agent"),
            tool: "boats.create",
            key: IdempotencyKey::parse("k").unwrap(),
            request_hash: [1; 32],
        };
        let hash = key_hash(&keys, &claim);
        let older = r#"["b1","{\"id\":\"b1\"}","{\"owner\":\"A***\"}",null]"#;
        let seal = |cell, plain: &[u8]| {
            keyring.seal(&keys, &associated_data(cell, "north", "agent", "boats.create", &hash), plain).unwrap()
        };
        let stored = StoredResponse {
            request_hash: seal("fd_claim meaning", &[1; 32]),
            answer: seal("fd_claim", older.as_bytes()),
        };
        let expected = Item {
            id: "b1".to_owned(),
            version: 0,
            body: r#"{"id":"b1"}"#.to_owned(),
            masked: Some(r#"{"owner":"A***"}"#.to_owned()),
            personal: None,
        };
        let found = open(&keys, "north", &claim, &hash, &stored);
        assert_eq!(found, Some(StoredAnswer { request_hash: [1; 32], answer: expected }));
    }
}
