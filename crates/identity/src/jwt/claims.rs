//! Checks the claims of a signed token against the settings of the mount. A claim of the wrong type makes the token
//! invalid; nothing is coerced.

use std::sync::Arc;

use frontdesk_engine::model::caller::{Caller, ClientId, Scopes};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_wire::json::{Map, Value};

use super::error::JwtError;
use super::settings::JwtSettings;

/// The end of the year 9999. The sum of two such times does not overflow.
const MAX_TIME_SECONDS: i64 = 253_402_300_799;

/// A common limit for identifiers.
const MAX_SUBJECT_BYTES: usize = 255;

type Claims = Map<String, Value>;

pub(super) fn verify(claims: &Claims, settings: &JwtSettings, resource: &str, now: Millis) -> Result<Caller, JwtError> {
    check_issuer(claims, settings)?;
    check_audience(claims, settings, resource)?;
    check_times(claims, settings, now)?;
    check_not_key_bound(claims)?;
    // The same subject at two sites is two callers.
    let name: Arc<str> = format!("jwt:{}:{}", settings.tenant, subject(claims)?).into();
    Ok(Caller {
        client: ClientId::new(Arc::clone(&name)),
        subject: name,
        tenants: vec![settings.tenant.clone()],
        scopes: scopes(claims, &settings.scopes)?,
        // Whether that is recent enough is for each tool to say.
        authenticated_at: time(claims, "auth_time")?,
    })
}

fn check_issuer(claims: &Claims, settings: &JwtSettings) -> Result<(), JwtError> {
    match &settings.issuer {
        Some(issuer) if claims.get("iss").and_then(Value::as_str) != Some(issuer.as_str()) => Err(JwtError::Issuer),
        Some(_) | None => Ok(()),
    }
}

/// A token with an audience is invalid elsewhere, also if the mount sets no audience.
fn check_audience(claims: &Claims, settings: &JwtSettings, resource: &str) -> Result<(), JwtError> {
    let here = settings.audience.as_deref().unwrap_or(resource);
    let named = match claims.get("aud") {
        None => settings.audience.is_none(),
        Some(Value::String(one)) => one == here,
        Some(Value::Array(several)) => strings(several).is_some_and(|names| names.contains(&here)),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) => false,
    };
    if named { Ok(()) } else { Err(JwtError::Audience) }
}

/// `iat` is required: without it the lifetime of a token is unknown.
fn check_times(claims: &Claims, settings: &JwtSettings, now: Millis) -> Result<(), JwtError> {
    let expires = time(claims, "exp")?.ok_or(JwtError::Missing("exp"))?;
    let issued = time(claims, "iat")?.ok_or(JwtError::Missing("iat"))?;
    let begins = time(claims, "nbf")?;
    let (now, leeway) = (now.seconds(), i64::from(settings.leeway_seconds));
    if now >= expires + leeway {
        return Err(JwtError::Expired);
    }
    if begins.is_some_and(|begins| begins > now + leeway) {
        return Err(JwtError::NotYetValid);
    }
    if issued > now + leeway {
        return Err(JwtError::IssuedInFuture);
    }
    if !(1..=i64::from(settings.max_lifetime_seconds)).contains(&(expires - issued)) {
        return Err(JwtError::Lifetime);
    }
    Ok(())
}

fn time(claims: &Claims, name: &'static str) -> Result<Option<i64>, JwtError> {
    let Some(value) = claims.get(name) else {
        return Ok(None);
    };
    let seconds = value.as_i64().filter(|seconds| (0..=MAX_TIME_SECONDS).contains(seconds));
    seconds.map(Some).ok_or(JwtError::Time(name))
}

/// A key-bound token needs a proof of possession, which is not supported.
fn check_not_key_bound(claims: &Claims) -> Result<(), JwtError> {
    if claims.contains_key("cnf") { Err(JwtError::KeyBound) } else { Ok(()) }
}

/// The caller's name in rate limits, logs and audit: no line breaks, no bidirectional controls, no invisible characters.
fn subject(claims: &Claims) -> Result<&str, JwtError> {
    let value = claims.get("sub").ok_or(JwtError::Missing("sub"))?;
    let plain = |letter: char| letter.is_alphanumeric() || letter.is_ascii_graphic() || letter == ' ';
    let fits = |text: &&str| {
        !text.is_empty() && text.len() <= MAX_SUBJECT_BYTES && text.trim() == *text && text.chars().all(plain)
    };
    value.as_str().filter(fits).ok_or(JwtError::Subject)
}

/// The scopes of the mount that the token names. The claim is required: it distinguishes access tokens from other tokens
/// that the same secret may have signed. An empty one grants nothing.
fn scopes(claims: &Claims, all: &Scopes) -> Result<Scopes, JwtError> {
    let named = match claims.get("scopes").ok_or(JwtError::Missing("scopes"))? {
        Value::String(text) => text.split(',').map(|word| word.trim_matches(' ')).collect(),
        Value::Array(items) => strings(items).ok_or(JwtError::Scopes)?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return Err(JwtError::Scopes),
    };
    if named.contains(&"*") {
        return Ok(all.clone());
    }
    Ok(Scopes::new(all.iter().filter(|scope| named.contains(&scope.as_str())).cloned()))
}

fn strings(items: &[Value]) -> Option<Vec<&str>> {
    items.iter().map(Value::as_str).collect()
}
