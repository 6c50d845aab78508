//! The words that rows are found by, on SQLite. A row remembers its own words as a list in JSON: an index by row would
//! be as much to write for each new row as the words themselves, and only changes and removals would need it.

use frontdesk_engine::model::table::TableSpec;
use rusqlite::Connection;

use crate::StoreError;
use crate::sql::{before, for_sqlite};

/// So many words are added by one statement; what is left over by one for just that many.
pub(super) const AT_ONCE: usize = 8;

/// The words of a row, so many at once; the values are the tenant, the id and the words. It says `OR IGNORE`, which only
/// SQLite knows: for `ON CONFLICT` it would keep each page that several rows may change, in case one of them fails.
pub fn add_words(kind: &TableSpec, count: usize) -> String {
    let rows: Vec<String> = (3..count + 3).map(|number| format!("(?1, ?{number}, ?2)")).collect();
    format!("INSERT OR IGNORE INTO {}_word (tenant, word, id) VALUES {}", kind.name, rows.join(", "))
}

/// Removes the words of a row that is about to be written anew, if it has the version that is expected.
pub(super) fn remove_words(kind: &TableSpec) -> String {
    let table = kind.name;
    format!(
        "DELETE FROM {table}_word WHERE tenant = ?1 AND id = ?2 AND word IN (SELECT value FROM json_each(\
         (SELECT words FROM {table} WHERE tenant = ?1 AND id = ?2 AND version = ?3)))"
    )
}

/// Removes the words of the rows that `sql::remove_rows_before` is about to remove.
pub(super) fn remove_words_before(kind: &TableSpec, column: &str) -> String {
    let table = kind.name;
    format!(
        "DELETE FROM {table}_word WHERE (tenant, word, id) IN (SELECT ?1, own.value, gone.id FROM {table} AS gone, \
         json_each(gone.words) AS own WHERE gone.tenant = ?1 AND gone.id IN ({}))",
        for_sqlite(&before(kind, column))
    )
}

/// Makes all rows of a tenant remember their words, from the words. The value is the tenant.
pub(crate) fn remember(kind: &TableSpec) -> String {
    let table = kind.name;
    format!(
        "UPDATE {table} SET words = own.words FROM \
         (SELECT id, json_group_array(word) AS words FROM {table}_word WHERE tenant = ?1 GROUP BY id) AS own \
         WHERE {table}.tenant = ?1 AND {table}.id = own.id"
    )
}

/// A row's words as the row remembers them.
pub(super) fn list(words: &[String]) -> String {
    // Texts always become JSON.
    serde_json::to_string(words).unwrap_or_else(|_| "[]".to_owned())
}

/// In files from before rows remembered their words there is an index by row instead, which is used a last time. All of
/// it happens or nothing.
pub(super) fn bring_forward(connection: &Connection, kinds: &[&'static TableSpec]) -> Result<(), StoreError> {
    for kind in kinds {
        let table = kind.name;
        let text = "SELECT count(*) FROM pragma_table_info(?1) WHERE name = 'words'";
        let is_there: i64 = connection.query_row(text, [table], |row| row.get(0))?;
        if is_there == 0 {
            let transaction = connection.unchecked_transaction()?;
            transaction.execute_batch(&format!(
                "ALTER TABLE {table} ADD COLUMN words TEXT;
                 CREATE INDEX IF NOT EXISTS {table}_word_of ON {table}_word (tenant, id);
                 UPDATE {table} SET words = (SELECT json_group_array(word) FROM {table}_word AS own \
                 WHERE own.tenant = {table}.tenant AND own.id = {table}.id);
                 DROP INDEX {table}_word_of"
            ))?;
            transaction.commit()?;
        }
    }
    Ok(())
}
