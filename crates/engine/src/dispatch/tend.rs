//! Who runs what was accepted for later: what is queued here, and what is found in the store with nobody to run it,
//! because whoever accepted or began it has gone.

use std::sync::Arc;

use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::ledger::{Ledger, Written};
use super::queue::Ticket;
use super::run::{Keep, run};
use super::settings::Dispatching;
use super::task::State;
use crate::desk::{Desk, Mount};
use crate::fault::Fault;
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
pub async fn tend<P: Premises>(current: impl Fn() -> Arc<P>) {
    let tasks = current().desk().tasks.clone();
    let mut line = tasks.line().await;
    let at_once = tasks.limits.at_once.max(1);
    let mut running = JoinSet::new();
    let mut rounds = interval(tasks.limits.look);
    rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let has_room = running.len() < at_once;
        tokio::select! {
            Some(_) = running.join_next(), if !running.is_empty() => {}
            Some(ticket) = line.recv(), if has_room => {
                running.spawn(attend(current(), ticket));
            }
            _ = rounds.tick(), if has_room => {
                let premises = current();
                for ticket in unattended(&*premises).await {
                    while running.len() >= at_once && running.join_next().await.is_some() {}
                    running.spawn(attend(Arc::clone(&premises), ticket));
                }
            }
        }
    }
}

/// Tasks that nobody has. A store that does not answer is asked again in the next round.
async fn unattended<P: Premises>(premises: &P) -> Vec<Ticket> {
    let mut found = Vec::new();
    for (mount, dispatching) in dispatching(premises) {
        let ledger = Ledger { desk: premises.desk(), mount, dispatching };
        let due = ledger.due(MOST_FOUND).await.unwrap_or_default();
        let ticket = |id| Ticket { tenant: dispatching.tenant.clone(), server: dispatching.server.clone(), id };
        found.extend(due.into_iter().map(ticket));
    }
    found
}

/// Runs one task, if it is still to be run. What goes wrong leaves it for a later round.
async fn attend<P: Premises>(premises: Arc<P>, ticket: Ticket) {
    let desk = premises.desk();
    let of_ticket =
        |dispatching: &Dispatching| dispatching.tenant == ticket.tenant && dispatching.server == ticket.server;
    let Some((mount, dispatching)) = dispatching(&*premises).into_iter().find(|(_, known)| of_ticket(known)) else {
        return;
    };
    let ledger = Ledger { desk, mount, dispatching };
    // The task's own row says what becomes of it; a fault here is one of the store, which logs it.
    let _: Result<(), Fault> = carry_out(&ledger, &ticket.id).await;
    desk.tasks.wake();
}

async fn carry_out(ledger: &Ledger<'_>, id: &str) -> Result<(), Fault> {
    let Some(task) = ledger.get(id).await?.filter(|task| task.is_open()) else {
        return Ok(());
    };
    if task.state == State::Running && task.due_at > ledger.now() {
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
    let ran = run(ledger.desk, ledger.mount, &task.letter, sighting, until).await;
    match ran.keep {
        Keep::Yes => ledger.finish(*task, ran.answer).await?,
        Keep::No => ledger.put_off(*task, ran.answer).await?,
    };
    Ok(())
}

fn dispatching<P: Premises>(premises: &P) -> Vec<(&Mount, &Dispatching)> {
    let mounts = premises.mounts().into_iter();
    mounts.filter_map(|mount| Some((mount, mount.dispatching.as_ref()?))).collect()
}
