//! How this contract reads arguments and writes answers: cursors, structured errors inside tool
//! results, OAuth challenges. No other module formats its answers.

mod failure;
mod success;

use frontdesk_engine::model::contract::{Dialect, Payload, ReplyContext};
use frontdesk_engine::model::idempotency_key::IdempotencyKey;
use frontdesk_engine::model::schema::Schema;
use frontdesk_engine::model::tool::{Effect, ToolSpec};
use frontdesk_engine::model::tool_input::{PageRequest, ToolInput};
use frontdesk_engine::{Fault, Reply};
use frontdesk_wire::version::{Era, Version};
use serde_json::{Map, Value};

use super::tools::{CURSOR, DEFAULT_LIMIT, KEY, LIMIT, TENANT};

pub struct Automotive;

impl Dialect for Automotive {
    fn read(
        &self,
        tool: &ToolSpec,
        mut arguments: Map<String, Value>,
        header_key: Option<&str>,
    ) -> Result<ToolInput, Fault> {
        let tenant = take_text(&mut arguments, TENANT);
        let cursor = take_text(&mut arguments, CURSOR);
        let limit = arguments.remove(LIMIT).and_then(|limit| limit.as_u64());
        let page = has_field(&tool.input, CURSOR).then(|| PageRequest {
            cursor,
            limit: limit.and_then(|limit| usize::try_from(limit).ok()),
            default_limit: DEFAULT_LIMIT,
        });
        let argument = take_text(&mut arguments, KEY);
        let key = match tool.effect {
            // A read needs no idempotency, so a header that a proxy adds to all requests is ignored.
            Effect::Reads => None,
            Effect::Adds | Effect::Changes => idempotency_key(argument.as_deref(), header_key)?,
        };
        Ok(ToolInput { arguments, tenant, window: page, idempotency_key: key })
    }

    fn success(&self, payload: Payload, context: &ReplyContext<'_>) -> Reply {
        no_store(success::success(payload, context))
    }

    fn failure(&self, fault: &Fault, context: &ReplyContext<'_>) -> Reply {
        no_store(failure::failure(fault, context))
    }

    fn tenant_argument(&self) -> &'static str {
        TENANT
    }

    fn key_argument(&self) -> &'static str {
        KEY
    }

    fn error_schema(&self) -> Option<Schema> {
        Some(failure::schema())
    }
}

/// Every answer depends on the token, also an error: it can name the token's scopes. So no cache may store it.
fn no_store(reply: Reply) -> Reply {
    reply.header("Cache-Control", "no-store")
}

/// The era of the request; a request without a version means 2025-03-26.
fn era_or_default(context: &ReplyContext<'_>) -> Era {
    context.era.unwrap_or(Era::Legacy(Version::V2025_03_26))
}

fn take_text(arguments: &mut Map<String, Value>, name: &str) -> Option<String> {
    match arguments.remove(name) {
        Some(Value::String(text)) => Some(text),
        Some(_) | None => None,
    }
}

fn has_field(input: &Schema, name: &str) -> bool {
    match input {
        Schema::Object(fields) => fields.iter().any(|field| field.name == name),
        Schema::Map(_)
        | Schema::List { .. }
        | Schema::Text(_)
        | Schema::Integer { .. }
        | Schema::Boolean
        | Schema::Nullable(_)
        | Schema::AnyOf { .. } => false,
    }
}

/// With two different keys it would be undefined which of them identifies the call.
fn idempotency_key(argument: Option<&str>, header: Option<&str>) -> Result<Option<IdempotencyKey>, Fault> {
    let sent = match (argument, header) {
        (Some(argument), Some(header)) if argument != header => {
            return Err(Fault::invalid_argument(
                "/idempotency_key",
                "const",
                "the argument and the Idempotency-Key header must be the same when both are sent",
            ));
        }
        (Some(argument), _) => Some(argument),
        (None, header) => header,
    };
    sent.map(|key| IdempotencyKey::read(key, KEY)).transpose()
}
