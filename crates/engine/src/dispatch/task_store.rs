//! Tasks in the store. Each change is a commit that expects the version it has read, so that one of several nodes gets
//! a task.

use std::sync::Arc;
use std::time::Duration;

use super::config::DispatchConfig;
use super::queued_request::QueuedRequest;
use super::reply::CallAnswer;
use super::task::{DUE_AT, MAX_ATTEMPTS, OPEN, OWNER, SLOT, TASK, Task, TaskState};
use crate::desk::{Desk, Mount};
use crate::model::fault::{Fault, FaultKind};
use crate::model::observation::Observation;
use crate::model::page::{Direction, Filter, Order, Projection, Query, Start, Window};
use crate::model::plan::{OnConflict, Step};
use crate::model::table::Cell;
use crate::model::timestamp::Millis;
use crate::model::tool::Item;
use crate::ports::{Commit, Committed, Disclosure};

/// The lease of the node that accepted a task.
const GRACE: Duration = Duration::from_secs(10);
/// How long after its deadline a run counts as interrupted.
const MARGIN: Duration = Duration::from_secs(10);
/// The delay after a run without an answer; doubled after each further one, up to a bound.
const PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// A task that is still open so long after the retention of answers is deleted.
const ABANDONED: Duration = Duration::from_secs(7 * 86_400);
/// An expiry that retention deletes at its next run.
const EXPIRED: i64 = 0;

pub(crate) struct TaskStore<'a> {
    pub(crate) desk: &'a Desk,
    pub(crate) mount: &'a Mount,
    pub(crate) config: &'a DispatchConfig,
}

/// The outcome of a change.
pub(crate) enum TaskWrite {
    Done(Box<Task>),
    /// Another node or call changed the task first.
    Conflict,
}

