//! A made-up Evolution CMS site as SQL, for tests, benches and the demo: the same rows on SQLite, MariaDB and
//! PostgreSQL. It only generates SQL text; in the shipped binary only the demo uses it.

use std::io;

mod ddl;
mod demo;
mod documents;
mod people;
mod values;

pub use ddl::ScriptDialect;
use documents::Document;

/// The number of documents of the site that tests make assertions about.
pub const SMALL_SITE_DOCUMENTS: usize = 260;

/// The content of columns that must never be readable, so that a test can detect a leak.
pub const CANARY: &str = "canary";

pub struct CmsSite {
    prefix: String,
    content: Content,
}

enum Content {
    /// The site that tests make assertions about, or a larger one that begins with it.
    Catalogue(Vec<Document>),
    /// The site of the demo.
    Pottery,
}

/// Rows of a table; columns that are not listed have their default.
pub(crate) struct TableRows {
    pub(crate) table: &'static str,
    pub(crate) columns: &'static [&'static str],
    pub(crate) rows: Vec<Vec<SqlValue>>,
}

#[derive(Debug, Clone)]
pub(crate) enum SqlValue {
    Null,
    Integer(i64),
    Boolean(bool),
    Text(String),
}

impl SqlValue {
    pub(crate) fn text(text: impl Into<String>) -> SqlValue {
        SqlValue::Text(text.into())
    }
}

impl CmsSite {
    /// The site of 260 documents, with the table prefix `evo_`.
    pub fn small() -> CmsSite {
        CmsSite::with_documents(SMALL_SITE_DOCUMENTS)
    }

    /// A site that begins with the small one and continues its catalogue up to this number of documents.
    pub fn with_documents(documents: usize) -> CmsSite {
        CmsSite { prefix: "evo_".to_owned(), content: Content::Catalogue(documents::all(documents)) }
    }

    /// The website of a pottery, with about 40 pages.
    pub fn demo() -> CmsSite {
        CmsSite { prefix: "evo_".to_owned(), content: Content::Pottery }
    }

    pub fn with_prefix(self, prefix: &str) -> CmsSite {
        CmsSite { prefix: prefix.to_owned(), ..self }
    }

    /// The SQL script that creates the site in an empty database.
    pub fn script(&self, dialect: ScriptDialect) -> String {
        let mut script = Vec::new();
        // Writing to memory does not fail.
        let _ = self.write(dialect, &mut script);
        String::from_utf8_lossy(&script).into_owned()
    }

    pub fn write(&self, dialect: ScriptDialect, out: &mut dyn io::Write) -> io::Result<()> {
        ddl::open(dialect, out)?;
        ddl::tables(dialect, &self.prefix, out)?;
        for rows in self.rows() {
            ddl::insert(dialect, &self.prefix, &rows, out)?;
        }
        ddl::indexes(dialect, &self.prefix, out)?;
        ddl::close(dialect, out)
    }

    fn rows(&self) -> Vec<TableRows> {
        match &self.content {
            Content::Pottery => demo::rows(),
            Content::Catalogue(documents) => {
                let mut all = documents::rows(documents);
                all.extend(values::rows(documents));
                all.extend(people::rows());
                all
            }
        }
    }
}
