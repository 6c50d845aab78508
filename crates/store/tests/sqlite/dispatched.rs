//! Dispatched messages and the file they are in: closed, opened again, and read by somebody without the key.

use std::sync::Arc;

use frontdesk_engine::dispatch::DispatchMode;

use crate::house::House;
use crate::suite::boats::ids;
use crate::suite::harbour::{Harbour, Tower, completed};
use crate::suite::north;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_accepted_is_run_after_the_file_was_closed_and_opened_again() {
    let house = House::new().await;
    let tower = Tower::new();
    let harbour = Harbour::open(Arc::clone(&house.store) as Arc<_>, &tower, DispatchMode::Later);
    let (status, accepted) = harbour.register("k1", "Ada").await;
    assert_eq!(status, 202);
    drop(harbour);
    let house = house.reopened();
    let harbour = Harbour::open(Arc::clone(&house.store) as Arc<_>, &tower, DispatchMode::Later);
    let again = harbour.register("k1", "Ada").await;
    assert_eq!(again, (202, accepted.replace(r#""reused":false"#, r#""reused":true"#)));
    tower.forward(10_000);
    let clerk = harbour.tended();
    completed(&harbour, "k1", "Ada").await;
    clerk.abort();
    assert_eq!(ids(&*house.store, &north(), Vec::new()).await.len(), 1);
}

#[tokio::test]
async fn neither_what_was_asked_nor_what_was_answered_nor_the_key_is_readable_in_the_files() {
    let house = House::new().await;
    let harbour = Harbour::open(Arc::clone(&house.store) as Arc<_>, &Tower::new(), DispatchMode::Now);
    let (_, body) = harbour.register("key-canary-77", "Persephone").await;
    assert!(body.contains("Persephone"), "{body}");
    let folder = house.folder.database();
    let look = |wanted: &str| {
        let files = std::fs::read_dir(folder.parent().unwrap()).unwrap();
        let holds = |bytes: Vec<u8>| bytes.windows(wanted.len()).any(|window| window == wanted.as_bytes());
        files.filter(|file| holds(std::fs::read(file.as_ref().unwrap().path()).unwrap())).count()
    };
    // The search itself works: how far the task has come is in the open.
    assert!(look(r#""state":"completed""#) > 0);
    assert_eq!((look("Persephone"), look("key-canary-77"), look("boats.add\",\"arguments")), (0, 0, 0));
}
