//! Whether retention may delete. It goes by the wall clock, and a clock that somebody has set wrong would make everything
//! look expired. So it pauses until an operator's word when the clock cannot be trusted: when it has parted from the
//! monotonic clock while the server runs, and at a start long after the newest record.
//!
//! A pause is written into the data folder, because records that are made meanwhile carry the time of the wrong clock, and
//! a restart would see nothing wrong any more.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use frontdesk_engine::model::timestamp::{Millis, MonotonicMillis};
use frontdesk_engine::ports::Clock;

/// A clock is corrected by less than this without anybody's doing.
const MAX_STEP: Duration = Duration::from_secs(3600);

pub(crate) struct RetentionGate {
    file: PathBuf,
    state: Mutex<GateState>,
}

struct GateState {
    /// Both clocks at one moment at which they were believed.
    wall: Millis,
    monotonic: MonotonicMillis,
    /// Why retention waits, if it does.
    paused: Option<String>,
}

impl RetentionGate {
    /// Paused if it was when the last server of this folder ended.
    pub(crate) fn new(data: &Path, clock: &dyn Clock) -> RetentionGate {
        let file = paused_file(data);
        let paused = read_reason(&file);
        RetentionGate { file, state: Mutex::new(GateState { wall: clock.now(), monotonic: clock.monotonic(), paused }) }
    }

    /// At a start: everything may look expired if the clock lies further after the newest record than records are kept.
    pub(crate) fn check_start(&self, newest: Option<Millis>, now: Millis, shortest: Duration) {
        let shortest = i64::try_from(shortest.as_millis()).unwrap_or(i64::MAX);
        if let Some(newest) = newest
            && now.0.saturating_sub(newest.0) > shortest
        {
            let (now, newest) = (now.to_rfc3339(), newest.to_rfc3339());
            self.pause(&format!("the clock says {now}, but the newest record is of {newest}"));
        }
    }

    /// While running: why retention waits, if it does.
    pub(crate) fn check(&self, clock: &dyn Clock) -> Option<String> {
        let (now, monotonic) = (clock.now(), clock.monotonic());
        let expected = {
            let state = self.state();
            state.wall.0.saturating_add(monotonic.0.saturating_sub(state.monotonic.0))
        };
        let step = Duration::from_millis(now.0.abs_diff(expected));
        if step > MAX_STEP {
            let expected = Millis(expected).to_rfc3339();
            self.pause(&format!("the clock was set to {} while it should be {expected}", now.to_rfc3339()));
        }
        self.reason()
    }

    pub(crate) fn reason(&self) -> Option<String> {
        self.state().paused.clone()
    }

    /// The operator says that the clock is right.
    pub(crate) fn resume(&self, clock: &dyn Clock) -> io::Result<()> {
        match fs::remove_file(&self.file) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        *self.state() = GateState { wall: clock.now(), monotonic: clock.monotonic(), paused: None };
        Ok(())
    }

    /// The first reason stays.
    fn pause(&self, reason: &str) {
        let mut state = self.state();
        if state.paused.is_some() {
            return;
        }
        state.paused = Some(reason.to_owned());
        if let Err(error) = fs::write(&self.file, format!("{reason}\n")) {
            tracing::error!(error = error.to_string(), "the pause of retention could not be stored");
        }
        tracing::warn!(
            reason,
            advice = "check the clock; `frontdesk retention resume` lets retention go on",
            "retention paused: nothing is deleted"
        );
    }

    fn state(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why retention of this data folder waits, if it does. Also while no server runs.
pub(crate) fn stored_pause(data: &Path) -> Option<String> {
    read_reason(&paused_file(data))
}

fn paused_file(data: &Path) -> PathBuf {
    data.join("retention.paused")
}

/// A mark that cannot be read is still a mark.
fn read_reason(file: &Path) -> Option<String> {
    match fs::read_to_string(file) {
        Ok(text) => Some(text.trim_end().to_owned()),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => Some(format!("{} cannot be read: {error}", file.display())),
    }
}

#[cfg(test)]
mod tests {
    use frontdesk_testkit::{TestClock, TestFolder};

    use super::*;

    const HOUR: i64 = 3_600_000;
    const DAY: Duration = Duration::from_secs(86_400);

    #[test]
    fn a_clock_that_was_set_pauses_until_the_operators_word() {
        for step in [HOUR + 1, -HOUR - 1] {
            let (folder, clock) = (TestFolder::new(), TestClock::default());
            let gate = RetentionGate::new(folder.path(), &clock);
            clock.advance(400 * 24 * HOUR);
            clock.step(HOUR);
            assert_eq!(gate.check(&clock), None, "an hour is no reason");
            clock.step(step - HOUR);
            let reason = gate.check(&clock).unwrap();
            assert!(reason.starts_with("the clock was set to ") && reason.contains("2027-02-05T00:00:00Z"), "{reason}");
            // Setting it right again does not tell what was meant, and neither does a restart.
            clock.step(-step);
            assert_eq!(gate.check(&clock), Some(reason.clone()));
            let restarted = RetentionGate::new(folder.path(), &clock);
            assert_eq!(restarted.check(&clock), Some(reason.clone()));
            assert_eq!(stored_pause(folder.path()), Some(reason));
            clock.step(step);
            restarted.resume(&clock).unwrap();
            assert_eq!((restarted.check(&clock), stored_pause(folder.path())), (None, None));
        }
    }

    #[test]
    fn a_start_long_after_the_newest_record_pauses() {
        let (folder, clock) = (TestFolder::new(), TestClock::default());
        let gate = RetentionGate::new(folder.path(), &clock);
        gate.check_start(None, clock.now(), DAY);
        gate.check_start(Some(Millis(clock.now().0 - 24 * HOUR)), clock.now(), DAY);
        assert_eq!(gate.check(&clock), None);
        gate.check_start(Some(Millis(clock.now().0 - 24 * HOUR - 1)), clock.now(), DAY);
        let expected = "the clock says 2026-01-01T00:00:00Z, but the newest record is of 2025-12-30T23:59:59.999Z";
        assert_eq!(gate.check(&clock).as_deref(), Some(expected));
    }
}
