//! A consent ends by itself: how lists and stored texts follow the time.

use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::table::Cell;
use frontdesk_engine::model::timestamp::Millis;
use serde_json::{Map, Value};

use super::ConsentStatus;
use crate::record::{FieldType, Vocabulary};

const STATUS: &str = "status";
const EXPIRES_AT: &str = "expires_at";

/// No row is stored as expired: it is granted until it ends.
pub(super) fn timed_filters(filters: Vec<Filter>, now: Millis) -> Vec<Filter> {
    let word = |status: ConsentStatus| Cell::Text(status.as_str().to_owned());
    let granted = || Filter::Equals(STATUS, word(ConsentStatus::Granted));
    let timed = filters.into_iter().flat_map(|filter| match &filter {
        Filter::Equals(STATUS, cell) if *cell == word(ConsentStatus::Granted) => {
            vec![granted(), Filter::AbsentOrAbove(EXPIRES_AT, now.0)]
        }
        Filter::Equals(STATUS, cell) if *cell == word(ConsentStatus::Expired) => {
            vec![granted(), Filter::AtMost(EXPIRES_AT, now.0)]
        }
        Filter::Equals(..)
        | Filter::AnyOf(..)
        | Filter::AtLeast(..)
        | Filter::AtMost(..)
        | Filter::AbsentOrAbove(..)
        | Filter::Either(_)
        | Filter::SearchTerms(_) => vec![filter],
    });
    timed.collect()
}

pub(super) fn timed_text(text: String, now: Millis) -> String {
    // One that was withdrawn has granted among its revisions.
    let ends = |row: &'_ Map<String, Value>| match row.get(STATUS).and_then(Value::as_str) {
        Some("granted") => row.get(EXPIRES_AT).and_then(Millis::read),
        Some(_) | None => None,
    };
    expire(text, r#""status":"granted""#, r#""status":"expired""#, ends, now)
}

/// Replaces the words of a consent that has ended. Quotation marks within values are escaped, so `granted` is found only
/// where the row itself has it. `ends` says when, if it is granted there.
pub(in crate::automotive) fn expire(
    text: String,
    granted: &str,
    expired: &str,
    ends: fn(&Map<String, Value>) -> Option<Millis>,
    now: Millis,
) -> String {
    // Most rows never end and are not parsed.
    if !text.contains(r#""expires_at":"#) || !text.contains(granted) {
        return text;
    }
    let row: Option<Map<String, Value>> = serde_json::from_str(&text).ok();
    let ends = row.as_ref().and_then(ends);
    if ends.is_some_and(|ends| ends <= now) { text.replacen(granted, expired, 1) } else { text }
}
