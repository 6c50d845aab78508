//! Credit applications and decisions need a recent login, whichever way they are asked for (A6-18).

use frontdesk_contracts::automotive::contract;
use frontdesk_engine::Reply;
use frontdesk_engine::model::incoming::{Incoming, RequestBody, Verb};
use frontdesk_engine::model::route::RouteRequest;
use frontdesk_engine::model::timestamp::Millis;
use serde_json::{Value, json};

use super::support::{NOW, TestDesk, incoming};

const FNI: &str = "amcp:fni:read amcp:fni:write";
const CHALLENGE: &str = "Bearer error=\"insufficient_user_authentication\", max_age=\"300\", \
    resource_metadata=\"https://desk.example/.well-known/oauth-protected-resource/mcp/automotive\"";

fn header<'r>(reply: &'r Reply, name: &str) -> Option<&'r str> {
    reply.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| &**value)
}

/// Of somebody who logged in so many seconds ago.
fn token(seconds_ago: i64) -> String {
    format!("dlr_lakeside@{}/{FNI}", NOW.seconds() - seconds_ago)
}

fn assert_is_step_up(reply: &Reply, what: &str) {
    assert_eq!((reply.status, header(reply, "WWW-Authenticate")), (401, Some(CHALLENGE)), "{what}");
    let body: Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!(
        body,
        json!({"error": {
            "code": "auth.step_up_required",
            "message": "This needs a token for which a person has logged in within the last 300 seconds. Have them log in \
                        again, and repeat the call with the new token.",
            "details": {"retryable": false},
        }}),
        "{what}"
    );
}

fn call(token: &str, tool: &str) -> Incoming {
    incoming(token, "tools/call", json!({"name": tool, "arguments": {}}))
}

/// The same call in the era without sessions.
fn modern(token: &str, tool: &str) -> Incoming {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": tool, "arguments": {}, "_meta": meta});
    Incoming {
        protocol_version: Some("2026-07-28".to_owned()),
        method_header: Some("tools/call".to_owned()),
        name_header: Some(tool.to_owned()),
        ..incoming(token, "tools/call", params)
    }
}

fn read(token: &str, uri: &str) -> Incoming {
    incoming(token, "resources/read", json!({"uri": uri}))
}

fn get(token: &str, path: &str) -> Incoming {
    let route = RouteRequest {
        path: format!("/mcp/automotive/v1{path}"),
        prefix_length: "/mcp/automotive/v1".len(),
        query: None,
        media_type: None,
        if_match: None,
        if_none_match: None,
    };
    Incoming {
        verb: Verb::Get,
        route: Some(Box::new(route)),
        body: RequestBody::from_bytes(Vec::new()),
        ..incoming(token, "", json!({}))
    }
}

#[test]
fn a6_18_every_way_to_credit_data_needs_a_recent_login() {
    let desk = TestDesk::open();
    let without = format!("dlr_lakeside/{FNI}");
    for token in [without, token(301), token(-31), token(86_400)] {
        for tool in ["fni.list_credit_applications", "fni.list_lender_decisions"] {
            assert_is_step_up(&desk.serve(call(&token, tool)), &format!("{tool} of the legacy era, {token}"));
            assert_is_step_up(&desk.serve(modern(&token, tool)), &format!("{tool} of the modern era, {token}"));
        }
        for kind in ["credit_applications", "lender_decisions"] {
            for uri in [format!("amcp://dlr_lakeside/{kind}"), format!("amcp://dlr_lakeside/{kind}/none")] {
                assert_is_step_up(&desk.serve(read(&token, &uri)), &format!("{uri}, {token}"));
            }
            for path in [format!("/{kind}"), format!("/{kind}/none")] {
                assert_is_step_up(&desk.route(get(&token, &path)), &format!("{path}, {token}"));
            }
        }
    }
}

#[test]
fn a6_18_every_credit_tool_and_no_other_asks_for_a_login() {
    let contract = contract();
    let asking: Vec<(&str, u32)> =
        contract.tools.iter().filter_map(|tool| Some((tool.spec.name, tool.spec.max_login_age?))).collect();
    assert_eq!(
        asking,
        [
            ("fni.list_credit_applications", 300),
            ("fni.get_credit_application", 300),
            ("fni.create_credit_application", 300),
            ("fni.update_credit_application", 300),
            ("fni.list_lender_decisions", 300),
            ("fni.get_lender_decision", 300),
        ]
    );
}

