//! Files of products, applications and decisions, and what a deal shows of them to whom.

use frontdesk_contracts::automotive::contract;
use frontdesk_engine::import::{FeedText, RowVerdict};
use frontdesk_engine::model::incoming::{Incoming, RequestBody, Verb};
use frontdesk_engine::model::route::RouteRequest;
use serde_json::{Value, json};

use super::imports::apply;
use super::support::{ALL_SCOPES, TestDesk, incoming};

const FNI: &str = "amcp:fni:read amcp:fni:write";

fn rows(resource: &str, feed: &str) -> Vec<Value> {
    let contract = contract();
    let import = contract.imports.iter().find(|import| import.name == resource).unwrap();
    let rows = import.rules.read_feed(&FeedText::Text(feed.to_owned())).unwrap();
    rows.into_iter().map(|row| Value::Object(row.arguments.unwrap())).collect()
}

#[test]
fn the_example_feeds_of_products_and_decisions_are_applied() {
    let desk = TestDesk::open();
    let products = rows("fni_products", include_str!("../../../../examples/feeds/fni_products.csv"));
    let verdicts: Vec<RowVerdict> =
        apply(&desk, "fni_products", &products).into_iter().map(|row| row.verdict).collect();
    assert_eq!(verdicts, [RowVerdict::Created, RowVerdict::Updated, RowVerdict::Created]);
    let gap = desk.call_ok(FNI, "fni.list_products", json!({"code": "GAP"}))["items"][0].clone();
    assert_eq!((&gap["price"], &gap["product_type"]), (&json!({"amount": 79_500, "currency": "USD"}), &json!("gap")));
    let decisions = rows("lender_decisions", include_str!("../../../../examples/feeds/lender_decisions.csv"));
    let applied = apply(&desk, "lender_decisions", &decisions);
    assert!(applied.iter().all(|row| row.verdict == RowVerdict::Created), "{applied:?}");
    let shown = desk.call_ok(FNI, "fni.get_lender_decision", json!({"id": applied[0].id}));
    assert_eq!(
        (&shown["apr_basis_points"], &shown["monthly_payment"], &shown["conditions"]),
        (&json!(749), &json!({"amount": 42_970, "currency": "USD"}), &json!(["Proof of income", "Proof of residence"]))
    );
    let again = apply(&desk, "lender_decisions", &decisions);
    assert!(again.iter().all(|row| row.verdict == RowVerdict::Unchanged), "{again:?}");
    let listed =
        desk.call_ok(FNI, "fni.list_lender_decisions", json!({"decision_number": "80001-1"}))["items"][0].clone();
    assert_eq!(
        (&listed["decision"], &listed["lender_name"]),
        (&json!("conditionally_approved"), &json!("Example Bank"))
    );
    for hidden in ["amount", "apr_basis_points", "term_months", "monthly_payment", "credit_tier", "conditions"] {
        assert!(
            listed.get(hidden).is_none() && listed["redacted"].as_array().unwrap().contains(&json!(hidden)),
            "{hidden}"
        );
    }
}

#[test]
fn a_file_of_applications_is_matched_by_their_number() {
    let desk = TestDesk::open();
    let customer = desk.call_ok(ALL_SCOPES, "customers.list", json!({"limit": 1}))["items"][0]["id"].clone();
    let feed = format!(
        "application_number,customer_id,applicant.name,applicant.email,employment.status,employment.gross_monthly_income,\
         ssn,birth_date\nZ-1,{},Zanzibara Quill,zz@example.com,employed,5200.00 USD,900-71-4321,1984-03-09\n",
        customer.as_str().unwrap()
    );
    let rows = rows("credit_applications", &feed);
    let first = apply(&desk, "credit_applications", &rows);
    assert_eq!(first[0].verdict, RowVerdict::Created, "{first:?}");
    assert_eq!(apply(&desk, "credit_applications", &rows)[0].verdict, RowVerdict::Unchanged);
    let made = desk.call_ok(FNI, "fni.get_credit_application", json!({"id": first[0].id}));
    assert_eq!((&made["application_number"], &made["ssn_last4"]), (&json!("Z-1"), &json!("4321")));
    assert_eq!(made["employment"]["gross_monthly_income"], json!({"amount": 520_000, "currency": "USD"}));
}

fn route(desk: &TestDesk, token: &str, path: &str) -> Value {
    let request = RouteRequest {
        path: format!("/v1{path}"),
        prefix_length: 3,
        query: None,
        media_type: None,
        if_match: None,
        if_none_match: None,
    };
    let reply = desk.route(Incoming {
        verb: Verb::Get,
        route: Some(Box::new(request)),
        body: RequestBody::from_bytes(Vec::new()),
        ..incoming(token, "", json!({}))
    });
    assert_eq!(reply.status, 200, "{path}");
    serde_json::from_slice(&reply.body).unwrap()
}

/// What lenders say stands in their decisions only: embedded in a deal it would need no login.
#[test]
fn a6_17_a_deal_shows_its_financing_status_and_nothing_else_of_it() {
    let desk = TestDesk::open();
    let decisions = desk.call_ok(FNI, "fni.list_lender_decisions", json!({"decision": "approved", "limit": 1}));
    let decision = desk.call_ok(FNI, "fni.get_lender_decision", json!({"id": decisions["items"][0]["id"]}));
    let deal_id = decision["deal_id"].as_str().unwrap().to_owned();
    apply(
        &desk,
        "lender_decisions",
        &[json!({"decision_number": decision["decision_number"], "lender_name": "Zz Lender", "credit_tier": "Zz Tier",
            "program": "Zz Program", "conditions": ["Zz Condition"], "reasons": ["Zz Reason"], "apr_basis_points": 7777,
            "term_months": 77, "amount": {"amount": 7_777_777, "currency": "USD"},
            "monthly_payment": {"amount": 77_777, "currency": "USD"}})],
    );
    let decision = desk.call_ok(FNI, "fni.get_lender_decision", json!({"id": decision["id"]}));
    let said = ["Zz Lender", "Zz Tier", "Zz Program", "Zz Condition", "Zz Reason", "7777", "A-500"];
    assert!(said.iter().all(|word| decision.to_string().contains(word)), "{decision}");
    for scopes in ["amcp:deals:read", "amcp:deals:read amcp:deals:write", ALL_SCOPES] {
        let token = desk.login_token(scopes);
        let one = [
            desk.call_as(&token, "deals.get", json!({"id": deal_id})).1,
            route(&desk, &token, &format!("/deals/{deal_id}")),
        ];
        assert_eq!(one[0], one[1]);
        assert!(["approved", "funded"].contains(&one[0]["financing_status"].as_str().unwrap()), "{}", one[0]);
        let customer = &one[0]["customer_id"];
        let list = desk.call_as(&token, "deals.list", json!({"customer_id": customer, "limit": 100})).1;
        let listed = list["items"].as_array().unwrap().iter().find(|deal| deal["id"] == deal_id.as_str()).unwrap();
        assert_eq!(listed["financing_status"], one[0]["financing_status"]);
        let routed = route(&desk, &token, "/deals");
        for answer in [&one[0], &one[1], &list, &routed] {
            let text = answer.to_string();
            assert!(said.iter().all(|word| !text.contains(word)), "{scopes}: {text}");
            assert!(!text.contains("lender") && !text.contains("credit_application"), "{scopes}: {text}");
        }
    }
}
