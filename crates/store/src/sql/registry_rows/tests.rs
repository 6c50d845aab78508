//! The MAC of a row, and that no table which decides access lacks it.

use std::collections::BTreeSet;

use super::*;
use crate::sql::ddl;
use crate::sql::session::run_ready;

/// Tables of the core whose rows have no MAC of this kind, and why.
const NOT_AUTHENTICATED: [(&str, &str); 11] = [
    ("fd_audit", "each link carries a keyed hash that covers the one before it"),
    ("fd_audit_head", "each row carries a seal over its content"),
    ("fd_audit_roster", "each row carries a keyed hash over its content, and the summary their sum"),
    ("fd_audit_summary", "the row carries a keyed hash over its content"),
    ("fd_claim", "both values are sealed with the tenant's key for this client, tool and key"),
    ("fd_counter", "a number that gives no access; a wrong one makes writes fail or leaves a gap"),
    ("fd_erasure", "what was removed from erased tenants; the mark that decides is in fd_tenant"),
    ("fd_index", "how far rows are indexed; indexing verifies every row that it reads"),
    ("fd_installation", "the row is sealed with the master key and carries a keyed hash"),
    ("fd_outbox", "ids and kinds of changes; what is delivered is read from rows, which are verified"),
    ("fd_root_key", "the root key, sealed with the master key: another value opens nothing"),
];

fn database() -> rusqlite::Connection {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    for text in ddl::MIGRATIONS {
        connection.execute_batch(text).unwrap();
    }
    connection
}

fn names(connection: &rusqlite::Connection, text: &str) -> BTreeSet<String> {
    let mut statement = connection.prepare(text).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

#[test]
fn every_core_table_is_authenticated_or_listed_with_a_reason() {
    let connection = database();
    let mut known: BTreeSet<String> = AUTHENTICATED.iter().map(|table| table.name.to_owned()).collect();
    known.extend(NOT_AUTHENTICATED.iter().map(|(table, _)| (*table).to_owned()));
    assert_eq!(
        names(&connection, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'fd!_%' ESCAPE '!'"),
        known
    );
}

#[test]
fn every_column_of_an_authenticated_table_is_covered() {
    let connection = database();
    for table in AUTHENTICATED {
        let mut covered: BTreeSet<String> = table.columns.iter().map(|column| (*column).to_owned()).collect();
        covered.extend(["version", "mac"].map(str::to_owned));
        let text = format!("SELECT name FROM pragma_table_info('{}')", table.name);
        assert_eq!(names(&connection, &text), covered, "{}", table.name);
        let key = format!("{text} WHERE pk > 0");
        let first: BTreeSet<String> = table.columns[..table.key].iter().map(|column| (*column).to_owned()).collect();
        assert_eq!(names(&connection, &key), first, "{}", table.name);
    }
}

#[test]
fn the_lock_of_a_tenant_reads_the_row_as_it_is_verified() {
    assert_eq!(LOCK_TENANT, TENANTS.select("WHERE tenant = $1 FOR NO KEY UPDATE"));
}

fn key() -> RegistryKey {
    RegistryKey::new(&SealKey::from_bytes([7; 32]))
}

fn with_token() -> rusqlite::Connection {
    let connection = database();
    let columns = vec![
        ("token_hash", [1; 32].as_slice().into()),
        ("client", "cli_a".into()),
        ("tenants", "north".into()),
        ("scopes", "boats:read".into()),
        ("resource", "https://desk.example/mcp".into()),
        ("expires_at", 1_000.into()),
    ];
    assert_eq!(run_ready(TOKENS.insert(&connection, &key(), columns)).unwrap(), 1);
    connection
}

fn found(connection: &rusqlite::Connection) -> Vec<RegistryRow> {
    run_ready(TOKENS.find(connection, &key(), "", &[])).unwrap()
}

#[test]
fn a_row_changed_in_any_column_is_refused() {
    for change in [
        "token_hash = x'00'",
        "client = 'cli_b'",
        "tenants = 'north south'",
        "scopes = 'boats:write'",
        "resource = ''",
        "expires_at = 2000",
        "authenticated_at = 1",
        "authenticated_at = ''",
        "version = 2",
        "mac = NULL",
        "mac = x''",
        "mac = substr(mac, 1, 31)",
        "mac = zeroblob(32)",
    ] {
        let connection = with_token();
        assert_eq!(found(&connection).len(), 1);
        connection.execute_batch(&format!("UPDATE fd_token SET {change}")).unwrap();
        assert_eq!(found(&connection).len(), 0, "{change}");
    }
}

#[test]
fn the_mac_of_another_key_is_refused() {
    let connection = with_token();
    let other = RegistryKey::new(&SealKey::from_bytes([8; 32]));
    assert_eq!(run_ready(TOKENS.find(&connection, &other, "", &[])).unwrap().len(), 0);
    let row = found(&connection).pop().unwrap();
    assert_eq!(run_ready(TOKENS.rekey(&connection, &other, row, Vec::new())).unwrap(), 1);
    assert_eq!(found(&connection).len(), 0);
    let rows = run_ready(TOKENS.find(&connection, &other, "", &[])).unwrap();
    assert_eq!(rows.iter().map(RegistryRow::version).collect::<Vec<_>>(), [1]);
}

#[test]
fn an_update_counts_the_version_and_needs_the_one_that_was_read() {
    let connection = with_token();
    let row = found(&connection).pop().unwrap();
    let change = || vec![("tenants", "south".into())];
    assert_eq!(run_ready(TOKENS.update(&connection, &key(), row.clone(), change())).unwrap(), 1);
    let changed = found(&connection).pop().unwrap();
    assert_eq!((changed.version(), changed.text("tenants").unwrap()), (2, "south"));
    assert_eq!(run_ready(TOKENS.update(&connection, &key(), row, change())).unwrap(), 0);
}

/// A later release adds a nullable column.
#[test]
fn a_null_does_not_change_the_mac() {
    static SHORTER: RegistryTable =
        RegistryTable { name: "fd_token", columns: &["token_hash", "client", "tenants"], key: 1 };
    static LONGER: RegistryTable =
        RegistryTable { name: "fd_token", columns: &["token_hash", "client", "tenants", "grant"], key: 1 };
    let mut values = vec![[1].as_slice().into(), "cli_a".into(), "north".into()];
    let before = key().mac(&SHORTER, &values, 3);
    values.push(StoredValue::Null);
    assert_eq!(key().mac(&LONGER, &values, 3), before);
    values.pop();
    values.push("".into());
    assert_ne!(key().mac(&LONGER, &values, 3), before);
}
