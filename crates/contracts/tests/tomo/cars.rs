//! Used cars of a dealership's stock: found, reserved and released by the dealership's own rules.

use serde_json::{Value, json};

use super::support::{DEALER, HOUR, NOW, TestDesk, guest};

fn fault(code: &str) -> (String, String) {
    (code.to_owned(), String::new())
}

fn criteria(more: Value) -> Value {
    let mut criteria = json!({"city": "Bangalore"});
    criteria.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"criteria": criteria})
}

fn find(desk: &TestDesk, scope: &str) -> Value {
    desk.call_as(scope, "search_availability", criteria(json!({})))
}

fn purchase(found: &Value, key: &str) -> Value {
    json!({"idempotency_key": key, "result_token": found["result_token"],
        "listing_id": found["listings"][0]["listing_id"], "buyer": guest()})
}

#[test]
fn t_052_t_053_only_used_cars_with_all_facts_in_rupees_are_offered() {
    let desk = TestDesk::cars();
    let found = find(&desk, "tomo:live");
    assert_eq!(found["expires_at"], "2026-01-31T09:45:00Z");
    let titles: Vec<_> = found["listings"].as_array().unwrap().iter().map(|car| car["title"].clone()).collect();
    assert_eq!(titles, ["2019 Maruti Suzuki Swift VXI", "2021 Hyundai Creta VXI"]);
    assert_eq!(
        found["listings"][0],
        json!({
            "listing_id": "veh_swift", "title": "2019 Maruti Suzuki Swift VXI", "make": "Maruti Suzuki",
            "model": "Swift", "variant": "VXI", "year": 2019, "fuel": "petrol", "transmission": "amt",
            "body_type": "hatchback", "kms_driven": 41200, "color": "Red", "price_inr": 585_001, "currency": "INR",
            "city": "Bengaluru", "dealer_name": "Monsoon Mobility Demo",
            "image_url": "https://media.example.com/B-1.jpg",
        })
    );
    let detail = desk.call("get_listing", json!({"listing_id": "veh_swift"}));
    assert_eq!(detail["equipment"], json!(["Rear camera"]));
    assert_eq!(detail["drivetrain"], "fwd");
    for hidden in ["veh_nexon", "veh_city", "veh_seltos", "veh_none"] {
        assert_eq!(desk.refused("get_listing", json!({"listing_id": hidden})), fault("NOT_FOUND"), "{hidden}");
    }
}

