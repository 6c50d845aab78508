//! What an attacker with the files but without the key can read, and what they can copy elsewhere.

use std::collections::HashSet;
use std::path::PathBuf;

use frontdesk_engine::FaultKind;
use frontdesk_engine::model::page::{Direction, Filter, Order, Projection, Query};
use frontdesk_engine::model::plan::{OnConflict, Step};
use frontdesk_engine::model::table::{Cell, ColumnSpec, ColumnType, Row, TableSpec};
use frontdesk_engine::model::tool::Item;
use frontdesk_engine::ports::registry::{Registry, Tenant};
use frontdesk_engine::ports::{Claim, Commit, Disclosure, Store};
use frontdesk_engine::seal::SealKey;
use frontdesk_engine::{ClientId, TenantId};
use frontdesk_store::back_up;
use frontdesk_store::transfer::{DataLocation, StoredValue, TenantExport};

use crate::test_store::{Folder, TestStore, open};
use frontdesk_testkit::store_suite::boats::{
    BOAT, TAKEN, add, boat, claim, done, fault, insert, personal, plan, query, update, with,
};
use frontdesk_testkit::store_suite::{north, south};

const CANARIES: [&str; 6] = [
    "Persephone",
    "persephone",
    "canary.mail@example.org",
    "+4915112345678",
    "the engine coughs like my uncle",
    "key-canary-5d1f",
];

