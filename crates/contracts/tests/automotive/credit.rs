//! Credit applications: from a draft to what lenders decide, what is never shown again, and what a deal shows of it.

use frontdesk_contracts::automotive::fni::application::CreditApplication;
use frontdesk_contracts::record::Stored as _;
use frontdesk_engine::import::{RowResult, RowVerdict};
use serde_json::{Value, json};

use super::imports::apply;
use super::support::{ALL_SCOPES, TestDesk};

const FNI: &str = "amcp:fni:read amcp:fni:write";
const SSN: &str = "900-71-4321";
const BIRTH: &str = "1984-03-09";
const ACCOUNT: &str = "DE0012345678";
/// What must never leave again, however it is written.
pub(crate) const SECRETS: [&str; 4] = [SSN, "900714321", BIRTH, ACCOUNT];

fn first(desk: &TestDesk, tool: &str) -> Value {
    desk.call_ok(ALL_SCOPES, tool, json!({"limit": 1}))["items"][0].clone()
}

/// The buyer of a deal that is financed and for which nobody has applied yet.
struct Buyer {
    customer: Value,
    deal: Value,
}

fn buyer(desk: &TestDesk) -> Buyer {
    let customer = first(desk, "customers.list")["id"].clone();
    let car = desk.call_ok(ALL_SCOPES, "inventory.search", json!({"status": "available", "limit": 1}));
    let terms = json!({"deal_type": "retail_finance", "customer_id": customer, "vehicle_id": car["items"][0]["id"],
        "term_months": 60, "apr_basis_points": 599});
    let deal = desk.call_ok(ALL_SCOPES, "deals.create", terms)["id"].clone();
    Buyer { customer, deal }
}

fn consent(desk: &TestDesk, customer: &Value, purpose: &str) -> Value {
    let arguments = json!({"status": "granted", "channels": ["email"], "purpose": purpose, "customer_id": customer});
    desk.call_ok(ALL_SCOPES, "consent.create", arguments)["id"].clone()
}

fn complete(desk: &TestDesk, buyer: &Buyer) -> Value {
    json!({
        "customer_id": buyer.customer,
        "deal_id": buyer.deal,
        "permissible_purpose": "credit_transaction",
        "consent_id": consent(desk, &buyer.customer, "credit_inquiry"),
        "applicant": {"name": "Zanzibara Quetzalwing", "email": "zz@example.com", "phone": "+15125550187"},
        "amount_requested": {"amount": 2_100_000, "currency": "USD"},
        "residence": {"street": "12 Zz Street", "city": "Zz Town", "region": "NY", "postal_code": "00077", "country": "US",
            "residence_type": "rent", "months": 26, "monthly_payment": {"amount": 145_077, "currency": "USD"}},
        "employment": {"status": "employed", "employer": "Zz Works", "months": 40,
            "gross_monthly_income": {"amount": 520_077, "currency": "USD"}},
        "ssn": SSN,
        "birth_date": BIRTH,
        "bank_account_number": ACCOUNT,
    })
}

/// The id of an application that was submitted.
fn submitted(desk: &TestDesk, buyer: &Buyer) -> Value {
    let made = desk.call_ok(FNI, "fni.create_credit_application", complete(desk, buyer));
    let change = json!({"id": made["id"], "status": "submitted"});
    desk.call_ok(FNI, "fni.update_credit_application", change)["id"].clone()
}

fn financing(desk: &TestDesk, deal: &Value) -> String {
    let deal = desk.call_ok("amcp:deals:read", "deals.get", json!({"id": deal}));
    deal["financing_status"].as_str().unwrap().to_owned()
}

fn application(desk: &TestDesk, id: &Value) -> Value {
    desk.call_ok(FNI, "fni.get_credit_application", json!({"id": id}))
}

fn decide(desk: &TestDesk, application: &Value, number: &str, decision: &str) -> RowResult {
    let row = json!({"decision_number": number, "application_number": application["application_number"],
        "lender_name": "Example Bank", "decision": decision});
    apply(desk, "lender_decisions", &[row]).remove(0)
}

