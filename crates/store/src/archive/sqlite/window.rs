//! A moment in which connections keep a site's file from one call to the next, when there are many: taking and giving up
//! its locks costs as much as reading a page. The site's own writes wait no longer than that, and before the next moment
//! begins there was one when none of our connections had the file, so that a write that waits is let in.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::Reader;
use crate::archive::file::Identity;
use crate::archive::pool::Pool;

/// So long a moment lasts.
const MOMENT: Duration = Duration::from_millis(5);
/// So many calls in the time of one moment are many.
const MANY: u32 = 8;
/// So often it is looked whether somebody who was reading at the end of a moment is done.
const NAP: Duration = Duration::from_millis(1);

/// Everybody in this process who reads one file. SQLite lets a connection in beside another one of its own process also
/// while somebody waits to write, so they must all give the file up together.
#[derive(Default)]
pub(super) struct Window(Mutex<State>);

#[derive(Default)]
struct State {
    /// How many connections have the file, or are about to.
    holding: usize,
    /// How many of them keep it.
    staying: usize,
    until: Option<Instant>,
    closer: Closer,
    pools: Vec<Weak<Pool<Reader>>>,
    counted_since: Option<Instant>,
    calls: u32,
    are_many: bool,
}

/// Whether a thread sees to it that the moment ends when no calls come any more.
#[derive(Default, PartialEq, Eq)]
enum Closer {
    #[default]
    Absent,
    There,
}

/// Somebody who has the file.
pub(super) struct Passing(Arc<Window>);

/// Somebody who keeps the file from one call to the next.
pub(super) struct Stay {
    passing: Passing,
    until: Instant,
    /// How many there were.
    pub(super) calls: u32,
}

impl Stay {
    pub(super) fn is_over(&self, now: Instant) -> bool {
        now >= self.until
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        let mut state = self.passing.0.state();
        state.staying -= 1;
        state.calls = state.calls.saturating_add(self.calls);
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        self.0.state().holding -= 1;
    }
}

impl Window {
    pub(super) fn of(file: Identity) -> Arc<Window> {
        static KNOWN: Mutex<Option<HashMap<Identity, Weak<Window>>>> = Mutex::new(None);
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.get_or_insert_default();
        if let Some(window) = known.get(&file).and_then(Weak::upgrade) {
            return window;
        }
        known.retain(|_, window| window.strong_count() > 0);
        let window = Arc::new(Window::default());
        known.insert(file, Arc::downgrade(&window));
        window
    }

    /// Whoever gets a stay may keep the file; all others have it for one statement.
    pub(super) fn enter(self: &Arc<Window>, now: Instant, pool: &Arc<Pool<Reader>>) -> Result<Stay, Passing> {
        let mut state = self.state();
        let are_many = state.count(now);
        let until = match state.until {
            Some(until) if now < until => Some(until),
            Some(_) | None if are_many && state.holding == 0 => Some(now + MOMENT),
            Some(_) | None => None,
        };
        state.holding += 1;
        let Some(until) = until else {
            return Err(Passing(Arc::clone(self)));
        };
        state.until = Some(until);
        state.staying += 1;
        if !state.pools.iter().any(|known| known.as_ptr() == Arc::as_ptr(pool)) {
            state.pools.retain(|known| known.strong_count() > 0);
            state.pools.push(Arc::downgrade(pool));
        }
        if state.closer == Closer::Absent {
            state.closer = Closer::There;
            let window = Arc::clone(self);
            // A thread of its own: those that serve calls may be held up.
            tokio::task::spawn_blocking(move || window.close());
        }
        Ok(Stay { passing: Passing(Arc::clone(self)), until, calls: 0 })
    }

    pub(super) fn pass(self: &Arc<Window>) -> Passing {
        self.state().holding += 1;
        Passing(Arc::clone(self))
    }

    /// Until nobody stays.
    fn close(&self) {
        loop {
            let (until, pools) = {
                let mut state = self.state();
                if state.staying == 0 {
                    state.closer = Closer::Absent;
                    return;
                }
                (state.until, state.pools.clone())
            };
            let now = Instant::now();
            match until.and_then(|until| until.checked_duration_since(now)) {
                Some(rest) if !rest.is_zero() => std::thread::sleep(rest),
                Some(_) | None => {
                    pools.iter().filter_map(Weak::upgrade).for_each(|pool| clear(&pool, now));
                    // Whoever is reading gives the file up with his next call, or is here by then.
                    std::thread::sleep(NAP);
                }
            }
        }
    }

    #[cfg(test)]
    pub(super) fn staying(&self) -> usize {
        self.state().staying
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whether there are many calls; this is one.
    fn count(&mut self, now: Instant) -> bool {
        let passed = self.counted_since.map_or(Duration::MAX, |since| now.saturating_duration_since(since));
        if passed >= MOMENT {
            // After a longer time they were not many in any moment of it.
            self.are_many = self.calls >= MANY && passed < 2 * MOMENT;
            self.counted_since = Some(now);
            self.calls = 0;
        }
        self.calls = self.calls.saturating_add(1);
        self.are_many
    }
}

/// Those of the pool that wait and whose moment is over give the file up.
pub(super) fn clear(pool: &Pool<Reader>, now: Instant) {
    pool.keep_those(|reader| !reader.stay.as_ref().is_some_and(|stay| stay.is_over(now)) || reader.leave().is_ok());
}
