//! The dealership's own table of fees and taxes: how it comes in, what is wrong with a line, and what is charged.

use frontdesk_contracts::automotive::contract;
use frontdesk_engine::import::{FeedText, ImportRow, ImportSession, RowProblem, RowResult, RowVerdict};
use serde_json::{Value, json};

use super::support::TestDesk;

const READ: &str = "amcp:deals:read amcp:inventory:read";

fn apply(desk: &TestDesk, lines: &[Value]) -> Vec<RowResult> {
    let row = |(line, number): (&Value, u64)| ImportRow {
        line: number,
        arguments: line.as_object().unwrap().clone(),
        key: None,
        is_new: false,
    };
    let rows: Vec<ImportRow> = lines.iter().zip(2..).map(row).collect();
    desk.import("fees", async |session: &ImportSession<'_>| session.apply(&rows).await.unwrap())
}

fn verdicts(desk: &TestDesk, lines: &[Value]) -> Vec<RowVerdict> {
    apply(desk, lines).into_iter().map(|result| result.verdict).collect()
}

fn rejected(problems: &[(&str, &str)]) -> RowVerdict {
    let problem =
        |(field, reason): &(&str, &str)| RowProblem { field: (*field).to_owned(), reason: (*reason).to_owned() };
    RowVerdict::Rejected(problems.iter().map(problem).collect())
}

#[test]
fn lines_are_imported_matched_by_code_and_read() {
    let desk = TestDesk::open();
    let line =
        json!({"code": "TIRE", "name": "Tire fee", "kind": "fee", "amount": {"amount": 1250, "currency": "USD"}});
    let made = apply(&desk, std::slice::from_ref(&line)).remove(0);
    assert_eq!(made.verdict, RowVerdict::Created);
    let read = desk.call_ok(READ, "deals.get_fee", json!({"id": made.id}));
    assert_eq!(
        read,
        json!({
            "id": made.id,
            "type": "fee",
            "dealership_id": "dlr_lakeside",
            "code": "TIRE",
            "name": "Tire fee",
            "kind": "fee",
            "amount": {"amount": 1250, "currency": "USD"},
            "taxable": false,
            "basis": "selling_price",
            "applies_to": [],
            "order": 100,
            "status": "active",
            "created_at": "2026-01-31T09:30:00Z",
            "updated_at": "2026-01-31T09:30:00Z",
            "version": 1,
        })
    );
    assert_eq!(verdicts(&desk, std::slice::from_ref(&line)), [RowVerdict::Unchanged]);
    let dearer = json!({"code": "TIRE", "amount": {"amount": 1500, "currency": "USD"}});
    assert_eq!(verdicts(&desk, &[dearer]), [RowVerdict::Updated]);
    let listed = desk.call_ok(READ, "deals.list_fees", json!({"kind": "tax"}));
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    let (_, answer) = desk.call(READ, "deals.get_fee", json!({"id": "TIRE"}));
    assert_eq!(answer["error"]["code"], "deals.not_found");
}

#[test]
fn a_line_has_an_amount_or_a_rate_and_fits_its_kind() {
    let desk = TestDesk::open();
    let amount = json!({"amount": 1, "currency": "USD"});
    assert_eq!(
        verdicts(
            &desk,
            &[
                json!({"code": "A", "name": "A", "kind": "fee"}),
                json!({"code": "B", "name": "B", "kind": "tax", "amount": amount, "rate_basis_points": 1, "taxable": true}),
                json!({"code": "C", "name": "C", "kind": "fee", "amount": amount, "basis": "less_trade"}),
            ]
        ),
        [
            rejected(&[("/amount", "an amount or rate_basis_points is required.")]),
            rejected(&[
                ("/rate_basis_points", "an amount or a rate is expected, not both."),
                ("/taxable", "only a fee can be taxable."),
            ]),
            rejected(&[("/basis", "only a tax has another basis than selling_price.")]),
        ]
    );
}

/// Half up, line by line: 12.5 minor units are 13.
#[test]
fn only_active_lines_of_the_deals_type_are_charged_in_order() {
    let desk = TestDesk::open();
    let ours = desk.call_ok(READ, "deals.list_fees", json!({"limit": 100}));
    let retired: Vec<Value> = ours["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| json!({"code": line["code"], "status": "retired"}))
        .collect();
    apply(&desk, &retired);
    let lines = [
        json!({"code": "HALF", "name": "Half", "kind": "fee", "rate_basis_points": 1250, "order": 2, "taxable": true}),
        json!({"code": "CASH", "name": "For cash", "kind": "fee", "amount": {"amount": 7, "currency": "USD"}, "order": 1, "applies_to": ["cash"]}),
        json!({"code": "LEASE", "name": "For leases", "kind": "fee", "amount": {"amount": 9, "currency": "USD"}, "applies_to": ["lease"]}),
        json!({"code": "CAD", "name": "Other currency", "kind": "fee", "amount": {"amount": 9, "currency": "CAD"}}),
        json!({"code": "TAX", "name": "Tax", "kind": "tax", "rate_basis_points": 1000, "basis": "less_incentives_and_trade"}),
    ];
    assert!(verdicts(&desk, &lines).iter().all(|verdict| *verdict == RowVerdict::Created));
    let cars = desk.call_ok(READ, "inventory.list", json!({"status": "available", "limit": 1}));
    let usd = |amount: i64| json!({"amount": amount, "currency": "USD"});
    let arguments = json!({
        "vehicle_id": cars["items"][0]["id"],
        "deal_type": "cash",
        "selling_price": usd(100),
        "incentives": [{"name": "Off", "amount": usd(20)}],
        "trades": [{"make": "A", "model": "B", "year": 2010, "allowance": usd(38)}],
    });
    let quote = desk.call_ok(READ, "deals.request_quote", arguments);
    assert_eq!(
        quote["fees"],
        json!([
            {"code": "CASH", "name": "For cash", "amount": usd(7)},
            {"code": "HALF", "name": "Half", "amount": usd(13)},
        ])
    );
    // A tenth of 100 - 20 - 38 + 13 is 5.5.
    assert_eq!(quote["taxes"], json!([{"code": "TAX", "name": "Tax", "amount": usd(6)}]));
    assert_eq!(quote["totals"]["total_price"], usd(126));
}

#[test]
fn a_line_that_is_no_longer_listed_is_retired_and_can_come_back() {
    let desk = TestDesk::open();
    let line = json!({"code": "TIRE", "name": "Tire fee", "kind": "fee", "rate_basis_points": 1});
    let id = apply(&desk, std::slice::from_ref(&line)).remove(0).id.unwrap();
    desk.import("fees", async |session: &ImportSession<'_>| {
        session.withdraw_records(std::slice::from_ref(&id)).await.unwrap();
    });
    let status = || desk.call_ok(READ, "deals.get_fee", json!({"id": id}))["status"].clone();
    assert_eq!(status(), "retired");
    apply(&desk, &[line]);
    assert_eq!(status(), "active");
}

/// The table and the figures of docs/guides/deals.md are what is charged.
#[test]
fn the_guides_table_and_example_hold() {
    let guide = include_str!("../../../../docs/guides/deals.md");
    let table = guide.split("```csv\n").nth(1).unwrap().split("```").next().unwrap();
    let contract = contract();
    let fees = contract.imports.iter().find(|import| import.name == "fees").unwrap();
    let rows = fees.rules.read_feed(&FeedText::Text(table.to_owned())).unwrap();
    let lines: Vec<Value> = rows.into_iter().map(|row| Value::Object(row.arguments.unwrap())).collect();
    let desk = TestDesk::open();
    // The demo has a table of its own; what the guide's says otherwise is changed.
    assert_eq!(verdicts(&desk, &lines).len(), 4);
    let sales = desk.call_ok(READ, "deals.list_fees", json!({"kind": "tax"}))["items"][0].clone();
    assert_eq!(sales["applies_to"], json!(["retail_finance", "lease", "cash"]));
    let cars = desk.call_ok(READ, "inventory.list", json!({"status": "available", "limit": 1}));
    let usd = |amount: i64| json!({"amount": amount, "currency": "USD"});
    let arguments = json!({
        "vehicle_id": cars["items"][0]["id"],
        "deal_type": "retail_finance",
        "selling_price": usd(1_900_000),
        "incentives": [{"name": "Off", "amount": usd(50_000)}],
        "trades": [{"make": "A", "model": "B", "year": 2010, "allowance": usd(300_000), "payoff": usd(100_000)}],
        "down_payment": usd(200_000),
        "term_months": 60,
        "apr_basis_points": 599,
    });
    let quote = desk.call_ok(READ, "deals.request_quote", arguments);
    let said = |amount: &Value| {
        let cents = amount["amount"].as_i64().unwrap();
        let (thousands, rest) = (cents / 100_000, cents / 100 % 1000);
        let dollars = if thousands > 0 { format!("{thousands},{rest:03}") } else { rest.to_string() };
        format!("{dollars}.{:02}", cents % 100)
    };
    let totals = &quote["totals"];
    for amount in [
        &totals["fees"],
        &totals["taxes"],
        &totals["total_price"],
        &quote["amount_financed"],
        &quote["payments"][0]["amount"],
        &quote["payments"][1]["amount"],
        &totals["total_of_payments"],
        &totals["finance_charge"],
    ] {
        let text = said(amount);
        assert!(guide.contains(&text), "the guide does not have {text}");
    }
}
