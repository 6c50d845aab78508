//! Chance that can be repeated, and how often to take it.

use std::hash::{BuildHasher as _, RandomState};

/// A stream of numbers that depends on its seed alone (SplitMix64).
pub(crate) struct Chance(u64);

impl Chance {
    /// The seed is said, and can be given again: the choices are then the same, though not the moments at which the
    /// machine makes them come true.
    pub(crate) fn new(whose: &str) -> Chance {
        let seed = asked("FRONTDESK_CRASH_SEED").unwrap_or_else(|| RandomState::new().hash_one(whose));
        eprintln!("{whose}: chance is FRONTDESK_CRASH_SEED={seed}");
        Chance(seed)
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.number() % end.max(1)
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[usize::try_from(self.below(from.len() as u64)).unwrap()]
    }

    /// Another stream, for somebody who works at the same time.
    pub(crate) fn branch(&mut self) -> Chance {
        Chance(self.number())
    }
}

/// How often each of the rounds is gone through. `cargo xtask test --long` asks for ten times as many.
pub(crate) fn rounds() -> u64 {
    asked("FRONTDESK_CRASH_ROUNDS").unwrap_or(20)
}

#[expect(clippy::disallowed_methods, reason = "how long a test runs is asked of whoever starts it, not of the desk")]
fn asked(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}
