//! The parts catalogue: how it comes in, how a number is found in any spelling, and which part supersedes which.

use frontdesk_engine::import::{ImportRow, ImportSession, RowProblem, RowVerdict};
use serde_json::{Value, json};

use super::support::TestDesk;

pub(crate) const BOTH: &str = "amcp:parts:read amcp:parts:write";

pub(crate) fn part(changes: Value) -> Value {
    let mut part = json!({"part_number": "TST-100", "description": "Test part", "quantity_on_hand": 5,
        "price": {"amount": 1_000, "currency": "USD"}});
    let members = part.as_object_mut().unwrap();
    members.extend(changes.as_object().unwrap().clone());
    members.retain(|_, value| !value.is_null());
    part
}

/// Applies these rows in one chunk, as an import does: all at once.
pub(crate) fn import(desk: &TestDesk, rows: &[Value]) -> Vec<RowVerdict> {
    let row = |(line, arguments): (u64, &Value)| ImportRow {
        line,
        arguments: arguments.as_object().unwrap().clone(),
        key: None,
        is_new: false,
    };
    let rows: Vec<ImportRow> = (2..).zip(rows).map(row).collect();
    let results = desk.import("parts", async |session: &ImportSession<'_>| session.apply(&rows).await.unwrap());
    results.into_iter().map(|result| result.verdict).collect()
}

fn rejected(field: &str, reason: &str) -> RowVerdict {
    RowVerdict::Rejected(vec![RowProblem { field: field.to_owned(), reason: reason.to_owned() }])
}

pub(crate) fn by_number(desk: &TestDesk, number: &str) -> Value {
    let found = desk.call_ok(BOTH, "parts.search", json!({"part_number": number}));
    assert_eq!(found["items"].as_array().unwrap().len(), 1, "{number}: {found}");
    found["items"][0].clone()
}

pub(crate) fn check(desk: &TestDesk, number: &str) -> Value {
    desk.call_ok(BOTH, "parts.check_availability", json!({"part_numbers": [number]}))["parts"][0].clone()
}

#[test]
fn a_part_of_the_demo_is_answered_whole() {
    let desk = TestDesk::open();
    let id = by_number(&desk, "BXT-65-750")["id"].clone();
    let mut part = desk.call_ok(BOTH, "parts.get", json!({"id": id}));
    for name in ["id", "created_at", "updated_at"] {
        part.as_object_mut().unwrap().remove(name);
    }
    assert_eq!(
        part,
        json!({
            "type": "part", "dealership_id": "dlr_lakeside", "version": 1,
            "part_number": "BXT-65-750", "manufacturer_code": "FOR", "description": "Battery, Motorcraft, 750 CCA",
            "condition": "new", "status": "active", "availability": "backordered",
            "quantity_on_hand": 1, "quantity_reserved": 1, "quantity_available": 0, "quantity_on_order": 4,
            "quantity_backordered": 1, "reorder_point": 2, "lead_time_days": 5,
            "price": {"amount": 18_995, "currency": "USD"}, "list_price": {"amount": 20_894, "currency": "USD"},
            "core_charge": {"amount": 2_200, "currency": "USD"}, "bin": "C-15",
            "fitment": [{"make": "Ford", "model": "F-150", "year_from": 2004, "year_to": 2024}],
        })
    );
}

#[test]
fn a_number_is_found_in_any_spelling() {
    let desk = TestDesk::open();
    for spelling in ["15400-PLM-A02", "15400plma02", "15400 plm a02", "15400.PLM.A02"] {
        assert_eq!(by_number(&desk, spelling)["part_number"], "15400-PLM-A02");
        assert_eq!(check(&desk, spelling)["availability"], "in_stock");
    }
    for text in ["15400PLMA02", "honda accord brake pad", "15400 A02 filter", "hon drain"] {
        let found = desk.call_ok(BOTH, "parts.search", json!({"text": text}));
        assert_eq!(found["items"].as_array().unwrap().len(), 1, "{text}: {found}");
    }
    let found = desk.call_ok(BOTH, "parts.search", json!({"text": "oil filter", "manufacturer_code": "ACD"}));
    assert_eq!(found["items"].as_array().unwrap().len(), 3);
    let low = desk.call_ok(BOTH, "parts.list", json!({"availability": "low_stock"}));
    let low: Vec<&Value> = low["items"].as_array().unwrap().iter().map(|part| &part["part_number"]).collect();
    assert_eq!(low, ["87139-YZZ20", "80292-SDA-A01"].map(|number| json!(number)).iter().rev().collect::<Vec<_>>());
}

#[test]
fn availability_follows_from_stock_and_status() {
    let desk = TestDesk::open();
    for (changes, expected) in [
        (json!({"quantity_on_hand": 3, "reorder_point": 2}), ("in_stock", 3)),
        (json!({"quantity_on_hand": 2, "reorder_point": 2}), ("low_stock", 2)),
        (json!({"quantity_on_hand": 0}), ("backordered", 0)),
        (json!({"quantity_on_hand": 0, "status": "special_order"}), ("special_order", 0)),
        (json!({"quantity_on_hand": 0, "status": "discontinued"}), ("discontinued", 0)),
        (json!({"quantity_on_hand": 4, "status": "discontinued"}), ("in_stock", 4)),
        (json!({"quantity_on_hand": 4, "status": "withdrawn"}), ("unavailable", 0)),
    ] {
        import(&desk, &[part(changes.clone())]);
        let answer = check(&desk, "TST-100");
        assert_eq!(
            (answer["availability"].as_str().unwrap(), answer["quantity_available"].as_i64().unwrap()),
            expected,
            "{changes}"
        );
        assert_eq!(by_number(&desk, "TST-100")["availability"], expected.0, "{changes}");
    }
}

#[test]
fn a_row_finds_its_part_in_any_spelling_and_changes_it() {
    let desk = TestDesk::open();
    assert_eq!(import(&desk, &[part(json!({}))]), [RowVerdict::Created]);
    let again = part(json!({"part_number": "tst100", "quantity_on_hand": 9}));
    assert_eq!(import(&desk, std::slice::from_ref(&again)), [RowVerdict::Updated]);
    let read = by_number(&desk, "TST-100");
    assert_eq!((&read["part_number"], &read["quantity_on_hand"]), (&json!("TST-100"), &json!(9)));
    assert_eq!(import(&desk, &[again]), [RowVerdict::Unchanged]);
}

#[test]
fn what_is_wrong_with_a_row_is_said() {
    let desk = TestDesk::open();
    for (changes, field, reason) in [
        (json!({"part_number": "--"}), "/part_number", "at least one letter or digit is expected."),
        (json!({"superseded_by": "."}), "/superseded_by", "at least one letter or digit is expected."),
        (json!({"quantity_on_hand": -1}), "/quantity_on_hand", "it must be at least 0."),
        (
            json!({"core_charge": {"amount": 5, "currency": "EUR"}}),
            "/core_charge/currency",
            "it must be the currency of the price.",
        ),
        (
            json!({"fitment": [{"make": "Ford", "year_from": 2020, "year_to": 2019}]}),
            "/fitment/0/year_to",
            "it must not be before year_from.",
        ),
        (json!({"price": null}), "/price", "it is required."),
        (
            json!({"status": "unknown"}),
            "/status",
            "one of these is expected: active, special_order, discontinued, withdrawn.",
        ),
    ] {
        let verdicts = import(&desk, &[part(changes.clone())]);
        assert_eq!(verdicts, [rejected(field, reason)], "{changes}");
    }
}

#[test]
fn a_superseded_number_is_answered_with_the_current_part() {
    let desk = TestDesk::open();
    let current = by_number(&desk, "PF63E");
    assert_eq!(
        check(&desk, "pf48"),
        json!({
            "part_number": "pf48", "availability": "in_stock", "quantity_available": 25, "part_id": current["id"],
            "superseded_by": ["PF48E", "PF63E"], "description": "Oil filter, ACDelco", "quantity_on_order": 0,
            "lead_time_days": 3, "price": {"amount": 811, "currency": "USD"},
        })
    );
    assert!(check(&desk, "PF63E").get("superseded_by").is_none());
    assert_eq!(by_number(&desk, "PF48")["availability"], "superseded");
    let replaced = desk.call_ok(BOTH, "parts.list", json!({"superseded_by": "pf63e"}));
    assert_eq!(replaced["items"][0]["part_number"], "PF48E");
    // A successor that the catalogue does not have is named, and nothing else is said of it.
    import(&desk, &[part(json!({"superseded_by": "TST-200"}))]);
    assert_eq!(
        check(&desk, "TST-100"),
        json!({"part_number": "TST-100", "availability": "superseded", "quantity_available": 0,
            "superseded_by": ["TST-200"]})
    );
    assert_eq!(
        check(&desk, "TST-200"),
        json!({"part_number": "TST-200", "availability": "unknown", "quantity_available": 0})
    );
}

#[test]
fn a_feed_that_would_make_a_circle_is_refused() {
    let desk = TestDesk::open();
    let link = |number: &str, next: &str| part(json!({"part_number": number, "superseded_by": next}));
    let circle = || rejected("/superseded_by", "the parts would supersede each other in a circle.");
    // Both rows are new and applied at once; the second one is refused whichever it is.
    let both = import(&desk, &[link("B-1", "B-2"), link("B-2", "B-1")]);
    let made = both.iter().filter(|verdict| **verdict == RowVerdict::Created).count();
    assert_eq!((made, both.contains(&circle())), (1, true), "{both:?}");
    // A longer one that a change closes.
    let rows = [link("C-1", "C-2"), link("C-2", "C-3"), part(json!({"part_number": "C-3"}))];
    assert_eq!(import(&desk, &rows), [RowVerdict::Created, RowVerdict::Created, RowVerdict::Created]);
    assert_eq!(import(&desk, &[link("C-3", "C-1")]), [circle()]);
    // What was taken back is no circle any more: its own number says that a part is current.
    assert_eq!(import(&desk, &[link("C-1", "c1")]), [RowVerdict::Updated]);
    assert_eq!(import(&desk, &[link("C-1", "c1")]), [RowVerdict::Unchanged]);
    assert!(by_number(&desk, "C-1").get("superseded_by").is_none());
    assert_eq!(import(&desk, &[link("C-3", "C-1")]), [RowVerdict::Updated]);
    assert_eq!(check(&desk, "C-2")["superseded_by"], json!(["C-3", "C-1"]));
}

#[test]
fn two_hundred_rows_in_a_ring_make_no_circle() {
    let desk = TestDesk::open();
    let link = |number: usize| {
        let next = if number % 10 == 9 { number - 9 } else { number + 1 };
        part(json!({"part_number": format!("R{number:03}"), "superseded_by": format!("R{next:03}")}))
    };
    let rows: Vec<Value> = (0..200).map(link).collect();
    let verdicts = import(&desk, &rows);
    let made = verdicts.iter().filter(|verdict| **verdict == RowVerdict::Created).count();
    assert_eq!(made, 180, "of each ring of ten one link is refused: {verdicts:?}");
    for number in 0..200 {
        check(&desk, &format!("R{number:03}"));
    }
}

#[test]
fn a_chain_has_at_most_twenty_steps() {
    let desk = TestDesk::open();
    let link = |number: usize| {
        part(json!({"part_number": format!("S{number:02}"), "superseded_by": format!("S{:02}", number + 1)}))
    };
    for number in 0..20 {
        assert_eq!(import(&desk, &[link(number)]), [RowVerdict::Created]);
    }
    import(&desk, &[part(json!({"part_number": "S20"}))]);
    assert_eq!(check(&desk, "S00")["superseded_by"].as_array().unwrap().len(), 20);
    let too_long = || rejected("/superseded_by", "a chain of parts that supersede each other has at most 20 steps.");
    // Neither behind it nor in front of it, nor between two shorter ones.
    assert_eq!(import(&desk, &[json!({"part_number": "S20", "superseded_by": "S21"})]), [too_long()]);
    assert_eq!(import(&desk, &[part(json!({"part_number": "S-0", "superseded_by": "S00"}))]), [too_long()]);
    assert_eq!(import(&desk, &[part(json!({"part_number": "S-1", "superseded_by": "S01"}))]), [RowVerdict::Created]);
}

#[test]
fn a_part_that_a_feed_no_longer_lists_is_withdrawn() {
    let desk = TestDesk::open();
    import(&desk, &[part(json!({}))]);
    let id = by_number(&desk, "TST-100")["id"].clone();
    import(&desk, &[json!({"part_number": "TST-100", "status": "withdrawn"})]);
    assert_eq!(desk.call_ok(BOTH, "parts.get", json!({"id": id}))["availability"], "unavailable");
    // What is listed again can be had again.
    assert_eq!(import(&desk, &[part(json!({}))]), [RowVerdict::Updated]);
    assert_eq!(desk.call_ok(BOTH, "parts.get", json!({"id": id}))["availability"], "in_stock");
}

#[test]
fn wrong_questions_about_parts_are_refused() {
    let desk = TestDesk::open();
    for arguments in [
        json!({}),
        json!({"part_numbers": []}),
        json!({"part_numbers": "PF48"}),
        json!({"part_numbers": [""]}),
        json!({"part_numbers": ["x".repeat(41)]}),
        json!({"part_numbers": vec!["PF48"; 21]}),
        json!({"part_numbers": ["PF48"], "quantity": 2}),
    ] {
        assert_eq!(
            desk.error_code(BOTH, "parts.check_availability", arguments.clone()),
            "request.invalid",
            "{arguments}"
        );
    }
    let (_, answer) = desk.call(BOTH, "parts.get", json!({"id": "pf48"}));
    assert_eq!(
        answer["error"]["message"],
        "No part with this id exists here. What was sent is the part number of a part, not an id; search by part_number \
         with parts.search."
    );
}
