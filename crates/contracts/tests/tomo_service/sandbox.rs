//! The sandbox is harmless: it takes nothing away from anybody. And no business sees another's.

use frontdesk_contracts::tomo::LIVE;
use frontdesk_testkit::MemoryStore;
use serde_json::{Value, json};

use super::data::OTHER;
use super::support::{
    DEALERSHIP_LIVE, DEALERSHIP_SANDBOX, OWN_LIVE, OWN_SANDBOX, ServiceDesk, booking_at, booking_of, general_service,
};

/// Everything but the rows of this contract.
fn of_the_dealership(store: &MemoryStore) -> String {
    store.inspect(|state| {
        let rows = state.rows.iter().filter(|((_, table, _), _)| !table.starts_with("tomo_"));
        format!("{:?}", rows.collect::<Vec<_>>())
    })
}

#[tokio::test]
async fn t_122_a_sandbox_booking_touches_nothing_of_the_dealership() {
    let (desk, store) = ServiceDesk::open();
    let before = of_the_dealership(&store);
    assert!(before.contains("wsp_main"));
    let found = desk.ok(DEALERSHIP_SANDBOX, "search_providers", general_service("Bengaluru", "2027-03-01")).await;
    let booked = desk.ok(DEALERSHIP_SANDBOX, "book_slot", booking_of(&found, "20270301T033000Z", "key-1")).await;
    assert_eq!((&booked["mode"], &booked["status"]), (&json!("sandbox"), &json!("confirmed")));
    let order = json!({"booking_ref": booked["booking_ref"], "slot_id": "20270302T033000Z"});
    desk.ok(DEALERSHIP_SANDBOX, "modify_booking", order).await;
    let reference = json!({"booking_ref": booked["booking_ref"]});
    desk.ok(DEALERSHIP_SANDBOX, "cancel_booking", reference).await;
    assert_eq!(of_the_dealership(&store), before);
    assert_eq!(store.events(), [""; 0], "nobody who follows the business's events sees what is only tried out");
}

#[tokio::test]
async fn t_122_the_sandbox_counts_its_own_places() {
    let (desk, _) = ServiceDesk::open();
    let pairs = [(OWN_LIVE, OWN_SANDBOX, "prv_koramangala"), (DEALERSHIP_LIVE, DEALERSHIP_SANDBOX, "wsp_main")];
    for (live, sandbox, id) in pairs {
        let found = desk.ok(sandbox, "search_providers", general_service("Bengaluru", "2027-03-01")).await;
        for key in ["key-1", "key-2"] {
            desk.ok(sandbox, "book_slot", booking_at(&found, id, "20270301T033000Z", key)).await;
        }
        let third = booking_at(&found, id, "20270301T033000Z", "key-3");
        assert_eq!(desk.code(sandbox, "book_slot", third).await, "NOT_AVAILABLE");
        let left = async |partner| -> Value {
            let found = desk.ok(partner, "search_providers", general_service("Bengaluru", "2027-03-01")).await;
            let slot = found["providers"][0]["slots"][0].clone();
            json!([slot["slot_id"], slot["places_left"]])
        };
        assert_eq!(left(live).await, json!(["20270301T033000Z", 2]), "nobody's place is gone");
        assert_eq!(left(sandbox).await, json!(["20270301T053000Z", 2]));
        let found = desk.ok(live, "search_providers", general_service("Bengaluru", "2027-03-01")).await;
        desk.ok(live, "book_slot", booking_at(&found, id, "20270301T033000Z", "live-1")).await;
        assert_eq!(left(live).await, json!(["20270301T033000Z", 1]));
    }
}

#[tokio::test]
async fn live_and_sandbox_do_not_see_each_others_bookings() {
    let (desk, _) = ServiceDesk::open();
    for (one, other) in [(OWN_LIVE, OWN_SANDBOX), (OWN_SANDBOX, OWN_LIVE), (DEALERSHIP_SANDBOX, DEALERSHIP_LIVE)] {
        let found = desk.ok(one, "search_providers", general_service("Bengaluru", "2027-03-01")).await;
        let booked = desk
            .ok(one, "book_slot", booking_of(&found, "20270301T053000Z", &format!("{one:?}").replace(' ', "")))
            .await;
        let reference = json!({"booking_ref": booked["booking_ref"]});
        assert_eq!(desk.code(other, "cancel_booking", reference).await, "NOT_FOUND");
    }
}

#[tokio::test]
async fn a_token_of_another_partner_or_of_another_mode_is_none() {
    let (desk, _) = ServiceDesk::open();
    let found = desk.ok(OWN_LIVE, "search_providers", general_service("Bengaluru", "2027-03-01")).await;
    let order = booking_of(&found, "20270301T033000Z", "key-1");
    // The client of a credential is named by its scopes here.
    for other in [OWN_SANDBOX, (OWN_LIVE.0, "tomo:live another:partner"), (OTHER, LIVE)] {
        assert_eq!(desk.code(other, "book_slot", order.clone()).await, "RESULT_EXPIRED", "{other:?}");
    }
    desk.ok(OWN_LIVE, "book_slot", order).await;
}

#[tokio::test]
async fn no_business_sees_another_ones_bookings() {
    let (desk, _) = ServiceDesk::open();
    let other = (OTHER, LIVE);
    let found = desk.ok(OWN_LIVE, "search_providers", general_service("Bengaluru", "2027-03-01")).await;
    for key in ["key-1", "key-2"] {
        desk.ok(OWN_LIVE, "book_slot", booking_of(&found, "20270301T033000Z", key)).await;
    }
    let elsewhere = desk.ok(other, "search_providers", general_service("Bengaluru", "2027-03-01")).await;
    assert_eq!(elsewhere["providers"][0]["slots"][0]["places_left"], 2, "the same ids, another business");
    let booked = desk.ok(OWN_LIVE, "book_slot", booking_of(&found, "20270301T053000Z", "key-3")).await;
    let reference = json!({"booking_ref": booked["booking_ref"]});
    assert_eq!(desk.code(other, "cancel_booking", reference).await, "NOT_FOUND");
}
