//! From the text of a cell to the value of a field, and what is said where it cannot be done.

use frontdesk_contracts::feed::FeedSettings;
use serde_json::{Value, json};

use super::support::{HEADER, read, settings};

/// The value of a field when one more column has this text, or what is wrong with it.
fn value(column: &str, text: &str, defaults: &str) -> Result<Value, String> {
    let base = [
        ("vin", "5YJ3E1EAXKF100004"),
        ("stock_number", "T-1"),
        ("condition", "used"),
        ("year", "2019"),
        ("make", "Tesla"),
        ("model", "Model 3"),
        ("mileage", "1 mi"),
        ("price", "1 USD"),
    ];
    assert_eq!(base.map(|(name, _)| name).join(","), HEADER);
    let field = column.split('.').next().unwrap();
    let kept: Vec<(&str, &str)> = base.into_iter().filter(|(name, _)| *name != field).chain([(column, text)]).collect();
    let quoted = |cell: &str| format!("\"{}\"", cell.replace('"', "\"\""));
    let header: Vec<String> = kept.iter().map(|(name, _)| quoted(name)).collect();
    let cells: Vec<String> = kept.iter().map(|(_, cell)| quoted(cell)).collect();
    let feed = format!("{}\n{}\n", header.join(","), cells.join(","));
    let settings: FeedSettings = settings(&format!("[defaults]\n{defaults}"));
    let row = read(feed.as_bytes(), settings).unwrap().remove(0);
    match row.arguments {
        Ok(mut arguments) => Ok(arguments.remove(field).unwrap_or(Value::Null)),
        Err(problems) => {
            assert!(problems.iter().all(|problem| problem.column.as_deref() == Some(column)), "{problems:?}");
            Err(problems.iter().map(|problem| problem.reason.clone()).collect::<Vec<_>>().join("; "))
        }
    }
}

fn check(column: &str, defaults: &str, cases: &[(&str, Value)]) {
    for (text, expected) in cases {
        assert_eq!(value(column, text, defaults), Ok(expected.clone()), "{column} {text:?}");
    }
}

fn check_refused(column: &str, defaults: &str, cases: &[(&str, &str)]) {
    for (text, reason) in cases {
        assert_eq!(value(column, text, defaults), Err((*reason).to_owned()), "{column} {text:?}");
    }
}

