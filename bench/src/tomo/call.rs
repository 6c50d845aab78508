//! The calls that are made of a hotel business, and what a right answer to each contains.

use serde_json::{Value, json};

use super::folders::{Business, path};
use super::hotels::{self, CITIES, HOTELS_OF_A_CITY, ROOMS_OF_A_CITY};
use crate::call::{Call, Caller, Era};
use crate::load::CallSource;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The 20 hotels of a city with 3 kinds of rooms each, for 2 nights.
    Search,
    /// One room for 2 nights.
    Create,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Search => "search of rooms",
            Kind::Create => "booking of a room",
        }
    }
}

/// What a search has offered to one caller.
#[derive(Debug)]
pub struct Offered {
    token: String,
    /// Ids of hotels and of their rooms, in the order of the rooms' ids.
    rooms: Vec<(String, String)>,
}

impl Offered {
    pub fn read(content: &Value) -> Option<Offered> {
        let text = |value: &Value, name: &str| value.get(name)?.as_str().map(str::to_owned);
        let mut rooms = Vec::new();
        for listing in content.get("listings")?.as_array()? {
            for room in listing.get("room_options")?.as_array()? {
                rooms.push((text(listing, "listing_id")?, text(room, "room_id")?));
            }
        }
        rooms.sort_by(|one, other| one.1.cmp(&other.1));
        (rooms.len() == ROOMS_OF_A_CITY).then_some(Offered { token: text(content, "result_token")?, rooms })
    }
}

/// A call to a server that has offered this to each caller.
#[derive(Debug, Clone, Copy)]
pub struct TomoCall {
    pub kind: Kind,
    pub offers: &'static [Offered],
}

impl CallSource for TomoCall {
    fn call(self, caller: &Caller, number: u64, random: u64) -> Call {
        // A session of TOMO's for each call, because limits count by session.
        let mut arguments = json!({
            "intent": "travel.book_hotel", "intent_version": "v1.0.0", "request_id": format!("req-{number}"),
            "user_session_id": format!("session-{number}"),
        });
        let (tool, own, expected) = match self.kind {
            Kind::Search => search(caller),
            Kind::Create => create(self.offers, caller, number, random),
        };
        if let (Some(arguments), Value::Object(own)) = (arguments.as_object_mut(), own) {
            arguments.extend(own);
        }
        Call::new(&path(Business::Hotels, caller.place), tool, &arguments, expected, Era::Legacy, caller, number)
    }
}

type Parts = (&'static str, Value, Vec<(String, usize)>);

/// Each caller has one city and two nights.
fn search(caller: &Caller) -> Parts {
    let city = CITIES.get(caller.place % CITIES.len()).copied().unwrap_or_default();
    let [check_in, check_out] = hotels::nights(caller.place);
    let arguments = json!({
        "destination": {"kind": "city", "city": city, "country_code": "IN"},
        "dates": {"check_in": check_in, "check_out": check_out},
        "party": {"adults": 2, "children": 0, "rooms": 1},
        "preferences": {"sort_by": "price"},
    });
    // Once as content and once, its quotes escaped, as text.
    let expected = vec![
        ("\"listing_id\":".to_owned(), HOTELS_OF_A_CITY),
        ("\"units_left\":".to_owned(), ROOMS_OF_A_CITY),
        (format!("\"city\":\"{city}\""), HOTELS_OF_A_CITY),
    ];
    ("search_availability", arguments, expected)
}

fn create(offers: &[Offered], caller: &Caller, number: u64, random: u64) -> Parts {
    let offered = offers.get(caller.place);
    let token = offered.map(|offered| offered.token.as_str()).unwrap_or_default();
    let rooms = offered.map(|offered| offered.rooms.as_slice()).unwrap_or_default();
    let room = usize::try_from(random).unwrap_or_default() % rooms.len().max(1);
    let (listing_id, room_id) = rooms.get(room).cloned().unwrap_or_default();
    let expected = vec![("\"status\":\"confirmed\"".to_owned(), 1), (format!("\"room_id\":\"{room_id}\""), 1)];
    let arguments = json!({
        "idempotency_key": format!("bench-{number}"), "result_token": token, "listing_id": listing_id,
        "room_id": room_id,
        "guest": {"name": format!("Asha Rao {number}"), "phone": "+919800000000", "email": "asha@example.com"},
    });
    ("create_booking", arguments, expected)
}
