//! Two hundred bookings of one time at once, on the store in memory.

use std::sync::Arc;

use frontdesk_contracts::automotive::service::workshop::Workshop;
use frontdesk_contracts::record::Stored;
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

/// The bays of a workshop decide who moves up, so they must still be those that the cancellation has read.
#[test]
fn nobody_moves_up_into_a_bay_that_is_gone_meanwhile() {
    let desk = Arc::new(TestDesk::open());
    let booking = json!({"vehicle": {"make": "Honda", "model": "Civic"}, "start": "2026-02-10T14:00:00Z",
        "service_codes": ["OIL"]});
    let made: Vec<Value> = (0..4).map(|_| desk.call_ok(SCOPES, "service.book_appointment", booking.clone())).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let workshop = made[0]["workshop_id"].as_str().unwrap().to_owned();
    runtime.block_on(async {
        let gate = desk.store.hold_commits();
        let (caller, cancel) = (Arc::clone(&desk), json!({"id": made[0]["id"]}));
        let task = tokio::spawn(async move { caller.call_async(SCOPES, "service.cancel_appointment", cancel).await });
        for _ in 0..1_000 {
            tokio::task::yield_now().await;
        }
        let mut row = desk.store.row("dlr_lakeside", Workshop::table(), &workshop).unwrap();
        assert!(row.body.contains(r#""bays":3,"#), "{}", row.body);
        row.body = row.body.replace(r#""bays":3,"#, r#""bays":2,"#);
        row.version += 1;
        desk.store.put("dlr_lakeside", Workshop::table(), row);
        gate.add_permits(1);
        assert_eq!(task.await.unwrap()["status"], "cancelled");
    });
    let waiting = desk.call_ok(SCOPES, "service.get_appointment", json!({"id": made[3]["id"]}));
    assert_eq!(waiting["status"], "waitlisted");
}
