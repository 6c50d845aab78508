//! `initialize` (§1 and §10).

use serde_json::{Value, json};

use crate::support::WireDesk;

fn initialize(version: &str) -> Value {
    let message = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": version,
            "capabilities": {"tools": {}},
            "clientInfo": {"name": "tomo-orchestrator", "version": "1.0.0"},
        },
    });
    WireDesk::open().answer(&message.to_string())
}

#[test]
fn t_001_t_010_t_012_t_013_t_014_tomo_shakes_hands_as_published() {
    let mut answer = initialize("2024-11-05");
    let instructions = answer["result"].as_object_mut().unwrap().remove("instructions").unwrap();
    assert!(instructions.as_str().unwrap().starts_with("Bookings of this business"), "{instructions}");
    assert_eq!(
        answer,
        json!({
            "jsonrpc": "2.0",
            "id": 1,
            "result": {
                "protocolVersion": "2024-11-05",
                // Without listChanged: nothing is sent when the list changes.
                "capabilities": {"tools": {}},
                "serverInfo": {
                    "name": "Monsoon Mobility Demo",
                    "title": "Monsoon Mobility Demo",
                    "version": env!("CARGO_PKG_VERSION"),
                },
            },
        })
    );
}

#[test]
fn t_011_a_version_that_is_served_is_kept_and_any_other_replaced() {
    for (asked, answered) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("1999-01-01", "2025-11-25"),
    ] {
        assert_eq!(initialize(asked)["result"]["protocolVersion"], answered, "{asked}");
    }
}

#[test]
fn t_015_ids_come_back_in_their_type() {
    let desk = WireDesk::open();
    for id in ["1", "\"one\"", "9007199254740991", "\"\u{20b9} 1\""] {
        let answer = desk.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#));
        let text = String::from_utf8(answer.body.to_vec()).unwrap();
        assert!(text.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#)), "{}", &text[..80]);
    }
}

#[test]
fn t_120_the_simulated_initialize_is_answered() {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"clientInfo":{"name":"tomo-test","version":"1.0.0"}}}"#;
    let answer = WireDesk::open().answer(body);
    assert_eq!((&answer["id"], &answer["result"]["protocolVersion"]), (&json!(1), &json!("2024-11-05")));
}
