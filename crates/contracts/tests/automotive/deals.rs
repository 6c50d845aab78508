//! Deals from the first quote to the books: their figures, their vehicle, their customer, and what is refused.

use serde_json::{Value, json};

use super::support::TestDesk;

const SCOPES: &str = "amcp:deals:read amcp:deals:write amcp:inventory:read amcp:inventory:write amcp:leads:read";

struct Sale {
    desk: TestDesk,
    vehicle: Value,
    customer: Value,
}

/// A dealership with a car for 20,000.00 USD. Its table has a document fee of 175.00 and a sales tax of 8 percent on the
/// price and that fee, less the trade.
fn sale() -> Sale {
    let desk = TestDesk::open();
    let vehicle = desk.call_ok(
        SCOPES,
        "inventory.create",
        json!({
            "vin": "5YJ3E1EAXKF100004",
            "stock_number": "T-100",
            "condition": "used",
            "year": 2019,
            "make": "Tesla",
            "model": "Model 3",
            "mileage": {"value": 30100, "unit": "mi"},
            "price": {"amount": 2_000_000, "currency": "USD"},
        }),
    );
    let customers = desk.call_ok(SCOPES, "customers.list", json!({"limit": 1}));
    Sale { vehicle: vehicle["id"].clone(), customer: customers["items"][0]["id"].clone(), desk }
}

fn usd(amount: i64) -> Value {
    json!({"amount": amount, "currency": "USD"})
}

impl Sale {
    fn terms(&self, changes: Value) -> Value {
        let mut arguments = json!({"deal_type": "cash", "customer_id": self.customer, "vehicle_id": self.vehicle});
        arguments.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        arguments
    }

    fn create(&self, changes: Value) -> Value {
        self.desk.call_ok(SCOPES, "deals.create", self.terms(changes))
    }

    fn update(&self, deal: &Value, changes: Value) -> Value {
        self.desk.call_ok(SCOPES, "deals.update", with_id(deal, changes))
    }

    fn cancel(&self, deal: &Value) -> Value {
        self.desk.call_ok(SCOPES, "deals.cancel_deal", json!({"id": deal["id"], "reason": "price"}))
    }

    fn vehicle(&self) -> Value {
        self.desk.call_ok(SCOPES, "inventory.get", json!({"id": self.vehicle}))
    }

    fn latest_sale(&self) -> Value {
        self.desk.call_ok(SCOPES, "customers.get", json!({"id": self.customer}))["latest_sale"].clone()
    }

    /// Code and message of a call that must fail.
    fn refused(&self, tool: &str, arguments: Value) -> (String, String) {
        let (failed, answer) = self.desk.call(SCOPES, tool, arguments);
        assert!(failed, "{answer}");
        let text = |name: &str| answer["error"][name].as_str().unwrap().to_owned();
        (text("code"), text("message"))
    }

    /// Pointers and reasons of arguments that must be refused.
    fn problems(&self, tool: &str, arguments: Value) -> Vec<(String, String)> {
        let (failed, answer) = self.desk.call(SCOPES, tool, arguments);
        assert!(failed, "{answer}");
        let problem = |problem: &Value| {
            let text = |name: &str| problem[name].as_str().unwrap().to_owned();
            (text("pointer"), text("expected"))
        };
        answer["error"]["details"]["errors"].as_array().unwrap().iter().map(problem).collect()
    }
}

fn with_id(deal: &Value, changes: Value) -> Value {
    let mut arguments = json!({"id": deal["id"]});
    arguments.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    arguments
}

fn problem(pointer: &str, expected: &str) -> (String, String) {
    (pointer.to_owned(), expected.to_owned())
}

#[test]
fn a_new_deal_has_figures_of_the_dealerships_own_table() {
    let sale = sale();
    let deal = sale.create(json!({"deal_number": "D-7", "salesperson_id": "emp_01"}));
    assert_eq!(
        deal,
        json!({
            "id": deal["id"],
            "type": "deal",
            "dealership_id": "dlr_lakeside",
            "deal_number": "D-7",
            "status": "quote",
            "deal_type": "cash",
            "customer_id": sale.customer,
            "vehicle_id": sale.vehicle,
            "salesperson_id": "emp_01",
            "selling_price": usd(2_000_000),
            "fees": [
                {"code": "DOC", "name": "Document fee", "amount": usd(17_500)},
                {"code": "TITLE", "name": "Title fee", "amount": usd(5_000)},
            ],
            "taxes": [{"code": "SALES", "name": "Sales tax", "amount": usd(161_400)}],
            "incentives": [],
            "trades": [],
            "payments": [],
            "totals": {
                "fees": usd(22_500),
                "taxes": usd(161_400),
                "incentives": usd(0),
                "trade_allowance": usd(0),
                "trade_payoff": usd(0),
                "total_price": usd(2_183_900),
                "amount_due": usd(2_183_900),
            },
            "financing_status": "not_required",
            "created_at": "2026-01-31T09:30:00Z",
            "updated_at": "2026-01-31T09:30:00Z",
            "version": 1,
        })
    );
    assert_eq!(sale.desk.call_ok(SCOPES, "deals.get", json!({"id": deal["id"]})), deal);
    let listed = sale.desk.call_ok(SCOPES, "deals.list", json!({"deal_number": "D-7"}));
    assert_eq!(listed["items"], json!([deal]));
}

