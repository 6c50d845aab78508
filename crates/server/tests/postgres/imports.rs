//! Feeds and ADF messages that are pushed to nodes on one PostgreSQL database, also to one that is killed meanwhile.

use std::time::{Duration, Instant};

use frontdesk_contracts::automotive::sample_feed;
use frontdesk_testkit::app::http_client::{HttpClient, HttpResponse};
use frontdesk_testkit::app::{TestAgent, TestApp};
use frontdesk_testkit::databases::PostgresDatabase;
use serde_json::{Value, json};
use tokio::time::sleep;

const TENANT: &str = "dlr_lakeside";
/// Longer than the lease of a node that was killed, and the time after which others look for such leases.
const PATIENCE: Duration = Duration::from_secs(180);

/// Two of the same kind that the demo does not have.
const VINS: [&str; 2] = ["4T1C11AK3NU900001", "4T1C11AK5NU900002"];

fn feed(rows: std::ops::Range<u32>) -> String {
    let text: String = rows.map(sample_feed::row).collect();
    format!("{}{text}", sample_feed::HEADER)
}

async fn post(agent: &mut TestAgent, path: &str, media_type: &str, body: &str) -> HttpResponse {
    let bearer = format!("Bearer {}", agent.token);
    let headers = [("authorization", bearer.as_str()), ("content-type", media_type)];
    agent.http.request("POST", path, &headers, body).await
}

async fn status(agent: &mut TestAgent, path: &str) -> Value {
    let bearer = format!("Bearer {}", agent.token);
    agent.http.request("GET", path, &[("authorization", &bearer)], "").await.json()
}

/// Polls until the import has ended.
async fn ended(agent: &mut TestAgent, path: &str) -> Value {
    let until = Instant::now() + PATIENCE;
    loop {
        let answer = status(agent, path).await;
        if !["queued", "checking", "applying"].contains(&answer["status"].as_str().unwrap()) {
            return answer;
        }
        assert!(Instant::now() < until, "the import does not end: {answer}");
        sleep(Duration::from_millis(100)).await;
    }
}

fn counts(import: &Value) -> [i64; 5] {
    ["rows", "created", "updated", "unchanged", "rejected"].map(|name| import[name].as_i64().unwrap())
}

fn number(database: &PostgresDatabase, text: &str) -> usize {
    database.sql(text)[0].parse().unwrap()
}

fn stock(database: &PostgresDatabase) -> usize {
    number(database, &format!("SELECT count(*) FROM vehicle WHERE tenant = '{TENANT}'"))
}

/// Vehicles that were announced as new.
fn announced(database: &PostgresDatabase) -> usize {
    let condition = "kind = 'vehicle' AND change = 'created'";
    number(database, &format!("SELECT count(*) FROM fd_outbox WHERE tenant = '{TENANT}' AND {condition}"))
}

fn verify_audit(desk: &TestApp) {
    let (code, out, errors) = desk.command(&["audit", "verify"]);
    assert_eq!(code, Some(0), "{out}{errors}");
}

#[tokio::test]
async fn a_pushed_import_is_run_by_one_of_two_nodes() {
    let database = PostgresDatabase::create();
    let first = TestApp::start_with(&[("FRONTDESK_DATABASE", &database.url())]);
    let second = first.second_node();
    let (mut here, mut there) = (first.agent().await, second.agent().await);
    let before = stock(&database);
    let accepted = post(&mut here, "/v1/imports/vehicles", "text/csv", &feed(0..600)).await;
    assert_eq!(accepted.status, 202, "{}", accepted.text());
    let location = accepted.header("location").unwrap().to_owned();
    // The other node tells the same about it.
    let done = ended(&mut there, &location).await;
    assert_eq!((&done["status"], counts(&done)), (&json!("completed"), [600, 600, 0, 0, 0]), "{done}");
    assert_eq!(stock(&database), before + 600);
    let again = post(&mut there, "/v1/imports/vehicles", "text/csv", &feed(0..600)).await;
    let done = ended(&mut here, again.header("location").unwrap()).await;
    assert_eq!((&done["status"], counts(&done)), (&json!("completed"), [600, 0, 0, 600, 0]), "{done}");

    // By the tool, with a row that is wrong: nothing is applied, unless the others are wanted.
    let item = |number: &str, make: &str| {
        json!({"vin": VINS[0], "stock_number": number, "condition": "used", "year": 2022, "make": make,
            "model": "Camry", "mileage": {"value": 12_000, "unit": "mi"},
            "price": {"amount": 2_350_000, "currency": "USD"}})
    };
    let second_item = |make: &str| {
        let mut item = item("T-2", make);
        item["vin"] = json!(VINS[1]);
        item
    };
    let arguments = json!({"resource": "vehicles", "items": [item("T-1", "Toyota"), second_item("Fiat")]});
    let refused = there.call("x_frontdesk.import_items", arguments.clone()).await;
    let path = format!("/v1/imports/{}", refused["id"].as_str().unwrap());
    let done = ended(&mut here, &path).await;
    assert_eq!((&done["status"], counts(&done)), (&json!("rejected"), [2, 0, 0, 0, 1]), "{done}");
    assert_eq!(done["problems"], json!([{"line": 2, "field": "/make", "reason": "the VIN says Toyota."}]), "{done}");
    assert_eq!(stock(&database), before + 600);
    let mut skipping = arguments;
    skipping["bad_rows"] = json!("skip");
    let taken = there.call("x_frontdesk.import_items", skipping).await;
    let done = ended(&mut here, &format!("/v1/imports/{}", taken["id"].as_str().unwrap())).await;
    assert_eq!((&done["status"], counts(&done)), (&json!("completed"), [2, 1, 0, 0, 1]), "{done}");
    assert_eq!(stock(&database), before + 601);
    assert_eq!(number(&database, "SELECT count(*) FROM import_feed"), 0, "what was imported is not kept");
    verify_audit(&second);
}

