//! The writer's statistics: queue length and batch sizes.

use std::sync::Arc;

use frontdesk_engine::ports::{Durability, Store};

use crate::test_store::{Shown, TestStore, shown};
use frontdesk_store::Backend as _;
use frontdesk_testkit::eventually;
use frontdesk_testkit::store_suite::boats::{boat, ended, insert, plan};
use frontdesk_testkit::store_suite::north;
use frontdesk_testkit::store_suite::unwritten::records_are_counted;

#[tokio::test]
async fn a_queue_is_counted_and_then_written_as_one_batch() {
    shown(async || {
        let test = Arc::new(TestStore::new().await);
        eventually("nothing waits", async || test.store.writer_stats().queued_jobs == 0).await;
        let before = test.store.writer_stats();
        let lock = test.locked();
        let order = |id: &'static str| {
            let test = Arc::clone(&test);
            tokio::spawn(async move { ended(&test.store.commit(plan(id, &north(), vec![insert(boat(id, 7))])).await) })
        };
        // The first is in the writer's hands, the others wait behind it.
        let mut orders = vec![order("b0")];
        eventually("the first is taken", async || test.store.writer_stats().batched_jobs == before.batched_jobs + 1)
            .await;
        orders.extend(["b1", "b2", "b3", "b4"].map(order));
        eventually("four wait", async || test.store.writer_stats().queued_jobs == 4 || lock.is_old()).await;
        if !lock.ends_in_time() {
            return Shown::TooSlow;
        }
        for order in orders {
            assert_eq!(order.await.unwrap(), "done");
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
        Shown::Yes
    })
    .await;
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
    let trap = "CREATE TRIGGER trap BEFORE INSERT ON fd_audit BEGIN SELECT RAISE(ABORT, 'trapped'); END";
    test.raw().execute_batch(trap).unwrap();
    let record = test.store.append_audit(r#"{"read":1}"#.to_owned(), Durability::Awaited).await;
    assert!(record.is_err());
    assert_eq!(test.store.writer_stats().failed_commits, 1);
}
