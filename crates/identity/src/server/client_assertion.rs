//! Clients that prove with a signature who they are (`private_key_jwt`, RFC 7523). The key decides the algorithm, the
//! assertion is for this server, valid for five minutes at most, and works once.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use frontdesk_engine::model::fault::Fault;
use frontdesk_engine::ports::login_records::{LoginAudit, LoginRecord, RecordChange};
use frontdesk_engine::ports::registry::Changed;
use frontdesk_engine::seal::sha256;
use frontdesk_wire::json::{self, Map, Value};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};

use super::{EmbeddedServer, TOKEN};
use crate::people::records::UsedAssertion;
use crate::people::stored::new_record;
use crate::people::users::hex;

pub(crate) const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
pub(crate) const ALGORITHMS: [&str; 3] = ["ES256", "RS256", "EdDSA"];

const MAX_BYTES: usize = 8 * 1024;
const MAX_LIFETIME_SECONDS: i64 = 300;
const LEEWAY_SECONDS: i64 = 30;
const MAX_JTI: usize = 256;
const MAX_KEYS: usize = 20;

/// An assertion whose signature has not been checked: nothing in it is to be trusted.
pub(crate) struct UncheckedAssertion<'a> {
    header: Map<String, Value>,
    claims: Map<String, Value>,
    signed: &'a str,
    signature: Vec<u8>,
}

impl UncheckedAssertion<'_> {
    pub(crate) fn parse(text: &str) -> Option<UncheckedAssertion<'_>> {
        let (signed, signature) = text.rsplit_once('.').filter(|_| text.len() <= MAX_BYTES)?;
        let (header, claims) = signed.split_once('.')?;
        Some(UncheckedAssertion {
            header: object(header)?,
            claims: object(claims)?,
            signed,
            signature: URL_SAFE_NO_PAD.decode(signature).ok()?,
        })
    }

    /// The client that it says it is of.
    pub(crate) fn client(&self) -> Option<&str> {
        let subject = self.claims.get("sub")?.as_str()?;
        (self.claims.get("iss")?.as_str()? == subject).then_some(subject)
    }

    fn is_signed_by(&self, jwks: &Value) -> bool {
        let Some(algorithm) = self.header.get("alg").and_then(Value::as_str) else {
            return false;
        };
        // Everything else could have a say in how it is checked.
        let known = |name: &String| ["alg", "typ", "kid"].contains(&name.as_str());
        let id = self.header.get("kid");
        self.header.keys().all(known)
            && keys(jwks).iter().any(|key| {
                let is_named = id.is_none_or(|id| key.get("kid").is_none_or(|known| known == id));
                is_named && verifies(key, algorithm, self.signed.as_bytes(), &self.signature)
            })
    }
}

impl EmbeddedServer {
    /// Whether the assertion proves that it is of this client, which has these keys. It is used up then.
    pub(crate) async fn accept_assertion(
        &self,
        assertion: &UncheckedAssertion<'_>,
        client: &str,
        jwks: &Value,
    ) -> Result<bool, Fault> {
        if assertion.client() != Some(client) || !assertion.is_signed_by(jwks) {
            return Ok(false);
        }
        let now = self.clock.now();
        let seconds = |name: &str| assertion.claims.get(name).map(Value::as_i64);
        let (Some(Some(expires)), Some(jti)) = (seconds("exp"), assertion.claims.get("jti").and_then(Value::as_str))
        else {
            return Ok(false);
        };
        let ends_soon =
            (now.seconds() - LEEWAY_SECONDS..=now.seconds() + MAX_LIFETIME_SECONDS + LEEWAY_SECONDS).contains(&expires);
        let has_begun = |name: &str| match seconds(name) {
            None => true,
            Some(time) => time.is_some_and(|time| time <= now.seconds() + LEEWAY_SECONDS),
        };
        let fits = ends_soon
            && has_begun("nbf")
            && has_begun("iat")
            && self.is_audience(assertion.claims.get("aud"))
            && (1..=MAX_JTI).contains(&jti.len());
        if !fits {
            return Ok(false);
        }
        let id = hex(&sha256(format!("{client}\n{jti}").as_bytes()));
        // Until it could no longer be accepted.
        let expires_at = Some(frontdesk_engine::model::timestamp::Millis((expires + LEEWAY_SECONDS + 1) * 1000));
        let used = LoginRecord { expires_at, ..new_record(id, client, &UsedAssertion {}) };
        let steps = vec![RecordChange::Add(used)];
        Ok(self.records().change_login_records(steps, now, LoginAudit::None).await? == Changed::Done)
    }

