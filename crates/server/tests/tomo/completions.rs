//! Completions over real HTTPS: from the call that ends a booking to the receiver that checks what it is told.

use frontdesk_testkit::app::process::run_frontdesk;
use frontdesk_testkit::app::receiver::ReceiverAnswer;
use serde_json::{Value, json};

use crate::completion_stage::{CALLBACK_PATH, CompletionServer, KEY, NEW_KEY, signature, write};
use crate::stage::{LIVE, SANDBOX};

#[tokio::test]
async fn t_140_a_cancelled_booking_is_reported_once() {
    let server = CompletionServer::start(&[KEY]);
    let tried = server.book(SANDBOX, "k-sandbox").await;
    server.cancel(SANDBOX, &tried).await;
    let booking = server.book(LIVE, "k-1").await;
    assert_eq!(server.receiver.requests().len(), 0, "a booking that can change is not reported");
    let cancelled = server.cancel(LIVE, &booking).await;
    let received = server.receiver.wait_for(1).await;
    let [request] = received.as_slice() else { panic!("{received:?}") };
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", CALLBACK_PATH));
    assert_eq!(request.header("content-type"), Some("application/json"));
    let timestamp = request.header("x-tomo-timestamp").unwrap();
    assert_eq!(timestamp.len(), 13);
    assert!(timestamp.parse::<i64>().unwrap().abs_diff(request.at) < 60_000, "{timestamp} is not {}", request.at);
    assert_eq!(request.header("x-tomo-signature").unwrap(), signature(KEY, timestamp, &request.body));
    let body: Value = serde_json::from_str(&request.body).unwrap();
    assert_eq!(
        body,
        json!({
            "intent": "travel.book_hotel", "intent_version": "v1.0.0", "external_id": booking,
            "amount_inr": cancelled["cancellation_fee_inr"], "closed_at": cancelled["cancelled_at"],
            "request_id": "request-k-1", "status": "stay_cancelled", "currency": "INR", "notes": "",
        })
    );
    server.cancel(LIVE, &booking).await;
    server.wait_for_delivered(1).await;
    let records = server.records();
    assert!(records.contains("delivery arrived"), "{records}");
    assert!(!records.contains(KEY) && !records.contains("sha256=") && !records.contains("stay_cancelled"));
}

#[tokio::test]
async fn t_145_keys_are_replaced_by_a_reload_and_appear_nowhere() {
    let mut server = CompletionServer::start(&[]);
    let booking = server.book(LIVE, "k-1").await;
    server.cancel(LIVE, &booking).await;
    server.desk.logged("deliveries are kept and not sent");
    assert_eq!(server.receiver.requests().len(), 0);
    server.receiver.script([ReceiverAnswer::Status(401)]);
    server.reload(&[NEW_KEY, KEY]);
    let received = server.receiver.wait_for(2).await;
    for (request, key) in received.iter().zip([NEW_KEY, KEY]) {
        let timestamp = request.header("x-tomo-timestamp").unwrap();
        assert_eq!(request.header("x-tomo-signature").unwrap(), signature(key, timestamp, &request.body));
    }
    assert_eq!(received[0].body, received[1].body);
    let shown = server.command(&["config", "show", "--config", "desk.toml"]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    let records = format!("{}{}{}", shown.out, shown.err, server.records());
    assert!(!records.contains(KEY) && !records.contains(NEW_KEY) && !records.contains("sha256="), "{records}");
}

#[tokio::test]
async fn t_144_a_refused_signature_is_an_error_in_log_metrics_and_list() {
    let mut server = CompletionServer::start(&[KEY]);
    server.receiver.script([ReceiverAnswer::Status(401)]);
    let booking = server.book(LIVE, "k-1").await;
    server.cancel(LIVE, &booking).await;
    let log = server.desk.logged("delivery refused: no key is accepted");
    assert!(log.lines().any(|line| line.contains("\"level\":\"error\"") && line.contains(&booking)), "{log}");
    let listed = server.command(&["tomo", "completions", "list", "--config", "desk.toml"]);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    assert!(
        listed.out.contains(&booking) && listed.out.contains("alarmed") && listed.out.contains("401"),
        "{listed:?}"
    );
    assert!(listed.out.contains("Alarmed: no key is accepted."), "{listed:?}");
    // It is tried again by itself, and arrives.
    let received = server.receiver.wait_for(2).await;
    assert_eq!(received[0].body, received[1].body);
    assert_ne!(received[0].header("x-tomo-timestamp"), received[1].header("x-tomo-timestamp"));
    server.desk.logged("delivery arrived");
    let delivered = server.command(&["tomo", "completions", "list", "--json", "--config", "desk.toml"]);
    let line: Value = serde_json::from_str(delivered.out.trim()).unwrap();
    assert_eq!((&line["delivery"]["status"], &line["delivery"]["tries"]), (&json!("delivered"), &json!(2)));
}

#[tokio::test]
async fn t_149_a_test_completion_says_what_was_answered() {
    let server = CompletionServer::start(&[KEY]);
    let accepted = server.command(&["tomo", "completions", "test", "--config", "desk.toml"]);
    assert_eq!((accepted.code, accepted.out.as_str()), (Some(0), "/mcp/hotel  201  accepted\n"), "{accepted:?}");
    let request = server.receiver.requests().remove(0);
    let timestamp = request.header("x-tomo-timestamp").unwrap();
    assert_eq!(request.header("x-tomo-signature").unwrap(), signature(KEY, timestamp, &request.body));
    server.receiver.script([ReceiverAnswer::Status(200)]);
    let refused = server.command(&["tomo", "completions", "test", "--config", "desk.toml"]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(1), "/mcp/hotel  200  NOT accepted\n"), "{refused:?}");
    let replayed = server.command(&["tomo", "completions", "replay", "--all", "--config", "desk.toml"]);
    assert_eq!((replayed.code, replayed.out.as_str()), (Some(0), "0 deliveries due now.\n"), "{replayed:?}");
    let unknown = server.command(&["tomo", "completions", "replay", "dlv_none", "--config", "desk.toml"]);
    assert_eq!(unknown.code, Some(1), "{unknown:?}");
    assert!(unknown.err.contains("there is no delivery `dlv_none`"), "{unknown:?}");
    // Without a server the list can be read, and a test has no keys.
    let CompletionServer { folder, desk, .. } = server;
    desk.stop();
    let listed = run_frontdesk(folder.path(), &["tomo", "completions", "list", "--config", "desk.toml"]);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    let tested = run_frontdesk(folder.path(), &["tomo", "completions", "test", "--config", "desk.toml"]);
    assert!(tested.code == Some(1) && tested.err.contains("no server runs on this data folder"), "{tested:?}");
}

