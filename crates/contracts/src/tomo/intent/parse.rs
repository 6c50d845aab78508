//! From the text of a file to an intent, or to what is wrong with it: the line where that stands, and why.

use std::fmt;

use frontdesk_engine::model::schema::{Field, Presence, Schema};
use serde_json::{Map, Value, json};

use super::lines::{Lines, escaped};
use super::names::{is_intent_id, is_tool_name, is_version};
use super::references::{is_reference, resolve};
use super::{CompletionWords, Intent, IntentTool, Role};
use crate::tomo::shape::Shape;
use crate::tomo::{codes, forbidden};

/// What is wrong with an intent file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntentError {
    /// JSON Pointer into the file.
    pub pointer: String,
    pub reason: String,
    /// Counted from 1; 0 if it is not known.
    pub line: usize,
}

impl IntentError {
    pub(in crate::tomo) fn new(pointer: impl Into<String>, reason: impl Into<String>) -> IntentError {
        IntentError { pointer: pointer.into(), reason: reason.into(), line: 0 }
    }
}

impl fmt::Display for IntentError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(out, "line {}, ", self.line)?;
        }
        write!(out, "{}: {}", if self.pointer.is_empty() { "/" } else { &self.pointer }, self.reason)
    }
}

/// §2: one sentence that fits into review logs.
const MAX_DESCRIPTION: usize = 140;

/// Members of a file. Others are refused: a misspelt one would be a rule that is silently missing.
const MEMBERS: [&str; 11] = [
    "intent",
    "intent_version",
    "shape",
    "schemas_are",
    "about",
    "cache_seconds",
    "error_codes",
    "completion",
    "vocabularies",
    "definitions",
    "tools",
];
const COMPLETION_MEMBERS: [&str; 3] = ["completed", "cancelled", "failed"];
const TOOL_MEMBERS: [&str; 7] = ["name", "role", "description", "widget", "input", "output", "examples"];

/// Longer files are not written by people.
const MAX_FILE: usize = 1 << 20;

pub fn parse(text: &str) -> Result<Intent, Vec<IntentError>> {
    if text.len() > MAX_FILE {
        return Err(vec![IntentError::new("", "the file is larger than 1 MiB")]);
    }
    let file: Value = match serde_json::from_str(text) {
        Ok(file) => file,
        Err(error) => {
            let reason = format!("it is not valid JSON: {error}");
            return Err(vec![IntentError { line: error.line(), ..IntentError::new("", reason) }]);
        }
    };
    let lines = Lines::of(text);
    let mut reader = Reader::default();
    for (pointer, _) in &lines.duplicates {
        reader.wrong(pointer, "it stands here twice");
    }
    let intent = reader.intent(&file);
    match intent {
        Some(intent) if reader.errors.is_empty() => Ok(intent),
        Some(_) | None => Err(located(reader.errors, &lines, &file)),
    }
}

/// The errors about a file that was read, with their lines.
pub(in crate::tomo) fn locate(errors: Vec<IntentError>, text: &str) -> Vec<IntentError> {
    match serde_json::from_str(text) {
        Ok(file) if !errors.is_empty() => located(errors, &Lines::of(text), &file),
        Ok(_) | Err(_) => errors,
    }
}

/// The errors with their lines. A definition that several tools use is wrong once.
fn located(errors: Vec<IntentError>, lines: &Lines, file: &Value) -> Vec<IntentError> {
    let mut found: Vec<IntentError> = Vec::new();
    for error in errors {
        let (pointer, line) = lines.locate(file, &error.pointer);
        let error = IntentError { pointer, line, ..error };
        if !found.contains(&error) {
            found.push(error);
        }
    }
    found
}

#[derive(Default)]
struct Reader {
    errors: Vec<IntentError>,
}

impl Reader {
    fn wrong(&mut self, pointer: impl Into<String>, reason: impl Into<String>) {
        self.errors.push(IntentError::new(pointer, reason));
    }