#[tokio::test]
async fn an_import_of_a_killed_node_is_completed_by_the_other() {
    const ROWS: u32 = 3_000;
    let database = PostgresDatabase::create();
    let mut first = TestApp::start_with(&[("FRONTDESK_DATABASE", &database.url())]);
    let second = first.second_node();
    let (before, announced_before) = (stock(&database), announced(&database));
    let mut there = second.agent().await;
    let mut pushed = 0;
    // A node that was faster than the kill gets another feed.
    let location = loop {
        assert!(pushed < 5, "no kill came while rows were applied");
        let mut here = first.agent().await;
        let text = feed(pushed * ROWS..(pushed + 1) * ROWS);
        let accepted = post(&mut here, "/v1/imports/vehicles", "text/csv", &text).await;
        let location = accepted.header("location").unwrap().to_owned();
        let aim = before + usize::try_from(pushed * ROWS + ROWS / 4).unwrap();
        pushed += 1;
        let until = Instant::now() + PATIENCE;
        while stock(&database) < aim {
            assert!(Instant::now() < until, "the import does not begin");
            sleep(Duration::from_millis(5)).await;
        }
        first.signal("KILL");
        first.wait();
        if status(&mut there, &location).await["status"] == "applying" {
            break location;
        }
        first = first.start_again();
    };
    let done = ended(&mut there, &location).await;
    let [rows, created, updated, unchanged, rejected] = counts(&done);
    // What the first node had applied of its last chunk is found as it should be.
    assert_eq!((&done["status"], rows, created + unchanged), (&json!("completed"), i64::from(ROWS), i64::from(ROWS)));
    assert_eq!((updated, rejected), (0, 0), "{done}");
    let all = usize::try_from(pushed * ROWS).unwrap();
    assert_eq!(stock(&database), before + all);
    assert_eq!(
        number(&database, &format!("SELECT count(DISTINCT vin) FROM vehicle WHERE tenant = '{TENANT}'")),
        before + all
    );
    assert_eq!(announced(&database), announced_before + all, "each vehicle was added once");
    verify_audit(&second);
}

fn message(prospects: usize) -> String {
    let prospect = |number: usize| {
        format!(
            "<prospect><id source=\"portal\">{number}</id><vehicle><make>Ford</make><model>Bronco</model></vehicle><customer>\
             <contact><name part=\"full\">Pat Doe</name><email>pat-{number}@example.com</email></contact></customer></prospect>"
        )
    };
    format!("<adf>{}</adf>", (0..prospects).map(prospect).collect::<String>())
}

fn leads(database: &PostgresDatabase) -> usize {
    number(database, &format!("SELECT count(*) FROM lead WHERE tenant = '{TENANT}'"))
}

const ADF: &str = "/v1/adf?consent_channels=email";

fn lead_ids(answer: &Value) -> Vec<&str> {
    answer["prospects"].as_array().unwrap().iter().map(|prospect| prospect["lead_id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn an_adf_message_sent_to_two_nodes_at_once_is_one_lead_each() {
    let database = PostgresDatabase::create();
    let first = TestApp::start_with(&[("FRONTDESK_DATABASE", &database.url())]);
    let second = first.second_node();
    let (mut here, mut there) = (first.agent().await, second.agent().await);
    let before = leads(&database);
    let refused = post(&mut here, "/v1/adf", "application/xml", &message(1)).await;
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (422, &json!("consent.required")));
    let text = message(20);
    let (one, other) =
        tokio::join!(post(&mut here, ADF, "application/xml", &text), post(&mut there, ADF, "text/xml", &text));
    assert_eq!((one.status, other.status), (200, 200), "{} {}", one.text(), other.text());
    assert_eq!(lead_ids(&one.json()), lead_ids(&other.json()));
    assert_eq!(leads(&database), before + 20);
    verify_audit(&second);
}

#[tokio::test]
async fn an_adf_message_cut_off_by_a_kill_is_completed_if_sent_again() {
    const PROSPECTS: usize = 300;
    let database = PostgresDatabase::create();
    let mut first = TestApp::start_with(&[("FRONTDESK_DATABASE", &database.url())]);
    let second = first.second_node();
    let before = leads(&database);
    let sent = {
        let (address, ca_file, token) = (first.address, first.ca_file(), first.agent().await.token);
        tokio::spawn(async move {
            let mut client = HttpClient::new(address, &ca_file);
            let bearer = format!("Bearer {token}");
            let headers = [("authorization", bearer.as_str()), ("content-type", "application/xml")];
            client.try_request("POST", ADF, &headers, message(PROSPECTS)).await.is_ok()
        })
    };
    let until = Instant::now() + PATIENCE;
    while leads(&database) < before + 20 {
        assert!(Instant::now() < until, "the message is not taken");
        sleep(Duration::from_millis(2)).await;
    }
    first.signal("KILL");
    first.wait();
    let answered = sent.await.unwrap();
    let taken = leads(&database) - before;
    assert!(!answered || taken == PROSPECTS, "it was answered, and {taken} were taken");
    let mut there = second.agent().await;
    let answer = post(&mut there, ADF, "application/xml", &message(PROSPECTS)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let answer = answer.json();
    let mut ids = lead_ids(&answer);
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((ids.len(), leads(&database) - before), (PROSPECTS, PROSPECTS), "each is one lead");
    verify_audit(&second);
}
