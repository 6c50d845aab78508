//! What version 0.1 promises (5.4): spec/automotive/surface-0.1.json has every tool with its route, codes, arguments and
//! answers. Additions pass; whatever could break a caller is refused. To take additions into the file:
//! `cp target/tmp/surface-0.1.json spec/automotive/surface-0.1.json` after the test has run.

use std::collections::BTreeSet;
use std::path::Path;

use frontdesk_contracts::automotive::contract;
use serde_json::{Map, Value, json};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/automotive/surface-0.1.json");

#[test]
fn a2_06_a5_13_what_is_published_only_grows() {
    let now = surface();
    let left = Path::new(env!("CARGO_TARGET_TMPDIR")).join("surface-0.1.json");
    std::fs::write(&left, text(&now)).unwrap();
    let promised: Value = serde_json::from_str(&std::fs::read_to_string(FILE).unwrap()).unwrap();
    assert_eq!(breaks(&promised, &now), [""; 0], "these break callers and need a new major version");
    assert!(
        promised == now,
        "additions are not in spec/automotive/surface-0.1.json yet: cp {} spec/automotive/surface-0.1.json",
        left.display()
    );
}

#[test]
fn a2_06_a5_13_additions_pass() {
    let before = surface();
    let mut after = before.clone();
    after["tools"]["leads.park"] = json!({"route": "GET /parked", "codes": [], "input": {}, "output": {}});
    let list = &mut after["tools"]["leads.list"];
    list["input"]["x_new"] = json!("text<64");
    list["output"]["items.x_new!"] = json!("text<64");
    list["input"]["status"] = json!(list["input"]["status"].as_str().unwrap().to_owned() + "|parked");
    list["output"]["items.status!"] = json!(list["output"]["items.status!"].as_str().unwrap().to_owned() + "|parked");
    after["tools"]["leads.get"]["codes"].as_array_mut().unwrap().push(json!("leads.parked"));
    after["tools"]["leads.create"]["input"]["comments"] = json!("text<9000");
    assert_eq!(breaks(&before, &after), [""; 0]);
}

#[test]
fn a2_06_a5_13_each_breaking_change_is_refused() {
    let refused = |change: fn(&mut Value)| {
        let before = surface();
        let mut after = before.clone();
        change(&mut after);
        breaks(&before, &after).join("; ")
    };
    let rename_tool = |after: &mut Value| {
        let tools = after["tools"].as_object_mut().unwrap();
        let tool = tools.remove("leads.get").unwrap();
        tools.insert("leads.read".to_owned(), tool);
    };
    assert_eq!(refused(rename_tool), "leads.get is gone");
    let remove_input = |after: &mut Value| drop(take(after, "leads.list", "input", "status"));
    assert_eq!(refused(remove_input), "leads.list: argument status is gone");
    let rename_output = |after: &mut Value| {
        let kind = take(after, "leads.get", "output", "received_at!");
        after["tools"]["leads.get"]["output"]["came_at!"] = kind;
    };
    assert_eq!(refused(rename_output), "leads.get: answer received_at! is gone");
    let optional_output = |after: &mut Value| {
        let kind = take(after, "leads.get", "output", "received_at!");
        after["tools"]["leads.get"]["output"]["received_at"] = kind;
    };
    assert_eq!(refused(optional_output), "leads.get: answer received_at may be absent now");
    let new_required = |after: &mut Value| after["tools"]["leads.create"]["input"]["branch!"] = json!("text<40");
    assert_eq!(refused(new_required), "leads.create: argument branch is required now");
    let now_required = |after: &mut Value| {
        let kind = take(after, "leads.create", "input", "comments");
        after["tools"]["leads.create"]["input"]["comments!"] = kind;
    };
    assert_eq!(refused(now_required), "leads.create: argument comments is required now");
    let shorter = |after: &mut Value| after["tools"]["leads.create"]["input"]["comments"] = json!("text<100");
    assert_eq!(refused(shorter), "leads.create: argument comments: text<4000 became text<100");
    let other_type = |after: &mut Value| after["tools"]["leads.get"]["output"]["version!"] = json!("text<9");
    assert_eq!(refused(other_type), "leads.get: answer version!: integer became text<9");
    let fewer_words = |after: &mut Value| after["tools"]["leads.list"]["input"]["channel"] = json!("website|phone");
    let told = refused(fewer_words);
    assert!(told.starts_with("leads.list: argument channel: website|phone|walk_in|"), "{told}");
    let other_word = |after: &mut Value| {
        let words = &mut after["tools"]["leads.get"]["output"]["timeframe"];
        *words = json!(words.as_str().unwrap().replace("within_week|", "soon|"));
    };
    assert!(refused(other_word).starts_with("leads.get: answer timeframe: within_week|"));
    let fewer_codes = |after: &mut Value| after["tools"]["leads.get"]["codes"] = json!([]);
    assert_eq!(refused(fewer_codes), "leads.get: code leads.not_found is gone");
    let other_route = |after: &mut Value| after["tools"]["leads.get"]["route"] = json!("GET /prospects/{id}");
    assert_eq!(refused(other_route), "leads.get: GET /leads/{id} became GET /prospects/{id}");
}

fn take(after: &mut Value, tool: &str, side: &str, name: &str) -> Value {
    after["tools"][tool][side].as_object_mut().unwrap().remove(name).unwrap()
}

