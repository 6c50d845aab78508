//! Quotes in literal figures, in currencies with two, no and three decimals.

use serde_json::{Value, json};

use super::support::TestDesk;

const SCOPES: &str = "amcp:deals:read amcp:inventory:read amcp:inventory:write";

fn money(amount: i64, currency: &str) -> Value {
    json!({"amount": amount, "currency": currency})
}

fn usd(amount: i64) -> Value {
    money(amount, "USD")
}

/// A dealership with a car for this price.
fn desk_with_car(price: Value) -> (TestDesk, Value) {
    let desk = TestDesk::open();
    let car = json!({
        "vin": "5YJ3E1EAXKF100004", "stock_number": "T-100", "condition": "used", "year": 2019, "make": "Tesla",
        "model": "Model 3", "mileage": {"value": 30100, "unit": "mi"}, "price": price,
    });
    let id = desk.call_ok(SCOPES, "inventory.create", car)["id"].clone();
    (desk, id)
}

fn quote(desk: &TestDesk, vehicle: &Value, terms: Value) -> Value {
    let mut arguments = json!({"vehicle_id": vehicle});
    arguments.as_object_mut().unwrap().extend(terms.as_object().unwrap().clone());
    desk.call_ok("amcp:deals:read", "deals.request_quote", arguments)
}

#[test]
fn a_quote_on_credit_is_the_whole_answer_and_records_nothing() {
    let (desk, vehicle) = desk_with_car(usd(2_000_000));
    let before = desk.stored_data();
    let terms = json!({
        "deal_type": "retail_finance",
        "selling_price": usd(1_900_000),
        "incentives": [{"name": "Loyalty", "amount": usd(50_000)}],
        "trades": [{"make": "Honda", "model": "Fit", "year": 2012, "allowance": usd(300_000), "payoff": usd(100_000)}],
        "down_payment": usd(200_000),
        "term_months": 60,
        "apr_basis_points": 599,
    });
    assert_eq!(
        quote(&desk, &vehicle, terms),
        json!({
            "type": "quote",
            "dealership_id": "dlr_lakeside",
            "vehicle_id": vehicle,
            "deal_type": "retail_finance",
            "selling_price": usd(1_900_000),
            "fees": [
                {"code": "DOC", "name": "Document fee", "amount": usd(17_500)},
                {"code": "TITLE", "name": "Title fee", "amount": usd(5_000)},
            ],
            "taxes": [{"code": "SALES", "name": "Sales tax", "amount": usd(129_400)}],
            "totals": {
                "fees": usd(22_500),
                "taxes": usd(129_400),
                "incentives": usd(50_000),
                "trade_allowance": usd(300_000),
                "trade_payoff": usd(100_000),
                "total_price": usd(2_051_900),
                "amount_due": usd(1_601_900),
                "finance_charge": usd(255_807),
                "total_of_payments": usd(1_857_707),
            },
            "amount_financed": usd(1_601_900),
            "monthly_payment": usd(30_962),
            "payments": [{"count": 59, "amount": usd(30_962)}, {"count": 1, "amount": usd(30_949)}],
        })
    );
    assert_eq!(desk.stored_data(), before);
}

#[test]
fn a_lease_pays_what_the_car_loses_and_rent() {
    let (desk, vehicle) = desk_with_car(usd(2_000_000));
    let terms = json!({
        "deal_type": "lease", "term_months": 36, "money_factor": 190, "residual": usd(1_100_000),
        "down_payment": usd(200_000),
    });
    let made = quote(&desk, &vehicle, terms);
    // The acquisition fee is charged on leases only.
    assert_eq!(made["fees"].as_array().unwrap().len(), 3);
    assert_eq!((&made["taxes"][0]["amount"], &made["amount_financed"]), (&usd(166_960), &usd(2_058_960)));
    assert_eq!(made["monthly_payment"], usd(32_640));
    assert_eq!(made["payments"], json!([{"count": 35, "amount": usd(32_640)}, {"count": 1, "amount": usd(32_632)}]));
    assert_eq!(made["totals"]["total_of_payments"], usd(1_175_032));
    assert_eq!(made["totals"]["finance_charge"], usd(216_072));
}