#[tokio::test]
async fn w1_a_callback_on_a_private_address_is_not_called() {
    let server = CompletionServer::start(&[KEY]);
    let CompletionServer { folder, desk, receiver, .. } = server;
    desk.stop();
    write(&folder, receiver.address, &[KEY], "[]");
    let mut server = CompletionServer::serve(folder, receiver);
    let booking = server.book(LIVE, "k-1").await;
    server.cancel(LIVE, &booking).await;
    let log = server.desk.logged("delivery failed; it is tried again");
    assert!(log.contains("address refused"), "{log}");
    assert_eq!(server.receiver.connections(), 0);
}

#[tokio::test]
async fn t_146_parallel_cancellations_are_one_completion_each() {
    let server = CompletionServer::start(&[KEY]);
    let mut bookings = Vec::new();
    for number in 0..6 {
        bookings.push(server.book(LIVE, &format!("k-{number}")).await);
    }
    let cancelled = bookings.iter().flat_map(|booking| (0..5).map(|_| server.cancel(LIVE, booking)));
    futures_util::future::join_all(cancelled).await;
    server.wait_for_delivered(6).await;
    let CompletionServer { folder, desk, receiver, .. } = server;
    desk.stop();
    // A later start finds nothing that is still owed.
    let server = CompletionServer::serve(folder, receiver);
    let extra = server.book(LIVE, "k-last").await;
    server.cancel(LIVE, &extra).await;
    let received = server.receiver.wait_for(7).await;
    let mut told: Vec<String> = received
        .iter()
        .map(|request| {
            serde_json::from_str::<Value>(&request.body).unwrap()["external_id"].as_str().unwrap().to_owned()
        })
        .collect();
    told.sort();
    bookings.push(extra);
    bookings.sort();
    assert_eq!(told, bookings);
}

/// Killed while the receiver has the request and the answer is not stored: the same body comes again.
#[tokio::test]
async fn t_149_a_server_killed_before_the_answer_is_stored_sends_again() {
    let server = CompletionServer::start(&[KEY]);
    server.receiver.script([ReceiverAnswer::Hang]);
    let booking = server.book(LIVE, "k-1").await;
    server.cancel(LIVE, &booking).await;
    server.receiver.wait_for(1).await;
    let CompletionServer { folder, desk, receiver, .. } = server;
    desk.signal("KILL");
    desk.end();
    let server = CompletionServer::serve(folder, receiver);
    // Its lease has to end first; the operator need not wait for it.
    let list = server.command(&["tomo", "completions", "list", "--json", "--config", "desk.toml"]);
    let line: Value = serde_json::from_str(list.out.trim()).unwrap();
    let id = line["delivery"]["id"].as_str().unwrap().to_owned();
    let replayed = server.command(&["tomo", "completions", "replay", &id, "--config", "desk.toml"]);
    assert_eq!(replayed.code, Some(0), "{replayed:?}");
    let received = server.receiver.wait_for(2).await;
    assert_eq!(received[0].body, received[1].body);
    assert!(received[1].body.contains(&booking));
}
