//! How long tests with many random cases run.

/// What `FRONTDESK_TEST_SCALE` says, or one: such tests multiply the number of their cases by it.
#[expect(clippy::disallowed_methods, reason = "the size of a test is set by whoever starts it")]
pub fn test_scale() -> usize {
    std::env::var("FRONTDESK_TEST_SCALE").map_or(1, |scale| scale.parse().unwrap())
}
