//! Whether a row that comes from elsewhere is one that this release writes: it is read, written again and compared. What
//! is wrong with it is said without any of its values, and without names that it made up.

use serde_json::{Map, Value};

use super::caller::TenantId;
use super::table::{Row, RowIndex, StoredRow};

/// Checks a row of one table; the row has all its parts. `Ok` has what the row must be found by, if the table's
/// declaration can tell. An error is a sentence without personal data.
pub type CheckFn = fn(&TenantId, &StoredRow) -> Result<Option<RowIndex>, String>;

/// Whether the row is the one that would be `written` for the tenant. A contract has its own name for the tenant: one
/// member that is not in `written` is allowed if its value is the tenant's id. A row of an earlier release may lack
/// members that were declared later.
pub fn require_same(tenant: &TenantId, row: &StoredRow, written: &Row) -> Result<(), String> {
    if row.id != written.id || row.version != written.version {
        return Err("its id or version is another one inside".to_owned());
    }
    let mut stored = object("public", &row.body)?;
    let public = object("public", &written.body)?;
    let named: Vec<String> = stored.keys().filter(|name| !public.contains_key(*name)).cloned().collect();
    if let [name] = named.as_slice() {
        match stored.remove(name) {
            Some(Value::String(id)) if id == tenant.as_str() => {}
            Some(Value::String(_)) if name.ends_with("_id") => return Err("it names another tenant".to_owned()),
            Some(_) | None => return Err(undeclared("public")),
        }
    }
    compare("public", &stored, &public)?;
    for (part, stored, written) in [
        ("masked", &row.masked, &written.masked),
        ("personal", &row.personal, &written.personal),
        ("write-only", &row.secret, &written.secret),
    ] {
        match (stored, written) {
            (None, None) => {}
            (Some(stored), Some(written)) => compare(part, &object(part, stored)?, &object(part, written)?)?,
            (Some(_), None) => return Err(format!("it has a {part} part, and should have none")),
            (None, Some(_)) => return Err(format!("its {part} part is missing")),
        }
    }
    Ok(())
}

/// Exactly one JSON object, in which no member occurs twice and no text has a NUL.
pub fn object(part: &str, text: &str) -> Result<Map<String, Value>, String> {
    match frontdesk_wire::json::parse(text.as_bytes()) {
        Ok(Value::Object(members)) if !members.iter().any(|(name, value)| name.contains('\0') || has_nul(value)) => {
            Ok(members)
        }
        Ok(Value::Object(_)) => Err(format!("its {part} part has a NUL character")),
        Ok(_) | Err(_) => Err(format!("its {part} part is not exactly one JSON object")),
    }
}

fn has_nul(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Object(members) => members.iter().any(|(name, value)| name.contains('\0') || has_nul(value)),
    }
}

fn compare(part: &str, stored: &Map<String, Value>, written: &Map<String, Value>) -> Result<(), String> {
    for (name, value) in stored {
        match written.get(name) {
            Some(written) if is_within(value, written) => {}
            // The name is declared here, so it can be repeated.
            Some(_) => return Err(format!("its member `{name}` has a value that no tool writes")),
            None => return Err(undeclared(part)),
        }
    }
    Ok(())
}

fn undeclared(part: &str) -> String {
    format!("its {part} part has a member that is not declared")
}

/// Equal, except for members that the stored value lacks.
fn is_within(stored: &Value, written: &Value) -> bool {
    match (stored, written) {
        (Value::Object(stored), Value::Object(written)) => {
            stored.iter().all(|(name, value)| written.get(name).is_some_and(|written| is_within(value, written)))
        }
        (Value::Array(stored), Value::Array(written)) => {
            stored.len() == written.len() && stored.iter().zip(written).all(|(one, other)| is_within(one, other))
        }
        (stored, written) => stored == written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(body: &str, personal: Option<&str>) -> Result<(), String> {
        let row = StoredRow {
            id: "b1".to_owned(),
            version: 1,
            created_at: 0,
            body: body.to_owned(),
            masked: None,
            personal: personal.map(str::to_owned),
            secret: None,
        };
        let written = Row {
            id: "b1".to_owned(),
            version: 1,
            created_at: 0,
            updated_at: 0,
            cells: Vec::new(),
            search_terms: Vec::new(),
            body: r#"{"id":"b1","tenant":"north","length":9,"later":true}"#.to_owned(),
            masked: None,
            personal: Some(r#"{"owner":{"name":"Ada","phone":"+1"}}"#.to_owned()),
            secret: None,
        };
        require_same(&TenantId::parse("north").unwrap(), &row, &written)
    }

    const OWNER: Option<&str> = Some(r#"{"owner":{"name":"Ada"}}"#);

    #[test]
    fn a_row_of_an_earlier_release_may_lack_members() {
        assert_eq!(checked(r#"{"id":"b1","harbour_id":"north","length":9}"#, OWNER), Ok(()));
    }

    #[test]
    fn what_no_tool_writes_is_named_without_its_value() {
        let said = |body: &str, personal: Option<&str>| checked(body, personal).unwrap_err();
        assert_eq!(said(r#"{"id":"b1","harbour_id":"south"}"#, OWNER), "it names another tenant");
        assert_eq!(
            said(r#"{"id":"b1","tenant":"south"}"#, OWNER),
            "its member `tenant` has a value that no tool writes"
        );
        assert_eq!(said(r#"{"id":"b1","Ada":1}"#, OWNER), "its public part has a member that is not declared");
        assert_eq!(said(r#"{"length":"9"}"#, OWNER), "its member `length` has a value that no tool writes");
        assert_eq!(said("{}", None), "its personal part is missing");
        for personal in [r#"{"owner":{}},{"x":1"#, "[]", "{} {}", r#"{"owner":{},"owner":{}}"#, ""] {
            assert_eq!(said("{}", Some(personal)), "its personal part is not exactly one JSON object", "{personal}");
        }
        assert_eq!(said("{}", Some(r#"{"owner":{"name":"A\u0000"}}"#)), "its personal part has a NUL character");
        assert_eq!(
            said("{}", Some(r#"{"owner":{"name":"Ada","pin":1}}"#)),
            "its member `owner` has a value that no tool writes"
        );
    }
}
