//! Statistics of the writer, for metrics. They contain no names of tenants or clients.

use std::sync::atomic::{AtomicU64, Ordering};

/// The upper bounds of the histogram of batch sizes; no batch is larger than the last.
const BATCH_SIZES: [u64; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/// The writer's statistics at one moment. `queued_jobs` and `buffered_records` are gauges, the others are counters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriterStats {
    pub queued_jobs: u64,
    /// Audit records in the buffer that are not written yet.
    pub buffered_records: u64,
    /// A histogram of batch sizes: each upper bound, and how many batches were above the bound before it and not
    /// above it.
    pub batches: Vec<(u64, u64)>,
    /// Jobs in all batches together.
    pub batched_jobs: u64,
    pub failed_commits: u64,
}

#[derive(Debug, Default)]
pub(crate) struct WriterCounters {
    queued_jobs: AtomicU64,
    batches: [AtomicU64; BATCH_SIZES.len()],
    batched_jobs: AtomicU64,
    failed_commits: AtomicU64,
}

impl WriterCounters {
    pub(crate) fn enqueued(&self) {
        self.queued_jobs.fetch_add(1, Ordering::Relaxed);
    }

    /// Taken by the writer, or refused because the queue is full.
    pub(crate) fn dequeued(&self) {
        self.queued_jobs.fetch_sub(1, Ordering::Relaxed);
    }

    /// A batch of buffered records alone has no jobs and is not counted.
    pub(crate) fn batch(&self, jobs: usize) {
        let jobs = u64::try_from(jobs).unwrap_or(u64::MAX);
        if jobs > 0
            && let Some((_, count)) = BATCH_SIZES.iter().zip(&self.batches).find(|(size, _)| jobs <= **size)
        {
            count.fetch_add(1, Ordering::Relaxed);
            self.batched_jobs.fetch_add(jobs, Ordering::Relaxed);
        }
    }

    pub(crate) fn commit_failed(&self) {
        self.failed_commits.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn snapshot(&self, buffered_records: usize) -> WriterStats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        WriterStats {
            queued_jobs: read(&self.queued_jobs),
            buffered_records: u64::try_from(buffered_records).unwrap_or(u64::MAX),
            batches: BATCH_SIZES.iter().zip(&self.batches).map(|(size, count)| (*size, read(count))).collect(),
            batched_jobs: read(&self.batched_jobs),
            failed_commits: read(&self.failed_commits),
        }
    }
}
