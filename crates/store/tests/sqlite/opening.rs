//! Opening a file: what is refused with which message, how tables are migrated, and that the data is unchanged.

use std::os::unix::fs::PermissionsExt as _;

use frontdesk_engine::dispatch::TASK;
use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::plan::{Change, Step};
use frontdesk_engine::model::table::{Cell, ColumnSpec, ColumnType, Row, RowIndex, TableSpec};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Item;
use frontdesk_engine::ports::registry::{Client, Registry, Token};
use frontdesk_engine::ports::{Commit, Disclosure, Durability, Store};
use frontdesk_engine::{ClientId, Scopes};
use frontdesk_store::{Backend as _, SqliteStore, StoreError};
use rusqlite::Connection;

use crate::test_store::{Folder, TestStore, open};
use frontdesk_testkit::store_suite::boats::{
    BOAT, TAKEN, boat, claim, done, ended, event, fault, ids, insert, personal, plan,
};
use frontdesk_testkit::store_suite::{north, south};

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let test = TestStore::new().await;
    test.raw().pragma_update(None, "user_version", 99).unwrap();
    let error = refused(open(&test.folder.database(), &[&BOAT], [7; 32]));
    assert!(matches!(error, StoreError::NewerSchema { found: 99, .. }));
    assert_eq!(
        error.to_string(),
        "the data folder is from a newer version of Frontdesk (schema 99, this one knows 9). \
         Start the newer version, or name another folder with --data."
    );
    let version: i64 = test.raw().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, 99, "a refused file is left as it was");
}

#[tokio::test]
async fn a_column_that_is_not_declared_is_refused() {
    let test = TestStore::new().await;
    test.raw().execute_batch("ALTER TABLE boat ADD COLUMN keel TEXT").unwrap();
    let error = refused(open(&test.folder.database(), &[&BOAT], [7; 32]));
    assert_eq!(
        error.to_string(),
        "the data folder is from a newer version of Frontdesk (table boat has a column keel). \
         Start the newer version, or name another folder with --data."
    );
}

#[tokio::test]
async fn another_master_key_is_refused() {
    let test = TestStore::new().await;
    let error = refused(open(&test.folder.database(), &[&BOAT], [8; 32]));
    assert!(matches!(error, StoreError::WrongKey));
    assert_eq!(
        error.to_string(),
        "the master key does not open this database. Put back the master.key file that was made with it."
    );
}

#[tokio::test]
async fn invalid_files_and_missing_folders_are_refused() {
    let test = TestStore::new().await;
    let path = test.folder.database().with_file_name("letter.txt");
    std::fs::write(&path, "Dear reader, ".repeat(200)).unwrap();
    assert!(refused(open(&path, &[&BOAT], [7; 32])).to_string().contains("not a database"));
    let nowhere = test.folder.database().with_file_name("nowhere").join("desk.db");
    let complaint = refused(open(&nowhere, &[&BOAT], [7; 32])).to_string();
    assert!(complaint.ends_with("Check the free space, and that the folder exists and may be written."), "{complaint}");
}

