//! One user's calls: at TOMO's pace, with TOMO's patience when they are limited, each measured and looked through.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::calls::{contains, payload};
use super::super::forbidden;
use super::super::intent::{IntentFile, ToolFile};
use super::super::tracking::{progress_count, stream_problems};
use super::pace::{BACKOFF, MAX_RETRY_AFTER, Pace};
use super::points::MeasuredCall;
use super::simulation::{RunState, Simulation};
use crate::json_schema::problems;
use crate::report::shown;
use crate::rpc::{Exchange, RpcClient, RpcError};

/// Codes that say something is wrong with the call or the server, and nothing about the order.
const GENERAL_CODES: [&str; 7] = [
    "INVALID_REQUEST",
    "METHOD_NOT_FOUND",
    "INTERNAL_ERROR",
    "INVALID_AUTH",
    "RATE_LIMITED",
    "PARTNER_MAINTENANCE",
    "IDEMPOTENCY_CONFLICT",
];

/// Why a call gave no payload. Whatever is wrong with that has been reported.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CallFailure {
    /// The intent's own code: sold out, closed, not possible any more.
    Refused(String),
    Failed,
    /// The run was stopped before it was sent.
    Stopped,
}

pub(super) struct Caller {
    simulation: Arc<Simulation>,
    rpc: RpcClient,
    pace: Pace,
    /// What begins the ids of this session.
    pub(super) name: String,
    numbers: u32,
}

impl Caller {
    pub(super) fn new(simulation: &Arc<Simulation>, name: String) -> Result<Caller, String> {
        let rpc = simulation.target.client(&simulation.target.credential, simulation.last_call())?;
        let pace = Pace::new(simulation.options.speed);
        Ok(Caller { simulation: Arc::clone(simulation), rpc, pace, name, numbers: 0 })
    }

    /// A text that was never used before.
    pub(super) fn unique(&mut self) -> String {
        self.numbers += 1;
        format!("{}_{}", self.name, self.numbers)
    }

    /// Waits until TOMO would call a tool of this role.
    pub(super) async fn keep_pace(&mut self, role: &str) {
        let wait = self.pace.next(role, Instant::now());
        self.simulation.pause(wait).await;
    }

    /// The connection is lost before the answer to this call has come.
    pub(super) async fn call_and_cut(&mut self, tool: &ToolFile, arguments: &Value, after: Duration) {
        let params = json!({"name": tool.name, "arguments": arguments, "_meta": {"progressToken": self.unique()}});
        self.rpc.send_and_cut("tools/call", params, after).await;
    }

    /// The next call has a new connection.
    pub(super) fn reconnect(&mut self) {
        if let Ok(rpc) = self.simulation.target.client(&self.rpc.credential, self.simulation.last_call()) {
            self.rpc = rpc;
        }
    }

    /// Calls a tool until it is not limited any more, and checks the answer.
    pub(super) async fn call(
        &mut self,
        intent: &IntentFile,
        tool: &ToolFile,
        arguments: &Value,
    ) -> Result<Value, CallFailure> {
        let mut told: Option<u64> = None;
        for retry in 0..=BACKOFF.len() {
            let at = self.simulation.started.elapsed();
            let exchange = match self.send(tool, arguments).await {
                Ok(exchange) => exchange,
                Err(problem) => {
                    self.wrong(tool, &problem);
                    return Err(CallFailure::Failed);
                }
            };
            let Some(limit) = limited(&exchange) else {
                return self.judge(intent, tool, &exchange, at);
            };
            self.simulation.state().limited += usize::from(retry == 0);
            self.judge_limit(tool, &exchange, told);
            told = limit.retry_after;
            let Some(backoff) = BACKOFF.get(retry) else { break };
            let asked = Duration::from_secs(told.unwrap_or_default().min(MAX_RETRY_AFTER));
            self.simulation.pause(self.pace.scaled((*backoff).max(asked))).await;
            if self.simulation.run_state() == RunState::Stopping && tool.role != "cancel" {
                return Err(CallFailure::Stopped);
            }
        }
        let mut state = self.simulation.state();
        let problem =
            format!("{}: RATE_LIMITED after 5 retries: listing dropped, falls back to another partner.", tool.name);
        state.points.limits.wrong(problem, "Serve what TOMO sends at the rates of §8.");
        Err(CallFailure::Failed)
    }

    async fn send(&mut self, tool: &ToolFile, arguments: &Value) -> Result<Exchange, String> {
        let token = self.unique();
        let params = json!({"name": tool.name, "arguments": arguments, "_meta": {"progressToken": token}});
        let exchange = if tool.role == "track" {
            self.rpc.send_to_the_end("tools/call", Some(params)).await?
        } else {
            self.rpc.send("tools/call", Some(params)).await?
        };
        self.look_through(&tool.name, &exchange);
        if tool.role == "track" {
            let mut state = self.simulation.state();
            state.tracked += 1;
            for problem in stream_problems(&exchange, &token) {
                let remedy = "Send progress with the token of the call, then the response, then end the stream (§5).";
                state.points.tracking.wrong(format!("{}: {problem}.", tool.name), remedy);
            }
        }
        Ok(exchange)
    }

