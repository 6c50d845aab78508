//! What a sale changes beside its vehicle: the lead that it came from, and what the customer has spent.

use serde_json::{Value, json};

use super::support::{ALL_SCOPES, TestDesk};

fn ok(desk: &TestDesk, tool: &str, arguments: Value) -> Value {
    desk.call_ok(ALL_SCOPES, tool, arguments)
}

fn get(desk: &TestDesk, tool: &str, id: &Value) -> Value {
    ok(desk, tool, json!({"id": id}))
}

fn usd(amount: i64) -> Value {
    json!({"amount": amount, "currency": "USD"})
}

/// A new customer.
fn customer(desk: &TestDesk) -> Value {
    ok(desk, "customers.create", json!({"primary_contact": {"name": "Uma Thorsen"}}))["id"].clone()
}

/// A lead of this customer, on which somebody works.
fn lead(desk: &TestDesk, customer: &Value) -> Value {
    let lead = json!({"contact": {"name": "Uma Thorsen", "email": "uma@example.com"}, "interest": "buy",
        "customer_id": customer, "consent": {"granted": true, "channels": ["email"]}});
    let id = ok(desk, "leads.create", lead)["id"].clone();
    ok(desk, "leads.update", json!({"id": id, "status": "negotiating"}));
    id
}

/// A cash deal of 10,000.00 less 500.00 about a car in stock.
fn deal(desk: &TestDesk, customer: &Value, lead: &Value, place: usize) -> Value {
    let cars = ok(desk, "inventory.list", json!({"status": "available", "limit": 10}));
    let terms = json!({"deal_type": "cash", "customer_id": customer, "lead_id": lead,
        "vehicle_id": cars["items"][place]["id"], "selling_price": usd(1_000_000),
        "incentives": [{"name": "Bonus", "amount": usd(50_000)}]});
    ok(desk, "deals.create", terms)
}

fn set(desk: &TestDesk, deal: &Value, status: &str) -> Value {
    ok(desk, "deals.update", json!({"id": deal["id"], "status": status}))
}

fn deliver(desk: &TestDesk, deal: &Value) {
    set(desk, deal, "accepted");
    set(desk, deal, "delivered");
}

fn cancel(desk: &TestDesk, deal: &Value) {
    ok(desk, "deals.cancel_deal", json!({"id": deal["id"], "reason": "returned"}));
}

#[test]
fn a_delivered_deal_sells_its_lead_and_adds_to_what_was_spent() {
    let desk = TestDesk::open();
    let customer = customer(&desk);
    let lead = lead(&desk, &customer);
    let deal = deal(&desk, &customer, &lead, 0);
    // 10,000.00, fees of 225.00, and 8 percent of the price and the document fee of 175.00.
    assert_eq!(deal["totals"]["total_price"], usd(1_103_900));
    set(&desk, &deal, "accepted");
    let before = get(&desk, "customers.get", &customer);
    assert_eq!((&before["latest_lead"]["status"], before.get("lifetime_value")), (&json!("negotiating"), None));

    set(&desk, &deal, "delivered");
    assert_eq!(get(&desk, "leads.get", &lead)["status"], "sold");
    let after = get(&desk, "customers.get", &customer);
    assert_eq!(after["latest_lead"], json!({"id": lead, "status": "sold"}));
    assert_eq!(after["lifetime_value"], usd(1_053_900));
    // One change of each row.
    assert_eq!(after["version"].as_i64().unwrap(), before["version"].as_i64().unwrap() + 1);
    let events = desk.events();
    assert_eq!(events[events.len() - 4..], ["deal updated", "vehicle updated", "lead updated", "customer updated"]);

    set(&desk, &deal, "funded");
    assert_eq!(get(&desk, "customers.get", &customer)["lifetime_value"], usd(1_053_900));
    cancel(&desk, &deal);
    assert_eq!(get(&desk, "leads.get", &lead)["status"], "working");
    let reversed = get(&desk, "customers.get", &customer);
    assert_eq!((&reversed["latest_lead"]["status"], &reversed["lifetime_value"]), (&json!("working"), &usd(0)));
}

