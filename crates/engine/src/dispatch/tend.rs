//! Who runs what was accepted for later: what is queued here, and what is found in the store with nobody to run it,
//! because whoever accepted or began it has gone.

use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::ledger::{Ledger, Written};
use super::queue::{Tasks, Ticket};
use super::run::{Keep, run};
use super::settings::Dispatching;
use super::task::State;
use crate::desk::{Desk, Mount};
use crate::fault::Fault;
use crate::stages::admit::Paid;
use crate::stages::record::Sighting;

/// So many of a server are taken on in one round.
const MOST_FOUND: usize = 64;

/// A desk and its mounts as they are now; another configuration makes others.
pub trait Premises: Send + Sync + 'static {
    fn desk(&self) -> &Desk;
    fn mounts(&self) -> Vec<&Mount>;
}

/// Runs accepted tasks for as long as it is polled. `current` gives the desk as it is configured at the moment: a
/// task runs on the one of its own moment. Dropped, it leaves what it was doing for the next one to find.
pub async fn tend<P: Premises>(current: impl Fn() -> Arc<P> + Send + Sync + 'static) {
    let current = Arc::new(current);
    let tasks = current().desk().tasks.clone();
    let mut queue = tasks.queue().await;
    let mut running = JoinSet::new();
    let mut rounds = interval(tasks.limits.look);
    rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            Some(_) = running.join_next(), if !running.is_empty() => {}
            Some(ticket) = queue.recv() => {
                running.spawn(attend(Arc::clone(&current), tasks.clone(), ticket));
            }
            _ = rounds.tick() => {
                let premises = current();
                let servers = dispatching(&*premises).into_iter().map(|(_, dispatching)| dispatching.server.clone());
                for server in servers {
                    if let Some(leave) = tasks.search(&server) {
                        running.spawn(search(Arc::clone(&premises), server, leave));
                    }
                }
            }
        }
    }
}

/// Runs one queued task when its server has a worker for it.
async fn attend<P: Premises>(current: Arc<impl Fn() -> Arc<P>>, tasks: Tasks, ticket: Ticket) {
    let Ticket { server, id, place } = ticket;
    let worker = tasks.worker(&server).await;
    drop(place);
    attempt(current(), server, id, worker).await;
}

/// Runs the tasks of one server that nobody has. A store that does not answer is asked again in the next round.
async fn search<P: Premises>(premises: Arc<P>, server: String, leave: OwnedSemaphorePermit) {
    let desk = premises.desk();
    let Some((mount, dispatching)) = of(&*premises, &server) else {
        return;
    };
    let ledger = Ledger { desk, mount, dispatching };
    let found = match desk.tasks.may_have_orphans(&server) {
        true => ledger.left(desk.tasks.limits.waiting).await,
        false => ledger.due(MOST_FOUND).await,
    };
    let due = found.unwrap_or_default();
    let mut running = JoinSet::new();
    for id in due {
        let worker = desk.tasks.worker(&server).await;
        running.spawn(attempt(Arc::clone(&premises), server.clone(), id, worker));
    }
    while running.join_next().await.is_some() {}
    drop(leave);
}

/// Runs one task, if it is still to be run. What goes wrong leaves it for a later round.
async fn attempt<P: Premises>(premises: Arc<P>, server: String, id: String, worker: Option<OwnedSemaphorePermit>) {
    let desk = premises.desk();
    if let Some((mount, dispatching)) = of(&*premises, &server) {
        let ledger = Ledger { desk, mount, dispatching };
        // The task's own row says what becomes of it; a fault here is one of the store, which logs it.
        let _: Result<(), Fault> = carry_out(&ledger, &id).await;
    }
    drop(worker);
    desk.tasks.wake();
}

async fn carry_out(ledger: &Ledger<'_>, id: &str) -> Result<(), Fault> {
    let Some(task) = ledger.get(id).await?.filter(|task| task.is_open()) else {
        return Ok(());
    };
    // A waiting task may be begun before its time by whoever accepted it, but not one that was put off.
    let is_held = task.due_at > ledger.now() && (task.state == State::Running || task.pauses > 0);
    if task.server != ledger.dispatching.server || (is_held && !ledger.desk.tasks.is_orphan(task.changed_at)) {
        return Ok(());
    }
    let Written::Done(task) = ledger.take(task).await? else {
        return Ok(());
    };
    if !task.is_open() {
        return Ok(());
    }
    let mut sighting = Sighting::open(ledger.desk, ledger.mount, &task.letter.incoming());
    sighting.caller(&Arc::new(task.letter.caller()));
    let until = Instant::now() + ledger.desk.settings.deadline;
    let ran = run(ledger.desk, ledger.mount, &task.letter, sighting, until, Paid::Already).await;
    match ran.keep {
        Keep::Yes => ledger.finish(*task, ran.answer).await?,
        Keep::No => ledger.put_off(*task, ran.answer).await?,
    };
    Ok(())
}

fn of<'p, P: Premises>(premises: &'p P, server: &str) -> Option<(&'p Mount, &'p Dispatching)> {
    dispatching(premises).into_iter().find(|(_, known)| known.server == server)
}

fn dispatching<P: Premises>(premises: &P) -> Vec<(&Mount, &Dispatching)> {
    let mounts = premises.mounts().into_iter();
    mounts.filter_map(|mount| Some((mount, mount.dispatching.as_ref()?))).collect()
}
