//! Bookings that are sent twice (§6). Whatever these checks book is cancelled again, also on a server that fails them.

use serde_json::Value;

use super::calls::payload;
use super::doctor::Doctor;
use super::examples::{Answers, altered, as_sent, filled_in};
use super::intent::{IntentFile, ToolFile};

const KEY: &str = "idempotency_key";

/// What names the booking in the answer of a tool that creates.
pub(super) fn reference(answer: &Value) -> Option<&str> {
    let members = answer.as_object()?;
    let published = ["booking_ref", "ride_ref", "order_ref"].into_iter().find_map(|name| members.get(name));
    published.and_then(Value::as_str)
}

impl Doctor {
    /// `arguments` have just been booked, with the answer among `answers`.
    pub(super) async fn check_idempotency(
        &mut self,
        intent: &IntentFile,
        tool: &ToolFile,
        arguments: &Value,
        answers: &Answers,
    ) {
        let Some(booked) = answers.get(&tool.name).and_then(reference).map(str::to_owned) else {
            let why = format!("{}: its answer has no booking_ref", tool.name);
            return self.points.idempotency.not_checked(why);
        };
        self.idempotent += 1;
        self.check_replay(intent, tool, arguments, &booked, answers).await;
        self.check_conflict(intent, tool, arguments, answers).await;
        self.check_missing_key(intent, tool, arguments, answers).await;
    }

    /// The same call again: the same booking.
    pub(super) async fn check_replay(
        &mut self,
        intent: &IntentFile,
        tool: &ToolFile,
        arguments: &Value,
        booked: &str,
        answers: &Answers,
    ) {
        let again = match self.call(&tool.name, arguments).await {
            Ok(exchange) => payload(&exchange),
            Err(problem) => Err(problem),
        };
        match again {
            Ok(again) if reference(&again) == Some(booked) => {}
            Ok(again) => {
                let problem = format!("{}: the same call with the same key made another booking.", tool.name);
                self.points.idempotency.wrong(problem, "Answer a repeated key with the booking_ref of the first call.");
                self.cancel(intent, tool, again, answers).await;
            }
            Err(problem) => {
                let problem = format!("{}: the same call with the same key: {problem}.", tool.name);
                self.points.idempotency.wrong(problem, "Answer a repeated key with the booking_ref of the first call.");
            }
        }
    }

    /// Another body under the key: a conflict, and no booking.
    async fn check_conflict(&mut self, intent: &IntentFile, tool: &ToolFile, arguments: &Value, answers: &Answers) {
        let Some(other) = altered(arguments, &tool.input) else {
            let why = format!("{}: its example has no text that could be changed", tool.name);
            return self.points.idempotency.not_checked(why);
        };
        let remedy = "Answer IDEMPOTENCY_CONFLICT when a key comes back with another body.";
        let label = format!("{}: another body with the same key", tool.name);
        match self.call(&tool.name, &other).await {
            Err(problem) => self.points.idempotency.wrong(format!("{label}: {problem}."), remedy),
            Ok(exchange) => match exchange.error() {
                Ok(error) if error.tomo_code.as_deref() == Some("IDEMPOTENCY_CONFLICT") => {}
                Ok(error) => self.points.idempotency.wrong(format!("{label}: {}.", error.shown()), remedy),
                Err(found) => {
                    self.points.idempotency.wrong(format!("{label} was not refused: {found}."), remedy);
                    self.cancel_other(intent, tool, payload(&exchange).ok(), answers).await;
                }
            },
        }
    }

    /// Without a key nothing may be booked: TOMO's retry would book twice.
    async fn check_missing_key(&mut self, intent: &IntentFile, tool: &ToolFile, arguments: &Value, answers: &Answers) {
        let mut without = arguments.clone();
        if let Some(members) = without.as_object_mut() {
            members.remove(KEY);
        }
        let remedy = "Put idempotency_key into required, and refuse a call without it with -32602 INVALID_REQUEST.";
        let label = format!("{}: without {KEY}", tool.name);
        match self.call(&tool.name, &without).await {
            Err(problem) => self.points.idempotency.wrong(format!("{label}: {problem}."), remedy),
            Ok(exchange) => match exchange.error() {
                Ok(error) if error.code == -32602 && error.tomo_code.as_deref() == Some("INVALID_REQUEST") => {}
                Ok(error) => self.points.idempotency.wrong(format!("{label}: {}.", error.shown()), remedy),
                Err(found) => {
                    self.points.idempotency.wrong(format!("{label} it was not refused: {found}."), remedy);
                    self.cancel_other(intent, tool, payload(&exchange).ok(), answers).await;
                }
            },
        }
    }

    /// Cancels what a check has booked by mistake, but never the first booking, which later checks need.
    async fn cancel_other(&mut self, intent: &IntentFile, tool: &ToolFile, booked: Option<Value>, answers: &Answers) {
        let first = answers.get(&tool.name).and_then(reference);
        if let Some(booked) = booked.filter(|booked| reference(booked) != first) {
            self.cancel(intent, tool, booked, answers).await;
        }
    }

    /// Cancels a booking with the example of the intent; gives how long that took, if it succeeded.
    pub(super) async fn cancel(
        &mut self,
        intent: &IntentFile,
        tool: &ToolFile,
        booked: Value,
        answers: &Answers,
    ) -> Option<std::time::Duration> {
        let cancel = intent.tools.iter().find(|tool| tool.role == "cancel")?;
        let reference = reference(&booked).unwrap_or_default().to_owned();
        let mut answers = answers.clone();
        answers.insert(tool.name.clone(), booked);
        let arguments = filled_in(cancel.examples.first()?, &answers).ok()?;
        let unique = self.unique();
        let exchange = self.call(&cancel.name, &as_sent(arguments, intent, &unique)).await;
        match exchange {
            Ok(exchange) if exchange.result().is_ok() => Some(exchange.took),
            Ok(_) | Err(_) => {
                self.left.push(crate::report::shown(&reference));
                None
            }
        }
    }
}
