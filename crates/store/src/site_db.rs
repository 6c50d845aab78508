//! Read-only access to the database of a CMS site on SQLite, MariaDB, MySQL or PostgreSQL. Queries come as the engine's
//! `Select`; there is no way to write.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use frontdesk_engine::ports::site_db::SiteDb;

mod address;
mod comparand;
mod decimal;
mod dialect;
mod error;
mod expr;
mod lazy;
#[cfg(feature = "mysql")]
mod mysql;
mod pool;
mod postgres;
mod postgres_number;
mod reader;
mod render;
mod rows;
mod schema;
mod sqlite;
#[cfg(test)]
mod tests;

use address::SiteAddress;
pub use address::without_password;
pub use error::SiteDbError;
pub use lazy::open_lazily;
use postgres::PostgresDriver;
pub(crate) use reader::RenderingSiteDb;
use reader::SiteReader;
pub use render::{SiteQuery, SqlParam};
use sqlite::SqliteDriver;

/// How to open a site's database.
#[derive(Clone)]
pub struct SiteDbSettings {
    /// `sqlite:///path`, a plain path, `mysql://user:password@host:port/database` (for MariaDB too) or `postgres://…`.
    pub url: String,
    /// The site's table prefix.
    pub prefix: String,
    /// The maximum duration of one statement.
    pub deadline: Duration,
    /// For lists; one caller may have half of them. Look-ups by key have half as many of their own.
    pub connections: usize,
    /// The PEM file of the certificate authority of a server on another machine.
    pub ca_file: Option<PathBuf>,
}

impl SiteDbSettings {
    pub fn new(url: &str, prefix: &str) -> SiteDbSettings {
        SiteDbSettings {
            url: url.to_owned(),
            prefix: prefix.to_owned(),
            deadline: Duration::from_secs(5),
            connections: 4,
            ca_file: None,
        }
    }
}

impl fmt::Debug for SiteDbSettings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("SiteDbSettings")
            .field("url", &format_args!("{}", without_password(&self.url)))
            .field("prefix", &self.prefix)
            .field("deadline", &self.deadline)
            .field("connections", &self.connections)
            .field("ca_file", &self.ca_file)
            .finish()
    }
}

/// Connects, and reads which tables and columns there are.
pub async fn open(settings: &SiteDbSettings) -> Result<Arc<dyn SiteDb>, SiteDbError> {
    Ok(open_rendering(settings).await?)
}

pub(crate) async fn open_rendering(settings: &SiteDbSettings) -> Result<Arc<dyn RenderingSiteDb>, SiteDbError> {
    if !settings.prefix.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
        return Err(SiteDbError::Prefix(settings.prefix.clone()));
    }
    Ok(match address::parse(&settings.url, settings.ca_file.as_deref())? {
        SiteAddress::Sqlite(path) => {
            Arc::new(SiteReader::open(SqliteDriver::new(path, settings.deadline), settings).await?)
        }
        SiteAddress::Mysql(url) => open_mysql(&url, settings).await?,
        SiteAddress::Postgres(address) => {
            Arc::new(SiteReader::open(PostgresDriver::new(&address, settings.deadline), settings).await?)
        }
    })
}

#[cfg(feature = "mysql")]
async fn open_mysql(url: &str, settings: &SiteDbSettings) -> Result<Arc<dyn RenderingSiteDb>, SiteDbError> {
    let driver = mysql::MysqlDriver::new(url, settings.ca_file.as_deref(), settings.deadline)?;
    Ok(Arc::new(SiteReader::open(driver, settings).await?))
}

#[cfg(not(feature = "mysql"))]
async fn open_mysql(_: &str, _: &SiteDbSettings) -> Result<Arc<dyn RenderingSiteDb>, SiteDbError> {
    Err(SiteDbError::missing_mysql_driver())
}
