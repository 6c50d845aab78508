//! A finished call as spans in OTLP's JSON: one for the call and one for each stage that was timed. Every text in it is a
//! constant of this program or a hexadecimal number.

use frontdesk_engine::model::observation::{Observation, StageTime, StageTimes};
use frontdesk_engine::model::trace::Trace;
use frontdesk_engine::ports::Random;
use frontdesk_wire::version::Era;
use serde::Serialize;

const INTERNAL: u8 = 1;
const SERVER: u8 = 2;
/// Bits of `flags`: the trace is sampled; it is known whether the parent is remote; the parent is remote.
const SAMPLED: u32 = 1;
const HAS_IS_REMOTE: u32 = 0x100;
const IS_REMOTE: u32 = 0x200;

/// What is stored of a call until its spans are written.
pub(super) struct CallSpans {
    trace: Trace,
    /// Of the call and its stages.
    ids: [u64; 4],
    began: u64,
    micros: u64,
    laps: StageTimes,
    contract: &'static str,
    method: Option<&'static str>,
    tool: Option<&'static str>,
    outcome: &'static str,
    code: Option<&'static str>,
    status: Option<u16>,
    era: Option<Era>,
}

impl CallSpans {
    pub(super) fn new(call: &Observation, random: &dyn Random) -> CallSpans {
        let mut bytes = [0; 32];
        random.fill(&mut bytes);
        let mut ids = [0; 4];
        for (id, chunk) in ids.iter_mut().zip(bytes.chunks(8)) {
            // Zero is not a valid id.
            *id = chunk.iter().fold(0, |all: u64, byte| (all << 8) | u64::from(*byte)).max(1);
        }
        CallSpans {
            trace: call.trace.clone(),
            ids,
            began: u64::try_from(call.at.0).unwrap_or_default().saturating_mul(1_000_000),
            micros: call.micros,
            laps: call.stages,
            contract: call.contract,
            method: call.method,
            tool: call.tool,
            outcome: call.outcome,
            code: call.code,
            status: call.status,
            era: call.era,
        }
    }

    fn spans(&self) -> Vec<Span<'_>> {
        let [whole, identify, perform, record] = self.ids;
        let stages = [
            ("identify", identify, self.laps.identify),
            ("perform", perform, self.laps.perform),
            ("record", record, self.laps.record),
        ];
        let mut spans = vec![self.span(whole)];
        spans.extend(stages.into_iter().filter_map(|(name, id, lap)| Some(self.stage(name, id, whole, lap?))));
        spans
    }

    fn span(&self, id: u64) -> Span<'_> {
        let method = self.method.unwrap_or("unknown");
        Span {
            trace_id: &self.trace.id,
            span_id: hexadecimal(id),
            parent_span_id: self.trace.parent.as_ref().map(|parent| parent.span.to_string()),
            flags: match self.trace.parent {
                Some(_) => SAMPLED | HAS_IS_REMOTE | IS_REMOTE,
                None => SAMPLED,
            },
            name: match self.tool {
                Some(tool) => format!("{method} {tool}"),
                None => method.to_owned(),
            },
            kind: SERVER,
            start_time_unix_nano: self.began.to_string(),
            end_time_unix_nano: self.after(self.micros),
            attributes: self.attributes(),
            // An error of the caller is not an error of the server.
            status: matches!(self.outcome, "internal" | "unavailable" | "server_error").then_some(Status { code: 2 }),
        }
    }

    fn stage(&self, name: &'static str, id: u64, parent: u64, lap: StageTime) -> Span<'_> {
        Span {
            trace_id: &self.trace.id,
            span_id: hexadecimal(id),
            parent_span_id: Some(hexadecimal(parent)),
            flags: SAMPLED | HAS_IS_REMOTE,
            name: name.to_owned(),
            kind: INTERNAL,
            start_time_unix_nano: self.after(lap.from),
            end_time_unix_nano: self.after(lap.until),
            attributes: Vec::new(),
            status: None,
        }
    }

    /// With the names of OpenTelemetry's semantic conventions where there are any.
    fn attributes(&self) -> Vec<Attribute> {
        let words = [
            ("mcp.method.name", self.method),
            ("gen_ai.tool.name", self.tool),
            ("mcp.protocol.version", self.era.map(|era| era.version().as_str())),
            ("frontdesk.contract", Some(self.contract)),
            ("frontdesk.era", self.era.map(era)),
            ("frontdesk.outcome", Some(self.outcome)),
            ("error.type", self.code),
        ];
        let words = words.into_iter().filter_map(|(key, word)| Some(Attribute { key, value: Value::Text(word?) }));
        let status = self
            .status
            .map(|status| Attribute { key: "http.response.status_code", value: Value::Whole(status.to_string()) });
        words.chain(status).collect()
    }

    fn after(&self, micros: u64) -> String {
        self.began.saturating_add(micros.saturating_mul(1000)).to_string()
    }
}

/// The body of one export request. Serializing plain structs of text and numbers cannot fail.
pub(super) fn request(calls: &[CallSpans]) -> Vec<u8> {
    let resource = Resource {
        attributes: [("service.name", "frontdesk"), ("service.version", env!("CARGO_PKG_VERSION"))]
            .map(|(key, word)| Attribute { key, value: Value::Text(word) }),
    };
    let scope = Scope { name: "frontdesk", version: env!("CARGO_PKG_VERSION") };
    let spans = calls.iter().flat_map(CallSpans::spans).collect();
    let request =
        ExportRequest { resource_spans: [ResourceSpans { resource, scope_spans: [ScopeSpans { scope, spans }] }] };
    serde_json::to_vec(&request).unwrap_or_default()
}

fn hexadecimal(id: u64) -> String {
    format!("{id:016x}")
}

fn era(era: Era) -> &'static str {
    match era {
        Era::Legacy(_) => "legacy",
        Era::Modern => "modern",
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExportRequest<'a> {
    resource_spans: [ResourceSpans<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceSpans<'a> {
    resource: Resource,
    scope_spans: [ScopeSpans<'a>; 1],
}

#[derive(Serialize)]
struct Resource {
    attributes: [Attribute; 2],
}

#[derive(Serialize)]
struct ScopeSpans<'a> {
    scope: Scope,
    spans: Vec<Span<'a>>,
}

#[derive(Serialize)]
struct Scope {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Span<'a> {
    trace_id: &'a str,
    span_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_span_id: Option<String>,
    flags: u32,
    name: String,
    kind: u8,
    start_time_unix_nano: String,
    end_time_unix_nano: String,
    attributes: Vec<Attribute>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Status>,
}

#[derive(Serialize)]
struct Attribute {
    key: &'static str,
    value: Value,
}

/// OTLP writes integers as strings.
#[derive(Serialize)]
enum Value {
    #[serde(rename = "stringValue")]
    Text(&'static str),
    #[serde(rename = "intValue")]
    Whole(String),
}

#[derive(Serialize)]
struct Status {
    code: u8,
}
