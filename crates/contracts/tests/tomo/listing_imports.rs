//! Hotels, rooms and rates come in by file.

use frontdesk_engine::import::{FeedText, ImportRow, ImportSession, RowResult, RowVerdict};
use serde_json::{Value, json};

use super::support::{TestDesk, search};

fn rows(session: &ImportSession<'_>, text: &str) -> Vec<ImportRow> {
    let read = session.spec().rules.read_feed(&FeedText::Text(text.to_owned())).unwrap();
    read.into_iter().map(|row| ImportRow { line: row.line, arguments: row.arguments.unwrap(), key: None }).collect()
}

fn verdicts(results: &[RowResult]) -> Vec<Value> {
    results.iter().map(|result| serde_json::to_value(&result.verdict).unwrap()).collect()
}

fn import(desk: &TestDesk, name: &str, text: &str) -> Vec<Value> {
    desk.import(name, async |session| verdicts(&session.apply(&rows(session, text)).await.unwrap()))
}

const FILES: [(&str, &str); 3] = [
    ("listings", include_str!("../../../../examples/feeds/listings.csv")),
    ("rooms", include_str!("../../../../examples/feeds/rooms.csv")),
    ("rates", include_str!("../../../../examples/feeds/rates.csv")),
];

#[test]
fn the_example_files_become_hotels_that_can_be_booked() {
    let desk = TestDesk::hotels();
    for (name, text) in FILES {
        let first = import(&desk, name, text);
        assert!(first.iter().all(|verdict| verdict == "created"), "{name}: {first:?}");
        let again = import(&desk, name, text);
        assert!(again.iter().all(|verdict| verdict == "unchanged"), "{name}: {again:?}");
    }
    let mut arguments = search();
    arguments["destination"]["city"] = json!("Mysore");
    let found = desk.call("search_availability", arguments.clone());
    let hotels = found["listings"].as_array().unwrap();
    assert_eq!(hotels.iter().map(|hotel| hotel["name"].as_str().unwrap()).collect::<Vec<_>>(), ["Sample Palace Inn"]);
    assert_eq!(
        hotels[0]["cancellation_policy"],
        json!([{"hours_before": 72, "refund_percent": 100}, {"hours_before": 24, "refund_percent": 30}])
    );
    assert_eq!(hotels[0]["total_inr"], 5264, "two nights at the rate of 2350, and 12 percent of tax");
    // In the closed week the only kind of room with a rate has no units.
    arguments["dates"] = json!({"check_in": "2027-08-02", "check_out": "2027-08-03"});
    let closed = desk.call("search_availability", arguments);
    let rooms = closed["listings"][0]["room_options"].as_array().unwrap();
    assert_eq!(rooms.iter().map(|room| room["name"].as_str().unwrap()).collect::<Vec<_>>(), ["Courtyard room"]);
}

#[test]
fn wrong_rows_are_named_and_nothing_of_them_is_stored() {
    let desk = TestDesk::hotels();
    let before = desk.store.contents();
    let wrong = |name: &str, row: Value| {
        let row = ImportRow { line: 1, arguments: row.as_object().unwrap().clone(), key: None };
        let results = desk.import(name, async |session| session.check(&[row]).await.unwrap());
        match results.into_iter().next().unwrap().verdict {
            RowVerdict::Rejected(problems) => {
                problems.into_iter().map(|problem| format!("{}: {}", problem.field, problem.reason)).collect::<Vec<_>>()
            }
            accepted @ (RowVerdict::Created | RowVerdict::Updated | RowVerdict::Unchanged) => panic!("{accepted:?}"),
        }
    };
    let mut hotel = json!({"listing_code": "X-1", "name": "X", "city": "X", "area": "X", "address": "X",
        "pincode": "5600", "latitude": 12.0, "longitude": 77.0, "star_rating": 3, "check_in_time": "2 pm",
        "check_out_time": "11:00", "images": ["http://x.example/1.jpg"],
        "cancellation_policy": [{"hours_before": 24, "refund_percent": 80}, {"hours_before": 48, "refund_percent": 50}]});
    assert_eq!(
        wrong("listings", hotel.clone()),
        [
            "/pincode: a pincode has 6 digits.",
            "/check_in_time: a local time such as 14:00 is expected.",
            "/images/0: an https address is expected.",
            "/cancellation_policy: who cancels earlier must not get less back.",
        ]
    );
    hotel["latitude"] = json!(91);
    assert_eq!(wrong("listings", hotel).len(), 1, "the schema comes first");
    let room = json!({"room_code": "X-1-A", "listing_code": "X-1", "name": "X", "max_guests": 2, "units": 1,
        "bed_type": "king", "base_price_inr": 1});
    assert_eq!(wrong("rooms", room), ["/listing_code: there is no listing with this code; import it first."]);
    let rate = json!({"rate_code": "R", "room_code": "BLR-LAKEVIEW-STD", "from_night": "2027-01-02",
        "until_night": "2027-01-01", "price_inr": 1});
    assert_eq!(wrong("rates", rate), ["/until_night: it must not lie before from_night."]);
    assert_eq!(desk.store.contents(), before);
}

#[test]
fn what_a_file_no_longer_lists_is_withdrawn_and_comes_back() {
    let desk = TestDesk::hotels();
    let count = || desk.call("search_availability", search())["listings"].as_array().unwrap().len();
    assert_eq!(count(), 4);
    let gone = desk.import("listings", async |session| {
        let page = session.listed(None).await.unwrap().unwrap();
        assert_eq!(page.rows.len(), 12);
        session.withdraw_records(&page.rows).await.unwrap();
        page.rows.len()
    });
    assert_eq!((gone, count()), (12, 0));
    let row = json!({"listing_code": "BLR-LAKEVIEW", "name": "Halasuru Lake View Inn"});
    let row = ImportRow { line: 1, arguments: row.as_object().unwrap().clone(), key: None };
    let results = desk.import("listings", async |session| verdicts(&session.apply(&[row]).await.unwrap()));
    assert_eq!((results, count()), (vec![json!("updated")], 1));
}

#[test]
fn partners_cannot_import() {
    let desk = TestDesk::hotels();
    let answer = desk.answer("tomo:live", "import", json!({}));
    assert!(answer["error"].is_object(), "{answer}");
    let scope = &desk.mount.contract.imports[0].scope;
    assert_eq!(scope.as_str(), "tomo:manage");
}
