//! Whether a mount is as fast as its contract wants it to be, by kind of tool, and when its caller would stop calling it.
//! It counts what has ended and never delays a call.

use std::sync::{Arc, Mutex, PoisonError};

use super::latency_window::{LatencyWindow, Percentiles};
use crate::model::fault::FaultKind;
use crate::model::latency_target::LatencyTarget;
use crate::model::observation::{Observation, Streamed};
use crate::model::timestamp::Millis;

/// A kind is too slow while the p95 of its last minute is above so many times its target.
const TOLERANCE: u32 = 2;
const MINUTE_SLOTS: i64 = 6;
/// Too slow for longer than this, and the caller stops calling.
pub const DROP_MILLIS: i64 = 5 * 60 * 1000;
/// Too slow for so long, and the operator is told.
const WARN_MILLIS: i64 = 60 * 1000;

/// The kinds of tools of one mount. Clones share what was measured.
#[derive(Debug, Clone, Default)]
pub struct ServiceLevel {
    kinds: Arc<[Kind]>,
}

#[derive(Debug, Clone)]
struct Kind {
    target: LatencyTarget,
    measured: Arc<Mutex<Measured>>,
}

#[derive(Debug, Default)]
struct Measured {
    window: LatencyWindow,
    rule: DropRule,
}

/// How a kind of tool stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindReport {
    pub target: LatencyTarget,
    /// Of the last five minutes; none without calls.
    pub measured: Option<Percentiles>,
    pub standing: LatencyStanding,
}

/// What the caller makes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LatencyStanding {
    #[default]
    Good,
    /// Too slow since then, and not yet for too long.
    Slow { since: Millis },
    /// Too slow for too long: the caller has stopped by now.
    Dropped { since: Millis },
    /// Fast again, so the caller would come back.
    Rejoined { at: Millis },
}

/// What is worth a line in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelChange {
    pub kind: &'static str,
    /// Of the last minute, in microseconds; none without calls.
    pub p95: Option<u64>,
    pub target: LatencyTarget,
    pub news: LevelNews,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LevelNews {
    /// For a minute now.
    Slow,
    Dropped,
    Recovered,
}

impl ServiceLevel {
    pub fn new(targets: &[LatencyTarget]) -> ServiceLevel {
        ServiceLevel::default().with_targets(targets)
    }

    /// The same measurements under other targets.
    #[must_use]
    pub fn with_targets(&self, targets: &[LatencyTarget]) -> ServiceLevel {
        let measured = |kind| self.kinds.iter().find(|known| known.target.kind == kind).map(|known| &known.measured);
        let kinds = targets.iter().map(|target| Kind {
            target: target.clone(),
            measured: measured(target.kind).cloned().unwrap_or_default(),
        });
        ServiceLevel { kinds: kinds.collect() }
    }

    /// A call that has ended. Only one that ran says how fast the tool is, and a stream that stayed open says nothing.
    pub fn add(&self, call: &Observation) {
        let ran = call.stages.perform.is_some() && call.outcome != FaultKind::RateLimited.as_str();
        if self.kinds.is_empty() || !ran || call.streamed == Streamed::Held || call.import_id.is_some() {
            return;
        }
        let kind = call.tool.and_then(|tool| self.kinds.iter().find(|kind| kind.target.tools.contains(&tool)));
        if let Some(kind) = kind {
            let ended = Millis(call.at.0.saturating_add(i64::try_from(call.micros / 1000).unwrap_or(i64::MAX)));
            kind.lock().window.add(call.micros, ended);
        }
    }

    /// Looks at the last minute of every kind. Somebody must do it every few seconds.
    pub fn tick(&self, now: Millis) -> Vec<LevelChange> {
        let mut changes = Vec::new();
        for kind in self.kinds.iter() {
            let mut measured = kind.lock();
            let p95 = measured.window.percentiles(MINUTE_SLOTS, now).map(|found| found.p95);
            let limit = u64::try_from((kind.target.p95 * TOLERANCE).as_micros()).unwrap_or(u64::MAX);
            let pace = match p95 {
                None => Pace::Unknown,
                Some(p95) if p95 > limit => Pace::Slow,
                Some(_) => Pace::Fast,
            };
            if let Some(news) = measured.rule.update(pace, now) {
                changes.push(LevelChange { kind: kind.target.kind, p95, target: kind.target.clone(), news });
            }
        }
        changes
    }

    pub fn report(&self, now: Millis) -> Vec<KindReport> {
        let report = |kind: &Kind| {
            let measured = kind.lock();
            KindReport {
                target: kind.target.clone(),
                measured: measured.window.all(now),
                standing: match measured.rule.standing {
                    LatencyStanding::Slow { since } if now.0 >= since.0 + DROP_MILLIS => {
                        LatencyStanding::Dropped { since }
                    }
                    standing @ (LatencyStanding::Good
                    | LatencyStanding::Slow { .. }
                    | LatencyStanding::Dropped { .. }
                    | LatencyStanding::Rejoined { .. }) => standing,
                },
            }
        };
        self.kinds.iter().map(report).collect()
    }
}

impl Kind {
    fn lock(&self) -> std::sync::MutexGuard<'_, Measured> {
        self.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How fast a kind was in the last minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// Nobody called.
    Unknown,
    Fast,
    Slow,
}

#[derive(Debug, Default)]
struct DropRule {
    standing: LatencyStanding,
    /// Whether the operator was told that it is slow.
    told: bool,
}

impl DropRule {
    fn update(&mut self, pace: Pace, now: Millis) -> Option<LevelNews> {
        let (standing, news) = match (self.standing, pace) {
            (LatencyStanding::Good | LatencyStanding::Rejoined { .. }, Pace::Slow) => {
                (LatencyStanding::Slow { since: now }, None)
            }
            (LatencyStanding::Slow { since }, Pace::Slow) if now.0 >= since.0 + DROP_MILLIS => {
                (LatencyStanding::Dropped { since }, Some(LevelNews::Dropped))
            }
            (LatencyStanding::Slow { since }, Pace::Slow) => {
                let is_news = !self.told && now.0 >= since.0 + WARN_MILLIS;
                (self.standing, is_news.then_some(LevelNews::Slow))
            }
            // Without calls nobody can measure that it is slow.
            (LatencyStanding::Slow { .. }, Pace::Fast | Pace::Unknown) => {
                (LatencyStanding::Good, self.told.then_some(LevelNews::Recovered))
            }
            // Nobody calls what was dropped, so silence is no recovery.
            (LatencyStanding::Dropped { .. }, Pace::Slow | Pace::Unknown) => (self.standing, None),
            (LatencyStanding::Dropped { .. }, Pace::Fast) => {
                (LatencyStanding::Rejoined { at: now }, Some(LevelNews::Recovered))
            }
            (LatencyStanding::Rejoined { at }, Pace::Fast | Pace::Unknown) if now.0 >= at.0 + DROP_MILLIS => {
                (LatencyStanding::Good, None)
            }
            (LatencyStanding::Good | LatencyStanding::Rejoined { .. }, Pace::Fast | Pace::Unknown) => {
                (self.standing, None)
            }
        };
        self.standing = standing;
        match news {
            Some(LevelNews::Slow | LevelNews::Dropped) => self.told = true,
            Some(LevelNews::Recovered) => self.told = false,
            None => {}
        }
        news
    }
}

#[cfg(test)]
mod tests;
