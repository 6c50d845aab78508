//! A dealership's day over HTTPS, through every tool of stock, leads, customers, consent, deals, service and parts, with what is
//! refused on the way. It is the same on both databases.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use frontdesk_testkit::app::{TestAgent, TestApp};
use frontdesk_testkit::databases::PostgresDatabase;

#[tokio::test]
async fn a_dealerships_day_on_sqlite() {
    whole_day(TestApp::start()).await;
}

#[tokio::test]
async fn a_dealerships_day_on_postgres() {
    let database = PostgresDatabase::create();
    whole_day(TestApp::start_with(&[("FRONTDESK_DATABASE", &database.url())])).await;
}

const DOMAINS: [&str; 7] = ["inventory", "leads", "customers", "consent", "deals", "service", "parts"];

async fn whole_day(desk: TestApp) {
    let mut day = Day { agent: desk.agent().await, called: BTreeSet::new() };
    let car = day.stock().await;
    let (customer, lead) = day.leads(&car).await;
    day.consent(&customer, &lead).await;
    day.sale(&car, &customer, &lead).await;
    day.workshop(&customer).await;
    day.parts(&customer).await;
    let tools = day.agent.result("tools/list", json!({})).await;
    let names = tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
    let of_day = |name: &String| DOMAINS.contains(&name.split('.').next().unwrap());
    assert_eq!(names.filter(of_day).collect::<BTreeSet<String>>(), day.called, "every tool was called");
    let (code, out, errors) = desk.command(&["audit", "verify"]);
    assert_eq!(code, Some(0), "{out}{errors}");
}

struct Day {
    agent: TestAgent,
    /// The tools that have answered a call.
    called: BTreeSet<String>,
}

fn usd(amount: i64) -> Value {
    json!({"amount": amount, "currency": "USD"})
}