#[test]
fn money_is_exact_minor_units_of_its_currency() {
    let usd = |amount: i64| json!({"amount": amount, "currency": "USD"});
    check(
        "price",
        "currency = \"USD\"",
        &[
            ("$24,999.00", usd(2_499_900)),
            ("24999 USD", usd(2_499_900)),
            ("USD 24,999", usd(2_499_900)),
            ("usd24999.5", usd(2_499_950)),
            ("24999.000", usd(2_499_900)),
            ("1,234,567.89", usd(123_456_789)),
            ("$ 24 999", usd(2_499_900)),
            ("24.999,00 EUR", json!({"amount": 2_499_900, "currency": "EUR"})),
            ("3,450,000 JPY", json!({"amount": 3_450_000, "currency": "JPY"})),
            ("8.499,125 KWD", json!({"amount": 8_499_125, "currency": "KWD"})),
            ("CHF 24'999.00", json!({"amount": 2_499_900, "currency": "CHF"})),
            // A float would be off by one.
            ("90071992547409.91", usd(9_007_199_254_740_991)),
            (r#"{"amount": 5, "currency": "EUR"}"#, json!({"amount": 5, "currency": "EUR"})),
        ],
    );
    let ambiguous = "this can mean thousands or decimals: write it without separators, or set numbers = \"decimal_comma\" \
                     under [defaults] if the dot separates thousands";
    check_refused(
        "price",
        "currency = \"USD\"",
        &[
            ("24.999", ambiguous),
            ("24.99999", "USD has 2 decimals, and this amount has more"),
            ("1,23,456", "a number is expected, such as 32000 or 32,000"),
            ("£24,999", "this currency sign is not that of USD"),
            ("24,999 - 26,999", "a number is expected, such as 32000 or 32,000"),
            ("99999999999999999999", "this amount is too large"),
            ("90071992547409.92", "it must be at most 9007199254740991"),
        ],
    );
    check(
        "price",
        "currency = \"EUR\"\nnumbers = \"decimal_comma\"",
        &[("24.999", json!({"amount": 2_499_900, "currency": "EUR"}))],
    );
}

#[test]
fn an_amount_by_its_own_name_is_in_minor_units() {
    let reason = "whole minor units are expected, such as 2499999 for 24,999.99; a column for the whole price is named \
                  without .amount";
    check_refused("price.amount", "", &[("24,999.00", reason)]);
    let feed = HEADER.replace("price", "price.amount,price.currency");
    let feed = format!("{feed}\n5YJ3E1EAXKF100004,T-1,used,2019,Tesla,Model 3,1 mi,2499900,usd\n");
    let row = read(feed.as_bytes(), settings("")).unwrap().remove(0);
    assert_eq!(row.arguments.unwrap()["price"], json!({"amount": 2_499_900, "currency": "USD"}));
}

#[test]
fn distances_have_a_unit_of_their_own_or_the_usual_one() {
    let mi = |value: i64| json!({"value": value, "unit": "mi"});
    check(
        "mileage",
        "",
        &[
            ("32,000 miles", mi(32_000)),
            ("32 000 mi", mi(32_000)),
            ("51500 km", json!({"value": 51_500, "unit": "km"})),
        ],
    );
    check_refused(
        "mileage",
        "",
        &[
            ("32000", "the unit is missing: write mi or km behind it, or set distance under [defaults]"),
            ("32k", "the unit must be one of these: mi, km"),
            ("32000.5 mi", "a whole number is expected"),
        ],
    );
}

#[test]
fn whole_numbers_are_read_strictly() {
    check("year", "", &[("2019", json!(2019)), ("2019.0", json!(2019)), ("2,019", json!(2019))]);
    check_refused(
        "year",
        "",
        &[
            ("'19", "a number is expected, such as 32000 or 32,000"),
            ("19", "it must be at least 1900"),
            (
                "2.019E+03",
                "this number is written with an exponent: format the column as text or number and export again",
            ),
        ],
    );
}

#[test]
fn times_are_rfc_3339_or_utc() {
    check(
        "in_stock_at",
        "",
        &[
            ("2026-11-18T09:30:00-06:00", json!("2026-11-18T09:30:00-06:00")),
            ("2026-11-18 09:30:00Z", json!("2026-11-18T09:30:00Z")),
            ("2026-11-18 09:30", json!("2026-11-18T09:30:00Z")),
            ("11/18/2026 12:00:00 AM", json!("2026-11-18T00:00:00Z")),
            ("1/2/2026 1:05 pm", json!("2026-01-02T13:05:00Z")),
        ],
    );
    check("in_stock_at", "dates = \"day_first\"", &[("1/2/2026", json!("2026-02-01T00:00:00Z"))]);
    check_refused(
        "in_stock_at",
        "",
        &[
            ("11/18/26", "a date is expected, such as 2026-11-18, 11/18/2026 or 18.11.2026"),
            ("2026-11-18 25:00", "the time is expected as in 2026-11-18 14:30:00"),
        ],
    );
}

#[test]
fn words_are_folded_and_others_answered_with_all_of_them() {
    check(
        "status",
        "",
        &[("In-Transit", json!("in_transit")), ("ON HOLD", json!("on_hold")), ("in stock", json!("available"))],
    );
    check("transmission", "", &[("6-Speed Automatic w/OD", json!("automatic")), ("Xtronic CVT", json!("cvt"))]);
    check("fuel_type", "", &[("Plug-In Hybrid", json!("plug_in_hybrid")), ("Gas/Electric Hybrid", json!("hybrid"))]);
    check("drivetrain", "", &[("4x4", json!("four_wd")), ("Front-Wheel Drive", json!("fwd"))]);
    check_refused(
        "status",
        "",
        &[(
            "Frontline",
            "one of these is expected: available, in_transit, on_order, pending, reserved, on_hold, sold, wholesale, \
             unavailable; other words can be given a meaning under [values.status] of the mapping file",
        )],
    );
}

#[test]
fn lists_are_split_by_the_first_mark_they_have() {
    let named = |names: &[&str]| names.iter().map(|name| json!({"name": name})).collect::<Value>();
    check(
        "options",
        "",
        &[
            ("Sunroof|Tow hitch, 2 in", named(&["Sunroof", "Tow hitch, 2 in"])),
            ("Sunroof; Tow hitch;", named(&["Sunroof", "Tow hitch"])),
            ("Sunroof, Tow hitch", named(&["Sunroof", "Tow hitch"])),
            (
                r#"[{"code": "TH", "name": "Tow hitch"}, "Sunroof"]"#,
                json!([{"code": "TH", "name": "Tow hitch"}, {"name": "Sunroof"}]),
            ),
        ],
    );
    check_refused(
        "media",
        "",
        &[(
            "https://x.example/1.jpg",
            "this has several parts: make columns media.url, media.type, media.alt, media.order, or write it as JSON",
        )],
    );
}

#[test]
fn no_problem_repeats_the_content_of_a_cell() {
    let secret = "Dana Reyes dana@example.com";
    for column in ["price", "mileage", "year", "in_stock_at", "status", "media", "doors", "vin", "certified"] {
        match value(column, secret, "") {
            Err(reason) => assert!(!reason.contains("Dana") && !reason.contains("example.com"), "{reason}"),
            Ok(value) => panic!("{column} {value}"),
        }
    }
}
