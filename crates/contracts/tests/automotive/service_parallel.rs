//! Two hundred bookings of one time at once, on the store in memory.

use std::sync::Arc;

use serde_json::{Value, json};

use super::support::TestDesk;

const SCOPES: &str = "amcp:service:read amcp:service:write";

/// All have planned before the first of them is committed, so that everybody has seen the same free day.
async fn at_once(desk: &Arc<TestDesk>, tool: &'static str, calls: Vec<Value>) -> Vec<Value> {
    let gate = desk.store.hold_commits();
    let call = |arguments: Value| {
        let desk = Arc::clone(desk);
        tokio::spawn(async move { desk.call_async(SCOPES, tool, arguments).await })
    };
    let tasks: Vec<_> = calls.into_iter().map(call).collect();
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    gate.add_permits(1);
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.unwrap());
    }
    answers
}

#[test]
fn two_hundred_bookings_at_once_take_three_places() {
    let desk = Arc::new(TestDesk::open());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let booking = json!({"vehicle": {"make": "Honda", "model": "Civic"}, "start": "2026-02-10T14:00:00Z",
        "service_codes": ["OIL"]});
    let answers = runtime.block_on(at_once(&desk, "service.book_appointment", vec![booking; 200]));
    let of = |status: &str| answers.iter().filter(|answer| answer["status"] == status).collect::<Vec<_>>();
    assert_eq!((of("booked").len(), of("waitlisted").len()), (3, 197), "{:?}", answers.last());
    let slots = json!({"service_codes": ["OIL"], "from": "2026-02-10T14:00:00Z", "max_slots": 1, "include_full": true});
    let free = desk.call_ok(SCOPES, "service.check_availability", slots);
    assert_eq!(free["slots"][0]["places_left"], 0);

    // Three cancellations at once let three move up, those who came first.
    let cancel = of("booked").iter().map(|answer| json!({"id": answer["id"]})).collect();
    runtime.block_on(at_once(&desk, "service.cancel_appointment", cancel));
    let booked = desk.call_ok(
        SCOPES,
        "service.list_appointments",
        json!({"status": "booked", "limit": 100,
        "start_min": "2026-02-10T14:00:00Z", "start_max": "2026-02-10T14:00:00Z"}),
    );
    assert_eq!(booked["items"].as_array().unwrap().len(), 3);
    assert!(booked["items"].as_array().unwrap().iter().all(|one| one.get("moved_up_at").is_some()), "{booked}");
}
