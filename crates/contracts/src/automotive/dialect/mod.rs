//! How this contract reads arguments and writes answers: cursors, structured errors inside tool
//! results, OAuth challenges. No other module formats its answers.

mod brief;
mod failure;
mod success;

pub(super) use failure::error_code;

use frontdesk_engine::model::contract::{Dialect, Payload, ReplyContext};
use frontdesk_engine::model::idempotency_key::IdempotencyKey;
use frontdesk_engine::model::schema::Schema;
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::model::tool::{Effect, Future, ToolSpec};
use frontdesk_engine::model::tool_input::{PageRequest, ToolInput};
use frontdesk_engine::{Code, Fault, Permitted, Reply};
use frontdesk_wire::version::{Era, Version};
use serde_json::{Map, Value};

use super::imports;
use super::resource::{CURSOR, DEFAULT_LIMIT, KEY, LIMIT, RecordKind, ResourceParts, TENANT, TOTAL, missing_message};
use super::signal;
use brief::Descriptions;
use failure::NotFoundCodes;

pub struct Automotive {
    not_found: NotFoundCodes,
    kinds: Vec<RecordKind>,
    /// Tools that change a record, each with the one that creates it: its fields are described there.
    creators: Vec<(&'static str, &'static str, Schema)>,
}

impl Automotive {
    /// Knows what these resources answer for an id that does not exist.
    pub fn new(resources: &[ResourceParts]) -> Automotive {
        let codes = resources.iter().flat_map(|resource| {
            let names = resource.tools.iter().map(|tool| tool.spec.name);
            names.chain([resource.collection]).map(|name| (name, resource.not_found))
        });
        let signals = [signal::GET, "signals"].map(|name| (name, signal::NOT_FOUND.code));
        let others = [(imports::GET_IMPORT, imports::NOT_FOUND.code)].into_iter().chain(signals);
        let mut known: Vec<(&'static str, Code)> = Vec::new();
        for (name, code) in codes.chain(others) {
            if !known.iter().any(|(known, _)| *known == name) {
                known.push((name, code));
            }
        }
        let kinds = resources.iter().map(|resource| resource.kind.clone()).collect();
        Automotive { not_found: NotFoundCodes(known), kinds, creators: resources.iter().flat_map(creators).collect() }
    }
}

impl Default for Automotive {
    fn default() -> Automotive {
        Automotive::new(&super::resources())
    }
}

impl Dialect for Automotive {
    fn missing_message<'a>(
        &'a self,
        permitted: &'a Permitted<'a>,
        table: &'static TableSpec,
        id: &'a str,
    ) -> Future<'a, Result<String, Fault>> {
        Box::pin(missing_message(&self.kinds, permitted, table, id))
    }

    fn read(
        &self,
        tool: &ToolSpec,
        mut arguments: Map<String, Value>,
        header_key: Option<&str>,
    ) -> Result<ToolInput, Fault> {
        let tenant = take_text(&mut arguments, TENANT);
        let cursor = take_text(&mut arguments, CURSOR);
        let limit = arguments.remove(LIMIT).and_then(|limit| limit.as_u64());
        // A record can have a vendor's field of this name; only a list counts.
        let is_list = has_field(&tool.input, CURSOR);
        let with_total = is_list && arguments.remove(TOTAL) == Some(Value::Bool(true));
        let page = is_list.then(|| PageRequest {
            cursor,
            limit: limit.and_then(|limit| usize::try_from(limit).ok()),
            default_limit: DEFAULT_LIMIT,
            with_total,
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
        no_store(failure::failure(fault, context, &self.not_found))
    }

    fn tenant_argument(&self) -> &'static str {
        TENANT
    }

    fn key_argument(&self) -> &'static str {
        KEY
    }

    /// Only the tools that read one record say what its fields mean.
    fn describe_tool(&self, tool: &ToolSpec, _: Version, described: &mut Map<String, Value>) {
        let is_record = tool.effect == Effect::Reads && !has_field(&tool.input, CURSOR);
        let descriptions = if is_record { Descriptions::Kept } else { Descriptions::Omitted };
        if let Some((_, create, input)) = self.creators.iter().find(|(name, ..)| *name == tool.name) {
            brief::describe_at_create(described, create, &input.to_json(), &[KEY, TENANT]);
        }
        for (name, schema) in described.iter_mut() {
            match name.as_str() {
                "inputSchema" => *schema = brief::input(schema.take()),
                "outputSchema" => *schema = brief::output(schema.take(), descriptions),
                _ => {}
            }
        }
    }

    fn error_schema(&self) -> Option<Schema> {
        Some(failure::schema())
    }
}

fn creators(resource: &ResourceParts) -> Vec<(&'static str, &'static str, Schema)> {
    let with_effect =
        |effect: Effect| resource.tools.iter().map(|tool| &tool.spec).filter(move |spec| spec.effect == effect);
    let Some(create) = with_effect(Effect::Adds).next() else { return Vec::new() };
    with_effect(Effect::Changes).map(|spec| (spec.name, create.name, create.input.clone())).collect()
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
    input.fields().iter().any(|field| field.name == name)
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
