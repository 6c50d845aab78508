//! Orders move forward only; what each stage means for the money and for the portions.

use frontdesk_contracts::tomo::booking::BookingStatus;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Code, FaultKind};
use serde_json::{Value, json};

use super::data::NOW;
use super::desk::PartnerDesk;
use super::support::{LIVE, cart, move_order, open, ordered, ordered_dish, stored};

const STAGES: [&str; 9] =
    ["placed", "accepted", "preparing", "ready", "picked_up", "delivered", "cancelled", "rejected", "failed"];

#[tokio::test]
async fn an_order_moves_forward_only() {
    // For each stage, those that can follow it.
    let forward = |from: usize, to: usize| match to {
        // Some systems leave stages out.
        1..=5 => from < to,
        6 | 7 => from < 4,
        8 => true,
        _ => false,
    };
    for (from, earlier) in STAGES.iter().enumerate().take(5) {
        for (to, stage) in STAGES.iter().enumerate() {
            let (desk, store) = open();
            let placed = ordered(&desk, LIVE, "key-1").await;
            if from > 0 {
                move_order(&desk, &placed, earlier, json!({})).await.unwrap();
            }
            let before = stored(&store, &placed);
            let moved = move_order(&desk, &placed, stage, json!({})).await;
            let after = stored(&store, &placed);
            if from == to {
                assert!(moved.is_ok() && after == before, "repeating {stage} changes nothing");
            } else if forward(from, to) {
                moved.unwrap();
                assert_eq!(after.stage.as_deref(), Some(*stage));
            } else {
                let fault = moved.unwrap_err();
                assert_eq!((fault.kind, fault.problems[0].pointer.as_str()), (FaultKind::InvalidArgument, "/stage"));
                assert_eq!(after, before, "{earlier} to {stage}");
            }
        }
    }
}

#[tokio::test]
async fn what_has_ended_stays_so() {
    for last in &STAGES[5..] {
        let (desk, store) = open();
        let placed = ordered(&desk, LIVE, "key-1").await;
        move_order(&desk, &placed, last, json!({})).await.unwrap();
        let ended = stored(&store, &placed);
        assert_eq!(ended.ended_at, Some(NOW), "{last}");
        for stage in STAGES {
            let moved = move_order(&desk, &placed, stage, json!({})).await;
            if stage == *last {
                moved.unwrap();
            } else {
                assert_eq!(moved.unwrap_err().kind, FaultKind::Domain(Code("BOOKING_CLOSED")));
            }
            assert_eq!(stored(&store, &placed), ended);
        }
    }
}

/// Status, net, refund and its percent, of two dosas for 239: 200 without tax and delivery.
async fn ended(path: &[&str], details: Value) -> (BookingStatus, Option<i64>, Option<i64>, Option<i64>) {
    let (desk, store) = open();
    let placed = ordered(&desk, LIVE, "key-1").await;
    let (last, before) = path.split_last().unwrap();
    for stage in before {
        move_order(&desk, &placed, stage, json!({})).await.unwrap();
    }
    move_order(&desk, &placed, last, details).await.unwrap();
    let booking = stored(&store, &placed);
    (
        booking.status,
        booking.net_inr.map(|net| net.get()),
        booking.refund_inr.map(|refund| refund.get()),
        booking.refund_percent.map(|percent| percent.get()),
    )
}

#[tokio::test]
async fn every_end_says_what_is_earned_and_what_is_paid_back() {
    use BookingStatus::{Cancelled, Completed, Failed};
    assert_eq!(ended(&["accepted", "delivered"], json!({})).await, (Completed, Some(200), None, None));
    assert_eq!(ended(&["delivered"], json!({"net_inr": 180})).await, (Completed, Some(180), None, None));
    assert_eq!(ended(&["cancelled"], json!({})).await, (Cancelled, Some(0), Some(239), Some(100)));
    let half = (Cancelled, Some(100), Some(120), Some(50));
    for stage in ["accepted", "preparing", "ready"] {
        assert_eq!(ended(&[stage, "cancelled"], json!({})).await, half, "{stage}");
    }
    let said = ended(&["ready", "cancelled"], json!({"net_inr": 90})).await;
    assert_eq!(said, (Cancelled, Some(90), Some(120), Some(50)));
    let nothing = (Failed, Some(0), Some(239), Some(100));
    assert_eq!(ended(&["rejected"], json!({"reason": "No gas."})).await, nothing);
    assert_eq!(ended(&["picked_up", "failed"], json!({"net_inr": 0})).await, nothing);
}