#[test]
fn a6_18_a_login_counts_for_300_seconds_and_not_for_301() {
    let desk = TestDesk::open();
    let token = token(0);
    let ways: [fn(&TestDesk, &str) -> Reply; 4] = [
        |desk, token| desk.serve(call(token, "fni.list_credit_applications")),
        |desk, token| desk.serve(modern(token, "fni.list_lender_decisions")),
        |desk, token| desk.serve(read(token, "amcp://dlr_lakeside/credit_applications")),
        |desk, token| desk.route(get(token, "/lender_decisions")),
    ];
    for (seconds, is_recent) in [(0, true), (299, true), (300, true), (301, false), (302, false)] {
        desk.clock.set(Millis(NOW.0 + seconds * 1000 + 999).0);
        for way in ways {
            let reply = way(&desk, &token);
            if is_recent {
                assert_eq!(reply.status, 200, "after {seconds} s: {}", String::from_utf8_lossy(&reply.body));
            } else {
                assert_is_step_up(&reply, &format!("after {seconds} s"));
            }
        }
    }
}

#[test]
fn a6_18_a_login_ahead_of_our_clock_counts_for_30_seconds_of_skew() {
    let desk = TestDesk::open();
    assert_eq!(desk.serve(call(&token(-30), "fni.list_credit_applications")).status, 200);
    assert_is_step_up(&desk.serve(call(&token(-31), "fni.list_credit_applications")), "too far ahead");
    assert_is_step_up(&desk.serve(call(&token(i64::MIN / 2), "fni.list_credit_applications")), "the far future");
}

#[test]
fn a6_18_products_need_the_scope_but_no_login() {
    let desk = TestDesk::open();
    let without = format!("dlr_lakeside/{FNI}");
    assert_eq!(desk.serve(call(&without, "fni.list_products")).status, 200);
    assert_eq!(desk.route(get(&without, "/fni_products")).status, 200);
    assert_eq!(desk.serve(read(&without, "amcp://dlr_lakeside/fni_products")).status, 200);
}

#[test]
fn a6_17_no_other_scope_gives_credit_data_or_says_that_it_exists() {
    let desk = TestDesk::open();
    let others: Vec<String> = contract()
        .scopes
        .iter()
        .map(|scope| scope.as_str().to_owned())
        .filter(|scope| !scope.contains("fni"))
        .collect();
    assert_eq!(others.len(), 13);
    let token = desk.login_token(&others.join(" "));
    for tool in contract().tools.iter().map(|tool| tool.spec.name).filter(|name| name.starts_with("fni.")) {
        let reply = desk.serve(call(&token, tool));
        assert_eq!(reply.status, 403, "{tool}");
        let challenge = header(&reply, "WWW-Authenticate").unwrap();
        assert!(challenge.starts_with("Bearer error=\"insufficient_scope\"") && challenge.contains("amcp:fni:"));
    }
    for kind in ["fni_products", "credit_applications", "lender_decisions"] {
        assert_eq!(desk.route(get(&token, &format!("/{kind}"))).status, 403, "{kind}");
        assert_eq!(desk.serve(read(&token, &format!("amcp://dlr_lakeside/{kind}"))).status, 403, "{kind}");
    }
    let import = json!({"resource": "fni_products", "items": [{"code": "x"}]});
    let reply = desk.send(&token, "tools/call", json!({"name": "x_frontdesk.import_items", "arguments": import}));
    assert_eq!(reply.status, 403);
}

#[test]
fn a6_17_the_first_challenge_names_no_fni_scope() {
    let desk = TestDesk::open();
    let refused = desk.serve(call("nobody", "inventory.list"));
    let challenge = header(&refused, "WWW-Authenticate").unwrap();
    assert_eq!(refused.status, 401);
    assert!(challenge.contains("scope=\"amcp:consent:read"), "{challenge}");
    assert!(challenge.contains("amcp:service:write") && !challenge.contains("fni"), "{challenge}");
}

#[test]
fn a6_18_ids_of_credit_data_are_listed_after_a_login_only() {
    let desk = TestDesk::open();
    let uris = |token: &str| {
        let reply = desk.send(token, "resources/list", json!({}));
        let body: Value = serde_json::from_slice(&reply.body).unwrap();
        let all = body["result"]["resources"].as_array().unwrap().clone();
        let uris = all.into_iter().map(|resource| resource["uri"].as_str().unwrap().to_owned());
        uris.filter(|uri| uri.contains("credit_applications/") || uri.contains("lender_decisions/")).count()
    };
    assert_eq!(uris(&format!("dlr_lakeside/{FNI}")), 0);
    assert!(uris(&token(10)) > 0, "the demo has some");
}

#[test]
fn records_that_need_a_login_are_neither_pushed_nor_listed() {
    let desk = TestDesk::open();
    for resource in ["credit_applications", "lender_decisions"] {
        let (failed, answer) = desk.call(FNI, "x_frontdesk.list_imports", json!({"resource": resource}));
        assert!(failed && answer["error"]["details"]["errors"][0]["pointer"] == "/resource", "{answer}");
        let arguments = json!({"resource": resource, "items": [{"decision_number": "x"}]});
        let (failed, answer) = desk.call(FNI, "x_frontdesk.import_items", arguments);
        assert!(failed, "{resource}");
        assert_eq!(answer["error"]["details"]["errors"][0]["pointer"], "/resource", "{answer}");
    }
}
