//! Somebody is erased on PostgreSQL, also in the answers that another node has stored.

use serde_json::{Value, json};

use frontdesk_testkit::app::{TestAgent, TestApp};
use frontdesk_testkit::databases::PostgresDatabase;

const TENANT: &str = "dlr_lakeside";
const EMAIL: &str = "xylo.quern@zzmail.example";

async fn order(agent: &mut TestAgent, key: &str) -> Value {
    let order = json!({"contact": {"name": "Xylophon Quern", "email": EMAIL}, "interest": "buy",
        "comments": "Zz private words", "consent": {"granted": true, "channels": ["email"]}, "idempotency_key": key});
    agent.call("leads.create", order).await
}

#[tokio::test]
async fn somebody_is_erased_on_all_nodes_of_a_database() {
    let database = PostgresDatabase::create();
    let url = database.url();
    let desk = TestApp::start_with(&[("FRONTDESK_DATABASE", url.as_str())]);
    let other = desk.second_node();
    let mut agent = other.agent().await;
    let lead = order(&mut agent, "k").await;
    let id = lead["id"].as_str().unwrap();
    let arguments = ["customer", "erase", id, "--tenant", TENANT, "--confirm", id];
    let (code, out, errors) = desk.command(&arguments);
    assert_eq!((code, out.as_str()), (Some(0), "1 consent, 1 lead erased, 1 stored answer changed.\n"), "{errors}");
    let replayed = order(&mut agent, "k").await;
    assert_eq!((&replayed["id"], replayed.get("contact")), (&lead["id"], None));
    assert_eq!(agent.call("leads.get", json!({"id": id})).await["contact"], json!({"name": "[erased]"}));
    assert_eq!(agent.call("leads.list", json!({"email": EMAIL})).await["items"], json!([]));
    let (code, _, errors) = desk.command(&["audit", "verify"]);
    assert_eq!(code, Some(0), "{errors}");
}
