//! Erasing a tenant on SQLite: what is left of it, and what an interruption leaves.

use frontdesk_engine::TenantId;
use frontdesk_engine::model::plan::Change;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::{ErasureProgress, ErasureRecords, ErasureReport, Registry as _, Tenant};
use frontdesk_engine::ports::{Commit, Durability, Store as _};
use rusqlite::Connection;

use crate::test_store::TestStore;
use frontdesk_testkit::store_suite::boats::{add, boat, claim, done, event, insert, plan};
use frontdesk_testkit::store_suite::{north, south};

/// Where its id still stands: in the records of administration, in the list of chains, which says that its chain has
/// ended, and in the list of erasures.
const MAY_NAME_IT: [&str; 3] = ["fd_audit", "fd_audit_roster", "fd_erasure"];

/// A name that nothing else contains.
fn canary() -> TenantId {
    TenantId::parse("canary_tenant").unwrap()
}

/// Every table has rows of it.
async fn with_canary() -> TestStore {
    let test = TestStore::new().await;
    test.store.add_tenant(Tenant::new(canary(), "Canary"), "{}".to_owned()).await.unwrap();
    for part in 0..4 {
        add(&*test.store, &canary(), (0..200).map(|number| boat(&format!("b{part}-{number}"), number))).await;
    }
    let commit = plan("b", &canary(), vec![insert(boat("last", 1))]);
    done(
        &*test.store,
        Commit { claim: Some(claim("k", 1)), events: vec![event("e1", "last", Change::Created)], ..commit },
    )
    .await;
    add(&*test.store, &south(), [boat("b1", 1)]).await;
    test
}

