//! Checks of imported rows. Whoever has the key of an export file can write anything into it, and later code relies on
//! what the database contains.

use super::tables::{CellType, TransferColumn, TransferTable};
use super::{Manifest, StoredValue};

/// Larger integers are not exact in JSON consumers that use doubles.
const MAX_EXACT_INTEGER: i64 = 1 << 53;

pub(super) fn is_valid_manifest(manifest: &Manifest) -> bool {
    let chain = &manifest.chain;
    is_name(&manifest.tenant.name)
        && manifest.shared_clients.iter().all(|(id, name)| is_client_id(id) && is_name(name))
        && is_number(chain.seq)
        && (0..=chain.seq).contains(&chain.kept_after_seq)
}

pub(super) fn is_valid_row(table: &TransferTable, row: &[StoredValue]) -> bool {
    row.len() == table.columns.len()
        && table
            .columns
            .iter()
            .zip(row)
            .all(|(column, value)| column.accepts(value) && is_valid_value(&table.name, &column.name, value))
}

/// Declared columns may hold anything; the values of the others are restricted.
fn is_valid_value(table: &str, column: &str, value: &StoredValue) -> bool {
    match (table, column, value) {
        ("fd_audit" | "fd_outbox", "seq", StoredValue::Integer(number)) => is_number(*number),
        ("fd_counter", "event_seq", StoredValue::Integer(number)) => is_number(*number),
        (_, "version", StoredValue::Integer(number)) => is_number(*number),
        ("fd_client", "client", StoredValue::Text(text)) => is_client_id(text),
        ("fd_client", "name", StoredValue::Text(text)) => is_name(text),
        ("fd_client", "scopes", StoredValue::Text(text)) => are_scopes(text),
        ("fd_client", "secret_hash", StoredValue::Bytes(bytes)) => bytes.len() == 32,
        ("fd_audit", "records", StoredValue::Text(text)) => !text.chars().any(|one| one.is_control() && one != '\n'),
        (_, "body" | "masked", StoredValue::Text(text)) => is_object(text),
        (table, _, StoredValue::Text(text)) if table.starts_with("fd_") => !text.contains('\0'),
        (_, _, StoredValue::Null | StoredValue::Integer(_) | StoredValue::Text(_) | StoredValue::Bytes(_)) => true,
    }
}

/// The next number must be valid as well.
fn is_number(number: i64) -> bool {
    (0..MAX_EXACT_INTEGER).contains(&number)
}

/// As the server generates them.
fn is_client_id(text: &str) -> bool {
    text.strip_prefix("cli_").is_some_and(|rest| {
        (1..=64).contains(&rest.len())
            && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
    })
}

/// No control characters, because names are printed to terminals.
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

impl TransferColumn {
    fn accepts(&self, value: &StoredValue) -> bool {
        match (self.cell_type, value) {
            (_, StoredValue::Null) => self.nullable,
            (CellType::Text, StoredValue::Text(_))
            | (CellType::Integer, StoredValue::Integer(_))
            | (CellType::Bytes, StoredValue::Bytes(_)) => true,
            (CellType::Text, StoredValue::Integer(_) | StoredValue::Bytes(_))
            | (CellType::Integer, StoredValue::Text(_) | StoredValue::Bytes(_))
            | (CellType::Bytes, StoredValue::Text(_) | StoredValue::Integer(_)) => false,
        }
    }
}
