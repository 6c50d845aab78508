//! The import of a tenant from a forged file: values that Frontdesk does not write are refused.

use std::sync::Arc;

use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::plan::Change;
use frontdesk_engine::model::tenant::{GroupId, ProfileText, TenantProfile};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::{Client, Registry as _};
use frontdesk_engine::ports::{Commit, Store as _};
use frontdesk_engine::seal::SealKey;
use frontdesk_engine::{ClientId, Scopes};
use frontdesk_store::transfer::{DataLocation, ImportTarget, Manifest, StoredValue, TenantExport, TenantImport};
use frontdesk_store::{Backend as _, StoreError};

use crate::test_store::{Folder, TestStore, open};
use frontdesk_testkit::TestRandom;
use frontdesk_testkit::store_suite::boats::{BOAT, boat, claim, event, ids, insert, plain, plan};
use frontdesk_testkit::store_suite::north;

type Rows = Vec<(usize, Vec<StoredValue>)>;

#[tokio::test]
async fn a_row_that_frontdesk_would_not_write_is_refused() {
    let (manifest, rows) = departed().await;
    arrived(&manifest, rows.clone()).await.unwrap();
    let text = |text: &str| StoredValue::Text(text.to_owned());
    for (table, column, value) in [
        ("fd_client", "client", text("cli_\u{1b}[2J")),
        ("fd_client", "client", text("anybody")),
        ("fd_client", "name", text("An agent\u{1b}]0;gone\u{7}")),
        ("fd_client", "name", text("")),
        ("fd_client", "name", StoredValue::Null),
        ("fd_client", "scopes", text("boats:read  boats:write")),
        ("fd_client", "scopes", text("boats:\u{9b}2J")),
        ("fd_client", "secret_hash", StoredValue::Bytes(vec![1; 31])),
        ("boat", "id", StoredValue::Null),
        ("boat", "version", StoredValue::Integer(-1)),
        ("boat", "body", text("[]")),
        ("boat", "body", text("{")),
        ("boat", "masked", text("1")),
        ("fd_claim", "tool", text("a\0b")),
        ("fd_outbox", "seq", StoredValue::Integer(1 << 53)),
        ("fd_outbox", "event", text("a\0b")),
        ("fd_counter", "event_seq", StoredValue::Integer(-1)),
        ("fd_audit", "records", text("{}\u{1b}[2J")),
        ("fd_audit", "at", text("now")),
    ] {
        let refused = arrived(&manifest, with(&manifest, &rows, table, column, value.clone())).await;
        assert_eq!(
            refused.err().map(|error| error.to_string()),
            Some(format!(
                "not committed: a row of table {table} has values that Frontdesk does not write. Export the tenant again"
            )),
            "{table} {column} {value:?}"
        );
    }
}

/// A group is not: who may act for it is for the new server to say.
#[tokio::test]
async fn the_profile_is_transferred_and_the_group_is_not() {
    let (mut manifest, rows) = departed().await;
    manifest.tenant.profile.city = Some(ProfileText::parse("Kiel").unwrap());
    manifest.tenant.group = GroupId::parse("harbours");
    let manifest = Manifest::from_json(&manifest.to_json()).unwrap();
    assert_eq!(manifest.tenant.group, GroupId::parse("harbours"));
    let folder = Folder::new();
    arrived_in(&folder, &manifest, rows).await.unwrap();
    let tenant = open(&folder.database(), &[&BOAT], [8; 32]).unwrap().tenant(&north()).await.unwrap().unwrap();
    assert_eq!((tenant.profile, tenant.group), (manifest.tenant.profile, None));
}

#[tokio::test]
async fn a_manifest_of_an_earlier_release_has_no_profile() {
    let (manifest, rows) = departed().await;
    let mut json = manifest.to_json();
    for name in ["profile", "group"] {
        json.as_object_mut().unwrap().remove(name).unwrap();
    }
    let earlier = Manifest::from_json(&json).unwrap();
    assert_eq!((&earlier.tenant.profile, &earlier.tenant.group), (&TenantProfile::default(), &None));
    arrived(&earlier, rows).await.unwrap();
    json["profile"] = serde_json::json!({"country": "Atlantis"});
    assert!(Manifest::from_json(&json).is_none(), "only what could have been typed is accepted");
}

