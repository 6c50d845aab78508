//! Runs a relayed call: takes its turn, sends it, and commits what follows. Calls with the same key are sent one at a time;
//! the others wait a little for the first, and are then told to come back.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::record::{ID_PREFIX, RelayRecord, RelayState, RelayStatus};
use super::store::{RelayStep, RelayStore, RelayWrite, removal};
use crate::desk::id_of_hash;
use crate::model::fault::{Fault, FaultKind};
use crate::model::plan::Plan;
use crate::model::relay::{Preparation, RelayAnswer, RelayAttempt, RelayTool, Relayed};
use crate::model::tool::Item;
use crate::pipeline::perform::{MAX_ATTEMPTS, key_reused, random_pause};
use crate::pipeline::permit::Permitted;
use crate::pipeline::record::CallRecord;
use crate::ports::{Claim, Commit, Committed, StoredAnswer};
use crate::seal::sha256;

/// How long a call waits for another one with the same key.
const MAX_WAIT: Duration = Duration::from_secs(5);
/// A call that has waited longer than this does not begin to send: sending takes its time, too.
const MAX_WAIT_TO_SEND: Duration = Duration::from_secs(1);
/// How often a waiting call looks.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// After how many seconds a caller should come back.
const RETRY_SECONDS: u64 = 1;

pub(crate) async fn relay(
    call_record: &mut CallRecord<'_>,
    tool: &dyn RelayTool,
    permitted: &Permitted<'_>,
) -> Result<Item, Fault> {
    let CallRecord { desk, incoming, .. } = *call_record;
    desk.import_queue.note_write(desk.now());
    let store = RelayStore {
        desk,
        contract: permitted.contract(),
        tenant: permitted.tenant(),
        caller: Some(Arc::clone(permitted.caller())),
        trace: incoming.trace.clone(),
        address: incoming.address,
    };
    RelayCall { call_record, tool, permitted, claim: permitted.claim(), store, started: Instant::now() }.run().await
}

struct RelayCall<'c, 'a> {
    call_record: &'c mut CallRecord<'a>,
    tool: &'c dyn RelayTool,
    permitted: &'c Permitted<'c>,
    claim: Option<Claim>,
    store: RelayStore<'c>,
    started: Instant,
}

/// What is known before a call is sent.
enum Outlook {
    Answered(Item),
    /// It has to be sent, under this id.
    Send(String),
    /// What it was decided on has changed meanwhile.
    Changed,
}

/// Whose turn it is.
enum Turn {
    Mine(Box<RelayRecord>),
    /// Look again.
    Others,
}

/// What a commit came to.
enum Ended {
    Answered(Item),
    Conflict,
}

impl RelayCall<'_, '_> {
    async fn run(mut self) -> Result<Item, Fault> {
        loop {
            let id = match self.outlook().await? {
                Outlook::Answered(item) => return Ok(item),
                Outlook::Send(id) => id,
                Outlook::Changed => continue,
            };
            let Turn::Mine(record) = self.take_turn(id).await? else { continue };
            // Another call may have done it between the look and the turn.
            match self.outlook().await {
                Ok(Outlook::Send(id)) if id == record.id => {
                    if let Some(item) = self.send(*record).await? {
                        return Ok(item);
                    }
                }
                Ok(Outlook::Answered(item)) => {
                    self.end(&record, RelayStep::Ended).await;
                    return Ok(item);
                }
                Ok(Outlook::Send(_) | Outlook::Changed) => self.end(&record, RelayStep::Ended).await,
                Err(fault) => {
                    self.not_sent(&record).await;
                    return Err(fault);
                }
            }
        }
    }

    /// The answer, if there is nothing to send any more.
    async fn outlook(&mut self) -> Result<Outlook, Fault> {
        if let Some(earlier) = self.find_claim().await? {
            return self.replay(earlier).await.map(Outlook::Answered);
        }
        match self.tool.prepare(self.permitted).await {
            Ok(Preparation::Send { sameness }) => Ok(Outlook::Send(self.id(&sameness))),
            Ok(Preparation::Done(plan)) => Ok(match self.commit(plan, None).await? {
                Ended::Answered(item) => Outlook::Answered(item),
                Ended::Conflict => {
                    self.pause().await?;
                    Outlook::Changed
                }
            }),
            // The first call under this key may be the very reason why this one cannot be made.
            Err(fault) => match self.find_claim().await? {
                Some(earlier) => self.replay(earlier).await.map(Outlook::Answered),
                None => Err(fault),
            },
        }
    }

