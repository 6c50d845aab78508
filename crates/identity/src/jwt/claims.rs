//! What a signed token claims, held against what the mount asks for. Nothing here is guessed or mended: a claim of
//! another type than it must have refuses the token.

use std::sync::Arc;

use frontdesk_engine::model::caller::{Caller, ClientId, Scopes};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_wire::json::{Map, Value};

use super::flaw::Flaw;
use super::settings::JwtSettings;

/// The end of the year 9999. No sum of two such times overflows.
const LAST_SECOND: i64 = 253_402_300_799;

/// What an identifier of this kind is commonly held to.
const LONGEST_SUBJECT: usize = 255;

type Claims = Map<String, Value>;

pub(super) fn judge(claims: &Claims, settings: &JwtSettings, resource: &str, now: Millis) -> Result<Caller, Flaw> {
    check_issuer(claims, settings)?;
    check_audience(claims, settings, resource)?;
    check_times(claims, settings, now)?;
    check_unbound(claims)?;
    // Two sites may each have an anna, and those are two callers.
    let name: Arc<str> = format!("jwt:{}:{}", settings.tenant, subject(claims)?).into();
    Ok(Caller {
        client: ClientId::new(Arc::clone(&name)),
        subject: name,
        tenants: vec![settings.tenant.clone()],
        scopes: scopes(claims, &settings.scopes)?,
        authenticated_at: None,
    })
}

fn check_issuer(claims: &Claims, settings: &JwtSettings) -> Result<(), Flaw> {
    match &settings.issuer {
        Some(issuer) if claims.get("iss").and_then(Value::as_str) != Some(issuer.as_str()) => Err(Flaw::Issuer),
        Some(_) | None => Ok(()),
    }
}

/// A token that says for whom it is was not meant for anybody else, also where no audience is set.
fn check_audience(claims: &Claims, settings: &JwtSettings, resource: &str) -> Result<(), Flaw> {
    let here = settings.audience.as_deref().unwrap_or(resource);
    let named = match claims.get("aud") {
        None => settings.audience.is_none(),
        Some(Value::String(one)) => one == here,
        Some(Value::Array(several)) => words(several).is_some_and(|names| names.contains(&here)),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) => false,
    };
    if named { Ok(()) } else { Err(Flaw::Audience) }
}

/// `iat` must be there: without it nobody can tell how long a token has been about.
fn check_times(claims: &Claims, settings: &JwtSettings, now: Millis) -> Result<(), Flaw> {
    let expires = time(claims, "exp")?.ok_or(Flaw::Missing("exp"))?;
    let issued = time(claims, "iat")?.ok_or(Flaw::Missing("iat"))?;
    let begins = time(claims, "nbf")?;
    let (now, leeway) = (now.seconds(), i64::from(settings.leeway_seconds));
    if now >= expires + leeway {
        return Err(Flaw::Ended);
    }
    if begins.is_some_and(|begins| begins > now + leeway) {
        return Err(Flaw::Early);
    }
    if issued > now + leeway {
        return Err(Flaw::Future);
    }
    if !(1..=i64::from(settings.lifetime_seconds)).contains(&(expires - issued)) {
        return Err(Flaw::Lifetime);
    }
    Ok(())
}

fn time(claims: &Claims, name: &'static str) -> Result<Option<i64>, Flaw> {
    let Some(value) = claims.get(name) else {
        return Ok(None);
    };
    let seconds = value.as_i64().filter(|seconds| (0..=LAST_SECOND).contains(seconds));
    seconds.map(Some).ok_or(Flaw::Time(name))
}

/// Such a token is only half of a credential, and the other half is not asked for here.
fn check_unbound(claims: &Claims) -> Result<(), Flaw> {
    if claims.contains_key("cnf") { Err(Flaw::Bound) } else { Ok(()) }
}

/// The name under which the caller is limited and written down: nothing that ends a line, turns its direction or
/// cannot be seen.
fn subject(claims: &Claims) -> Result<&str, Flaw> {
    let value = claims.get("sub").ok_or(Flaw::Missing("sub"))?;
    let plain = |letter: char| letter.is_alphanumeric() || letter.is_ascii_graphic() || letter == ' ';
    let fits = |text: &&str| {
        !text.is_empty() && text.len() <= LONGEST_SUBJECT && text.trim() == *text && text.chars().all(plain)
    };
    value.as_str().filter(fits).ok_or(Flaw::Subject)
}

/// Of the mount's scopes those that the token names. The claim must be there: it is what tells a token that gives
/// access from others that the same secret may have signed. An empty one gives access to nothing.
fn scopes(claims: &Claims, all: &Scopes) -> Result<Scopes, Flaw> {
    let named = match claims.get("scopes").ok_or(Flaw::Missing("scopes"))? {
        Value::String(text) => text.split(',').map(|word| word.trim_matches(' ')).collect(),
        Value::Array(items) => words(items).ok_or(Flaw::Scopes)?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return Err(Flaw::Scopes),
    };
    if named.contains(&"*") {
        return Ok(all.clone());
    }
    Ok(Scopes::new(all.iter().filter(|scope| named.contains(&scope.as_str())).cloned()))
}

fn words(items: &[Value]) -> Option<Vec<&str>> {
    items.iter().map(Value::as_str).collect()
}
