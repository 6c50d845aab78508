//! Exports the spans of finished calls to an OpenTelemetry collector. No call waits for it: spans that do not fit into the
//! queue are counted and dropped. Spans contain names, codes and times, and nothing about the caller or its arguments.

mod export;
mod otlp_client;
mod setup;
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

use crate::config::SampleRatio;
pub use setup::{ExporterSetup, TracesError, listed, prepare};
use span::CallSpans;

/// How many calls can be queued for export.
const MAX_QUEUED: usize = 4096;

/// The queue of spans and the exporter that empties it, which a reload can replace.
pub struct Traces {
    random: Arc<dyn Random>,
    exporter: RwLock<Option<Exporter>>,
    /// Replaced exporters that may still have a batch to send.
    draining: Mutex<Vec<JoinHandle<()>>>,
    counts: Arc<TraceCounts>,
}

struct Exporter {
    queue: Sender<CallSpans>,
    sample: SampleRatio,
    task: JoinHandle<()>,
}

/// Calls by what happened to their spans.
#[derive(Default)]
pub(crate) struct TraceCounts {
    pub(crate) queued: AtomicU64,
    pub(crate) sent: AtomicU64,
    /// The queue was full.
    pub(crate) dropped_queue_full: AtomicU64,
    /// The collector did not accept them.
    pub(crate) undelivered: AtomicU64,
}

impl Traces {
    pub fn new(random: Arc<dyn Random>) -> Traces {
        Traces { random, exporter: RwLock::default(), draining: Mutex::default(), counts: Arc::default() }
    }

    /// From here on spans go to this collector, or nowhere. What is queued for the previous one is sent there in one last
    /// attempt.
    pub fn set_exporter(&self, setup: Option<ExporterSetup>) {
        let exporter = setup.map(|ExporterSetup { client, sample }| {
            let (queue, calls) = channel(MAX_QUEUED);
            let task = tokio::spawn(export::export(calls, client, Arc::clone(&self.counts)));
            Exporter { queue, sample, task }
        });
        let before = std::mem::replace(&mut *self.exporter.write().unwrap_or_else(PoisonError::into_inner), exporter);
        let mut draining = self.draining.lock().unwrap_or_else(PoisonError::into_inner);
        draining.retain(|task| !task.is_finished());
        draining.extend(before.map(|exporter| exporter.task));
    }

    /// Exports what is queued, until the deadline. Returns for how many calls that failed.
    pub async fn close(&self, deadline: Instant) -> u64 {
        let exporter = self.exporter.write().unwrap_or_else(PoisonError::into_inner).take();
        let mut draining = std::mem::take(&mut *self.draining.lock().unwrap_or_else(PoisonError::into_inner));
        draining.extend(exporter.map(|exporter| exporter.task));
        for mut task in draining {
            if timeout_at(deadline, &mut task).await.is_err() {
                task.abort();
            }
        }
        self.counts.queued.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self, call: &Observation) {
        let exporter = self.exporter.read().unwrap_or_else(PoisonError::into_inner);
        let Some(exporter) = exporter.as_ref().filter(|exporter| self.is_sampled(call, exporter.sample)) else {
            return;
        };
        // Counted before it is sent, so that the exporter never subtracts what was not added.
        self.counts.queued.fetch_add(1, Ordering::Relaxed);
        match exporter.queue.try_send(CallSpans::new(call, self.random.as_ref())) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Closed(_)) => {
                self.counts.queued.fetch_sub(1, Ordering::Relaxed);
                self.counts.dropped_queue_full.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    pub(super) fn counts(&self) -> &TraceCounts {
        &self.counts
    }

    /// An authenticated caller that has started a trace decides for it, because half a trace is of no use. Traces that start
    /// here are sampled by their id, so that every node decides alike. Unauthenticated callers could choose such an id, so
    /// theirs are sampled at random.
    fn is_sampled(&self, call: &Observation, sample: SampleRatio) -> bool {
        let sampling = call.trace.parent.as_ref().map(|parent| parent.sampling);
        match (sampling, &call.caller) {
            (Some(Sampling::Sampled), Some(_)) => true,
            (Some(Sampling::Unsampled), Some(_)) => false,
            (Some(Sampling::Sampled | Sampling::Unsampled), None) => {
                let mut bytes = [0; 8];
                self.random.fill(&mut bytes);
                sample.includes(u64::from_be_bytes(bytes))
            }
            (None, _) => {
                let last = call.trace.id.get(16..).and_then(|half| u64::from_str_radix(half, 16).ok());
                last.is_some_and(|number| sample.includes(number))
            }
        }
    }
}
