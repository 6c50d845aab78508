//! Every code of docs/errors.md is provoked by a call: the table below has one for each, with what must be set up before.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use frontdesk_contracts::automotive::vehicle::Vehicle;
use frontdesk_contracts::automotive::{all_codes, resources};
use frontdesk_contracts::record::Stored;
use frontdesk_engine::model::incoming::{Credential, Incoming, RequestBody, Verb};
use frontdesk_engine::{Fault, FaultKind, Reply};
use frontdesk_testkit::memory_store::InjectedFault;
use serde_json::{Value, json};

use super::support::{ALL_SCOPES, TestDesk, incoming};

/// The call that is answered with the code.
type Provoke = fn(&mut TestDesk) -> Reply;

const TABLE: &[(&str, Provoke)] = &[
    ("auth.unauthorized", |desk| desk.serve(Incoming { credential: Credential::Missing, ..list() })),
    ("auth.insufficient_scope", |desk| send(desk, "amcp:inventory:read", "leads.list", json!({}))),
    ("auth.step_up_required", |desk| desk.serve(message_call("fni.list_credit_applications", json!({})))),
    ("rate_limited", |desk| {
        desk.desk.settings.calls.burst = 1;
        desk.serve(list());
        desk.serve(list())
    }),
    ("request.malformed", |desk| desk.serve(with_body("{"))),
    ("request.not_rpc", |desk| desk.serve(with_body("5"))),
    ("request.header_mismatch", |desk| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {}}}});
        let version = Some("2026-07-28".to_owned());
        let method_header = Some("tools/call".to_owned());
        desk.serve(Incoming { protocol_version: version, method_header, ..with_body(&body.to_string()) })
    }),
    ("request.wrong_version", |desk| {
        desk.serve(Incoming { protocol_version: Some("2099-01-01".to_owned()), ..list() })
    }),
    ("request.unknown_method", |desk| desk.serve(message("nothing/here", json!({})))),
    ("request.unknown_tool", |desk| call(desk, "nothing.here", json!({}))),
    ("request.invalid", |desk| call(desk, "inventory.list", json!({"limit": 0}))),
    ("request.invalid_cursor", |desk| call(desk, "inventory.list", json!({"cursor": "x"}))),
    ("request.idempotency_conflict", |desk| {
        desk.call_ok(ALL_SCOPES, "leads.create", lead(json!({"idempotency_key": "k"})));
        call(desk, "leads.create", lead(json!({"idempotency_key": "k", "interest": "lease"})))
    }),
    ("request.in_progress", |desk| {
        desk.store.inject(|faults| faults.unknown_commit = true);
        call(desk, "leads.create", lead(json!({"idempotency_key": "k"})))
    }),
    ("request.version_conflict", |desk| {
        let id = first(desk, "inventory.list")["id"].clone();
        call(desk, "inventory.update", json!({"id": id, "doors": 4, "expected_version": 99}))
    }),
    ("quota.exceeded", |desk| {
        desk.store.inject(|faults| faults.commits = InjectedFault::Full);
        call(desk, "leads.create", lead(json!({})))
    }),
    ("request.too_large", |desk| {
        desk.desk.settings.reply_bytes = 10;
        call(desk, "inventory.list", json!({}))
    }),
    ("request.wrong_media", |desk| refused_by_transport(desk, FaultKind::UnsupportedMediaType)),
    ("request.wrong_verb", |desk| desk.serve(Incoming { verb: Verb::Get, ..list() })),
    ("request.wrong_host", |desk| refused_by_transport(desk, FaultKind::HostNotAllowed)),
    ("request.cancelled", |desk| {
        desk.store.inject(|faults| faults.reads = InjectedFault::Hang);
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
        let (read, cancel) = (message_call("inventory.get", json!({"id": "veh_1"})), with_body(&cancel.to_string()));
        desk.serve_both(read, Duration::from_millis(20), cancel)
    }),
    ("request.not_found", |desk| {
        desk.serve(message("resources/read", json!({"uri": "amcp://dlr_lakeside/nothing/non_1"})))
    }),
    ("dealership.required", |desk| desk.serve(as_token("dlr_lakeside,dlr_summit", "inventory.list", json!({})))),
    ("dealership.forbidden", |desk| call(desk, "inventory.list", json!({"dealership_id": "dlr_summit"}))),
    ("internal.unavailable", |desk| {
        desk.store.inject(|faults| faults.reads = InjectedFault::Fail);
        call(desk, "inventory.get", json!({"id": "veh_1"}))
    }),
    ("internal.outcome_unknown", |desk| {
        desk.store.inject(|faults| faults.unknown_commit = true);
        call(desk, "leads.create", lead(json!({})))
    }),
    ("internal.error", |desk| {
        let id = first(desk, "inventory.list")["id"].as_str().unwrap().to_owned();
        let mut row = desk.store.row("dlr_lakeside", Vehicle::table(), &id).unwrap();
        row.body = "damaged".to_owned();
        desk.store.put("dlr_lakeside", Vehicle::table(), row);
        call(desk, "inventory.update", json!({"id": id, "doors": 4}))
    }),
    ("inventory.not_found", |desk| call(desk, "inventory.get", json!({"id": "none"}))),
    ("leads.not_found", |desk| call(desk, "leads.get", json!({"id": "none"}))),
    ("customers.not_found", |desk| call(desk, "customers.get", json!({"id": "none"}))),
    ("consent.not_found", |desk| call(desk, "consent.get", json!({"id": "none"}))),
    ("deals.not_found", |desk| call(desk, "deals.get", json!({"id": "none"}))),
    ("service.not_found", |desk| call(desk, "service.get_appointment", json!({"id": "none"}))),
    ("parts.not_found", |desk| call(desk, "parts.get", json!({"id": "none"}))),
    ("signals.not_found", |desk| call(desk, "signals.get", json!({"id": "none"}))),
    ("x_frontdesk.import_not_found", |desk| call(desk, "x_frontdesk.get_import", json!({"id": "none"}))),
    ("inventory.duplicate", |desk| {
        desk.call_ok(ALL_SCOPES, "inventory.create", vehicle());
        call(desk, "inventory.create", vehicle())
    }),
    ("inventory.invalid_transition", |desk| {
        let id = desk.call_ok(ALL_SCOPES, "inventory.create", vehicle())["id"].clone();
        desk.call_ok(ALL_SCOPES, "inventory.update", json!({"id": id, "status": "sold"}));
        call(desk, "inventory.update", json!({"id": id, "status": "available"}))
    }),
    ("inventory.held_by_deal", |desk| {
        let deal = deal(desk, json!({}));
        desk.call_ok(ALL_SCOPES, "deals.update", json!({"id": deal["id"], "status": "accepted"}));
        call(desk, "inventory.update", json!({"id": deal["vehicle_id"], "status": "available"}))
    }),
    ("consent.required", |desk| call(desk, "leads.create", lead(json!({"consent": null})))),
    ("consent.invalid", |desk| {
        call(desk, "leads.create", lead(json!({"consent": {"granted": true, "channels": ["sms"]}})))
    }),
    ("consent.withdrawn", |desk| {
        let withdrawn = json!({"status": "withdrawn", "channels": ["email"], "contact": {"email": "dana@example.com"}});
        desk.call_ok(ALL_SCOPES, "consent.create", withdrawn);
        let consent = json!({"granted": true, "channels": ["email"], "granted_at": "2026-01-01T00:00:00Z"});
        call(desk, "leads.create", lead(json!({"consent": consent})))
    }),
    ("leads.lost_reason_required", |desk| {
        let id = desk.call_ok(ALL_SCOPES, "leads.create", lead(json!({})))["id"].clone();
        call(desk, "leads.update", json!({"id": id, "status": "lost"}))
    }),
    ("leads.invalid_transition", |desk| {
        let id = desk.call_ok(ALL_SCOPES, "leads.create", lead(json!({})))["id"].clone();
        desk.call_ok(ALL_SCOPES, "leads.update", json!({"id": id, "status": "working"}));
        call(desk, "leads.update", json!({"id": id, "status": "new"}))
    }),
    ("customers.duplicate", |desk| {
        let person = json!({"primary_contact": {"name": "Dana Rivera"}, "dms_customer_number": "77"});
        desk.call_ok(ALL_SCOPES, "customers.create", person.clone());
        call(desk, "customers.create", person)
    }),
    ("consent.invalid_transition", |desk| {
        let id = desk.call_ok(ALL_SCOPES, "leads.create", lead(json!({})))["consent_id"].clone();
        call(desk, "consent.update", json!({"id": id, "status": "denied"}))
    }),
    ("deals.duplicate", |desk| {
        let made = deal(desk, json!({"deal_number": "D-7"}));
        let again = json!({"deal_type": "cash", "deal_number": "D-7", "customer_id": made["customer_id"],
            "vehicle_id": made["vehicle_id"]});
        call(desk, "deals.create", again)
    }),
    ("inventory.vehicle_unavailable", |desk| {
        let made = deal(desk, json!({}));
        desk.call_ok(ALL_SCOPES, "deals.update", json!({"id": made["id"], "status": "accepted"}));
        call(desk, "deals.request_quote", json!({"deal_type": "cash", "vehicle_id": made["vehicle_id"]}))
    }),
    ("deals.invalid_transition", |desk| {
        let id = deal(desk, json!({}))["id"].clone();
        call(desk, "deals.update", json!({"id": id, "status": "posted"}))
    }),
    ("deals.terms_frozen", |desk| {
        let id = deal(desk, json!({}))["id"].clone();
        desk.call_ok(ALL_SCOPES, "deals.update", json!({"id": id, "status": "accepted"}));
        call(desk, "deals.update", json!({"id": id, "co_buyer_id": null}))
    }),
    ("deals.quote_expired", |desk| {
        let id = deal(desk, json!({"quote_expires_at": "2026-01-31T09:30:01Z"}))["id"].clone();
        desk.clock.advance(2_000);
        call(desk, "deals.update", json!({"id": id, "status": "accepted"}))
    }),
    ("deals.trade_value_unavailable", |desk| {
        let car = json!({"make": "Nobody", "model": "None", "year": 2020, "mileage": {"value": 1, "unit": "mi"},
            "condition": "good"});
        call(desk, "deals.request_trade_value", car)
    }),
    ("service.slot_unavailable", |desk| {
        call(desk, "service.book_appointment", booking(json!({"start": "2026-02-10T03:00:00Z"})))
    }),
    ("service.invalid_service_code", |desk| {
        call(desk, "service.book_appointment", booking(json!({"service_codes": ["NONE"]})))
    }),
    ("service.duplicate", |desk| {
        desk.call_ok(ALL_SCOPES, "service.create_repair_order", order());
        call(desk, "service.create_repair_order", order())
    }),
    ("service.invalid_transition", |desk| {
        let id = desk.call_ok(ALL_SCOPES, "service.create_repair_order", order())["id"].clone();
        call(desk, "service.update_repair_order", json!({"id": id, "status": "closed"}))
    }),
    ("service.finished", |desk| {
        let id = desk.call_ok(ALL_SCOPES, "service.create_repair_order", order())["id"].clone();
        desk.call_ok(ALL_SCOPES, "service.update_repair_order", json!({"id": id, "status": "voided"}));
        call(desk, "service.update_repair_order", json!({"id": id, "tag_number": "1"}))
    }),
    ("service.jobs_open", |desk| {
        let id = desk.call_ok(ALL_SCOPES, "service.create_repair_order", order())["id"].clone();
        desk.call_ok(ALL_SCOPES, "service.update_repair_order", json!({"id": id, "status": "in_progress"}));
        call(desk, "service.update_repair_order", json!({"id": id, "status": "ready_for_pickup"}))
    }),
    ("parts.insufficient_stock", |desk| call(desk, "parts.create_order", part_order(10_000))),
    ("parts.invalid_transition", |desk| {
        let id = desk.call_ok(ALL_SCOPES, "parts.create_order", part_order(1))["id"].clone();
        call(desk, "parts.update_order", json!({"id": id, "status": "backordered"}))
    }),
    ("parts.duplicate", |desk| {
        desk.call_ok(ALL_SCOPES, "parts.create_order", part_order(1));
        call(desk, "parts.create_order", part_order(1))
    }),
    ("fni.not_found", |desk| call(desk, "fni.get_credit_application", json!({"id": "none"}))),
    ("fni.duplicate", |desk| {
        let deal = deal(desk, json!({}));
        let arguments =
            json!({"customer_id": deal["customer_id"], "deal_id": deal["id"], "applicant": {"name": "Dana"}});
        desk.call_ok(ALL_SCOPES, "fni.create_credit_application", arguments.clone());
        call(desk, "fni.create_credit_application", arguments)
    }),
    ("fni.invalid_transition", |desk| {
        let id = draft(desk);
        call(desk, "fni.update_credit_application", json!({"id": id, "status": "decisioned"}))
    }),
    ("fni.incomplete", |desk| {
        let id = draft(desk);
        call(desk, "fni.update_credit_application", json!({"id": id, "status": "submitted"}))
    }),
    ("fni.submitted", |desk| {
        let id = first(desk, "fni.list_credit_applications")["id"].clone();
        call(desk, "fni.update_credit_application", json!({"id": id, "ssn": "900-70-1234"}))
    }),
];

