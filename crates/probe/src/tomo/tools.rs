//! What `tools/list` says, by the rules of §2: every field of every tool, which intent it serves, and whether its input is
//! the intent's. Nothing here calls anything.

use serde_json::{Map, Value};

use super::intent::{COMMON, IntentFile};
use crate::json_schema::differences;
use crate::report::{CheckPoint, shown};

/// More tools than this are not looked at.
pub(super) const MAX_TOOLS: usize = 64;

const ROLES: [&str; 8] = ["search", "get_detail", "create", "modify", "cancel", "track", "rate", "utility"];
const SIGNALS: [&str; 4] = ["time", "taste", "budget", "safety"];
const BANDS: [&str; 3] = ["ok", "good", "great"];
const CALLBACK_PATH: &str = "/api/v1/cpc/mcp_provider/";
const MAX_DESCRIPTION: usize = 140;

/// A tool as the server lists it.
#[derive(Debug, Clone, Default)]
pub(super) struct ListedTool {
    pub(super) name: String,
    pub(super) intent: String,
    version: String,
    role: String,
    widget: String,
    input: Value,
}

/// Reads a tool, and reports what §2 requires and it lacks.
pub(super) fn read(tool: &Value, place: usize, point: &mut CheckPoint) -> ListedTool {
    let given = tool.get("name").and_then(Value::as_str).unwrap_or_default();
    let label = if given.is_empty() { format!("tool {place}") } else { shown(given) };
    if !is_tool_name(given) {
        let problem = format!("{label}: the name is not snake_case with a verb and a noun.");
        point.wrong(problem, "Name it as the intent does, such as search_availability.");
    }
    let description = tool.get("description").and_then(Value::as_str).unwrap_or_default();
    let length = description.chars().count();
    if description.trim().is_empty() {
        point.wrong(format!("{label}: there is no description."), "Describe the tool in one sentence.");
    } else if length > MAX_DESCRIPTION {
        let problem = format!("{label}: the description has {length} characters.");
        point.wrong(problem, "Shorten it to one sentence of at most 140 characters.");
    } else if description.contains(['\n', '\r']) {
        point.wrong(format!("{label}: the description has a line break."), "Write it as one sentence.");
    }
    let input = tool.get("inputSchema").cloned().unwrap_or_default();
    check_input(&label, &input, point);
    let meta = tool.pointer("/_meta/tomo").and_then(Value::as_object).cloned().unwrap_or_default();
    if meta.is_empty() {
        point.wrong(
            format!("{label}: _meta.tomo is missing."),
            "Add _meta.tomo with its eight fields to every tool (§2).",
        );
    } else {
        check_meta(&label, &meta, point);
    }
    let text = |name: &str| meta.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    ListedTool {
        name: given.to_owned(),
        intent: text("intent"),
        version: text("intent_version"),
        role: text("tool_role"),
        widget: text("result_widget"),
        input,
    }
}

fn check_input(label: &str, input: &Value, point: &mut CheckPoint) {
    if input.get("type").and_then(Value::as_str) != Some("object") {
        let problem = format!("{label}: inputSchema is no JSON Schema of an object.");
        return point.wrong(problem, "Publish the intent's input as JSON Schema with \"type\": \"object\".");
    }
    let properties = input.get("properties").and_then(Value::as_object);
    for name in input.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        if !properties.is_some_and(|properties| properties.contains_key(name)) {
            let problem = format!("{label}: {} is in required, but is no property.", shown(name));
            point.wrong(problem, "Describe it under properties.");
        }
    }
}