/// Everything published, one line per field: `name` or, if it is always there, `name!`, with its type in short.
fn surface() -> Value {
    let mut tools = Map::new();
    for tool in contract().tools {
        let spec = tool.spec;
        let route = spec.route.map(|route| format!("{} {}", route.verb.as_str(), route.path));
        let codes: Vec<&str> = spec.codes.iter().map(|code| code.0).collect();
        let mut sides = [Map::new(), Map::new()];
        for (side, schema) in sides.iter_mut().zip([spec.input.to_json(), spec.output.to_json()]) {
            flatten(&schema, "", side);
        }
        let [input, output] = sides;
        tools.insert(spec.name.to_owned(), json!({"route": route, "codes": codes, "input": input, "output": output}));
    }
    json!({"spec_version": "0.1", "tools": tools})
}

fn flatten(schema: &Value, path: &str, found: &mut Map<String, Value>) {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let mark = if required.contains(&json!(name)) { "!" } else { "" };
        found.insert(format!("{path}{name}{mark}"), json!(short(field)));
        let inner = if field["type"] == json!("array") { &field["items"] } else { field };
        flatten(inner, &format!("{path}{name}."), found);
    }
}

/// `text<64`, `integer`, `a|b|c`, `list of object`: what a caller relies on.
fn short(schema: &Value) -> String {
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().map(|word| word.as_str().unwrap()).collect::<Vec<_>>().join("|");
    }
    match (schema["type"].as_str(), schema["format"].as_str(), schema["maxLength"].as_u64()) {
        (Some("array"), ..) => format!("list of {}", short(&schema["items"])),
        (Some("string"), Some(format), _) => format.to_owned(),
        (Some("string"), None, Some(most)) => format!("text<{most}"),
        (Some("string"), None, None) => schema["pattern"].as_str().unwrap_or("text").to_owned(),
        (Some(kind), ..) => kind.to_owned(),
        (None, ..) => "any of several".to_owned(),
    }
}

/// What callers of `before` could not go on with.
fn breaks(before: &Value, after: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for (name, old) in before["tools"].as_object().unwrap() {
        let Some(new) = after["tools"].get(name) else {
            found.push(format!("{name} is gone"));
            continue;
        };
        if old["route"] != new["route"] && !old["route"].is_null() {
            found.push(format!("{name}: {} became {}", plain(&old["route"]), plain(&new["route"])));
        }
        let codes: BTreeSet<&str> = new["codes"].as_array().unwrap().iter().map(plain).collect();
        for code in old["codes"].as_array().unwrap().iter().map(plain).filter(|code| !codes.contains(code)) {
            found.push(format!("{name}: code {code} is gone"));
        }
        inputs(name, &old["input"], &new["input"], &mut found);
        outputs(name, &old["output"], &new["output"], &mut found);
    }
    found
}

fn inputs(tool: &str, old: &Value, new: &Value, found: &mut Vec<String>) {
    let (old, new) = (old.as_object().unwrap(), new.as_object().unwrap());
    for (field, kind) in old {
        let bare = field.trim_end_matches('!');
        match new.get(bare).or(new.get(&format!("{bare}!"))) {
            None => found.push(format!("{tool}: argument {bare} is gone")),
            Some(now) if !is_widened(plain(kind), plain(now)) => {
                found.push(format!("{tool}: argument {bare}: {} became {}", plain(kind), plain(now)));
            }
            Some(_) => {}
        }
    }
    for bare in new.keys().filter_map(|field| field.strip_suffix('!')) {
        let is_new_object = bare
            .rsplit_once('.')
            .is_some_and(|(holder, _)| !old.contains_key(holder) && !old.contains_key(&format!("{holder}!")));
        if !old.contains_key(&format!("{bare}!")) && !is_new_object {
            found.push(format!("{tool}: argument {bare} is required now"));
        }
    }
}

fn outputs(tool: &str, old: &Value, new: &Value, found: &mut Vec<String>) {
    let (old, new) = (old.as_object().unwrap(), new.as_object().unwrap());
    for (field, kind) in old {
        let bare = field.trim_end_matches('!');
        match new.get(field).or(new.get(&format!("{bare}!"))) {
            None if new.contains_key(bare) => found.push(format!("{tool}: answer {bare} may be absent now")),
            None => found.push(format!("{tool}: answer {field} is gone")),
            // A consumer must tolerate words that are added, and no other change.
            Some(now) if !is_widened(plain(kind), plain(now)) => {
                found.push(format!("{tool}: answer {field}: {} became {}", plain(kind), plain(now)));
            }
            Some(_) => {}
        }
    }
}

/// The same type, with at least the words and the length it had.
fn is_widened(old: &str, new: &str) -> bool {
    let length = |kind: &str| kind.strip_prefix("text<").and_then(|most| most.parse::<u64>().ok());
    match (length(old), length(new)) {
        (Some(old), Some(new)) => new >= old,
        (Some(_), None) | (None, Some(_)) => false,
        (None, None) if old.contains('|') => {
            let words: BTreeSet<&str> = new.split('|').collect();
            old.split('|').all(|word| words.contains(word))
        }
        (None, None) => old == new,
    }
}

fn plain(value: &Value) -> &str {
    value.as_str().unwrap_or("none")
}

/// A line per field, so that a change reads as one line.
fn text(surface: &Value) -> String {
    serde_json::to_string_pretty(surface).unwrap() + "\n"
}
