//! A site whose tables or files change while the desk has them open, and one with tables that cannot be read.

use std::time::{Duration, Instant};

use frontdesk_engine::ports::site_db::{SiteCell, SiteDb};
use frontdesk_site::{Database, Site};
use frontdesk_store::archive::open;

use crate::three::{File, Three, all, column, is, settings};

async fn title(archive: &dyn SiteDb) -> SiteCell {
    let mut select = all("site_content", &["pagetitle"]);
    select.filter = vec![is(column("id"), 2)];
    archive.select(&select).await.unwrap().remove(0).remove(0)
}

#[tokio::test]
async fn a_sqlite_file_that_was_replaced_is_read_anew() {
    let (file, restored) = (File::new(), File::new());
    for file in [&file, &restored] {
        file.sql(&Site::small().script(Database::Sqlite));
    }
    // Something that only the new one has.
    restored.sql("UPDATE evo_site_content SET pagetitle = 'Restored'; CREATE TABLE evo_later (id integer)");
    let archive = open(&settings(&file.url())).await.unwrap();
    assert_eq!(title(&*archive).await, SiteCell::Text("Catalog".to_owned()));
    std::fs::rename(restored.path(), file.path()).unwrap();
    // It looks at the file a hundred times a second.
    let until = Instant::now() + Duration::from_secs(5);
    while title(&*archive).await == SiteCell::Text("Catalog".to_owned()) && Instant::now() < until {}
    assert_eq!(title(&*archive).await, SiteCell::Text("Restored".to_owned()));
    assert!(archive.has_table("later").await.unwrap());
}

#[tokio::test]
async fn a_column_that_goes_away_reads_as_missing_and_one_that_changes_reads_on() {
    let three = Three::with_the_site().await;
    let mut select = all("site_content", &["id", "pagetitle", "longtitle"]);
    select.limit = 1;
    assert_eq!(three.rows(&select).await[0].len(), 3);
    let gone = "ALTER TABLE evo_site_content DROP COLUMN longtitle;";
    three.sqlite.sql(gone);
    three.mariadb.sql(&format!("{gone} ALTER TABLE evo_site_content MODIFY pagetitle TEXT;"));
    three.postgres.sql("desk", &format!("{gone} ALTER TABLE evo_site_content ALTER pagetitle TYPE text;"));
    let rows = three.rows(&select).await;
    assert_eq!(rows[0][2], SiteCell::Null);
    assert!(matches!(rows[0][1], SiteCell::Text(_)));
}

#[tokio::test]
async fn a_view_that_cannot_be_read_keeps_no_table_away() {
    let file = File::new();
    file.sql(&Site::small().script(Database::Sqlite));
    for name in ["evo_broken", "other_broken"] {
        file.sql(&format!("CREATE TABLE t (id integer); CREATE VIEW {name} AS SELECT id FROM t; DROP TABLE t;"));
    }
    let archive = open(&settings(&file.url())).await.unwrap();
    assert_eq!(title(&*archive).await, SiteCell::Text("Catalog".to_owned()));
    assert!(!archive.has_table("broken").await.unwrap());
}
