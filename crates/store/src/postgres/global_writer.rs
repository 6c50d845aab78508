//! Writing what belongs to no tenant: this node's audit chains, and tenants, clients and tokens, each change together
//! with its audit record. Everything that is queued is committed together.

use frontdesk_engine::ports::registry::Changed;
use tokio::sync::mpsc::Receiver;
use tokio::time::timeout_at;

use super::PgContext;
use super::connection::PgConnection;
use super::plan_statements::{insert_link, upsert_head};
use super::read_pool::PgSlot;
use super::sql_texts::BEGIN;
use crate::StoreError;
use crate::audit::buffer::{AuditBuffer, PendingRecords, add_line};
use crate::audit::{AuditClass, ChainHead, roster};
use crate::backend::stats::WriterCounters;
use crate::backend::{Applied, RegistryChange, ReplySender};

const MAX_BATCH: usize = 256;

pub(crate) enum GlobalJob {
    /// The audit buffer is no longer empty.
    FlushBuffer,
    /// An audit record for this node's chain, whose caller waits.
    Record(String, ReplySender<()>),
    /// A change, and the audit record that is written if it changed something.
    Change(RegistryChange, String, ReplySender<Changed>),
}

/// Runs until the queue is closed and empty.
pub(crate) async fn run(
    slot: PgSlot,
    mut queue: Receiver<GlobalJob>,
    buffer: &AuditBuffer,
    context: &PgContext,
    counters: &WriterCounters,
) {
    let mut pending = PendingRecords::default();
    let mut stopping = false;
    while !stopping {
        let mut next = match pending.flush_at() {
            None => queue.recv().await.or_else(|| stop(&mut stopping)),
            Some(at) => match timeout_at(at.into(), queue.recv()).await {
                Ok(received) => received.or_else(|| stop(&mut stopping)),
                Err(_) => None,
            },
        };
        let mut batch = GlobalBatch::default();
        while let Some(job) = next {
            counters.dequeued();
            match job {
                GlobalJob::FlushBuffer => pending.schedule(),
                GlobalJob::Record(record, reply) => batch.records.push((record, reply)),
                GlobalJob::Change(change, record, reply) => batch.changes.push((change, record, reply)),
            }
            next = if batch.len() < MAX_BATCH { queue.try_recv().ok() } else { None };
        }
        if batch.len() > 0 || pending.is_due() || stopping {
            pending.take_from(buffer);
            counters.batch(batch.len());
            write_batch(&slot, context, batch, &mut pending, counters).await;
        }
    }
}

/// The queue is closed.
fn stop(stopping: &mut bool) -> Option<GlobalJob> {
    *stopping = true;
    None
}

#[derive(Default)]
struct GlobalBatch {
    records: Vec<(String, ReplySender<()>)>,
    changes: Vec<(RegistryChange, String, ReplySender<Changed>)>,
}

impl GlobalBatch {
    fn len(&self) -> usize {
        self.records.len() + self.changes.len()
    }
}

async fn write_batch(
    slot: &PgSlot,
    context: &PgContext,
    batch: GlobalBatch,
    pending: &mut PendingRecords,
    counters: &WriterCounters,
) {
    let awaited = batch.records.iter().map(|(record, _)| record.as_str());
    let records = pending.records(context.clock.now(), awaited).into_owned();
    if records.is_empty() && batch.changes.is_empty() {
        return;
    }
    let outcomes = slot.transact(async |connection| commit_all(connection, context, &batch, records).await).await;
    // Callers may have stopped waiting.
    match outcomes {
        Ok(outcomes) => {
            pending.mark_written();
            for ((_, _, reply), outcome) in batch.changes.into_iter().zip(outcomes) {
                let _ = reply.send(outcome);
            }
            for (_, reply) in batch.records {
                let _ = reply.send(Ok(()));
            }
        }
        Err(error) => {
            counters.commit_failed();
            pending.keep_for_retry();
            for (_, _, reply) in batch.changes {
                let _ = reply.send(Err(error.for_batch_member()));
            }
            for (_, reply) in batch.records {
                let _ = reply.send(Err(error.for_batch_member()));
            }
        }
    }
}

type Outcomes = Vec<Result<Changed, StoreError>>;

async fn commit_all(
    connection: &PgConnection,
    context: &PgContext,
    batch: &GlobalBatch,
    mut records: String,
) -> Result<Outcomes, StoreError> {
    connection.batch_execute(BEGIN).await?;
    let mut outcomes = Vec::new();
    let mut administration = String::new();
    for (change, record, _) in &batch.changes {
        connection.batch_execute("SAVEPOINT plan").await?;
        let applied = change.apply(connection, context.keyring.registry(), record).await;
        match &applied {
            Ok(applied) => {
                connection.batch_execute("RELEASE plan").await?;
                match applied {
                    Applied::Done(AuditClass::Administration, record) => add_line(&mut administration, record),
                    Applied::Done(AuditClass::Reads | AuditClass::Writes, record) => add_line(&mut records, record),
                    Applied::Nothing => {}
                }
            }
            Err(_) => connection.batch_execute("ROLLBACK TO plan; RELEASE plan").await?,
        }
        outcomes.push(applied.map(|applied| applied.changed()));
    }
    append_link(connection, context, AuditClass::Reads, &records).await?;
    append_link(connection, context, AuditClass::Administration, &administration).await?;
    connection.commit().await?;
    Ok(outcomes)
}

/// Appends records to a chain of this node, as one link.
async fn append_link(
    connection: &PgConnection,
    context: &PgContext,
    class: AuditClass,
    records: &str,
) -> Result<(), StoreError> {
    if records.is_empty() {
        return Ok(());
    }
    let chain = class.chain(&context.node);
    // Locked because retention on another node may trim this chain.
    let head = ChainHead::find_locked(connection, &context.audit_key, &chain).await?;
    if head.is_none() {
        roster::begin_chain(connection, &context.audit_key, &chain, 0).await?;
    }
    let mut head = ChainHead::or_last_link(head, connection, &chain).await?;
    let link = insert_link(context, &chain, &mut head, context.clock.now().0, records);
    let head = upsert_head(context, &chain, &head);
    let changes = [(&*link.text, link.values.as_slice()), (&*head.text, head.values.as_slice())];
    for result in connection.execute_all(None, &changes).await? {
        result?;
    }
    Ok(())
}
