//! How fast the tools answer (§7), and what the server says when it is asked too often (§8).

use std::time::Duration;

use serde_json::{Value, json};

use super::calls::payload;
use super::doctor::Doctor;
use super::examples::Answers;
use super::intent::{IntentFile, ToolFile};
use super::latency::{self, LatencyTarget, percentile};
use crate::rpc::{AcceptHeader, Exchange, ProbeCredential};

/// TOMO itself sends one a second: a server without a limit below this is left in peace.
const BURST: usize = 60;
/// TOMO's longest pause before it tries again; after a longer one it has given up.
const MAX_RETRY_AFTER: u64 = 16;

impl Doctor {
    pub(super) async fn measure(&mut self, intent: &IntentFile, answers: &Answers) {
        for tool in &intent.tools {
            if answers.contains_key(&tool.name) {
                match tool.role.as_str() {
                    "search" | "get_detail" => self.measure_reads(intent, tool, answers).await,
                    "create" => self.measure_bookings(intent, tool, answers).await,
                    _ => {}
                }
            }
        }
    }

    async fn measure_reads(&mut self, intent: &IntentFile, tool: &ToolFile, answers: &Answers) {
        let mut times = Vec::new();
        for round in 1..=self.rounds {
            let Ok(arguments) = self.arguments(intent, tool, answers) else { return };
            match self.call(&tool.name, &arguments).await {
                Ok(exchange) => match payload(&exchange) {
                    Ok(_) => times.push(exchange.took),
                    Err(problem) => return self.broke_off(&tool.name, round, &problem),
                },
                Err(problem) => return self.broke_off(&tool.name, round, &problem),
            }
        }
        self.compare(&tool.name, &tool.role, times);
    }

    /// Each booking is cancelled before the next, so that nothing is sold out.
    async fn measure_bookings(&mut self, intent: &IntentFile, tool: &ToolFile, answers: &Answers) {
        let (mut creates, mut tracks, mut cancels) = (Vec::new(), Vec::new(), Vec::new());
        let tracking = intent.tools.iter().find(|tool| tool.role == "track" && answers.contains_key(&tool.name));
        for round in 1..=self.rounds {
            let Ok(arguments) = self.arguments(intent, tool, answers) else { return };
            let booked = match self.call(&tool.name, &arguments).await {
                Ok(exchange) => payload(&exchange).map(|booked| (booked, exchange.took)),
                Err(problem) => Err(problem),
            };
            match booked {
                Ok((booked, took)) => {
                    creates.push(took);
                    // Each booking is tracked once: more often would be too often for one.
                    if let Some(tracking) = tracking {
                        match self.track_once(intent, tool, tracking, &booked, answers).await {
                            Ok(took) => tracks.push(took),
                            Err(problem) => self.broke_off(&tracking.name, round, &problem),
                        }
                    }
                    match self.cancel(intent, tool, booked, answers).await {
                        Some(took) => cancels.push(took),
                        None => return self.broke_off("the cancellation", round, "it was not cancelled"),
                    }
                }
                Err(problem) => return self.broke_off(&tool.name, round, &problem),
            }
        }
        self.compare(&tool.name, "create", creates);
        if let Some(tracking) = tracking {
            self.compare(&tracking.name, "track", tracks);
        }
        if let Some(cancel) = intent.tools.iter().find(|tool| tool.role == "cancel") {
            self.compare(&cancel.name, "cancel", cancels);
        }
    }

    async fn track_once(
        &mut self,
        intent: &IntentFile,
        create: &ToolFile,
        tracking: &ToolFile,
        booked: &Value,
        answers: &Answers,
    ) -> Result<Duration, String> {
        let mut answers = answers.clone();
        answers.insert(create.name.clone(), booked.clone());
        let arguments = self.arguments(intent, tracking, &answers)?;
        let exchange = self.call(&tracking.name, &arguments).await?;
        payload(&exchange).map(|_| exchange.took)
    }

    /// Tracks an order again at once, which TOMO never does: a server may refuse that, in the way of every limit.
    pub(super) async fn track_at_once(&mut self, tool: &ToolFile, arguments: &Value) {
        match self.call(&tool.name, arguments).await {
            Ok(exchange) if exchange.result().is_ok() => {
                self.points.limits.note(format!("{} is not limited for one order", tool.name));
            }
            Ok(exchange) => self.check_limited(&tool.name, &exchange),
            Err(problem) => self.points.limits.wrong(format!("{}: {problem}.", tool.name), "Answer every call."),
        }
    }

    fn broke_off(&mut self, tool: &str, round: usize, problem: &str) {
        let problem = format!("{tool}: call {round} of {} failed: {problem}.", self.rounds);
        self.points.latency.wrong(problem, "Answer the same call every time; each comes from another session.");
    }

