//! The writers' statistics: queue length and batch sizes.

use std::sync::Arc;

use frontdesk_engine::model::plan::Change;
use frontdesk_engine::ports::{Durability, Store as _};
use tokio_postgres::{Client, NoTls};

use crate::test_store::TestStore;
use frontdesk_store::Backend as _;
use frontdesk_testkit::eventually;
use frontdesk_testkit::store_suite::boats::{boat, claim, done, event, insert, plan};
use frontdesk_testkit::store_suite::unwritten::records_are_counted;
use frontdesk_testkit::store_suite::{StoreInspector as _, north};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenants_queue_is_counted_and_written_as_one_batch() {
    let test = Arc::new(TestStore::new().await);
    eventually("nothing waits", async || test.store.writer_stats().queued_jobs == 0).await;
    let before = test.store.writer_stats();
    let other = holding_north(&test).await;
    let order = |id: &'static str| {
        let test = Arc::clone(&test);
        tokio::spawn(async move { done(&*test.store, plan(id, &north(), vec![insert(boat(id, 7))])).await })
    };
    // The first is in the writer's hands, the others wait behind it.
    let mut orders = vec![order("b0")];
    eventually("the first is taken", async || test.store.writer_stats().batched_jobs == before.batched_jobs + 1).await;
    orders.extend(["b1", "b2", "b3", "b4"].map(order));
    eventually("four wait", async || test.store.writer_stats().queued_jobs == 4).await;
    other.batch_execute("COMMIT").await.unwrap();
    for order in orders {
        order.await.unwrap();
    }
    let after = test.store.writer_stats();
    let grown: Vec<(u64, u64)> = after
        .batches
        .iter()
        .zip(&before.batches)
        .map(|((end, after), (_, before))| (*end, after - before))
        .filter(|(_, grown)| *grown > 0)
        .collect();
    assert_eq!(
        (after.queued_jobs, after.batched_jobs - before.batched_jobs, after.failed_commits),
        (0, 5, before.failed_commits)
    );
    assert_eq!(grown, [(1, 1), (4, 1)]);
}

/// As another node's writer holds the tenant until it commits.
async fn holding_north(test: &TestStore) -> Client {
    let (other, connection) = tokio_postgres::connect(&test.database.url_as("postgres"), NoTls).await.unwrap();
    tokio::spawn(connection);
    other.batch_execute("BEGIN; SELECT 1 FROM fd_tenant WHERE tenant = 'north' FOR NO KEY UPDATE").await.unwrap();
    other
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn inserts_of_a_batch_are_one_statement_per_table() {
    let test = TestStore::on_own_server().await;
    // The server tells what it is asked, by those who come from now on.
    test.database.sql("ALTER ROLE desk SET log_statement = 'all'");
    let store = test.neighbour().await;
    let other = holding_north(&test).await;
    let order = |id: &'static str| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let mut commit = plan(id, &north(), vec![insert(boat(id, 7))]);
            commit.claim = Some(claim(id, 1));
            commit.events = vec![event(&format!("e-{id}"), id, Change::Created)];
            done(&*store, commit).await;
        })
    };
    let mut orders = vec![order("b0")];
    eventually("the first is taken", async || store.writer_stats().batched_jobs == 1).await;
    orders.extend(["b1", "b2", "b3", "b4"].map(order));
    eventually("four wait", async || store.writer_stats().queued_jobs == 4).await;
    other.batch_execute("COMMIT").await.unwrap();
    for order in orders {
        order.await.unwrap();
    }
    // Once for the first, which was alone, and once for the other four.
    let log = test.database.server().log();
    let asked = |table: &str| {
        let text = format!("INSERT INTO {table} (");
        log.lines().filter(|line| line.contains("LOG:  execute ") && line.contains(&text)).count()
    };
    let tables = ["fd_claim", "boat", "boat_word", "fd_outbox", "fd_audit", "fd_counter", "fd_audit_head"];
    // Of the counters, the number of the last event and what is stored are two statements.
    assert_eq!(tables.map(asked), [2, 2, 2, 2, 2, 4, 2]);
    let numbered: Vec<String> = test.peek().outbox("north").iter().map(|line| line[..1].to_owned()).collect();
    assert_eq!(numbered, ["1", "2", "3", "4", "5"]);
    assert!(test.verified().await.is_intact());
}

#[tokio::test]
async fn buffered_records_are_counted_but_are_no_batch() {
    let test = TestStore::new().await;
    let load = || test.store.writer_stats();
    records_are_counted(&*test.store, || load().buffered_records, || (load().batches, load().batched_jobs)).await;
}

#[tokio::test]
async fn a_failed_commit_is_counted() {
    let test = TestStore::new().await;
    let trap = "CREATE FUNCTION trap() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$; \
                CREATE TRIGGER trap BEFORE INSERT ON fd_audit FOR EACH ROW EXECUTE FUNCTION trap()";
    test.database.sql(trap);
    let record = test.store.append_audit(r#"{"read":1}"#.to_owned(), Durability::Awaited).await;
    assert!(record.is_err());
    assert_eq!(test.store.writer_stats().failed_commits, 1);
}