#[test]
fn an_application_goes_from_draft_to_decisioned_with_its_deal() {
    let desk = TestDesk::open();
    let buyer = buyer(&desk);
    let made = desk.call_ok(FNI, "fni.create_credit_application", complete(&desk, &buyer));
    assert_eq!((&made["status"], &made["decisions"]), (&json!("draft"), &json!([])));
    assert!(made["application_number"].as_str().unwrap().starts_with("A-"), "{made}");
    assert_eq!(financing(&desk, &buyer.deal), "not_submitted");
    let events = desk.events().len();
    let sent = desk.call_ok(FNI, "fni.update_credit_application", json!({"id": made["id"], "status": "submitted"}));
    assert_eq!((&sent["status"], &sent["submitted_at"]), (&json!("submitted"), &json!("2026-01-31T09:30:00Z")));
    assert_eq!(desk.events()[events..], ["credit_application updated", "deal updated"]);
    assert_eq!(financing(&desk, &buyer.deal), "submitted");
    let answer = decide(&desk, &sent, "d-1", "approved");
    assert_eq!(answer.verdict, RowVerdict::Created);
    let decided = application(&desk, &made["id"]);
    assert_eq!(decided["status"], "decisioned");
    assert_eq!(decided["decisions"], json!([{"lender_decision_id": answer.id, "decision": "approved"}]));
    assert_eq!(financing(&desk, &buyer.deal), "approved");
    let events = desk.events();
    assert_eq!(events[events.len() - 3..], ["lender_decision created", "deal updated", "credit_application updated"]);
    let shown = desk.call_ok(FNI, "fni.get_lender_decision", json!({"id": answer.id}));
    assert_eq!(
        (&shown["credit_application_id"], &shown["customer_id"], &shown["deal_id"], &shown["adverse_action_required"]),
        (&made["id"], &buyer.customer, &buyer.deal, &json!(false))
    );
}

#[test]
fn a_deal_shows_the_best_of_all_decisions() {
    let desk = TestDesk::open();
    let buyer = buyer(&desk);
    let id = submitted(&desk, &buyer);
    let sent = application(&desk, &id);
    for (number, decision, status, shown) in [
        ("d-1", "pending", "in_review", "submitted"),
        ("d-2", "incomplete", "in_review", "submitted"),
        ("d-1", "declined", "decisioned", "submitted"),
        ("d-2", "pending", "decisioned", "submitted"),
        ("d-2", "withdrawn", "decisioned", "declined"),
        ("d-3", "countered", "decisioned", "conditionally_approved"),
        ("d-4", "conditionally_approved", "decisioned", "conditionally_approved"),
        ("d-5", "approved", "decisioned", "approved"),
        ("d-5", "withdrawn", "decisioned", "conditionally_approved"),
        ("d-3", "declined", "decisioned", "conditionally_approved"),
        ("d-4", "withdrawn", "decisioned", "declined"),
        ("d-1", "withdrawn", "decisioned", "declined"),
        ("d-3", "withdrawn", "in_review", "submitted"),
    ] {
        let answer = decide(&desk, &sent, number, decision);
        assert!(matches!(answer.verdict, RowVerdict::Created | RowVerdict::Updated), "{number} {decision}: {answer:?}");
        assert_eq!(application(&desk, &id)["status"], status, "{number} {decision}");
        assert_eq!(financing(&desk, &buyer.deal), shown, "{number} {decision}");
    }
    assert_eq!(application(&desk, &id)["decisions"].as_array().unwrap().len(), 5);
}

