//! Messages that are dispatched: answered once for each key however often they are sent, at once or later. What is
//! done with a message is the path of a call; nothing here runs a tool by another way.

mod ledger;
mod letter;
mod queue;
mod run;
mod settings;
mod task;
mod tend;
mod told;

use std::time::Duration;

use frontdesk_wire::glimpse::Glimpse;
use tokio::time::{Instant, timeout, timeout_at};

use crate::caller::Caller;
use crate::desk::{Desk, Mount};
use crate::fault::{Fault, FaultKind};
use crate::incoming::Incoming;
use crate::permit::one_tenant;
use crate::reply::Reply;
use crate::serve::{Visit, unjudged};
use crate::stages::admit::{Paid, spend};
use crate::stages::door::{Looked, Seen, approach, judge, leave, refuse_tool, refuse_unknown, take_verb};
use crate::stages::frame::Unframed;
use crate::stages::identify::identify;
use crate::stages::record::{Sighting, record};
use crate::stages::shape::At;
use crate::stages::stopwatch::Stage;
use crate::tool::Effect;

use ledger::{Ledger, Written};
use letter::{Letter, read};
use run::{Keep, Ran, run};
use task::{State, Task};

pub use queue::{Limits, Tasks};
pub use settings::{Dispatching, Full, Wanted, When};
pub use task::{EXPIRES_AT, TASK};
pub use tend::{Premises, tend};
pub use told::{Answer, Reused, Status, Told};

/// An answer from another node is looked for this often; one from here wakes the waiting.
const LOOK: Duration = Duration::from_millis(200);
/// Two that want the same key meet again at most this often.
const ROUNDS: usize = 8;

/// Answers one dispatched message, beside `serve`. Mounts that take none answer as for a method they do not know.
pub async fn dispatch(desk: &Desk, mount: &Mount, wanted: Wanted, mut incoming: Incoming) -> Reply {
    let until = Instant::now() + desk.settings.deadline;
    let mut sighting = Sighting::open(desk, mount, &incoming);
    sighting.enter(Stage::Identify);
    let caller = match timeout_at(until, identify(desk, mount, &incoming)).await.unwrap_or_else(|_| Err(unjudged())) {
        Ok(caller) => caller,
        Err(fault) => return record(sighting, Err(fault), &At::unknown(mount, &incoming)).await,
    };
    sighting.leave();
    sighting.caller(&caller);
    let read = understand(desk, mount, &caller, &mut incoming, &mut sighting).await;
    let visit = Visit { desk, mount, incoming: &incoming, caller: &caller, until, paid: Paid::Not };
    let (ledger, letter) = match read {
        Ok((dispatching, letter)) => (Ledger { desk, mount, dispatching }, letter),
        Err(Unframed { fault, id }) => {
            let kind = fault.kind;
            let mut reply = record(sighting, Err(fault), &visit.at().maybe_id(id.as_ref())).await;
            if kind == FaultKind::WrongVerb {
                // There is nothing to end here as there is at the endpoint.
                reply.headers.retain(|(name, _)| *name != "Allow");
                return reply.header("Allow", "POST");
            }
            return reply;
        }
    };
    sighting.method(&letter.method);
    sighting.tenant(&caller, Some(ledger.dispatching.tenant.as_str()));
    let decided = timeout_at(until, decide(&ledger, &visit, letter, wanted)).await;
    match decided.unwrap_or_else(|_| Err(Fault::unavailable("the dispatch was not decided within the deadline"))) {
        Err(fault) => record(sighting, Err(fault), &visit.at()).await,
        Ok(Next::Tell { task, reused }) => {
            sighting.touched(&task.id);
            if discloses(mount, &task.letter) {
                sighting.disclosed();
            }
            record(sighting, held(mount, &task.letter, tell(mount, &task, reused)), &visit.at()).await
        }
        Ok(Next::Run(letter)) => {
            let ran = run(desk, mount, &letter, sighting, until, Paid::Not).await;
            let reply = mount.contract.dialect.dispatched(&Told {
                status: Status::Completed,
                task_id: None,
                trace_id: letter.shown_trace(),
                key: None,
                reused: Reused::No,
                answer: Some(&ran.answer),
            });
            let_out(&visit, &letter, reply).await
        }
        Ok(Next::RunTask { task, begun }) => {
            sighting.touched(&task.id);
            let paid = match begun {
                Begun::Now => Paid::Not,
                Begun::Before => Paid::Already,
            };
            let ran = run(desk, mount, &task.letter, sighting, until, paid).await;
            settled(&ledger, &visit, task, begun, ran).await
        }
    }
}

/// What is to be done about a message.
enum Next {
    /// It has been answered, or will be: say so.
    Tell { task: Box<Task>, reused: Reused },
    /// Nobody will ask for it again.
    Run(Box<Letter>),
    /// It is this call's to run, and nobody else's.
    RunTask { task: Box<Task>, begun: Begun },
}

/// When a task that runs was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begun {
    Now,
    /// By a call that has been told so, or was cut off.
    Before,
}

