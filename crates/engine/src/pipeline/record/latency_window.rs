//! How long the calls of the last minutes took, as percentiles. Calls are counted in buckets of a fixed relative width and
//! in slots of ten seconds, so that neither memory nor the cost of a call depends on how many there are.

use crate::model::timestamp::Millis;

/// How long a slot is.
pub const SLOT_MILLIS: i64 = 10_000;
/// Five minutes, the slot that is still filled among them.
const SLOTS: usize = 30;

/// Each power of two is divided into so many buckets, so that a bucket's end is at most a sixteenth above what is in it.
const PARTS: u64 = 16;
/// Shorter calls than 2^6 microseconds share the first bucket, longer ones than 2^28 (four and a half minutes) the last.
const FIRST_POWER: u32 = 6;
const LAST_POWER: u32 = 28;
const BUCKETS: usize = (LAST_POWER - FIRST_POWER) as usize * PARTS as usize + 2;

/// The calls of the last five minutes.
#[derive(Debug)]
pub struct LatencyWindow {
    slots: Vec<Slot>,
}

#[derive(Debug)]
struct Slot {
    /// Which ten seconds since 1970.
    number: i64,
    calls: u32,
    buckets: Box<[u32; BUCKETS]>,
}

/// So many calls, and in microseconds how long they took at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percentiles {
    pub calls: u64,
    pub p50: u64,
    pub p95: u64,
    pub p99: u64,
}

impl Default for LatencyWindow {
    fn default() -> LatencyWindow {
        LatencyWindow { slots: Vec::with_capacity(SLOTS) }
    }
}

impl LatencyWindow {
    /// A call that ended now.
    pub fn add(&mut self, micros: u64, now: Millis) {
        let number = slot_number(now);
        let place = match self.slots.iter().position(|slot| slot.number == number) {
            Some(place) => place,
            None => self.make_room(number),
        };
        if let Some(slot) = self.slots.get_mut(place) {
            slot.calls = slot.calls.saturating_add(1);
            if let Some(bucket) = slot.buckets.get_mut(bucket(micros)) {
                *bucket = bucket.saturating_add(1);
            }
        }
    }

    /// Of the last so many slots, the one that is still filled among them; none without calls.
    pub fn percentiles(&self, slots: i64, now: Millis) -> Option<Percentiles> {
        let newest = slot_number(now);
        let recent = || self.slots.iter().filter(|slot| (newest - slots + 1..=newest).contains(&slot.number));
        let calls: u64 = recent().map(|slot| u64::from(slot.calls)).sum();
        if calls == 0 {
            return None;
        }
        let mut sums = [0_u64; BUCKETS];
        for slot in recent() {
            for (sum, count) in sums.iter_mut().zip(slot.buckets.iter()) {
                *sum += u64::from(*count);
            }
        }
        let [p50, p95, p99] = [50, 95, 99].map(|percent| percentile(&sums, calls, percent));
        Some(Percentiles { calls, p50, p95, p99 })
    }

    /// Of the whole window.
    pub fn all(&self, now: Millis) -> Option<Percentiles> {
        self.percentiles(SLOTS as i64, now)
    }

    /// An empty slot: a new one, or the oldest.
    fn make_room(&mut self, number: i64) -> usize {
        if self.slots.len() < SLOTS {
            self.slots.push(Slot { number, calls: 0, buckets: Box::new([0; BUCKETS]) });
            return self.slots.len() - 1;
        }
        let oldest = self.slots.iter().enumerate().min_by_key(|(_, slot)| slot.number).map_or(0, |(place, _)| place);
        if let Some(slot) = self.slots.get_mut(oldest) {
            slot.number = number;
            slot.calls = 0;
            slot.buckets.fill(0);
        }
        oldest
    }
}

fn slot_number(now: Millis) -> i64 {
    now.0.div_euclid(SLOT_MILLIS)
}

/// The end of the bucket below or in which so many percent of the calls are.
fn percentile(sums: &[u64; BUCKETS], calls: u64, percent: u64) -> u64 {
    let rank = (calls * percent).div_ceil(100);
    let mut seen = 0;
    for (place, count) in sums.iter().enumerate() {
        seen += count;
        if seen >= rank {
            return bucket_end(place);
        }
    }
    bucket_end(BUCKETS - 1)
}

