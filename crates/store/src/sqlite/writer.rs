//! The writer thread. It takes all jobs that are queued, runs them in one transaction, commits once, and only then
//! replies. A job that fails does not affect the others of its batch,
//! unless SQLite has rolled back the whole transaction.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Instant;

use frontdesk_engine::ports::Committed;
use rusqlite::Connection;

use super::SqliteContext;
use super::checkpoints::Checkpointer;
use super::encode::EncodedCommit;
use super::write_tx::{Isolation, WriteTx};
use crate::StoreError;
use crate::audit::AuditClass;
use crate::audit::buffer::{AuditBuffer, CloseOnDrop, PendingRecords};
use crate::backend::ReplySender;
use crate::backend::stats::{WriterCounters, WriterStats};

const QUEUE_CAPACITY: usize = 8192;
/// At most this many jobs share a commit.
const MAX_BATCH: usize = 256;

/// Work within the open transaction.
pub(crate) type WriteTask = Box<dyn FnOnce(&mut WriteTx<'_>) -> Result<(), StoreError> + Send>;

pub(crate) enum WriteJob {
    Commit(Box<EncodedCommit>, ReplySender<Committed>),
    /// The audit buffer is no longer empty.
    FlushBuffer,
    /// An audit record for this node's chain, whose caller waits.
    Record(String, ReplySender<()>),
    Task(WriteTask, ReplySender<()>),
    Stop,
}

pub(crate) struct SqliteWriter {
    queue: SyncSender<WriteJob>,
    buffer: AuditBuffer,
    counters: Arc<WriterCounters>,
    thread: Option<JoinHandle<()>>,
}

impl SqliteWriter {
    pub(crate) fn start(
        connection: Connection,
        context: Arc<SqliteContext>,
        mut checkpointer: Checkpointer,
    ) -> Result<SqliteWriter, StoreError> {
        let (sender, queue) = sync_channel(QUEUE_CAPACITY);
        let buffer = AuditBuffer::default();
        let closing = CloseOnDrop(buffer.clone());
        let counters = Arc::new(WriterCounters::default());
        let shared_counters = Arc::clone(&counters);
        let thread = std::thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || run(&connection, &queue, &closing.0, &context, &shared_counters, &mut checkpointer))
            .map_err(|error| StoreError::Io { path: "the writer thread".into(), error })?;
        Ok(SqliteWriter { queue: sender, buffer, counters, thread: Some(thread) })
    }

    /// Fails at once if the queue is full. The job is counted first: otherwise the writer could take it and
    /// decrement the counter below zero.
    pub(crate) fn send(&self, job: WriteJob) -> Result<(), StoreError> {
        self.counters.enqueued();
        self.queue.try_send(job).map_err(|error| {
            self.counters.dequeued();
            match error {
                TrySendError::Full(_) => StoreError::Busy,
                TrySendError::Disconnected(_) => StoreError::Closed,
            }
        })
    }

    pub(crate) fn stats(&self) -> WriterStats {
        self.counters.snapshot(self.buffer.len())
    }

    /// Leaves an audit record to be written with the next batch.
    pub(crate) fn buffer_record(&self, record: &str) -> Result<(), StoreError> {
        self.buffer.push(record, || self.send(WriteJob::FlushBuffer))
    }
}

