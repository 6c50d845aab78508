//! What an agent and an operator see is the same as on SQLite; two desks on one database are one desk.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::Barrier;

use frontdesk_testkit::app::http_client::HttpClient;
use frontdesk_testkit::app::{PATH, TestAgent, TestApp};
use frontdesk_testkit::databases::{PostgresDatabase, PostgresServer};

fn lead(name: &str, key: &str) -> Value {
    json!({
        "contact": {"name": name, "email": "dana@example.com"},
        "interest": "buy",
        "consent": {"granted": true, "channels": ["email"]},
        "idempotency_key": key,
    })
}

async fn leads(agent: &mut TestAgent) -> usize {
    agent.all("leads.list", json!({"limit": 100})).await.len()
}

#[tokio::test]
async fn a_desk_on_postgres_keeps_data_and_shows_no_password() {
    let database = PostgresDatabase::create();
    let desk = TestApp::start_with(&[("FRONTDESK_DATABASE", &database.url())]);
    let mut agent = desk.agent().await;
    let stock = agent.all("inventory.search", json!({"limit": 25})).await;
    assert!(stock.len() > 25, "more than a page: {}", stock.len());
    let id = stock[0]["id"].as_str().unwrap().to_owned();
    let one = agent.call("inventory.get", json!({"id": id})).await;
    assert!(one.to_string().contains(&id), "{one}");
    let before = leads(&mut agent).await;
    let first = agent.call("leads.create", lead("Dana Rivera", "k-1")).await;
    assert!(first.to_string().contains("led_"), "{first}");
    assert_eq!(agent.call("leads.create", lead("Dana Rivera", "k-1")).await, first);
    assert_eq!(leads(&mut agent).await, before + 1);
    assert!(!desk.data().join("frontdesk.db").exists(), "nothing is written beside the server");

    let operator = desk.banner["operator_endpoint"].as_str().unwrap().strip_prefix("https://").unwrap();
    let page = HttpClient::new(operator.parse().unwrap(), &desk.ca_file()).get("/metrics").await;
    let value =
        |series: &str| page.text().lines().find_map(|line| line.strip_prefix(series)?.trim().parse::<u64>().ok());
    // Two dealerships, their data, two clients, a token and a lead; whatever was committed waits no more.
    assert!(value("frontdesk_commit_group_sum ") >= Some(8), "{}", page.text());
    assert!(value("frontdesk_commit_group_count ") <= value("frontdesk_commit_group_sum "), "{}", page.text());
    assert_eq!((value("frontdesk_writer_queue "), value("frontdesk_commits_failed_total ")), (Some(0), Some(0)));

    let desk = desk.crash_and_restart();
    let mut agent = desk.agent().await;
    assert_eq!(agent.call("leads.create", lead("Dana Rivera", "k-1")).await, first);
    assert_eq!(leads(&mut agent).await, before + 1);
    let (code, out, errors) = desk.command(&["audit", "verify"]);
    assert_eq!(code, Some(0), "{out}{errors}");
    assert!(out.contains("tenant:dlr_lakeside") && out.contains("The audit log is complete and unchanged."), "{out}");
    let (code, out, errors) = desk.command(&["audit", "export", "--tenant", "dlr_lakeside"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(out.contains(r#"{"chain":"tenant:dlr_lakeside","#), "{out}");
    assert!(!desk.log().contains("hunter2"));
}

#[tokio::test]
async fn two_desks_agree_on_keys_revocation_numbers_and_the_audit() {
    let database = PostgresDatabase::create();
    let first = TestApp::start_with(&[("FRONTDESK_DATABASE", &database.url())]);
    let second = first.second_node();
    let mut here = first.agent().await;
    let mut there = second.agent().await;
    let before = leads(&mut here).await;
    for round in 0..20 {
        let (name, key) = (format!("Dana {round}"), format!("k-{round}"));
        let (one, other) =
            tokio::join!(here.call("leads.create", lead(&name, &key)), there.call("leads.create", lead(&name, &key)));
        assert_eq!(one, other, "the same answer from both");
        assert!(one.to_string().contains("led_"), "{one}");
    }
    let conflict = there.code("leads.create", lead("Somebody Else", "k-1")).await;
    assert_eq!(conflict, "request.idempotency_conflict");
    assert_eq!(leads(&mut there).await, before + 20);

    let gaps = "SELECT tenant FROM fd_outbox GROUP BY tenant HAVING MIN(seq) <> 1 OR MAX(seq) <> COUNT(*)";
    assert_eq!(database.sql(gaps), [""; 0]);
    let added =
        database.sql("SELECT count(*) FROM fd_outbox WHERE tenant = 'dlr_lakeside' AND change = 'created' AND at > 0");
    assert!(added[0].parse::<usize>().unwrap() >= 20, "{added:?}");

    // A client added at one desk comes in at the other, until it is revoked at the first.
    let client = first.add_client(&["dlr_lakeside"], "amcp:inventory:read");
    let mut guest = second.agent_of_client(&client, "amcp:inventory:read").await;
    assert!(guest.call("inventory.search", json!({"limit": 1})).await.get("items").is_some());
    let (code, _, errors) = first.command(&["client", "revoke", &client.0]);
    assert_eq!(code, Some(0), "{errors}");
    let revoked = Instant::now();
    loop {
        let began = Instant::now();
        if guest.send("tools/list", json!({})).await.status == 401 {
            break;
        }
        // What was looked up before is believed for a second, however long an answer takes.
        assert!(began - revoked <= Duration::from_millis(1_100), "the other desk still lets the token in");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    let (code, out, errors) = second.command(&["audit", "verify"]);
    assert_eq!(code, Some(0), "{out}{errors}");
    assert_eq!(out.lines().filter(|line| line.contains("node:")).count(), 2, "{out}");
}

/// A new tenant with the same id has another key, and the desk that had the old one in memory uses the new one.
#[tokio::test]
async fn an_erased_tenant_is_gone_on_every_desk_and_its_id_is_free() {
    let database = PostgresDatabase::create();
    let first = TestApp::start_with(&[("FRONTDESK_DATABASE", &database.url())]);
    let second = first.second_node();
    let mut there = second.other_tenant().await;
    let old = there.call("leads.create", lead("Dana Rivera", "k-1")).await;
    assert!(old.to_string().contains("led_"), "{old}");
    let (code, out, errors) = first.command(&["tenant", "erase", "dlr_summit", "--confirm", "dlr_summit"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(out.starts_with("Tenant dlr_summit is erased: "), "{out}");
    assert_eq!(there.send("tools/list", json!({})).await.status, 401);
    assert_eq!(database.sql("SELECT count(*) FROM lead WHERE tenant = 'dlr_summit'"), ["0"]);

    let (code, _, errors) = first.command(&["tenant", "add", "dlr_summit", "--name", "Another Summit"]);
    assert_eq!(code, Some(0), "{errors}");
    let scopes = "amcp:leads:read amcp:leads:write";
    let client = first.add_client(&["dlr_summit"], scopes);
    let mut there = second.agent_of_client(&client, scopes).await;
    assert_eq!(leads(&mut there).await, 0);
    let made = there.call("leads.create", lead("Kim Park", "k-1")).await;
    let mut here = first.agent_of_client(&client, scopes).await;
    let found = here.call("leads.get", json!({"id": made["id"]})).await;
    assert_eq!(found["contact"]["name"], "Kim Park", "{found}");
    let (code, out, errors) = second.command(&["audit", "verify"]);
    assert_eq!(code, Some(0), "{out}{errors}");
}

/// Books at two desks on one database at once, until everybody has an answer; returns how often each status was one, and
/// how often somebody was told to come again.
async fn book_at_two_desks(desks: [&TestApp; 2], start: &Value, bookings: usize) -> BTreeMap<String, usize> {
    let begin = Arc::new(Barrier::new(bookings));
    let tokens = [desks[0].agent().await.token, desks[1].agent().await.token];
    let mut tasks = Vec::new();
    for turn in 0..bookings {
        let desk = desks[turn % 2];
        let mut client = HttpClient::new(desk.address, &desk.ca_file());
        let (bearer, begin) = (format!("Bearer {}", tokens[turn % 2]), Arc::clone(&begin));
        let call = json!({"name": "service.book_appointment", "arguments": {
            "vehicle": {"make": "Honda", "model": "Civic"}, "start": start, "service_codes": ["OIL"],
            "idempotency_key": format!("{start}-{turn}")}});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).to_string();
        tasks.push(tokio::spawn(async move {
            client.get("/.well-known/automotive-mcp.json").await;
            begin.wait().await;
            // Who met others at every attempt is told to come again, and a key makes that safe.
            for repeated in 0..50 {
                let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
                let response = client.request("POST", PATH, &headers, body.clone()).await;
                let answer: Value = serde_json::from_str(response.text()).unwrap();
                let answer = &answer["result"]["structuredContent"];
                match answer["status"].as_str() {
                    Some(status) => return (status.to_owned(), repeated),
                    None => assert_eq!(answer["error"]["details"]["retryable"], json!(true), "{answer}"),
                }
            }
            ("never".to_owned(), 50)
        }));
    }
    let mut statuses = BTreeMap::new();
    for task in tasks {
        let (status, repeated) = task.await.unwrap();
        *statuses.entry(status).or_default() += 1;
        *statuses.entry("repeated".to_owned()).or_default() += repeated;
    }
    statuses
}

#[tokio::test]
async fn two_desks_never_book_more_than_the_workshop_has() {
    let database = PostgresDatabase::create();
    let first = TestApp::start_with(&[
        ("FRONTDESK_DATABASE", &database.url()),
        ("FRONTDESK_LIMITS_CALLS_PER_MINUTE", "10000000"),
        ("FRONTDESK_LIMITS_BURST", "1000000"),
    ]);
    let second = first.second_node();
    let mut agent = first.agent().await;
    let free = agent.call("service.check_availability", json!({"service_codes": ["OIL"], "max_slots": 200})).await;
    // The last day has no bookings yet, so they also meet at making its row.
    let mut open = free["slots"].as_array().unwrap().iter().rev().filter(|slot| slot["places_left"] == 3);
    for desks in [[&first, &second], [&first, &first]] {
        // Slots of half an hour do not overlap, so the second of them has all its places, too.
        let start = &open.next().unwrap()["start"];
        let mut statuses = book_at_two_desks(desks, start, 200).await;
        // One process serves them in turn; of two, hardly anybody loses sixteen times.
        let repeated = statuses.remove("repeated").unwrap();
        assert!(repeated <= 2, "{repeated} were told to come again");
        assert_eq!(statuses, BTreeMap::from([("booked".to_owned(), 3), ("waitlisted".to_owned(), 197)]));
    }
}

#[tokio::test]
async fn a_desk_with_another_master_key_is_refused() {
    let database = PostgresDatabase::create();
    let first = TestApp::start_with(&[("FRONTDESK_DATABASE", &database.url())]);
    std::fs::rename(first.data().join("master.key"), first.data().join("old.key")).unwrap();
    let (code, _, errors) = first.command(&["audit", "verify"]);
    assert_eq!(code, Some(1), "without its key: {errors}");
    drop(first);
    let stranger = TestApp::start_error(&[("FRONTDESK_DATABASE", &database.url())]);
    assert_eq!(
        stranger,
        "frontdesk: the master key does not open this database. Put back the master.key file that was made with it.\n"
    );
}

#[tokio::test]
async fn calls_are_unavailable_while_postgres_is_down() {
    let database = PostgresDatabase::on(PostgresServer::start());
    let desk = TestApp::start_with(&[("FRONTDESK_DATABASE", &database.url())]);
    let mut agent = desk.agent().await;
    let first = agent.call("leads.create", lead("Dana Rivera", "k-1")).await;
    database.server().crash();
    let asked = Instant::now();
    let away = agent.send("tools/call", json!({"name": "leads.create", "arguments": lead("Dana Rivera", "k-2")})).await;
    assert!(asked.elapsed() < Duration::from_secs(25), "{:?}", asked.elapsed());
    let text = away.text().to_owned();
    assert!(text.contains(r#""code":"internal.unavailable""#) && text.contains(r#""retryable":true"#), "{text}");
    for word in ["postgres", "hunter2", "SQLSTATE", "connect"] {
        assert!(!text.contains(word), "{word} in {text}");
    }
    database.server().resume();
    served_again(&mut agent, "k-2").await;
    assert_eq!(served_again(&mut agent, "k-1").await, first);
    assert!(!desk.log().contains("hunter2"));
}

/// Repeats the order until it is served. For a moment after the return some of the desk's connections still pause
/// after their last vain attempt.
async fn served_again(agent: &mut TestAgent, key: &str) -> Value {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let answer = agent.call("leads.create", lead("Dana Rivera", key)).await;
        if answer.get("error").is_none() {
            return answer;
        }
        assert_eq!(answer["error"]["details"]["retryable"], true, "{answer}");
        assert!(Instant::now() < until, "{answer}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
