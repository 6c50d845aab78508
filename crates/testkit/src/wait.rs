//! Waiting for what happens in the background.

use std::time::{Duration, Instant};

/// Checks again and again until it holds, for a minute at most.
pub async fn eventually(what: &str, holds: impl AsyncFn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds().await {
        assert!(Instant::now() < deadline, "it did not happen: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
