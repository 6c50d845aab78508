//! How many rounds there are, and the seed of what they do.

use std::hash::{BuildHasher as _, RandomState};

use frontdesk_testkit::TestRandom;

/// The seed is said, and can be given again: the choices are then the same, though not the moments at which the
/// machine makes them come true.
pub(crate) fn seeded(whose: &str) -> TestRandom {
    let seed = asked("FRONTDESK_CRASH_SEED").unwrap_or_else(|| RandomState::new().hash_one(whose));
    eprintln!("{whose}: the seed is FRONTDESK_CRASH_SEED={seed}");
    TestRandom::seeded(seed)
}

/// How often processes are killed: `cargo xtask test --long` asks for 200 rounds.
pub(crate) fn rounds() -> u64 {
    asked("FRONTDESK_CRASH_ROUNDS").unwrap_or(5)
}

/// How many rows an import has that is killed: CONTRIBUTING.md has the long form.
pub(crate) fn import_rows() -> u64 {
    asked("FRONTDESK_CRASH_IMPORT_ROWS").unwrap_or(1_500)
}

#[expect(clippy::disallowed_methods, reason = "how long a test runs is asked of whoever starts it, not of the desk")]
fn asked(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}