    fn judge(
        &mut self,
        intent: &IntentFile,
        tool: &ToolFile,
        exchange: &Exchange,
        at: Duration,
    ) -> Result<Value, CallFailure> {
        if let Ok(error) = exchange.error() {
            return Err(self.judge_error(intent, tool, error));
        }
        let answer = match payload(exchange) {
            Ok(answer) => answer,
            Err(problem) => {
                self.wrong(tool, &problem);
                return Err(CallFailure::Failed);
            }
        };
        for problem in problems(&tool.output, &answer) {
            self.wrong(tool, &problem);
        }
        // A stream that goes on for longer says nothing about how fast the server is.
        if progress_count(exchange) <= 1 {
            let call = MeasuredCall { role: tool.role.clone(), at, took: exchange.took };
            self.simulation.state().calls.push(call);
        }
        Ok(answer)
    }

    fn judge_error(&self, intent: &IntentFile, tool: &ToolFile, error: &RpcError) -> CallFailure {
        match &error.tomo_code {
            Some(code) if intent.error_codes.contains(code) && !GENERAL_CODES.contains(&code.as_str()) => {
                let refusal = format!("{} refused with {}", tool.name, shown(code));
                *self.simulation.state().refusals.entry(refusal).or_default() += 1;
                CallFailure::Refused(code.clone())
            }
            Some(_) | None => {
                self.wrong(tool, &error.shown());
                CallFailure::Failed
            }
        }
    }

    fn judge_limit(&self, tool: &ToolFile, exchange: &Exchange, told: Option<u64>) {
        let mut state = self.simulation.state();
        let name = &tool.name;
        let mut wrong = |problem: String, remedy: &str| {
            let problem = format!("{name}: {problem}.");
            if !state.points.limits.problems().any(|known| known == problem) {
                state.points.limits.wrong(problem, remedy);
            }
        };
        if let Some(seconds) = told.filter(|seconds| *seconds <= MAX_RETRY_AFTER) {
            wrong(
                format!("it was limited again after its own Retry-After of {seconds} s"),
                "Say with Retry-After when a call is served again.",
            );
        }
        match exchange.retry_after.as_deref().map(|text| text.trim().parse::<u64>()) {
            Some(Ok(seconds)) if seconds <= MAX_RETRY_AFTER => {}
            Some(Ok(seconds)) => {
                wrong(format!("Retry-After is {seconds}"), "Name at most 16 seconds: TOMO does not wait longer.");
            }
            Some(Err(_)) | None => wrong(
                "RATE_LIMITED comes without Retry-After in seconds".to_owned(),
                "Answer it with Retry-After of at most 16 seconds.",
            ),
        }
    }

    /// What may be in no answer: forbidden fields and the secrets of either side.
    fn look_through(&self, label: &str, exchange: &Exchange) {
        let mut state = self.simulation.state();
        for message in &exchange.raw {
            let place = serde_json::from_slice(message).ok().and_then(|message| forbidden::find(&message));
            if let Some(place) = place {
                let problem = format!("{label}: the answer has {}.", shown(&place));
                state.points.answers.wrong(problem, "Remove it: TOMO refuses whatever ranks for money.");
            }
        }
        let keys = self.simulation.receiver.iter().flat_map(|rules| rules.keys.secrets());
        let secrets = self.simulation.target.secret.iter().map(|secret| secret.as_bytes()).chain(keys);
        let is_shown = secrets.filter(|secret| secret.len() >= 8).any(|secret| {
            exchange.raw.iter().any(|message| contains(message, secret))
                || exchange.headers.values().any(|value| contains(value.as_bytes(), secret))
        });
        if is_shown {
            state.points.answers.wrong(format!("{label}: the answer repeats a secret."), "Never send one back.");
        }
    }

    fn wrong(&self, tool: &ToolFile, problem: &str) {
        let problem = format!("{}: {problem}.", tool.name);
        let mut state = self.simulation.state();
        state.points.answers.wrong(problem, "Answer exactly what the intent says, in every session.");
    }
}

struct Limit {
    retry_after: Option<u64>,
}

fn limited(exchange: &Exchange) -> Option<Limit> {
    let error = exchange.error().ok().filter(|error| error.tomo_code.as_deref() == Some("RATE_LIMITED"));
    error.map(|_| Limit { retry_after: exchange.retry_after.as_deref().and_then(|text| text.trim().parse().ok()) })
}
