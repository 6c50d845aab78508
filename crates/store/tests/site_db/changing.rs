//! A site whose tables or files change while they are open, and one with a view that cannot be read.

use std::time::{Duration, Instant};

use frontdesk_cms_fixture::{CmsSite, ScriptDialect};
use frontdesk_engine::ports::site_db::{SiteCell, SiteDb};
use frontdesk_store::site_db::open;
use frontdesk_testkit::sites::query::{all, column, is};
use frontdesk_testkit::sites::{SiteDatabases, SiteFile, settings};

async fn title(site_db: &dyn SiteDb) -> SiteCell {
    let mut select = all("site_content", &["pagetitle"]);
    select.filter = vec![is(column("id"), 2)];
    site_db.select(&select).await.unwrap().remove(0).remove(0)
}

#[tokio::test]
async fn a_replaced_sqlite_file_is_reopened() {
    let (file, restored) = (SiteFile::new(), SiteFile::new());
    for file in [&file, &restored] {
        file.sql(&CmsSite::small().script(ScriptDialect::Sqlite));
    }
    // A table that only the new file has.
    restored.sql("UPDATE evo_site_content SET pagetitle = 'Restored'; CREATE TABLE evo_later (id integer)");
    let site_db = open(&settings(&file.url())).await.unwrap();
    assert_eq!(title(&*site_db).await, SiteCell::Text("Catalog".to_owned()));
    std::fs::rename(restored.path(), file.path()).unwrap();
    // A connection checks the file every 10 ms.
    let until = Instant::now() + Duration::from_secs(5);
    while title(&*site_db).await == SiteCell::Text("Catalog".to_owned()) && Instant::now() < until {}
    assert_eq!(title(&*site_db).await, SiteCell::Text("Restored".to_owned()));
    assert!(site_db.has_table("later").await.unwrap());
}

#[tokio::test]
async fn dropped_columns_read_as_null_and_changed_ones_are_read() {
    let three = SiteDatabases::small().await;
    let mut select = all("site_content", &["id", "pagetitle", "longtitle"]);
    select.limit = 1;
    assert_eq!(three.rows(&select).await[0].len(), 3);
    let gone = "ALTER TABLE evo_site_content DROP COLUMN longtitle;";
    three.sqlite.sql(gone);
    three.mariadb.sql(&format!("{gone} ALTER TABLE evo_site_content MODIFY pagetitle TEXT;"));
    three.postgres.sql(&format!("{gone} ALTER TABLE evo_site_content ALTER pagetitle TYPE text;"));
    let rows = three.rows(&select).await;
    assert_eq!(rows[0][2], SiteCell::Null);
    assert!(matches!(rows[0][1], SiteCell::Text(_)));
}

#[tokio::test]
async fn a_broken_view_does_not_affect_other_tables() {
    let file = SiteFile::new();
    file.sql(&CmsSite::small().script(ScriptDialect::Sqlite));
    for name in ["evo_broken", "other_broken"] {
        file.sql(&format!("CREATE TABLE t (id integer); CREATE VIEW {name} AS SELECT id FROM t; DROP TABLE t;"));
    }
    let site_db = open(&settings(&file.url())).await.unwrap();
    assert_eq!(title(&*site_db).await, SiteCell::Text("Catalog".to_owned()));
    assert!(!site_db.has_table("broken").await.unwrap());
}