#[test]
fn totals_from_a_caller_are_unknown_arguments() {
    let sale = sale();
    for (name, value) in [("totals", json!({})), ("monthly_payment", usd(1)), ("taxes", json!([]))] {
        let arguments = sale.terms(json!({name: value}));
        assert_eq!(sale.refused("deals.create", arguments).0, "request.invalid", "{name}");
    }
}

#[test]
fn terms_are_computed_again_while_the_deal_is_open() {
    let sale = sale();
    let deal = sale.create(json!({}));
    let changed = sale.update(
        &deal,
        json!({
            "deal_type": "retail_finance",
            "selling_price": usd(1_900_000),
            "incentives": [{"name": "Loyalty", "amount": usd(50_000)}],
            "trades": [{"make": "Honda", "model": "Fit", "year": 2012, "allowance": usd(300_000), "payoff": usd(100_000)}],
            "down_payment": usd(200_000),
            "term_months": 60,
            "apr_basis_points": 599,
        }),
    );
    assert_eq!(changed["taxes"][0]["amount"], usd(129_400)); // 8 percent of 19,000.00 - 3,000.00 + 175.00
    assert_eq!(changed["amount_financed"], usd(1_601_900));
    assert_eq!(changed["monthly_payment"], usd(30_962));
    assert_eq!(changed["payments"], json!([{"count": 59, "amount": usd(30_962)}, {"count": 1, "amount": usd(30_949)}]));
    assert_eq!(changed["totals"]["total_of_payments"], usd(30_962 * 59 + 30_949));
    assert_eq!(changed["totals"]["finance_charge"], usd(30_962 * 59 + 30_949 - 1_601_900));
}

#[test]
fn everything_wrong_with_the_terms_is_said_at_once() {
    let sale = sale();
    let arguments = sale.terms(json!({
        "deal_type": "lease",
        "apr_basis_points": 500,
        "down_payment": {"amount": 1, "currency": "EUR"},
        "trades": [{"make": "A", "model": "B", "year": 2010, "vin": "X", "allowance": {"amount": 1, "currency": "EUR"}}],
    }));
    assert_eq!(
        sale.problems("deals.create", arguments),
        [
            problem("/trades/0/allowance/currency", "the currency of the selling price is expected"),
            problem("/down_payment/currency", "the currency of the selling price is expected"),
            problem("/trades/0/vin", "a VIN has 17 characters, not 1"),
            problem("/term_months", "this type of deal needs it"),
            problem("/apr_basis_points", "not a term of this type of deal"),
            problem("/money_factor", "this type of deal needs it"),
            problem("/residual", "this type of deal needs it"),
        ]
    );
    let cash = sale.terms(json!({"term_months": 12, "salesperson_id": "emp_01"}));
    let expected = "this type of deal is paid at once; leave it out";
    assert_eq!(sale.problems("deals.create", cash), [problem("/term_months", expected)]);
    let by_name = sale.terms(json!({"salesperson_id": "Dana Whitfield"}));
    let expected = "only letters A to Z, digits, _ and - are allowed";
    assert_eq!(sale.problems("deals.create", by_name), [problem("/salesperson_id", expected)]);
    let paid = sale.terms(json!({"deal_type": "retail_finance", "term_months": 12, "apr_basis_points": 0, "down_payment": usd(9_000_000)}));
    let expected = "nothing is left to pay in instalments: choose cash, or lower down_payment, incentives or trades";
    assert_eq!(sale.problems("deals.create", paid), [problem("/deal_type", expected)]);
    let residual =
        sale.terms(json!({"deal_type": "lease", "term_months": 12, "money_factor": 100, "residual": usd(9_000_000)}));
    assert_eq!(sale.problems("deals.create", residual), [problem("/residual", "it must not exceed what is financed")]);
    let most = sale.terms(json!({"selling_price": usd(9_007_199_254_740_991)}));
    assert_eq!(
        sale.problems("deals.create", most),
        [problem("/selling_price/amount", "the amounts add up to too much")]
    );
}