#[tokio::test]
async fn nothing_personal_is_readable_in_the_files() {
    let test = TestStore::new().await;
    let secret = r#"{"name":"Persephone","email":"canary.mail@example.org","phone":"+4915112345678","comments":"the engine coughs like my uncle"}"#;
    let digests = with(boat("b1", 7), "owner", Cell::Digest("canary.mail@example.org".to_owned()));
    let row = Row {
        personal: Some(secret.to_owned()),
        search_terms: vec![personal("persephone"), personal("+4915112345678")],
        body: r#"{"seen":"in the open"}"#.to_owned(),
        ..digests
    };
    let first = plan("b1", &north(), vec![insert(row.clone())]);
    let answer =
        Item { body: format!(r#"{{"echo":{secret}}}"#), personal: Some(secret.to_owned()), ..first.answer.clone() };
    done(&*test.store, Commit { claim: Some(claim("key-canary-5d1f", 1)), answer, ..first }).await;
    // It can all be read by the one who has the key.
    let found = test.store.get(&north(), &BOAT, "b1", Disclosure::Full).await.unwrap().unwrap();
    assert_eq!(found.personal.as_deref(), Some(secret));
    let kept = test.store.find_claim(&north(), &claim("key-canary-5d1f", 1)).await.unwrap().unwrap();
    assert_eq!(kept.answer.personal.as_deref(), Some(secret));

    search(&test, &["desk.db", "desk.db-shm", "desk.db-wal"]);
    test.raw().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    search(&test, &["desk.db", "desk.db-shm", "desk.db-wal"]);
    let test = test.reopened();
    search(&test, &["desk.db"]);
}

#[tokio::test]
async fn a_sealed_value_opens_only_in_its_own_place() {
    let moves = [
        (
            "another row",
            "UPDATE boat SET sealed = (SELECT sealed FROM boat WHERE tenant = 'north' AND id = 'b2') WHERE tenant = 'north' AND id = 'b1'",
        ),
        (
            "another tenant",
            "UPDATE boat SET sealed = (SELECT sealed FROM boat WHERE tenant = 'south' AND id = 'b1') WHERE tenant = 'north' AND id = 'b1'",
        ),
        (
            "another column",
            "UPDATE boat SET sealed = (SELECT sealed_answer FROM fd_claim WHERE tenant = 'north') WHERE tenant = 'north' AND id = 'b1'",
        ),
        (
            "a missing byte",
            "UPDATE boat SET sealed = substr(sealed, 1, length(sealed) - 1) WHERE tenant = 'north' AND id = 'b1'",
        ),
        ("nothing at all", "UPDATE boat SET sealed = x'' WHERE tenant = 'north' AND id = 'b1'"),
    ];
    for (name, text) in moves {
        let test = settled().await;
        test.raw().execute_batch(text).unwrap();
        let fault = test.store.get(&north(), &BOAT, "b1", Disclosure::Full).await.err().unwrap();
        assert_eq!(fault.kind, FaultKind::Internal, "{name}");
        assert!(!format!("{fault:?}").contains("Ada"), "{name}");
        // The row has been changed, so nobody is shown any of it. The other rows are as before.
        assert!(test.store.get(&north(), &BOAT, "b1", Disclosure::Masked).await.is_err(), "{name}");
        assert!(test.store.get(&north(), &BOAT, "b2", Disclosure::Full).await.unwrap().is_some());
    }
}

/// They are in nothing that leaves the database in clear either.
#[tokio::test]
async fn write_only_values_are_in_no_file_backup_or_export() {
    let test = TestStore::new().await;
    let secret = r#"{"token":"key-canary-5d1f"}"#;
    let open = r#"{"seen":"in the open"}"#.to_owned();
    let row = Row { secret: Some(secret.to_owned()), body: open, ..boat("b1", 7) };
    done(&*test.store, Commit { claim: Some(claim("k", 1)), ..plan("b1", &north(), vec![insert(row.clone())]) }).await;
    let change = update(Row { version: 2, ..row }, 1, OnConflict::Retry);
    done(&*test.store, plan("change", &north(), vec![change])).await;
    let master = SealKey::from_bytes([7; 32]);
    back_up(&test.folder.database(), &test.folder.database().with_file_name("backup.db"), &master).unwrap();
    search(&test, &["desk.db", "desk.db-wal", "backup.db"]);
    let location = DataLocation::Sqlite(test.folder.database());
    let export = TenantExport::open(&location, &SealKey::from_bytes([7; 32]), &[&BOAT], &north()).await.unwrap();
    let (mut sealed, mut texts) = (0, String::new());
    let take = |_, row: Vec<StoredValue>| {
        for value in row {
            match value {
                StoredValue::Text(text) => texts.push_str(&text),
                StoredValue::Bytes(bytes) => {
                    assert!(!holds(&bytes, "key-canary-5d1f"));
                    sealed += 1;
                }
                StoredValue::Null | StoredValue::Integer(_) => {}
            }
        }
        Ok(())
    };
    export.rows(take).await.unwrap();
    assert!(texts.contains("in the open") && !texts.contains("canary"), "{texts}");
    assert!(sealed >= 2, "the row has two sealed parts");
    let found = test.store.get(&north(), &BOAT, "b1", Disclosure::ToChange).await.unwrap().unwrap();
    assert_eq!((found.version, found.secret.as_deref()), (2, Some(secret)));
}

#[tokio::test]
async fn a_write_only_value_opens_only_in_its_own_place() {
    let moves = [
        (
            "another row",
            "UPDATE boat SET sealed_secret = (SELECT sealed_secret FROM boat WHERE tenant = 'north' AND id = 'b2')",
        ),
        (
            "another tenant",
            "UPDATE boat SET sealed_secret = (SELECT sealed_secret FROM boat WHERE tenant = 'south' AND id = 'b1')",
        ),
        ("the personal part", "UPDATE boat SET sealed = sealed_secret"),
        ("from the personal part", "UPDATE boat SET sealed_secret = sealed"),
    ];
    for (name, text) in moves {
        let test = TestStore::new().await;
        for tenant in [north(), south()] {
            let secret = |id, length| Row { secret: Some(r#"{"pin":"0451"}"#.to_owned()), ..boat(id, length) };
            add(&*test.store, &tenant, [secret("b1", 7), secret("b2", 8)]).await;
        }
        test.raw().execute_batch(&format!("{text} WHERE tenant = 'north' AND id = 'b1'")).unwrap();
        let fault = test.store.get(&north(), &BOAT, "b1", Disclosure::ToChange).await.err().unwrap();
        assert_eq!(fault.kind, FaultKind::Internal, "{name}");
        assert!(test.store.get(&north(), &BOAT, "b2", Disclosure::ToChange).await.unwrap().is_some(), "{name}");
    }
}

#[tokio::test]
async fn a_stored_answer_opens_only_under_its_own_key() {
    let other = Claim { client: ClientId::new("other"), ..claim("k", 1) };
    let moves = [
        ("client", north(), other),
        ("tool", north(), Claim { tool: "boats.update", ..claim("k", 1) }),
        ("key", north(), claim("k2", 1)),
        ("tenant", south(), claim("k", 1)),
    ];
    for (name, tenant, claim) in moves {
        let test = settled().await;
        let row = with(boat("b9", 9), "hull", Cell::Null);
        let own = plan("b9", &tenant, vec![insert(row)]);
        done(&*test.store, Commit { claim: Some(claim.clone()), ..own }).await;
        assert_eq!(test.store.find_claim(&tenant, &claim).await.unwrap().unwrap().answer.id, "b9");
        let text = "UPDATE fd_claim SET sealed_answer = (SELECT sealed_answer FROM fd_claim ORDER BY rowid LIMIT 1)";
        test.raw().execute_batch(text).unwrap();
        let fault = test.store.find_claim(&tenant, &claim).await.unwrap_err();
        assert_eq!(fault.kind, FaultKind::Internal, "moved to another {name}");
    }
}

#[tokio::test]
async fn one_value_of_two_tenants_does_not_look_alike() {
    let test = settled().await;
    let look = |column: &str| -> i64 {
        let text = format!("SELECT COUNT(DISTINCT {column}) FROM boat WHERE id = 'b1'");
        test.raw().query_row(&text, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(look("hull"), 1);
    assert_eq!(look("owner"), 2);
    assert_eq!(look("sealed"), 2);
}

/// Equal hashes would reveal that the owner of a boat is also the one who sails another.
#[tokio::test]
async fn one_value_in_two_places_does_not_look_alike() {
    static CREW: TableSpec = TableSpec {
        name: "crew",
        columns: &[
            ColumnSpec { name: "owner", column_type: ColumnType::Digest },
            ColumnSpec { name: "skipper", column_type: ColumnType::Digest },
        ],
        unique: &[],
        sorted: &[],
        filtered: &[],
        searched: &[],
        index: None,
        check: None,
    };
    let folder = Folder::new();
    let store = open(&folder.database(), &[&BOAT, &CREW], [7; 32]).unwrap();
    let tenant = Tenant::new(north(), "North Harbour");
    store.add_tenant(tenant, r#"{"add":"tenant"}"#.to_owned()).await.unwrap();
    let ada = || Cell::Digest("ada".to_owned());
    let owned = with(Row { search_terms: vec![personal("ada")], ..boat("b1", 7) }, "owner", ada());
    let sailed = Row { cells: vec![("owner", ada()), ("skipper", ada())], ..owned.clone() };
    let crew = Step::Insert { table: &CREW, row: sailed, on_duplicate: fault(TAKEN) };
    let first = plan("b1", &north(), vec![insert(owned), crew]);
    done(&store, Commit { claim: Some(claim("ada", 1)), ..first }).await;
    for other in
        [Claim { client: ClientId::new("other"), ..claim("ada", 1) }, Claim { tool: "boats.update", ..claim("ada", 1) }]
    {
        done(&store, Commit { claim: Some(other), ..plan("again", &north(), Vec::new()) }).await;
    }

    let text = "SELECT owner FROM boat UNION ALL SELECT word FROM boat_word UNION ALL SELECT owner FROM crew \
                UNION ALL SELECT skipper FROM crew UNION ALL SELECT word FROM crew_word UNION ALL SELECT key_hash FROM fd_claim";
    let raw = rusqlite::Connection::open(folder.database()).unwrap();
    let mut statement = raw.prepare(text).unwrap();
    let hashes: Vec<String> = statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(hashes.len(), 8);
    let different: HashSet<_> = hashes.iter().collect();
    assert_eq!(different.len(), 8, "{hashes:?}");

    // Each is found all the same.
    for filter in [
        Filter::Equals("owner", ada()),
        Filter::Equals("skipper", ada()),
        Filter::AnyOf("skipper", vec![ada()]),
        Filter::SearchTerms(vec![personal("ada")]),
    ] {
        let order = Order { column: "created_at", direction: Direction::Ascending };
        let wanted = Query { table: &CREW, projection: Projection::Ids, order, ..query(vec![filter.clone()]) };
        assert_eq!(store.page(&north(), wanted).await.unwrap().rows, ["b1"], "{filter:?}");
    }
    assert_eq!(store.find(&north(), &CREW, "skipper", ada()).await.unwrap().unwrap().id, "b1");
    assert!(store.find_claim(&north(), &claim("ada", 1)).await.unwrap().is_some());
}

/// Two boats in the north and one in the south, and a claimed key.
async fn settled() -> TestStore {
    let test = TestStore::new().await;
    let first = plan("b1", &north(), vec![insert(boat("b1", 7)), insert(boat("b2", 8))]);
    done(&*test.store, Commit { claim: Some(claim("k", 1)), ..first }).await;
    let tenant: TenantId = south();
    add(&*test.store, &tenant, [boat("b1", 7)]).await;
    test
}

fn search(test: &TestStore, expected: &[&str]) {
    let path = test.folder.database();
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let names: Vec<_> = files.iter().map(|file| file.file_name().unwrap().to_str().unwrap()).collect();
    for name in expected {
        assert!(names.contains(name), "{name} is missing from {names:?}");
    }
    let mut open = 0;
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        for canary in CANARIES {
            assert!(!holds(&bytes, canary), "{canary} is readable in {}", file.display());
        }
        open += usize::from(holds(&bytes, "in the open"));
    }
    // The search itself works: what is not personal is found.
    assert!(open > 0);
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
