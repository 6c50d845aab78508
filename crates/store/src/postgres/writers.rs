//! The thread that writes, beside whatever serves: two writers for tenants and one for this node's own
//! chain and the registry, each with a connection and a bounded queue. What was handed over is written even
//! if the store is closed meanwhile.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::thread::JoinHandle;

use frontdesk_engine::ports::registry::Changed;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Sender, channel};
use tokio::sync::oneshot;
use tokio_postgres::error::SqlState;

use super::lanes::Lane;
use super::live::Live;
use super::node::{self, Change};
use super::texts::COMMIT;
use super::{Address, Shared, tenants};
use crate::StoreError;
use crate::load::{Counters, Load};
use crate::notes::{Closing, Tray};

const QUEUE: usize = 8192;
const TENANT_WRITERS: usize = 2;

pub(crate) type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

pub(crate) struct Writers {
    queues: Option<Queues>,
    tray: Tray,
    counters: Arc<Counters>,
    thread: Option<JoinHandle<()>>,
}

struct Queues {
    node: Sender<node::Job>,
    tenants: Vec<Sender<tenants::Job>>,
}

impl Writers {
    pub(crate) fn start(address: &Address, shared: Arc<Shared>) -> Result<Writers, StoreError> {
        let failed = |error| StoreError::Folder { path: "the writer thread".into(), error };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let tray = Tray::default();
        let counters = Arc::new(Counters::default());
        let counted = Arc::clone(&counters);
        let closing = Closing(tray.clone());
        let (node, queue) = channel(QUEUE);
        let mut senders = Vec::new();
        let mut writing = Vec::new();
        for _ in 0..TENANT_WRITERS {
            let (sender, queue) = channel(QUEUE);
            senders.push(sender);
            writing.push((Lane::new(address.brief()), queue));
        }
        let lane = Lane::new(address.brief());
        let work = async move {
            let others: Vec<_> = writing
                .into_iter()
                .map(|(lane, queue)| {
                    tokio::spawn(tenants::write(lane, queue, Arc::clone(&shared), Arc::clone(&counted)))
                })
                .collect();
            node::write(lane, queue, &closing.0, &shared, &counted).await;
            for other in others {
                let _ = other.await;
            }
        };
        let thread = std::thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || runtime.block_on(work))
            .map_err(failed)?;
        Ok(Writers { queues: Some(Queues { node, tenants: senders }), tray, counters, thread: Some(thread) })
    }

    /// A full queue refuses at once instead of making everybody wait. A tenant always has the same writer.
    pub(crate) fn commit(&self, job: tenants::Job) -> Result<(), StoreError> {
        let mut hasher = DefaultHasher::new();
        job.commit.tenant.as_str().hash(&mut hasher);
        let queues = self.queues()?;
        let number = hasher.finish() as usize % queues.tenants.len().max(1);
        self.post(queues.tenants.get(number).ok_or(StoreError::Closed)?, job)
    }

    pub(crate) fn change(&self, change: Change, record: String, answer: Answer<Changed>) -> Result<(), StoreError> {
        self.post(&self.queues()?.node, node::Job::Change(change, record, answer))
    }

    pub(crate) fn record(&self, record: String, answer: Answer<()>) -> Result<(), StoreError> {
        self.post(&self.queues()?.node, node::Job::Record(record, answer))
    }

    pub(crate) fn note(&self, record: &str) -> Result<(), StoreError> {
        let queues = self.queues()?;
        self.tray.put(record, || self.post(&queues.node, node::Job::Notes))
    }

    /// How busy all writers are together.
    pub(crate) fn load(&self) -> Load {
        self.counters.load(self.tray.len())
    }

    /// Counted before it is sent, or a writer could take it first and count below nothing.
    fn post<T>(&self, queue: &Sender<T>, job: T) -> Result<(), StoreError> {
        self.counters.queued();
        queue.try_send(job).map_err(|error| {
            self.counters.left();
            refused(error)
        })
    }

    fn queues(&self) -> Result<&Queues, StoreError> {
        self.queues.as_ref().ok_or(StoreError::Closed)
    }
}

impl Drop for Writers {
    /// The writers end once their queues are gone and worked off.
    fn drop(&mut self) {
        self.queues = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn refused<T>(error: TrySendError<T>) -> StoreError {
    match error {
        TrySendError::Full(_) => StoreError::Busy,
        TrySendError::Closed(_) => StoreError::Closed,
    }
}

/// Commits. A connection that is lost on the way leaves open whether the server had it.
pub(crate) async fn ended(live: &Live) -> Result<(), StoreError> {
    live.batch(COMMIT).await.map_err(|error| match leaves_open(error.code()) || live.is_closed() {
        true => StoreError::Unfinished,
        false => StoreError::Postgres(error),
    })
}

/// A server that is shut down says so as its last word, and may have written the commit before it.
fn leaves_open(code: Option<&SqlState>) -> bool {
    code.is_none_or(|code| code.code().starts_with("57P"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_of_a_server_that_ends_leaves_open_whether_it_committed() {
        let open = [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN].map(|code| leaves_open(Some(&code)));
        assert_eq!((open, leaves_open(None)), ([true, true], true));
        let refused = [SqlState::QUERY_CANCELED, SqlState::T_R_SERIALIZATION_FAILURE, SqlState::DISK_FULL];
        assert_eq!(refused.map(|code| leaves_open(Some(&code))), [false; 3]);
    }
}
