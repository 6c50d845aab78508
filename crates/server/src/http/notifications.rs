//! The endpoint at which a business's own systems report what becomes of bookings. Nothing of a notification is looked at
//! before its signature is verified, and every notification that is not signed right gets the same answer.

use ::http::request::Parts;
use ::http::{HeaderMap, Method};
use bytes::Bytes;
use frontdesk_contracts::notification::{
    ADVANCE_TOOL, SIGNATURE_HEADER, TIMESTAMP_HEADER, field_of, message_of, refusal, verify,
};
use frontdesk_engine::desk::Mount;
use frontdesk_engine::limits::body_memory::BodyHolder;
use frontdesk_engine::limits::ip_prefix::ip_prefix;
use frontdesk_engine::limits::rate::Budget;
use frontdesk_engine::limits::tally::TallyKey;
use frontdesk_engine::model::idempotency_key::IdempotencyKey;
use frontdesk_engine::model::incoming::body_memory_full;
use frontdesk_engine::model::tool::Outcome;
use frontdesk_engine::model::trace::Trace;
use frontdesk_engine::serve::own_call::{CallOrigin, OwnTool, call_tool};
use frontdesk_engine::{Fault, FaultKind, Reply};
use frontdesk_wire::json;
use serde_json::{Map, Value};

use crate::app::{App, PartnerEndpoint};
use crate::net::{BodyError, ConnectionLimits, IncomingBody, Peer};

/// A notification has a few hundred bytes.
const MAX_BYTES: usize = 64 << 10;

/// What one address may send, signed or not, and what one mount takes.
const PER_ADDRESS: Budget = Budget { per_minute: 1_200, burst: 200 };
const PER_MOUNT: Budget = Budget { per_minute: 6_000, burst: 1_000 };

/// The members of a notification besides its id; they are the arguments of the tool.
const MEMBERS: [&str; 4] = ["booking_ref", "stage", "at", "details"];

pub(super) async fn answer(
    app: &App,
    (partner, mount): (&PartnerEndpoint, &Mount),
    head: &Parts,
    body: IncomingBody,
    (peer, trace): (&Peer, &Trace),
) -> Reply {
    if head.method != Method::POST {
        return problem(405, "method_not_allowed", None, "Only POST is possible here.").header("allow", "POST");
    }
    let result = match admit(app, partner, &head.headers, body, peer).await {
        Ok(body) => advance(app, (partner, mount), &body, (peer, trace)).await,
        Err(fault) => Err(fault),
    };
    match result {
        Ok(answer) => Reply::plain(200, answer),
        Err(fault) => refused(&fault),
    }
}

/// The body of a notification that is signed. Whoever has no key can neither make the server read much nor take away what
/// the mount may be sent.
async fn admit(
    app: &App,
    partner: &PartnerEndpoint,
    headers: &HeaderMap,
    body: IncomingBody,
    peer: &Peer,
) -> Result<Bytes, Fault> {
    let (now, address) = (app.desk.monotonic(), ip_prefix(peer.address).to_string());
    let limited = |seconds| Fault::new(FaultKind::RateLimited, "Too many notifications; wait.").retry_after(seconds);
    app.desk.rates.take(&["notifications", &partner.path, &address], PER_ADDRESS, now).map_err(limited)?;
    let stranger = || {
        app.desk.tally.count(TallyKey::of_address(peer.address), FaultKind::Unauthenticated.as_str());
        unsigned()
    };
    let once = |name: &str| {
        let mut values = headers.get_all(name).iter();
        values.next().filter(|_| values.next().is_none()).and_then(|value| value.to_str().ok())
    };
    let (Some(timestamp), Some(signature)) = (once(TIMESTAMP_HEADER), once(SIGNATURE_HEADER)) else {
        return Err(stranger());
    };
    if partner.notification_keys.is_empty() {
        return Err(stranger());
    }
    let reservation = app.desk.inflight.bodies.enter(BodyHolder::of_address(peer.address));
    let collected = body.collect_counted(MAX_BYTES, ConnectionLimits::default().body, Some(&reservation)).await;
    let body = collected.map_err(|error| match error {
        BodyError::NoMemory => body_memory_full(),
        BodyError::TooLarge => {
            Fault::new(FaultKind::TooLarge, format!("The notification is larger than {MAX_BYTES} bytes."))
        }
        BodyError::TooSlow | BodyError::Broken => unsigned(),
    })?;
    if !verify(&partner.notification_keys, timestamp, signature, &body, app.desk.now()) {
        return Err(stranger());
    }
    app.desk.rates.take(&["notifications", &partner.path], PER_MOUNT, now).map_err(limited)?;
    Ok(body)
}

/// The id of a notification is its idempotency key: however often it is sent, it takes effect once.
async fn advance(
    app: &App,
    (partner, mount): (&PartnerEndpoint, &Mount),
    body: &[u8],
    (peer, trace): (&Peer, &Trace),
) -> Result<String, Fault> {
    let (id, arguments) = parse(body)?;
    let origin = CallOrigin {
        caller: partner.caller("notifications"),
        address: peer.address,
        trace: trace.clone(),
        import_id: None,
    };
    let tool = OwnTool::Operator(ADVANCE_TOOL);
    match call_tool(&app.desk, mount, &origin, tool, arguments, Some(id)).await? {
        Outcome::One(item) => Ok(item.body),
        Outcome::Raw { answer, .. } => Ok(answer),
        Outcome::Many(_) => Err(Fault::internal("a tool of the operator answers with a list")),
    }
}

fn parse(body: &[u8]) -> Result<(String, Map<String, Value>), Fault> {
    let wrong = |field: &str, expected: &str| Fault::invalid_argument(field, "type", expected);
    let object = json::parse(body).ok().and_then(|value| match value {
        Value::Object(members) => Some(members),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    });
    let mut members =
        object.ok_or_else(|| wrong("", "a JSON object is expected, in UTF-8 and without duplicate keys"))?;
    let id = match members.remove("id") {
        Some(Value::String(id)) if IdempotencyKey::parse(&id).is_some() => id,
        Some(_) | None => {
            let expected = "1 to 255 printable ASCII characters without spaces are expected, new for each notification";
            return Err(wrong("/id", expected));
        }
    };
    if members.keys().any(|name| !MEMBERS.contains(&name.as_str())) {
        return Err(wrong("", "only id, booking_ref, stage, at and details are known"));
    }
    Ok((id, members))
}

fn unsigned() -> Fault {
    let message = "The notification is not signed with a key of this endpoint, or not within the last five minutes.";
    Fault::new(FaultKind::Unauthenticated, message)
}

/// No value that was sent is repeated.
fn refused(fault: &Fault) -> Reply {
    let (status, code) = refusal(fault.kind);
    let reply = problem(status, code, field_of(fault).as_deref(), &message_of(fault));
    match fault.retry_after {
        Some(seconds) => reply.header("retry-after", seconds.to_string()),
        None if status == 503 => reply.header("retry-after", "5"),
        None => reply,
    }
}

fn problem(status: u16, code: &str, field: Option<&str>, message: &str) -> Reply {
    let mut error = serde_json::json!({"code": code, "message": message});
    if let (Some(field), Some(members)) = (field, error.as_object_mut()) {
        members.insert("field".to_owned(), field.into());
    }
    Reply::plain(status, serde_json::json!({"error": error}).to_string())
}
