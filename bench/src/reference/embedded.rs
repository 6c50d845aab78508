//! The reference's reads on SQLite: one connection for each thread, opened like Frontdesk's, and no way from one thread
//! to another. Nothing could cost less.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use frontdesk_store::statements::for_sqlite;
use frontdesk_store::statements::sqlite::lookup;
use rusqlite::{Connection, params};

use super::{Arguments, Items, Texts};
use crate::BenchResult;

pub struct SqliteReader {
    path: PathBuf,
    texts: Texts,
}

thread_local! {
    static READER: RefCell<Option<Connection>> = const { RefCell::new(None) };
}

impl SqliteReader {
    pub fn new(path: &Path) -> SqliteReader {
        SqliteReader { path: path.to_owned(), texts: Texts::new(for_sqlite) }
    }

    pub fn get(&self, arguments: &Arguments) -> BenchResult<String> {
        self.reading(|connection| {
            let mut statement = connection.prepare_cached(&self.texts.get)?;
            Ok(statement.query_row(params![arguments.dealership_id, arguments.id], |row| row.get(3))?)
        })
    }

    pub fn search(&self, arguments: &Arguments) -> BenchResult<String> {
        let limit = arguments.limit.unwrap_or(25);
        let (text, value) = self.texts.search(arguments);
        self.reading(|connection| {
            let mut statement = connection.prepare_cached(text)?;
            let mut rows = statement.query(params![arguments.dealership_id, value, limit + 1])?;
            let mut items = Items::new(limit);
            while let Some(row) = rows.next()?
                && items.add(row.get_ref(2)?.as_str()?)
            {}
            Ok(items.end())
        })
    }

    fn reading<T>(&self, work: impl FnOnce(&Connection) -> BenchResult<T>) -> BenchResult<T> {
        reading(&self.path, work)
    }
}

/// Reads with this thread's connection. A process has one file only.
pub fn reading<T>(path: &Path, work: impl FnOnce(&Connection) -> BenchResult<T>) -> BenchResult<T> {
    READER.with_borrow_mut(|reader| {
        if reader.is_none() {
            *reader = Some(lookup(path)?);
        }
        work(reader.as_ref().ok_or("no connection")?)
    })
}