/// The id of a new credit application.
fn draft(desk: &TestDesk) -> Value {
    let customer = first(desk, "customers.list")["id"].clone();
    let arguments = json!({"customer_id": customer, "applicant": {"name": "Dana Rivera"}});
    desk.call_ok(ALL_SCOPES, "fni.create_credit_application", arguments)["id"].clone()
}

#[test]
fn every_code_is_provoked_by_a_call() {
    let known: Vec<&str> = all_codes(&resources()).iter().map(|spec| spec.code.0).collect();
    let provoked: BTreeSet<&str> = TABLE.iter().map(|(code, _)| *code).collect();
    assert_eq!(provoked, known.iter().copied().collect(), "the table has each code of the contract");
    assert_eq!(TABLE.len(), known.len(), "and each once");
    for (code, provoke) in TABLE {
        let reply = provoke(&mut TestDesk::open());
        assert_eq!(reply.code, Some(*code), "{}", String::from_utf8_lossy(&reply.body));
        // The protocol says itself what the data of this one is.
        if *code != "request.wrong_version" {
            assert_eq!(said_code(&reply).as_deref(), Some(*code));
        }
    }
}

/// The code as a caller reads it.
fn said_code(reply: &Reply) -> Option<String> {
    let body: Value = serde_json::from_slice(&reply.body).unwrap();
    let places = ["/result/structuredContent/error/code", "/error/data/error/code", "/error/code"];
    let mut codes = places.iter().filter_map(|place| body.pointer(place)?.as_str());
    codes.next().map(str::to_owned)
}