impl Drop for SqliteWriter {
    fn drop(&mut self) {
        // A blocking send: everything queued before is written before the thread ends.
        self.counters.enqueued();
        let _ = self.queue.send(WriteJob::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Jobs that share a commit.
#[derive(Default)]
struct Batch {
    commits: Vec<(Box<EncodedCommit>, ReplySender<Committed>)>,
    tasks: Vec<(WriteTask, ReplySender<()>)>,
    records: Vec<(String, ReplySender<()>)>,
}

impl Batch {
    fn len(&self) -> usize {
        self.commits.len() + self.tasks.len() + self.records.len()
    }
}

fn run(
    connection: &Connection,
    queue: &Receiver<WriteJob>,
    buffer: &AuditBuffer,
    context: &SqliteContext,
    counters: &WriterCounters,
    checkpointer: &mut Checkpointer,
) {
    let mut tx = WriteTx::new(connection, context);
    let mut pending = PendingRecords::default();
    let mut stopping = false;
    while !stopping {
        let first = match pending.flush_at() {
            None => queue.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(at) => queue.recv_timeout(at.saturating_duration_since(Instant::now())),
        };
        stopping = matches!(first, Err(RecvTimeoutError::Disconnected));
        let mut next = first.ok();
        let mut batch = Batch::default();
        while let Some(job) = next {
            counters.dequeued();
            match job {
                WriteJob::Commit(plan, reply) => batch.commits.push((plan, reply)),
                WriteJob::Task(task, reply) => batch.tasks.push((task, reply)),
                WriteJob::Record(record, reply) => batch.records.push((record, reply)),
                WriteJob::FlushBuffer => pending.schedule(),
                WriteJob::Stop => stopping = true,
            }
            next = if batch.len() < MAX_BATCH { queue.try_recv().ok() } else { None };
        }
        if batch.len() > 0 || pending.is_due() || stopping {
            pending.take_from(buffer);
            counters.batch(batch.len());
            write_batch(&mut tx, batch, &mut pending, counters);
            checkpointer.maybe_checkpoint(connection);
        }
    }
}

fn write_batch(tx: &mut WriteTx<'_>, batch: Batch, pending: &mut PendingRecords, counters: &WriterCounters) {
    let Batch { commits, tasks, records } = batch;
    let awaited = records.iter().map(|(record, _)| record.as_str());
    let lines = pending.records(tx.context.clock.now(), awaited);
    // A task cannot run a second time, so a batch with tasks has savepoints from the start.
    let isolation = if tasks.is_empty() { Isolation::Batch } else { Isolation::Savepoint };
    let mut open = tx.begin();
    let mut outcomes = apply_all(tx, &mut open, &commits, isolation);
    if tx.is_aborted() {
        tx.rollback();
        open = tx.begin();
        outcomes = apply_all(tx, &mut open, &commits, Isolation::Savepoint);
    }
    let tasks: Vec<_> =
        tasks.into_iter().map(|(task, reply)| (run_in(tx, &mut open, |tx| tx.run_task(task)), reply)).collect();
    let committed = open.and_then(|()| tx.append_node_link(AuditClass::Reads, &lines)).and_then(|()| tx.commit());
    match &committed {
        Ok(()) => {
            pending.mark_written();
            // After the commit: a key that is read again before it would still be that of the tenant.
            if std::mem::take(&mut tx.ends_keys) {
                tx.context.keyring.clear();
            }
        }
        Err(_) => {
            counters.commit_failed();
            tx.rollback();
            pending.keep_for_retry();
        }
    }
    for ((_, reply), outcome) in commits.into_iter().zip(outcomes) {
        send_reply(reply, outcome, &committed);
    }
    for (outcome, reply) in tasks {
        send_reply(reply, outcome, &committed);
    }
    for (_, reply) in records {
        send_reply(reply, Ok(()), &committed);
    }
}

/// Stops after a plan that has aborted the batch.
fn apply_all(
    tx: &mut WriteTx<'_>,
    open: &mut Result<(), StoreError>,
    commits: &[(Box<EncodedCommit>, ReplySender<Committed>)],
    isolation: Isolation,
) -> Vec<Result<Committed, StoreError>> {
    let mut outcomes = Vec::with_capacity(commits.len());
    for (plan, _) in commits {
        outcomes.push(run_in(tx, open, |tx| tx.apply(plan, isolation)));
        if tx.is_aborted() {
            break;
        }
    }
    outcomes
}

/// Runs a job while the transaction is open. Once SQLite has rolled it back, the rest of the batch fails too.
fn run_in<T>(
    tx: &mut WriteTx<'_>,
    open: &mut Result<(), StoreError>,
    job: impl FnOnce(&mut WriteTx<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    if let Err(error) = open {
        return Err(error.for_batch_member());
    }
    let outcome = job(tx);
    if !tx.is_open() {
        let why = outcome.as_ref().err().map_or_else(|| "the transaction is gone".to_owned(), ToString::to_string);
        *open = Err(StoreError::NotCommitted(why));
    }
    outcome
}

/// The caller may have stopped waiting.
fn send_reply<T>(reply: ReplySender<T>, outcome: Result<T, StoreError>, committed: &Result<(), StoreError>) {
    let _ = reply.send(match committed {
        Ok(()) => outcome,
        Err(error) => Err(error.for_batch_member()),
    });
}
