//! The walk through the twelve points, in the order in which one needs the other.

use std::time::Instant;

use serde_json::Value;
use time::OffsetDateTime;

use super::intent::{IntentFile, KnownIntents};
use super::target::Target;
use super::tools::{ListedTool, MAX_TOOLS, check_inputs, check_toolset, read};
use crate::command::ProbeReport;
use crate::https::Endpoint;
use crate::report::{CheckPoint, report, shown};
use crate::rpc::{AcceptHeader, ProbeCredential, RpcClient};

pub(super) struct Points {
    pub(super) https: CheckPoint,
    pub(super) handshake: CheckPoint,
    pub(super) list: CheckPoint,
    pub(super) intents: CheckPoint,
    pub(super) inputs: CheckPoint,
    pub(super) responses: CheckPoint,
    pub(super) forbidden: CheckPoint,
    pub(super) credentials: CheckPoint,
    pub(super) idempotency: CheckPoint,
    pub(super) latency: CheckPoint,
    pub(super) limits: CheckPoint,
    pub(super) signing: CheckPoint,
}

impl Points {
    fn new() -> Points {
        Points {
            https: CheckPoint::new(1, "HTTPS endpoint, TLS 1.2 or later"),
            handshake: CheckPoint::new(2, "initialize returns a valid handshake"),
            list: CheckPoint::new(3, "tools/list returns tools with full _meta.tomo"),
            intents: CheckPoint::new(4, "every tool belongs to an intent, and no tool of it is missing"),
            inputs: CheckPoint::new(5, "every inputSchema is the intent's"),
            responses: CheckPoint::new(6, "every response has all fields of the intent"),
            forbidden: CheckPoint::new(7, "no forbidden fields anywhere"),
            credentials: CheckPoint::new(8, "calls without a credential are refused"),
            idempotency: CheckPoint::new(9, "tools that create are idempotent"),
            latency: CheckPoint::new(10, "p95 within the targets"),
            limits: CheckPoint::new(11, "rate limits say when to try again"),
            signing: CheckPoint::new(12, "completions are signed"),
        }
    }

    fn all(&self) -> [&CheckPoint; 12] {
        [
            &self.https,
            &self.handshake,
            &self.list,
            &self.intents,
            &self.inputs,
            &self.responses,
            &self.forbidden,
            &self.credentials,
            &self.idempotency,
            &self.latency,
            &self.limits,
            &self.signing,
        ]
    }

    /// The points from this one on could not be checked.
    fn rest_not_checked(&mut self, from: usize, why: &str) {
        let all = [
            &mut self.https,
            &mut self.handshake,
            &mut self.list,
            &mut self.intents,
            &mut self.inputs,
            &mut self.responses,
            &mut self.forbidden,
            &mut self.credentials,
            &mut self.idempotency,
            &mut self.latency,
            &mut self.limits,
        ];
        for point in all.into_iter().skip(from - 1).filter(|point| !point.has_failed()) {
            point.not_checked(why);
        }
    }
}

pub(super) struct Doctor {
    endpoint: Endpoint,
    pub(super) rpc: RpcClient,
    /// Without any credential.
    pub(super) stranger: RpcClient,
    /// Whether the caller shows a certificate, without which there may be no connection.
    pub(super) has_identity: bool,
    pub(super) secret: Option<String>,
    intents: KnownIntents,
    pub(super) rounds: usize,
    pub(super) points: Points,
    pub(super) tools: Vec<ListedTool>,
    /// The answer of tools/list, as it was.
    pub(super) listed: Value,
    pub(super) started_at: OffsetDateTime,
    run: String,
    numbers: u64,
    pub(super) called: usize,
    pub(super) idempotent: usize,
    /// Bookings that could not be cancelled.
    pub(super) left: Vec<String>,
}

impl Doctor {
    pub(super) fn new(
        target: &Target,
        credential: &ProbeCredential,
        intents: KnownIntents,
        rounds: usize,
        until: Instant,
    ) -> Result<Doctor, String> {
        let started_at = now();
        Ok(Doctor {
            endpoint: target.endpoint.clone(),
            rpc: target.client(credential, until)?,
            stranger: target.stranger(until)?,
            has_identity: target.has_identity(),
            secret: target.secret.clone(),
            intents,
            rounds,
            points: Points::new(),
            tools: Vec::new(),
            listed: Value::Null,
            run: format!("doctor_{:x}", started_at.unix_timestamp_nanos()),
            started_at,
            numbers: 0,
            called: 0,
            idempotent: 0,
            left: Vec::new(),
        })
    }

    /// A text that this run, and no other, has used once.
    pub(super) fn unique(&mut self) -> String {
        self.numbers += 1;
        format!("{}_{}", self.run, self.numbers)
    }