fn message(method: &str, params: Value) -> Incoming {
    incoming(&format!("dlr_lakeside/{ALL_SCOPES}"), method, params)
}

fn message_call(tool: &str, arguments: Value) -> Incoming {
    message("tools/call", json!({"name": tool, "arguments": arguments}))
}

fn list() -> Incoming {
    message_call("inventory.list", json!({"limit": 1}))
}

fn with_body(body: &str) -> Incoming {
    Incoming { body: RequestBody::from_bytes(body.to_owned()), ..list() }
}

/// As the transport hands over what it refuses.
fn refused_by_transport(desk: &TestDesk, kind: FaultKind) -> Reply {
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    desk.serve(Incoming { transport_fault: Some(Fault::new(kind, "Refused.")), address, ..list() })
}

fn as_token(tenants: &str, tool: &str, arguments: Value) -> Incoming {
    incoming(&format!("{tenants}/{ALL_SCOPES}"), "tools/call", json!({"name": tool, "arguments": arguments}))
}

fn send(desk: &TestDesk, scopes: &str, tool: &str, arguments: Value) -> Reply {
    desk.send(&desk.login_token(scopes), "tools/call", json!({"name": tool, "arguments": arguments}))
}

fn call(desk: &TestDesk, tool: &str, arguments: Value) -> Reply {
    send(desk, ALL_SCOPES, tool, arguments)
}

