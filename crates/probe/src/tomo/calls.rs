//! Calls of tools: what TOMO would parse out of the answer, and every answer looked through for what must not be in it.

use serde_json::{Value, json};

use super::doctor::Doctor;
use super::examples::{Answers, as_sent, filled_in, needed};
use super::forbidden;
use super::intent::{IntentFile, ToolFile};
use super::tracking::stream_problems;
use crate::json_schema::{problems, timestamp};
use crate::report::shown;
use crate::rpc::Exchange;

/// In which order tools are called: what a later one needs is answered by an earlier one.
const ORDER: [&str; 8] = ["search", "get_detail", "utility", "create", "track", "modify", "rate", "cancel"];

/// The tools of an intent in the order in which they can be called: by role, but never before what they need.
pub(super) fn in_order(intent: &IntentFile) -> Vec<&ToolFile> {
    let mut rest: Vec<&ToolFile> = intent.tools.iter().collect();
    rest.sort_by_key(|tool| ORDER.iter().position(|role| *role == tool.role));
    let mut ordered: Vec<&ToolFile> = Vec::new();
    while !rest.is_empty() {
        let is_ready = |tool: &&ToolFile| {
            let example = tool.examples.first();
            let missing = |name: &&str| rest.iter().any(|other| other.name == *name);
            !example.is_some_and(|example| needed(example).iter().any(missing))
        };
        // Examples that need each other cannot be called; they come as they stand.
        let next = rest.iter().position(is_ready).unwrap_or(0);
        ordered.push(rest.remove(next));
    }
    ordered
}

impl Doctor {
    /// Calls a tool and looks through the answer.
    pub(super) async fn call(&mut self, tool: &str, arguments: &Value) -> Result<Exchange, String> {
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": self.unique()}});
        let exchange = self.rpc.send("tools/call", Some(params)).await?;
        self.look_through(tool, &exchange);
        Ok(exchange)
    }

    /// Calls a tool that tracks: its stream is read to the end, and must be one of this call.
    async fn call_tracking(&mut self, tool: &str, arguments: &Value) -> Result<Exchange, String> {
        let token = self.unique();
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": token}});
        let exchange = self.rpc.send_to_the_end("tools/call", Some(params)).await?;
        self.look_through(tool, &exchange);
        for problem in stream_problems(&exchange, &token) {
            let remedy = "Send progress with the token of the call, then the response, then end the stream (§5).";
            self.points.responses.wrong(format!("{tool}: {problem}."), remedy);
        }
        Ok(exchange)
    }

    /// What may be in no answer: forbidden fields and the caller's secret.
    pub(super) fn look_through(&mut self, label: &str, exchange: &Exchange) {
        for message in &exchange.raw {
            let place = serde_json::from_slice(message).ok().and_then(|message| forbidden::find(&message));
            if let Some(place) = place {
                let problem = format!("{label}: the answer has {}.", shown(&place));
                self.points.forbidden.wrong(problem, "Remove it: TOMO refuses whatever ranks for money.");
            }
        }
        let Some(secret) = self.secret.as_deref().filter(|secret| secret.len() >= 8) else { return };
        let in_body = exchange.raw.iter().any(|message| contains(message, secret.as_bytes()));
        let in_header = exchange.headers.values().any(|value| contains(value.as_bytes(), secret.as_bytes()));
        if in_body || in_header {
            let problem = format!("{label}: the answer repeats the credential.");
            self.points.credentials.wrong(problem, "Never send a token back.");
        }
    }

    /// The arguments of a tool's first example, as TOMO would send them.
    pub(super) fn arguments(
        &mut self,
        intent: &IntentFile,
        tool: &ToolFile,
        answers: &Answers,
    ) -> Result<Value, String> {
        let example = tool.examples.first().ok_or("its intent has no example")?;
        let unique = self.unique();
        Ok(as_sent(filled_in(example, answers)?, intent, &unique))
    }

    /// Calls every tool of an intent with its example and checks the answers; gives what was answered.
    pub(super) async fn check_calls(&mut self, intent: &IntentFile) -> Answers {
        let mut answers = Answers::new();
        for tool in in_order(intent) {
            if !self.has_tool(&intent.id, &tool.name) {
                continue;
            }
            let arguments = match self.arguments(intent, tool, &answers) {
                Ok(arguments) => arguments,
                Err(why) => {
                    self.points.responses.not_checked(format!("{}: {why}", tool.name));
                    continue;
                }
            };
            if matches!(tool.role.as_str(), "search" | "get_detail") {
                self.check_refusal(intent, tool, &arguments).await;
            }
            let Some(answer) = self.check_call(tool, &arguments).await else { continue };
            answers.insert(tool.name.clone(), answer);
            match tool.role.as_str() {
                "create" => self.check_idempotency(intent, tool, &arguments, &answers).await,
                "track" => self.track_at_once(tool, &arguments).await,
                _ => {}
            }
        }
        answers
    }