/// Or the next event would get a number that is taken.
#[tokio::test]
async fn events_are_counted_on_from_the_last_that_came() {
    let (manifest, rows) = departed().await;
    let behind = with(&manifest, &rows, "fd_counter", "event_seq", StoredValue::Integer(0));
    assert_eq!(arrived(&manifest, behind).await.unwrap_err().to_string(), STRANGE);
}

#[tokio::test]
async fn an_invalid_manifest_is_refused() {
    let (manifest, rows) = departed().await;
    let mut named = manifest.clone();
    named.tenant.name = "North\u{1b}[2J".to_owned();
    let mut left = manifest.clone();
    left.shared_clients = vec![("cli_other".to_owned(), "Other\u{1b}[2J".to_owned())];
    let mut endless = manifest.clone();
    (endless.chain.seq, endless.chain.kept_after_seq) = (i64::MAX, i64::MAX);
    let mut backwards = manifest;
    backwards.chain.kept_after_seq = -1;
    for manifest in [named, left, endless, backwards] {
        assert_eq!(arrived(&manifest, rows.clone()).await.unwrap_err().to_string(), STRANGE);
    }
}

/// The lists of search terms are not transferred but rebuilt.
#[tokio::test]
async fn expired_imported_rows_lose_their_search_terms() {
    let (manifest, rows) = departed().await;
    let folder = Folder::new();
    arrived_in(&folder, &manifest, rows).await.unwrap();
    let store = open(&folder.database(), &[&BOAT], [8; 32]).unwrap();
    let sails = || vec![Filter::SearchTerms(vec![plain("sail")])];
    assert_eq!(ids(&store, &north(), sails()).await, ["b1"]);
    store.delete_expired_rows(&BOAT, "length", Millis(8)).await.unwrap();
    let raw = rusqlite::Connection::open(folder.database()).unwrap();
    let left: i64 = raw.query_row("SELECT count(*) FROM boat_word", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
}

const STRANGE: &str = "not committed: the rows do not match the manifest";

/// A boat, its event and claim, and a client.
async fn departed() -> (Manifest, Rows) {
    let test = TestStore::new().await;
    let commit = Commit {
        events: vec![event("e1", "b1", Change::Created)],
        claim: Some(claim("k", 1)),
        ..plan("b1", &north(), vec![insert(boat("b1", 7))])
    };
    test.store.commit(commit).await.unwrap();
    let client = Client {
        id: ClientId::new("cli_agent"),
        name: "An agent".to_owned(),
        secret: [1; 32],
        tenants: vec![north()],
        groups: Vec::new(),
        scopes: Scopes::parse("boats:read").unwrap(),
        created_at: Millis(40),
        revoked_at: None,
    };
    test.store.add_client(client, "{}".to_owned()).await.unwrap();
    let home = DataLocation::Sqlite(test.folder.database());
    let departure = TenantExport::open(&home, &SealKey::from_bytes([7; 32]), &[&BOAT], &north()).await.unwrap();
    let mut rows = Vec::new();
    let take = |table, row| {
        rows.push((table, row));
        Ok(())
    };
    departure.rows(take).await.unwrap();
    (departure.manifest().clone(), rows)
}

async fn arrived(manifest: &Manifest, rows: Rows) -> Result<(), StoreError> {
    arrived_in(&Folder::new(), manifest, rows).await
}

async fn arrived_in(folder: &Folder, manifest: &Manifest, rows: Rows) -> Result<(), StoreError> {
    drop(open(&folder.database(), &[&BOAT], [8; 32]).unwrap());
    let receiving = ImportTarget {
        location: DataLocation::Sqlite(folder.database()),
        master: SealKey::from_bytes([8; 32]),
        random: Arc::new(TestRandom::distinct()),
        tables: vec![&BOAT],
    };
    let mut arrival = TenantImport::open(&receiving, manifest).await?;
    for (table, row) in rows {
        arrival.put(table, row).await?;
    }
    arrival.finish(Millis(6_000), "{}").await
}

/// The rows, with another value in this column of the table's first one.
fn with(manifest: &Manifest, rows: &Rows, table: &str, column: &str, value: StoredValue) -> Rows {
    let number = manifest.tables.iter().position(|announced| announced.table == table).unwrap();
    let columns: Vec<&str> = manifest.tables[number].columns.split(", ").collect();
    let place = columns.iter().position(|one| one.split(' ').next() == Some(column)).unwrap();
    let mut rows = rows.clone();
    rows.iter_mut().find(|(of, _)| *of == number).unwrap().1[place] = value;
    rows
}
