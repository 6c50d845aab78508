//! The routes of a contract as an OpenAPI 3.1 document, made from the same declarations as its tools. It names no contract.

use frontdesk_engine::Contract;
use frontdesk_engine::model::incoming::Verb;
use frontdesk_engine::model::route::{ID, RouteBody};
use frontdesk_engine::model::schema::{Field, Presence, Schema};
use frontdesk_engine::model::tool::{Effect, Tool, ToolSpec};
use serde_json::{Map, Value, json};

/// The codes under which every route can fail, by HTTP status. A tool's own codes are 422.
const FAILURES: &[(&str, &str)] = &[
    ("400", "The arguments are not valid, or the request is malformed."),
    ("401", "The token is missing, invalid or expired."),
    ("403", "The token lacks a scope, or is not valid for the tenant that was named."),
    ("429", "Too many calls; Retry-After says how many seconds to wait."),
    ("503", "Not available just now; Retry-After says how many seconds to wait."),
];

/// `prefix` is where the routes are; `token_url` issues the tokens.
pub fn document(contract: &Contract, prefix: &str, token_url: &str) -> Value {
    let mut components = Components::default();
    if let Some(error) = contract.dialect.error_schema() {
        components.schemas.insert(ERROR.to_owned(), error.to_json());
    }
    let mut paths: Map<String, Value> = Map::new();
    for tool in &contract.tools {
        if let Some(route) = tool.spec.route {
            let operation = operation(tool, contract, &mut components);
            let path = paths.entry(route.path).or_insert_with(|| json!({}));
            if let Some(path) = path.as_object_mut() {
                path.insert(route.verb.as_str().to_ascii_lowercase(), operation);
            }
        }
    }
    let scopes: Map<String, Value> =
        contract.scopes.iter().map(|scope| (scope.as_str().to_owned(), Value::from(""))).collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": contract.server_info.title,
            "version": contract.server_info.version,
            "description": contract.server_info.instructions,
        },
        "servers": [{"url": prefix}],
        "paths": paths,
        "components": {
            "schemas": components.schemas,
            "securitySchemes": {
                "oauth2": {
                    "type": "oauth2",
                    "flows": {"clientCredentials": {"tokenUrl": token_url, "scopes": scopes}},
                },
            },
        },
    })
}

const ERROR: &str = "error";

#[derive(Default)]
struct Components {
    schemas: Map<String, Value>,
}

impl Components {
    /// A reference to the schema of a record, which is described once.
    fn reference(&mut self, schema: &Schema, suffix: &str) -> Value {
        match record_name(schema) {
            Some(name) => {
                let name = format!("{name}{suffix}");
                self.schemas.entry(name.clone()).or_insert_with(|| schema.to_json());
                json!({"$ref": format!("#/components/schemas/{name}")})
            }
            None => self.inline(schema),
        }
    }

    /// Lists refer to their records.
    fn inline(&mut self, schema: &Schema) -> Value {
        let mut shape = schema.to_json();
        let items = schema.fields().iter().find_map(|field| {
            let Schema::List { of, .. } = &field.schema else { return None };
            record_name(of).map(|_| (field.name, of))
        });
        if let Some((name, of)) = items {
            let reference = self.reference(of, "");
            if let Some(list) = shape.pointer_mut(&format!("/properties/{name}/items")) {
                *list = reference;
            }
        }
        shape
    }
}

/// A record says its type in a field with one possible word.
fn record_name(schema: &Schema) -> Option<String> {
    let words = schema.fields().iter().find(|field| field.name == "type")?.schema.to_json();
    match words.get("enum")?.as_array()?.as_slice() {
        [only] => only.as_str().map(str::to_owned),
        _ => None,
    }
}

fn operation(tool: &Tool, contract: &Contract, components: &mut Components) -> Value {
    let spec = &tool.spec;
    let (status, suffix) = match spec.effect {
        Effect::Reads => ("200", ""),
        Effect::Adds => ("201", "_written"),
        Effect::Changes => ("200", "_written"),
    };
    let own_status = spec.route.and_then(|route| route.success).map(|status| status.to_string());
    let status = own_status.as_deref().unwrap_or(status);
    let answer = components.reference(&spec.output, suffix);
    let mut responses = Map::new();
    responses.insert(status.to_owned(), success(spec, answer));
    for (status, about) in FAILURES {
        responses.insert((*status).to_owned(), failure(about));
    }
    // The transport's own answer, without a body.
    responses.insert("431".to_owned(), json!({"description": "The address and the headers are too large."}));
    for (status, about) in own_failures(spec) {
        responses.insert(status.to_owned(), failure(&about));
    }
    let mut operation = json!({
        "operationId": spec.name,
        "summary": spec.title,
        "description": spec.about,
        "tags": [spec.name.split('.').next()],
        "security": spec.scope.all().map(|scope| json!({"oauth2": [scope.as_str()]})).collect::<Vec<Value>>(),
        "parameters": parameters(spec, contract),
        "responses": responses,
    });
    if let (Some(Verb::Post | Verb::Put), Some(members)) =
        (spec.route.map(|route| route.verb), operation.as_object_mut())
    {
        let mut content = json!({"application/json": {"schema": body(spec, contract)}});
        if let (Some(RouteBody::Text { media_types, .. }), Some(content)) =
            (spec.route.map(|route| route.body), content.as_object_mut())
        {
            // Without a schema: whatever the bytes are, they are a text that is read later.
            let text = |name: &&str| ((*name).to_owned(), json!({}));
            content.extend(media_types.iter().map(text));
        }
        let body = json!({"required": true, "content": content});
        members.insert("requestBody".to_owned(), body);
    }
    operation
}