#[test]
fn a_withdrawn_application_frees_its_deal_for_another_one() {
    let desk = TestDesk::open();
    let buyer = buyer(&desk);
    let id = submitted(&desk, &buyer);
    let sent = application(&desk, &id);
    decide(&desk, &sent, "d-1", "approved");
    let again = json!({"customer_id": buyer.customer, "deal_id": buyer.deal, "applicant": {"name": "Zanzibara"}});
    let code = desk.error_code(FNI, "fni.create_credit_application", again.clone());
    assert_eq!(code, "fni.duplicate");
    desk.call_ok(FNI, "fni.update_credit_application", json!({"id": id, "status": "withdrawn"}));
    assert_eq!(financing(&desk, &buyer.deal), "not_submitted");
    let second = desk.call_ok(FNI, "fni.create_credit_application", again);
    assert_eq!(financing(&desk, &buyer.deal), "not_submitted");
    assert_eq!(decide(&desk, &sent, "d-1", "declined").verdict, RowVerdict::Updated);
    assert_eq!(application(&desk, &id)["status"], "withdrawn");
    assert_eq!(financing(&desk, &buyer.deal), "not_submitted");
    let early = decide(&desk, &second, "d-2", "approved");
    let RowVerdict::Rejected(problems) = &early.verdict else { panic!("{early:?}") };
    assert!(problems[0].reason.starts_with("The application is a draft"), "{problems:?}");
    let unknown = decide(&desk, &json!({"application_number": "A-none"}), "d-3", "approved");
    let RowVerdict::Rejected(problems) = &unknown.verdict else { panic!("{unknown:?}") };
    assert!(problems[0].reason.starts_with("No credit application with this id"), "{problems:?}");
}

#[test]
fn an_application_is_submitted_only_complete_and_with_consent() {
    let desk = TestDesk::open();
    let buyer = buyer(&desk);
    let draft = json!({"customer_id": buyer.customer, "applicant": {"name": "Zanzibara"}});
    let id = desk.call_ok(FNI, "fni.create_credit_application", draft)["id"].clone();
    let submit = |more: Value| {
        let mut change = json!({"id": id, "status": "submitted"});
        change.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        desk.call(FNI, "fni.update_credit_application", change).1
    };
    let refused = submit(json!({}));
    assert_eq!(refused["error"]["code"], "fni.incomplete");
    let pointers: Vec<&Value> =
        refused["error"]["details"]["errors"].as_array().unwrap().iter().map(|error| &error["pointer"]).collect();
    assert_eq!(pointers, ["/permissible_purpose", "/residence", "/employment", "/birth_date", "/ssn"]);
    let mut whole = complete(&desk, &buyer);
    for own in ["customer_id", "consent_id"] {
        whole.as_object_mut().unwrap().remove(own);
    }
    desk.call_ok(FNI, "fni.update_credit_application", {
        let mut change = whole.clone();
        change["id"] = id.clone();
        change
    });
    assert_eq!(submit(json!({}))["error"]["code"], "consent.required");
    let other = desk.call_ok(ALL_SCOPES, "customers.list", json!({"limit": 2}))["items"][1]["id"].clone();
    let withdrawn = consent(&desk, &buyer.customer, "credit_inquiry");
    desk.call_ok(ALL_SCOPES, "consent.update", json!({"id": withdrawn, "status": "withdrawn"}));
    let wrong = [consent(&desk, &buyer.customer, "marketing"), consent(&desk, &other, "credit_inquiry"), withdrawn];
    for consent in wrong {
        assert_eq!(submit(json!({"consent_id": consent}))["error"]["code"], "consent.invalid");
    }
    assert_eq!(submit(json!({"consent_id": "none"}))["error"]["code"], "consent.not_found");
    desk.clock.advance(1_000);
    let refused = consent(&desk, &buyer.customer, "credit_inquiry");
    let refusal = json!({"status": "withdrawn", "channels": ["email"], "purpose": "credit_inquiry",
        "customer_id": buyer.customer});
    desk.call_ok(ALL_SCOPES, "consent.create", refusal);
    assert_eq!(submit(json!({"consent_id": refused}))["error"]["code"], "consent.withdrawn");
    desk.clock.advance(1_000);
    let right = consent(&desk, &buyer.customer, "credit_inquiry");
    assert_eq!(submit(json!({"consent_id": right}))["status"], "submitted");
    // Outside of the US nobody has a social security number.
    let residence = json!({"street": "1 MG Road", "city": "Bengaluru", "region": "KA", "postal_code": "560001",
        "country": "IN", "residence_type": "own", "months": 9});
    let mut abroad = whole;
    let members = abroad.as_object_mut().unwrap();
    members.retain(|name, _| name != "ssn" && name != "deal_id");
    members.extend([("customer_id".to_owned(), buyer.customer.clone()), ("residence".to_owned(), residence)]);
    members.insert("consent_id".to_owned(), right);
    let id = desk.call_ok(FNI, "fni.create_credit_application", abroad)["id"].clone();
    let sent = desk.call_ok(FNI, "fni.update_credit_application", json!({"id": id, "status": "submitted"}));
    assert_eq!((&sent["status"], sent.get("ssn_last4")), (&json!("submitted"), None));
}