fn bucket(micros: u64) -> usize {
    if micros < 1 << FIRST_POWER {
        return 0;
    }
    let power = micros.ilog2();
    if power >= LAST_POWER {
        return BUCKETS - 1;
    }
    let part = ((micros - (1 << power)) * PARTS) >> power;
    (power - FIRST_POWER) as usize * PARTS as usize + part as usize + 1
}

/// The longest call of a bucket, in microseconds; of the last one, where it begins.
fn bucket_end(place: usize) -> u64 {
    let Some(place) = place.checked_sub(1) else {
        return (1 << FIRST_POWER) - 1;
    };
    let (power, part) = (place as u32 / PARTS as u32 + FIRST_POWER, place as u64 % PARTS);
    if power >= LAST_POWER { 1 << LAST_POWER } else { (1 << power) + ((part + 1) << power) / PARTS - 1 }
}

#[cfg(test)]
mod tests {
    use super::{BUCKETS, LatencyWindow, Percentiles, SLOT_MILLIS, bucket, bucket_end};
    use crate::model::timestamp::Millis;

    /// The smallest of the values that is not less than so many percent of them.
    fn exact(sorted: &[u64], percent: usize) -> u64 {
        sorted[(sorted.len() * percent).div_ceil(100) - 1]
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_calls_to_a_sixteenth() {
        bolero::check!().with_type::<Vec<u32>>().for_each(|calls| {
            // Up to about four minutes; short calls as often as long ones.
            let mut calls: Vec<u64> = calls.iter().map(|call| u64::from(call >> (call % 28)) % (1 << 28)).collect();
            let mut window = LatencyWindow::default();
            for (place, call) in calls.iter().enumerate() {
                window.add(*call, Millis(i64::try_from(place % 30).unwrap() * SLOT_MILLIS));
            }
            calls.sort_unstable();
            let Some(found) = window.all(Millis(29 * SLOT_MILLIS)) else {
                assert!(calls.is_empty());
                return;
            };
            assert_eq!(found.calls, calls.len() as u64);
            for (percent, found) in [(50, found.p50), (95, found.p95), (99, found.p99)] {
                let exact = exact(&calls, percent);
                assert!((exact..=(exact + exact / 16).max(63)).contains(&found), "{percent}: {found} for {exact}");
            }
        });
    }

    #[test]
    fn buckets_follow_each_other() {
        for place in 0..BUCKETS - 1 {
            assert_eq!(bucket(bucket_end(place)), place);
            assert_eq!(bucket(bucket_end(place) + 1), place + 1);
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn calls_leave_the_window_after_five_minutes() {
        let mut window = LatencyWindow::default();
        let at = |seconds: i64| Millis(seconds * 1000);
        window.add(1_000_000, at(0));
        window.add(10, at(299));
        let calls = |window: &LatencyWindow, seconds| window.all(at(seconds)).map(|found| found.calls);
        assert_eq!(
            [0, 299, 300, 589, 590].map(|seconds| calls(&window, seconds)),
            [Some(1), Some(2), Some(1), Some(1), None]
        );
        assert_eq!(window.all(at(300)), Some(Percentiles { calls: 1, p50: 63, p95: 63, p99: 63 }));
        // A minute of it.
        assert_eq!(window.percentiles(6, at(349)).map(|found| found.calls), Some(1));
        assert_eq!(window.percentiles(6, at(350)), None);
    }

    #[test]
    fn slots_are_used_again() {
        let mut window = LatencyWindow::default();
        for second in 0..10_000 {
            window.add(1_000, Millis(second * 1_000));
        }
        assert_eq!(window.slots.len(), 30);
        assert_eq!(window.all(Millis(9_999_000)).map(|found| found.calls), Some(300));
        // A clock that was set back loses nothing of what it counts now.
        window.add(1_000, Millis(5_000));
        assert_eq!(window.all(Millis(5_000)).map(|found| found.calls), Some(1));
    }
}
