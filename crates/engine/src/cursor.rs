//! Cursors: where a page ended, sealed so that a client can neither read, forge nor transfer one. A cursor opens only
//! for the tenant, tool and filter it was issued for, and for a day.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use crate::model::fault::{Fault, FaultKind};
use crate::model::page;
use crate::model::timestamp::Millis;
use crate::ports::Random;
use crate::seal::SealKey;

const LIFETIME_SECONDS: i64 = 24 * 60 * 60;
/// Cursors come in steps of this many bytes, so that their length tells nothing.
const STEP: usize = 64;
const MAX_LENGTH: usize = 8 * 1024;

/// What a cursor remembers: the filter it belongs to and the last row's key.
#[derive(Debug, Clone, PartialEq)]
pub struct CursorState {
    pub filter: Map<String, Value>,
    pub key: page::PageKey,
    /// How long the pages were.
    pub limit: usize,
}

/// Where a cursor may be used.
#[derive(Debug, Clone, Copy)]
pub struct CursorScope<'a> {
    pub contract: &'a str,
    pub tenant: &'a str,
    pub tool: &'a str,
}

impl CursorScope<'_> {
    fn parts(&self) -> [&str; 4] {
        ["cursor", self.contract, self.tenant, self.tool]
    }
}

pub fn issue(
    key: &SealKey,
    random: &dyn Random,
    now: Millis,
    scope: CursorScope<'_>,
    state: &CursorState,
) -> Option<String> {
    let until = now.plus_seconds(LIFETIME_SECONDS).0;
    let content = Value::from(vec![
        Value::from(until),
        Value::from(state.key.value),
        Value::from(state.key.id.as_str()),
        Value::Object(state.filter.clone()),
        Value::from(state.limit),
    ]);
    let mut plain = serde_json::to_vec(&content).ok()?;
    plain.resize(plain.len().next_multiple_of(STEP), b' ');
    let sealed = key.seal(random, &scope.parts(), &plain)?;
    Some(URL_SAFE_NO_PAD.encode(sealed))
}

pub fn open(key: &SealKey, now: Millis, scope: CursorScope<'_>, cursor: &str) -> Result<CursorState, Fault> {
    decode(key, now, scope, cursor).ok_or_else(|| {
        Fault::new(
            FaultKind::InvalidCursor,
            "This cursor does not belong to this request, or has expired. Start again without a cursor.",
        )
    })
}

fn decode(key: &SealKey, now: Millis, scope: CursorScope<'_>, cursor: &str) -> Option<CursorState> {
    if cursor.len() > MAX_LENGTH {
        return None;
    }
    let sealed = URL_SAFE_NO_PAD.decode(cursor).ok()?;
    let plain = key.open(&scope.parts(), &sealed)?;
    let content: (i64, i64, String, Map<String, Value>, usize) = serde_json::from_slice(&plain).ok()?;
    let (until, value, id, filter, limit) = content;
    (now.0 < until).then_some(CursorState { filter, key: page::PageKey { value, id }, limit })
}