#[test]
fn what_was_submitted_stays_and_states_follow_their_table() {
    let desk = TestDesk::open();
    let id = submitted(&desk, &buyer(&desk));
    let change = |change: Value| {
        let mut arguments = json!({"id": id});
        arguments.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        desk.call(FNI, "fni.update_credit_application", arguments)
    };
    for content in [
        json!({"ssn": "900-71-0001"}),
        json!({"applicant": {"name": "Somebody Else"}}),
        json!({"amount_requested": {"amount": 1, "currency": "USD"}}),
        json!({"consent_id": null}),
        json!({"status": "withdrawn", "employment": null}),
    ] {
        assert_eq!(change(content.clone()).1["error"]["code"], "fni.submitted", "{content}");
    }
    for (status, is_possible) in [
        ("draft", false),
        ("decisioned", false),
        ("in_review", true),
        ("submitted", false),
        ("expired", true),
        ("withdrawn", false),
        ("in_review", false),
    ] {
        let (failed, answer) = change(json!({"status": status}));
        assert_eq!(failed, !is_possible, "{status}: {answer}");
        if failed {
            assert_eq!(answer["error"]["code"], "fni.invalid_transition", "{status}");
        }
    }
    assert_eq!(change(json!({"deal_id": null})).1["error"]["code"], "fni.submitted");
}

#[test]
fn secret_numbers_are_never_shown_again_and_survive_updates() {
    let desk = TestDesk::open();
    let buyer = buyer(&desk);
    let mut arguments = complete(&desk, &buyer);
    arguments["idempotency_key"] = json!("k-1");
    let made = desk.call_ok(FNI, "fni.create_credit_application", arguments.clone());
    assert_eq!(desk.call_ok(FNI, "fni.create_credit_application", arguments), made, "the same call is one application");
    assert_eq!((&made["ssn_last4"], &made["bank_account_last4"]), (&json!("4321"), &json!("5678")));
    let updated = desk.call_ok(FNI, "fni.update_credit_application", json!({"id": made["id"], "status": "submitted"}));
    assert_eq!(updated["ssn_last4"], "4321");
    let got = application(&desk, &made["id"]);
    let listed = desk.call_ok(FNI, "fni.list_credit_applications", json!({"customer_id": buyer.customer}));
    let receipt =
        desk.call_ok("amcp:fni:write", "fni.update_credit_application", json!({"id": made["id"], "lead_id": null}));
    for (what, answer) in
        [("made", &made), ("updated", &updated), ("got", &got), ("list", &listed), ("receipt", &receipt)]
    {
        let text = answer.to_string();
        assert!(SECRETS.iter().all(|secret| !text.contains(secret)), "{what}: {text}");
        for name in ["\"ssn\"", "birth_date", "bank_account_number"] {
            assert!(!text.contains(name), "{what} names {name}");
        }
    }
    let row = desk.store.row("dlr_lakeside", CreditApplication::table(), made["id"].as_str().unwrap()).unwrap();
    let secret: Value = serde_json::from_str(row.secret.as_deref().unwrap()).unwrap();
    assert_eq!(secret, json!({"ssn": "900714321", "birth_date": BIRTH, "bank_account_number": ACCOUNT}));
    let others = format!("{} {:?} {:?} {:?} {:?}", row.body, row.masked, row.personal, row.cells, row.search_terms);
    assert!(SECRETS.iter().all(|secret| !others.contains(secret)), "{others}");
    let audit = desk.audit().iter().map(Value::to_string).collect::<String>();
    assert!(SECRETS.iter().all(|secret| !audit.contains(secret)), "{audit}");
}

