//! Tasks as they are kept: each change is a commit of its own that holds only if nobody else changed the task since
//! it was read, so that of several nodes one has it.

use std::sync::Arc;
use std::time::Duration;

use super::letter::Letter;
use super::settings::Dispatching;
use super::task::{DUE_AT, MOST_ATTEMPTS, OPEN, OWNER, SLOT, State, TASK, Task};
use super::told::Answer;
use crate::audit::Observation;
use crate::desk::{Desk, Mount};
use crate::fault::{Fault, FaultKind};
use crate::page::{Direction, Filter, Order, Query, Start, Wants, Window};
use crate::plan::{Stale, Step};
use crate::ports::{Commit, Committed, Disclosure};
use crate::table::Cell;
use crate::timestamp::Millis;
use crate::tool::Item;

/// So long whoever accepted a task has it to itself.
const GRACE: Duration = Duration::from_secs(10);
/// A run that has lasted so much longer than it may is over.
const MARGIN: Duration = Duration::from_secs(10);
/// After a run that brought no answer; after each further one twice as long, up to a bound.
const PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// A task that is still open so long after its answer would have been forgotten is nobody's any more.
const ABANDONED: Duration = Duration::from_secs(7 * 86_400);
/// Forgetting looks at what has expired before this.
const LONG_AGO: i64 = 0;

pub(crate) struct Ledger<'a> {
    pub(crate) desk: &'a Desk,
    pub(crate) mount: &'a Mount,
    pub(crate) dispatching: &'a Dispatching,
}

/// How a change ended.
pub(crate) enum Written {
    Done(Box<Task>),
    /// Somebody else changed the task first.
    Lost,
}

