//! Waiting for what a store does by and by.

use std::time::{Duration, Instant};

use frontdesk_engine::ports::{Durability, Store};
use frontdesk_store::Load;

/// Asks again and again until it holds, for a minute at most.
pub(crate) async fn soon(what: &str, holds: impl AsyncFn() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !holds().await {
        assert!(Instant::now() < until, "it did not come to pass: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Records nobody waits for are seen until they are written, and are no group. They are written after a tenth of a
/// second, which a busy machine may need for saying them; but not every time.
pub(crate) async fn records_are_seen(store: &dyn Store, load: impl Fn() -> Load) {
    let before = load();
    let mut most = 0;
    for _ in 0..100 {
        for number in 0..3 {
            store.append_audit(format!(r#"{{"read":{number}}}"#), Durability::Grouped).await.unwrap();
        }
        most = most.max(load().unwritten);
        soon("they are written", async || load().unwritten == 0).await;
        if most == 3 {
            break;
        }
    }
    assert_eq!(most, 3);
    let after = load();
    assert_eq!((&after.groups, after.pieces), (&before.groups, before.pieces));
}
