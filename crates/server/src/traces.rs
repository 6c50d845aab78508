//! The spans of finished calls on their way to an OpenTelemetry collector. No call ever waits for it: what finds no room
//! is counted and dropped. Spans carry names, codes and times, and nothing of who called or what was said.

mod export;
mod post;
mod prepare;
mod span;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use frontdesk_engine::model::observation::Observation;
use frontdesk_engine::model::trace::Sampling;
use frontdesk_engine::ports::Random;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Sender, channel};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use crate::config::Ratio;
use crate::observe::Log;
pub use prepare::{Prepared, TracesError, listed, prepare};
use span::Call;

/// So many calls can wait for the collector.
const QUEUE: usize = 4096;

/// The way to the collector, which may change or end while calls go on.
pub struct Traces {
    random: Arc<dyn Random>,
    lane: RwLock<Option<Lane>>,
    /// Of ways that were given up and may have a last batch to send.
    leaving: Mutex<Vec<JoinHandle<()>>>,
    counts: Arc<Counts>,
}

struct Lane {
    queue: Sender<Call>,
    sample: Ratio,
    exporter: JoinHandle<()>,
}

/// Calls by what became of their spans.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) waiting: AtomicU64,
    pub(crate) sent: AtomicU64,
    /// There was no room.
    pub(crate) crowded_out: AtomicU64,
    /// The collector did not take them.
    pub(crate) undelivered: AtomicU64,
}

impl Traces {
    pub fn new(random: Arc<dyn Random>) -> Traces {
        Traces { random, lane: RwLock::default(), leaving: Mutex::default(), counts: Arc::default() }
    }

    /// From here on spans go this way. What waits on the way before it is still sent there, in one last try.
    pub fn follow(&self, prepared: Option<Prepared>, log: &Arc<Log>) {
        let lane = prepared.map(|Prepared { post, sample }| {
            let (queue, calls) = channel(QUEUE);
            let exporter = tokio::spawn(export::export(calls, post, Arc::clone(&self.counts), Arc::clone(log)));
            Lane { queue, sample, exporter }
        });
        let before = std::mem::replace(&mut *self.lane.write().unwrap_or_else(PoisonError::into_inner), lane);
        let mut leaving = self.leaving.lock().unwrap_or_else(PoisonError::into_inner);
        leaving.retain(|exporter| !exporter.is_finished());
        leaving.extend(before.map(|lane| lane.exporter));
    }

    /// Sends what waits, until then at the latest. How many calls had to be left behind.
    pub async fn close(&self, until: Instant) -> u64 {
        let lane = self.lane.write().unwrap_or_else(PoisonError::into_inner).take();
        let mut leaving = std::mem::take(&mut *self.leaving.lock().unwrap_or_else(PoisonError::into_inner));
        leaving.extend(lane.map(|lane| lane.exporter));
        for mut exporter in leaving {
            if timeout_at(until, &mut exporter).await.is_err() {
                exporter.abort();
            }
        }
        self.counts.waiting.load(Ordering::Relaxed)
    }

    pub(crate) fn seen(&self, seen: &Observation) {
        let lane = self.lane.read().unwrap_or_else(PoisonError::into_inner);
        let Some(lane) = lane.as_ref().filter(|lane| self.is_wanted(seen, lane.sample)) else {
            return;
        };
        // Before it is there, so that the exporter never takes away what was not added.
        self.counts.waiting.fetch_add(1, Ordering::Relaxed);
        match lane.queue.try_send(Call::of(seen, self.random.as_ref())) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Closed(_)) => {
                self.counts.waiting.fetch_sub(1, Ordering::Relaxed);
                self.counts.crowded_out.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Half a trace is of no use, so a known caller who has begun one has decided. Traces that begin here are decided by
    /// their id, which every node reads alike. A stranger decides nothing, and chooses the id too: chance does.
    fn is_wanted(&self, seen: &Observation, sample: Ratio) -> bool {
        let wish = seen.trace.parent.as_ref().map(|parent| parent.sampling);
        match (wish, &seen.caller) {
            (Some(Sampling::Sampled), Some(_)) => true,
            (Some(Sampling::Unsampled), Some(_)) => false,
            (Some(Sampling::Sampled | Sampling::Unsampled), None) => {
                let mut bytes = [0; 8];
                self.random.fill(&mut bytes);
                sample.takes(u64::from_be_bytes(bytes))
            }
            (None, _) => {
                let last = seen.trace.id.get(16..).and_then(|half| u64::from_str_radix(half, 16).ok());
                last.is_some_and(|number| sample.takes(number))
            }
        }
    }
}
