//! Searching for rooms, and looking at a hotel.

use frontdesk_contracts::partner::PartnerSource;
use frontdesk_contracts::tomo;
use frontdesk_engine::model::schema::{Presence, Schema};
use serde_json::{Value, json};

use super::support::{HOTEL, NOW, TestDesk, booking, partner, search};

fn names(found: &Value) -> Vec<&str> {
    found["listings"].as_array().unwrap().iter().map(|listing| listing["name"].as_str().unwrap()).collect()
}

fn with(pointer: &str, value: Value) -> Value {
    let mut arguments = search();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    arguments.pointer_mut(parent).unwrap()[name] = value;
    arguments
}

#[test]
fn t_052_t_053_t_055_a_search_answers_with_its_fields() {
    let desk = TestDesk::hotels();
    let mut found = desk.call("search_availability", search());
    assert_eq!(
        names(&found),
        ["Halasuru Lake View Inn", "Copper Leaf Residency", "Monsoon Court", "Silver Oak Grand"],
        "cheapest first"
    );
    assert_eq!(found["expires_at"], "2026-01-31T09:45:00Z", "prices are held for 15 minutes");
    let listing = found["listings"][0].as_object_mut().unwrap();
    assert!(listing.remove("listing_id").unwrap().as_str().unwrap().starts_with("lst_"));
    let rooms = listing["room_options"].as_array_mut().unwrap();
    assert_eq!(rooms.len(), 3);
    assert!(rooms[0].as_object_mut().unwrap().remove("room_id").unwrap().as_str().unwrap().starts_with("rmk_"));
    rooms.truncate(1);
    assert_eq!(
        found["listings"][0],
        json!({
            "name": "Halasuru Lake View Inn", "city": "Bengaluru", "area": "Halasuru", "address": "88 Test Street",
            "pincode": "560008", "country_code": "IN", "lat": 12.9824, "lng": 77.6193, "star_rating": 2,
            "guest_rating": 3.8, "amenities": ["wifi", "air_conditioning", "power_backup", "laundry"],
            "check_in_time": "14:00", "check_out_time": "11:00",
            "cancellation_policy": [
                {"hours_before": 48, "refund_percent": 100}, {"hours_before": 24, "refund_percent": 50},
            ],
            "image_url": "https://media.example.com/hotels/blr-lakeview/1.jpg",
            "check_in": "2027-03-10", "check_out": "2027-03-12", "nights": 2, "rooms": 1, "currency": "INR",
            "price_per_night_inr": 1900, "total_inr": 4256,
            "room_options": [{
                "name": "Standard room", "max_guests": 2, "bed_type": "queen", "meal_plan": "room_only",
                "units_left": 12, "price_per_night_inr": 1900, "subtotal_inr": 3800, "tax_inr": 456, "total_inr": 4256,
            }],
        })
    );
}

#[test]
fn t_052_every_output_requires_all_its_members() {
    for (id, source) in
        [("travel.book_hotel", PartnerSource::Own), ("marketplace.buy_used_car", PartnerSource::Dealership)]
    {
        for tool in tomo::contract(&partner(id, source)).unwrap().tools {
            check_required(&tool.spec.output, &format!("{id} {}", tool.spec.name));
        }
    }
}

fn check_required(schema: &Schema, place: &str) {
    if let Schema::List { of, .. } = schema {
        check_required(of, place);
    }
    if matches!(schema, Schema::Object(_)) {
        for field in schema.fields() {
            let place = format!("{place}.{}", field.name);
            assert_eq!(field.presence, Presence::Required, "{place}");
            check_required(&field.schema, &place);
        }
    }
}

