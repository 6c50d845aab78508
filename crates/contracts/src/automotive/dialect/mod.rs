//! How this contract reads arguments and writes answers: cursors, structured errors inside tool
//! results, OAuth challenges. The only place where its answers get their form.

mod failure;
mod success;

use frontdesk_engine::model::contract::{Dialect, Payload, ReplyContext};
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
        let window = takes(&tool.input, CURSOR).then(|| PageRequest {
            cursor,
            limit: limit.and_then(|limit| usize::try_from(limit).ok()),
            default_limit: DEFAULT_LIMIT,
        });
        let named = take_text(&mut arguments, KEY);
        let key = match tool.effect {
            // Reading twice is harmless, so a header that a proxy adds everywhere is passed over.
            Effect::Reads => None,
            Effect::Adds | Effect::Changes => one_key(named, header_key)?,
        };
        Ok(ToolInput { arguments, tenant, window, idempotency_key: key })
    }

    fn success(&self, shaped: Payload, at: &ReplyContext<'_>) -> Reply {
        private(success::success(shaped, at))
    }

    fn failure(&self, fault: &Fault, at: &ReplyContext<'_>) -> Reply {
        private(failure::failure(fault, at))
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

/// Every answer is for one token's eyes, also a refusal: it may tell which scopes the token has.
fn private(reply: Reply) -> Reply {
    reply.header("Cache-Control", "no-store")
}

/// The era the request speaks; one that was never decided counts as the version meant by silence.
fn spoken(at: &ReplyContext<'_>) -> Era {
    at.era.unwrap_or(Era::Legacy(Version::V2025_03_26))
}

fn take_text(arguments: &mut Map<String, Value>, name: &str) -> Option<String> {
    match arguments.remove(name) {
        Some(Value::String(text)) => Some(text),
        Some(_) | None => None,
    }
}

fn takes(input: &Schema, name: &str) -> bool {
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

/// Two different keys would leave open which of them makes the call happen once.
fn one_key(named: Option<String>, header: Option<&str>) -> Result<Option<String>, Fault> {
    match (named, header) {
        (Some(named), Some(header)) if named != header => Err(Fault::invalid_argument(
            "/idempotency_key",
            "const",
            "the argument and the Idempotency-Key header must be the same when both are sent",
        )),
        (Some(named), _) => Ok(Some(named)),
        (None, header) => Ok(header.map(str::to_owned)),
    }
}
