//! Which tables and columns a SQLite file has.

use rusqlite::Connection;

use super::is_passing;
use crate::archive::schema::{Column, Described, Holds, LANDMARK, Letters};

/// Tables are looked at one by one: a view that cannot be read is not there, and keeps no other away.
pub(super) fn describe(connection: &Connection, prefix: &str) -> Result<Vec<Described>, rusqlite::Error> {
    let mut names = connection.prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")?;
    let names = names.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    let mut statement = connection.prepare("SELECT name, type, \"notnull\" OR pk FROM pragma_table_info(?1)")?;
    let mut described = Vec::new();
    for table in names.iter().filter(|name| name.starts_with(prefix) || name.ends_with(LANDMARK)) {
        let columns = statement.query_map([table], |row| {
            let declared: String = row.get(1)?;
            let (holds, is_wide) = holds(&declared);
            let is = Column { holds, is_filled: row.get(2)?, is_wide, letters: Letters::All };
            Ok(Described { table: table.clone(), column: row.get(0)?, is })
        });
        match columns.and_then(Iterator::collect::<Result<Vec<Described>, _>>) {
            Ok(columns) => described.extend(columns),
            Err(error) if is_passing(&error) => return Err(error),
            Err(_) => {}
        }
    }
    Ok(described)
}

/// What the column was declared to hold, and whether that may be long. SQLite itself takes anything.
fn holds(declared: &str) -> (Holds, bool) {
    let declared = declared.to_ascii_uppercase();
    let says = |words: &[&str]| words.iter().any(|word| declared.contains(word));
    if says(&["INT", "BOOL"]) {
        (Holds::Whole, false)
    } else if says(&["CHAR"]) {
        (Holds::Text, false)
    } else if says(&["CLOB", "TEXT"]) {
        (Holds::Text, true)
    } else {
        (Holds::Other, true)
    }
}