    fn intent(&mut self, file: &Value) -> Option<Intent> {
        let Some(file) = file.as_object() else {
            self.wrong("", "an object is expected");
            return None;
        };
        self.only(file, &MEMBERS, "");
        let id = self.text(file, "intent", "");
        if !id.is_empty() && !is_intent_id(&id) {
            self.wrong("/intent", "an id such as travel.book_hotel is expected");
        }
        let version = self.text(file, "intent_version", "");
        if !version.is_empty() && !is_version(&version) {
            self.wrong("/intent_version", "a version such as v1.0.0 is expected");
        }
        let shape_name = self.text(file, "shape", "");
        let shape = Shape::parse(&shape_name);
        if shape.is_none() && !shape_name.is_empty() {
            let known: Vec<&str> = Shape::ALL.iter().map(|shape| shape.as_str()).collect();
            self.wrong("/shape", format!("one of these is expected: {}", known.join(", ")));
        }
        let cache_seconds = match file.get("cache_seconds").map(Value::as_i64) {
            Some(Some(seconds @ 0..=3600)) => seconds,
            None => 60,
            Some(_) => {
                self.wrong("/cache_seconds", "a whole number from 0 to 3600 is expected");
                60
            }
        };
        let error_codes = self.error_codes(file);
        let completion = self.completion(file);
        for (name, words) in file.get("vocabularies").and_then(Value::as_object).into_iter().flatten() {
            let is_list = words.as_array().is_some_and(|words| !words.is_empty() && words.iter().all(Value::is_string));
            if !is_list {
                self.wrong(format!("/vocabularies/{name}"), "a list of words is expected");
            }
        }
        let tools = self.tools(file, shape, &id, &version);
        Some(Intent { id, version, shape: shape?, cache_seconds, error_codes, completion, tools })
    }

    fn error_codes(&mut self, file: &Map<String, Value>) -> Vec<String> {
        let Some(listed) = file.get("error_codes").and_then(Value::as_array) else {
            self.wrong("/error_codes", "a list of codes is required");
            return Vec::new();
        };
        let mut known = Vec::new();
        for (place, code) in listed.iter().enumerate() {
            let text = code.as_str().unwrap_or_default();
            let is_code = text.starts_with(|letter: char| letter.is_ascii_uppercase())
                && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
            if is_code {
                known.push(text.to_owned());
            } else {
                self.wrong(format!("/error_codes/{place}"), "a code in capitals such as NOT_AVAILABLE is expected");
            }
        }
        let missing: Vec<&str> = codes::UNIVERSAL
            .iter()
            .map(|code| code.0)
            .filter(|code| !known.iter().any(|known| known == code))
            .collect();
        if !missing.is_empty() {
            self.wrong("/error_codes", format!("every intent can end with these, too: {}", missing.join(", ")));
        }
        known
    }

    /// The intent's words for what became of a booking; each is ours where the file has none.
    fn completion(&mut self, file: &Map<String, Value>) -> CompletionWords {
        let given = match file.get("completion") {
            Some(Value::Object(given)) => given.clone(),
            Some(_) => {
                self.wrong("/completion", "an object is expected");
                Map::new()
            }
            None => Map::new(),
        };
        self.only(&given, &COMPLETION_MEMBERS, "/completion");
        let [completed, cancelled, failed] = COMPLETION_MEMBERS.map(|member| match given.get(member) {
            Some(_) => self.text(&given, member, "/completion"),
            None => member.to_owned(),
        });
        CompletionWords { completed, cancelled, failed }
    }

    fn tools(&mut self, file: &Map<String, Value>, shape: Option<Shape>, id: &str, version: &str) -> Vec<IntentTool> {
        let Some(listed) = file.get("tools").and_then(Value::as_array) else {
            self.wrong("/tools", "a list of tools is required");
            return Vec::new();
        };
        let mut tools: Vec<IntentTool> = Vec::new();
        for (place, tool) in listed.iter().enumerate() {
            if let Some(tool) = self.tool(file, tool, &format!("/tools/{place}"), id, version) {
                if tools.iter().any(|known| known.name == tool.name) {
                    self.wrong(format!("/tools/{place}/name"), "there is a tool of this name already");
                }
                tools.push(tool);
            }
        }
        if let Some(shape) = shape {
            self.whole_toolset(shape, listed);
        }
        tools
    }

