//! A clock that stands still until a test moves it.

use std::sync::atomic::{AtomicI64, Ordering};

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::Clock;

pub struct TestClock(AtomicI64);

impl TestClock {
    /// 2026-01-01T00:00:00Z, where a default clock starts.
    pub const START: Millis = Millis(1_767_225_600_000);

    pub fn at(millis: i64) -> TestClock {
        TestClock(AtomicI64::new(millis))
    }

    pub fn set(&self, millis: i64) {
        self.0.store(millis, Ordering::SeqCst);
    }

    pub fn advance(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Default for TestClock {
    fn default() -> TestClock {
        TestClock::at(TestClock::START.0)
    }
}

impl Clock for TestClock {
    fn now(&self) -> Millis {
        Millis(self.0.load(Ordering::SeqCst))
    }
}