    /// Calls every tool of an intent once, with its example, and checks the answers.
    pub(super) async fn call_each(&mut self, intent: &IntentFile) {
        let mut answers = Answers::new();
        for tool in
            in_order(intent).into_iter().filter(|tool| self.has_tool(&intent.id, &tool.name)).collect::<Vec<_>>()
        {
            match self.arguments(intent, tool, &answers) {
                Ok(arguments) => {
                    let answer = self.check_call(tool, &arguments).await;
                    answers.extend(answer.map(|answer| (tool.name.clone(), answer)));
                }
                Err(why) => {
                    self.points.responses.wrong(format!("{}: {why}.", tool.name), "Answer what comes before it.")
                }
            }
        }
    }

    async fn check_call(&mut self, tool: &ToolFile, arguments: &Value) -> Option<Value> {
        let called = match tool.role.as_str() {
            "track" => self.call_tracking(&tool.name, arguments).await,
            _ => self.call(&tool.name, arguments).await,
        };
        let answered = match called {
            Ok(exchange) => payload(&exchange),
            Err(problem) => Err(problem),
        };
        let answer = match answered {
            Ok(answer) => answer,
            Err(problem) => {
                let remedy = "Answer the example of the intent with one text item that holds the payload as JSON (§3).";
                self.points.responses.wrong(format!("{}: {problem}.", tool.name), remedy);
                return None;
            }
        };
        for problem in problems(&tool.output, &answer) {
            let problem = format!("{}: {problem}.", tool.name);
            self.points
                .responses
                .wrong(problem, "Answer exactly what the intent's response shape has, no more and no less.");
        }
        let expires_at = answer.get("expires_at").and_then(Value::as_str).and_then(timestamp);
        if expires_at.is_some_and(|expires_at| expires_at <= self.started_at) {
            let problem = format!("{}: /expires_at lies in the past.", tool.name);
            self.points.responses.wrong(problem, "Say until when what was found can be booked.");
        }
        self.called += 1;
        Some(answer)
    }

    /// A call that lacks what is required must be refused with the code of the table in §4.
    async fn check_refusal(&mut self, intent: &IntentFile, tool: &ToolFile, arguments: &Value) {
        let required = tool.input.get("required").and_then(Value::as_array);
        let first = required.into_iter().flatten().filter_map(Value::as_str).next();
        let Some(missing) = first else { return };
        let mut without = arguments.clone();
        if let Some(members) = without.as_object_mut() {
            members.remove(missing);
            members.insert("user_session_id".to_owned(), json!(self.unique()));
        }
        let refused = match self.call(&tool.name, &without).await {
            Ok(exchange) => exchange.error().cloned(),
            Err(problem) => Err(problem),
        };
        let label = format!("{} without {missing}", tool.name);
        match refused {
            Err(problem) => {
                self.points.inputs.wrong(format!("{label}: {problem}."), "Refuse it with -32602 INVALID_REQUEST.")
            }
            Ok(error) => {
                let is_right = error.code == -32602 && error.tomo_code.as_deref() == Some("INVALID_REQUEST");
                let is_known = error.tomo_code.as_ref().is_some_and(|code| intent.error_codes.contains(code));
                if !is_right || !is_known {
                    let remedy =
                        "Answer -32602 with data.tomo_error_code INVALID_REQUEST, and the field in data.tomo_field.";
                    self.points.inputs.wrong(format!("{label}: {}.", error.shown()), remedy);
                } else if error.tomo_field.is_none() {
                    self.points
                        .inputs
                        .wrong(format!("{label}: data.tomo_field is missing."), "Name the field that is wrong there.");
                }
            }
        }
    }
}

/// The payload of a tool's answer, as TOMO parses it.
pub(super) fn payload(exchange: &Exchange) -> Result<Value, String> {
    let result = exchange.result()?;
    if result.get("isError") == Some(&Value::Bool(true)) {
        return Err("the answer is a result with isError; errors are JSON-RPC errors (§4)".to_owned());
    }
    let content = result.get("content").and_then(Value::as_array).ok_or("the result has no content")?;
    let [item] = content.as_slice() else {
        return Err(format!("the result has {} content items; one text is expected", content.len()));
    };
    if item.get("type").and_then(Value::as_str) != Some("text") {
        return Err("the content is not of the type text".to_owned());
    }
    let text = item.get("text").and_then(Value::as_str).ok_or("the content has no text")?;
    let payload: Value = serde_json::from_str(text).map_err(|_| "the text is no JSON".to_owned())?;
    if payload.is_object() { Ok(payload) } else { Err("the text is JSON, but no object".to_owned()) }
}

pub(super) fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
