//! The worker that runs accepted tasks: those queued on this node, and those found in the store whose node has gone.

use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use super::config::DispatchConfig;
use super::queue::{QueuedTask, TaskQueue};
use super::run::{AnswerUse, run_accepted};
use super::task::TaskState;
use super::task_store::{TaskStore, TaskWrite};
use crate::desk::{Desk, Mount};
use crate::model::fault::Fault;

/// How many tasks of a server are taken in one round.
const MAX_FOUND: usize = 64;

/// A desk and its mounts under one configuration.
pub trait DeskSource: Send + Sync + 'static {
    fn desk(&self) -> &Desk;
    fn mounts(&self) -> Vec<&Mount>;
}

/// Runs accepted tasks for as long as it is polled. `current` gives the desk under the present configuration; a task
/// runs on the desk of its start. Tasks that run when this future is dropped are found in the store by the next worker.
pub async fn run_worker<P: DeskSource>(current: impl Fn() -> Arc<P> + Send + Sync + 'static) {
    let current = Arc::new(current);
    let tasks = current().desk().task_queue.clone();
    let mut queue = tasks.queue().await;
    let mut running = JoinSet::new();
    let mut rounds = interval(tasks.limits.poll_interval);
    rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            Some(_) = running.join_next(), if !running.is_empty() => {}
            Some(ticket) = queue.recv() => {
                running.spawn(run_queued(Arc::clone(&current), tasks.clone(), ticket));
            }
            _ = rounds.tick() => {
                let source = current();
                let servers = dispatch_mounts(&*source).into_iter().map(|(_, config)| config.server.clone());
                for server in servers {
                    if let Some(permit) = tasks.search(&server) {
                        running.spawn(search(Arc::clone(&source), server, permit));
                    }
                }
            }
        }
    }
}

/// Runs one queued task when its server has a worker for it.
async fn run_queued<P: DeskSource>(current: Arc<impl Fn() -> Arc<P>>, tasks: TaskQueue, ticket: QueuedTask) {
    let QueuedTask { server, id, place } = ticket;
    let worker = tasks.worker(&server).await;
    drop(place);
    attempt(current(), server, id, worker).await;
}

/// Runs the tasks of one server whose lease has ended. A store that is unavailable is asked again in the next round.
async fn search<P: DeskSource>(source: Arc<P>, server: String, permit: OwnedSemaphorePermit) {
    let desk = source.desk();
    let Some((mount, config)) = find_mount(&*source, &server) else {
        return;
    };
    let task_store = TaskStore { desk, mount, config };
    let found = if desk.task_queue.may_have_orphans(&server) {
        task_store.left(desk.task_queue.limits.waiting).await
    } else {
        task_store.due(MAX_FOUND).await
    };
    let due = found.unwrap_or_default();
    let mut running = JoinSet::new();
    for id in due {
        let worker = desk.task_queue.worker(&server).await;
        running.spawn(attempt(Arc::clone(&source), server.clone(), id, worker));
    }
    while running.join_next().await.is_some() {}
    drop(permit);
}

/// Runs one task, if it is still open. After a fault it is tried again in a later round.
async fn attempt<P: DeskSource>(source: Arc<P>, server: String, id: String, worker: Option<OwnedSemaphorePermit>) {
    let desk = source.desk();
    if let Some((mount, config)) = find_mount(&*source, &server) {
        let task_store = TaskStore { desk, mount, config };
        // The task's row has its state; a fault here is one of the store, which logs it.
        let _: Result<(), Fault> = run_task(&task_store, &id).await;
    }
    drop(worker);
    desk.task_queue.wake();
}

async fn run_task(task_store: &TaskStore<'_>, id: &str) -> Result<(), Fault> {
    let Some(task) = task_store.get(id).await?.filter(|task| task.is_open()) else {
        return Ok(());
    };
    // A waiting task may be started before its lease ends by the node that accepted it, but not one that was rescheduled.
    let is_held = task.due_at > task_store.now() && (task.state == TaskState::Running || task.pauses > 0);
    if task.server != task_store.config.server || (is_held && !task_store.desk.task_queue.is_orphan(task.changed_at)) {
        return Ok(());
    }
    let TaskWrite::Done(task) = task_store.take(task).await? else {
        return Ok(());
    };
    if !task.is_open() {
        return Ok(());
    }
    let ran = run_accepted(task_store.desk, task_store.mount, &task.request).await;
    match ran.keep {
        AnswerUse::Final => task_store.finish(*task, ran.answer).await?,
        AnswerUse::Temporary => task_store.reschedule(*task, ran.answer).await?,
    };
    Ok(())
}

fn find_mount<'p, P: DeskSource>(source: &'p P, server: &str) -> Option<(&'p Mount, &'p DispatchConfig)> {
    dispatch_mounts(source).into_iter().find(|(_, known)| known.server == server)
}

fn dispatch_mounts<P: DeskSource>(source: &P) -> Vec<(&Mount, &DispatchConfig)> {
    let mounts = source.mounts().into_iter();
    mounts.filter_map(|mount| Some((mount, mount.dispatch.as_ref()?))).collect()
}