    /// Calls are the same if the caller gave them the same key, or else if they do the same to the same thing.
    fn id(&self, sameness: &str) -> String {
        let (kind, text) = match &self.claim {
            Some(claim) => ("key", claim.key.as_str()),
            None => ("same", sameness),
        };
        let RelayStore { contract, tenant, .. } = self.store;
        let client = self.permitted.caller().client.as_str();
        let mut parts = Vec::new();
        for part in [contract, tenant.as_str(), client, self.tool.destination(), kind, text] {
            parts.extend((part.len() as u64).to_be_bytes());
            parts.extend(part.as_bytes());
        }
        id_of_hash(ID_PREFIX, &sha256(&parts))
    }

    /// Calls without a key are the same only if they ask for the same, so they have nothing to compare.
    fn request_hash(&self) -> [u8; 32] {
        self.claim.as_ref().map_or([0; 32], |claim| claim.request_hash)
    }

    async fn take_turn(&self, id: String) -> Result<Turn, Fault> {
        let now = self.store.desk.now();
        let known = self.store.get(&id).await?;
        let (record, written) = match known {
            Some(record) if record.state.request_hash != self.request_hash() => return Err(key_reused()),
            Some(record) if record.is_leased(now) => {
                self.pause().await?;
                return Ok(Turn::Others);
            }
            Some(_) | None if self.started.elapsed() > MAX_WAIT_TO_SEND => return Err(in_flight()),
            Some(record) => {
                let record = record.leased(now);
                let written = self.store.replace(&record, RelayStep::Sent).await?;
                (record, written)
            }
            None => {
                let record = self.new_record(id);
                let written = self.store.insert(&record).await?;
                (record, written)
            }
        };
        match written {
            RelayWrite::Done => Ok(Turn::Mine(Box::new(record))),
            RelayWrite::Conflict => {
                self.pause().await?;
                Ok(Turn::Others)
            }
        }
    }

    fn new_record(&self, id: String) -> RelayRecord {
        let (now, caller, input) = (self.store.desk.now(), self.permitted.caller(), self.permitted.input());
        let state = RelayState {
            status: RelayStatus::Open,
            destination: self.tool.destination().to_owned(),
            tool: self.permitted.tool().to_owned(),
            lease_until: 0,
            due_at: 0,
            attempts: 0,
            repeats: 0,
            failed_at: None,
            request_hash: self.request_hash(),
            key: input.idempotency_key.as_ref().map(|key| key.as_str().to_owned()),
            arguments: input.arguments.clone(),
            client: caller.client.as_str().to_owned(),
            subject: caller.subject.to_string(),
            scopes: caller.scopes.to_string(),
        };
        RelayRecord { id, version: 0, created_at: now.0, state }.leased(now)
    }

    /// The answer; none if somebody else has ended the call meanwhile.
    async fn send(&mut self, record: RelayRecord) -> Result<Option<Item>, Fault> {
        let attempt = RelayAttempt { key: &record.id, number: record.state.attempts };
        match self.tool.send(self.permitted, attempt).await {
            Relayed::Done(answer) => self.finish(&record.id, &answer).await,
            Relayed::Refused(fault) => {
                self.end(&record, RelayStep::Ended).await;
                Err(fault)
            }
            Relayed::NotSent(fault) => {
                self.not_sent(&record).await;
                Err(fault)
            }
            Relayed::Unknown(fault) => {
                self.release(&record).await;
                Err(fault)
            }
        }
    }

