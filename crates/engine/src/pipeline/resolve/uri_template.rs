//! Addresses of resources: matching one against a template and making one from it. A variable stands
//! for letters, digits, `_` and `-` only; no decoding takes place, so an address has one spelling.

use serde_json::{Map, Value};

use crate::model::schema::Schema;

/// The variables' values as texts, if the address fits. Query variables are optional.
pub(crate) fn bind(template: &str, address: &str) -> Option<Map<String, Value>> {
    let (path, query_names) = split(template);
    let (address, query) = match address.split_once('?') {
        Some((address, query)) => (address, Some(query)),
        None => (address, None),
    };
    let mut values = Map::new();
    let mut wanted = path.split('/');
    let mut given = address.split('/');
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => break,
            (Some(wanted), Some(given)) => match variable(wanted) {
                Some(name) if is_plain(given) => {
                    values.insert(name.to_owned(), Value::from(given));
                }
                None if wanted == given => {}
                Some(_) | None => return None,
            },
            (Some(_), None) | (None, Some(_)) => return None,
        }
    }
    for pair in query.into_iter().flat_map(|query| query.split('&')) {
        let (name, value) = pair.split_once('=')?;
        let known = query_names.contains(&name) && is_plain(value) && !values.contains_key(name);
        if !known {
            return None;
        }
        values.insert(name.to_owned(), Value::from(value));
    }
    Some(values)
}

/// An address holds texts only; those that the schema wants as numbers or truths become such. What
/// does not fit stays a text, and the check of the arguments says so.
pub(crate) fn typed(values: Map<String, Value>, schema: &Schema) -> Map<String, Value> {
    let fields = schema.fields();
    let wanted = |name: &str| fields.iter().find(|field| field.name == name).map(|field| &field.schema);
    let typed = values.into_iter().map(|(name, value)| {
        let value = match (wanted(&name), value.as_str()) {
            (Some(Schema::Integer { .. }), Some(text)) => integer(text).map_or(value, Value::from),
            (Some(Schema::Boolean), Some("true")) => Value::from(true),
            (Some(Schema::Boolean), Some("false")) => Value::from(false),
            _ => value,
        };
        (name, value)
    });
    typed.collect()
}

/// One spelling per number: no leading zeros, no `-0`.
fn integer(text: &str) -> Option<i64> {
    text.parse().ok().filter(|number: &i64| number.to_string() == text)
}

/// The address with these variables filled in, without a query; `None` while one is missing.
pub(crate) fn expand(template: &str, values: &[(&str, &str)]) -> Option<String> {
    let (path, _) = split(template);
    let segments: Option<Vec<&str>> = path
        .split('/')
        .map(|segment| match variable(segment) {
            None => Some(segment),
            Some(name) => values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value),
        })
        .collect();
    segments.map(|segments| segments.join("/"))
}

pub(crate) fn is_fixed(template: &str) -> bool {
    !template.contains('{')
}

fn split(template: &str) -> (&str, Vec<&str>) {
    match template.split_once("{?") {
        Some((path, names)) => (path, names.trim_end_matches('}').split(',').collect()),
        None => (template, Vec::new()),
    }
}

fn variable(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 8192
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}
