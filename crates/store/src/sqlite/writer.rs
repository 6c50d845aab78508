//! The one thread that writes. It takes whatever is waiting, applies each piece behind a savepoint of
//! its own, commits once for all of them, and only then answers.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Instant;

use frontdesk_engine::ports::{Commit, Committed};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::Shared;
use super::apply::Scribe;
use crate::StoreError;
use crate::load::{Counters, Load};
use crate::notes::{Closing, Notes, Tray};

const QUEUE: usize = 8192;
/// At most this many pieces of work share a commit.
const GROUP: usize = 256;

pub(crate) type Answer<T> = oneshot::Sender<Result<T, StoreError>>;
/// Work on the open transaction, and what to do once it is committed or has failed.
pub(crate) type Task = Box<dyn FnOnce(&mut Scribe<'_>) -> Result<(), StoreError> + Send>;

pub(crate) enum Job {
    Commit(Box<Commit>, Answer<Committed>),
    /// There is something in the tray.
    Notes,
    /// A record for this node's chain, with somebody waiting.
    Record(String, Answer<()>),
    Task(Task, Answer<()>),
    Stop,
}

pub(crate) struct Writer {
    jobs: SyncSender<Job>,
    tray: Tray,
    counters: Arc<Counters>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(connection: Connection, shared: Arc<Shared>) -> Result<Writer, StoreError> {
        let (jobs, queue) = sync_channel(QUEUE);
        let tray = Tray::default();
        let closing = Closing(tray.clone());
        let counters = Arc::new(Counters::default());
        let counted = Arc::clone(&counters);
        let thread = std::thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || write(&connection, &queue, &closing.0, &shared, &counted))
            .map_err(|error| StoreError::Folder { path: "the writer thread".into(), error })?;
        Ok(Writer { jobs, tray, counters, thread: Some(thread) })
    }

    /// A full queue refuses at once instead of making everybody wait.
    pub(crate) fn send(&self, job: Job) -> Result<(), StoreError> {
        self.post(job).map_err(|error| match error {
            TrySendError::Full(_) => StoreError::Busy,
            TrySendError::Disconnected(_) => StoreError::Closed,
        })
    }

    pub(crate) fn load(&self) -> Load {
        self.counters.load(self.tray.len())
    }

    /// Counted before it is sent, or the writer could take it first and count below nothing.
    fn post(&self, job: Job) -> Result<(), TrySendError<Job>> {
        self.counters.queued();
        self.jobs.try_send(job).inspect_err(|_| self.counters.left())
    }
}

impl Writer {
    pub(crate) fn note(&self, line: String) -> Result<(), StoreError> {
        self.tray.put(line, || self.send(Job::Notes))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // A blocking send: what was queued before is written before the thread ends.
        self.counters.queued();
        let _ = self.jobs.send(Job::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn write(connection: &Connection, queue: &Receiver<Job>, tray: &Tray, shared: &Shared, counters: &Counters) {
    let mut scribe = Scribe::new(connection, shared);
    let mut notes = Notes::default();
    loop {
        let first = match notes.due() {
            None => queue.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(due) => queue.recv_timeout(due.saturating_duration_since(Instant::now())),
        };
        let mut group = Vec::new();
        let mut ending = false;
        let mut next = match first {
            Ok(job) => Some(job),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                ending = true;
                None
            }
        };
        while let Some(job) = next {
            counters.left();
            match job {
                Job::Notes => notes.expect(),
                Job::Stop => ending = true,
                Job::Commit(..) | Job::Record(..) | Job::Task(..) => group.push(job),
            }
            next = match group.len() < GROUP {
                true => queue.try_recv().ok(),
                false => None,
            };
        }
        if !group.is_empty() || notes.are_due() || ending {
            notes.collect(tray);
            counters.group(group.len());
            flush(&mut scribe, group, &mut notes, counters);
        }
        if ending {
            return;
        }
    }
}

/// What to say to whom, once it is known whether the commit holds.
type Verdict = Box<dyn FnOnce(Result<(), &StoreError>)>;

fn flush(scribe: &mut Scribe<'_>, group: Vec<Job>, notes: &mut Notes, counters: &Counters) {
    let mut verdicts: Vec<Verdict> = Vec::new();
    let mut records = notes.records(scribe.shared.clock.now());
    let mut begun = scribe.begin();
    for job in group {
        match job {
            Job::Commit(commit, answer) => {
                let outcome = attempt(scribe, &mut begun, |scribe| scribe.commit(*commit));
                verdicts.push(Box::new(move |held| tell(answer, outcome, held)));
            }
            Job::Record(line, answer) => {
                records.push(line);
                verdicts.push(Box::new(move |held| tell(answer, Ok(()), held)));
            }
            Job::Task(task, answer) => {
                let outcome = attempt(scribe, &mut begun, |scribe| scribe.guarded(task));
                verdicts.push(Box::new(move |held| tell(answer, outcome, held)));
            }
            Job::Notes | Job::Stop => {}
        }
    }
    let held = begun.and_then(|()| scribe.note(&records)).and_then(|()| scribe.finish());
    match &held {
        Ok(()) => *notes = Notes::default(),
        Err(_) => {
            counters.failed();
            scribe.abandon();
            notes.keep();
        }
    }
    for verdict in verdicts {
        verdict(held.as_ref().copied());
    }
}

/// Does a piece of work while the transaction stands; once it has fallen, the rest of the group falls too.
fn attempt<T>(
    scribe: &mut Scribe<'_>,
    standing: &mut Result<(), StoreError>,
    work: impl FnOnce(&mut Scribe<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    if let Err(error) = standing {
        return Err(error.for_the_group());
    }
    let outcome = work(scribe);
    if !scribe.is_open() {
        let why = outcome.as_ref().err().map_or_else(|| "the transaction is gone".to_owned(), ToString::to_string);
        *standing = Err(StoreError::NotCommitted(why));
    }
    outcome
}

/// A reader who has gone does not mind not being told.
fn tell<T>(answer: Answer<T>, outcome: Result<T, StoreError>, held: Result<(), &StoreError>) {
    let _ = answer.send(match held {
        Ok(()) => outcome,
        Err(error) => Err(error.for_the_group()),
    });
}
