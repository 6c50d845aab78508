//! Dispatched messages survive a restart, and are unreadable in the file without the key.

use std::sync::Arc;

use frontdesk_engine::dispatch::DispatchMode;

use crate::test_store::TestStore;
use frontdesk_testkit::TestClock;
use frontdesk_testkit::store_suite::boats::ids;
use frontdesk_testkit::store_suite::node::{DispatchNode, completed};
use frontdesk_testkit::store_suite::north;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn accepted_tasks_run_after_a_restart() {
    let test = TestStore::new().await;
    let clock = Arc::new(TestClock::default());
    let node = DispatchNode::open(Arc::clone(&test.store) as Arc<_>, &clock, DispatchMode::Later);
    let (status, accepted) = node.register("k1", "Ada").await;
    assert_eq!(status, 202);
    drop(node);
    let test = test.reopened();
    let node = DispatchNode::open(Arc::clone(&test.store) as Arc<_>, &clock, DispatchMode::Later);
    let again = node.register("k1", "Ada").await;
    assert_eq!(again, (202, accepted.replace(r#""reused":false"#, r#""reused":true"#)));
    clock.advance(10_000);
    let worker = node.run_worker();
    completed(&node, "k1", "Ada").await;
    worker.abort();
    assert_eq!(ids(&*test.store, &north(), Vec::new()).await.len(), 1);
}

#[tokio::test]
async fn requests_answers_and_keys_are_unreadable_in_files() {
    let test = TestStore::new().await;
    let node =
        DispatchNode::open(Arc::clone(&test.store) as Arc<_>, &Arc::new(TestClock::default()), DispatchMode::Now);
    let (_, body) = node.register("key-canary-77", "Persephone").await;
    assert!(body.contains("Persephone"), "{body}");
    let folder = test.folder.database();
    let look = |wanted: &str| {
        let files = std::fs::read_dir(folder.parent().unwrap()).unwrap();
        let holds = |bytes: Vec<u8>| bytes.windows(wanted.len()).any(|window| window == wanted.as_bytes());
        files.filter(|file| holds(std::fs::read(file.as_ref().unwrap().path()).unwrap())).count()
    };
    // The search itself works: how far the task has come is in the open.
    assert!(look(r#""state":"completed""#) > 0);
    assert_eq!((look("Persephone"), look("key-canary-77"), look("boats.add\",\"arguments")), (0, 0, 0));
}
