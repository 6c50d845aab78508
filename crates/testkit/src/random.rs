//! Random numbers that depend on a seed alone (SplitMix64), so that a failure can be repeated.

use std::sync::atomic::{AtomicU64, Ordering};

use frontdesk_engine::ports::Random;

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Shared by reference; two that have the same seed give the same numbers.
#[derive(Debug, Default)]
pub struct TestRandom(AtomicU64);

impl TestRandom {
    pub fn seeded(seed: u64) -> TestRandom {
        TestRandom(AtomicU64::new(seed))
    }

    /// With a seed that no other value of this process has, for stores and nodes that must not repeat each other.
    pub fn distinct() -> TestRandom {
        static SEED: AtomicU64 = AtomicU64::new(1);
        TestRandom::seeded(SEED.fetch_add(1 << 32, Ordering::Relaxed))
    }

    pub fn number(&self) -> u64 {
        let mut mixed = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from zero to `end`, which is excluded unless it is zero.
    pub fn below(&self, end: usize) -> usize {
        usize::try_from(self.number() % u64::try_from(end.max(1)).unwrap()).unwrap()
    }

    pub fn pick<'a, T>(&self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// Whether something happens that does so this many times in a hundred.
    pub fn percent(&self, share: usize) -> bool {
        self.below(100) < share
    }

    /// Another sequence, for a task that runs at the same time.
    pub fn branch(&self) -> TestRandom {
        TestRandom::seeded(self.number())
    }
}

impl Random for TestRandom {
    fn fill(&self, bytes: &mut [u8]) {
        for part in bytes.chunks_mut(8) {
            let number = self.number().to_be_bytes();
            part.copy_from_slice(&number[..part.len()]);
        }
    }
}