    pub(super) fn has_tool(&self, intent: &str, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.intent == intent && tool.name == name)
    }

    pub(super) async fn examine(mut self) -> ProbeReport {
        self.walk().await;
        if !self.left.is_empty() {
            let problem = format!("these bookings of the check could not be cancelled: {}.", self.left.join(", "));
            self.points.idempotency.wrong(problem, "Cancel them by hand.");
        }
        self.points.signing.not_checked(
            "it cannot be seen from outside. `frontdesk tomo simulate --receive` takes the completions of what it books \
             and checks their signatures",
        );
        report(&self.points.all())
    }

    /// What TOMO does when an endpoint is registered: the handshake, the list, and one call of each tool in the sandbox.
    /// Gives the intents that are served; what went wrong is in the points.
    pub(super) async fn register(&mut self) -> Vec<IntentFile> {
        if !self.check_https().await || !self.check_handshake().await || !self.check_list().await {
            return Vec::new();
        }
        let intents = self.served_intents();
        for intent in &intents {
            let listed: Vec<ListedTool> = self.tools.iter().filter(|tool| tool.intent == intent.id).cloned().collect();
            check_toolset(intent, &listed, &mut self.points.intents);
            check_inputs(intent, &listed, &mut self.points.inputs);
            self.call_each(intent).await;
        }
        intents
    }

    /// What was found wrong so far, in the order of the points.
    pub(super) fn problems(&self) -> Vec<String> {
        self.points.all().iter().flat_map(|point| point.problems().map(str::to_owned)).collect()
    }

    async fn walk(&mut self) {
        if !self.check_https().await {
            return self.points.rest_not_checked(2, "there is no connection");
        }
        if !self.check_handshake().await {
            return self.points.rest_not_checked(3, "initialize failed");
        }
        let is_listed = self.check_list().await;
        self.check_strangers().await;
        if !is_listed {
            return self.points.rest_not_checked(4, "there is no list of tools");
        }
        let intents = self.served_intents();
        if intents.is_empty() {
            return self.points.rest_not_checked(5, "no intent of the server is known");
        }
        for intent in &intents {
            let listed: Vec<ListedTool> = self.tools.iter().filter(|tool| tool.intent == intent.id).cloned().collect();
            check_toolset(intent, &listed, &mut self.points.intents);
            check_inputs(intent, &listed, &mut self.points.inputs);
            let answers = self.check_calls(intent).await;
            self.measure(intent, &answers).await;
            self.provoke_limit(intent, &answers).await;
        }
        self.sum_up(&intents);
    }

    async fn check_https(&mut self) -> bool {
        // First, because a server may serve one connection at a time.
        let accepts_old = self.endpoint.accepts_tls_1_1().await;
        if let Err(problem) = self.rpc.https.connect().await {
            let remedy =
                "Serve the endpoint over TLS 1.2 or 1.3 with a valid certificate (--ca for an authority of your own).";
            self.points.https.wrong(format!("{problem}."), remedy);
            return false;
        }
        match accepts_old {
            Some(false) => self.points.https.note(self.rpc.https.tls_version()),
            Some(true) => {
                self.points.https.wrong("the server also accepts TLS 1.1.", "Switch off every version before TLS 1.2.");
            }
            None => {
                self.points.https.not_checked("whether TLS 1.1 is refused: the server did not answer to it in time")
            }
        }
        true
    }

    async fn check_list(&mut self) -> bool {
        let credential = self.rpc.credential.clone();
        // As in §10: without parameters and without an Accept header.
        let exchange = self.rpc.send_as(&credential, AcceptHeader::Missing, "tools/list", None).await;
        let exchange = match exchange {
            Ok(exchange) => exchange,
            Err(problem) => {
                self.points.list.wrong(format!("tools/list: {problem}."), "Answer tools/list (§2).");
                return false;
            }
        };
        self.look_through("tools/list", &exchange);
        let result = match exchange.result() {
            Ok(result) => result,
            Err(problem) => {
                self.points.list.wrong(format!("tools/list: {problem}."), "Answer tools/list (§2).");
                return false;
            }
        };
        self.listed = result.clone();
        if result.get("nextCursor").is_some_and(|cursor| !cursor.is_null()) {
            self.points
                .list
                .wrong("tools/list has a nextCursor.", "List all tools in one answer: TOMO does not ask for more.");
        }
        let listed = result.get("tools").and_then(Value::as_array).cloned().unwrap_or_default();
        if listed.is_empty() {
            self.points.list.wrong("tools/list lists no tool.", "List the tools of your intents.");
            return false;
        }
        if listed.len() > MAX_TOOLS {
            self.points.list.not_checked(format!("only {MAX_TOOLS} of {} tools were looked at", listed.len()));
        }
        for (place, tool) in listed.iter().take(MAX_TOOLS).enumerate() {
            let tool = read(tool, place, &mut self.points.list);
            self.tools.push(tool);
        }
        self.points.list.note(format!("{} tools", listed.len()));
        true
    }

    /// The intents of the listed tools for which there is a file.
    pub(super) fn served_intents(&mut self) -> Vec<IntentFile> {
        let mut ids: Vec<String> = self.tools.iter().map(|tool| tool.intent.clone()).collect();
        ids.sort();
        ids.dedup();
        let mut found = Vec::new();
        for id in ids {
            match self.intents.find(&id) {
                Ok(Some(intent)) => found.push(intent),
                Ok(None) => {
                    let problem = format!(
                        "the intent {:?} is not known here; known are {}.",
                        shown(&id),
                        self.intents.ids().join(", ")
                    );
                    self.points.intents.wrong(problem, "Correct the id, or name the file of the intent with --intent.");
                }
                Err(reason) => self.points.intents.not_checked(format!("{}: {reason}", shown(&id))),
            }
        }
        found
    }

    fn sum_up(&mut self, intents: &[IntentFile]) {
        let served: Vec<String> = intents.iter().map(|intent| format!("{} {}", intent.id, intent.version)).collect();
        self.points.intents.note(served.join(", "));
        self.points.responses.note(format!("{} tools called", self.called));
        if self.idempotent == 0 && !self.points.idempotency.has_failed() {
            self.points.idempotency.not_checked("no tool that creates could be called");
        }
        if self.called == 0 && !self.points.latency.has_failed() {
            self.points.latency.not_checked("no tool could be called");
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the judge runs outside of any server and has no clock port")]
pub(super) fn now() -> OffsetDateTime {
    OffsetDateTime::now_utc()
}