#[test]
fn a_list_masks_the_applicant_and_leaves_out_what_they_live_on() {
    let desk = TestDesk::open();
    let buyer = buyer(&desk);
    desk.call_ok(FNI, "fni.create_credit_application", complete(&desk, &buyer));
    let listed = desk.call_ok(FNI, "fni.list_credit_applications", json!({"deal_id": buyer.deal}))["items"][0].clone();
    assert_eq!(listed["applicant"], json!({"name": "Z. Q.", "email": "z***@e***.com", "phone": "+1******0187"}));
    assert_eq!(
        listed["redacted"],
        json!([
            "applicant.name",
            "applicant.email",
            "applicant.phone",
            "amount_requested",
            "residence",
            "employment",
            "ssn_last4",
            "bank_account_last4"
        ])
    );
    let text = listed.to_string();
    for hidden in ["Zz Street", "Zz Town", "Zz Works", "145077", "520077", "2100000", "4321", "5678"] {
        assert!(!text.contains(hidden), "{hidden}: {text}");
    }
}

#[test]
fn secret_numbers_are_checked_for_their_form_and_not_repeated() {
    let desk = TestDesk::open();
    let customer = first(&desk, "customers.list")["id"].clone();
    for (field, value) in [
        ("ssn", "000-71-4321"),
        ("ssn", "666-71-4321"),
        ("ssn", "90071432"),
        ("ssn", "900-71-43210"),
        ("birth_date", "1984-13-09"),
        ("birth_date", "2026-01-31"),
        ("birth_date", "1899-12-31"),
        ("bank_account_number", "12 34 56"),
        ("bank_account_number", "12345"),
        ("application_number", "Zanzibara Q."),
    ] {
        let mut arguments = json!({"customer_id": customer, "applicant": {"name": "Zanzibara"}});
        arguments[field] = json!(value);
        let (failed, answer) = desk.call(FNI, "fni.create_credit_application", arguments);
        assert!(failed, "{field} {value}");
        assert_eq!(answer["error"]["details"]["errors"][0]["pointer"], format!("/{field}"), "{answer}");
        assert!(!answer.to_string().contains(value), "{answer}");
    }
}

#[test]
fn a6_10_who_may_write_credit_but_not_read_gets_a_receipt() {
    let desk = TestDesk::open();
    let buyer = buyer(&desk);
    let made = desk.call_ok("amcp:fni:write", "fni.create_credit_application", complete(&desk, &buyer));
    assert_eq!(made["status"], "draft");
    let names: Vec<&str> = made.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "application_number",
            "created_at",
            "dealership_id",
            "id",
            "redacted",
            "status",
            "type",
            "updated_at",
            "version"
        ]
    );
    let redacted = made["redacted"].as_array().unwrap();
    assert!(redacted.contains(&json!("applicant")) && redacted.contains(&json!("ssn_last4")));
    assert!(!redacted.contains(&json!("ssn")), "{made}");
}

#[test]
fn a_deal_must_be_the_applicants_own() {
    let desk = TestDesk::open();
    let buyer = buyer(&desk);
    let other = desk.call_ok(ALL_SCOPES, "customers.list", json!({"limit": 2}))["items"][1]["id"].clone();
    let arguments = json!({"customer_id": other, "deal_id": buyer.deal, "applicant": {"name": "Dana"}});
    let (_, answer) = desk.call(FNI, "fni.create_credit_application", arguments.clone());
    assert_eq!(answer["error"]["details"]["errors"][0]["pointer"], "/deal_id", "{answer}");
    desk.call_ok(ALL_SCOPES, "deals.update", json!({"id": buyer.deal, "co_buyer_id": other}));
    assert_eq!(desk.call_ok(FNI, "fni.create_credit_application", arguments)["deal_id"], buyer.deal);
    for (field, code) in
        [("customer_id", "customers.not_found"), ("deal_id", "deals.not_found"), ("lead_id", "leads.not_found")]
    {
        let mut arguments = json!({"customer_id": buyer.customer, "applicant": {"name": "Dana"}});
        arguments[field] = json!("none");
        assert_eq!(desk.error_code(FNI, "fni.create_credit_application", arguments), code);
    }
}

