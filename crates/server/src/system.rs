//! The clock and the randomness of the operating system. The only place where either is asked for.

use std::sync::LazyLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use frontdesk_engine::model::timestamp::{Millis, MonotonicMillis};
use frontdesk_engine::ports::{Clock, Random};

/// An instant has no number of its own, so it is counted from the first time that anybody asks.
static FIRST_ASKED: LazyLock<Instant> = LazyLock::new(Instant::now);

/// An hour, so that what was never used counts as used long ago.
const MONOTONIC_START: i64 = 3_600_000;

pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one home of the wall clock")]
    fn now(&self) -> Millis {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn monotonic(&self) -> MonotonicMillis {
        let since = i64::try_from(FIRST_ASKED.elapsed().as_millis()).unwrap_or(i64::MAX);
        MonotonicMillis(since.saturating_add(MONOTONIC_START))
    }
}

pub struct SystemRandom;

impl Random for SystemRandom {
    /// Without randomness nothing here is safe, so an operating system that provides none ends the process.
    fn fill(&self, bytes: &mut [u8]) {
        if getrandom::fill(bytes).is_err() {
            eprintln!("frontdesk: the operating system provides no randomness; stopping");
            std::process::abort();
        }
    }
}
