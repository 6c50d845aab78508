//! A tool called by an address and a verb: the same stages as for a message, without a frame. The arguments come from the
//! path, the query and the body, and are checked like those of any call.

use frontdesk_wire::json::{self, JsonError, Map, Value};

use crate::desk::{Desk, Mount};
use crate::model::fault::{Fault, FaultKind, ProtocolDetail};
use crate::model::incoming::{Incoming, Verb};
use crate::model::reply::Reply;
use crate::model::route::{RouteBody, RouteMatch, RouteRequest};
use crate::model::schema::Schema;
use crate::model::tool::{Tool, ToolSpec};
use crate::pipeline::admit::BodyRate;
use crate::pipeline::record::{CallRecord, RunCall, record_call};
use crate::serve::{CallContext, run_tool};

/// More parameters than this are refused.
const MAX_PARAMETERS: usize = 100;

/// Answers one request to a route of the mount.
pub async fn serve_route(desk: &Desk, mount: &Mount, incoming: Incoming) -> Reply {
    record_call(desk, mount, &incoming, RouteCall).await
}

struct RouteCall;

impl RunCall for RouteCall {
    async fn run(self, call_record: &mut CallRecord<'_>) -> Result<Reply, Fault> {
        let mut context = CallContext::identify(call_record).await?;
        let CallRecord { mount, incoming, .. } = *context.record;
        let request = incoming.route.as_deref().ok_or_else(|| Fault::internal("a route without its request"))?;
        // A wrong media type matters only where there is something to send a body to.
        let is_media_type = |fault: &&Fault| fault.kind == FaultKind::UnsupportedMediaType;
        if let Some(fault) = incoming.transport_fault.as_ref().filter(|fault| !is_media_type(fault)) {
            return Err(fault.clone());
        }
        let (tool, variable) = find(mount, incoming.verb, request)?;
        context.record.set_tool(&tool.spec);
        let body = TextBody::of(tool, request);
        // What is held back by now is that the body is no JSON, which need not be wrong here.
        if let (Some(fault), None) = (&incoming.transport_fault, &body) {
            return Err(fault.clone());
        }
        let mut permit = None;
        let mut arguments = match (body, incoming.verb) {
            (Some(body), Verb::Post | Verb::Put) => {
                // Such a body may be large, so the caller's right to send it is checked first.
                admit_early(&context, tool, variable)?;
                permit = Some(context.record.desk.import_queue.receive().await?);
                body.arguments(&context.collect_body(BodyRate::File).await?)?
            }
            (None, Verb::Post | Verb::Put) => body_arguments(&context.collect_body(BodyRate::Json).await?)?,
            (_, Verb::Get | Verb::Head | Verb::Delete | Verb::Other) => Map::new(),
        };
        add_query(&mut arguments, request.query.as_deref().unwrap_or_default(), &tool.spec.input)?;
        if let (Some(value), Some(route)) = (variable, tool.spec.route) {
            let expected = format!("the path and the body must name the same {}", route.variable);
            add(&mut arguments, route.variable, Value::from(value), &expected)?;
        }
        let version_argument = mount.contract.dialect.version_argument();
        if let Some(version) = expected_version(request, &tool.spec, version_argument)? {
            let expected = "If-Match and the body must name the same version";
            add(&mut arguments, version_argument, Value::from(version), expected)?;
        }
        let reply = run_tool(&mut context, tool, arguments).await?;
        drop(permit);
        Ok(not_modified(request, incoming.verb, reply))
    }
}

fn find<'m, 'p>(mount: &'m Mount, verb: Verb, request: &'p RouteRequest) -> Result<(&'m Tool, Option<&'p str>), Fault> {
    match mount.routes.find(verb, request.relative_path()) {
        RouteMatch::Tool { index, id } => match mount.contract.tools.get(index) {
            Some(tool) => Ok((tool, id)),
            None => Err(Fault::internal("a route without a tool")),
        },
        RouteMatch::OtherVerbs(verbs) => {
            let message = format!("This address takes {verbs} only.");
            let detail = Some(Box::new(ProtocolDetail::Allow(verbs)));
            Err(Fault { detail, ..Fault::new(FaultKind::MethodNotAllowed, message) })
        }
        RouteMatch::None => Err(Fault::new(
            FaultKind::NotFound,
            "There is nothing at this address; the OpenAPI document lists the addresses there are.",
        )),
    }
}

/// A body that is the text of one argument.
struct TextBody {
    argument: &'static str,
    decode: fn(&[u8]) -> Result<String, Fault>,
}

impl TextBody {
    fn of(tool: &Tool, request: &RouteRequest) -> Option<TextBody> {
        match tool.spec.route?.body {
            RouteBody::Arguments => None,
            RouteBody::Text { argument, media_types, decode } => {
                let media_type = request.media_type.as_deref()?;
                media_types.contains(&media_type).then_some(TextBody { argument, decode })
            }
        }
    }

    fn arguments(&self, body: &[u8]) -> Result<Map<String, Value>, Fault> {
        Ok(Map::from_iter([(self.argument.to_owned(), Value::from((self.decode)(body)?))]))
    }
}

/// Whether the caller's scopes allow the call, as far as the path says what it is about.
fn admit_early(context: &CallContext<'_, '_>, tool: &Tool, variable: Option<&str>) -> Result<(), Fault> {
    let route = tool.spec.route.zip(variable);
    let arguments = route.map(|(route, value)| (route.variable.to_owned(), Value::from(value)));
    match tool.spec.scope.missing(&Map::from_iter(arguments), &context.caller.scopes) {
        Some(missing) => Err(Fault::missing_scope(missing)),
        None => Ok(()),
    }
}

