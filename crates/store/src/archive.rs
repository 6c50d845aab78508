//! Reading somebody else's database: the tables of an Evolution CMS site on SQLite, MariaDB, MySQL or PostgreSQL. It is
//! asked in the engine's words, and nothing here can write.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use frontdesk_engine::Fault;
use frontdesk_engine::ports::site_db::{Select, SiteDb};

mod address;
mod dialect;
mod error;
mod file;
mod late;
mod mysql;
mod number;
mod operand;
mod pool;
mod postgres;
mod prepared;
mod render;
mod schema;
mod shape;
mod sqlite;
mod terms;
#[cfg(test)]
mod tests;
mod texts;

use address::Place;
pub use address::without_password;
pub use error::ArchiveError;
pub use late::open_later;
use mysql::MysqlArchive;
use postgres::PostgresArchive;
pub use render::{Bound, Statement};
use sqlite::SqliteArchive;

/// What there is to know about a site's database before it is opened.
#[derive(Clone)]
pub struct ArchiveSettings {
    /// `sqlite:///path`, a plain path, `mysql://user:password@host:port/database` (for MariaDB too) or `postgres://…`.
    pub url: String,
    /// What the names of the site's tables begin with.
    pub prefix: String,
    /// No statement runs longer.
    pub deadline: Duration,
    pub connections: usize,
    /// The PEM file of the authority that issued the certificate of a server on another machine.
    pub authority: Option<PathBuf>,
}

impl ArchiveSettings {
    pub fn new(url: &str) -> ArchiveSettings {
        ArchiveSettings {
            url: url.to_owned(),
            prefix: "evo_".to_owned(),
            deadline: Duration::from_secs(5),
            connections: 4,
            authority: None,
        }
    }
}

impl fmt::Debug for ArchiveSettings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ArchiveSettings")
            .field("url", &format_args!("{}", address::without_password(&self.url)))
            .field("prefix", &self.prefix)
            .field("deadline", &self.deadline)
            .field("connections", &self.connections)
            .field("authority", &self.authority)
            .finish()
    }
}

/// Connects, and looks which tables and columns there are.
pub async fn open(settings: &ArchiveSettings) -> Result<Arc<dyn SiteDb>, ArchiveError> {
    Ok(match opened(settings).await? {
        Opened::Sqlite(archive) => archive,
        Opened::Mysql(archive) => archive,
        Opened::Postgres(archive) => archive,
    })
}

pub(crate) enum Opened {
    Sqlite(Arc<SqliteArchive>),
    Mysql(Arc<MysqlArchive>),
    Postgres(Arc<PostgresArchive>),
}

impl Opened {
    /// What would be sent for the rows of this.
    pub(crate) fn statement(&self, select: &Select) -> Result<Statement, Fault> {
        match self {
            Opened::Sqlite(archive) => archive.statement(select),
            Opened::Mysql(archive) => archive.statement(select),
            Opened::Postgres(archive) => archive.statement(select),
        }
    }
}

pub(crate) async fn opened(settings: &ArchiveSettings) -> Result<Opened, ArchiveError> {
    if !settings.prefix.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
        return Err(ArchiveError::Prefix(settings.prefix.clone()));
    }
    Ok(match address::parse(&settings.url, settings.authority.as_deref())? {
        Place::Sqlite(path) => Opened::Sqlite(Arc::new(SqliteArchive::open(path, settings).await?)),
        Place::Mysql(options) => Opened::Mysql(Arc::new(MysqlArchive::open(*options, settings).await?)),
        Place::Postgres(address) => Opened::Postgres(Arc::new(PostgresArchive::open(address, settings).await?)),
    })
}