impl Day {
    async fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.agent.call(tool, arguments).await;
        assert!(answer.get("error").is_none(), "{tool}: {answer}");
        self.called.insert(tool.to_owned());
        answer
    }

    async fn refused(&mut self, tool: &str, arguments: Value, code: &str) {
        assert_eq!(self.agent.code(tool, arguments).await, code, "{tool}");
    }

    /// The list has this record, and so has the tool that reads one.
    async fn listed(&mut self, list: &str, get: &str, filter: Value, id: &Value) -> Value {
        let items = self.ok(list, filter).await["items"].clone();
        assert!(items.as_array().unwrap().iter().any(|item| item["id"] == *id), "{list}: {items}");
        self.ok(get, json!({"id": id})).await
    }

    /// A car that comes into stock; also three others, alike.
    async fn stock(&mut self) -> Value {
        let car = |vin: &str, number: &str| {
            json!({"vin": vin, "stock_number": number, "condition": "used", "year": 2021, "make": "Lada",
                "model": "Samara", "mileage": {"value": 30_000, "unit": "km"}, "price": usd(900_000)})
        };
        for number in 1..=3 {
            let other = car(&format!("XTA2109906300000{number}"), &format!("DAY-{number}"));
            self.ok("inventory.create", other).await;
        }
        let made = self.ok("inventory.create", car("XTA21099063000009", "DAY-9")).await;
        self.refused("inventory.create", car("XTA21099063000009", "DAY-10"), "inventory.duplicate").await;
        let id = made["id"].clone();
        let cheaper = self.ok("inventory.update", json!({"id": id, "price": usd(880_000)})).await;
        assert_eq!(cheaper["price_history"].as_array().unwrap().len(), 2);
        let found = self.listed("inventory.search", "inventory.get", json!({"stock_number": "DAY-9"}), &id).await;
        assert_eq!(found["price"], usd(880_000));
        self.listed("inventory.list", "inventory.get", json!({"limit": 5}), &id).await;
        let message = self.agent.call("inventory.get", json!({"id": "DAY-9"})).await["error"]["message"].clone();
        assert_eq!(
            message,
            "No vehicle with this id exists here. What was sent is the stock number of a vehicle, not an id; search by \
             stock_number with inventory.search."
        );
        id
    }

    /// Somebody becomes a customer, and a lead about the car.
    async fn leads(&mut self, car: &Value) -> (Value, Value) {
        let consent = json!({"granted": true, "channels": ["email", "sms"]});
        let contact = json!({"name": "Quentin Zaphod", "email": "q.zaphod@example.com", "phone": "+15125550177"});
        let person = json!({"primary_contact": contact, "consent": consent, "dms_customer_number": "DMS-77"});
        let customer = self.ok("customers.create", person.clone()).await["id"].clone();
        self.refused("customers.create", person, "customers.duplicate").await;
        let by_name = json!({"name": "zaphod"});
        self.listed("customers.search", "customers.get", by_name.clone(), &customer).await;
        self.listed("customers.list", "customers.get", by_name, &customer).await;
        self.ok("customers.update", json!({"id": customer, "language": "es-US"})).await;

        let interest = json!({"contact": contact, "interest": "buy", "customer_id": customer, "vehicle_id": car,
            "consent": consent});
        let lead = self.ok("leads.create", interest.clone()).await["id"].clone();
        let again = self.ok("leads.create", interest).await;
        assert_eq!(again["duplicate_of"], lead);
        self.ok("leads.update", json!({"id": again["id"], "status": "duplicate"})).await;
        self.ok("leads.update", json!({"id": lead, "status": "negotiating"})).await;
        self.refused("leads.update", json!({"id": lead, "status": "new"}), "leads.invalid_transition").await;
        self.refused("leads.update", json!({"id": lead, "status": "lost"}), "leads.lost_reason_required").await;
        let no_consent = json!({"contact": {"name": "No", "email": "no@example.com"}, "interest": "buy"});
        self.refused("leads.create", no_consent, "consent.required").await;
        let email = json!({"email": "Q.Zaphod@Example.com"});
        self.listed("leads.list", "leads.get", email.clone(), &lead).await;
        self.listed("leads.search", "leads.get", email, &lead).await;
        (customer, lead)
    }

    /// They agree to more, and withdraw it.
    async fn consent(&mut self, customer: &Value, lead: &Value) {
        let check = |purpose: &str| json!({"customer_id": customer, "channel": "sms", "purpose": purpose});
        let asked = json!({"customer_id": customer, "status": "pending", "channels": ["sms"], "purpose": "marketing"});
        let pending = self.ok("consent.create", asked).await["id"].clone();
        assert_eq!(self.ok("consent.check", check("marketing")).await["reason"], "pending");
        self.ok("consent.update", json!({"id": pending, "status": "granted"})).await;
        assert_eq!(self.ok("consent.check", check("marketing")).await["allowed"], true);
        self.ok("consent.update", json!({"id": pending, "status": "withdrawn"})).await;
        let checked = self.ok("consent.check", check("marketing")).await;
        assert_eq!((&checked["allowed"], &checked["reason"]), (&json!(false), &json!("withdrawn")));
        assert_eq!(self.ok("consent.check", check("lead_follow_up")).await["allowed"], true);
        let withdrawn = json!([{"channel": "sms", "purposes": ["marketing"]}]);
        assert_eq!(self.ok("leads.get", json!({"id": lead})).await["do_not_contact"], withdrawn);
        let back = json!({"id": pending, "status": "granted"});
        self.refused("consent.update", back, "consent.invalid_transition").await;
        let old = json!({"customer_id": customer, "status": "granted", "channels": ["sms"], "purpose": "marketing",
            "granted_at": "2020-01-01T00:00:00Z"});
        self.refused("consent.create", old, "consent.withdrawn").await;
        let shown = self.listed("consent.list", "consent.get", json!({"customer_id": customer}), &pending).await;
        let statuses = shown["revisions"].as_array().unwrap().iter().map(|revision| revision["status"].clone());
        assert_eq!(statuses.collect::<Vec<Value>>(), ["pending", "granted", "withdrawn"]);
    }

    /// The car is quoted, dealt and delivered.
    async fn sale(&mut self, car: &Value, customer: &Value, lead: &Value) {
        let fee = self.ok("deals.list_fees", json!({"limit": 1})).await["items"][0]["id"].clone();
        self.ok("deals.get_fee", json!({"id": fee})).await;
        let trade = |model: &str| {
            json!({"make": "Lada", "model": model, "year": 2021, "mileage": {"value": 31_000, "unit": "km"},
                "condition": "good"})
        };
        self.refused("deals.request_trade_value", trade("Niva"), "deals.trade_value_unavailable").await;
        let value = self.ok("deals.request_trade_value", trade("Samara")).await;
        assert!(value["comparables"].as_i64().unwrap() >= 3, "{value}");
        self.listed("deals.list_trade_values", "deals.get_trade_value", json!({"make": "lada"}), &value["id"]).await;

        let traded = json!({"make": "Lada", "model": "Samara", "year": 2021, "allowance": value["low"],
            "trade_value_id": value["id"]});
        let terms = json!({"vehicle_id": car, "deal_type": "retail_finance", "trades": [traded], "term_months": 48,
            "apr_basis_points": 599, "incentives": [{"name": "Day", "amount": usd(10_000)}]});
        let quote = self.ok("deals.request_quote", terms.clone()).await;
        let mut deal = terms;
        deal["customer_id"] = customer.clone();
        deal["lead_id"] = lead.clone();
        let made = self.ok("deals.create", deal.clone()).await;
        let rival = self.ok("deals.create", deal).await["id"].clone();
        assert_eq!((&made["totals"], &made["payments"]), (&quote["totals"], &quote["payments"]));
        let id = made["id"].clone();
        self.refused("deals.update", json!({"id": id, "status": "delivered"}), "deals.invalid_transition").await;
        self.ok("deals.update", json!({"id": id, "status": "accepted"})).await;
        assert_eq!(self.ok("inventory.get", json!({"id": car})).await["status"], "reserved");
        let accepted = json!({"id": rival, "status": "accepted"});
        self.refused("deals.update", accepted, "inventory.vehicle_unavailable").await;
        self.refused("deals.update", json!({"id": id, "term_months": 12}), "deals.terms_frozen").await;
        self.refused("inventory.update", json!({"id": car, "status": "available"}), "inventory.held_by_deal").await;

        self.ok("deals.update", json!({"id": id, "status": "delivered"})).await;
        assert_eq!(self.ok("inventory.get", json!({"id": car})).await["status"], "sold");
        assert_eq!(self.ok("leads.get", json!({"id": lead})).await["status"], "sold");
        let buyer = self.ok("customers.get", json!({"id": customer})).await;
        let spent = made["totals"]["total_price"]["amount"].as_i64().unwrap() - 10_000;
        assert_eq!((&buyer["latest_sale"]["id"], &buyer["lifetime_value"]), (&id, &usd(spent)));
        self.listed("deals.list", "deals.get", json!({"vehicle_id": car, "status": "delivered"}), &id).await;
        let cancel = json!({"id": rival, "reason": "vehicle_unavailable"});
        assert_eq!(self.ok("deals.cancel_deal", cancel.clone()).await["status"], "abandoned");
        self.refused("deals.cancel_deal", cancel, "deals.invalid_transition").await;
    }

    /// A slot fills up, somebody moves up from the waitlist, and a repair order is worked off.
    async fn workshop(&mut self, customer: &Value) {
        for (list, get) in [
            ("service.list_workshops", "service.get_workshop"),
            ("service.list_service_codes", "service.get_service_code"),
            ("service.list_advisors", "service.get_advisor"),
        ] {
            let id = self.ok(list, json!({"limit": 1})).await["items"][0]["id"].clone();
            self.ok(get, json!({"id": id})).await;
        }
        let free = json!({"service_codes": ["OIL"], "max_slots": 200});
        let slots = self.ok("service.check_availability", free).await["slots"].clone();
        let slot = slots.as_array().unwrap().iter().rev().find(|slot| slot["places_left"] == 3).unwrap().clone();
        let booking = |changes: Value| {
            let mut booking = json!({"vehicle": {"make": "Honda", "model": "Civic"}, "start": slot["start"],
                "service_codes": ["OIL"]});
            booking.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
            booking
        };
        let own = json!({"vin": "1HGCM82633A004352", "customer_id": customer});
        let first = self.ok("service.book_appointment", booking(own)).await["id"].clone();
        let second = self.ok("service.book_appointment", booking(json!({}))).await["id"].clone();
        self.ok("service.book_appointment", booking(json!({}))).await;
        let waiting = self.ok("service.book_appointment", booking(json!({}))).await;
        assert_eq!(waiting["status"], "waitlisted");
        let unwilling = booking(json!({"accept_waitlist": false}));
        self.refused("service.book_appointment", unwilling, "service.slot_unavailable").await;
        let unknown = booking(json!({"service_codes": ["NONE"]}));
        self.refused("service.book_appointment", unknown, "service.invalid_service_code").await;
        let day = json!({"start_min": slot["start"], "start_max": slot["start"], "sort": "start_asc", "limit": 100});
        self.listed("service.list_appointments", "service.get_appointment", day, &first).await;
        self.ok("service.update_appointment", json!({"id": first, "status": "confirmed"})).await;
        self.ok("service.cancel_appointment", json!({"id": second, "cancel_reason": "Ill"})).await;
        let moved = self.ok("service.get_appointment", json!({"id": waiting["id"]})).await;
        assert_eq!((&moved["status"], moved.get("moved_up_at").is_some()), (&json!("booked"), true));

        let order = json!({"ro_number": "DAY-RO", "appointment_id": first, "jobs": [{"line": 1, "op_code": "OIL",
            "pay_type": "customer", "status": "pending", "labor_total": usd(5_000)}]});
        let made = self.ok("service.create_repair_order", order.clone()).await;
        assert_eq!((&made["customer_id"], &made["vin"]), (customer, &json!("1HGCM82633A004352")));
        self.refused("service.create_repair_order", order, "service.duplicate").await;
        self.refused("service.cancel_appointment", json!({"id": first}), "service.invalid_transition").await;
        let id = made["id"].clone();
        let status = |status: &str| json!({"id": id, "status": status});
        self.refused("service.update_repair_order", status("closed"), "service.invalid_transition").await;
        self.ok("service.update_repair_order", status("in_progress")).await;
        self.refused("service.update_repair_order", status("ready_for_pickup"), "service.jobs_open").await;
        let done = json!([{"line": 1, "op_code": "OIL", "pay_type": "customer", "status": "completed",
            "labor_total": usd(5_000), "parts_total": usd(2_500)}]);
        let ready = json!({"id": id, "status": "ready_for_pickup", "jobs": done});
        assert_eq!(self.ok("service.update_repair_order", ready).await["total"], usd(7_500));
        self.ok("service.update_repair_order", status("invoiced")).await;
        self.ok("service.update_repair_order", status("closed")).await;
        self.refused("service.update_repair_order", status("open"), "service.finished").await;
        let by_number = json!({"ro_number": "DAY-RO"});
        self.listed("service.list_repair_orders", "service.get_repair_order", by_number, &id).await;
        assert_eq!(self.ok("service.get_appointment", json!({"id": first})).await["status"], "completed");
    }

    async fn parts(&mut self, customer: &Value) {
        let found = self.ok("parts.search", json!({"text": "motorcraft battery"})).await;
        let battery = found["items"][0].clone();
        self.listed("parts.list", "parts.get", json!({"availability": "backordered"}), &battery["id"]).await;
        let asked = json!({"part_numbers": ["15400-PLM-A01", "bxt65750"]});
        let parts = self.ok("parts.check_availability", asked).await["parts"].clone();
        assert_eq!(parts[0]["superseded_by"], json!(["15400-PLM-A02"]));
        assert_eq!((&parts[1]["availability"], &parts[1]["quantity_available"]), (&json!("backordered"), &json!(0)));

        let lines =
            json!([{"part_number": "15400-PLM-A01", "quantity": 2}, {"part_number": "BXT-65-750", "quantity": 1}]);
        self.refused("parts.create_order", json!({"lines": lines}), "parts.insufficient_stock").await;
        let unknown = json!({"lines": [{"part_number": "NONE", "quantity": 1}]});
        self.refused("parts.create_order", unknown, "parts.not_found").await;
        let order = json!({"lines": lines, "allow_backorder": true, "customer_id": customer, "order_number": "DAY-1"});
        let made = self.ok("parts.create_order", order.clone()).await;
        assert_eq!((&made["status"], &made["total"]), (&json!("backordered"), &usd(2 * 896 + 18_995 + 2_200)));
        self.refused("parts.create_order", order, "parts.duplicate").await;
        let id = made["id"].clone();
        let status = |status: &str| json!({"id": id, "status": status});
        self.refused("parts.update_order", status("received"), "parts.invalid_transition").await;
        let sent = self.ok("parts.update_order", status("partially_shipped")).await;
        assert_eq!(sent["lines"][0]["quantity_shipped"], 2);
        let left = self.ok("parts.cancel_order", json!({"id": id})).await;
        assert_eq!((&left["status"], &left["total"]), (&json!("cancelled"), &usd(2 * 896)));
        self.listed("parts.list_orders", "parts.get_order", json!({"order_number": "DAY-1"}), &id).await;
    }
}