#[tokio::test]
async fn details_are_checked_and_kept() {
    let (desk, store) = open();
    let placed = ordered(&desk, LIVE, "key-1").await;
    for (stage, details, pointer) in [
        ("accepted", json!({"eta_minutes": -1}), "/details/eta_minutes"),
        ("accepted", json!({"eta_minutes": 1.5}), "/details/eta_minutes"),
        ("accepted", json!({"courier_name": ""}), "/details/courier_name"),
        ("accepted", json!({"courier_name": "  "}), "/details/courier_name"),
        ("accepted", json!({"location": {"lat": 91, "lng": 0}}), "/details/location/lat"),
        ("accepted", json!({"location": {"lat": 9}}), "/details/location/lng"),
        ("accepted", json!({"net_inr": 10}), "/details/net_inr"),
        ("accepted", json!({"surprise": 1}), "/details/surprise"),
        ("delivered", json!({"net_inr": 240}), "/details/net_inr"),
        ("failed", json!({"net_inr": 1}), "/details/net_inr"),
        ("eaten", json!({}), "/stage"),
        ("unknown", json!({}), "/stage"),
    ] {
        let before = store.contents();
        let fault = move_order(&desk, &placed, stage, details.clone()).await.unwrap_err();
        assert_eq!(fault.problems[0].pointer, pointer, "{details}");
        assert_eq!(store.contents(), before);
    }
    desk.clock.advance(60_000);
    let details =
        json!({"eta_minutes": 30, "courier_name": " Ravi  Kumar Rao", "location": {"lat": 12.97, "lng": 77.6}});
    move_order(&desk, &placed, "accepted", details).await.unwrap();
    let order = stored(&store, &placed).order.unwrap();
    assert_eq!(order.courier_name.as_deref(), Some("Ravi"), "only the first name is stored");
    assert_eq!((order.stage_at, order.eta_at), (Millis(NOW.0 + 60_000), Millis(NOW.0 + 31 * 60_000)));
    // The same stage again tells what is new.
    desk.clock.advance(60_000);
    move_order(&desk, &placed, "accepted", json!({"eta_minutes": 5})).await.unwrap();
    let again = stored(&store, &placed).order.unwrap();
    assert_eq!((again.stage_at, again.eta_at), (order.stage_at, Millis(NOW.0 + 7 * 60_000)));
}

async fn left(desk: &PartnerDesk, quantity: i64) -> bool {
    let wanted = cart("rst_tiffin", json!([{"dish_id": "dsh_few", "quantity": quantity}]));
    desk.call(LIVE, "compute_cart_total", wanted).await.is_ok()
}

#[tokio::test]
async fn portions_come_back_while_nothing_was_cooked() {
    for (path, comes_back) in [
        (["accepted", "cancelled"].as_slice(), true),
        (&["rejected"], true),
        (&["failed"], true),
        (&["preparing", "cancelled"], false),
        (&["ready", "rejected"], false),
        (&["picked_up", "failed"], false),
        (&["delivered"], false),
    ] {
        let (desk, _) = open();
        let placed = ordered_dish(&desk, LIVE, "dsh_few", 2, "key-1").await;
        assert!(left(&desk, 3).await && !left(&desk, 4).await);
        for stage in path {
            move_order(&desk, &placed, stage, json!({})).await.unwrap();
            move_order(&desk, &placed, stage, json!({})).await.unwrap();
        }
        assert_eq!((left(&desk, 5).await, left(&desk, 6).await), (comes_back, false), "{path:?}");
        assert!(left(&desk, 3).await);
    }
}

#[tokio::test]
async fn cancelling_pays_back_by_stage_and_answers_the_same_again() {
    // Half of 271 is 135.50, which is rounded up.
    for (stage, percent, refund, comes_back) in [
        ("placed", 100, 271, true),
        ("accepted", 50, 136, true),
        ("preparing", 50, 136, false),
        ("ready", 50, 136, false),
    ] {
        let (desk, store) = open();
        let placed = ordered_dish(&desk, LIVE, "dsh_few", 2, "key-1").await;
        // 220 + 10 = 230, 11.50 of tax, 29 for delivery: 271.
        assert_eq!(placed["total_inr"], 271);
        move_order(&desk, &placed, stage, json!({})).await.unwrap();
        let reference = json!({"booking_ref": placed["booking_ref"]});
        let answer = desk.ok(LIVE, "cancel_order", reference.clone()).await;
        assert_eq!(
            answer,
            json!({"booking_ref": placed["booking_ref"], "status": "cancelled", "stage": "cancelled", "total_inr": 271,
                "refund_percent": percent, "refund_inr": refund, "cancellation_fee_inr": 271 - refund,
                "cancelled_at": "2027-02-20T06:00:00Z"})
        );
        let booking = stored(&store, &placed);
        assert_eq!(booking.ended_at, Some(NOW));
        assert_eq!(booking.net_inr.map(|net| net.get()), Some(if percent == 100 { 0 } else { 115 }));
        assert_eq!(left(&desk, 5).await, comes_back, "{stage}");
        let before = store.contents();
        desk.clock.advance(60_000);
        assert_eq!(desk.ok(LIVE, "cancel_order", reference).await, answer);
        assert_eq!(stored(&store, &placed), booking);
        assert_eq!(before, store.contents());
    }
}
