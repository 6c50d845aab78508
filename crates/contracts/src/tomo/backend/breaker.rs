//! Leaves a system alone that fails again and again: calls are then answered at once, and one call in a while finds out
//! whether it works again.

use std::sync::{Mutex, PoisonError};

use frontdesk_engine::model::timestamp::Millis;

/// So many failures in a row.
pub(super) const MAX_FAILURES: u32 = 5;
/// For so long.
pub(super) const PAUSE_SECONDS: i64 = 10;

#[derive(Debug, Default)]
pub(super) struct Breaker(Mutex<State>);

#[derive(Debug, Clone, Copy, Default)]
struct State {
    failures: u32,
    /// While it is left alone: when the next call may go through.
    suspended_until: Option<Millis>,
}

/// What has changed by how a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Nothing,
    Suspended { failures: u32 },
    Resumed,
}

impl Breaker {
    /// Seconds until a call may go through; none if it may now. Nothing is reserved.
    pub(super) fn closed_for(&self, now: Millis) -> Option<u64> {
        self.change(|state| remaining(*state, now))
    }

    /// As `closed_for`. A call that goes through while others are turned away is the only one for a while.
    pub(super) fn enter(&self, now: Millis) -> Option<u64> {
        self.change(|state| {
            let remaining = remaining(*state, now);
            if remaining.is_none() && state.suspended_until.is_some() {
                state.suspended_until = Some(now.plus_seconds(PAUSE_SECONDS));
            }
            remaining
        })
    }

    /// The system has answered, whatever it said.
    pub(super) fn succeeded(&self) -> Turn {
        self.change(|state| {
            let was_suspended = state.suspended_until.is_some();
            *state = State::default();
            if was_suspended { Turn::Resumed } else { Turn::Nothing }
        })
    }

    pub(super) fn failed(&self, now: Millis) -> Turn {
        self.change(|state| {
            state.failures = state.failures.saturating_add(1);
            let was_suspended = state.suspended_until.is_some();
            if state.failures < MAX_FAILURES && !was_suspended {
                return Turn::Nothing;
            }
            state.suspended_until = Some(now.plus_seconds(PAUSE_SECONDS));
            if was_suspended { Turn::Nothing } else { Turn::Suspended { failures: state.failures } }
        })
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn remaining(state: State, now: Millis) -> Option<u64> {
    let millis = state.suspended_until?.0.saturating_sub(now.0);
    u64::try_from(millis).ok().filter(|millis| *millis > 0).map(|millis| millis.div_ceil(1_000))
}

#[cfg(test)]
mod tests {
    use frontdesk_engine::model::timestamp::Millis;

    use super::{Breaker, MAX_FAILURES, Turn};

    #[test]
    fn one_call_in_a_while_finds_out_whether_it_works_again() {
        let breaker = Breaker::default();
        let now = Millis(1_000_000);
        for _ in 1..MAX_FAILURES {
            assert_eq!((breaker.enter(now), breaker.failed(now)), (None, Turn::Nothing));
        }
        assert_eq!(breaker.failed(now), Turn::Suspended { failures: MAX_FAILURES });
        assert_eq!(breaker.enter(now), Some(10));
        assert_eq!(breaker.enter(Millis(now.0 + 9_001)), Some(1));
        let later = Millis(now.0 + 10_000);
        assert_eq!(breaker.closed_for(later), None, "looking reserves nothing");
        assert_eq!(breaker.enter(later), None, "the one that finds out");
        assert_eq!(breaker.enter(later), Some(10), "and no other");
        assert_eq!(breaker.failed(later), Turn::Nothing, "it was known");
        let again = Millis(later.0 + 10_000);
        assert_eq!(breaker.enter(again), None);
        assert_eq!(breaker.succeeded(), Turn::Resumed);
        assert_eq!((breaker.enter(again), breaker.succeeded()), (None, Turn::Nothing));
        assert_eq!(breaker.failed(again), Turn::Nothing, "failures are counted in a row");
    }
}
