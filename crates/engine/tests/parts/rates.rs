//! Budgets: truthful, and bounded whoever asks.

use frontdesk_engine::limits::rate::{Budget, Quota, Rates};
use frontdesk_engine::model::timestamp::MonotonicMillis;

const NOW: MonotonicMillis = MonotonicMillis(1_767_225_600_000);
const BUDGET: Budget = Budget { per_minute: 6, burst: 3 };

fn after(millis: i64) -> MonotonicMillis {
    MonotonicMillis(NOW.0 + millis)
}

#[test]
fn a_burst_then_one_call_each_interval() {
    let rates = Rates::default();
    let take = |now| rates.take(&["one"], BUDGET, now);
    let calls = [0, 0, 0, 0, 9_999, 10_000, 10_000, 15_000, 20_000, 20_000].map(|millis| take(after(millis)));
    assert_eq!(calls, [Ok(()), Ok(()), Ok(()), Err(10), Err(1), Ok(()), Err(10), Err(5), Ok(()), Err(10)]);
}

#[test]
fn a_pause_gives_the_burst_back_and_no_more() {
    let rates = Rates::default();
    for _ in 0..4 {
        let _ = rates.take(&["one"], BUDGET, NOW);
    }
    let later = after(3_600_000);
    assert_eq!([0; 4].map(|_| rates.take(&["one"], BUDGET, later)), [Ok(()), Ok(()), Ok(()), Err(10)]);
}

#[test]
fn keys_that_spell_the_same_text_are_different() {
    let rates = Rates::default();
    let once = Budget { per_minute: 1, burst: 1 };
    for key in [&["ab", "c"][..], &["a", "bc"], &["abc"], &["abc", ""]] {
        assert_eq!(rates.take(key, once, NOW), Ok(()), "{key:?}");
    }
    assert_eq!(rates.take(&["a", "bc"], once, NOW), Err(60));
    // However long they are.
    let [short, long] = ["x".repeat(191), "x".repeat(192)];
    for key in [&[short.as_str()][..], &[&long], &[&short, "x"], &[&long, "a"], &[&long, "b"], &["a", &long]] {
        assert_eq!([(); 2].map(|()| rates.take(key, once, NOW)), [Ok(()), Err(60)], "{key:?}");
    }
}

#[test]
fn a_budget_of_nothing_is_one_a_minute() {
    let rates = Rates::default();
    let nothing = Budget { per_minute: 0, burst: 0 };
    assert_eq!(rates.take(&["one"], nothing, NOW), Ok(()));
    assert_eq!(rates.take(&["one"], nothing, NOW), Err(60));
}

#[test]
fn a_flood_of_idle_keys_does_not_free_a_busy_one() {
    let rates = Rates::default();
    for _ in 0..3 {
        assert_eq!(rates.take(&["busy"], BUDGET, NOW), Ok(()));
    }
    let quick = Budget { per_minute: 6000, burst: 1 };
    for number in 0..200_000_u32 {
        let _ = rates.take(&["flood", &number.to_string()], quick, NOW);
    }
    assert_eq!(rates.take(&["busy"], BUDGET, NOW), Err(10));
}

#[test]
fn the_table_is_bounded_so_a_flood_makes_idle_keys_forgotten() {
    let rates = Rates::default();
    let quick = Budget { per_minute: 6000, burst: 1 };
    assert_eq!(rates.take(&["idle"], quick, NOW), Ok(()));
    assert_eq!(rates.take(&["idle"], quick, NOW), Err(1));
    for number in 0..200_000_u32 {
        let _ = rates.take(&["flood", &number.to_string()], BUDGET, NOW);
    }
    assert_eq!(rates.take(&["idle"], quick, NOW), Ok(()));
}

#[test]
fn clones_draw_on_one_budget() {
    let budget = Budget { per_minute: 60, burst: 1 };
    let rates = Rates::default();
    assert_eq!(rates.take(&["client"], budget, MonotonicMillis(0)), Ok(()));
    assert_eq!(rates.clone().take(&["client"], budget, MonotonicMillis(0)), Err(1));
}

const QUOTA: Quota = Quota { per_minute: 30 };

#[test]
fn a_quota_is_thirty_calls_from_the_first_one_on() {
    let rates = Rates::default();
    let count = |millis| rates.count(&["one"], QUOTA, after(millis));
    assert_eq!(count(0), Ok(()));
    for _ in 0..29 {
        assert_eq!(count(30_000), Ok(()));
    }
    let waits = [30_000, 30_001, 59_000, 59_001, 59_999].map(count);
    assert_eq!(waits, [Err(30), Err(30), Err(1), Err(1), Err(1)]);
    // Waiting that long is enough, and the next window is whole and begins now.
    for _ in 0..30 {
        assert_eq!(count(60_000), Ok(()));
    }
    assert_eq!(count(60_000), Err(60));
}

#[test]
fn asking_how_long_to_wait_takes_nothing() {
    let rates = Rates::default();
    let wait = |key| rates.wait(&[key], BUDGET, NOW);
    assert_eq!([wait("one"), wait("one")], [None, None]);
    while rates.take(&["one"], BUDGET, NOW).is_ok() {
        assert_eq!(wait("another"), None);
    }
    assert_eq!([wait("one"), wait("one")], [Some(10), Some(10)]);
    assert_eq!(rates.take(&["one"], BUDGET, after(10_000)), Ok(()));
}

#[test]
fn a_quota_of_nothing_is_one_a_minute() {
    let rates = Rates::default();
    assert_eq!([0; 2].map(|_| rates.count(&["one"], Quota { per_minute: 0 }, NOW)), [Ok(()), Err(60)]);
}

#[test]
fn quotas_and_budgets_of_one_key_are_separate() {
    let rates = Rates::default();
    let once = Quota { per_minute: 1 };
    assert_eq!(rates.count(&["one"], once, NOW), Ok(()));
    assert_eq!(rates.take(&["one"], Budget { per_minute: 1, burst: 1 }, NOW), Ok(()));
    assert_eq!(rates.clone().count(&["one"], once, NOW), Err(60));
    assert_eq!(rates.count(&["another"], once, NOW), Ok(()));
}

#[test]
fn what_costs_several_calls_is_taken_at_once_or_not_at_all() {
    let rates = Rates::default();
    let take = |calls, millis| rates.take_many(&["one"], calls, BUDGET, after(millis));
    assert_eq!([take(2, 0), take(2, 0), take(1, 0), take(1, 0)], [Ok(()), Err(10), Ok(()), Err(10)]);
    // Never more than the burst, so that waiting as long as told is enough.
    assert_eq!([take(1_000, 0), take(1_000, 29_999), take(1_000, 30_000)], [Err(30), Err(1), Ok(())]);
    assert_eq!(take(1, 30_000), Err(10));
}
