//! The tool that takes ADF messages, and `POST /adf`: each prospect is one `leads.create`.

use frontdesk_engine::model::incoming::Verb;
use frontdesk_engine::model::route::{Route, RouteBody};
use frontdesk_engine::model::schema::{Schema, optional, required};
use frontdesk_engine::model::tool::{
    CompoundTool, Effect, Outcome, RateKey, Run, ScopeRule, Sensitivity, Tool, ToolCall, ToolSpec,
};
use frontdesk_engine::{Fault, FaultKind, Permitted, Scope};
use serde_json::{Value, json};

use super::rows::rows_of_text;
use super::{MAX_MESSAGE_BYTES, MAX_PROSPECTS};
use crate::automotive::consent::{CONSENT_INVALID, CONSENT_REQUIRED, CONSENT_WITHDRAWN};
use crate::automotive::dialect::error_code;
use crate::automotive::domains;
use crate::automotive::resource::tenant;
use crate::automotive::vocabulary::ConsentChannel;
use crate::feed::{XmlRow, XmlSettings};
use crate::record::{FieldType as _, without_unknown};

const NAME: &str = "x_frontdesk.import_adf";
const CREATE: &str = "leads.create";
const STATUSES: &[&str] = &["created", "refused", "unknown"];

pub(crate) fn tool() -> Tool {
    Tool {
        spec: ToolSpec {
            name: NAME,
            title: "Import ADF leads",
            about: "Takes an ADF 1.0 XML message; each prospect is one leads.create, once however often it is sent. Says \
                    what became of each, and which elements were kept in the comments because they have no field. Consent \
                    is taken as the message states it; consent_channels is your own statement where it states none.",
            input: Schema::object([
                required("adf", Schema::text(MAX_MESSAGE_BYTES), "The message, as XML text."),
                optional(
                    "consent_channels",
                    Schema::list(without_unknown(ConsentChannel::input()), 10),
                    "You state that everybody agreed to be contacted this way whose prospect does not say it.",
                ),
                optional(
                    "calling_code",
                    Schema::text(4),
                    "Country calling code of telephone numbers without one, such as 1.",
                ),
                tenant(),
            ]),
            output: output(),
            effect: Effect::Adds,
            scope: ScopeRule::One(Scope::new(domains::LEADS.write)),
            unmask_scope: None,
            sensitivity: Sensitivity::Business,
            max_login_age: None,
            rate: RateKey::Client,
            route: Some(Route {
                body: RouteBody::Text {
                    argument: "adf",
                    media_types: &["application/xml", "text/xml", "application/x-adf+xml", "application/adf+xml"],
                    decode,
                },
                success: Some(200),
                ..Route::new(Verb::Post, "/adf")
            }),
            codes: vec![CONSENT_REQUIRED.code, CONSENT_INVALID.code, CONSENT_WITHDRAWN.code],
        },
        run: Run::compound(ImportAdf),
    }
}

fn output() -> Schema {
    const TYPE: &[&str] = &["adf_result"];
    let prospect = Schema::object([
        required("number", Schema::integer(1, 1_000), "Its place in the message."),
        required("status", Schema::one_of(STATUSES), "What became of it."),
        optional("lead_id", Schema::text(64), "The lead, if there is one."),
        optional("code", Schema::text(100), "Why it was refused: a stable code."),
        optional("message", Schema::text(2_000), "Why it was refused, in words."),
        required("kept_in_comments", Schema::list(Schema::text(300), 500), "Elements that have no field."),
        required("dropped", Schema::list(Schema::text(300), 500), "Elements that did not fit into the comments."),
    ]);
    Schema::object([
        required("type", Schema::one_of(TYPE), "Always adf_result."),
        required("prospects", Schema::list(prospect, MAX_PROSPECTS), "What became of each prospect."),
    ])
}

struct ImportAdf;

impl CompoundTool for ImportAdf {
    fn calls(&self, permitted: &Permitted<'_>) -> Result<Vec<ToolCall>, Fault> {
        let call = |XmlRow { row, .. }: XmlRow| ToolCall { tool: CREATE, arguments: row.arguments, key: row.key };
        Ok(prospects(permitted)?.into_iter().map(call).collect())
    }

    /// A message with one prospect that was refused is refused, so that its sender cannot overlook it.
    fn answer(&self, permitted: &Permitted<'_>, results: Vec<Result<Outcome, Fault>>) -> Result<Outcome, Fault> {
        let results = match <[Result<Outcome, Fault>; 1]>::try_from(results) {
            Ok([Err(fault)]) => return Err(fault),
            Ok([only]) => vec![only],
            Err(several) => several,
        };
        let told = prospects(permitted)?.into_iter().zip(results).map(|(row, result)| describe(row, result));
        let told: Vec<Value> = told.collect();
        let rows = told.len();
        Ok(Outcome::Raw { answer: json!({"type": "adf_result", "prospects": told}).to_string(), rows })
    }
}

/// Reading a message is cheap and always gives the same, so it is read again for the answer.
fn prospects(permitted: &Permitted<'_>) -> Result<Vec<XmlRow>, Fault> {
    let input = permitted.input();
    let channels = input.arguments.get("consent_channels").and_then(Value::as_array);
    let channels = channels.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    let settings =
        XmlSettings { calling_code: input.text("calling_code").map(str::to_owned), stated_consent: channels.collect() };
    let invalid = |reason: String| Fault::invalid_argument("/adf", "format", reason.trim_end_matches('.'));
    rows_of_text(input.text("adf").unwrap_or_default(), &settings).map_err(invalid)
}

fn describe(row: XmlRow, result: Result<Outcome, Fault>) -> Value {
    let mut told = json!({
        "number": row.row.line,
        "kept_in_comments": row.unmapped,
        "dropped": row.dropped,
    });
    let members = match result {
        Ok(Outcome::One(item)) => json!({"status": "created", "lead_id": item.id}),
        Ok(Outcome::Many(_) | Outcome::Raw { .. }) => json!({"status": "created"}),
        Err(fault) => json!({"status": "refused", "code": error_code(&fault, CREATE).0, "message": fault.message}),
    };
    if let (Some(told), Value::Object(members)) = (told.as_object_mut(), members) {
        told.extend(members);
    }
    told
}

/// The text of a message in the encoding that its declaration names.
fn decode(message: &[u8]) -> Result<String, Fault> {
    let malformed = |reason: String| Fault::new(FaultKind::Malformed, reason);
    super::xml::text(message).map_err(|error| malformed(error.to_string()))
}
