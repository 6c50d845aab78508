//! The one thread that writes. It takes whatever is waiting, commits once for all of it, and only then answers.
//! A piece that fails takes no other with it.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Instant;

use frontdesk_engine::ports::Committed;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::Shared;
use super::apply::{Care, Scribe, Spoiled};
use super::checkpoints::Checkpoints;
use super::ready::Ready;
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
    Commit(Box<Ready>, Answer<Committed>),
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
    pub(crate) fn start(
        connection: Connection,
        shared: Arc<Shared>,
        mut checkpoints: Checkpoints,
    ) -> Result<Writer, StoreError> {
        let (jobs, queue) = sync_channel(QUEUE);
        let tray = Tray::default();
        let closing = Closing(tray.clone());
        let counters = Arc::new(Counters::default());
        let counted = Arc::clone(&counters);
        let thread = std::thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || write(&connection, &queue, &closing.0, &shared, &counted, &mut checkpoints))
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
    pub(crate) fn note(&self, record: &str) -> Result<(), StoreError> {
        self.tray.put(record, || self.send(Job::Notes))
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

fn write(
    connection: &Connection,
    queue: &Receiver<Job>,
    tray: &Tray,
    shared: &Shared,
    counters: &Counters,
    checkpoints: &mut Checkpoints,
) {
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
            checkpoints.tend(connection);
        }
        if ending {
            return;
        }
    }
}

/// What to say to whom, once it is known whether the commit holds.
type Verdict = Box<dyn FnOnce(Result<(), &StoreError>)>;

/// Whether the transaction stands, and what its pieces came to.
struct Applied {
    standing: Result<(), StoreError>,
    verdicts: Vec<Verdict>,
}

fn flush(scribe: &mut Scribe<'_>, group: Vec<Job>, notes: &mut Notes, counters: &Counters) {
    let awaited: Vec<String> = group.iter().filter_map(awaited).collect();
    let records = notes.records(scribe.shared.clock.now(), awaited.iter().map(String::as_str));
    let Applied { standing, verdicts } = match together(scribe, &group) {
        Ok((standing, outcomes)) => Applied { standing, verdicts: pair(group, outcomes) },
        Err(Spoiled) => apart(scribe, group),
    };
    let held = standing.and_then(|()| scribe.note(&records)).and_then(|()| scribe.finish());
    match &held {
        Ok(()) => notes.written(),
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

/// A record that somebody waits for.
fn awaited(job: &Job) -> Option<String> {
    match job {
        Job::Record(record, _) => Some(record.clone()),
        Job::Commit(..) | Job::Task(..) | Job::Notes | Job::Stop => None,
    }
}

type Outcome = Result<Committed, StoreError>;

/// All plans of a group, nothing between them. A task cannot be done a second time, so a group that has one is
/// never tried like this.
fn together(scribe: &mut Scribe<'_>, group: &[Job]) -> Result<(Result<(), StoreError>, Vec<Outcome>), Spoiled> {
    if group.iter().any(|job| matches!(job, Job::Task(..))) {
        return Err(Spoiled);
    }
    let mut standing = scribe.begin();
    let mut outcomes = Vec::with_capacity(group.len());
    for job in group {
        if let Job::Commit(ready, _) = job {
            let outcome = attempt(scribe, &mut standing, |scribe| scribe.commit(ready, Care::Together));
            if scribe.is_spoiled() {
                scribe.abandon();
                return Err(Spoiled);
            }
            outcomes.push(outcome);
        }
    }
    Ok((standing, outcomes))
}

fn pair(group: Vec<Job>, outcomes: Vec<Outcome>) -> Vec<Verdict> {
    let mut outcomes = outcomes.into_iter();
    let verdict = |job: Job| -> Option<Verdict> {
        match job {
            Job::Commit(_, answer) => {
                let outcome = outcomes.next().unwrap_or(Err(StoreError::Unfinished));
                Some(Box::new(move |held| tell(answer, outcome, held)))
            }
            Job::Record(_, answer) => Some(Box::new(move |held| tell(answer, Ok(()), held))),
            Job::Task(..) | Job::Notes | Job::Stop => None,
        }
    };
    group.into_iter().filter_map(verdict).collect()
}

/// Each piece behind a savepoint of its own.
fn apart(scribe: &mut Scribe<'_>, group: Vec<Job>) -> Applied {
    let mut verdicts: Vec<Verdict> = Vec::with_capacity(group.len());
    let mut standing = scribe.begin();
    for job in group {
        match job {
            Job::Commit(ready, answer) => {
                let outcome = attempt(scribe, &mut standing, |scribe| scribe.commit(&ready, Care::Apart));
                verdicts.push(Box::new(move |held| tell(answer, outcome, held)));
            }
            Job::Record(_, answer) => verdicts.push(Box::new(move |held| tell(answer, Ok(()), held))),
            Job::Task(task, answer) => {
                let outcome = attempt(scribe, &mut standing, |scribe| scribe.guarded(task));
                verdicts.push(Box::new(move |held| tell(answer, outcome, held)));
            }
            Job::Notes | Job::Stop => {}
        }
    }
    Applied { standing, verdicts }
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