    /// §2: an intent cannot be listed with a part of its tools, and has no others. A tool that is wrong in itself counts.
    fn whole_toolset(&mut self, shape: Shape, listed: &[Value]) {
        let name_of = |tool: &Value| tool.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        for (name, role) in shape.tools() {
            let place = listed.iter().position(|tool| name_of(tool) == *name);
            let given = place.and_then(|place| listed.get(place)?.get("role")).and_then(Value::as_str);
            match (place, given.and_then(Role::parse)) {
                (None, _) => {
                    let reason = format!("an intent of the {} shape must have the tool {name}, too", shape.as_str());
                    self.wrong("/tools", reason);
                }
                (Some(place), Some(given)) if given != *role => {
                    self.wrong(format!("/tools/{place}/role"), format!("the role of {name} is {}", role.as_str()));
                }
                (Some(_), _) => {}
            }
        }
        for (place, name) in listed.iter().map(name_of).enumerate() {
            if !name.is_empty() && !shape.tools().iter().any(|(known, _)| *known == name) {
                let reason = format!("the {} shape has no tool of this name", shape.as_str());
                self.wrong(format!("/tools/{place}/name"), reason);
            }
        }
    }

    fn tool(
        &mut self,
        file: &Map<String, Value>,
        tool: &Value,
        pointer: &str,
        id: &str,
        version: &str,
    ) -> Option<IntentTool> {
        let Some(tool) = tool.as_object() else {
            self.wrong(pointer, "an object is expected");
            return None;
        };
        self.only(tool, &TOOL_MEMBERS, pointer);
        let name = self.text(tool, "name", pointer);
        if !name.is_empty() && !is_tool_name(&name) {
            self.wrong(format!("{pointer}/name"), "a name such as search_availability is expected");
        }
        let role_name = self.text(tool, "role", pointer);
        let role = Role::parse(&role_name);
        if role.is_none() && !role_name.is_empty() {
            let known: Vec<&str> = Role::ALL.iter().map(|role| role.as_str()).collect();
            self.wrong(format!("{pointer}/role"), format!("one of these is expected: {}", known.join(", ")));
        }
        let description = self.text(tool, "description", pointer);
        let length = description.chars().count();
        if length > MAX_DESCRIPTION {
            self.wrong(
                format!("{pointer}/description"),
                format!("it has {length} characters; at most {MAX_DESCRIPTION} are allowed"),
            );
        }
        if description.contains('\n') {
            self.wrong(format!("{pointer}/description"), "one sentence without a line break is expected");
        }
        let widget = self.text(tool, "widget", pointer);
        let input = self.schema(file, tool, "input", pointer);
        let output = self.schema(file, tool, "output", pointer);
        let input = input.map(|input| with_common_arguments(input, id, version));
        if role == Some(Role::Create) && input.as_ref().is_some_and(|input| !requires_key(input)) {
            self.wrong(format!("{pointer}/input"), "a tool that creates must require idempotency_key, as a string");
        }
        let examples = tool.get("examples").and_then(Value::as_array).cloned().unwrap_or_default();
        if examples.is_empty() {
            self.wrong(format!("{pointer}/examples"), "at least one example of the arguments is required");
        }
        for (place, example) in examples.iter().enumerate() {
            let problems = input.as_ref().map(|input| input.problems(example)).unwrap_or_default();
            // What a reference stands for is known when the example runs.
            let is_reference =
                |pointer: &str| example.pointer(pointer).and_then(Value::as_str).is_some_and(is_reference);
            if let Some(problem) = problems.into_iter().find(|problem| !is_reference(&problem.pointer)) {
                let reason = format!("the example does not fit the input: {}", problem.reason());
                self.wrong(format!("{pointer}/examples/{place}{}", problem.pointer), reason);
            }
        }
        Some(IntentTool {
            name,
            role: role?,
            description,
            widget,
            input: input?,
            output: output?,
            facts: &[],
            made: &[],
            examples,
        })
    }