#[test]
fn what_lenders_decide_is_not_set_by_hand() {
    let desk = TestDesk::open();
    let buyer = buyer(&desk);
    let set = |status: &str| {
        let change = json!({"id": buyer.deal, "financing_status": status});
        desk.call("amcp:deals:read amcp:deals:write", "deals.update", change)
    };
    assert!(!set("approved").0, "a deal without an application is financed elsewhere");
    assert!(!set("not_submitted").0);
    let id = submitted(&desk, &buyer);
    let (failed, answer) = set("approved");
    assert!(failed);
    assert_eq!(answer["error"]["details"]["errors"][0]["pointer"], "/financing_status", "{answer}");
    assert!(!set("funded").0);
    desk.call_ok(FNI, "fni.update_credit_application", json!({"id": id, "status": "withdrawn"}));
    assert_eq!(financing(&desk, &buyer.deal), "funded", "what was paid out stays");
}

#[test]
fn an_adverse_decision_asks_for_a_notice_within_thirty_days() {
    let desk = TestDesk::open();
    let sent = application(&desk, &submitted(&desk, &buyer(&desk)));
    for (number, decision, is_adverse) in
        [("d-1", "declined", true), ("d-2", "countered", true), ("d-3", "approved", false)]
    {
        let id = decide(&desk, &sent, number, decision).id;
        let shown = desk.call_ok(FNI, "fni.get_lender_decision", json!({"id": id}));
        assert_eq!(shown["adverse_action_required"], is_adverse, "{decision}");
        let due = is_adverse.then(|| json!("2026-03-02T09:30:00Z"));
        assert_eq!(shown.get("adverse_action_due_at"), due.as_ref(), "{decision}");
    }
}

#[test]
fn a_number_of_an_application_is_recognised_after_a_login_only() {
    let desk = TestDesk::open();
    let number = first(&desk, "fni.list_credit_applications")["application_number"].clone();
    let scopes = "amcp:deals:read amcp:fni:read";
    let message = |token: &str| {
        let (_, answer) = desk.call_as(token, "deals.get", json!({"id": number}));
        answer["error"]["message"].as_str().unwrap().to_owned()
    };
    assert!(message(&desk.login_token(scopes)).contains("is the application number of a credit application"));
    for token in [format!("dlr_lakeside/{scopes}"), desk.login_token("amcp:deals:read")] {
        assert!(!message(&token).contains("application"), "{token}");
    }
}

#[test]
fn another_type_of_deal_leaves_what_lenders_decided() {
    let desk = TestDesk::open();
    let buyer = buyer(&desk);
    let change = |deal_type: &str, (months, rate): (Option<i64>, Option<i64>)| {
        let change = json!({"id": buyer.deal, "deal_type": deal_type, "term_months": months, "apr_basis_points": rate});
        desk.call_ok("amcp:deals:read amcp:deals:write", "deals.update", change)["financing_status"].clone()
    };
    let both = || [change("cash", (None, None)), change("retail_finance", (Some(60), Some(599)))];
    assert_eq!(both(), ["not_required", "not_submitted"]);
    let sent = application(&desk, &submitted(&desk, &buyer));
    decide(&desk, &sent, "d-1", "approved");
    assert_eq!(both(), ["approved", "approved"]);
}

#[test]
fn an_application_that_is_closed_changes_no_other_deal() {
    let desk = TestDesk::open();
    let (first, second) = (buyer(&desk), buyer(&desk));
    assert_eq!(first.customer, second.customer);
    let closed = submitted(&desk, &first);
    let sent = application(&desk, &submitted(&desk, &second));
    decide(&desk, &sent, "d-1", "approved");
    let change = json!({"id": closed, "status": "withdrawn", "deal_id": second.deal});
    desk.call_ok(FNI, "fni.update_credit_application", change);
    assert_eq!(financing(&desk, &second.deal), "approved");
    assert_eq!(financing(&desk, &first.deal), "not_submitted");
}