    /// Commits what follows from an answer. Whatever goes wrong here, the call was done there.
    async fn finish(&mut self, id: &str, answer: &serde_json::Value) -> Result<Option<Item>, Fault> {
        for _ in 0..MAX_ATTEMPTS {
            // Another call may have taken the turn over if this one was slow; its record is as good.
            let Some(record) = self.store.get(id).await.map_err(after_sending)? else { return Ok(None) };
            let planned = self.tool.plan(self.permitted, RelayAnswer { key: id, answer }).await;
            let committed = match planned {
                Ok(plan) => self.commit(plan, Some(&record)).await,
                Err(fault) => Err(fault),
            };
            match committed {
                Ok(Ended::Answered(item)) => return Ok(Some(item)),
                Ok(Ended::Conflict) => sleep(random_pause(self.store.desk)).await,
                Err(fault) => {
                    self.release(&record).await;
                    return Err(after_sending(fault));
                }
            }
        }
        Err(in_flight().caused_by("the plan of a relayed call conflicted with other writes at every attempt"))
    }

    /// Commits a plan with the claim, and ends the record of the call.
    async fn commit(&mut self, plan: Plan, record: Option<&RelayRecord>) -> Result<Ended, Fault> {
        let Plan { mut steps, events, outcome } = plan;
        steps.extend(record.map(removal));
        let has_events = !events.is_empty();
        let desk = self.store.desk;
        let commit = Commit {
            client: None,
            tenant: self.store.tenant.clone(),
            at: desk.now(),
            steps,
            events: self.permitted.with_event_ids(events),
            claim: self.claim.clone(),
            // A repeated key is answered from what is stored of the outcome; what was answered may be personal.
            answer: Item { body: "{}".to_owned(), masked: None, personal: None, ..outcome.clone() },
            audit: self.call_record.audit_line(&outcome, self.permitted),
        };
        match desk.store.commit(commit).await? {
            Committed::Done => {
                self.call_record.mark_recorded();
                if has_events {
                    desk.changes.note(self.store.tenant);
                }
                Ok(Ended::Answered(outcome))
            }
            Committed::AlreadyClaimed(earlier) => {
                if let Some(record) = record {
                    self.end(record, RelayStep::Ended).await;
                }
                self.replay(earlier).await.map(Ended::Answered)
            }
            Committed::Refused(fault) => Err(fault),
            Committed::VersionConflict => Ok(Ended::Conflict),
            Committed::Unknown => Err(in_flight().caused_by("the commit was not finished in time")),
        }
    }

    async fn find_claim(&self) -> Result<Option<StoredAnswer>, Fault> {
        match &self.claim {
            Some(claim) => self.store.desk.store.find_claim(self.store.tenant, claim).await,
            None => Ok(None),
        }
    }

    async fn replay(&self, earlier: StoredAnswer) -> Result<Item, Fault> {
        if self.claim.as_ref().is_some_and(|claim| claim.request_hash != earlier.request_hash) {
            return Err(key_reused());
        }
        self.tool.replay(self.permitted, earlier.answer).await
    }

    /// A first sending that has not arrived leaves nothing to be repeated.
    async fn not_sent(&self, record: &RelayRecord) {
        if record.state.attempts <= 1 { self.end(record, RelayStep::Ended).await } else { self.release(record).await }
    }

    /// If this fails the lease ends by itself, and the same key is sent once more.
    async fn end(&self, record: &RelayRecord, step: RelayStep) {
        let _: Result<RelayWrite, Fault> = self.store.remove(record, step).await;
    }

    /// As `end`.
    async fn release(&self, record: &RelayRecord) {
        let released = record.released(self.store.desk.now());
        let _: Result<RelayWrite, Fault> = self.store.replace(&released, RelayStep::Unknown).await;
    }

    async fn pause(&self) -> Result<(), Fault> {
        if self.started.elapsed() >= MAX_WAIT {
            return Err(in_flight());
        }
        sleep(POLL_INTERVAL + random_pause(self.store.desk)).await;
        Ok(())
    }
}

/// The same call again gets its answer.
fn in_flight() -> Fault {
    let message = "The first request of this kind is still being worked on. Repeat it as it is, with the same key.";
    Fault::new(FaultKind::KeyInFlight, message).retry_after(RETRY_SECONDS)
}

/// A store that is unavailable changes nothing about what was done elsewhere: it must not be said that nothing was.
fn after_sending(fault: Fault) -> Fault {
    if fault.kind == FaultKind::Unavailable { in_flight().caused_by(fault.cause.unwrap_or_default()) } else { fault }
}
