//! How busy the writer is: numbers for the operator, kept with counters that cost a call nothing. They
//! say how much, never of whom.

use std::sync::atomic::{AtomicU64, Ordering};

/// The upper ends of the sizes that batches are sorted into; no group is larger than the last.
const BATCH_SIZES: [u64; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/// The writer's load at one moment. All numbers but the two that wait only grow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriterStats {
    /// Pieces of work in the queue.
    pub queued_jobs: u64,
    /// Audit records that nobody waits for and that are not written yet.
    pub buffered_records: u64,
    /// Groups that were handed to one commit, by the number of their batched_jobs: each upper end, and how many
    /// batches were that large or smaller than it and larger than the one before.
    pub batches: Vec<(u64, u64)>,
    /// Pieces in all batches together.
    pub batched_jobs: u64,
    /// Commits that did not hold.
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

    /// Taken by the writer, or refused after all.
    pub(crate) fn dequeued(&self) {
        self.queued_jobs.fetch_sub(1, Ordering::Relaxed);
    }

    /// Records by themselves are no group: nobody waited for them.
    pub(crate) fn batch(&self, batched_jobs: usize) {
        let batched_jobs = u64::try_from(batched_jobs).unwrap_or(u64::MAX);
        if batched_jobs > 0
            && let Some((_, count)) = BATCH_SIZES.iter().zip(&self.batches).find(|(size, _)| batched_jobs <= **size)
        {
            count.fetch_add(1, Ordering::Relaxed);
            self.batched_jobs.fetch_add(batched_jobs, Ordering::Relaxed);
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
