//! What one user does: searches, looks, books once, follows the order, changes it, rates it, and cancels it. The network
//! fails in between as networks do.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::calls::in_order;
use super::super::examples::{Answers, as_sent, filled_in};
use super::super::idempotency::reference;
use super::super::intent::{IntentFile, ToolFile};
use super::caller::{CallFailure, Caller};
use super::simulation::{RunState, Simulation};
use crate::report::shown;

/// How the network fails while a session books.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Blip {
    None,
    /// The answer comes, and is lost on the way to whoever asked.
    LostAnswer,
    /// The connection breaks this long after the request was sent.
    CutConnection(Duration),
}

pub(super) struct UserSession {
    pub(super) simulation: Arc<Simulation>,
    pub(super) intent: IntentFile,
    pub(super) number: usize,
    pub(super) blip: Blip,
}

/// What was booked, and with what.
#[derive(Clone)]
struct BookedOrder {
    tool: ToolFile,
    arguments: Value,
    request_id: String,
    answers: Vec<Value>,
}

impl UserSession {
    pub(super) async fn run(self) {
        let name = format!("{}_{}_{}", self.simulation.run, self.intent.id.replace('.', "_"), self.number);
        let mut caller = match Caller::new(&self.simulation, name) {
            Ok(caller) => caller,
            Err(problem) => {
                let mut state = self.simulation.state();
                return state.points.answers.wrong(format!("{problem}."), "Let the server be reached.");
            }
        };
        let mut answers = Answers::new();
        let mut order = None;
        for tool in in_order(&self.intent) {
            let is_last = tool.role == "cancel";
            if self.simulation.run_state() == RunState::Stopping && !is_last {
                continue;
            }
            match tool.role.as_str() {
                "create" if order.is_none() => {
                    order = self.book(&mut caller, tool, &answers).await;
                    let booked = order.as_ref().and_then(|order| order.answers.first());
                    match booked {
                        Some(booked) => drop(answers.insert(tool.name.clone(), booked.clone())),
                        // The user goes to another partner.
                        None => return,
                    }
                }
                "cancel" => {
                    if let Some(order) = &order {
                        self.cancel(&mut caller, tool, order, &answers).await;
                    }
                }
                "track" => {
                    for _ in 0..self.simulation.options.tracks {
                        if self.simulation.run_state() == RunState::Going {
                            self.call(&mut caller, tool, &mut answers).await;
                        }
                    }
                }
                "search" if self.number % 2 == 1 => {
                    // Some users look twice.
                    self.call(&mut caller, tool, &mut answers).await;
                    self.call(&mut caller, tool, &mut answers).await;
                }
                _ => self.call(&mut caller, tool, &mut answers).await,
            }
        }
    }

    /// The example of a tool as this session sends it.
    fn arguments(&self, caller: &mut Caller, tool: &ToolFile, answers: &Answers) -> Option<Value> {
        let unique = caller.unique();
        let mut arguments = as_sent(filled_in(tool.examples.first()?, answers).ok()?, &self.intent, &unique);
        // All calls of a user are of one session.
        if let Some(members) = arguments.as_object_mut() {
            members.insert("user_session_id".to_owned(), json!(format!("anon_{}", caller.name)));
        }
        Some(arguments)
    }

    /// Without an answer that the example needs there is nothing to call; that was reported where it was missing.
    async fn call(&self, caller: &mut Caller, tool: &ToolFile, answers: &mut Answers) {
        let Some(arguments) = self.arguments(caller, tool, answers) else { return };
        caller.keep_pace(&tool.role).await;
        if let Ok(answer) = caller.call(&self.intent, tool, &arguments).await {
            answers.insert(tool.name.clone(), answer);
        }
    }

    async fn book(&self, caller: &mut Caller, tool: &ToolFile, answers: &Answers) -> Option<BookedOrder> {
        let arguments = self.arguments(caller, tool, answers)?;
        let request_id = arguments.get("request_id").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.simulation.state().bookings.request(&request_id, &self.intent);
        caller.keep_pace(&tool.role).await;
        if let Blip::CutConnection(after) = self.blip {
            caller.call_and_cut(tool, &arguments, after).await;
        }
        let first = caller.call(&self.intent, tool, &arguments).await.ok()?;
        let mut order = BookedOrder { tool: tool.clone(), arguments, request_id, answers: vec![first] };
        self.note_booked(&order);
        match self.blip {
            Blip::None => {}
            Blip::LostAnswer | Blip::CutConnection(_) => {
                caller.reconnect();
                self.repeat(caller, &mut order).await;
            }
        }
        Some(order)
    }

