//! What has changed between two lists of tools, tool by tool.

use serde_json::Value;

use crate::report::shown;

/// More differences of one tool are counted only.
const MAX_SHOWN: usize = 3;

/// One line for each tool that has changed, come or gone.
pub(super) fn differences(before: &Value, after: &Value) -> Vec<String> {
    let tools = |list: &Value| -> Vec<(String, Value)> {
        let tools = list.get("tools").and_then(Value::as_array).into_iter().flatten();
        let named =
            |tool: &Value| (tool.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(), tool.clone());
        tools.map(named).collect()
    };
    let (before, after) = (tools(before), tools(after));
    let mut lines = Vec::new();
    for (name, tool) in &before {
        match after.iter().find(|(other, _)| other == name) {
            None => lines.push(format!("{}: it is gone", shown(name))),
            Some((_, now)) => {
                let mut found = Vec::new();
                compare(tool, now, String::new(), &mut found);
                let more = found.len().saturating_sub(MAX_SHOWN);
                found.truncate(MAX_SHOWN);
                if !found.is_empty() {
                    let rest = if more > 0 { format!(", and {more} more") } else { String::new() };
                    lines.push(format!("{}: {}{rest}", shown(name), found.join(", ")));
                }
            }
        }
    }
    for (name, _) in after.iter().filter(|(name, _)| !before.iter().any(|(other, _)| other == name)) {
        lines.push(format!("{}: it is new", shown(name)));
    }
    lines
}

fn compare(before: &Value, after: &Value, place: String, found: &mut Vec<String>) {
    if before == after {
        return;
    }
    if let (Some(one), Some(other)) = (before.as_object(), after.as_object()) {
        for (name, value) in one {
            let below = format!("{place}/{}", shown(name));
            match other.get(name) {
                Some(now) => compare(value, now, below, found),
                None => found.push(format!("{below} is gone")),
            }
        }
        for name in other.keys().filter(|name| !one.contains_key(*name)) {
            found.push(format!("{place}/{} is new", shown(name)));
        }
        return;
    }
    found.push(format!("{place} was {}, is {}", short(before), short(after)));
}

fn short(value: &Value) -> String {
    let text: String = shown(&value.to_string()).chars().take(60).collect();
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::differences;

    #[test]
    fn t_004_differences_are_named_tool_by_tool() {
        let before = json!({"tools": [
            {"name": "a_b", "description": "One.", "inputSchema": {"required": ["x"], "properties": {"x": {}}}},
            {"name": "c_d"},
        ]});
        assert_eq!(differences(&before, &before), [""; 0]);
        let after = json!({"tools": [
            {"name": "a_b", "description": "Two.", "inputSchema": {"required": [], "properties": {"y": {}}}},
            {"name": "e_f"},
        ]});
        assert_eq!(
            differences(&before, &after),
            [
                "a_b: /description was \"One.\", is \"Two.\", /inputSchema/properties/x is gone, /inputSchema/properties/y is new, and 1 more",
                "c_d: it is gone",
                "e_f: it is new",
            ]
        );
    }
}