#[test]
fn a_trade_worth_more_than_the_car_gives_money_back() {
    let sale = sale();
    let trade = json!({"make": "BMW", "model": "X5", "year": 2022, "allowance": usd(4_000_000)});
    let deal = sale.create(json!({"trades": [trade]}));
    let totals = &deal["totals"];
    assert_eq!((&totals["amount_due"], &totals["due_to_customer"]), (&usd(0), &usd(1_976_100)));
}

#[test]
fn the_vehicle_and_the_customer_follow_the_deal() {
    let sale = sale();
    let before = sale.latest_sale();
    let deal = sale.create(json!({}));
    assert_eq!(sale.vehicle()["status"], "available");
    sale.update(&deal, json!({"status": "accepted"}));
    let reserved = sale.vehicle();
    assert_eq!(reserved["status"], "reserved");
    assert_eq!(reserved["held_by"], json!({"deal_id": deal["id"], "status_before": "available"}));
    let delivered = sale.update(&deal, json!({"status": "delivered"}));
    assert_eq!(delivered["closed_at"], "2026-01-31T09:30:00Z");
    assert_eq!(sale.vehicle()["status"], "sold");
    assert_eq!(sale.latest_sale(), json!({"id": deal["id"], "closed_at": "2026-01-31T09:30:00Z"}));
    assert_eq!(
        sale.desk.events(),
        [
            "vehicle created",
            "deal created",
            "deal updated",
            "vehicle updated",
            "deal updated",
            "vehicle updated",
            "customer updated",
        ]
    );
    let reversed = sale.cancel(&deal);
    assert_eq!((&reversed["status"], &reversed["cancel_reason"]), (&json!("reversed"), &json!("price")));
    let back = sale.vehicle();
    assert_eq!((&back["status"], back.get("held_by")), (&json!("on_hold"), None));
    // Sales before this one are in another system, so there is none to go back to here.
    assert_ne!(sale.latest_sale(), json!({"id": deal["id"], "closed_at": "2026-01-31T09:30:00Z"}));
    assert!(sale.latest_sale().is_null() || sale.latest_sale() == before);
}

#[test]
fn a_reversed_sale_gives_way_to_the_one_before() {
    let sale = sale();
    let first = sale.create(json!({}));
    sale.update(&first, json!({"status": "accepted"}));
    sale.update(&first, json!({"status": "delivered"}));
    let free = sale.desk.call_ok(SCOPES, "inventory.list", json!({"status": "available", "limit": 1}));
    let second = sale.create(json!({"vehicle_id": free["items"][0]["id"]}));
    sale.update(&second, json!({"status": "accepted"}));
    sale.update(&second, json!({"status": "delivered"}));
    assert_eq!(sale.latest_sale()["id"], second["id"]);
    sale.cancel(&second);
    assert_eq!(sale.latest_sale()["id"], first["id"]);
}

#[test]
fn a_cancelled_deal_releases_its_vehicle() {
    let sale = sale();
    let in_transit = json!({"id": sale.vehicle, "status": "in_transit"});
    sale.desk.call_ok(SCOPES, "inventory.update", in_transit);
    let deal = sale.create(json!({}));
    sale.update(&deal, json!({"status": "accepted"}));
    assert_eq!(sale.cancel(&deal)["status"], "abandoned");
    let released = sale.vehicle();
    assert_eq!((&released["status"], released.get("held_by")), (&json!("in_transit"), None));
    assert_eq!(
        sale.refused("deals.cancel_deal", json!({"id": deal["id"], "reason": "price"})),
        (
            "deals.invalid_transition".to_owned(),
            "The deal is cancelled already. Make a new one with deals.create.".to_owned()
        )
    );
}

#[test]
fn two_deals_cannot_sell_one_vehicle() {
    let sale = sale();
    let (first, second) = (sale.create(json!({})), sale.create(json!({})));
    sale.update(&first, json!({"status": "accepted"}));
    let another = "Another deal has this vehicle. Find another one with inventory.search and status available.";
    let unavailable = |message: &str| ("inventory.vehicle_unavailable".to_owned(), message.to_owned());
    assert_eq!(sale.refused("deals.update", with_id(&second, json!({"status": "accepted"}))), unavailable(another));
    assert_eq!(sale.refused("deals.create", sale.terms(json!({}))), unavailable(another));
    sale.update(&first, json!({"status": "delivered"}));
    let sold = "This vehicle is sold. Find another one with inventory.search and status available.";
    assert_eq!(sale.refused("deals.update", with_id(&second, json!({"status": "accepted"}))), unavailable(sold));
    let quote = json!({"vehicle_id": sale.vehicle, "deal_type": "cash"});
    assert_eq!(sale.refused("deals.request_quote", quote), unavailable(sold));
}