/// A body is strict JSON, like a message.
fn body_arguments(body: &[u8]) -> Result<Map<String, Value>, Fault> {
    if body.is_empty() {
        return Ok(Map::new());
    }
    match json::parse(body) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err(Fault::new(FaultKind::InvalidRequest, "The body must be a JSON object with the arguments.")),
        Err(error @ (JsonError::TooDeep | JsonError::TooManyValues)) => {
            Err(Fault::new(FaultKind::Malformed, error.to_string()))
        }
        Err(JsonError::Encoding | JsonError::Syntax | JsonError::DuplicateKey) => Err(Fault::new(
            FaultKind::Malformed,
            "The body is not valid JSON: it must be UTF-8, complete and without duplicate keys.",
        )),
    }
}

/// Query parameters as arguments of the type that the schema says: `limit=5`, `price_max[amount]=100`, and a repeated
/// name for a list. What does not fit stays a text, for the schema's check to name.
fn add_query(arguments: &mut Map<String, Value>, query: &str, input: &Schema) -> Result<(), Fault> {
    if query.split('&').count() > MAX_PARAMETERS {
        return Err(Fault::invalid_argument("", "maxProperties", "at most 100 query parameters are allowed"));
    }
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let (name, member) = match name.strip_suffix(']').and_then(|name| name.split_once('[')) {
            Some((name, member)) => (name, Some(member)),
            None => (name.as_ref(), None),
        };
        let schema = member_schema(input, name);
        let twice = "a parameter must be sent once, and not in the body as well";
        match (schema, member) {
            (Some(schema), Some(member)) if !schema.fields().is_empty() => {
                let typed = typed(&value, member_schema(schema, member));
                let object = arguments.entry(name).or_insert_with(|| Value::Object(Map::new()));
                match object.as_object_mut() {
                    Some(object) => add(object, member, typed, twice)?,
                    None => return Err(Fault::invalid_argument(&format!("/{name}"), "type", twice)),
                }
            }
            (Some(Schema::List { of, .. }), None) => {
                let list = arguments.entry(name).or_insert_with(|| Value::Array(Vec::new()));
                if let Some(list) = list.as_array_mut() {
                    list.push(typed(&value, Some(of)));
                }
            }
            (schema, None) => add(arguments, name, typed(&value, schema), twice)?,
            // Not a member of anything: as it was written, for the schema's check to refuse.
            (_, Some(member)) => add(arguments, &format!("{name}[{member}]"), Value::from(value.as_ref()), twice)?,
        }
    }
    Ok(())
}

fn member_schema<'s>(schema: &'s Schema, name: &str) -> Option<&'s Schema> {
    schema.fields().iter().find(|field| field.name == name).map(|field| &field.schema)
}

fn typed(text: &str, schema: Option<&Schema>) -> Value {
    match schema {
        Some(Schema::Integer { .. } | Schema::MinorUnits { .. }) => {
            text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from)
        }
        Some(Schema::Boolean) => text.parse::<bool>().map_or_else(|_| Value::from(text), Value::from),
        Some(_) | None => Value::from(text),
    }
}

/// Adds an argument; one that is there already must be the same.
fn add(arguments: &mut Map<String, Value>, name: &str, value: Value, expected: &str) -> Result<(), Fault> {
    match arguments.get(name) {
        Some(known) if *known != value => {
            // A name that the schema does not know is the caller's text.
            let pointer = if name == "id" { "/id" } else { "" };
            Err(Fault::invalid_argument(pointer, "const", expected))
        }
        Some(_) => Ok(()),
        None => {
            arguments.insert(name.to_owned(), value);
            Ok(())
        }
    }
}

/// The version that `If-Match` names. `*` asks for any version; whatever is no version of ours is refused, because a
/// precondition that is passed over would lose somebody's change.
fn expected_version(request: &RouteRequest, spec: &ToolSpec, argument: &str) -> Result<Option<i64>, Fault> {
    let Some(tag) = &request.if_match else {
        return Ok(None);
    };
    let refused = |expected: &str| Err(Fault::invalid_argument("", "If-Match", expected));
    if member_schema(&spec.input, argument).is_none() {
        return refused("If-Match is possible for updates only");
    }
    if tag == "*" {
        return Ok(None);
    }
    match version(tag) {
        Some(version) => Ok(Some(version)),
        None => refused("If-Match must be one entity tag as answers give it, such as \"3\""),
    }
}

fn version(tag: &str) -> Option<i64> {
    let version: i64 = tag.strip_prefix('"')?.strip_suffix('"')?.parse().ok()?;
    (version > 0 && entity_tag(version) == tag).then_some(version)
}

/// The entity tag of a version.
pub(crate) fn entity_tag(version: i64) -> String {
    format!("\"{version}\"")
}

/// A reader who has this version already gets no body.
fn not_modified(request: &RouteRequest, verb: Verb, reply: Reply) -> Reply {
    let tag = reply.headers.iter().find(|(name, _)| *name == "ETag").map(|(_, tag)| tag.clone());
    let (Some(known), Some(tag), Verb::Get | Verb::Head) = (&request.if_none_match, tag, verb) else {
        return reply;
    };
    let is_known = known.split(',').map(str::trim).any(|one| one.strip_prefix("W/").unwrap_or(one) == tag);
    if is_known { Reply::empty(304).header("ETag", tag).header("Cache-Control", "no-store") } else { reply }
}
