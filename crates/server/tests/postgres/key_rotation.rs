//! Replacing the master key of two nodes: both keys open the database until every node has the new one.

use std::fs;

use frontdesk_testkit::app::TestApp;
use frontdesk_testkit::databases::PostgresDatabase;
use serde_json::json;

#[tokio::test]
async fn both_master_keys_are_accepted_until_every_node_has_the_new_one() {
    let database = PostgresDatabase::create();
    let first = TestApp::start_with(&[("FRONTDESK_DATABASE", &database.url())]);
    let second = first.second_node();
    let key = |desk: &TestApp| desk.data().join("master.key");
    let old = fs::read_to_string(key(&first)).unwrap();

    let (code, out, errors) = first.command(&["key", "rotate", "--json"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(out.contains(r#""state":"both_accepted""#), "{out}");
    let new = fs::read_to_string(key(&first)).unwrap();
    assert_ne!(new, old);
    // The other node goes on, and can start again, with the key that it has.
    let second = second.crash_and_restart();
    let mut agent = second.agent().await;
    let lead = json!({"contact": {"name": "Dana Rivera", "email": "dana@example.com"}, "interest": "buy",
        "consent": {"granted": true, "channels": ["email"]}, "idempotency_key": "k"});
    let made = agent.call("leads.create", lead.clone()).await;
    for desk in [&first, &second] {
        let (code, _, errors) = desk.command(&["key", "rotate"]);
        assert_eq!(
            (code, errors.as_str()),
            (
                Some(1),
                "frontdesk: the last rotation is not finished. Copy the new key to every node, and run: frontdesk key \
                 rotate --finish\n"
            )
        );
    }

    fs::write(key(&second), &new).unwrap();
    let (code, out, _) = first.command(&["key", "rotate", "--finish", "--json"]);
    assert_eq!(code, Some(0));
    assert!(out.contains(r#""state":"rotated""#), "{out}");
    let second = second.crash_and_restart();
    let mut agent = second.agent().await;
    assert_eq!(agent.call("leads.create", lead).await, made);
    assert_eq!(second.command(&["audit", "verify"]).0, Some(0));
    let (_, out, _) = first.command(&["key", "rotate", "--finish"]);
    assert_eq!(out, "No other master key opens the database.\n");
    fs::write(key(&second), &old).unwrap();
    let (code, _, errors) = second.command(&["audit", "verify"]);
    assert_eq!(
        (code, errors.as_str()),
        (
            Some(1),
            "frontdesk: the master key does not open this database. Put back the master.key file that was made with it.\n"
        )
    );
}