/// The tables with a row that contains this text in any column.
fn tables_naming(raw: &Connection, text: &str) -> Vec<String> {
    let list = |query: &str| -> Vec<String> {
        let mut statement = raw.prepare(query).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    };
    let mut tables = list("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
    tables.retain(|table| {
        let columns = list(&format!("SELECT name FROM pragma_table_info('{table}')"));
        let any: Vec<String> = columns.iter().map(|name| format!("instr({name}, '{text}') > 0")).collect();
        let query = format!("SELECT count(*) FROM {table} WHERE {}", any.join(" OR "));
        raw.query_row(&query, [], |row| row.get::<_, i64>(0)).unwrap() > 0
    });
    tables
}

#[tokio::test]
async fn no_table_names_an_erased_tenant() {
    let test = with_canary().await;
    let before = tables_naming(&test.raw(), "canary_tenant");
    let expected = [
        "boat",
        "boat_word",
        "fd_audit",
        "fd_audit_head",
        "fd_audit_roster",
        "fd_claim",
        "fd_counter",
        "fd_outbox",
        "fd_tenant",
    ];
    assert_eq!(before, expected, "the test has a row in each of them");
    let report = erased(&test).await;
    assert_eq!(tables_naming(&test.raw(), "canary_tenant"), MAY_NAME_IT);
    let links = "SELECT count(*) FROM fd_audit WHERE chain = 'tenant:canary_tenant'";
    assert_eq!(test.raw().query_row(links, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    let counted: Vec<(&str, u64)> = report.rows.iter().map(|(table, rows)| (table.as_str(), *rows)).collect();
    assert_eq!(counted, [("boat", 801), ("boat_word", 1602), ("fd_claim", 1), ("fd_counter", 1), ("fd_outbox", 1)]);
    assert_eq!((report.chain.seq, report.chain.links, report.chain.intact), (5, 5, true));
    assert!(test.store.verify_audit().unwrap().is_intact());
    assert_eq!(test.audit("south").len(), 1);
}

/// As after a kill: the store is closed in between, and the next run counts on.
#[tokio::test]
async fn an_interrupted_erasure_is_completed_and_counts_on() {
    let mut test = with_canary().await;
    let begun = test.store.erase_tenant(&canary(), Millis(50), records()).await.unwrap();
    assert!(matches!(begun, ErasureProgress::More(_)), "{begun:?}");
    // Some rows of each table, and the oldest links.
    let part = "DELETE FROM boat WHERE tenant = 'canary_tenant' AND id LIKE 'b0-%'; \
                UPDATE fd_erasure SET report = json_set(report, '$.rows.boat', 200)";
    test.raw().execute_batch(part).unwrap();
    test = test.reopened();
    assert!(test.store.verify_audit().unwrap().is_intact());
    let late = test.store.commit(plan("late", &canary(), vec![insert(boat("late", 1))])).await;
    assert!(late.is_err(), "{late:?}");
    let report = erased(&test).await;
    assert_eq!(report.rows.get("boat"), Some(&801));
    assert_eq!(tables_naming(&test.raw(), "canary_tenant"), MAY_NAME_IT);
    assert!(test.store.verify_audit().unwrap().is_intact());
    let ended = "SELECT count(*) FROM fd_erasure WHERE ended_at IS NOT NULL";
    assert_eq!(test.raw().query_row(ended, [], |row| row.get::<_, i64>(0)).unwrap(), 1);
}

/// A chain that was tampered with is erased as well, and the record says that it was.
#[tokio::test]
async fn a_broken_chain_is_erased_and_reported() {
    let test = with_canary().await;
    let forged = "UPDATE fd_audit SET records = '{}' WHERE chain = 'tenant:canary_tenant' AND seq = 2";
    test.raw().execute_batch(forged).unwrap();
    let report = erased(&test).await;
    assert_eq!((report.chain.links, report.chain.intact), (5, false));
    assert!(test.store.verify_audit().unwrap().is_intact());
    let ends = "SELECT count(*) FROM fd_audit WHERE records LIKE '%\"intact\":false%' AND chain LIKE 'admin:%'";
    assert_eq!(test.raw().query_row(ends, [], |row| row.get::<_, i64>(0)).unwrap(), 1);
}

/// A table of a contract that this version does not have.
#[tokio::test]
async fn rows_of_an_unknown_table_refuse_the_erasure() {
    let test = with_canary().await;
    let table = "CREATE TABLE forgotten (tenant TEXT NOT NULL, id TEXT NOT NULL); \
                 INSERT INTO forgotten VALUES ('canary_tenant', 'f1')";
    test.raw().execute_batch(table).unwrap();
    let fault = test.store.erase_tenant(&canary(), Millis(50), records()).await.unwrap_err();
    assert_eq!(
        fault.cause.unwrap(),
        "table forgotten has rows of this tenant, and this version of Frontdesk does not know the table. Erase the \
         tenant with the version that wrote them."
    );
    add(&*test.store, &canary(), [boat("b9", 1)]).await;
    test.raw().execute_batch("DELETE FROM forgotten").unwrap();
    erased(&test).await;
}

/// Other tenants are written for while rows are deleted, and no commit waits for all of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_tenants_are_written_for_during_an_erasure() {
    let test = with_canary().await;
    let erasing = async {
        erased(&test).await;
    };
    let writing = async {
        for number in 0..50 {
            add(&*test.store, &north(), [boat(&format!("n{number}"), number)]).await;
            test.store.append_audit(r#"{"read":1}"#.to_owned(), Durability::Grouped).await.unwrap();
        }
    };
    tokio::join!(erasing, writing);
    assert_eq!(test.audit("north").len(), 50);
    assert!(test.store.verify_audit().unwrap().is_intact());
}

async fn erased(test: &TestStore) -> ErasureReport {
    loop {
        match test.store.erase_tenant(&canary(), Millis(50), records()).await.unwrap() {
            ErasureProgress::More(_) => assert!(test.store.verify_audit().unwrap().chains.len() > 1),
            ErasureProgress::Done(report) => return report,
            ErasureProgress::UnknownTenant => panic!("it is gone already"),
        }
    }
}

fn records() -> ErasureRecords {
    ErasureRecords { begin: r#"{"did":"begin"}"#.to_owned(), end: r#"{"did":"end"}"#.to_owned() }
}