#[test]
fn criteria_are_those_of_the_dealership_and_of_this_contract() {
    let desk = TestDesk::cars();
    let ids = |more: Value| {
        let found = desk.call("search_availability", criteria(more));
        let ids = found["listings"].as_array().unwrap().iter();
        ids.map(|car| car["listing_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(json!({"make": "maruti  suzuki"})), ["veh_swift"]);
    assert_eq!(ids(json!({"min_year": 2020})), ["veh_creta"]);
    assert_eq!(ids(json!({"max_price_inr": 600_000})), ["veh_swift"]);
    assert_eq!(ids(json!({"min_price_inr": 600_000})), ["veh_creta"]);
    assert_eq!(ids(json!({"sort_by": "newest"})), ["veh_creta", "veh_swift"]);
    assert_eq!(ids(json!({"max_kms": 41_199})), Vec::<String>::new());
    assert_eq!(ids(json!({"transmission": "manual"})), Vec::<String>::new());
    assert_eq!(ids(json!({"fuel": "petrol", "transmission": "amt"})).len(), 2);
    assert_eq!(ids(json!({"city": "Chennai"})), Vec::<String>::new(), "not served");
    let wrong = desk.refused("search_availability", criteria(json!({"min_year": 2020, "max_year": 2019})));
    assert_eq!(wrong, ("INVALID_REQUEST".to_owned(), "criteria.max_year".to_owned()));
}

#[test]
fn t_039_t_100_a_booked_car_is_reserved_and_then_released() {
    let desk = TestDesk::cars();
    let found = find(&desk, "tomo:live");
    let mut booked = desk.call("create_booking", purchase(&found, "k-1"));
    let reference = booked.as_object_mut().unwrap().remove("booking_ref").unwrap();
    assert_eq!(
        booked,
        json!({
            "status": "confirmed", "mode": "live", "listing_id": "veh_swift", "title": "2019 Maruti Suzuki Swift VXI",
            "dealer_name": "Monsoon Mobility Demo", "city": "Bengaluru", "handover_on": "2026-02-03",
            "latest_handover_on": "2026-03-02", "currency": "INR", "total_inr": 585_001,
            "booked_at": "2026-01-31T09:30:00Z",
        })
    );
    assert_eq!(desk.vehicle("veh_swift")["status"], "reserved");
    assert_eq!(desk.store.events(), ["tomo_booking created", "vehicle updated"]);
    assert_eq!(find(&desk, "tomo:live")["listings"].as_array().unwrap().len(), 1);
    assert_eq!(desk.refused("create_booking", purchase(&found, "k-2")), fault("NOT_AVAILABLE"));

    let cancel = json!({"booking_ref": reference});
    let refund = desk.call("cancel_booking", cancel.clone());
    assert_eq!(
        refund,
        json!({"booking_ref": reference, "status": "cancelled", "total_inr": 585_001, "refund_percent": 100,
            "refund_inr": 585_001, "cancellation_fee_inr": 0, "cancelled_at": "2026-01-31T09:30:00Z"})
    );
    assert_eq!(desk.vehicle("veh_swift")["status"], "available");
    assert_eq!(desk.call("cancel_booking", cancel), refund);
    let again = desk.call("create_booking", purchase(&found, "k-1"));
    assert_eq!((&again["booking_ref"], &again["status"]), (&reference, &json!("cancelled")));
    assert_eq!(desk.vehicle("veh_swift")["status"], "available", "a repeated key reserves nothing");
}

#[test]
fn t_056_the_price_of_a_car_is_held() {
    let desk = TestDesk::cars();
    let found = find(&desk, "tomo:live");
    set(&desk, "veh_swift", &json!({"price": {"amount": 70_000_000, "currency": "INR"}}));
    assert_eq!(find(&desk, "tomo:live")["listings"][0]["price_inr"], 700_000);
    let booked = desk.call("create_booking", purchase(&found, "k-1"));
    assert_eq!(booked["total_inr"], 585_001);
    desk.clock.advance(HOUR / 4);
    let mut late = purchase(&found, "k-2");
    late["listing_id"] = json!("veh_creta");
    assert_eq!(desk.refused("create_booking", late), fault("RESULT_EXPIRED"));
}

/// Changes the row behind the back of everybody.
pub(crate) fn set(desk: &TestDesk, id: &str, change: &Value) {
    use frontdesk_contracts::automotive::resource::TENANT;
    use frontdesk_contracts::automotive::vehicle::Vehicle;
    use frontdesk_contracts::record::{Changes, Entity, Record as _, Stored as _};
    use frontdesk_engine::TenantId;
    use frontdesk_engine::model::table::StoredRow;
    let row = desk.store.row(DEALER, Vehicle::table(), id).unwrap();
    let stored = StoredRow {
        id: row.id,
        version: row.version,
        created_at: row.created_at,
        body: row.body,
        masked: None,
        personal: None,
        secret: None,
    };
    let mut car: Entity<Vehicle> = Entity::restore(&TenantId::parse(DEALER).unwrap(), &stored).unwrap();
    car.record.apply(&Changes(change.as_object().unwrap())).unwrap();
    car.version += 1;
    desk.store.put(DEALER, Vehicle::table(), car.row(TENANT));
}

#[test]
fn a_car_that_the_dealership_sold_or_took_back_is_left_alone() {
    let desk = TestDesk::cars();
    let found = find(&desk, "tomo:live");
    let booked = desk.call("create_booking", purchase(&found, "k-1"));
    set(&desk, "veh_swift", &json!({"status": "sold"}));
    desk.call("cancel_booking", json!({"booking_ref": booked["booking_ref"]}));
    assert_eq!(desk.vehicle("veh_swift")["status"], "sold");

    // The dealership freed the car by hand, and somebody else booked it.
    let desk = TestDesk::cars();
    let found = find(&desk, "tomo:live");
    let first = desk.call("create_booking", purchase(&found, "k-1"));
    set(&desk, "veh_swift", &json!({"status": "available"}));
    let second = desk.call("create_booking", purchase(&found, "k-2"));
    desk.call("cancel_booking", json!({"booking_ref": first["booking_ref"]}));
    assert_eq!(desk.vehicle("veh_swift")["status"], "reserved", "it is kept for the second");
    desk.call("cancel_booking", json!({"booking_ref": second["booking_ref"]}));
    assert_eq!(desk.vehicle("veh_swift")["status"], "available");
}

#[test]
fn the_handover_moves_within_thirty_days() {
    let desk = TestDesk::cars();
    let found = find(&desk, "tomo:live");
    let mut arguments = purchase(&found, "k-1");
    arguments["handover_on"] = json!("2026-03-03");
    let wrong = ("INVALID_REQUEST".to_owned(), "handover_on".to_owned());
    assert_eq!(desk.refused("create_booking", arguments.clone()), wrong, "31 days");
    arguments["handover_on"] = json!("2026-02-10");
    let booked = desk.call("create_booking", arguments);
    assert_eq!(booked["handover_on"], "2026-02-10");
    let move_to = |day: &str| json!({"booking_ref": booked["booking_ref"], "handover_on": day});
    desk.clock.set(NOW.0 + 24 * HOUR);
    let moved = desk.call("modify_booking", move_to("2026-03-02"));
    assert_eq!((&moved["handover_on"], &moved["difference_inr"]), (&json!("2026-03-02"), &json!(0)));
    assert_eq!(desk.call("modify_booking", move_to("2026-03-02")), moved, "the same answer again");
    assert_eq!(desk.refused("modify_booking", move_to("2026-03-03")), wrong, "it is kept since the booking");
    assert_eq!(desk.refused("modify_booking", move_to("2026-01-31")), wrong);
    assert_eq!(desk.vehicle("veh_swift")["status"], "reserved");
    // 10:00 in India on the day of the handover.
    desk.clock.set(NOW.0 + 24 * HOUR * 30 - 5 * HOUR);
    assert_eq!(desk.refused("cancel_booking", json!({"booking_ref": booked["booking_ref"]})), fault("BOOKING_CLOSED"));
}

#[test]
fn the_sandbox_never_touches_a_car() {
    let desk = TestDesk::cars();
    let before = desk.vehicle("veh_swift");
    let found = find(&desk, "tomo:sandbox");
    let booked = desk.call_as("tomo:sandbox", "create_booking", purchase(&found, "k-1"));
    assert_eq!(booked["mode"], "sandbox");
    assert_eq!(desk.vehicle("veh_swift"), before);
    assert_eq!(desk.store.events(), Vec::<String>::new());
    assert_eq!(find(&desk, "tomo:live")["listings"][0]["listing_id"], "veh_swift");
    assert_eq!(find(&desk, "tomo:sandbox")["listings"][0]["listing_id"], "veh_creta", "the sandbox has booked it");
    let refused = desk.refused_as("tomo:sandbox", "create_booking", purchase(&found, "k-2"));
    assert_eq!(refused, fault("NOT_AVAILABLE"));
    let live = find(&desk, "tomo:live");
    desk.call("create_booking", purchase(&live, "k-3"));
    desk.call_as("tomo:sandbox", "cancel_booking", json!({"booking_ref": booked["booking_ref"]}));
    assert_eq!(desk.vehicle("veh_swift")["status"], "reserved", "a live booking keeps it");
}