impl Ledger<'_> {
    pub(crate) fn now(&self) -> i64 {
        self.desk.now().0
    }

    /// The task under the letter's key.
    pub(crate) async fn find(&self, letter: &Letter) -> Result<Option<Task>, Fault> {
        let Some(slot) = letter.slot() else {
            return Ok(None);
        };
        let tenant = &self.dispatching.tenant;
        match self.desk.store.find(tenant, &TASK, SLOT, Cell::Digest(slot)).await? {
            None => Ok(None),
            Some(found) => self.get(&found.id).await,
        }
    }

    pub(crate) async fn get(&self, id: &str) -> Result<Option<Task>, Fault> {
        let found = self.desk.store.get(&self.dispatching.tenant, &TASK, id, Disclosure::Full).await?;
        found.map(|found| Task::found(found).ok_or_else(|| Fault::internal("a task cannot be read"))).transpose()
    }

    /// Ids of tasks of this server that nobody has, the oldest first.
    pub(crate) async fn due(&self, limit: usize) -> Result<Vec<String>, Fault> {
        self.open(limit, self.now()).await
    }

    /// Ids of open tasks of this server, also of those that somebody has or had, the oldest first.
    pub(crate) async fn left(&self, limit: usize) -> Result<Vec<String>, Fault> {
        self.open(limit, i64::MAX).await
    }

    async fn open(&self, limit: usize, due_until: i64) -> Result<Vec<String>, Fault> {
        let query = Query {
            wants: Wants::Ids,
            kind: &TASK,
            filters: vec![
                Filter::Equals(OPEN, Cell::Text(self.dispatching.server.clone())),
                Filter::AtMost(DUE_AT, due_until),
            ],
            order: Order { column: "created_at", direction: Direction::Rising },
            window: Window { start: Start::First, limit, bytes: usize::MAX },
        };
        Ok(self.desk.store.page(&self.dispatching.tenant, query).await?.rows)
    }

    /// Refuses one task more where as many are kept as may be, for this caller or for the whole tenant.
    pub(crate) async fn has_room(&self, letter: &Letter) -> Result<(), Fault> {
        let limits = self.desk.tasks.limits;
        let own = vec![Filter::Equals(OWNER, Cell::Digest(letter.owner()))];
        if self.reaches(own, limits.kept_for_one).await? {
            let message = "As many of your answers are kept here as may be. Wait until the oldest are forgotten, or send                            messages without a key to the endpoint itself.";
            return Err(Fault::new(FaultKind::RateLimited, message).retry_after(60));
        }
        if self.desk.tasks.is_time_to_count() && self.reaches(Vec::new(), limits.kept).await? {
            let message = "As many answers are kept here as may be. Wait until the oldest are forgotten, or send messages                            without a key to the endpoint itself.";
            return Err(Fault::new(FaultKind::NoRoom, message).retry_after(60));
        }
        Ok(())
    }

    async fn reaches(&self, filters: Vec<Filter>, most: usize) -> Result<bool, Fault> {
        let query = Query {
            wants: Wants::Ids,
            kind: &TASK,
            filters,
            order: Order { column: "created_at", direction: Direction::Rising },
            window: Window { start: Start::Offset(most.saturating_sub(1) as u64), limit: 1, bytes: usize::MAX },
        };
        Ok(!self.desk.store.page(&self.dispatching.tenant, query).await?.rows.is_empty())
    }

    /// Writes a new task, in the place of one that has expired if there is one.
    pub(crate) async fn add(&self, letter: Letter, state: State, expired: Option<&Task>) -> Result<Written, Fault> {
        let now = self.now();
        let (attempts, due_at) = match state {
            State::Running => (1, self.lease(now)),
            State::Waiting | State::Completed | State::Failed => (0, after(now, GRACE)),
        };
        let task = Task {
            id: expired.map_or_else(|| self.desk.new_id("tsk"), |known| known.id.clone()),
            version: 1,
            created_at: now,
            state,
            server: self.dispatching.server.clone(),
            attempts,
            pauses: 0,
            due_at,
            expires_at: after(now, self.dispatching.retain + ABANDONED),
            changed_at: now,
            letter,
            answer: None,
        };
        match expired {
            Some(known) => self.change(known, task).await,
            None => self.insert(task).await,
        }
    }

    /// Begins a task once more, or ends it if it has been begun often enough.
    pub(crate) async fn take(&self, task: Task) -> Result<Written, Fault> {
        let now = self.now();
        let taken = match task.attempts < MOST_ATTEMPTS {
            true => {
                Task { state: State::Running, attempts: task.attempts + 1, due_at: self.lease(now), ..task.clone() }
            }
            // What an earlier run answered is not why it ended.
            false => self.ended(&task, State::Failed, None),
        };
        self.change(&task, taken).await
    }

    pub(crate) async fn finish(&self, task: Task, answer: Answer) -> Result<Written, Fault> {
        let ended = self.ended(&task, State::Completed, Some(answer));
        self.change(&task, ended).await
    }

    /// Forgets a task that was run for a caller who has its answer: under its key anything may be sent again.
    pub(crate) async fn release(&self, task: Task) -> Result<Written, Fault> {
        let released = Task { expires_at: LONG_AGO, ..self.ended(&task, State::Failed, None) };
        self.change(&task, released).await
    }

    /// Puts a task off that brought no answer worth keeping, or ends it if it has been tried for as long as an answer
    /// would be kept. The run has ended by itself, so it is not one of those that were cut off.
    pub(crate) async fn put_off(&self, task: Task, answer: Answer) -> Result<Written, Fault> {
        let now = self.now();
        let next = match now < after(task.created_at, self.dispatching.retain) {
            true => Task {
                state: State::Waiting,
                attempts: task.attempts.saturating_sub(1),
                pauses: task.pauses.saturating_add(1),
                due_at: after(now, pause(task.pauses)),
                answer: Some(answer),
                ..task.clone()
            },
            false => self.ended(&task, State::Failed, Some(answer)),
        };
        self.change(&task, next).await
    }

    /// What was asked is not kept once it has been answered, and the answer is kept from then on.
    fn ended(&self, task: &Task, state: State, answer: Option<Answer>) -> Task {
        let expires_at = after(self.now(), self.dispatching.retain);
        Task { state, expires_at, answer, letter: task.letter.clone().spent(), ..task.clone() }
    }

    fn lease(&self, now: i64) -> i64 {
        after(now, self.desk.settings.deadline + MARGIN)
    }

    async fn insert(&self, task: Task) -> Result<Written, Fault> {
        let row = task.row(self.now()).ok_or_else(unwritable)?;
        let taken = Fault::new(FaultKind::KeyReused, "Another has this key.");
        self.commit(task, Step::Insert { kind: &TASK, row, taken }).await
    }

    async fn change(&self, known: &Task, next: Task) -> Result<Written, Fault> {
        let next = Task { version: known.version + 1, ..next };
        let row = next.row(self.now()).ok_or_else(unwritable)?;
        self.commit(next, Step::Update { kind: &TASK, row, expect_version: known.version, stale: Stale::Rerun }).await
    }

    async fn commit(&self, task: Task, step: Step) -> Result<Written, Fault> {
        let commit = Commit {
            tenant: self.dispatching.tenant.clone(),
            at: self.desk.now(),
            steps: vec![step],
            events: Vec::new(),
            claim: None,
            answer: Item { id: task.id.clone(), body: "{}".to_owned(), masked: None, personal: None },
            audit: self.line(&task),
        };
        match self.desk.store.commit(commit).await? {
            Committed::Done => Ok(Written::Done(Box::new(task))),
            Committed::Stale | Committed::Refused(_) | Committed::Claimed(_) => Ok(Written::Lost),
            Committed::Unknown => Err(Fault::new(
                FaultKind::KeyInFlight,
                "It is not known yet whether this was accepted. Repeat it under the same key.",
            )
            .retry_after(1)),
        }
    }

    /// The record of the change, on the tenant's chain.
    fn line(&self, task: &Task) -> String {
        let letter = &task.letter;
        let seen =
            Observation::begun(Millis(self.now()), letter.trace(), self.mount.contract.id, letter.incoming().address);
        Observation {
            caller: Some(Arc::new(letter.caller())),
            method: Some("dispatch"),
            tenant: Some(self.dispatching.tenant.clone()),
            ids: vec![task.id.clone()],
            outcome: match task.state {
                State::Waiting => "accepted",
                State::Running => "begun",
                State::Completed => "completed",
                State::Failed => "failed",
            },
            ..seen
        }
        .line()
    }
}

fn pause(before: u32) -> Duration {
    (PAUSE * 2_u32.saturating_pow(before.min(16))).min(LONGEST_PAUSE)
}

fn after(now: i64, time: Duration) -> i64 {
    now.saturating_add(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
}

fn unwritable() -> Fault {
    Fault::internal("a task cannot be written")
}
