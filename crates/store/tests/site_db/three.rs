//! The three databases with the same site, and helpers for queries.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use frontdesk_cms_fixture::{CmsSite, ScriptDialect};
use frontdesk_engine::model::page::Direction;
use frontdesk_engine::ports::site_db::{
    Comparison, Expr, Join, JoinKind, Literal, Operand, Predicate, Select, SiteCell, SiteDb, SiteRow, TableAlias,
};
use frontdesk_store::site_db::{SiteDbSettings, open};

use crate::mariadb::MariaDb;
use crate::server::Server;

pub(crate) struct Three {
    pub(crate) site_dbs: Vec<(&'static str, Arc<dyn SiteDb>)>,
    pub(crate) sqlite: File,
    pub(crate) mariadb: MariaDb,
    pub(crate) postgres: Server,
}

impl Three {
    pub(crate) async fn with_the_site() -> Three {
        Three::with(&CmsSite::small(), |_| String::new()).await
    }

    /// With a site and further SQL for each database.
    pub(crate) async fn with(site: &CmsSite, more: fn(ScriptDialect) -> String) -> Three {
        let (sqlite, mariadb, postgres) = (File::new(), MariaDb::start(), Server::start());
        let script = |database| format!("{}{}", site.script(database), more(database));
        sqlite.sql(&script(ScriptDialect::Sqlite));
        mariadb.sql(&format!("{} COMMIT;", script(ScriptDialect::Mysql)));
        load(&postgres, &script(ScriptDialect::Postgres));
        let mut site_dbs = Vec::new();
        for (name, url) in [("SQLite", sqlite.url()), ("MariaDB", mariadb.url()), ("PostgreSQL", postgres.url())] {
            site_dbs.push((name, open(&settings(&url)).await.unwrap()));
        }
        Three { site_dbs, sqlite, mariadb, postgres }
    }

    /// The rows, which are the same on all three.
    pub(crate) async fn rows(&self, select: &Select) -> Vec<SiteRow> {
        let mut answers = Vec::new();
        for (name, site_db) in &self.site_dbs {
            let rows = site_db.select(select).await;
            answers.push((name, rows.unwrap_or_else(|fault| panic!("{name}: {fault:?} for {select:?}"))));
        }
        for (name, rows) in &answers[1..] {
            assert_eq!(*rows, answers[0].1, "{name} and {} for {select:?}", answers[0].0);
        }
        answers.swap_remove(0).1
    }

    /// The first column, as text.
    pub(crate) async fn list(&self, select: &Select) -> Vec<String> {
        self.rows(select).await.iter().map(|record| shown(&record[0])).collect()
    }
}

pub(crate) fn settings(url: &str) -> SiteDbSettings {
    SiteDbSettings { deadline: Duration::from_secs(20), ..SiteDbSettings::new(url, "evo_") }
}

pub(crate) fn load(server: &Server, script: &str) {
    // The role of the reader gets read access, as from a site's owner.
    let script = format!("{script} GRANT SELECT ON ALL TABLES IN SCHEMA public TO desk;");
    let file = std::env::temp_dir().join(format!("fdsql-{}-{}", std::process::id(), server.url().len()));
    std::fs::write(&file, script).unwrap();
    server.sql("desk", &format!("\\i {}", file.display()));
    std::fs::remove_file(&file).unwrap();
}

/// A SQLite file in a temporary folder.
pub(crate) struct File(pub(crate) PathBuf);

impl File {
    pub(crate) fn new() -> File {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("fdsite-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        File(folder)
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.join("site.sqlite")
    }

    pub(crate) fn url(&self) -> String {
        format!("sqlite://{}", self.path().display())
    }

    pub(crate) fn sql(&self, text: &str) {
        rusqlite::Connection::open(self.path()).unwrap().execute_batch(text).unwrap();
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) const T: TableAlias = TableAlias(0);

pub(crate) fn shown(cell: &SiteCell) -> String {
    match cell {
        SiteCell::Null => "–".to_owned(),
        SiteCell::Integer(number) => number.to_string(),
        SiteCell::Text(text) => text.clone(),
    }
}

pub(crate) fn column(name: &'static str) -> Expr {
    Expr::Column(T, name)
}

pub(crate) fn of(source: u8, name: &'static str) -> Expr {
    Expr::Column(TableAlias(source), name)
}

pub(crate) fn is(expr: Expr, value: i64) -> Predicate {
    Predicate::Compare(expr, Comparison::Equal, Operand::Literal(Literal::Integer(value)))
}

pub(crate) fn same(one: Expr, other: Expr) -> Predicate {
    Predicate::Compare(one, Comparison::Equal, Operand::Expr(other))
}

/// All rows of a table in the order of its id.
pub(crate) fn all(table: &'static str, columns: &[&'static str]) -> Select {
    Select {
        from: (T, table),
        joins: Vec::new(),
        columns: columns.iter().map(|name| column(name)).collect(),
        filter: Vec::new(),
        order: vec![(column("id"), Direction::Ascending)],
        offset: 0,
        limit: 1_000,
        bytes: 1 << 20,
    }
}

/// Joins the value of a variable to each document.
pub(crate) fn value_of(variable: i64, source: u8) -> Join {
    let on = vec![same(of(source, "contentid"), column("id")), is(of(source, "tmplvarid"), variable)];
    Join { table: (TableAlias(source), "site_tmplvar_contentvalues"), on, kind: JoinKind::Left }
}
