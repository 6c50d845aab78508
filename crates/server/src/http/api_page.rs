//! The OpenAPI document of a mount as a page that people can read. It loads nothing from elsewhere and runs no script.

use frontdesk_engine::model::reply::Reply;
use serde_json::Value;

const PAGE: &str = include_str!("api.html");

/// The page of a document.
pub(crate) fn render(document: &Value) -> String {
    let text = |pointer: &str| escape(document.pointer(pointer).and_then(Value::as_str).unwrap_or_default());
    let prefix = text("/servers/0/url");
    let (mut contents, mut operations) = (String::new(), String::new());
    for (path, verbs) in document["paths"].as_object().into_iter().flatten() {
        for (verb, operation) in verbs.as_object().into_iter().flatten() {
            let (name, verb) = (operation["operationId"].as_str().unwrap_or_default(), verb.to_uppercase());
            let address = format!("{verb} {prefix}{}", escape(path));
            contents.push_str(&format!(
                "<li><a href=\"#{name}\"><code>{address}</code></a> {}</li>",
                escape(operation["summary"].as_str().unwrap_or_default())
            ));
            operations.push_str(&render_operation(document, name, &address, operation));
        }
    }
    PAGE.replace("{title}", &text("/info/title"))
        .replace("{version}", &text("/info/version"))
        .replace("{about}", &text("/info/description"))
        .replace("{document}", &format!("{prefix}/openapi.json"))
        .replace("{contents}", &contents)
        .replace("{operations}", &operations)
}

/// As an answer.
pub(crate) fn reply(page: &str) -> Reply {
    Reply::plain(200, page.to_owned())
        .header("content-type", "text/html; charset=utf-8")
        .header(
            "content-security-policy",
            "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
        )
        .header("x-frame-options", "DENY")
        .header("referrer-policy", "no-referrer")
        .header("cache-control", "no-cache")
}

fn render_operation(document: &Value, name: &str, address: &str, operation: &Value) -> String {
    let about = escape(operation["description"].as_str().unwrap_or_default());
    let scope = operation.pointer("/security/0/oauth2/0").and_then(Value::as_str).unwrap_or_default();
    let mut page = format!(
        "<section id=\"{name}\"><h2><code>{address}</code></h2><p>{about}</p><p>Tool <code>{name}</code>, scope \
         <code>{}</code></p>",
        escape(scope)
    );
    let mut rows = String::new();
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let place = parameter["in"].as_str().unwrap_or_default();
        let required = parameter["required"] == true;
        rows.push_str(&row(
            document,
            text(parameter, "name"),
            place,
            required,
            &parameter["schema"],
            text(parameter, "description"),
        ));
    }
    let body = &operation["requestBody"]["content"]["application/json"]["schema"];
    rows.push_str(&member_rows(document, body, "body"));
    if !rows.is_empty() {
        page.push_str(&format!(
            "<h3>Request</h3><table><tr><th>name</th><th>in</th><th>type</th><th>what it is</th></tr>{rows}</table>"
        ));
    }
    let mut answers = String::new();
    for (status, answer) in operation["responses"].as_object().into_iter().flatten() {
        let about = escape(text(answer, "description"));
        answers.push_str(&format!("<tr><td><code>{}</code></td><td>{about}</td></tr>", escape(status)));
        let schema = &answer["content"]["application/json"]["schema"];
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
    let is_required = |name: &String| {
        schema["required"].as_array().is_some_and(|required| required.iter().any(|one| one.as_str() == Some(name)))
    };
    let members = schema["properties"].as_object().into_iter().flatten();
    members
        .map(|(name, member)| row(document, name, place, is_required(name), member, text(member, "description")))
        .collect()
}

fn row(document: &Value, name: &str, place: &str, required: bool, schema: &Value, about: &str) -> String {
    let mark = if required { " <b>required</b>" } else { "" };
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
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> = words.iter().filter_map(Value::as_str).map(escape).collect();
        return format!("<code>{}</code>", words.join("</code> <code>"));
    }
    match text(schema, "type") {
        "array" => format!("list of {}", type_name(document, &schema["items"])),
        "object" => {
            let names: Vec<String> =
                schema["properties"].as_object().into_iter().flatten().map(|(name, _)| escape(name)).collect();
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

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn escape(text: &str) -> String {
    super::page::escape(text)
}
