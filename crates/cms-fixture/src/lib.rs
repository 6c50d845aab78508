//! A made-up Evolution CMS site as SQL, for tests, benches and demonstrations: the same rows on SQLite, MariaDB and
//! PostgreSQL. It makes texts and nothing else; of what is shipped only the demo uses it.

use std::io;

mod ddl;
mod demo;
mod documents;
mod people;
mod values;

pub use ddl::Database;
use documents::Document;

/// The site that tests know by heart has so many documents.
pub const SMALL: usize = 260;

/// What is in the columns that nobody may ever read; a leak shows by it.
pub const CANARY: &str = "canary";

pub struct Site {
    prefix: String,
    content: Content,
}

enum Content {
    /// The site that tests know by heart, or more of it.
    Catalogue(Vec<Document>),
    /// The one that is shown to people.
    Pottery,
}

/// A table's name, the columns that are written, and its rows.
pub(crate) struct Rows {
    pub(crate) table: &'static str,
    pub(crate) columns: &'static [&'static str],
    pub(crate) rows: Vec<Vec<Cell>>,
}

#[derive(Debug, Clone)]
pub(crate) enum Cell {
    Null,
    Whole(i64),
    Truth(bool),
    Text(String),
}

impl Cell {
    pub(crate) fn text(text: impl Into<String>) -> Cell {
        Cell::Text(text.into())
    }
}

impl Site {
    /// The site of 260 documents, its tables beginning with `evo_`.
    pub fn small() -> Site {
        Site::of(SMALL)
    }

    /// A site that begins with the small one and goes on with more of its catalogue, until it has so many documents.
    pub fn of(documents: usize) -> Site {
        Site { prefix: "evo_".to_owned(), content: Content::Catalogue(documents::all(documents)) }
    }

    /// The website of a pottery: some 40 pages for people to look at.
    pub fn demo() -> Site {
        Site { prefix: "evo_".to_owned(), content: Content::Pottery }
    }

    pub fn with_prefix(self, prefix: &str) -> Site {
        Site { prefix: prefix.to_owned(), ..self }
    }

    /// Everything that makes the site in an empty database.
    pub fn script(&self, database: Database) -> String {
        let mut script = Vec::new();
        // Writing to memory does not fail.
        let _ = self.write(database, &mut script);
        String::from_utf8_lossy(&script).into_owned()
    }

    pub fn write(&self, database: Database, out: &mut dyn io::Write) -> io::Result<()> {
        ddl::open(database, out)?;
        ddl::tables(database, &self.prefix, out)?;
        for rows in self.rows() {
            ddl::insert(database, &self.prefix, &rows, out)?;
        }
        ddl::indexes(database, &self.prefix, out)?;
        ddl::close(database, out)
    }

    fn rows(&self) -> Vec<Rows> {
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
