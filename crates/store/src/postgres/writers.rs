//! The writer thread: two writers for tenants and one for everything else, each with a connection and a bounded queue.
//! What is queued is written even if the store is closed meanwhile.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::thread::JoinHandle;

use frontdesk_engine::ports::registry::Changed;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Sender, channel};

use super::global_writer::{self, GlobalJob};
use super::read_pool::PgSlot;
use super::tenant_writer::{self, TenantJob};
use super::{Address, PgContext};
use crate::StoreError;
use crate::audit::buffer::{AuditBuffer, CloseOnDrop};
use crate::backend::stats::{WriterCounters, WriterStats};
use crate::backend::{RegistryChange, ReplySender};

const QUEUE_CAPACITY: usize = 8192;
const TENANT_WRITERS: usize = 2;

pub(crate) struct Writers {
    /// `None` once the writers are to end.
    queues: Option<Queues>,
    buffer: AuditBuffer,
    counters: Arc<WriterCounters>,
    thread: Option<JoinHandle<()>>,
}

struct Queues {
    global: Sender<GlobalJob>,
    tenants: Vec<Sender<TenantJob>>,
}

impl Writers {
    pub(crate) fn start(address: &Address, context: Arc<PgContext>) -> Result<Writers, StoreError> {
        let failed = |error| StoreError::Io { path: "the writer thread".into(), error };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let buffer = AuditBuffer::default();
        let counters = Arc::new(WriterCounters::default());
        let shared_counters = Arc::clone(&counters);
        let closing = CloseOnDrop(buffer.clone());
        let config = address.with_statement_timeout();
        let (global, global_queue) = channel(QUEUE_CAPACITY);
        let (tenants, tenant_queues): (Vec<_>, Vec<_>) = (0..TENANT_WRITERS).map(|_| channel(QUEUE_CAPACITY)).unzip();
        let work = async move {
            let tenant_writers: Vec<_> = tenant_queues
                .into_iter()
                .map(|queue| {
                    let (context, counters) = (Arc::clone(&context), Arc::clone(&shared_counters));
                    tokio::spawn(tenant_writer::run(PgSlot::new(config.clone()), queue, context, counters))
                })
                .collect();
            let slot = PgSlot::new(config);
            global_writer::run(slot, global_queue, &closing.0, &context, &shared_counters).await;
            for writer in tenant_writers {
                let _ = writer.await;
            }
        };
        let thread = std::thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || runtime.block_on(work))
            .map_err(failed)?;
        Ok(Writers { queues: Some(Queues { global, tenants }), buffer, counters, thread: Some(thread) })
    }

    /// Fails at once if the queue is full. A tenant always has the same writer.
    pub(crate) fn commit(&self, job: TenantJob) -> Result<(), StoreError> {
        let mut hasher = DefaultHasher::new();
        job.commit.tenant.as_str().hash(&mut hasher);
        let queues = self.queues()?;
        let number = hasher.finish() as usize % queues.tenants.len().max(1);
        self.send(queues.tenants.get(number).ok_or(StoreError::Closed)?, job)
    }

    pub(crate) fn change(
        &self,
        change: RegistryChange,
        record: String,
        reply: ReplySender<Changed>,
    ) -> Result<(), StoreError> {
        self.send(&self.queues()?.global, GlobalJob::Change(change, record, reply))
    }

    pub(crate) fn record(&self, record: String, reply: ReplySender<()>) -> Result<(), StoreError> {
        self.send(&self.queues()?.global, GlobalJob::Record(record, reply))
    }

    /// Leaves an audit record to be written with the next batch.
    pub(crate) fn buffer_record(&self, record: &str) -> Result<(), StoreError> {
        let queues = self.queues()?;
        self.buffer.push(record, || self.send(&queues.global, GlobalJob::FlushBuffer))
    }

    /// Of all writers together.
    pub(crate) fn stats(&self) -> WriterStats {
        self.counters.snapshot(self.buffer.len())
    }

    /// The job is counted first: otherwise a writer could take it and decrement the counter below zero.
    fn send<T>(&self, queue: &Sender<T>, job: T) -> Result<(), StoreError> {
        self.counters.enqueued();
        queue.try_send(job).map_err(|error| {
            self.counters.dequeued();
            match error {
                TrySendError::Full(_) => StoreError::Busy,
                TrySendError::Closed(_) => StoreError::Closed,
            }
        })
    }

    fn queues(&self) -> Result<&Queues, StoreError> {
        self.queues.as_ref().ok_or(StoreError::Closed)
    }
}

impl Drop for Writers {
    /// The writers end once their queues are closed and empty.
    fn drop(&mut self) {
        self.queues = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