    /// This server by its issuer or its token endpoint, and nobody else.
    fn is_audience(&self, audience: Option<&Value>) -> bool {
        let issuer = &self.settings.issuer;
        let is_us = |name: &str| name == issuer || name.strip_prefix(issuer.as_str()) == Some(TOKEN);
        match audience {
            Some(Value::String(one)) => is_us(one),
            Some(Value::Array(several)) => {
                matches!(several.as_slice(), [Value::String(one)] if is_us(one))
            }
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => false,
        }
    }
}

/// Whether a key set has a key that can be used, and no secret.
pub(crate) fn usable_keys(jwks: &Value) -> bool {
    let keys = keys(jwks);
    let is_public = |key: &Map<String, Value>| !["d", "p", "q", "k"].iter().any(|part| key.contains_key(*part));
    (1..=MAX_KEYS).contains(&keys.len())
        && keys.iter().all(|key| is_public(key))
        && keys.iter().any(|key| ALGORITHMS.iter().any(|algorithm| public_key(key, algorithm).is_some()))
}

fn keys(jwks: &Value) -> Vec<&Map<String, Value>> {
    let listed = jwks.get("keys").and_then(Value::as_array);
    listed.into_iter().flatten().filter_map(Value::as_object).collect()
}

enum PublicKey {
    Es256(Vec<u8>),
    Rs256 { modulus: Vec<u8>, exponent: Vec<u8> },
    EdDsa(Vec<u8>),
}

/// The key, if it is one for this algorithm and for signatures.
fn public_key(key: &Map<String, Value>, algorithm: &str) -> Option<PublicKey> {
    let text = |name: &str| key.get(name).and_then(Value::as_str);
    let bytes = |name: &str| text(name).and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
    let for_signatures = text("use").is_none_or(|purpose| purpose == "sig");
    let for_algorithm = text("alg").is_none_or(|named| named == algorithm);
    if !for_signatures || !for_algorithm {
        return None;
    }
    match (algorithm, text("kty")?, text("crv")) {
        ("ES256", "EC", Some("P-256")) => {
            let (x, y) = (bytes("x")?, bytes("y")?);
            (x.len() == 32 && y.len() == 32).then(|| PublicKey::Es256([&[4], x.as_slice(), y.as_slice()].concat()))
        }
        ("RS256", "RSA", None) => Some(PublicKey::Rs256 { modulus: bytes("n")?, exponent: bytes("e")? })
            .filter(|key| matches!(key, PublicKey::Rs256 { modulus, .. } if modulus.len() >= 256)),
        ("EdDSA", "OKP", Some("Ed25519")) => bytes("x").map(PublicKey::EdDsa),
        _ => None,
    }
}

fn verifies(key: &Map<String, Value>, algorithm: &str, signed: &[u8], signature: &[u8]) -> bool {
    match public_key(key, algorithm) {
        Some(PublicKey::Es256(point)) => {
            UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(signed, signature).is_ok()
        }
        Some(PublicKey::Rs256 { modulus, exponent }) => RsaPublicKeyComponents { n: modulus, e: exponent }
            .verify(&RSA_PKCS1_2048_8192_SHA256, signed, signature)
            .is_ok(),
        Some(PublicKey::EdDsa(point)) => UnparsedPublicKey::new(&ED25519, point).verify(signed, signature).is_ok(),
        None => false,
    }
}

fn object(part: &str) -> Option<Map<String, Value>> {
    match json::parse(&URL_SAFE_NO_PAD.decode(part).ok()?).ok()? {
        Value::Object(members) => Some(members),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    }
}
