//! What an intent file of the business leaves open is still kept within what can be booked.

use frontdesk_contracts::tomo::intent::built_in;
use serde_json::{Value, json};

use super::support::{TestDesk, booking, search};

/// The hotels of the demo under an intent file that says nothing about how many or how long.
fn unbounded() -> TestDesk {
    let mut file: Value = serde_json::from_str(built_in("travel.book_hotel").unwrap()).unwrap();
    for tool in file["tools"].as_array_mut().unwrap() {
        let properties = tool["input"]["properties"].as_object_mut().unwrap();
        if let Some(party) = properties.get_mut("party") {
            for name in ["adults", "children", "rooms"] {
                party["properties"][name] = json!({"type": "integer"});
            }
        }
        if properties.contains_key("rooms") {
            properties.insert("rooms".to_owned(), json!({"type": "integer"}));
        }
        properties.insert("request_id".to_owned(), json!({"type": "string"}));
    }
    TestDesk::hotels_of(&file.to_string())
}

#[test]
fn nobody_gives_rooms_back_by_asking_for_less_than_none() {
    let desk = unbounded();
    let booked = desk.call("create_booking", booking(&desk.call("search_availability", search()), "key-1"));
    for rooms in [-3, 0, 21, i64::MAX] {
        let order = json!({"booking_ref": booked["booking_ref"], "rooms": rooms});
        let refused = desk.refused("modify_booking", order);
        assert_eq!(refused, ("INVALID_REQUEST".to_owned(), "rooms".to_owned()), "{rooms}");
    }
    for (name, number) in [("rooms", 21), ("rooms", 0), ("adults", 0), ("adults", 401), ("children", -1)] {
        let mut order = search();
        order["party"][name] = json!(number);
        let refused = desk.refused("search_availability", order);
        assert_eq!(refused, ("INVALID_REQUEST".to_owned(), format!("party.{name}")), "{number}");
    }
}

#[test]
fn a_request_id_that_is_too_long_to_keep_is_refused() {
    let desk = unbounded();
    let mut order = booking(&desk.call("search_availability", search()), "key-1");
    order["request_id"] = json!("r".repeat(201));
    assert_eq!(desk.refused("create_booking", order), ("INVALID_REQUEST".to_owned(), "request_id".to_owned()));
}
