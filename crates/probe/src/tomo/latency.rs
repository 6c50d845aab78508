//! The targets of §7, percentiles, and the rule by which TOMO takes a partner off.

use std::time::Duration;

/// Milliseconds at p50, p95 and p99.
pub(super) struct LatencyTarget {
    /// What the text calls the kind.
    pub(super) kind: &'static str,
    /// The roles of its tools. Those that the text does not name count for the nearest kind.
    pub(super) roles: &'static [&'static str],
    pub(super) millis: [u64; 3],
}

pub(super) const TARGETS: [LatencyTarget; 5] = [
    LatencyTarget { kind: "search", roles: &["search"], millis: [600, 1_500, 3_000] },
    LatencyTarget { kind: "get", roles: &["get_detail", "utility"], millis: [300, 800, 1_500] },
    LatencyTarget { kind: "create", roles: &["create"], millis: [2_000, 5_000, 10_000] },
    LatencyTarget { kind: "track", roles: &["track"], millis: [100, 400, 800] },
    LatencyTarget { kind: "cancel", roles: &["cancel", "modify", "rate"], millis: [1_000, 3_000, 5_000] },
];

pub(super) fn target(role: &str) -> Option<&'static LatencyTarget> {
    TARGETS.iter().find(|target| target.roles.contains(&role))
}

/// The time that this share of the calls did not take longer than. The times are sorted.
pub(super) fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let place = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(place).copied().unwrap_or_default()
}

const MINUTE: Duration = Duration::from_secs(60);

/// For how many minutes on end p95 was more than twice its target. Calls are given by when they were made since the
/// beginning and how long they took; a minute without a call goes on as the one before.
pub(super) fn slow_minutes(calls: &[(Duration, Duration)], p95_target: Duration) -> u32 {
    let minute = |at: Duration| u32::try_from(at.as_secs() / MINUTE.as_secs()).unwrap_or(u32::MAX);
    let (Some(first), Some(last)) =
        (calls.iter().map(|(at, _)| minute(*at)).min(), calls.iter().map(|(at, _)| minute(*at)).max())
    else {
        return 0;
    };
    let (mut longest, mut streak) = (0, 0);
    for number in first..=last {
        let mut times: Vec<Duration> =
            calls.iter().filter(|(at, _)| minute(*at) == number).map(|(_, took)| *took).collect();
        times.sort();
        let is_slow = if times.is_empty() { streak > 0 } else { percentile(&times, 95) > p95_target * 2 };
        streak = if is_slow { streak + 1 } else { 0 };
        longest = longest.max(streak);
    }
    longest
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{percentile, slow_minutes};

    #[test]
    fn the_slowest_part_is_left_out() {
        let times = |count: u64| (1..=count).map(Duration::from_millis).collect::<Vec<_>>();
        assert_eq!(percentile(&times(100), 95), Duration::from_millis(95));
        assert_eq!(percentile(&times(20), 95), Duration::from_millis(19));
        assert_eq!(percentile(&times(3), 50), Duration::from_millis(2));
        assert_eq!(percentile(&times(3), 99), Duration::from_millis(3));
        assert_eq!(percentile(&[], 95), Duration::ZERO);
    }

    #[test]
    fn minutes_at_twice_the_target_are_counted_on_end() {
        let (slow, fast) = (Duration::from_millis(801), Duration::from_millis(799));
        let calls = |minutes: &[(u64, Duration)]| {
            let of = minutes.iter().map(|(minute, took)| (Duration::from_secs(minute * 60 + 5), *took));
            slow_minutes(&of.collect::<Vec<_>>(), Duration::from_millis(400))
        };
        assert_eq!(calls(&[]), 0);
        assert_eq!(calls(&[(0, fast), (1, fast)]), 0);
        assert_eq!(calls(&[(0, slow), (1, slow), (2, fast), (3, slow)]), 2);
        assert_eq!(calls(&[(0, slow), (5, slow)]), 6, "nothing has shown that it was better meanwhile");
        assert_eq!(calls(&[(0, fast), (5, slow)]), 1);
    }
}
