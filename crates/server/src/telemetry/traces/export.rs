//! The export task: it batches calls and posts each batch. While the collector is slow the queue fills, and calls that do
//! not fit are dropped.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc::Receiver;
use tokio::time::{Instant, sleep, timeout_at};

use super::TraceCounts;
use super::otlp_client::{ExportError, OtlpClient};
use super::span::{CallSpans, request};

/// The most calls of one batch.
const MAX_BATCH: usize = 512;
/// How long a batch waits for more calls.
const BATCH_DELAY: Duration = Duration::from_secs(1);
/// The delays between retries.
const RETRY_DELAYS: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];
/// How often a delay is interrupted to notice a shutdown.
const SHUTDOWN_CHECK: Duration = Duration::from_millis(50);

/// Runs until the queue is closed and everything in it was tried.
pub(super) async fn export(mut calls: Receiver<CallSpans>, mut client: OtlpClient, counts: Arc<TraceCounts>) {
    let mut failing = false;
    while let Some(first) = calls.recv().await {
        let batch = collect_batch(first, &mut calls).await;
        let count = batch.len() as u64;
        let delivered = deliver(Bytes::from(request(&batch)), &mut client, &calls).await;
        counts.queued.fetch_sub(count, Ordering::Relaxed);
        match delivered {
            Ok(rejected) => {
                counts.sent.fetch_add(count, Ordering::Relaxed);
                if std::mem::take(&mut failing) {
                    tracing::info!("trace export recovered");
                }
                if rejected > 0 {
                    tracing::warn!(spans = rejected, "trace collector rejected spans");
                }
            }
            Err(why) => {
                counts.undelivered.fetch_add(count, Ordering::Relaxed);
                if !std::mem::replace(&mut failing, true) {
                    tracing::warn!(error = why, "trace export failed; check `traces.endpoint` and the collector");
                }
            }
        }
    }
}

async fn collect_batch(first: CallSpans, calls: &mut Receiver<CallSpans>) -> Vec<CallSpans> {
    let until = Instant::now() + BATCH_DELAY;
    let mut batch = vec![first];
    while batch.len() < MAX_BATCH {
        match timeout_at(until, calls.recv()).await {
            Ok(Some(call)) => batch.push(call),
            Ok(None) | Err(_) => break,
        }
    }
    batch
}

/// Returns how many spans the collector rejected.
async fn deliver(body: Bytes, client: &mut OtlpClient, calls: &Receiver<CallSpans>) -> Result<u64, String> {
    let mut delays = RETRY_DELAYS.into_iter();
    loop {
        let why = match client.send(body.clone()).await {
            Ok(rejected) => return Ok(rejected),
            Err(ExportError::Permanent(why)) => return Err(why),
            Err(ExportError::Retryable(why)) => why,
        };
        let Some(delay) = delays.next() else {
            return Err(why);
        };
        let until = Instant::now() + delay;
        while Instant::now() < until {
            // A shutdown does not wait for further retries.
            if calls.is_closed() {
                return Err(why);
            }
            sleep(SHUTDOWN_CHECK).await;
        }
    }
}
