//! The numbers an operator sees of the writer: what waits, and how large the groups were.

use std::sync::Arc;

use frontdesk_engine::ports::{Durability, Store};

use crate::house::{House, Shown, shown};
use frontdesk_store::Backend as _;
use frontdesk_testkit::eventually;
use frontdesk_testkit::store_suite::boats::{boat, ended, insert, plan};
use frontdesk_testkit::store_suite::north;
use frontdesk_testkit::store_suite::unwritten::records_are_counted;

#[tokio::test]
async fn a_queue_that_waits_for_the_disk_is_seen_and_then_written_as_one_group() {
    shown(async || {
        let house = Arc::new(House::new().await);
        eventually("nothing waits", async || house.store.writer_stats().queued_jobs == 0).await;
        let before = house.store.writer_stats();
        let lock = house.locked();
        let order = |id: &'static str| {
            let house = Arc::clone(&house);
            tokio::spawn(async move { ended(&house.store.commit(plan(id, &north(), vec![insert(boat(id, 7))])).await) })
        };
        // The first is in the writer's hands, the others wait behind it.
        let mut orders = vec![order("b0")];
        eventually("the first is taken", async || house.store.writer_stats().batched_jobs == before.batched_jobs + 1)
            .await;
        orders.extend(["b1", "b2", "b3", "b4"].map(order));
        eventually("four wait", async || house.store.writer_stats().queued_jobs == 4 || lock.is_old()).await;
        if !lock.ends_in_time() {
            return Shown::TooSlow;
        }
        for order in orders {
            assert_eq!(order.await.unwrap(), "done");
        }
        let after = house.store.writer_stats();
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
async fn records_nobody_waits_for_are_seen_until_they_are_written_and_are_no_group() {
    let house = House::new().await;
    let load = || house.store.writer_stats();
    records_are_counted(&*house.store, || load().buffered_records, || (load().batches, load().batched_jobs)).await;
}

#[tokio::test]
async fn a_commit_that_does_not_hold_is_counted() {
    let house = House::new().await;
    let trap = "CREATE TRIGGER trap BEFORE INSERT ON fd_audit BEGIN SELECT RAISE(ABORT, 'trapped'); END";
    house.raw().execute_batch(trap).unwrap();
    let record = house.store.append_audit(r#"{"read":1}"#.to_owned(), Durability::Awaited).await;
    assert!(record.is_err());
    assert_eq!(house.store.writer_stats().failed_commits, 1);
}