    fn compare(&mut self, tool: &str, role: &str, times: Vec<Duration>) {
        let Some(LatencyTarget { millis: [_, target, _], .. }) = latency::target(role) else { return };
        let mut times = times;
        times.sort();
        let p95 = percentile(&times, 95).as_millis();
        if p95 > u128::from(*target) {
            let problem = format!("{tool}: p95 is {p95} ms over {} calls; the target is {target} ms.", self.rounds);
            self.points.latency.wrong(problem, "Find what it waits for; TOMO drops a partner at twice the target.");
        } else {
            self.points.latency.note(format!("{tool} {p95} ms"));
        }
    }

    /// Asks too often in one session and looks at how that is refused.
    pub(super) async fn provoke_limit(&mut self, intent: &IntentFile, answers: &Answers) {
        let search = intent.tools.iter().find(|tool| tool.role == "search" && answers.contains_key(&tool.name));
        let Some(search) = search else {
            return self.points.limits.not_checked("no search could be called");
        };
        let Ok(arguments) = self.arguments(intent, search, answers) else { return };
        for _ in 0..BURST {
            let exchange = match self.call(&search.name, &arguments).await {
                Ok(exchange) => exchange,
                Err(problem) => return self.points.limits.not_checked(format!("{}: {problem}", search.name)),
            };
            if exchange.result().is_ok() {
                continue;
            }
            return self.check_limited(&search.name, &exchange);
        }
        self.points.limits.not_checked(format!(
            "{}: {BURST} calls of one session met no limit. If there is one, see that it answers -32001 RATE_LIMITED \
             with Retry-After",
            search.name
        ));
    }

    fn check_limited(&mut self, tool: &str, exchange: &Exchange) {
        let remedy = "Answer -32001 with data.tomo_error_code RATE_LIMITED and Retry-After of at most 16 seconds.";
        match exchange.error() {
            Ok(error) if error.code == -32001 && error.tomo_code.as_deref() == Some("RATE_LIMITED") => {}
            Ok(error) => {
                return self.points.limits.wrong(format!("{tool}, called too often: {}.", error.shown()), remedy);
            }
            Err(found) => return self.points.limits.wrong(format!("{tool}, called too often: {found}."), remedy),
        }
        let seconds = exchange.retry_after.as_deref().map(|text| text.trim().parse::<u64>());
        match seconds {
            Some(Ok(seconds)) if seconds <= MAX_RETRY_AFTER => {
                self.points.limits.note(format!("Retry-After: {seconds}"));
            }
            Some(Ok(seconds)) => {
                let problem = format!("{tool}: Retry-After is {seconds}.");
                self.points
                    .limits
                    .wrong(problem, "Name at most 16 seconds: TOMO does not wait longer before it tries again.");
            }
            Some(Err(_)) => self.points.limits.wrong(format!("{tool}: Retry-After is no number of seconds."), remedy),
            None => self.points.limits.wrong(format!("{tool}: RATE_LIMITED comes without Retry-After."), remedy),
        }
    }

    /// Strangers must be refused with 401 and INVALID_AUTH, and told nothing.
    pub(super) async fn check_strangers(&mut self) {
        let tool = self.tools.first().map(|tool| tool.name.clone()).unwrap_or_default();
        let params = json!({"name": tool, "arguments": Value::Object(Default::default())});
        let wrong = ProbeCredential::bearer("wrong-token-of-the-doctor").unwrap_or(ProbeCredential::Nothing);
        for (label, credential, method, params) in [
            ("tools/list with a wrong token", wrong, "tools/list", None),
            ("tools/call without a credential", ProbeCredential::Nothing, "tools/call", Some(params)),
        ] {
            let accept = AcceptHeader::Sent;
            let exchange = match self.stranger.send_as(&credential, accept, method, params).await {
                Ok(exchange) => exchange,
                Err(problem) if self.has_identity => {
                    self.points.credentials.note(format!("{label}: {problem}"));
                    continue;
                }
                Err(problem) => {
                    self.points.credentials.wrong(format!("{label}: {problem}."), "Answer HTTP 401 with INVALID_AUTH.");
                    continue;
                }
            };
            let is_refused = exchange.status == 401
                && exchange
                    .error()
                    .is_ok_and(|error| error.code == -32000 && error.tomo_code.as_deref() == Some("INVALID_AUTH"));
            if !is_refused {
                let found = match exchange.error() {
                    Ok(error) => format!("HTTP {}, {}", exchange.status, error.shown()),
                    Err(found) => found,
                };
                let remedy = "Answer HTTP 401 with a JSON-RPC error -32000 and data.tomo_error_code INVALID_AUTH.";
                self.points.credentials.wrong(format!("{label}: {found}."), remedy);
            }
        }
    }
}