async fn understand<'m>(
    desk: &Desk,
    mount: &'m Mount,
    caller: &Caller,
    incoming: &mut Incoming,
    sighting: &mut Sighting<'_>,
) -> Result<(&'m Dispatching, Letter), Unframed> {
    take_verb(incoming)?;
    let (body, looked) = match (&mount.door, &incoming.refused) {
        (Some(door), _) => approach(desk, mount, door, caller, incoming, sighting, Looked::over).await?,
        (None, Some(fault)) => return Err(fault.clone().into()),
        (None, None) => (incoming.body.whole().await?, Looked::Over(Glimpse::default())),
    };
    let seen = looked.seen();
    let read = letter_of(desk, mount, caller, incoming, &body, &seen);
    read.map_err(|fault| Unframed { fault, id: seen.id.cloned() })
}

fn letter_of<'m>(
    desk: &Desk,
    mount: &'m Mount,
    caller: &Caller,
    incoming: &Incoming,
    body: &[u8],
    seen: &Seen<'_>,
) -> Result<(&'m Dispatching, Letter), Fault> {
    if let Some(door) = &mount.door {
        refuse_unknown(door)?;
    }
    let dispatching = mount.dispatching.as_ref().ok_or_else(|| {
        Fault::new(FaultKind::UnknownMethod, "Nothing can be dispatched here; send the message to the endpoint.")
    })?;
    let letter = read(body, &dispatching.server, incoming, caller)?;
    if let Some(door) = &mount.door {
        // What runs is the letter, so it is the letter that must be let in, whatever a first look has seen.
        let read = letter.seen();
        if read.method != seen.method {
            judge(desk, mount, door, caller, &read)?;
        }
        refuse_tool(door, &read)?;
    }
    one_tenant(caller, Some(dispatching.tenant.as_str()))?;
    Ok((dispatching, letter))
}

/// Looks the key up and claims it, so that of all that were sent under it one runs.
async fn decide(ledger: &Ledger<'_>, visit: &Visit<'_>, letter: Letter, wanted: Wanted) -> Result<Next, Fault> {
    let when = match wanted {
        Wanted::Later => When::Later,
        Wanted::AsConfigured => ledger.dispatching.when,
    };
    let mut letter = letter;
    if letter.key.is_none() {
        match when {
            When::Now => return Ok(Next::Run(Box::new(letter))),
            When::Later => letter.key = Some(ledger.desk.new_id("key")),
        }
    }
    let patience = Instant::now() + ledger.desk.tasks.limits.patience;
    let mut rounds = 0;
    while rounds < ROUNDS {
        let finished = ledger.desk.tasks.finished();
        let known = ledger.find(&letter).await?;
        match known {
            Some(task) if !task.is_open() && task.expires_at <= ledger.now() => {
                match claim(ledger, visit, &letter, when, Some(&task)).await? {
                    Some(next) => return Ok(next),
                    None => rounds += 1,
                }
            }
            Some(task) if task.letter.meaning != letter.meaning => return Err(reused()),
            Some(task) if !task.is_open() => {
                may_see(visit.mount, visit.caller, &task.letter)?;
                return Ok(Next::Tell { task: Box::new(task), reused: Reused::Yes });
            }
            Some(task) => match when {
                When::Now if task.due_at <= ledger.now() => match ledger.take(task).await? {
                    Written::Done(task) if task.state == State::Failed => {
                        return Ok(Next::Tell { task, reused: Reused::Yes });
                    }
                    Written::Done(task) => return Ok(Next::RunTask { task, begun: Begun::Before }),
                    Written::Lost => rounds += 1,
                },
                When::Now if Instant::now() < patience => {
                    let _ = timeout(LOOK, finished).await;
                }
                When::Now | When::Later => return Ok(Next::Tell { task: Box::new(task), reused: Reused::Yes }),
            },
            None => match claim(ledger, visit, &letter, when, None).await? {
                Some(next) => return Ok(next),
                None => rounds += 1,
            },
        }
    }
    Err(Fault::new(FaultKind::KeyInFlight, "Others send the same just now. Repeat it under the same key.")
        .retry_after(1))
}

/// Writes the task down, before anything else happens. `None` if another was first.
async fn claim(
    ledger: &Ledger<'_>,
    visit: &Visit<'_>,
    letter: &Letter,
    when: When,
    expired: Option<&Task>,
) -> Result<Option<Next>, Fault> {
    if expired.is_none() {
        ledger.has_room(letter).await?;
    }
    let place = match when {
        When::Now => None,
        When::Later => match (ledger.desk.tasks.reserve(&letter.server), ledger.dispatching.full) {
            (Some(place), _) => Some(place),
            (None, Full::RunNow) => None,
            (None, Full::Refuse) => {
                return Err(Fault::new(
                    FaultKind::NoRoom,
                    "No more messages are accepted for later just now. Try again, or send it to be answered at once.",
                )
                .retry_after(5));
            }
        },
    };
    if place.is_some() {
        // Once accepted it will be run, so it is paid for here.
        spend(visit.desk, visit.mount, visit.caller)?;
    }
    let state = if place.is_some() { State::Waiting } else { State::Running };
    let task = match ledger.add(letter.clone(), state, expired).await? {
        Written::Done(task) => task,
        Written::Lost => return Ok(None),
    };
    Ok(Some(match place {
        None => Next::RunTask { task, begun: Begun::Now },
        Some(place) => {
            place.send(task.id.clone());
            Next::Tell { task, reused: Reused::No }
        }
    }))
}

