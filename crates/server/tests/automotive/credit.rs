//! Credit data over HTTPS: who gets a token for it, what a login changes, and where the numbers of applicants must not be.

use std::fs;
use std::path::Path;

use frontdesk_testkit::app::http_client::HttpResponse;
use frontdesk_testkit::app::{DemoTenant, EVERYTHING, READ_STOCK, TestAgent, TestApp};
use serde_json::{Value, json};

use super::requests::{UNHURRIED, read};

const FNI: &str = "amcp:fni:read amcp:fni:write";

const SSN: &str = "900-71-4321";
const BIRTH: &str = "1984-03-09";
const ACCOUNT: &str = "ZZ0098765432";
/// What must be nowhere, and what only a reader of credit data may see.
const SECRETS: [&str; 4] = [SSN, "900714321", BIRTH, ACCOUNT];
const PERSONAL: [&str; 6] = ["Zanzibara", "quetzal", "5550187", "Zz Street", "Zz Works", "5200771"];

fn silent(what: &str, text: &str) {
    let text = text.to_lowercase();
    for word in SECRETS.iter().chain(&PERSONAL) {
        assert!(!text.contains(&word.to_lowercase()), "{word} in {what}");
    }
}

async fn by_route(agent: &mut TestAgent, path: &str) -> HttpResponse {
    let bearer = format!("Bearer {}", agent.token);
    agent.http.request("GET", path, &[("authorization", &bearer)], "").await
}

fn assert_is_step_up(response: &HttpResponse) {
    let challenge = response.header("www-authenticate").unwrap_or_default();
    assert_eq!(response.status, 401, "{}", response.text());
    assert!(
        challenge.starts_with("Bearer error=\"insufficient_user_authentication\", max_age=\"300\", resource_metadata="),
        "{challenge}"
    );
    assert_eq!(response.json()["error"]["code"], "auth.step_up_required");
}

#[tokio::test]
async fn a6_17_fni_scopes_are_granted_only_to_who_is_registered_and_asks() {
    let desk = TestApp::start();
    // The demo's own client is an ordinary one.
    let (id, secret, _) = desk.credentials(DemoTenant::Lakeside);
    assert_eq!(desk.request_token(&id, &secret, "amcp:fni:read").await.status, 400);
    let granted = desk.request_token(&id, &secret, &format!("{EVERYTHING} {FNI}")).await.json();
    assert_eq!(granted["scope"], EVERYTHING);
    let (id, secret) = desk.add_client(&["dlr_lakeside"], &format!("{READ_STOCK} {FNI}"));
    assert_eq!(desk.request_token(&id, &secret, "").await.json()["scope"], READ_STOCK);
    assert_eq!(desk.request_token(&id, &secret, "amcp:fni:read").await.json()["scope"], "amcp:fni:read");
    let refused =
        desk.stranger().request("POST", "/mcp/automotive", &[("content-type", "application/json")], "{}").await;
    let challenge = refused.header("www-authenticate").unwrap();
    assert!(
        refused.status == 401 && challenge.contains("amcp:deals:read") && !challenge.contains("fni"),
        "{challenge}"
    );
}

#[tokio::test]
async fn a6_18_client_credentials_get_401_and_a_fresh_login_gets_in() {
    let desk = TestApp::start();
    let client = desk.add_client(&["dlr_lakeside"], FNI);
    let mut agent = desk.agent_of_client(&client, FNI).await;
    assert!(agent.call("fni.list_products", json!({})).await["items"].as_array().unwrap().len() > 3);
    let list = json!({"name": "fni.list_credit_applications", "arguments": {}});
    assert_is_step_up(&agent.send("tools/call", list.clone()).await);
    assert_is_step_up(&by_route(&mut agent, "/v1/credit_applications").await);
    assert_is_step_up(&by_route(&mut agent, "/v1/lender_decisions").await);
    let uri = json!({"uri": "amcp://dlr_lakeside/lender_decisions"});
    assert_is_step_up(&agent.send("resources/read", uri).await);

    let mut person = desk.agent_after_login("dlr_lakeside", FNI).await;
    let listed = person.call("fni.list_credit_applications", json!({"limit": 2})).await;
    assert_eq!(listed["items"].as_array().unwrap().len(), 2);
    let routed = by_route(&mut person, "/v1/credit_applications?limit=2").await;
    assert_eq!((routed.status, &routed.json()["items"]), (200, &listed["items"]));
    assert!(read(&mut person, "amcp://dlr_lakeside/lender_decisions").await.is_ok());
    // The token of the other client has no login because of it.
    assert_is_step_up(&agent.send("tools/call", list).await);
}

