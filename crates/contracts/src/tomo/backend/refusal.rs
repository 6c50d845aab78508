//! A code of the business's own system as a fault. Only codes of the intent are passed on, each with a text of ours: what
//! the system writes beside it is for nobody here (T-073).

use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::model::intern::intern;
use frontdesk_engine::{Code, Fault, FaultKind};
use serde_json::Value;

use super::answer::{Finality, Refusal};
use crate::tomo::codes::{
    BOOKING_CLOSED, IDEMPOTENCY_CONFLICT, INTERNAL_ERROR, INVALID_AUTH, INVALID_REQUEST, METHOD_NOT_FOUND,
    NOT_AVAILABLE, NOT_FOUND, PARTNER_MAINTENANCE, RATE_LIMITED, RESULT_EXPIRED,
};
use crate::tomo::intent::{Intent, IntentTool};

pub(super) fn refusal(intent: &Intent, tool: &IntentTool, error: &Value) -> Result<Refusal, String> {
    let given = error.get("code").and_then(Value::as_str).unwrap_or_default();
    let Some(known) = intent.error_codes.iter().find(|known| *known == given) else {
        return Err("backend: a code that the intent does not list".to_owned());
    };
    let code = Code(intern(known));
    let fault = match code {
        INVALID_REQUEST => Fault::invalid(vec![problem(tool, error)]),
        RATE_LIMITED => Fault::new(FaultKind::RateLimited, "The business takes no more calls now.").retry_after(1),
        PARTNER_MAINTENANCE => Fault::maintenance(),
        IDEMPOTENCY_CONFLICT => {
            Fault::new(FaultKind::KeyReused, "The business knows this key with other arguments. Use a new key.")
        }
        INTERNAL_ERROR => {
            let fault = Fault::internal("backend: INTERNAL_ERROR");
            return Ok(Refusal { fault, finality: Finality::Unknown });
        }
        // They are about its own door: passed on, they would be about the caller's credential and method.
        INVALID_AUTH | METHOD_NOT_FOUND => return Err(format!("backend: {known}")),
        other => Fault::domain(other, text(other)),
    };
    Ok(Refusal { fault, finality: Finality::Decided })
}

fn text(code: Code) -> &'static str {
    match code {
        NOT_FOUND => "The business has nothing of this name.",
        RESULT_EXPIRED => "This result_token has expired. Search again and book from there.",
        NOT_AVAILABLE => "This is no longer available. Search again.",
        BOOKING_CLOSED => "This booking can no longer be changed.",
        _ => "The business has refused this.",
    }
}

/// What is wrong with the arguments. A field is named only if it is one.
fn problem(tool: &IntentTool, error: &Value) -> Problem {
    let field = error.get("field").and_then(Value::as_str).unwrap_or_default();
    let mut schema = &tool.input;
    let mut pointer = String::new();
    for name in field.split('.').filter(|name| !name.is_empty()) {
        let Some(known) = schema.fields().iter().find(|known| known.name == name) else {
            pointer.clear();
            break;
        };
        pointer.push('/');
        pointer.push_str(known.name);
        schema = &known.schema;
    }
    Problem::new(&pointer, "enum", "the business does not take this value")
}