#[test]
fn a_balloon_is_due_with_the_last_payment() {
    let (desk, vehicle) = desk_with_car(usd(2_000_000));
    let terms = json!({"deal_type": "balloon", "term_months": 36, "apr_basis_points": 599, "residual": usd(800_000)});
    let made = quote(&desk, &vehicle, terms);
    assert_eq!(made["amount_financed"], usd(2_183_900));
    assert_eq!(made["payments"], json!([{"count": 35, "amount": usd(46_088)}, {"count": 1, "amount": usd(846_084)}]));
}

#[test]
fn a_yen_has_no_decimals_and_a_dinar_has_three() {
    // Fees in dollars are for deals in dollars; the sales tax is a rate, and the trade takes it away here.
    let untaxed = |currency: &str, amount: i64, payoff: i64| json!([{"make": "A", "model": "B", "year": 2010, "allowance": money(amount, currency), "payoff": money(payoff, currency)}]);
    let credit = |currency: &str, amount: i64, apr: i64, months: i64| {
        let (desk, vehicle) = desk_with_car(money(amount, currency));
        let trades = untaxed(currency, amount, amount);
        let terms =
            json!({"deal_type": "retail_finance", "term_months": months, "apr_basis_points": apr, "trades": trades});
        let made = quote(&desk, &vehicle, terms);
        assert_eq!((&made["fees"], &made["amount_financed"]), (&json!([]), &money(amount, currency)));
        made["payments"].clone()
    };
    let yen = |amount: i64| money(amount, "JPY");
    assert_eq!(
        credit("JPY", 3_000_000, 290, 36),
        json!([{"count": 35, "amount": yen(87_111)}, {"count": 1, "amount": yen(87_132)}])
    );
    let dinar = |amount: i64| money(amount, "KWD");
    assert_eq!(
        credit("KWD", 5_000_000, 450, 48),
        json!([{"count": 47, "amount": dinar(114_017)}, {"count": 1, "amount": dinar(114_039)}])
    );
}

#[test]
fn without_interest_the_last_payment_has_the_remainder() {
    let (desk, vehicle) = desk_with_car(usd(2_000_000));
    let made = quote(&desk, &vehicle, json!({"deal_type": "retail_finance", "term_months": 7, "apr_basis_points": 0}));
    assert_eq!(made["payments"], json!([{"count": 6, "amount": usd(311_986)}, {"count": 1, "amount": usd(311_984)}]));
    assert_eq!(made["totals"]["total_of_payments"], usd(2_183_900));
}

#[test]
fn a_quote_and_the_deal_that_keeps_it_agree() {
    let (desk, vehicle) = desk_with_car(usd(2_000_000));
    let all = "amcp:deals:read amcp:deals:write amcp:leads:read";
    let customer = desk.call_ok(all, "customers.list", json!({"limit": 1}))["items"][0]["id"].clone();
    let terms = json!({"deal_type": "lease", "term_months": 24, "money_factor": 125, "residual": usd(1_200_000)});
    let quoted = quote(&desk, &vehicle, terms.clone());
    let mut arguments = json!({"vehicle_id": vehicle, "customer_id": customer});
    arguments.as_object_mut().unwrap().extend(terms.as_object().unwrap().clone());
    let deal = desk.call_ok(all, "deals.create", arguments);
    for name in ["selling_price", "fees", "taxes", "totals", "amount_financed", "monthly_payment", "payments"] {
        assert_eq!(quoted[name], deal[name], "{name}");
    }
}

#[test]
fn a_quote_for_no_vehicle_says_how_to_find_one() {
    let (desk, _) = desk_with_car(usd(2_000_000));
    let arguments = json!({"vehicle_id": "5YJ3E1EAXKF100004", "deal_type": "cash"});
    let said = |scopes: &str| {
        let (failed, answer) = desk.call(scopes, "deals.request_quote", arguments.clone());
        assert!(failed);
        assert_eq!(answer["error"]["code"], "inventory.not_found");
        answer["error"]["message"].as_str().unwrap().to_owned()
    };
    let recognised =
        "No vehicle with this id exists here. What was sent looks like the vin of a vehicle, not like an id";
    assert_eq!(said("amcp:deals:read"), format!("{recognised}."));
    assert_eq!(said(SCOPES), format!("{recognised}; search by vin with inventory.search."));
}