#[test]
fn a_vehicle_that_a_deal_has_changes_its_status_with_the_deal() {
    let sale = sale();
    let deal = sale.create(json!({}));
    sale.update(&deal, json!({"status": "accepted"}));
    let offer = json!({"id": sale.vehicle, "status": "available"});
    assert_eq!(
        sale.refused("inventory.update", offer),
        (
            "inventory.held_by_deal".to_owned(),
            "A deal has this vehicle and decides its status. Change the deal that held_by names, or cancel it with \
             deals.cancel_deal."
                .to_owned()
        )
    );
    // Everything else of it can change.
    sale.desk.call_ok(SCOPES, "inventory.update", json!({"id": sale.vehicle, "trim": "Long Range"}));
}

#[test]
fn accepted_terms_are_frozen_until_the_deal_is_reopened() {
    let sale = sale();
    let deal = sale.create(json!({}));
    sale.update(&deal, json!({"status": "accepted"}));
    let cheaper = json!({"selling_price": usd(1_900_000)});
    assert_eq!(
        sale.refused("deals.update", with_id(&deal, cheaper.clone())),
        (
            "deals.terms_frozen".to_owned(),
            "The terms of an accepted deal cannot change. Set status desking first, which releases the vehicle, or cancel \
             the deal with deals.cancel_deal."
                .to_owned()
        )
    );
    sale.update(&deal, json!({"financing_status": "approved"}));
    sale.update(&deal, json!({"status": "desking"}));
    assert_eq!(sale.vehicle()["status"], "available");
    assert_eq!(sale.update(&deal, cheaper)["selling_price"], usd(1_900_000));
    sale.update(&deal, json!({"status": "accepted"}));
    assert_eq!(sale.vehicle()["status"], "reserved");
}

#[test]
fn a_status_that_cannot_follow_is_refused_with_those_that_can() {
    let sale = sale();
    let deal = sale.create(json!({}));
    let refused = |status: &str| sale.refused("deals.update", with_id(&deal, json!({"status": status})));
    assert_eq!(
        refused("delivered"),
        (
            "deals.invalid_transition".to_owned(),
            "Status quote can become desking, pending_finance, accepted, abandoned.".to_owned()
        )
    );
    assert_eq!(
        sale.problems("deals.update", with_id(&deal, json!({"status": "abandoned"}))),
        [problem("/status", "a deal is called off with deals.cancel_deal, which also says why")]
    );
    sale.update(&deal, json!({"quote_expires_at": "2026-01-31T09:29:59Z"}));
    assert_eq!(
        refused("accepted"),
        (
            "deals.quote_expired".to_owned(),
            "These figures were offered until quote_expires_at, which is over. Ask the dealership, and send a new \
             quote_expires_at."
                .to_owned()
        )
    );
}

#[test]
fn a_sale_is_not_reversed_while_the_car_is_here_again() {
    let sale = sale();
    let deal = sale.create(json!({}));
    sale.update(&deal, json!({"status": "accepted"}));
    sale.update(&deal, json!({"status": "delivered"}));
    let back = json!({
        "vin": "5YJ3E1EAXKF100004", "stock_number": "T-200", "condition": "used", "year": 2019, "make": "Tesla",
        "model": "Model 3", "mileage": {"value": 31000, "unit": "mi"}, "price": usd(1_800_000),
    });
    sale.desk.call_ok(SCOPES, "inventory.create", back);
    let before = sale.desk.stored_data();
    assert_eq!(
        sale.refused("deals.cancel_deal", json!({"id": deal["id"], "reason": "returned"})),
        (
            "inventory.duplicate".to_owned(),
            "The car of this deal is in stock again as another unit, so it cannot come back twice. Give that unit status \
             sold or wholesale with inventory.update, then cancel again."
                .to_owned()
        )
    );
    assert_eq!(sale.desk.stored_data(), before);
}

#[test]
fn a_deal_number_is_given_once() {
    let sale = sale();
    sale.create(json!({"deal_number": "D-7"}));
    let again = sale.terms(json!({"deal_number": "D-7"}));
    assert_eq!(
        sale.refused("deals.create", again),
        (
            "deals.duplicate".to_owned(),
            "A deal with this deal_number exists already. Find that one and change it.".to_owned()
        )
    );
    let own = sale.create(json!({}));
    let id = own["id"].as_str().unwrap();
    assert_eq!(own["deal_number"], format!("D-{}", id[id.len() - 10..].to_ascii_uppercase()));
}