#[test]
fn a_lead_with_two_sales_stays_sold_when_one_is_reversed() {
    let desk = TestDesk::open();
    let customer = customer(&desk);
    let lead = lead(&desk, &customer);
    let (first, second) = (deal(&desk, &customer, &lead, 0), deal(&desk, &customer, &lead, 1));
    deliver(&desk, &first);
    deliver(&desk, &second);
    assert_eq!(get(&desk, "customers.get", &customer)["lifetime_value"], usd(2 * 1_053_900));
    cancel(&desk, &second);
    assert_eq!(get(&desk, "leads.get", &lead)["status"], "sold");
    assert_eq!(get(&desk, "customers.get", &customer)["lifetime_value"], usd(1_053_900));
    cancel(&desk, &first);
    assert_eq!(get(&desk, "leads.get", &lead)["status"], "working");
}

#[test]
fn a_lead_that_was_given_up_stays_so() {
    let desk = TestDesk::open();
    let customer = customer(&desk);
    let lead = lead(&desk, &customer);
    let deal = deal(&desk, &customer, &lead, 0);
    ok(&desk, "leads.update", json!({"id": lead, "status": "lost", "lost_reason": "price"}));
    deliver(&desk, &deal);
    assert_eq!(get(&desk, "leads.get", &lead)["status"], "lost");
    cancel(&desk, &deal);
    assert_eq!(get(&desk, "leads.get", &lead)["status"], "lost");
}

#[test]
fn a_lead_of_another_customer_is_sold_in_their_record() {
    let desk = TestDesk::open();
    let (buyer, other) = (customer(&desk), customer(&desk));
    let lead = lead(&desk, &other);
    deliver(&desk, &deal(&desk, &buyer, &lead, 0));
    assert_eq!(get(&desk, "customers.get", &other)["latest_lead"], json!({"id": lead, "status": "sold"}));
    assert_eq!(get(&desk, "customers.get", &buyer).get("latest_lead"), None);
    assert_eq!(get(&desk, "customers.get", &buyer)["lifetime_value"], usd(1_053_900));
}

#[test]
fn amounts_in_another_currency_are_not_added_up() {
    let desk = TestDesk::open();
    let customer = customer(&desk);
    let euros = json!({"amount": 7, "currency": "EUR"});
    ok(&desk, "customers.update", json!({"id": customer, "lifetime_value": euros}));
    let lead = lead(&desk, &customer);
    deliver(&desk, &deal(&desk, &customer, &lead, 0));
    assert_eq!(get(&desk, "customers.get", &customer)["lifetime_value"], euros);
}

/// A rule that looks for the lead of a delivery does not spare it the check of every reference.
#[test]
fn a_lead_that_does_not_exist_is_refused_with_the_delivery() {
    let desk = TestDesk::open();
    let customer = customer(&desk);
    let lead = lead(&desk, &customer);
    let deal = deal(&desk, &customer, &lead, 0);
    set(&desk, &deal, "accepted");
    let arguments = json!({"id": deal["id"], "status": "delivered", "lead_id": "led_01jc3v8q6g2m4n7p9r5s0t1w8x"});
    assert_eq!(desk.error_code(ALL_SCOPES, "deals.update", arguments), "leads.not_found");
    assert_eq!(get(&desk, "deals.get", &deal["id"])["status"], "accepted");
}

#[test]
fn the_financing_of_a_deal_follows_its_type() {
    let desk = TestDesk::open();
    let customer = customer(&desk);
    let lead = lead(&desk, &customer);
    let deal = deal(&desk, &customer, &lead, 0);
    assert_eq!(deal["financing_status"], "not_required");
    let credit = json!({"id": deal["id"], "deal_type": "retail_finance", "term_months": 48, "apr_basis_points": 0});
    assert_eq!(ok(&desk, "deals.update", credit)["financing_status"], "not_submitted");
    let approved = ok(&desk, "deals.update", json!({"id": deal["id"], "financing_status": "approved"}));
    assert_eq!(approved["financing_status"], "approved");
    let longer = ok(&desk, "deals.update", json!({"id": deal["id"], "term_months": 60}));
    assert_eq!(longer["financing_status"], "approved");
    let cash = json!({"id": deal["id"], "deal_type": "cash", "term_months": null, "apr_basis_points": null});
    assert_eq!(ok(&desk, "deals.update", cash)["financing_status"], "not_required");
}
