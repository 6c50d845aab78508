//! A site in a file: one connection for each thread, and no way from one thread to another.

use std::cell::RefCell;
use std::path::PathBuf;

use frontdesk_store::statements::site::SqlParam;
use rusqlite::config::DbConfig;
use rusqlite::types::{ToSql, ToSqlOutput};
use rusqlite::{Connection, OpenFlags};

use super::{Base, Query, Row, write};
use crate::BenchResult;

pub struct Sqlite {
    path: PathBuf,
}

thread_local! {
    static READER: RefCell<Option<Connection>> = const { RefCell::new(None) };
}

impl Sqlite {
    pub fn new(path: &str) -> Sqlite {
        Sqlite { path: path.into() }
    }

    fn rows_of<T>(
        &self,
        query: &Query<'_>,
        mut work: impl FnMut(&rusqlite::Row<'_>) -> BenchResult<T>,
    ) -> BenchResult<Vec<T>> {
        READER.with_borrow_mut(|reader| {
            if reader.is_none() {
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                let opened = Connection::open_with_flags(&self.path, flags)?;
                // As Frontdesk's: one plan for a statement, whatever its values.
                opened.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
                *reader = Some(opened);
            }
            let mut statement = reader.as_ref().ok_or("no connection")?.prepare_cached(query.text)?;
            let mut rows = statement.query(rusqlite::params_from_iter(query.values.iter().map(Value)))?;
            let mut read = Vec::new();
            while let Some(row) = rows.next()? {
                read.push(work(row)?);
            }
            Ok(read)
        })
    }
}

impl Base for Sqlite {
    async fn variables(&self, query: &Query<'_>) -> BenchResult<Vec<(i64, String)>> {
        self.rows_of(query, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    async fn documents(&self, query: &Query<'_>, names: &[String]) -> BenchResult<(String, usize)> {
        let mut out = String::new();
        let rows = self.rows_of(query, |row| write(row, names, &mut out))?;
        Ok((out, rows.len()))
    }
}

impl Row for rusqlite::Row<'_> {
    fn whole(&self, column: usize) -> BenchResult<i64> {
        Ok(self.get(column)?)
    }

    fn text(&self, column: usize) -> BenchResult<Option<&str>> {
        Ok(self.get_ref(column)?.as_str_or_null()?)
    }
}

struct Value<'a>(&'a SqlParam);

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self.0 {
            SqlParam::Integer(number) => number.to_sql(),
            SqlParam::Text(text) => text.to_sql(),
            SqlParam::SortKey(key) => key.to_sql(),
        }
    }
}
