//! How busy the writer is: numbers for the operator, kept with counters that cost a call nothing. They
//! say how much, never of whom.

use std::sync::atomic::{AtomicU64, Ordering};

/// The upper ends of the sizes that groups are sorted into; no group is larger than the last.
const SIZES: [u64; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/// The writer's load at one moment. All numbers but the two that wait only grow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Load {
    /// Pieces of work in the queue.
    pub waiting: u64,
    /// Audit records that nobody waits for and that are not written yet.
    pub unwritten: u64,
    /// Groups that were handed to one commit, by the number of their pieces: each upper end, and how many
    /// groups were that large or smaller than it and larger than the one before.
    pub groups: Vec<(u64, u64)>,
    /// Pieces in all groups together.
    pub pieces: u64,
    /// Commits that did not hold.
    pub failed: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    waiting: AtomicU64,
    groups: [AtomicU64; SIZES.len()],
    pieces: AtomicU64,
    failed: AtomicU64,
}

impl Counters {
    pub(crate) fn queued(&self) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
    }

    /// Taken by the writer, or refused after all.
    pub(crate) fn left(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Records by themselves are no group: nobody waited for them.
    pub(crate) fn group(&self, pieces: usize) {
        let pieces = u64::try_from(pieces).unwrap_or(u64::MAX);
        if pieces > 0
            && let Some((_, count)) = SIZES.iter().zip(&self.groups).find(|(size, _)| pieces <= **size)
        {
            count.fetch_add(1, Ordering::Relaxed);
            self.pieces.fetch_add(pieces, Ordering::Relaxed);
        }
    }

    pub(crate) fn failed(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn load(&self, unwritten: usize) -> Load {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Load {
            waiting: read(&self.waiting),
            unwritten: u64::try_from(unwritten).unwrap_or(u64::MAX),
            groups: SIZES.iter().zip(&self.groups).map(|(size, count)| (*size, read(count))).collect(),
            pieces: read(&self.pieces),
            failed: read(&self.failed),
        }
    }
}