#[tokio::test]
async fn the_operator_imports_decisions_without_a_token_and_deals_follow() {
    let desk = TestApp::start();
    let mut agent = desk.credit_agent(DemoTenant::Lakeside).await;
    let found = agent.call("fni.list_credit_applications", json!({"application_number": "A-5001"})).await;
    let application = found["items"][0].clone();
    let file = desk.folder.join("decisions.csv");
    let feed = "decision_number,application_number,lender_name,decision,apr_basis_points,reasons\n\
                90001,A-5001,Example Finance,declined,777,Too many recent inquiries\n";
    fs::write(&file, feed).unwrap();
    let (code, out, errors) =
        desk.command(&["import", "lender_decisions", file.to_str().unwrap(), "--tenant", "dlr_lakeside"]);
    assert_eq!(code, Some(0), "{out}{errors}");
    let after = agent.call("fni.get_credit_application", json!({"id": application["id"]})).await;
    let lines = after["decisions"].as_array().unwrap();
    assert_eq!(lines.len(), application["decisions"].as_array().unwrap().len() + 1);
    assert_eq!(lines.last().unwrap()["decision"], "declined");
    let decided =
        agent.call("fni.list_lender_decisions", json!({"decision_number": "90001"})).await["items"][0].clone();
    assert_eq!((&decided["adverse_action_required"], decided.get("apr_basis_points")), (&json!(true), None));
    let whole = agent.call("fni.get_lender_decision", json!({"id": decided["id"]})).await;
    assert_eq!(whole["apr_basis_points"], 777);
}

/// A submitted application of somebody with canaries in every field.
async fn apply(agent: &mut TestAgent) -> Value {
    let customer = agent.call("customers.list", json!({"limit": 1})).await["items"][0]["id"].clone();
    let consent =
        json!({"status": "granted", "channels": ["email"], "purpose": "credit_inquiry", "customer_id": customer});
    let consent = agent.call("consent.create", consent).await["id"].clone();
    let arguments = json!({
        "customer_id": customer,
        "consent_id": consent,
        "permissible_purpose": "credit_transaction",
        "applicant": {"name": "Zanzibara Quetzalwing", "email": "quetzal@example.org", "phone": "+15125550187"},
        "residence": {"street": "12 Zz Street", "city": "Zz Town", "region": "NY", "postal_code": "00077", "country": "US",
            "residence_type": "rent", "months": 26},
        "employment": {"status": "employed", "employer": "Zz Works",
            "gross_monthly_income": {"amount": 5_200_771, "currency": "USD"}},
        "ssn": SSN, "birth_date": BIRTH, "bank_account_number": ACCOUNT, "idempotency_key": "credit-1",
    });
    let made = agent.call("fni.create_credit_application", arguments.clone()).await;
    assert_eq!(agent.call("fni.create_credit_application", arguments).await, made);
    agent.call("fni.update_credit_application", json!({"id": made["id"], "status": "submitted"})).await
}

#[tokio::test]
async fn a6_12_a6_14_a6_15_a6_16_credit_canaries_are_nowhere() {
    let desk = TestApp::start_with(&UNHURRIED);
    let mut agent = desk.credit_agent(DemoTenant::Lakeside).await;
    let made = apply(&mut agent).await;
    assert_eq!((&made["status"], &made["ssn_last4"]), (&json!("submitted"), &json!("4321")), "{made}");
    let whole = agent.call("fni.get_credit_application", json!({"id": made["id"]})).await;
    assert_eq!(whole["employment"]["employer"], "Zz Works");
    assert!(SECRETS.iter().all(|secret| !whole.to_string().contains(secret)), "{whole}");
    // Every list that anybody can read, also its cursor, and every address of one that is not about credit.
    let tools = agent.result("tools/list", json!({})).await;
    for tool in tools["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        if name.contains("list") || name.contains("search") {
            silent(name, &agent.call(name, json!({"limit": 1})).await.to_string());
        }
    }
    for uri in ["amcp://dlr_lakeside/credit_applications", "amcp://dlr_lakeside/lender_decisions"] {
        silent(uri, &read(&mut agent, uri).await.unwrap().to_string());
    }
    // Errors that are caused by the numbers themselves.
    for (field, value) in
        [("ssn", "900-71-43210"), ("birth_date", "1984-03-090"), ("bank_account_number", "ZZ 0098765432")]
    {
        let mut arguments = json!({"id": made["id"]});
        arguments[field] = json!(value);
        for tool in ["fni.update_credit_application", "fni.create_credit_application"] {
            let refused = agent.call(tool, arguments.clone()).await;
            assert!(refused.get("error").is_some() && !refused.to_string().contains(value), "{refused}");
            silent(tool, &refused.to_string());
        }
    }
    let (code, export, errors) =
        desk.command(&["export", "credit_applications", "--tenant", "dlr_lakeside", "--format", "jsonl"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(export.contains(made["id"].as_str().unwrap()));
    silent("an export", &export);
    let (code, audit, errors) = desk.command(&["audit", "export"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(audit.contains("fni.create_credit_application") && audit.contains("\"consent\""));
    silent("the audit log", &audit);
    assert!(!audit.contains(&agent.token));
    let log = desk.log();
    assert!(log.contains("fni.get_credit_application"));
    silent("the log", &log);
    assert!(!log.contains(&agent.token));
    let backup = desk.folder.join("backup");
    let (code, _, errors) = desk.command(&["backup", backup.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{errors}");
    drop(agent);
    let desk = desk.restart();
    for place in [desk.data(), backup] {
        every_file(&place);
    }
}

fn every_file(place: &Path) {
    if place.is_dir() {
        fs::read_dir(place).unwrap().for_each(|entry| every_file(&entry.unwrap().path()));
    } else if let Ok(bytes) = fs::read(place) {
        silent(&place.display().to_string(), &String::from_utf8_lossy(&bytes));
    }
}
