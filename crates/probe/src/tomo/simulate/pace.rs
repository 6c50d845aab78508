//! How fast TOMO calls (§8), and how long it waits when it was limited. One user session has one pace.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The pauses before the first to the fifth retry.
pub(super) const BACKOFF: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(4),
    Duration::from_secs(16),
    Duration::from_secs(16),
    Duration::from_secs(16),
];
/// The longest pause that a server can ask for.
pub(super) const MAX_RETRY_AFTER: u64 = 16;

/// The shortest time between two calls of this role in one session, or for one order.
fn interval(role: &str) -> Duration {
    match role {
        "search" => Duration::from_secs(1),
        "get_detail" | "utility" => Duration::from_millis(200),
        "create" => Duration::from_secs(60),
        "track" => Duration::from_secs(5),
        // Users decide when these are called.
        _ => Duration::ZERO,
    }
}

/// When a session has called what.
pub(super) struct Pace {
    last: BTreeMap<String, Instant>,
    /// Every pause is divided by this.
    speed: u32,
}

impl Pace {
    pub(super) fn new(speed: u32) -> Pace {
        Pace { last: BTreeMap::new(), speed: speed.max(1) }
    }

    /// How long to wait from now before calling a tool of this role, which is then called.
    pub(super) fn next(&mut self, role: &str, now: Instant) -> Duration {
        let due = self.last.get(role).map_or(now, |last| *last + interval(role) / self.speed).max(now);
        self.last.insert(role.to_owned(), due);
        due - now
    }

    pub(super) fn scaled(&self, pause: Duration) -> Duration {
        pause / self.speed
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Pace;

    #[test]
    fn calls_of_a_role_keep_their_distance() {
        let now = Instant::now();
        let mut pace = Pace::new(1);
        let waits = |pace: &mut Pace, role: &str| [pace.next(role, now), pace.next(role, now), pace.next(role, now)];
        let seconds = |seconds: [u64; 3]| seconds.map(Duration::from_secs);
        assert_eq!(waits(&mut pace, "search"), seconds([0, 1, 2]));
        assert_eq!(waits(&mut pace, "track"), seconds([0, 5, 10]));
        assert_eq!(waits(&mut pace, "create"), seconds([0, 60, 120]));
        assert_eq!(waits(&mut pace, "cancel"), seconds([0, 0, 0]));
        assert_eq!(waits(&mut pace, "get_detail"), [0, 200, 400].map(Duration::from_millis));
        assert_eq!(waits(&mut Pace::new(10), "search"), [0, 100, 200].map(Duration::from_millis));
    }
}