impl TaskStore<'_> {
    pub(crate) fn now(&self) -> i64 {
        self.desk.now().0
    }

    /// The task under the request's key.
    pub(crate) async fn find(&self, request: &QueuedRequest) -> Result<Option<Task>, Fault> {
        let Some(slot) = request.key_slot() else {
            return Ok(None);
        };
        let tenant = &self.config.tenant;
        match self.desk.store.find(tenant, &TASK, SLOT, Cell::Digest(slot)).await? {
            None => Ok(None),
            Some(found) => self.get(&found.id).await,
        }
    }

    pub(crate) async fn get(&self, id: &str) -> Result<Option<Task>, Fault> {
        let found = self.desk.store.get(&self.config.tenant, &TASK, id, Disclosure::Full).await?;
        found.map(|found| Task::from_row(found).ok_or_else(|| Fault::internal("a task cannot be read"))).transpose()
    }

    /// Ids of open tasks of this server whose lease has ended, the oldest first.
    pub(crate) async fn due(&self, limit: usize) -> Result<Vec<String>, Fault> {
        self.open(limit, self.now()).await
    }

    /// Ids of all open tasks of this server, leased or not, the oldest first.
    pub(crate) async fn left(&self, limit: usize) -> Result<Vec<String>, Fault> {
        self.open(limit, i64::MAX).await
    }

    async fn open(&self, limit: usize, due_until: i64) -> Result<Vec<String>, Fault> {
        let query = Query {
            projection: Projection::Ids,
            table: &TASK,
            filters: vec![
                Filter::Equals(OPEN, Cell::Text(self.config.server.clone())),
                Filter::AtMost(DUE_AT, due_until),
            ],
            order: Order { column: "created_at", direction: Direction::Ascending },
            window: Window { start: Start::First, limit, bytes: usize::MAX },
        };
        Ok(self.desk.store.page(&self.config.tenant, query).await?.rows)
    }

    /// Enforces the limits of stored tasks, per caller and per tenant.
    pub(crate) async fn has_room(&self, request: &QueuedRequest) -> Result<(), Fault> {
        let limits = self.desk.task_queue.limits;
        let own = vec![Filter::Equals(OWNER, Cell::Digest(request.owner()))];
        if self.reaches(own, limits.kept_for_one).await? {
            let message = "As many of your answers are kept here as may be. Wait until the oldest are forgotten, or send                            messages without a key to the endpoint itself.";
            return Err(Fault::new(FaultKind::RateLimited, message).retry_after(60));
        }
        if self.desk.task_queue.is_time_to_count() && self.reaches(Vec::new(), limits.kept).await? {
            let message = "As many answers are kept here as may be. Wait until the oldest are forgotten, or send messages                            without a key to the endpoint itself.";
            return Err(Fault::new(FaultKind::QueueFull, message).retry_after(60));
        }
        Ok(())
    }

    async fn reaches(&self, filters: Vec<Filter>, most: usize) -> Result<bool, Fault> {
        let query = Query {
            projection: Projection::Ids,
            table: &TASK,
            filters,
            order: Order { column: "created_at", direction: Direction::Ascending },
            window: Window { start: Start::Offset(most.saturating_sub(1) as u64), limit: 1, bytes: usize::MAX },
        };
        Ok(!self.desk.store.page(&self.config.tenant, query).await?.rows.is_empty())
    }

    /// Stores a new task, in the place of an expired one with the same key.
    pub(crate) async fn add(
        &self,
        request: QueuedRequest,
        state: TaskState,
        expired: Option<&Task>,
    ) -> Result<TaskWrite, Fault> {
        let now = self.now();
        let (attempts, due_at) = match state {
            TaskState::Running => (1, self.lease(now)),
            TaskState::Waiting | TaskState::Completed | TaskState::Failed => (0, after(now, GRACE)),
        };
        let task = Task {
            id: expired.map_or_else(|| self.desk.new_id("tsk"), |known| known.id.clone()),
            version: 1,
            created_at: now,
            state,
            server: self.config.server.clone(),
            attempts,
            pauses: 0,
            due_at,
            expires_at: after(now, self.config.retain + ABANDONED),
            changed_at: now,
            request,
            answer: None,
        };
        match expired {
            Some(known) => self.change(known, task).await,
            None => self.insert(task).await,
        }
    }

    /// Takes the lease to run a task, or fails the task after too many attempts.
    pub(crate) async fn take(&self, task: Task) -> Result<TaskWrite, Fault> {
        let now = self.now();
        let taken = if task.attempts < MAX_ATTEMPTS {
            Task { state: TaskState::Running, attempts: task.attempts + 1, due_at: self.lease(now), ..task.clone() }
        } else {
            // The answer of an earlier run is not the reason.
            self.ended(&task, TaskState::Failed, None)
        };
        self.change(&task, taken).await
    }

    pub(crate) async fn finish(&self, task: Task, answer: CallAnswer) -> Result<TaskWrite, Fault> {
        let ended = self.ended(&task, TaskState::Completed, Some(answer));
        self.change(&task, ended).await
    }

    /// Frees the key of a task whose caller has its answer: the key may be used again at once.
    pub(crate) async fn release(&self, task: Task) -> Result<TaskWrite, Fault> {
        let released = Task { expires_at: EXPIRED, ..self.ended(&task, TaskState::Failed, None) };
        self.change(&task, released).await
    }

    /// Schedules another run of a task without a final answer, or fails it after the retention of answers. The run ended
    /// by itself, so it does not count as interrupted.
    pub(crate) async fn reschedule(&self, task: Task, answer: CallAnswer) -> Result<TaskWrite, Fault> {
        let now = self.now();
        let next = if now < after(task.created_at, self.config.retain) {
            Task {
                state: TaskState::Waiting,
                attempts: task.attempts.saturating_sub(1),
                pauses: task.pauses.saturating_add(1),
                due_at: after(now, pause(task.pauses)),
                answer: Some(answer),
                ..task.clone()
            }
        } else {
            self.ended(&task, TaskState::Failed, Some(answer))
        };
        self.change(&task, next).await
    }

    /// The request is deleted once it has been answered; the retention of the answer starts now.
    fn ended(&self, task: &Task, state: TaskState, answer: Option<CallAnswer>) -> Task {
        let expires_at = after(self.now(), self.config.retain);
        Task { state, expires_at, answer, request: task.request.clone().without_params(), ..task.clone() }
    }

    fn lease(&self, now: i64) -> i64 {
        after(now, self.desk.settings.deadline + MARGIN)
    }

    async fn insert(&self, task: Task) -> Result<TaskWrite, Fault> {
        let row = task.row(self.now()).ok_or_else(unwritable)?;
        let taken = Fault::new(FaultKind::KeyReused, "Another has this key.");
        self.commit(task, Step::Insert { table: &TASK, row, on_duplicate: taken }).await
    }

    async fn change(&self, known: &Task, next: Task) -> Result<TaskWrite, Fault> {
        let next = Task { version: known.version + 1, ..next };
        let row = next.row(self.now()).ok_or_else(unwritable)?;
        self.commit(
            next,
            Step::Update {
                table: &TASK,
                row,
                expect_version: known.version,
                on_conflict: OnConflict::Retry,
                on_duplicate: Fault::internal("another task has the same key"),
            },
        )
        .await
    }

    async fn commit(&self, task: Task, step: Step) -> Result<TaskWrite, Fault> {
        let commit = Commit {
            client: None,
            tenant: self.config.tenant.clone(),
            at: self.desk.now(),
            steps: vec![step],
            events: Vec::new(),
            claim: None,
            answer: Item { id: task.id.clone(), version: 0, body: "{}".to_owned(), masked: None, personal: None },
            audit: self.line(&task),
        };
        match self.desk.store.commit(commit).await? {
            Committed::Done => Ok(TaskWrite::Done(Box::new(task))),
            Committed::VersionConflict | Committed::Refused(_) | Committed::AlreadyClaimed(_) => {
                Ok(TaskWrite::Conflict)
            }
            Committed::Unknown => Err(Fault::new(
                FaultKind::KeyInFlight,
                "It is not known yet whether this was accepted. Repeat it under the same key.",
            )
            .retry_after(1)),
        }
    }

    /// The audit record of the change, for the tenant's chain.
    fn line(&self, task: &Task) -> String {
        let request = &task.request;
        let seen =
            Observation::new(Millis(self.now()), request.trace(), self.mount.contract.id, request.incoming().address);
        Observation {
            caller: Some(Arc::new(request.caller())),
            method: Some("dispatch"),
            tenant: Some(self.config.tenant.clone()),
            ids: vec![task.id.clone()],
            outcome: match task.state {
                TaskState::Waiting => "accepted",
                TaskState::Running => "begun",
                TaskState::Completed => "completed",
                TaskState::Failed => "failed",
            },
            ..seen
        }
        .to_line()
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
