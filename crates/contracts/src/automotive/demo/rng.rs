//! A deterministic random number generator (splitmix64) for demo data. It must never be used for secrets.

use std::ops::RangeInclusive;

use time::{Duration, OffsetDateTime};

pub(super) struct DemoRng(u64);

impl DemoRng {
    pub(super) fn new(start: u64) -> Self {
        Self(start)
    }

    /// A number in the range. The slight modulo bias does not matter for demo data.
    pub(super) fn within(&mut self, range: RangeInclusive<i64>) -> i64 {
        let width = range.end().abs_diff(*range.start()) + 1;
        range.start() + i64::try_from(self.next() % width).unwrap_or_default()
    }

    /// True with this probability in percent.
    pub(super) fn percent(&mut self, share: i64) -> bool {
        self.within(1..=100) <= share
    }

    /// An item of the list. An empty list gives the default value, which the tests would notice.
    pub(super) fn pick<T: Copy + Default>(&mut self, list: &[T]) -> T {
        self.choose(list).unwrap_or_default()
    }

    /// An item of the list, if it is not empty.
    pub(super) fn choose<T: Copy>(&mut self, list: &[T]) -> Option<T> {
        let last = i64::try_from(list.len()).ok()? - 1;
        if last < 0 {
            return None;
        }
        list.get(usize::try_from(self.within(0..=last)).ok()?).copied()
    }

    pub(super) fn shuffle<T>(&mut self, list: &mut [T]) {
        for end in (1..list.len()).rev() {
            let other = self.within(0..=i64::try_from(end).unwrap_or_default());
            list.swap(end, usize::try_from(other).unwrap_or_default());
        }
    }

    /// A time this many days ago, minus a random offset within the range of hours.
    pub(super) fn moment(&mut self, now: OffsetDateTime, days_ago: i64, hours: RangeInclusive<i64>) -> OffsetDateTime {
        let seconds = self.within(hours.start() * 3600..=hours.end() * 3600 - 1);
        now - Duration::days(days_ago) - Duration::seconds(seconds)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