/// A3-09: an id of another dealership is answered like one that does not exist.
#[test]
fn a3_09_references_of_another_dealership_do_not_exist() {
    let sale = sale();
    let other = |tool: &str| {
        let arguments = json!({"dealership_id": "dlr_summit", "limit": 1});
        let (_, list) = sale.desk.call_as(&format!("dlr_summit/{SCOPES}"), tool, arguments);
        list["items"][0]["id"].clone()
    };
    let unknown = |noun: &str, prefix: &str, finder: &str| {
        format!(
            "No {noun} with this id exists here. An id looks like {prefix}_01jc3v8q6g2m4n7p9r5s0t1w8x; no other number of a \
             {noun} is one. Find it with {finder}."
        )
    };
    let references = [
        ("vehicle_id", "inventory.not_found", "inventory.list", unknown("vehicle", "veh", "inventory.search")),
        ("customer_id", "customers.not_found", "customers.list", unknown("customer", "cus", "customers.search")),
        ("co_buyer_id", "customers.not_found", "customers.list", unknown("customer", "cus", "customers.search")),
        ("lead_id", "leads.not_found", "leads.list", unknown("lead", "led", "leads.search")),
    ];
    for (name, code, tool, message) in references {
        for id in [other(tool), json!("none_01jc3v8q6g2m4n7p9r5s0t1w8x")] {
            let refused = sale.refused("deals.create", sale.terms(json!({name: id})));
            assert_eq!(refused, (code.to_owned(), message.clone()), "{name}");
        }
    }
    let trade = json!({"make": "A", "model": "B", "year": 2010, "allowance": usd(1), "trade_value_id": "trv_none"});
    let missing = ("deals.not_found".to_owned(), unknown("trade value", "trv", "deals.list_trade_values"));
    assert_eq!(sale.refused("deals.create", sale.terms(json!({"trades": [trade]}))), missing);
    let quote = json!({"vehicle_id": sale.vehicle, "deal_type": "cash", "trades": [trade]});
    assert_eq!(sale.refused("deals.request_quote", quote), missing);
    let theirs = other("deals.list");
    for id in [theirs, json!("dea_none")] {
        for (tool, arguments) in [
            ("deals.get", json!({"id": id})),
            ("deals.update", json!({"id": id, "status": "desking"})),
            ("deals.cancel_deal", json!({"id": id, "reason": "price"})),
        ] {
            let missing = ("deals.not_found".to_owned(), unknown("deal", "dea", "deals.list"));
            assert_eq!(sale.refused(tool, arguments), missing, "{tool}");
        }
    }
}

#[test]
fn who_may_not_read_deals_gets_a_receipt() {
    let sale = sale();
    let receipt = sale.desk.call_ok("amcp:deals:write", "deals.create", sale.terms(json!({"deal_number": "D-9"})));
    assert_eq!((&receipt["deal_number"], &receipt["status"]), (&json!("D-9"), &json!("quote")));
    assert_eq!((receipt.get("selling_price"), receipt.get("totals")), (None, None));
}

#[test]
fn demo_deals_agree_with_vehicles_and_customers() {
    let desk = TestDesk::open();
    for dealership in ["dlr_lakeside", "dlr_summit"] {
        let call = |tool: &str, arguments: Value| desk.call_as(&format!("{dealership}/{SCOPES}"), tool, arguments).1;
        let deals = call("deals.list", json!({"limit": 100}));
        let deals = deals["items"].as_array().unwrap();
        assert!(deals.len() >= 8, "{dealership}: {}", deals.len());
        for deal in deals {
            let vehicle = call("inventory.get", json!({"id": deal["vehicle_id"]}));
            let held = vehicle.pointer("/held_by/deal_id") == Some(&deal["id"]);
            let expected = match deal["status"].as_str().unwrap() {
                "delivered" | "funded" | "posted" => (true, "sold"),
                "accepted" => (true, "reserved"),
                _ => (false, vehicle["status"].as_str().unwrap()),
            };
            assert_eq!((held, vehicle["status"].as_str().unwrap()), expected, "{deal}");
            if let Some(closed_at) = deal.get("closed_at") {
                let customer = call("customers.get", json!({"id": deal["customer_id"]}));
                assert!(customer["latest_sale"]["closed_at"].as_str() >= closed_at.as_str(), "{customer}");
            }
        }
    }
}