/// Keeps the answer, then gives it: what was said to be completed is there when it is asked for again.
async fn settled(ledger: &Ledger<'_>, visit: &Visit<'_>, task: Box<Task>, begun: Begun, ran: Ran) -> Reply {
    let told = |task: &Task, answer: &Answer| {
        visit.mount.contract.dialect.dispatched(&Told {
            status: Status::Completed,
            task_id: Some(&task.id),
            trace_id: task.letter.shown_trace(),
            key: task.letter.key.as_deref(),
            reused: Reused::No,
            answer: Some(answer),
        })
    };
    let answer = ran.answer.clone();
    let written = match (ran.keep, begun) {
        (Keep::Yes, Begun::Now | Begun::Before) => ledger.finish(*task, ran.answer).await,
        // The caller has its answer and may try again under its key at once.
        (Keep::No, Begun::Now) => ledger.release(*task).await,
        // What was accepted is not given up because somebody asked for it while it could not be done.
        (Keep::No, Begun::Before) => ledger.put_off(*task, ran.answer).await,
    };
    ledger.desk.tasks.wake();
    let fault = match written {
        Ok(Written::Done(task)) if begun == Begun::Before && task.state != State::Completed => {
            return let_out(visit, &task.letter, tell(visit.mount, &task, Reused::Yes)).await;
        }
        Ok(Written::Done(task)) => return let_out(visit, &task.letter, told(&task, &answer)).await,
        Ok(Written::Lost) => None,
        Err(fault) => fault.cause,
    };
    let sighting = {
        let mut sighting = Sighting::open(visit.desk, visit.mount, visit.incoming);
        sighting.caller(visit.caller);
        sighting
    };
    let unknown = Fault::new(FaultKind::KeyInFlight, "The answer could not be kept yet. Repeat it under the same key.");
    let unknown = unknown.retry_after(1).because(fault.unwrap_or_else(|| "another took the task over".to_owned()));
    record(sighting, Err(unknown), &visit.at()).await
}

/// An answer on its way out: no larger than the door lets through, unless it tells of a write that has happened.
fn held(mount: &Mount, letter: &Letter, reply: Reply) -> Result<Reply, Fault> {
    match letter.tool(mount).map(|spec| spec.effect) {
        Some(Effect::Adds | Effect::Changes) => Ok(reply),
        Some(Effect::Reads) | None => leave(mount, reply),
    }
}

/// As `held`, for an answer whose call has been recorded; that it could not be given is recorded beside it.
async fn let_out(visit: &Visit<'_>, letter: &Letter, reply: Reply) -> Reply {
    match held(visit.mount, letter, reply) {
        Ok(reply) => reply,
        Err(fault) => {
            let mut sighting = Sighting::open(visit.desk, visit.mount, visit.incoming);
            sighting.caller(visit.caller);
            record(sighting, Err(fault), &visit.at()).await
        }
    }
}

fn tell(mount: &Mount, task: &Task, reused: Reused) -> Reply {
    mount.contract.dialect.dispatched(&Told {
        status: match task.state {
            State::Waiting | State::Running => Status::Accepted,
            State::Completed => Status::Completed,
            State::Failed => Status::Failed,
        },
        task_id: Some(&task.id),
        trace_id: task.letter.shown_trace(),
        key: task.letter.key.as_deref(),
        reused,
        // While it is to be run again, what the last run answered is no answer.
        answer: task.answer.as_ref().filter(|_| !task.is_open()),
    })
}

fn reused() -> Fault {
    Fault::new(FaultKind::KeyReused, "This key was used for another message. Send this one under a key of its own.")
}

/// A kept answer is for whoever could have it made today.
fn may_see(mount: &Mount, caller: &Caller, letter: &Letter) -> Result<(), Fault> {
    let Some(spec) = letter.tool(mount) else {
        return Ok(());
    };
    let mut needed = vec![spec.scope.clone()];
    needed.extend(spec.discloses.clone().filter(|scope| letter.scopes().has(scope)));
    match needed.iter().all(|scope| caller.scopes.has(scope)) {
        true => Ok(()),
        false => Err(Fault {
            needed,
            ..Fault::new(FaultKind::Forbidden, "The token does not carry the scope that this answer was made with.")
        }),
    }
}

fn discloses(mount: &Mount, letter: &Letter) -> bool {
    letter.tool(mount).is_some_and(|spec| spec.discloses.as_ref().is_some_and(|scope| letter.scopes().has(scope)))
}