    fn note_booked(&self, order: &BookedOrder) {
        let mut state = self.simulation.state();
        for reference in order.answers.iter().filter_map(reference) {
            state.bookings.booked(&order.request_id, reference);
        }
        if order.answers.first().and_then(reference).is_none() {
            let problem = format!("{}: its answer has no booking_ref.", order.tool.name);
            state.points.repeats.wrong(problem, "Answer with the booking_ref.");
        }
    }

    /// The same call with the same key: the same booking, whatever has become of it.
    async fn repeat(&self, caller: &mut Caller, order: &mut BookedOrder) -> Option<Value> {
        let again = caller.call(&self.intent, &order.tool, &order.arguments).await.ok()?;
        self.simulation.state().repeats += 1;
        let first = order.answers.first().and_then(reference).unwrap_or_default().to_owned();
        if reference(&again) != Some(&first) {
            let other = reference(&again).unwrap_or("none");
            let problem = format!(
                "{}: a repeat with the same idempotency_key answered the booking_ref {}; the first was {}.",
                order.tool.name,
                shown(other),
                shown(&first)
            );
            let mut state = self.simulation.state();
            state.points.repeats.wrong(problem, "Answer a repeated key with the booking_ref of the first call.");
            drop(state);
            order.answers.push(again.clone());
            self.note_booked(order);
        }
        Some(again)
    }

    /// Cancels everything that the session has booked.
    async fn cancel(&self, caller: &mut Caller, tool: &ToolFile, order: &BookedOrder, answers: &Answers) {
        let mut order = order.clone();
        let mut cancelled = None;
        for booked in order.answers.clone() {
            let mut answers = answers.clone();
            answers.insert(order.tool.name.clone(), booked.clone());
            let Some(arguments) = self.arguments(caller, tool, &answers) else { continue };
            self.simulation.state().bookings.cancelling(&order.request_id);
            caller.keep_pace(&tool.role).await;
            let outcome = caller.call(&self.intent, tool, &arguments).await;
            let mut state = self.simulation.state();
            match outcome {
                Ok(answer) => {
                    state.bookings.cancelled(&order.request_id);
                    cancelled = Some(answer);
                }
                // It is over already: it was completed, or it has failed.
                Err(CallFailure::Refused(_)) => state.bookings.ended(&order.request_id),
                Err(CallFailure::Failed | CallFailure::Stopped) => {
                    let booked = reference(&booked).unwrap_or_default();
                    let problem = format!("{} could not be cancelled.", shown(booked));
                    state.points.cleanup.wrong(problem, "Cancel it by hand.");
                }
            }
        }
        if let Some(cancelled) = cancelled.filter(|_| self.blip == Blip::LostAnswer) {
            self.check_late_repeat(caller, &mut order, &cancelled).await;
        }
    }

    /// A repeat after the cancellation: the same booking, with its status of now.
    async fn check_late_repeat(&self, caller: &mut Caller, order: &mut BookedOrder, cancelled: &Value) {
        let Some(again) = self.repeat(caller, order).await else { return };
        let (status, now) = (cancelled.get("status"), again.get("status"));
        let words = order.tool.output.pointer("/properties/status/enum").and_then(Value::as_array);
        let can_say = words.is_some_and(|words| status.is_some_and(|status| words.contains(status)));
        if can_say && status != now {
            let problem = format!(
                "{}: a repeat after the cancellation has the status {}; it is {}.",
                order.tool.name,
                shown(&now.map(Value::to_string).unwrap_or_default()),
                shown(&status.map(Value::to_string).unwrap_or_default())
            );
            let mut state = self.simulation.state();
            state.points.repeats.wrong(problem, "Answer a repeated key with the status of now.");
        }
    }
}
