//! The published names and schemas of the tools.

use frontdesk_contracts::emcp::{EmcpSettings, contract};
use frontdesk_engine::model::contract_entry::QueryLimits;
use serde_json::{Value, json};

use crate::support::{TOKEN, TestDesk};

/// Every tool with its arguments; required ones are marked. Additions are compatible; any other change breaks the
/// toolset version.
const GOLDEN: &[(&str, &str)] = &[
    (
        "evo.content.search",
        "deleted depth hidemenu limit! offset order_by order_by_date order_dir parent published tags_data template \
         tv_filters tv_order with_tvs",
    ),
    ("evo.content.get", "id! with_tvs"),
    ("evo.content.root_tree", "depth limit! offset with_tvs"),
    ("evo.content.descendants", "depth id! limit! offset with_tvs"),
    ("evo.content.ancestors", "depth id! limit! offset with_tvs"),
    ("evo.content.children", "id! limit! offset with_tvs"),
    ("evo.content.siblings", "id! limit! offset with_tvs"),
    ("evo.content.neighbors", "id! limit! offset with_tvs"),
    ("evo.content.prev_siblings", "id! limit! offset with_tvs"),
    ("evo.content.next_siblings", "id! limit! offset with_tvs"),
    ("evo.content.children_range", "from! id! limit! offset to with_tvs"),
    ("evo.content.siblings_range", "from! id! limit! offset to with_tvs"),
    ("evo.model.list", "filters limit! model! offset order_by order_dir"),
    ("evo.model.get", "id! model!"),
];

async fn tools() -> Vec<Value> {
    let reply = TestDesk::bare().send(TOKEN, "2025-11-25", "tools/list", json!({})).await;
    let mut body: Value = serde_json::from_slice(&reply.body).unwrap();
    body["result"]["tools"].as_array_mut().unwrap().iter_mut().map(Value::take).collect()
}

#[tokio::test]
async fn e_01_e_02_e_06_e_07_e_08_tools_and_arguments_are_listed() {
    let listed: Vec<(String, String)> = tools()
        .await
        .iter()
        .map(|tool| {
            let required: Vec<&str> =
                tool["inputSchema"]["required"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
            let arguments: Vec<String> = tool["inputSchema"]["properties"]
                .as_object()
                .unwrap()
                .keys()
                .map(|name| if required.contains(&name.as_str()) { format!("{name}!") } else { name.clone() })
                .collect();
            (tool["name"].as_str().unwrap().to_owned(), arguments.join(" "))
        })
        .collect();
    let golden: Vec<(String, String)> =
        GOLDEN.iter().map(|(name, arguments)| ((*name).to_owned(), (*arguments).to_owned())).collect();
    assert_eq!(listed, golden);
}

#[tokio::test]
async fn every_argument_is_described_and_every_object_closed() {
    for tool in tools().await {
        assert_eq!(tool["annotations"]["readOnlyHint"], json!(true), "E-63");
        described(&tool["inputSchema"], tool["name"].as_str().unwrap());
        assert_eq!(tool["outputSchema"]["type"], json!("object"));
        assert!(tool["title"].is_string() && tool["description"].is_string());
    }
}

fn described(schema: &Value, at: &str) {
    if schema["type"] == json!("object") {
        assert_eq!(schema["additionalProperties"], json!(false), "{at}");
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        assert!(field["description"].as_str().is_some_and(|text| text.len() > 10), "{at}/{name}");
        described(field, &format!("{at}/{name}"));
    }
    if let Some(items) = schema.get("items") {
        described(items, &format!("{at}/[]"));
    }
}

#[test]
fn e_60_the_limits_of_a_server_are_published() {
    let limits = QueryLimits { items: 7, bytes: 1, depth: 3, offset: 9 };
    let contract = contract(EmcpSettings { limits, ..EmcpSettings::default() });
    let search = contract.tools[0].spec.input.to_json();
    let maximum = |name: &str| search["properties"][name]["maximum"].as_i64().unwrap();
    assert_eq!([maximum("limit"), maximum("offset"), maximum("depth")], [7, 9, 3]);
    assert_eq!(contract.tools[0].spec.output.to_json()["properties"]["items"]["maxItems"], json!(7));
}

#[tokio::test]
async fn e_15_e_17_the_schema_of_a_filter_is_published() {
    let search = &tools().await[0];
    let filter = &search["inputSchema"]["properties"]["tv_filters"];
    assert_eq!(filter["maxItems"], json!(20));
    assert_eq!(filter["items"]["required"], json!(["tv", "op"]));
    assert_eq!(filter["items"]["properties"]["tv"]["pattern"], json!("^[A-Za-z0-9_-]{1,50}$"));
    assert_eq!(
        filter["items"]["properties"]["op"]["enum"],
        json!(["=", "!=", ">", ">=", "<", "<=", "in", "not_in", "like", "like-l", "like-r", "null", "!null"])
    );
    assert_eq!(
        filter["items"]["properties"]["cast"]["pattern"],
        json!("^(UNSIGNED|SIGNED|DECIMAL\\((0?[1-9]|[1-5][0-9]|6[0-5]),(0?[0-9]|[12][0-9]|30)\\))$")
    );
    assert_eq!(
        filter["items"]["properties"]["value"]["anyOf"],
        json!([
            {"type": "string", "minLength": 0, "maxLength": 2000},
            {"type": "array", "items": {"type": "string", "minLength": 0, "maxLength": 2000}, "maxItems": 200},
            {"type": "number", "minimum": -1e15, "maximum": 1e15},
            {"type": "boolean"},
            {"type": "array", "items": {"type": "number", "minimum": -1e15, "maximum": 1e15}, "maxItems": 200},
        ])
    );
    assert_eq!(
        search["inputSchema"]["properties"]["with_tvs"]["items"]["pattern"],
        json!("^[A-Za-z0-9_-]{1,50}(:d)?$")
    );
}

/// Every database accepts a statement with all limits reached at once.
#[tokio::test]
async fn every_database_accepts_the_maximum_number_of_variables() {
    let desk = TestDesk::on_three_with(|_| {
        let rows: Vec<String> = (0..50).map(|n| format!("({}, 'text', 'many{n}', 'Many', '', 0)", 100 + n)).collect();
        format!(
            "INSERT INTO evo_site_tmplvars (id, type, name, caption, description, category) VALUES {};",
            rows.join(", ")
        )
    })
    .await;
    let shown: Vec<String> = (0..20).map(|n| format!("many{n}:d")).collect();
    let filters: Vec<Value> = (20..40).map(|n| json!({"tv": format!("many{n}"), "op": "null"})).collect();
    let order: Vec<Value> = (40..50).map(|n| json!({"tv": format!("many{n}"), "cast": "DECIMAL(65,30)"})).collect();
    let asked = json!({
        "parent": 248,
        "with_tvs": shown,
        "tv_filters": filters,
        "tv_order": order,
        "tags_data": {"tv_id": 9, "tags": ["rust"]},
        "limit": 5,
    });
    assert_eq!(desk.search(asked.clone()).await, [0; 0]);
    let mut untagged = asked;
    untagged.as_object_mut().unwrap().remove("tags_data");
    assert_eq!(desk.search(untagged).await, [249, 250, 251, 252, 253]);
}