fn check_meta(label: &str, meta: &Map<String, Value>, point: &mut CheckPoint) {
    let text = |name: &str| meta.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut expect = |holds: bool, field: &str, remedy: &str| {
        if !holds {
            let state = if meta.contains_key(field) { "is not valid" } else { "is missing" };
            point.wrong(format!("{label}: _meta.tomo.{field} {state}."), remedy);
        }
    };
    expect(is_intent_id(text("intent")), "intent", "Write the id of the catalog, such as travel.book_hotel.");
    expect(is_version(text("intent_version")), "intent_version", "Write the intent's version as v1.0.0.");
    expect(ROLES.contains(&text("tool_role")), "tool_role", &format!("Use one of {}.", ROLES.join(", ")));
    expect(!text("result_widget").trim().is_empty(), "result_widget", "Name the widget of the intent.");
    let signals = meta.get("ttbs_signals").and_then(Value::as_object);
    let are_rated = signals.is_some_and(|signals| {
        let rated = |axis: &&str| {
            signals.get(*axis).and_then(Value::as_f64).is_some_and(|rating| (0.0..=1.0).contains(&rating))
        };
        signals.len() == SIGNALS.len() && SIGNALS.iter().all(rated)
    });
    expect(are_rated, "ttbs_signals", "Rate time, taste, budget and safety, each from 0.0 to 1.0, and nothing else.");
    let area = meta.get("service_area").and_then(Value::as_array);
    let is_place = |place: &Value| {
        place.as_str().is_some_and(|place| {
            let is_number = !place.is_empty() && place.bytes().all(|byte| byte.is_ascii_digit());
            !place.trim().is_empty() && (!is_number || place.len() == 6)
        })
    };
    let are_places = area.is_some_and(|area| !area.is_empty() && area.iter().all(is_place));
    expect(are_places, "service_area", "List at least one city, or pincodes of 6 digits.");
    expect(BANDS.contains(&text("pricing_band")), "pricing_band", "Use one of ok, good, great.");
    let remedy = "Write TOMO's URL: https, and the path /api/v1/cpc/mcp_provider/<your_partner_id>.";
    expect(is_callback(text("completion_callback")), "completion_callback", remedy);
}

/// Whether every tool serves a known intent, in its version, with its role and widget, and none is missing or added.
pub(super) fn check_toolset(intent: &IntentFile, listed: &[ListedTool], point: &mut CheckPoint) {
    for file in &intent.tools {
        let Some(tool) = listed.iter().find(|tool| tool.name == file.name) else {
            let problem = format!("{}: the tool {} is missing.", intent.id, file.name);
            point.wrong(problem, "Implement it: an intent cannot be listed with a part of its tools.");
            continue;
        };
        for (field, given, wanted) in [
            ("intent_version", &tool.version, &intent.version),
            ("tool_role", &tool.role, &file.role),
            ("result_widget", &tool.widget, &file.widget),
        ] {
            if given != wanted {
                let problem = format!("{}: _meta.tomo.{field} is {:?}.", tool.name, shown(given));
                point.wrong(problem, format!("The intent says {wanted}."));
            }
        }
    }
    for tool in listed.iter().filter(|tool| !intent.tools.iter().any(|file| file.name == tool.name)) {
        if tool.role != "utility" {
            let problem = format!("{}: the intent {} has no such tool.", shown(&tool.name), intent.id);
            point.wrong(problem, "Remove it, or move it to an endpoint of its own.");
        }
    }
}

/// Whether the published input is the intent's, and takes what TOMO sends with every call.
pub(super) fn check_inputs(intent: &IntentFile, listed: &[ListedTool], point: &mut CheckPoint) {
    for file in &intent.tools {
        let Some(tool) = listed.iter().find(|tool| tool.name == file.name) else { continue };
        for difference in differences(&file.input, &tool.input, &COMMON) {
            let problem = format!("{}: {difference}.", tool.name);
            point.wrong(problem, "Publish the input as the intent describes it.");
        }
        if tool.input.get("additionalProperties") == Some(&Value::Bool(false)) {
            let properties = tool.input.get("properties").and_then(Value::as_object);
            for name in COMMON.iter().filter(|name| !properties.is_some_and(|known| known.contains_key(**name))) {
                let problem = format!("{}: the input refuses {name}, which TOMO sends with every call.", tool.name);
                point.wrong(problem, "Add it to properties.");
            }
        }
    }
}

fn is_tool_name(name: &str) -> bool {
    let mut words = name.split('_');
    let is_verb =
        words.next().is_some_and(|verb| !verb.is_empty() && verb.bytes().all(|byte| byte.is_ascii_lowercase()));
    let mut rest = words.peekable();
    let is_word =
        |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    is_verb && rest.peek().is_some() && rest.all(is_word)
}

fn is_intent_id(id: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    id.split_once('.').is_some_and(|(domain, name)| is_word(domain) && is_word(name))
}

fn is_version(version: &str) -> bool {
    let numbers: Vec<&str> = version.strip_prefix('v').unwrap_or_default().split('.').collect();
    let is_number = |text: &&str| !text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers.len() == 3 && numbers.iter().all(is_number)
}

fn is_callback(url: &str) -> bool {
    let Some((host, partner)) = url.strip_prefix("https://").and_then(|rest| rest.split_once(CALLBACK_PATH)) else {
        return false;
    };
    let is_id =
        !partner.is_empty() && partner.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    !host.is_empty() && !host.contains('/') && is_id
}