fn success(spec: &ToolSpec, answer: Value) -> Value {
    let is_list = spec.input.fields().iter().any(|field| field.name == "cursor");
    let header = if is_list {
        json!({"Link": {"description": "The next page, with rel=\"next\"; absent on the last one.", "schema": {"type": "string"}}})
    } else {
        json!({"ETag": {"description": "The version; send it back as If-Match.", "schema": {"type": "string"}}})
    };
    json!({
        "description": spec.title,
        "headers": header,
        "content": {"application/json": {"schema": answer}},
    })
}

fn failure(about: &str) -> Value {
    let schema = json!({"$ref": format!("#/components/schemas/{ERROR}")});
    json!({"description": about, "content": {"application/json": {"schema": schema}}})
}

/// Statuses that not every route has.
fn own_failures(spec: &ToolSpec) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    if let Some(seconds) = spec.max_login_age {
        found.push((
            "401",
            format!(
                "The token is missing, invalid or expired; or nobody has logged in for it within the last \
                 {seconds} seconds: then WWW-Authenticate says insufficient_user_authentication and max_age (RFC 9470)."
            ),
        ));
    }
    if path_variable(spec) == Some("id") {
        found.push(("404", "Nothing with this id exists for this caller.".to_owned()));
    }
    if spec.effect != Effect::Reads {
        found.push((
            "409",
            "The idempotency key was used otherwise, or its first call is still in progress.".to_owned(),
        ));
        found.push(("412", "The record has changed since the version in If-Match.".to_owned()));
    }
    if matches!(spec.route.map(|route| route.verb), Some(Verb::Post | Verb::Put)) {
        found.push(("413", "The body is too large.".to_owned()));
        found
            .push(("415", "The body is not uncompressed JSON in UTF-8, or of another type that is listed.".to_owned()));
    }
    // The only code of a read by its id says that there is none.
    let is_plain_get = spec.effect == Effect::Reads && path_variable(spec).is_some() && spec.codes.len() == 1;
    if spec.effect != Effect::Reads || !(spec.codes.is_empty() || is_plain_get) {
        let codes: Vec<&str> = spec.codes.iter().map(|code| code.0).collect();
        found.push(("422", format!("A rule does not hold: {}.", codes.join(", "))));
    }
    found
}

/// The argument that the path carries.
fn path_variable(spec: &ToolSpec) -> Option<&'static str> {
    spec.route.filter(|route| route.path.contains(ID)).map(|route| route.variable)
}

fn is_in_path(spec: &ToolSpec, field: &Field) -> bool {
    path_variable(spec) == Some(field.name)
}

fn parameters(spec: &ToolSpec, contract: &Contract) -> Vec<Value> {
    let mut parameters = Vec::new();
    let fields = spec.input.fields();
    for field in fields.iter().filter(|field| is_in_path(spec, field)) {
        // Two routes of one path name its variable alike.
        parameters.push(parameter("path", &Field { name: "id", ..field.clone() }, json!(true)));
    }
    match spec.route.map(|route| route.verb) {
        Some(Verb::Post | Verb::Put) => {
            let (key, version) = (contract.dialect.key_argument(), contract.dialect.version_argument());
            let header = |name: &str, field: &Field| json!({"name": name, "in": "header", "description": field.about, "schema": {"type": "string"}});
            for field in fields {
                if field.name == key {
                    parameters.push(header("Idempotency-Key", field));
                } else if field.name == version {
                    parameters.push(header("If-Match", field));
                }
            }
        }
        Some(Verb::Get | Verb::Head | Verb::Delete | Verb::Other) | None => {
            for field in fields.iter().filter(|field| !is_in_path(spec, field)) {
                let required = json!(field.presence == Presence::Required);
                let mut parameter = parameter("query", field, required);
                if let (false, Some(parameter)) = (field.schema.fields().is_empty(), parameter.as_object_mut()) {
                    parameter.insert("style".to_owned(), json!("deepObject"));
                    parameter.insert("explode".to_owned(), json!(true));
                }
                parameters.push(parameter);
            }
        }
    }
    parameters
}

fn parameter(place: &str, field: &Field, required: Value) -> Value {
    json!({
        "name": field.name,
        "in": place,
        "required": required,
        "description": field.about,
        "schema": field.schema.to_json(),
    })
}

/// The arguments without those that the path and the headers carry.
fn body(spec: &ToolSpec, contract: &Contract) -> Value {
    let elsewhere = [contract.dialect.key_argument(), contract.dialect.version_argument()];
    let is_elsewhere = |field: &Field| elsewhere.contains(&field.name) || is_in_path(spec, field);
    Schema::object(spec.input.fields().iter().filter(|field| !is_elsewhere(field)).cloned()).to_json()
}
