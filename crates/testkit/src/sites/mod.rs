//! One CMS site in all three databases, and SQLite files for sites.

pub mod emcp_queries;
pub mod query;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use frontdesk_cms_fixture::{CmsSite, ScriptDialect};
use frontdesk_engine::ports::site_db::{Select, SiteDb, SiteRow};
use frontdesk_store::site_db::{SiteDbSettings, open};

use crate::TestFolder;
use crate::databases::{MariadbDatabase, MariadbServer, PostgresDatabase, PostgresServer};
use query::shown;

/// Three databases with the same content.
pub struct SiteDatabases {
    pub sites: Vec<(&'static str, Arc<dyn SiteDb>)>,
    pub sqlite: SiteFile,
    pub mariadb: MariadbDatabase,
    pub postgres: PostgresDatabase,
}

impl SiteDatabases {
    pub async fn small() -> SiteDatabases {
        SiteDatabases::with(&CmsSite::small(), |_| String::new()).await
    }

    /// With a site and what else is to be in each database.
    pub async fn with(site: &CmsSite, more: fn(ScriptDialect) -> String) -> SiteDatabases {
        SiteDatabases::fill(MariadbDatabase::create(), PostgresDatabase::create(), site, more).await
    }

    /// With servers that the test may stop.
    pub async fn on_own_servers() -> SiteDatabases {
        let mariadb = MariadbDatabase::on(MariadbServer::start());
        let postgres = PostgresDatabase::on(PostgresServer::start());
        SiteDatabases::fill(mariadb, postgres, &CmsSite::small(), |_| String::new()).await
    }

    async fn fill(
        mariadb: MariadbDatabase,
        postgres: PostgresDatabase,
        site: &CmsSite,
        more: fn(ScriptDialect) -> String,
    ) -> SiteDatabases {
        let sqlite = SiteFile::new();
        let script = |database| format!("{}{}", site.script(database), more(database));
        sqlite.sql(&script(ScriptDialect::Sqlite));
        mariadb.sql(&format!("{} COMMIT;", script(ScriptDialect::Mysql)));
        postgres.load(&script(ScriptDialect::Postgres));
        let mut sites = Vec::new();
        for (name, url) in [("SQLite", sqlite.url()), ("MariaDB", mariadb.url()), ("PostgreSQL", postgres.url())] {
            sites.push((name, open(&settings(&url)).await.unwrap()));
        }
        SiteDatabases { sites, sqlite, mariadb, postgres }
    }

    /// What all three answer, which is the same.
    pub async fn rows(&self, select: &Select) -> Vec<SiteRow> {
        let mut answers = Vec::new();
        for (name, site) in &self.sites {
            let rows = site.select(select).await;
            answers.push((name, rows.unwrap_or_else(|fault| panic!("{name}: {fault:?} for {select:?}"))));
        }
        for (name, rows) in &answers[1..] {
            assert_eq!(*rows, answers[0].1, "{name} and {} for {select:?}", answers[0].0);
        }
        answers.swap_remove(0).1
    }

    /// The first column, as text.
    pub async fn list(&self, select: &Select) -> Vec<String> {
        self.rows(select).await.iter().map(|record| shown(&record[0])).collect()
    }
}

pub fn settings(url: &str) -> SiteDbSettings {
    SiteDbSettings { deadline: Duration::from_secs(20), ..SiteDbSettings::new(url, "evo_") }
}

/// A SQLite file in a folder of its own.
pub struct SiteFile(TestFolder);

impl SiteFile {
    #[expect(clippy::new_without_default, reason = "making a folder is no default value")]
    pub fn new() -> SiteFile {
        SiteFile(TestFolder::short())
    }

    pub fn folder(&self) -> &std::path::Path {
        self.0.path()
    }

    pub fn path(&self) -> PathBuf {
        self.0.join("site.sqlite")
    }

    pub fn url(&self) -> String {
        format!("sqlite://{}", self.path().display())
    }

    pub fn sql(&self, text: &str) {
        rusqlite::Connection::open(self.path()).unwrap().execute_batch(text).unwrap();
    }
}
