//! JSON feeds: an array, an object with `items`, one object per line.

use frontdesk_contracts::feed::{FeedFormat, FeedReader, FeedSettings};
use serde_json::json;

use super::support::{american, arguments, report, vehicles};

const ROW: &str = r#"{"vin":"5YJ3E1EAXKF100004","Stock #":1207,"condition":"used","year":"2019","make":"Tesla","model":"Model 3","mileage":"30100","price":24999.99,"msrp":null,"options":["Sunroof",{"name":"Tow hitch"}],"certified":false}"#;

#[test]
fn all_three_shapes_give_the_same_arguments() {
    let expected = json!({
        "vin": "5YJ3E1EAXKF100004", "stock_number": "1207", "condition": "used", "year": 2019, "make": "Tesla",
        "model": "Model 3", "mileage": {"value": 30_100, "unit": "mi"}, "price": {"amount": 2_499_999, "currency": "USD"},
        "options": [{"name": "Sunroof"}, {"name": "Tow hitch"}],
    });
    for feed in [
        format!("[{ROW},{ROW}]"),
        format!(
            "\u{feff} {{\"total\": 2, \"note\": \"\\\"items\\\": [\", \"items\": [{ROW}, {ROW}], \"next\": {{\"a\": []}}}}\n"
        ),
        format!("{ROW}\n{ROW}\n"),
        format!("{ROW}\r\n\r\n{ROW}"),
    ] {
        assert_eq!(arguments(feed.as_bytes(), american()), [expected.clone(), expected.clone()], "{feed}");
    }
}

#[test]
fn numbers_are_exact_whether_text_or_not() {
    let feed = ROW.replace("24999.99", "90071992547409.91").replace("\"30100\"", "\"32,000 miles\"");
    let row = &arguments(feed.as_bytes(), american())[0];
    assert_eq!(row["price"]["amount"], 9_007_199_254_740_991_i64);
    assert_eq!(row["mileage"], json!({"value": 32_000, "unit": "mi"}));
    let minor = ROW.replace("24999.99", r#"{"amount": 5, "currency": "EUR"}"#);
    assert_eq!(arguments(minor.as_bytes(), american())[0]["price"], json!({"amount": 5, "currency": "EUR"}));
    let fraction = ROW.replace("24999.99", r#"{"amount": 5.5, "currency": "EUR"}"#);
    assert_eq!(
        report(fraction.as_bytes(), american()),
        ["1: price: a whole number of minor units of the currency: 2499999 is 24,999.99 USD"]
    );
    let exponent = ROW.replace("24999.99", "1e3");
    assert_eq!(
        report(exponent.as_bytes(), american()),
        ["1: price: this number is written with an exponent: format the column as text or number and export again"]
    );
}

#[test]
fn records_may_have_different_members_each_with_its_own_problems() {
    let feed = format!("[{ROW},\n {{\"vin\": \"x\", \"price\": [1]}},\n {{\"vin\": \"a\", \"VIN\": \"b\"}}]");
    assert_eq!(
        report(feed.as_bytes(), american()),
        [
            "1: right",
            "2: price: a list is not expected here",
            "2: Stock #: it is required",
            "2: condition: it is required, as one of these: new, used, certified_pre_owned, demo",
            "2: year: it is required",
            "2: make: it is required",
            "2: model: it is required",
            "2: mileage: it is required",
            "3: two members give vin",
        ]
    );
}

#[test]
fn what_is_not_json_is_reported_with_its_line() {
    let of = |feed: &str| report(feed.as_bytes(), american());
    let invalid = |line: u32, what: &str| format!("Line {line}: The JSON is not valid: {what}.");
    assert_eq!(of("[1, 2]"), [invalid(1, "every record must be an object")]);
    assert_eq!(
        of(&format!("[{ROW}\n{ROW}]")),
        ["1: right".to_owned(), invalid(2, "a comma is expected between two records")]
    );
    assert_eq!(of(&format!("[{ROW}] x")), ["1: right".to_owned(), invalid(1, "there is more after its end")]);
    assert_eq!(
        of(&format!("{ROW}\n{{\"vin\": x}}")),
        ["1: right".to_owned(), invalid(2, "the record that begins here has a mistake")]
    );
    assert_eq!(
        of(&format!("{{\"items\": [{ROW}]")),
        ["1: right".to_owned(), invalid(1, "it is cut off before the end of the object")]
    );
    assert_eq!(of("[]"), [""; 0]);
    assert_eq!(
        of(r#"[{"name": "x", "age": 3}]"#),
        [
            "No column of the feed is known. Found: \"name\", \"age\". Say in a mapping file which column is which field: \
          [columns] \"Name in the feed\" = \"vin\"."
        ]
    );
    let twice = ROW.replace("24999.99", r#"{"amount": 5, "amount": 6, "currency": "EUR"}"#);
    assert_eq!(of(&twice), ["1: price: this JSON names a member twice or is nested too deeply"]);
}

#[test]
fn a_format_that_is_said_is_not_guessed() {
    let target = vehicles();
    let settings = FeedSettings { format: Some(FeedFormat::Json), ..FeedSettings::default() };
    let error = FeedReader::open("vin,price\n".as_bytes(), &target, settings).err().unwrap();
    assert_eq!(error.to_string(), "Line 1: The JSON is not valid: an array or an object is expected.");
    assert_eq!(error.line(), Some(1));
}