#[test]
fn a_notice_that_was_asked_for_stays_when_a_feed_changes() {
    let desk = TestDesk::open();
    let sent = application(&desk, &submitted(&desk, &buyer(&desk)));
    let row = |expires_at: &str| {
        let row = json!({"decision_number": "d-1", "application_number": sent["application_number"],
            "lender_name": "Example Bank", "decision": "conditionally_approved", "adverse_action_required": true,
            "expires_at": expires_at});
        let id = apply(&desk, "lender_decisions", &[row]).remove(0).id;
        desk.call_ok(FNI, "fni.get_lender_decision", json!({"id": id}))
    };
    for expires_at in ["2026-02-20T00:00:00Z", "2026-02-21T00:00:00Z"] {
        let shown = row(expires_at);
        assert_eq!((&shown["expires_at"], &shown["adverse_action_required"]), (&json!(expires_at), &json!(true)));
        assert_eq!(shown["adverse_action_due_at"], "2026-03-02T09:30:00Z");
    }
}

#[test]
fn a_refusal_counts_for_credit_however_it_was_said() {
    let desk = TestDesk::open();
    let buyer = buyer(&desk);
    let made = desk.call_ok(FNI, "fni.create_credit_application", complete(&desk, &buyer));
    let refusal =
        json!({"status": "denied", "channels": ["mail"], "purpose": "credit_inquiry", "customer_id": buyer.customer});
    desk.call_ok(ALL_SCOPES, "consent.create", refusal);
    let submit = json!({"id": made["id"], "status": "submitted"});
    assert_eq!(desk.error_code(FNI, "fni.update_credit_application", submit), "consent.withdrawn");
}

#[test]
fn the_number_of_an_application_is_not_a_secret_one() {
    let desk = TestDesk::open();
    for number in [SSN, "900714321", "de-0012345678"] {
        let mut asked = complete(&desk, &buyer(&desk));
        asked["application_number"] = json!(number);
        let (failed, answer) = desk.call(FNI, "fni.create_credit_application", asked);
        assert!(failed && !answer.to_string().contains(number), "{answer}");
        assert_eq!(answer["error"]["details"]["errors"][0]["pointer"], "/application_number");
    }
    let mut asked = complete(&desk, &buyer(&desk));
    asked["residence"]["country"] = json!("us");
    asked.as_object_mut().unwrap().remove("ssn");
    let made = desk.call_ok(FNI, "fni.create_credit_application", asked);
    let submit = json!({"id": made["id"], "status": "submitted"});
    assert_eq!(desk.error_code(FNI, "fni.update_credit_application", submit), "fni.incomplete");
}

#[test]
fn a_row_is_not_the_application_that_is_open_for_its_deal() {
    let desk = TestDesk::open();
    let buyer = buyer(&desk);
    let row = |number: &str| {
        json!({"application_number": number, "customer_id": buyer.customer, "deal_id": buyer.deal,
        "applicant": {"name": "Zanzibara"}})
    };
    let first = apply(&desk, "credit_applications", &[row("Z-1")]).remove(0);
    assert_eq!(first.verdict, RowVerdict::Created);
    let second = apply(&desk, "credit_applications", &[row("Z-2")]).remove(0);
    assert!(matches!(second.verdict, RowVerdict::Rejected(_)), "{second:?}");
    let id = json!(first.id);
    desk.call_ok(FNI, "fni.update_credit_application", json!({"id": id, "status": "withdrawn"}));
    assert_eq!(apply(&desk, "credit_applications", &[row("Z-2")]).remove(0).verdict, RowVerdict::Created);
    assert_eq!(apply(&desk, "credit_applications", &[row("Z-1")]).remove(0).verdict, RowVerdict::Unchanged);
}