/// With everything in it, and with a column that the later release has gained.
#[tokio::test]
async fn a_data_folder_of_an_earlier_release_opens() {
    let folder = Folder::new();
    Connection::open(folder.database()).unwrap().execute_batch(include_str!("schema_1.sql")).unwrap();
    let store = open(&folder.database(), &[&WITH_OWNER_NAME, &TASK], [7; 32]).unwrap();
    let text = |id| format!(r#"{{"id":"{id}"}}"#);
    for (tenant, expected) in [(north(), vec!["b1", "b2"]), (south(), vec!["b1"])] {
        for filter in [
            Vec::new(),
            vec![Filter::SearchTerms(vec![personal("lovelace")])],
            vec![Filter::Equals("owner", Cell::Digest("ada@example.com".to_owned()))],
            vec![Filter::Equals("owner_name", Cell::Digest("Ada Lovelace".to_owned()))],
        ] {
            assert_eq!(ids(&store, &tenant, filter.clone()).await, expected, "{filter:?}");
        }
    }
    let found = store.get(&north(), &WITH_OWNER_NAME, "b1", Disclosure::ToChange).await.unwrap().unwrap();
    assert_eq!((found.version, found.body.as_str()), (1, r#"{"id":"b1","length":7}"#));
    assert_eq!((found.personal.as_deref(), found.secret), (Some(r#"{"owner":"Ada Lovelace"}"#), None));
    let stored = store.find_claim(&north(), &claim("k", 1)).await.unwrap().unwrap();
    let answer = Item { id: "b1".to_owned(), version: 0, body: text("b1"), masked: None, personal: None };
    assert_eq!((stored.request_hash, stored.answer), ([1; 32], answer));
    assert_eq!(store.clients().await.unwrap().len(), 1);
    // It goes on where it ended, with what is new.
    let row = Row { secret: Some(r#"{"pin":"0451"}"#.to_owned()), ..boat("b3", 9) };
    let insert = Step::Insert { table: &WITH_OWNER_NAME, row, on_duplicate: fault(TAKEN) };
    let commit = plan("b3", &north(), vec![insert]);
    done(&store, Commit { events: vec![event("e2", "b3", Change::Created)], ..commit }).await;
    let found = store.get(&north(), &WITH_OWNER_NAME, "b3", Disclosure::ToChange).await.unwrap().unwrap();
    assert_eq!(found.secret.as_deref(), Some(r#"{"pin":"0451"}"#));
    let report = store.verify_audit().unwrap();
    assert!(report.is_intact(), "{report:?}");
    assert_eq!((report.rows.compared, report.rows.without_record), (1, 3));
    let raw = Connection::open(folder.database()).unwrap();
    let count = |text: &str| -> i64 { raw.query_row(text, [], |row| row.get(0)).unwrap() };
    assert_eq!(count("SELECT max(seq) FROM fd_outbox WHERE tenant = 'north'"), 2);
    assert_eq!(count("SELECT count(*) FROM fd_index WHERE target IS NULL AND table_name <> 'fd_counter'"), 2);
    assert_eq!(store.usage(&north()).await.unwrap().unwrap().tenant.rows, 3, "two were counted, one has come");
    assert_eq!(count("SELECT count(*) FROM pragma_table_info('dispatch_task') WHERE name = 'sealed_secret'"), 1);
}

/// The boats of a later release, which are also found by the name of their owner.
static WITH_OWNER_NAME: TableSpec = TableSpec {
    name: "boat",
    columns: &[
        ColumnSpec { name: "hull", column_type: ColumnType::Text },
        ColumnSpec { name: "length", column_type: ColumnType::Integer },
        ColumnSpec { name: "berths", column_type: ColumnType::Integer },
        ColumnSpec { name: "harbour", column_type: ColumnType::Text },
        ColumnSpec { name: "owner", column_type: ColumnType::Digest },
        ColumnSpec { name: "owner_name", column_type: ColumnType::Digest },
    ],
    unique: &["hull"],
    sorted: &["length"],
    filtered: &["harbour", "owner_name"],
    searched: &[],
    index: Some(|row| {
        let personal = row.personal.as_deref().unwrap_or_default();
        let name = personal.trim_start_matches(r#"{"owner":""#).trim_end_matches(r#""}"#);
        let cells = vec![("owner_name", Cell::Digest(name.to_owned()))];
        Ok(RowIndex { cells, search_terms: Vec::new() })
    }),
    check: None,
};

#[tokio::test]
async fn the_database_and_the_files_beside_it_are_for_its_owner_alone() {
    let test = TestStore::new().await;
    test.store.writable().await.unwrap();
    for end in ["", "-wal", "-shm"] {
        let mut file = test.folder.database().into_os_string();
        file.push(end);
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(format!("{:o}", mode & 0o777), "600", "{end}");
    }
}

#[tokio::test]
async fn everything_is_still_there_after_reopening() {
    let test = TestStore::new().await;
    let first = plan("b1", &north(), vec![insert(boat("b1", 7))]);
    let events = vec![event("e1", "b1", Change::Created)];
    done(&*test.store, Commit { claim: Some(claim("k", 1)), events, ..first }).await;
    let client = Client {
        id: ClientId::new("agent"),
        name: "An agent".to_owned(),
        secret: [1; 32],
        tenants: vec![north()],
        groups: Vec::new(),
        scopes: Scopes::parse("boats:read").unwrap(),
        created_at: Millis(40),
        revoked_at: None,
    };
    let token = Token {
        hash: [2; 32],
        client: client.id.clone(),
        tenants: vec![north()],
        scopes: client.scopes.clone(),
        resource: "https://desk.example/mcp/boats".to_owned(),
        expires_at: Millis(9_000),
        authenticated_at: None,
    };
    test.store.add_client(client.clone(), r#"{"add":"agent"}"#.to_owned()).await.unwrap();
    test.store.add_token(token.clone(), Vec::new(), Millis(0), r#"{"give":"token"}"#.to_owned()).await.unwrap();
    test.store.append_audit(r#"{"read":1}"#.to_owned(), Durability::Grouped).await.unwrap();

    let test = test.reopened();
    let found = test.store.get(&north(), &BOAT, "b1", Disclosure::Full).await.unwrap().unwrap();
    assert_eq!(found.personal.as_deref(), Some(r#"{"owner":"Ada Lovelace"}"#));
    assert_eq!(ids(&*test.store, &north(), vec![Filter::SearchTerms(vec![personal("lovelace")])]).await, ["b1"]);
    assert_eq!(test.store.clients().await.unwrap(), [client]);
    assert_eq!(test.store.token([2; 32]).await.unwrap(), Some(token));
    let tenants: Vec<String> = test.store.tenants().await.unwrap().into_iter().map(|tenant| tenant.name).collect();
    assert_eq!(tenants, ["North Harbour", "South Harbour"]);
    let again = plan("b2", &north(), vec![insert(boat("b2", 7))]);
    let again = test.store.commit(Commit { claim: Some(claim("k", 1)), ..again }).await;
    assert_eq!(ended(&again), "claimed");
    // The sequence and the chain go on where they ended.
    let more = plan("b3", &north(), vec![insert(boat("b3", 7))]);
    done(&*test.store, Commit { events: vec![event("e2", "b3", Change::Created)], ..more }).await;
    assert_eq!(test.outbox("north"), ["1 e1 boat b1 created", "2 e2 boat b3 created"]);
    assert!(test.store.verify_audit().unwrap().is_intact());
}

#[tokio::test]
async fn expired_claims_are_deleted() {
    let test = TestStore::new().await;
    for (name, at) in [("old", 1_000), ("young", 2_000)] {
        let commit = plan(name, &north(), vec![insert(boat(name, 7))]);
        done(&*test.store, Commit { claim: Some(claim(name, 1)), at: Millis(at), ..commit }).await;
    }
    test.store.delete_expired_claims(Millis(2_000)).await.unwrap();
    assert_eq!(test.store.find_claim(&north(), &claim("old", 1)).await.unwrap(), None);
    assert!(test.store.find_claim(&north(), &claim("young", 1)).await.unwrap().is_some());
}

#[tokio::test]
async fn retention_without_expired_rows_does_not_write() {
    let test = TestStore::new().await;
    done(&*test.store, plan("b1", &north(), vec![insert(boat("b1", 7))])).await;
    let _lock = test.locked();
    test.store.delete_expired_rows(&BOAT, "length", Millis(7)).await.unwrap();
    assert!(test.store.delete_expired_rows(&BOAT, "length", Millis(8)).await.is_err(), "there it has to write");
}

/// In chunks, so that writes do not wait long: chunks before a failure stay deleted.
#[tokio::test]
async fn many_claims_are_deleted_a_thousand_at_a_time() {
    let test = TestStore::new().await;
    let fill = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2700) \
                INSERT INTO fd_claim (tenant, client, tool, key_hash, meaning, sealed_answer, at) \
                SELECT 'north', 'agent', 'boats.create', 'k' || i, x'', x'', i FROM n; \
                CREATE TRIGGER trap BEFORE DELETE ON fd_claim WHEN OLD.at = 2300 \
                BEGIN SELECT RAISE(ABORT, 'trapped'); END";
    test.raw().execute_batch(fill).unwrap();
    let left = || -> Vec<i64> {
        let raw = test.raw();
        let mut statement = raw.prepare("SELECT at FROM fd_claim ORDER BY at").unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    };
    let fault = test.store.delete_expired_claims(Millis(2_601)).await.unwrap_err();
    assert!(fault.cause.unwrap().contains("trapped"));
    assert_eq!(left(), (2_001..=2_700).collect::<Vec<_>>());
    test.raw().execute_batch("DROP TRIGGER trap").unwrap();
    test.store.delete_expired_claims(Millis(2_601)).await.unwrap();
    assert_eq!(left(), (2_601..=2_700).collect::<Vec<_>>());
}

fn refused(opened: Result<SqliteStore, StoreError>) -> StoreError {
    match opened {
        Ok(_) => panic!("it was opened"),
        Err(error) => error,
    }
}

/// The indexes of filters leave out rows without a value; the database must still see that they will do.
#[tokio::test]
async fn a_filter_is_answered_from_its_index() {
    let test = TestStore::new().await;
    let plan = |filter: &str| -> String {
        let text = format!(
            "EXPLAIN QUERY PLAN SELECT id, created_at, body, masked FROM boat WHERE tenant = ?1 AND {filter} \
             ORDER BY created_at DESC, id DESC LIMIT 26"
        );
        test.raw().prepare(&text).unwrap().query_row(["north", "kiel"], |row| row.get("detail")).unwrap()
    };
    assert_eq!(plan("harbour = ?2"), "SEARCH boat USING INDEX boat_with_harbour (tenant=? AND harbour=?)");
}
