//! How long a call takes, and how much of it some stages take. It looks at the clock and at nothing else.

use std::time::Instant;

use crate::model::observation::{StageTime, StageTimes};

/// The stages that wait for others and are therefore worth timing by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Identify,
    Perform,
    Record,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch {
    began: Instant,
    running: Option<(Stage, u64)>,
}

impl Stopwatch {
    pub(crate) fn new() -> Stopwatch {
        Stopwatch { began: Instant::now(), running: None }
    }

    pub(crate) fn micros(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// Returns the start, in microseconds since the call began.
    pub(crate) fn start(&mut self, stage: Stage) -> u64 {
        let now = self.micros();
        self.running = Some((stage, now));
        now
    }

    /// Ends the running stage, if there is one.
    pub(crate) fn stop(&mut self, times: &mut StageTimes) {
        let Some((stage, from)) = self.running.take() else {
            return;
        };
        let time = Some(StageTime { from, until: self.micros() });
        match stage {
            Stage::Identify => times.identify = time,
            Stage::Perform => times.perform = time,
            Stage::Record => times.record = time,
        }
    }
}
