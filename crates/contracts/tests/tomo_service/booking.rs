//! Bookings: made once, moved, cancelled.

use serde_json::json;

use super::support::{DEALERSHIP_LIVE, OWN_LIVE, ServiceDesk, booking_of, general_service};

#[tokio::test]
async fn t_100_a_repeated_booking_is_the_same_with_its_current_status() {
    let (desk, _) = ServiceDesk::open();
    for partner in [OWN_LIVE, DEALERSHIP_LIVE] {
        let found = desk.ok(partner, "search_providers", general_service("Bengaluru", "2027-03-01")).await;
        let order = booking_of(&found, "20270301T033000Z", "key-1");
        let booked = desk.ok(partner, "book_slot", order.clone()).await;
        assert_eq!(booked["status"], "confirmed");
        assert_eq!(desk.ok(partner, "book_slot", order.clone()).await, booked);
        let reference = json!({"booking_ref": booked["booking_ref"]});
        desk.ok(partner, "cancel_booking", reference).await;
        let again = desk.ok(partner, "book_slot", order).await;
        assert_eq!((&again["booking_ref"], &again["status"]), (&booked["booking_ref"], &json!("cancelled")));
    }
}
