//! The tables and columns of a SQLite file.

use rusqlite::Connection;

use super::is_transient;
use crate::site_db::schema::{Charset, ColumnInfo, PROBE_TABLE, SiteColumn, SqlType};

/// Each table is read on its own: a broken view is left out and does not affect the others.
pub(super) fn columns(connection: &Connection, prefix: &str) -> Result<Vec<ColumnInfo>, rusqlite::Error> {
    let mut names = connection.prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")?;
    let names = names.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    let mut statement = connection.prepare("SELECT name, type, \"notnull\" OR pk FROM pragma_table_info(?1)")?;
    let mut columns = Vec::new();
    for table in names.iter().filter(|name| name.starts_with(prefix) || name.ends_with(PROBE_TABLE)) {
        let of_table = statement.query_map([table], |row| {
            let declared: String = row.get(1)?;
            let (sql_type, is_unbounded) = sql_type(&declared);
            let column = SiteColumn { sql_type, is_not_null: row.get(2)?, is_unbounded, charset: Charset::Utf8 };
            Ok(ColumnInfo { table: table.clone(), name: row.get(0)?, column })
        });
        match of_table.and_then(Iterator::collect::<Result<Vec<ColumnInfo>, _>>) {
            Ok(of_table) => columns.extend(of_table),
            Err(error) if is_transient(&error) => return Err(error),
            Err(_) => {}
        }
    }
    Ok(columns)
}

/// The declared type, and whether its values may be very long. SQLite itself stores any value in any column.
fn sql_type(declared: &str) -> (SqlType, bool) {
    let declared = declared.to_ascii_uppercase();
    let contains = |names: &[&str]| names.iter().any(|name| declared.contains(name));
    if contains(&["INT", "BOOL"]) {
        (SqlType::Integer, false)
    } else if contains(&["CHAR"]) {
        (SqlType::Text, false)
    } else if contains(&["CLOB", "TEXT"]) {
        (SqlType::Text, true)
    } else {
        (SqlType::Other, true)
    }
}
