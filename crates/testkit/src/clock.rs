//! A clock that stands still until a test moves it.

use std::sync::atomic::{AtomicI64, Ordering};

use frontdesk_engine::model::timestamp::{Millis, MonotonicMillis};
use frontdesk_engine::ports::Clock;

pub struct TestClock {
    wall: AtomicI64,
    monotonic: AtomicI64,
}

impl TestClock {
    /// 2026-01-01T00:00:00Z, where a default clock starts.
    pub const START: Millis = Millis(1_767_225_600_000);

    pub fn at(millis: i64) -> TestClock {
        TestClock { wall: AtomicI64::new(millis), monotonic: AtomicI64::new(millis) }
    }

    /// Time passes until this moment; a moment of the past only sets the wall clock back.
    pub fn set(&self, millis: i64) {
        self.advance(millis - self.wall.load(Ordering::SeqCst));
    }

    /// Time passes; a negative amount only sets the wall clock back.
    pub fn advance(&self, millis: i64) {
        self.wall.fetch_add(millis, Ordering::SeqCst);
        self.monotonic.fetch_add(millis.max(0), Ordering::SeqCst);
    }

    /// Somebody sets the wall clock, forward or back, while no time passes.
    pub fn step(&self, millis: i64) {
        self.wall.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Default for TestClock {
    fn default() -> TestClock {
        TestClock::at(TestClock::START.0)
    }
}

impl Clock for TestClock {
    fn now(&self) -> Millis {
        Millis(self.wall.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> MonotonicMillis {
        MonotonicMillis(self.monotonic.load(Ordering::SeqCst))
    }
}
