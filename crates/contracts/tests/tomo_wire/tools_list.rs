//! `tools/list` (§2): every field of every tool of the three intents.

use std::collections::BTreeSet;

use frontdesk_contracts::tomo;
use frontdesk_contracts::tomo::forbidden;
use frontdesk_engine::model::incoming::Credential;
use serde_json::{Value, json};

use crate::support::{TENANT, WireDesk, all_partners};

/// Every tool of every intent, with the id of the intent.
fn every_tool() -> Vec<(String, Value)> {
    let mut tools = Vec::new();
    for partner in all_partners() {
        let id = partner.intents[0].name.clone();
        tools.extend(WireDesk::of(&partner).list().into_iter().map(|tool| (id.clone(), tool)));
    }
    tools
}

#[test]
fn t_024_t_025_t_026_t_027_t_029_the_meta_is_whole() {
    let search = WireDesk::open().list().remove(0);
    assert_eq!(search["name"], "search_availability");
    assert_eq!(
        search["_meta"],
        json!({"tomo": {
            "intent": "travel.book_hotel",
            "intent_version": "v1.0.0",
            "tool_role": "search",
            "result_widget": "travel_listing_results",
            "ttbs_signals": {"time": 0.6, "taste": 0.8, "budget": 0.5, "safety": 0.7},
            "service_area": ["Bengaluru", "Hyderabad", "560001"],
            "pricing_band": "good",
            "completion_callback": "https://tomo.example/api/v1/cpc/mcp_provider/demo_partner",
        }})
    );
    for (id, tool) in every_tool() {
        let meta = &tool["_meta"]["tomo"];
        assert_eq!((&meta["intent"], &meta["intent_version"]), (&json!(id), &json!("v1.0.0")));
        assert_eq!(meta.as_object().unwrap().len(), 8, "{tool}");
        assert!(!meta["result_widget"].as_str().unwrap().is_empty());
    }
}

#[test]
fn t_020_t_021_names_and_descriptions_are_short_and_plain() {
    for (_, tool) in every_tool() {
        let (name, about) = (tool["name"].as_str().unwrap(), tool["description"].as_str().unwrap());
        let mut words = name.split('_');
        assert!(words.clone().count() >= 2, "{name}");
        assert!(words.all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase())), "{name}");
        assert!(about.chars().count() <= 140 && !about.contains('\n'), "{about}");
        assert_eq!(about.matches(". ").count(), 0, "one sentence: {about}");
        assert!(about.ends_with('.'), "{about}");
    }
}

#[test]
fn t_028_t_030_t_031_t_032_t_033_words_of_the_meta_are_published() {
    let roles = ["search", "get_detail", "create", "modify", "cancel", "track", "rate", "utility"];
    for (_, tool) in every_tool() {
        let meta = &tool["_meta"]["tomo"];
        assert!(roles.contains(&meta["tool_role"].as_str().unwrap()));
        let signals = meta["ttbs_signals"].as_object().unwrap();
        assert_eq!(signals.keys().collect::<Vec<_>>(), ["budget", "safety", "taste", "time"]);
        assert!(signals.values().all(|rating| (0.0..=1.0).contains(&rating.as_f64().unwrap())));
        assert!(!meta["service_area"].as_array().unwrap().is_empty());
        assert!(["ok", "good", "great"].contains(&meta["pricing_band"].as_str().unwrap()));
        let callback = meta["completion_callback"].as_str().unwrap();
        assert!(callback.starts_with("https://") && callback.ends_with("/api/v1/cpc/mcp_provider/demo_partner"));
    }
}

#[test]
fn t_022_t_023_inputs_are_objects_that_name_what_they_require() {
    for (id, tool) in every_tool() {
        let input = &tool["inputSchema"];
        assert_eq!((&input["type"], &input["additionalProperties"]), (&json!("object"), &json!(false)), "{id}");
        let properties = input["properties"].as_object().unwrap();
        for name in input["required"].as_array().unwrap() {
            assert!(properties.contains_key(name.as_str().unwrap()), "{id}: {name}");
        }
        for name in ["intent", "intent_version", "request_id", "user_session_id", "context"] {
            assert!(properties.contains_key(name), "{id}: TOMO sends {name}");
        }
        assert!(!input["examples"].as_array().unwrap().is_empty());
    }
}

#[test]
fn t_034_t_040_the_tools_are_those_of_the_shape_and_no_others() {
    for partner in all_partners() {
        let intent = tomo::intent::parse(&partner.intents[0].text).unwrap();
        let listed: BTreeSet<String> =
            WireDesk::of(&partner).list().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
        let wanted: BTreeSet<String> = intent.shape.tools().iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(listed, wanted);
    }
}

#[test]
fn t_039_each_tool_answers_the_type_of_its_shape() {
    // The member by which each type is known.
    for (tool, member) in [
        ("search_availability", "listings"),
        ("create_booking", "booking_ref"),
        ("modify_booking", "booking_ref"),
        ("cancel_booking", "refund_inr"),
        ("search_providers", "providers"),
        ("get_available_slots", "slots"),
        ("book_slot", "booking_ref"),
    ] {
        for partner in all_partners() {
            let intent = tomo::intent::parse(&partner.intents[0].text).unwrap();
            let Some(tool) = intent.tool(tool) else { continue };
            let output = tool.output.to_json();
            let required = output["required"].as_array().unwrap();
            assert!(required.contains(&json!(member)), "{} {}: {required:?}", intent.id, tool.name);
            let names: BTreeSet<&String> = output["properties"].as_object().unwrap().keys().collect();
            assert_eq!(names.len(), required.len(), "{}: every field is required", tool.name);
        }
    }
}

#[test]
fn t_041_all_tools_are_listed_in_one_answer() {
    let answer = WireDesk::open().answer(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#);
    assert_eq!(answer["result"].as_object().unwrap().keys().collect::<Vec<_>>(), ["tools"]);
    assert_eq!(answer["result"]["tools"].as_array().unwrap().len(), 5);
}

#[test]
fn t_004_t_121_the_list_needs_no_handshake_and_stays_the_same() {
    let body = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    let desk = WireDesk::open();
    let first = desk.send(body).body;
    desk.clock.advance(24 * 3_600_000);
    assert_eq!(desk.send(body).body, first, "a day later");
    assert_eq!(WireDesk::open().send(body).body, first, "after a restart");
}

#[test]
fn older_versions_see_nothing_that_they_do_not_know() {
    let desk = WireDesk::open();
    let body = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    let keys = |version: &str| {
        let credential = Credential::Bearer(format!("{TENANT}/tomo:live"));
        let reply = desk.send_as(credential, Some(version), body);
        let answer: Value = serde_json::from_slice(&reply.body).unwrap();
        let tool = answer["result"]["tools"][0].as_object().unwrap().clone();
        tool.keys().cloned().collect::<Vec<String>>()
    };
    assert_eq!(keys("2024-11-05"), ["_meta", "description", "inputSchema", "name"]);
    assert_eq!(keys("2025-03-26"), ["_meta", "annotations", "description", "inputSchema", "name"]);
    assert_eq!(
        keys("2025-11-25"),
        ["_meta", "annotations", "description", "inputSchema", "name", "outputSchema", "title"]
    );
}

#[test]
fn t_130_no_schema_has_a_forbidden_field() {
    for (id, tool) in every_tool() {
        assert_eq!(forbidden::find(&tool), None, "{id}");
    }
}
