//! The OpenAPI document of a mount as a page that people can read. It loads nothing from elsewhere and runs no script.

use frontdesk_engine::model::reply::Reply;
use serde_json::Value;

const REQUIRED: &str = " <b>required</b>";
const PAGE: &str = include_str!("api.html");

/// The page of a document.
pub(crate) fn render(document: &Value) -> String {
    let whole = |pointer: &str| escape(document.pointer(pointer).and_then(Value::as_str).unwrap_or_default());
    let prefix = whole("/servers/0/url");
    let (mut contents, mut operations) = (String::new(), String::new());
    for (path, verbs) in member(document, "paths").as_object().into_iter().flatten() {
        for (verb, operation) in verbs.as_object().into_iter().flatten() {
            let (name, verb) = (text(operation, "operationId"), verb.to_uppercase());
            let address = format!("{verb} {prefix}{}", escape(path));
            contents.push_str(&format!(
                "<li><a href=\"#{name}\"><code>{address}</code></a> {}</li>",
                escape(text(operation, "summary"))
            ));
            operations.push_str(&render_operation(document, name, &address, operation));
        }
    }
    PAGE.replace("{title}", &whole("/info/title"))
        .replace("{version}", &whole("/info/version"))
        .replace("{about}", &whole("/info/description"))
        .replace("{document}", &format!("{prefix}/openapi.json"))
        .replace("{contents}", &contents)
        .replace("{operations}", &operations)
}

/// As an answer.
pub(crate) fn reply(page: &str) -> Reply {
    super::page::html(page.to_owned())
}

fn render_operation(document: &Value, name: &str, address: &str, operation: &Value) -> String {
    let about = escape(text(operation, "description"));
    let scope = operation.pointer("/security/0/oauth2/0").and_then(Value::as_str).unwrap_or_default();
    let mut page = format!(
        "<section id=\"{name}\"><h2><code>{address}</code></h2><p>{about}</p><p>Tool <code>{name}</code>, scope \
         <code>{}</code></p>",
        escape(scope)
    );
    let mut rows = String::new();
    for parameter in member(operation, "parameters").as_array().into_iter().flatten() {
        let place = text(parameter, "in");
        let mark = if *member(parameter, "required") == true { REQUIRED } else { "" };
        rows.push_str(&row(
            document,
            text(parameter, "name"),
            place,
            mark,
            member(parameter, "schema"),
            text(parameter, "description"),
        ));
    }
    let body = operation.pointer("/requestBody/content/application~1json/schema").unwrap_or(&Value::Null);
    rows.push_str(&member_rows(document, body, "body"));
    if !rows.is_empty() {
        page.push_str(&format!(
            "<h3>Request</h3><table><tr><th>name</th><th>in</th><th>type</th><th>what it is</th></tr>{rows}</table>"
        ));
    }
    let mut answers = String::new();
    for (status, answer) in member(operation, "responses").as_object().into_iter().flatten() {
        let about = escape(text(answer, "description"));
        answers.push_str(&format!("<tr><td><code>{}</code></td><td>{about}</td></tr>", escape(status)));
        let schema = answer.pointer("/content/application~1json/schema").unwrap_or(&Value::Null);
        if status.starts_with('2') {
            let fields = member_rows(document, resolve(document, schema), "");
            answers.push_str(&format!(
                "<tr><td></td><td><details><summary>fields</summary><table>{fields}</table></details></td></tr>"
            ));
        }
    }
    page.push_str(&format!("<h3>Answers</h3><table>{answers}</table></section>"));
    page
}

/// One row for each member of an object.
fn member_rows(document: &Value, schema: &Value, place: &str) -> String {
    let required = member(schema, "required").as_array();
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one.as_str() == Some(name)));
    let mark = |name: &str| if is_required(name) { REQUIRED } else { "" };
    let members = member(schema, "properties").as_object().into_iter().flatten();
    members.map(|(name, member)| row(document, name, place, mark(name), member, text(member, "description"))).collect()
}

fn row(document: &Value, name: &str, place: &str, mark: &str, schema: &Value, about: &str) -> String {
    let place = if place.is_empty() { String::new() } else { format!("<td>{place}</td>") };
    format!(
        "<tr><td><code>{}</code>{mark}</td>{place}<td>{}</td><td>{}</td></tr>",
        escape(name),
        type_name(document, schema),
        escape(about)
    )
}

fn type_name(document: &Value, schema: &Value) -> String {
    let schema = resolve(document, schema);
    if let Some(words) = member(schema, "enum").as_array() {
        let words: Vec<String> = words.iter().filter_map(Value::as_str).map(escape).collect();
        return format!("<code>{}</code>", words.join("</code> <code>"));
    }
    match text(schema, "type") {
        "array" => format!("list of {}", type_name(document, member(schema, "items"))),
        "object" => {
            let names: Vec<String> =
                member(schema, "properties").as_object().into_iter().flatten().map(|(name, _)| escape(name)).collect();
            format!("object: {}", names.join(", "))
        }
        "" => "any of several".to_owned(),
        plain => match schema.get("format").and_then(Value::as_str) {
            Some(format) => escape(format),
            None => escape(plain),
        },
    }
}

fn resolve<'d>(document: &'d Value, schema: &'d Value) -> &'d Value {
    let reference = schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
    reference.and_then(|pointer| document.pointer(pointer)).unwrap_or(schema)
}

fn member<'v>(value: &'v Value, name: &str) -> &'v Value {
    value.get(name).unwrap_or(&Value::Null)
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn escape(text: &str) -> String {
    super::page::escape(text)
}