#[test]
fn cities_are_found_by_any_spelling_and_points_by_their_distance() {
    let desk = TestDesk::hotels();
    let of = |destination: Value| {
        let found = desk.call("search_availability", with("/destination", destination));
        names(&found).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    for city in ["bengaluru", "  BANGALORE ", "Bangalore"] {
        assert_eq!(of(json!({"city": city, "country_code": "IN"})).len(), 4, "{city}");
    }
    assert_eq!(of(json!({"city": "Atlantis", "country_code": "IN"})), Vec::<String>::new());
    // The Gateway of India: Colaba is next to it, Worli 11 km and Juhu 21 km away.
    let around = |radius: f64| {
        of(json!({"city": "Mumbai", "country_code": "IN", "lat": 18.922, "lng": 72.8347, "search_radius_km": radius}))
    };
    assert_eq!(around(1.0), ["Harbour Gate House"]);
    assert_eq!(around(11.0), ["Harbour Gate House", "Worli Sea Terrace"]);
    assert_eq!(around(21.0), ["Juhu Palm Stay", "Harbour Gate House", "Worli Sea Terrace"]);
    assert_eq!(of(json!({"city": "Mumbai", "country_code": "IN", "lat": 18.922, "lng": 72.8347})).len(), 4, "25 km");
}

#[test]
fn only_rooms_for_everybody_that_are_free_and_as_wished_are_found() {
    let desk = TestDesk::hotels();
    let of = |pointer: &str, value: Value| {
        let found = desk.call("search_availability", with(pointer, value));
        names(&found).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(of("/preferences", json!({"sort_by": "rating"}))[0], "Silver Oak Grand");
    assert_eq!(of("/preferences", json!({"min_star_rating": 5})), ["Silver Oak Grand"]);
    assert_eq!(of("/preferences", json!({"amenities": ["pool", "spa"]})), ["Monsoon Court", "Silver Oak Grand"]);
    assert_eq!(of("/preferences", json!({"max_price_per_night_inr": 2500})), ["Halasuru Lake View Inn"]);
    assert_eq!(of("/preferences", json!({"free_cancellation": true})).len(), 3);
    let family = desk.call("search_availability", with("/party", json!({"adults": 4, "children": 1, "rooms": 1})));
    let rooms = family["listings"][0]["room_options"].as_array().unwrap();
    assert_eq!(rooms.iter().map(|room| room["name"].as_str().unwrap()).collect::<Vec<_>>(), ["Family suite"]);
    assert_eq!(of("/party", json!({"adults": 16, "rooms": 3})), Vec::<String>::new(), "15 sleep in 3 suites");
    assert_eq!(of("/party", json!({"adults": 15, "rooms": 3})).len(), 4);
    assert_eq!(of("/party", json!({"adults": 13, "rooms": 13})), Vec::<String>::new(), "no hotel has 13 of a kind");
}

#[test]
fn seasons_change_the_price_and_tax_is_rounded_once() {
    let desk = TestDesk::hotels();
    // One night at 1900 and two at 140 percent of it.
    let dates = json!({"check_in": "2026-12-19", "check_out": "2026-12-22"});
    let found = desk.call("search_availability", with("/dates", dates));
    let room = &found["listings"][0]["room_options"][0];
    assert_eq!(room["subtotal_inr"], 1900 + 2660 + 2660);
    assert_eq!(room["tax_inr"], 866, "12 percent of 7220 are 866.40");
    assert_eq!(room["price_per_night_inr"], 2407);
}

#[test]
fn dates_that_cannot_be_booked_are_named() {
    let desk = TestDesk::hotels();
    let refused = |check_in: &str, check_out: &str| {
        let dates = json!({"check_in": check_in, "check_out": check_out});
        desk.refused("search_availability", with("/dates", dates))
    };
    let wrong = |field: &str| ("INVALID_REQUEST".to_owned(), field.to_owned());
    assert_eq!(refused("2026-01-30", "2026-02-01"), wrong("dates.check_in"));
    assert_eq!(refused("2026-02-01", "2026-02-01"), wrong("dates.check_out"));
    assert_eq!(refused("2026-02-01", "2026-03-04"), wrong("dates.check_out"), "31 nights");
    assert_eq!(refused("2027-02-30", "2027-03-04"), wrong("dates.check_in"));
    let today = json!({"check_in": "2026-01-31", "check_out": "2026-03-02"});
    assert_eq!(desk.call("search_availability", with("/dates", today))["listings"].as_array().unwrap().len(), 4);
    let abroad = desk.answer("tomo:live", "search_availability", with("/destination/country_code", json!("US")));
    assert_eq!(abroad["error"]["data"]["tomo_field"], "destination.country_code");
    // At 18:30 UTC a new day begins in India.
    desk.clock.set(NOW.0 + 9 * super::support::HOUR);
    assert_eq!(refused("2026-01-31", "2026-02-02"), wrong("dates.check_in"));
}

#[test]
fn t_039_a_hotel_is_shown_with_its_rooms() {
    let desk = TestDesk::hotels();
    let found = desk.call("search_availability", search());
    let mut hotel = desk.call("get_listing", json!({"listing_id": found["listings"][2]["listing_id"]}));
    assert_eq!(hotel["name"], "Monsoon Court");
    assert_eq!(hotel["description"], "A made-up hotel in Koramangala, Bengaluru, with 4 stars.");
    assert_eq!(hotel["images"].as_array().unwrap().len(), 3);
    let suite = hotel["rooms"][2].as_object_mut().unwrap();
    suite.remove("room_id");
    assert_eq!(
        hotel["rooms"][2],
        json!({"name": "Family suite", "max_guests": 5, "bed_type": "king", "meal_plan": "breakfast",
            "base_price_inr": 10580, "tax_percent": 18})
    );
    let unknown = desk.refused("get_listing", json!({"listing_id": "lst_none"}));
    assert_eq!(unknown, ("NOT_FOUND".to_owned(), String::new()));
}

#[test]
fn a_business_sees_only_its_own_hotels_and_tokens() {
    let desk = TestDesk::hotels();
    desk.store.seed("htl_other", Vec::new());
    let found = desk.call("search_availability", search());
    let answer = desk.answer_of("htl_other", "tomo:live", "search_availability", search());
    let payload: Value = serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(payload["listings"], json!([]));
    let answer = desk.answer_of("htl_other", "tomo:live", "create_booking", booking(&found, "k-1"));
    assert_eq!(answer["error"]["data"]["tomo_error_code"], "RESULT_EXPIRED", "a token of another business");
    let mine = desk.call("create_booking", booking(&found, "k-1"));
    let cancel = json!({"booking_ref": mine["booking_ref"]});
    let answer = desk.answer_of("htl_other", "tomo:live", "cancel_booking", cancel.clone());
    assert_eq!(answer["error"]["data"]["tomo_error_code"], "NOT_FOUND");
    let answer = desk.answer_of(HOTEL, "tomo:live", "cancel_booking", cancel);
    assert!(answer["result"].is_object(), "{answer}");
}

#[test]
fn an_intent_is_refused_over_a_source_that_has_no_such_goods() {
    let problems = |id, source| {
        let problems = tomo::contract(&partner(id, source)).err().unwrap();
        problems.into_iter().map(|problem| (problem.key, problem.reason)).collect::<Vec<_>>()
    };
    assert_eq!(
        problems("marketplace.buy_used_car", PartnerSource::Own),
        [(
            "source".to_owned(),
            "marketplace.buy_used_car sells the stock of a dealership; its source must be dealership".to_owned()
        )]
    );
    assert_eq!(
        problems("travel.book_hotel", PartnerSource::Dealership),
        [(
            "source".to_owned(),
            "travel.book_hotel sells rooms, which a dealership has none of; its source must be own".to_owned()
        )]
    );
}
