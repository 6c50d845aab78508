//! A business's own system that hangs, fails or lies, over real HTTPS: the caller is told so in time, gets no payload that
//! breaks the intent, and never two orders.

use std::time::{Duration, Instant};

use frontdesk_testkit::app::receiver::ReceiverAnswer;
use serde_json::{Value, json};

use crate::backend_stage::{BackendServer, Called, Lie, configure};

/// The timeouts of the configuration end long before this, and a test's patience long after it.
const DEADLINE: Duration = Duration::from_secs(8);

fn error(code: &str) -> Called {
    Called::Error(code.to_owned())
}

/// Everything that may come back instead of an answer, and the code for a search.
fn troubles(port: u16) -> Vec<(ReceiverAnswer, &'static str)> {
    let elsewhere = format!("https://localhost:{port}/elsewhere");
    let json = |text: &str| ReceiverAnswer::Json(200, text.to_owned());
    vec![
        (ReceiverAnswer::Hang, "PARTNER_MAINTENANCE"),
        (ReceiverAnswer::Close, "PARTNER_MAINTENANCE"),
        (ReceiverAnswer::Json(500, "stack trace".to_owned()), "PARTNER_MAINTENANCE"),
        (ReceiverAnswer::Status(503), "PARTNER_MAINTENANCE"),
        (ReceiverAnswer::Late(Duration::from_secs(3), 200, "{}".to_owned()), "PARTNER_MAINTENANCE"),
        (ReceiverAnswer::Redirect(elsewhere), "INTERNAL_ERROR"),
        (ReceiverAnswer::Huge(2 << 20), "INTERNAL_ERROR"),
        (ReceiverAnswer::Status(404), "INTERNAL_ERROR"),
        (json("<html>stack trace</html>"), "INTERNAL_ERROR"),
        (json(r#"{"result":[]}"#), "INTERNAL_ERROR"),
        (json(r#"{"error":{"code":"ad_bid","message":"stack trace"}}"#), "INTERNAL_ERROR"),
    ]
}

const SEARCH_LIES: [Lie; 7] = [
    |answer| answer["result"]["ad_bid"] = json!(5),
    |answer| answer["result"]["options"][0]["adBid"] = json!(5),
    |answer| answer["debug"] = json!({"ad_bid": 5}),
    |answer| answer["result"]["options"][0]["fare_inr"] = json!("240"),
    |answer| answer["result"]["options"][0]["vehicle_class"] = json!("rocket"),
    |answer| drop(answer["result"].as_object_mut().unwrap().remove("result_token")),
    |answer| answer["result"]["options"] = Value::Null,
];

#[tokio::test]
async fn t_077_t_080_a_system_that_fails_is_answered_in_time() {
    let server = BackendServer::start();
    let mut caller = server.caller();
    for (trouble, code) in troubles(server.receiver.address.port()) {
        server.receiver.script([trouble.clone()]);
        let started = Instant::now();
        assert_eq!(caller.search().await, error(code), "{trouble:?}");
        assert!(started.elapsed() < DEADLINE, "{trouble:?}: {:?}", started.elapsed());
        // One that works again is used again.
        assert!(matches!(caller.search().await, Called::Payload(_)), "after {trouble:?}");
    }
    let paths: Vec<String> = server.receiver.requests().into_iter().map(|request| request.path).collect();
    assert!(!paths.iter().any(|path| path == "/elsewhere"), "a redirect was followed");
}

#[tokio::test]
async fn t_053_t_130_a_lie_over_https_reaches_no_caller() {
    let server = BackendServer::start();
    let mut caller = server.caller();
    for lie in SEARCH_LIES {
        server.lie(lie);
        assert_eq!(caller.search().await, error("INTERNAL_ERROR"));
    }
    // What is only too much is left out.
    server.lie(|answer| answer["result"]["options"][0]["margin_inr"] = json!(90));
    let Called::Payload(found) = caller.search().await else { panic!("it is answered without it") };
    assert_eq!(found["options"][0].as_object().unwrap().len(), 9, "{found}");
}

#[tokio::test]
async fn t_102_a_create_in_trouble_is_one_order_under_one_key() {
    let server = BackendServer::start();
    let mut caller = server.caller();
    let lies: [(Lie, &str); 5] = [
        (|answer| answer["result"]["ad_bid"] = json!(5), "INTERNAL_ERROR"),
        (|answer| answer["result"]["driver"]["ad_bid"] = json!(5), "INTERNAL_ERROR"),
        (|answer| answer["result"]["fare_inr"] = json!("240"), "INTERNAL_ERROR"),
        (|answer| answer["result"]["booking_ref"] = json!("../etc"), "INTERNAL_ERROR"),
        (|answer| drop(answer.as_object_mut().unwrap().remove("booking")), "INTERNAL_ERROR"),
    ];
    let mut number = 0;
    for (lie, code) in lies {
        number += 1;
        server.lie(lie);
        check_create(&server, number, code).await;
    }
    for (trouble, code) in troubles(server.receiver.address.port()) {
        number += 1;
        // The system has done it in any case, so that the same call again is invited where nothing is known of it.
        let code = if code == "PARTNER_MAINTENANCE" { "RATE_LIMITED" } else { code };
        server.receiver.script([trouble]);
        check_create(&server, number, code).await;
    }
    assert_eq!(server.system.order_count(), number);
    // A cancellation whose answer is lost, too.
    let Called::Payload(booked) = caller.book("c-1").await else { panic!("nothing is wrong any more") };
    let cancel = json!({"booking_ref": booked["booking_ref"], "request_id": "cancel-c-1"});
    server.receiver.script([ReceiverAnswer::Hang]);
    assert_eq!(caller.call("cancel_ride", cancel.clone()).await, error("RATE_LIMITED"));
    let Called::Payload(cancelled) = caller.call("cancel_ride", cancel).await else { panic!("it is repeated") };
    assert_eq!(cancelled["status"], "cancelled");
    let keys = &server.system.keys()["cancel-c-1"];
    assert_eq!((keys.len(), keys[0] == keys[1]), (2, true), "{keys:?}");
    let Called::Payload(again) = caller.book("c-1").await else { panic!("its key is known") };
    assert_eq!((&again["booking_ref"], &again["status"]), (&booked["booking_ref"], &json!("cancelled")));
}

/// The first try is answered with this code and in time, and the second with the one order that there is.
async fn check_create(server: &BackendServer, number: usize, code: &str) {
    let (mut caller, key) = (server.caller(), format!("k-{number}"));
    let started = Instant::now();
    assert_eq!(caller.book(&key).await, error(code), "{key}");
    assert!(started.elapsed() < DEADLINE, "{key}: {:?}", started.elapsed());
    let Called::Payload(booked) = caller.book(&key).await else { panic!("{key} is not answered") };
    assert_eq!(booked["status"], "confirmed");
    assert_eq!(booked.as_object().unwrap().len(), 10, "{booked}");
    let keys = &server.system.keys()[&key];
    assert!(keys.iter().all(|one| one == &keys[0]), "{keys:?}");
    assert_eq!(server.system.order_count(), number, "one order for {key}");
}

#[tokio::test]
async fn a_system_that_is_gone_is_maintenance_and_takes_no_key() {
    let mut server = BackendServer::start();
    let closed = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    configure(&server.folder, closed);
    server.desk.reload("configuration reloaded");
    let mut caller = server.caller();
    let started = Instant::now();
    assert_eq!(caller.search().await, error("PARTNER_MAINTENANCE"));
    assert_eq!(caller.book("k-1").await, error("PARTNER_MAINTENANCE"));
    assert!(started.elapsed() < DEADLINE, "{:?}", started.elapsed());
    configure(&server.folder, server.receiver.address.port());
    server.desk.reload("configuration reloaded");
    assert!(matches!(caller.book("k-1").await, Called::Payload(_)));
    assert_eq!((server.system.order_count(), server.system.keys()["k-1"].len()), (1, 1));
}
