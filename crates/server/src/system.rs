//! The clock and the randomness of the operating system. The only place where either is asked for. And what the system
//! must not do with this process: write its memory to a disk.

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

/// Every nonce and key comes straight from the system: there is no generator in between whose state a fork or a snapshot
/// of the machine could repeat.
impl Random for SystemRandom {
    /// Without randomness nothing here is safe, so an operating system that provides none ends the process.
    fn fill(&self, bytes: &mut [u8]) {
        if getrandom::fill(bytes).is_err() {
            eprintln!("frontdesk: the operating system provides no randomness; stopping");
            std::process::abort();
        }
    }
}

/// Keys and personal data are in memory, and a core dump would put them into a file. By the limit no file is written;
/// by the attribute no handler gets the memory through a pipe either, and no other process of the same user can read it.
/// Where the system refuses, the process goes on.
pub fn disable_core_dumps() {
    let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    let _ = rustix::process::setrlimit(rustix::process::Resource::Core, none);
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

#[cfg(test)]
mod tests {
    use rustix::process::{DumpableBehavior, Resource, dumpable_behavior, getrlimit};

    /// As root, nothing outside the process tells whether it is dumpable.
    #[test]
    fn core_dumps_are_disabled_by_limit_and_attribute() {
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::Dumpable);
        super::disable_core_dumps();
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
        let limit = getrlimit(Resource::Core);
        assert_eq!((limit.current, limit.maximum), (Some(0), Some(0)));
    }
}