fn first(desk: &TestDesk, tool: &str) -> Value {
    desk.call_ok(ALL_SCOPES, tool, json!({"limit": 1}))["items"][0].clone()
}

/// The arguments with these changes; null takes one away.
fn changed(mut arguments: Value, changes: Value) -> Value {
    let members = arguments.as_object_mut().unwrap();
    members.extend(changes.as_object().unwrap().clone());
    members.retain(|_, value| !value.is_null());
    arguments
}

fn lead(changes: Value) -> Value {
    let lead = json!({"contact": {"name": "Dana Rivera", "email": "dana@example.com"}, "interest": "buy",
        "consent": {"granted": true, "channels": ["email"]}});
    changed(lead, changes)
}

fn vehicle() -> Value {
    json!({"vin": "5YJ3E1EAXKF100004", "stock_number": "T-100", "condition": "used", "year": 2019, "make": "Tesla",
        "model": "Model 3", "mileage": {"value": 30_100, "unit": "mi"},
        "price": {"amount": 2_000_000, "currency": "USD"}})
}

/// A deal about a car of its own.
fn deal(desk: &TestDesk, changes: Value) -> Value {
    let vehicle = desk.call_ok(ALL_SCOPES, "inventory.create", vehicle())["id"].clone();
    let terms = json!({"deal_type": "cash", "vehicle_id": vehicle, "customer_id": first(desk, "customers.list")["id"]});
    desk.call_ok(ALL_SCOPES, "deals.create", changed(terms, changes))
}

fn booking(changes: Value) -> Value {
    let booking = json!({"vehicle": {"make": "Honda", "model": "Civic"}, "start": "2026-02-10T14:00:00Z",
        "service_codes": ["OIL"]});
    changed(booking, changes)
}

fn order() -> Value {
    json!({"ro_number": "RO-1", "vin": "1HGCM82633A004352", "jobs": [{"line": 1, "op_code": "OIL",
        "pay_type": "customer", "status": "pending"}]})
}

fn part_order(quantity: i64) -> Value {
    json!({"order_number": "P-1", "lines": [{"part_number": "15400-PLM-A02", "quantity": quantity}]})
}
