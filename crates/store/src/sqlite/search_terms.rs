//! Search terms on SQLite. A row lists its own terms as JSON in its column `words`, so that an update or a deletion can
//! remove them. An index by row would cost every insert as much as the terms themselves.

use frontdesk_engine::model::table::TableSpec;

use crate::sql::{for_sqlite, ids_before};

/// How many terms one statement inserts; the remainder is inserted by a statement for exactly that many.
pub(super) const TERMS_PER_STATEMENT: usize = 8;

/// Inserts this many terms of a row; the parameters are the tenant, the id and the terms. `OR IGNORE` instead of
/// `ON CONFLICT`, for which SQLite would journal each page in case a later row of the statement fails.
pub fn insert_terms(table: &TableSpec, count: usize) -> String {
    let rows: Vec<String> = (3..count + 3).map(|number| format!("(?1, ?{number}, ?2)")).collect();
    format!("INSERT OR IGNORE INTO {}_word (tenant, word, id) VALUES {}", table.name, rows.join(", "))
}

/// Deletes the terms of a row before its update, if it has the expected version.
pub(super) fn delete_terms(table: &TableSpec) -> String {
    let name = table.name;
    format!(
        "DELETE FROM {name}_word WHERE tenant = ?1 AND id = ?2 AND word IN (SELECT value FROM json_each(\
         (SELECT words FROM {name} WHERE tenant = ?1 AND id = ?2 AND version = ?3)))"
    )
}

/// Deletes the terms of the rows that `sql::delete_rows_before` deletes.
pub(crate) fn delete_terms_before(table: &TableSpec, column: &str) -> String {
    let name = table.name;
    format!(
        "DELETE FROM {name}_word WHERE (tenant, word, id) IN (SELECT ?1, own.value, gone.id FROM {name} AS gone, \
         json_each(gone.words) AS own WHERE gone.tenant = ?1 AND gone.id IN ({}))",
        for_sqlite(&ids_before(table, column))
    )
}

/// Fills the lists of all rows of a tenant from the table of terms; the parameter is the tenant.
pub(crate) fn rebuild_term_lists(table: &TableSpec) -> String {
    let name = table.name;
    format!(
        "UPDATE {name} SET words = COALESCE(own.words, '[]') FROM \
         (SELECT one.id, found.words FROM {name} AS one LEFT JOIN \
         (SELECT id, json_group_array(word) AS words FROM {name}_word WHERE tenant = ?1 GROUP BY id) AS found \
         ON found.id = one.id WHERE one.tenant = ?1) AS own \
         WHERE {name}.tenant = ?1 AND {name}.id = own.id"
    )
}

/// The list that is stored in a row.
pub(super) fn to_json(terms: &[String]) -> String {
    // Strings always serialize.
    serde_json::to_string(terms).unwrap_or_else(|_| "[]".to_owned())
}
