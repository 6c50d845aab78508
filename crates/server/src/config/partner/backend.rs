//! The business's own system behind a mount, as a configuration names it. Its keys are read when the mount is opened.

use std::path::PathBuf;

use frontdesk_contracts::partner::{BackendSettings, BackendTimeouts};
use toml::{Table, Value};

use super::super::fields::Fields;

const URL: &str = "backend";
const KEYS: &str = "backend_keys";
const TIMEOUTS: &str = "backend_timeout_ms";

/// What is said of it, and the file of its keys.
pub(super) fn read(fields: &mut Fields<'_>) -> (Option<BackendSettings>, Option<PathBuf>) {
    let url = fields.text(URL);
    let keys = fields.text(KEYS).map(PathBuf::from);
    let timeouts = timeouts(fields);
    match (&url, &keys) {
        (Some(_), None) if !fields.has(KEYS) => {
            let advice = "Name a file with a key of at least 32 characters a line, such as by: openssl rand -hex 32";
            fields.error(KEYS, "requests to a backend must be signed", advice);
        }
        (None, _) if !fields.has(URL) => {
            for name in [KEYS, TIMEOUTS].into_iter().filter(|name| fields.has(name)).collect::<Vec<_>>() {
                fields.error(name, "there is no `backend`", "Name its address as `backend`, or remove this key");
            }
        }
        (Some(_), _) | (None, _) => {}
    }
    (url.map(|url| BackendSettings { url, timeouts }), keys)
}

fn timeouts(fields: &mut Fields<'_>) -> BackendTimeouts {
    let mut timeouts = BackendTimeouts::default();
    let Some(mut given) = fields.free_table(TIMEOUTS) else { return timeouts };
    for name in given.names().collect::<Vec<_>>() {
        let Some((_, min, max)) = BackendTimeouts::BOUNDS.into_iter().find(|(kind, ..)| *kind == name) else {
            let kinds = BackendTimeouts::BOUNDS.map(|(kind, ..)| kind);
            given.error(name, "it is no kind of tool", format!("Use {}", kinds.join(", ")));
            continue;
        };
        if let (Some(millis), Some(place)) = (given.number(name, min, max), timeouts.get_mut(name)) {
            *place = millis;
        }
    }
    fields.merge(given);
    timeouts
}

/// The keys with the values in effect; none without a backend.
pub(super) fn shown(settings: Option<&BackendSettings>, keys: Option<&PathBuf>) -> Table {
    let Some(BackendSettings { url, timeouts }) = settings else { return Table::new() };
    let mut timeouts = *timeouts;
    let millis = BackendTimeouts::BOUNDS.into_iter().filter_map(|(kind, ..)| {
        let millis = *timeouts.get_mut(kind)?;
        Some((kind.to_owned(), Value::Integer(i64::from(millis))))
    });
    let millis = Value::Table(millis.collect());
    let mut table = Table::from_iter([(URL.to_owned(), Value::String(url.clone())), (TIMEOUTS.to_owned(), millis)]);
    table.extend(keys.map(|file| (KEYS.to_owned(), Value::String(file.display().to_string()))));
    table
}