    fn schema(
        &mut self,
        file: &Map<String, Value>,
        tool: &Map<String, Value>,
        member: &str,
        pointer: &str,
    ) -> Option<Schema> {
        let pointer = format!("{pointer}/{member}");
        let Some(schema) = tool.get(member) else {
            self.wrong(pointer, "it is required");
            return None;
        };
        let resolved = match resolve(schema, file, &pointer) {
            Ok(resolved) => resolved,
            Err(error) => {
                self.errors.push(error);
                return None;
            }
        };
        if let Some(found) = forbidden_property(&resolved) {
            self.wrong(format!("{pointer}{found}"), "TOMO refuses a field of this name: it ranks for money");
            return None;
        }
        match Schema::from_json(&resolved) {
            Ok(schema @ (Schema::Object(_) | Schema::Extended { .. })) => Some(schema),
            Ok(_) => {
                self.wrong(pointer, "an object with properties is expected");
                None
            }
            Err(error) => {
                self.wrong(format!("{pointer}{}", error.pointer), error.reason);
                None
            }
        }
    }

    fn text(&mut self, object: &Map<String, Value>, name: &str, pointer: &str) -> String {
        match object.get(name) {
            Some(Value::String(text)) if !text.trim().is_empty() => text.clone(),
            Some(_) => {
                self.wrong(format!("{pointer}/{name}"), "a text is expected");
                String::new()
            }
            None => {
                self.wrong(format!("{pointer}/{name}"), "it is required");
                String::new()
            }
        }
    }

    fn only(&mut self, object: &Map<String, Value>, known: &[&str], pointer: &str) {
        for name in object.keys().filter(|name| !known.contains(&name.as_str())) {
            self.wrong(
                format!("{pointer}/{}", escaped(name)),
                format!("this member is not known; known are {}", known.join(", ")),
            );
        }
    }
}

/// What TOMO sends with every call (§3). A file may describe one of them otherwise.
fn with_common_arguments(input: Schema, id: &str, version: &str) -> Schema {
    let common = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "intent": {"type": "string", "const": id, "description": "The intent that is dispatched."},
            "intent_version": {"type": "string", "const": version, "description": "Its version."},
            "request_id": {"type": "string", "minLength": 1, "maxLength": 200, "description": "The request, echoed when the order completes."},
            "user_session_id": {"type": "string", "minLength": 1, "maxLength": 200, "description": "The user's session, without a name."},
            "context": {"type": "object", "description": "What else is known of the user's wish."},
        },
    });
    let mut fields: Vec<Field> = input.fields().to_vec();
    if let Ok(common) = Schema::from_json(&common) {
        for field in common.fields() {
            if !fields.iter().any(|known| known.name == field.name) {
                fields.push(field.clone());
            }
        }
    }
    Schema::Object(fields)
}

fn requires_key(input: &Schema) -> bool {
    input.fields().iter().any(|field| {
        field.name == "idempotency_key"
            && field.presence == Presence::Required
            && matches!(field.schema, Schema::Text(_))
    })
}

/// The first property with a forbidden name. Keywords of schemas are no fields.
fn forbidden_property(schema: &Value) -> Option<String> {
    let Value::Object(members) = schema else { return None };
    for (name, property) in members.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if forbidden::is_forbidden(name) {
            return Some(format!("/properties/{}", escaped(name)));
        }
        if let Some(below) = forbidden_property(property) {
            return Some(format!("/properties/{}{below}", escaped(name)));
        }
    }
    let below = |member: &str| forbidden_property(members.get(member)?).map(|found| format!("/{member}{found}"));
    below("items").or_else(|| below("additionalProperties"))
}
