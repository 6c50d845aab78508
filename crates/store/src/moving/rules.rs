//! What a row must be like to be taken in. Whoever has a file's key can write anything into it, and what is kept here
//! is printed, compared and counted on later.

use super::tables::{Column, Holding, Table};
use super::{Field, Manifest};

/// Numbers from here on are not exact everywhere.
const MOST: i64 = 1 << 53;

pub(super) fn is_sound(manifest: &Manifest) -> bool {
    let chain = &manifest.chain;
    is_name(&manifest.tenant.name)
        && manifest.left_behind.iter().all(|(id, name)| is_client_id(id) && is_name(name))
        && is_number(chain.seq)
        && (0..=chain.seq).contains(&chain.kept_after_seq)
}

pub(super) fn fits(table: &Table, row: &[Field]) -> bool {
    row.len() == table.columns.len()
        && table
            .columns
            .iter()
            .zip(row)
            .all(|(column, field)| column.takes(field) && is_right(&table.name, &column.name, field))
}

/// A kind's own columns may hold anything; of the others it is known what is written there.
fn is_right(table: &str, column: &str, field: &Field) -> bool {
    match (table, column, field) {
        ("fd_audit" | "fd_outbox", "seq", Field::Integer(number)) => is_number(*number),
        ("fd_counter", "event_seq", Field::Integer(number)) => is_number(*number),
        (_, "version", Field::Integer(number)) => is_number(*number),
        ("fd_client", "client", Field::Text(text)) => is_client_id(text),
        ("fd_client", "name", Field::Text(text)) => is_name(text),
        ("fd_client", "scopes", Field::Text(text)) => are_scopes(text),
        ("fd_client", "secret_hash", Field::Bytes(bytes)) => bytes.len() == 32,
        ("fd_audit", "records", Field::Text(text)) => !text.chars().any(|one| one.is_control() && one != '\n'),
        (_, "body" | "masked", Field::Text(text)) => is_object(text),
        (table, _, Field::Text(text)) if table.starts_with("fd_") => !text.contains('\0'),
        (_, _, Field::Null | Field::Integer(_) | Field::Text(_) | Field::Bytes(_)) => true,
    }
}

/// The next number must still be one.
fn is_number(number: i64) -> bool {
    (0..MOST).contains(&number)
}

/// As the registrar gives them.
fn is_client_id(text: &str) -> bool {
    text.strip_prefix("cli_").is_some_and(|rest| {
        (1..=64).contains(&rest.len())
            && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
    })
}

/// The registrar's rule: names are printed to terminals.
fn is_name(text: &str) -> bool {
    (1..=100).contains(&text.chars().count()) && !text.chars().any(char::is_control)
}

fn are_scopes(text: &str) -> bool {
    text.split(' ').all(|scope| {
        !scope.is_empty() && scope.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\')
    })
}

fn is_object(text: &str) -> bool {
    serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).is_ok()
}

impl Column {
    fn takes(&self, field: &Field) -> bool {
        match (self.holds, field) {
            (_, Field::Null) => self.may_lack,
            (Holding::Text, Field::Text(_))
            | (Holding::Integer, Field::Integer(_))
            | (Holding::Bytes, Field::Bytes(_)) => true,
            (Holding::Text, Field::Integer(_) | Field::Bytes(_))
            | (Holding::Integer, Field::Text(_) | Field::Bytes(_))
            | (Holding::Bytes, Field::Text(_) | Field::Integer(_)) => false,
        }
    }
}
