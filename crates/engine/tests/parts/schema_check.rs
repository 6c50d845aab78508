//! Checking arguments, one keyword after the other.

use frontdesk_engine::Fault;
use frontdesk_engine::model::schema::{Pattern, Schema, TextFormat, optional, required};
use serde_json::{Map, Value};

fn object(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap()
}

fn problems(fault: Fault) -> Vec<String> {
    let problems = fault.problems.into_iter();
    problems.map(|problem| format!("{} {}: {}", problem.pointer, problem.keyword, problem.expected)).collect()
}

/// What is wrong with a value under the name `x`.
fn wrong(shape: Schema, value: &str) -> String {
    let schema = Schema::object([required("x", shape, "")]);
    match schema.check(object(&format!(r#"{{"x":{value}}}"#))) {
        Ok(_) => "nothing".to_owned(),
        Err(fault) => problems(fault).join("; "),
    }
}

#[test]
fn arguments_that_fit_come_back_as_they_were() {
    let schema = Schema::object([required("a", Schema::text(3), ""), optional("b", Schema::Boolean, "")]);
    for text in [r#"{"a":"x"}"#, r#"{"a":"xyz","b":false}"#] {
        assert_eq!(schema.check(object(text)).unwrap(), object(text));
    }
}

#[test]
fn required_and_unknown() {
    let schema = Schema::object([required("a", Schema::Boolean, ""), optional("b", Schema::Boolean, "")]);
    let fault = schema.check(object("{}")).unwrap_err();
    assert_eq!(fault.message, "The argument at /a is not valid: it is required.");
    assert_eq!(problems(fault), ["/a required: it is required"]);
    let fault = schema.check(object(r#"{"a":true,"canary1":1,"canary2":2}"#)).unwrap_err();
    assert_eq!(fault.message, "The arguments are not valid: only these are known: a, b.");
    assert_eq!(problems(fault), [" additionalProperties: only these are known: a, b"]);
}

#[test]
fn null_is_no_value_of_anything() {
    assert_eq!(wrong(Schema::text(3), "null"), "/x type: a string is expected");
    assert_eq!(wrong(Schema::Boolean, "null"), "/x type: true or false is expected");
}

#[test]
fn objects_within() {
    let shape = || Schema::object([required("y", Schema::integer(0, 9), "")]);
    assert_eq!(wrong(shape(), r#"{"y":3}"#), "nothing");
    assert_eq!(wrong(shape(), "[]"), "/x type: an object with y is expected");
    assert_eq!(wrong(shape(), r#"{"y":10}"#), "/x/y maximum: it must be at most 9");
    assert_eq!(
        wrong(shape(), r#"{"canary":1}"#),
        "/x/y required: it is required; /x additionalProperties: only these are known: y"
    );
}

#[test]
fn lists() {
    let shape = || Schema::list(Schema::integer(0, 9), 2);
    assert_eq!(wrong(shape(), "[]"), "nothing");
    assert_eq!(wrong(shape(), "[1,2]"), "nothing");
    assert_eq!(wrong(shape(), "{}"), "/x type: an array is expected");
    assert_eq!(wrong(shape(), "[1,2,3]"), "/x maxItems: at most 2 items are allowed");
    assert_eq!(wrong(shape(), r#"[1,"canary"]"#), "/x/1 type: an integer is expected");
}

#[test]
fn integers() {
    let shape = || Schema::integer(-2, 5);
    for fits in ["-2", "0", "5"] {
        assert_eq!(wrong(shape(), fits), "nothing");
    }
    assert_eq!(wrong(shape(), "-3"), "/x minimum: it must be at least -2");
    assert_eq!(wrong(shape(), "6"), "/x maximum: it must be at most 5");
    assert_eq!(wrong(shape(), "18446744073709551615"), "/x maximum: it must be at most 5");
    for other in ["0.5", "9007199254740992.0", "1e300", r#""1""#, "true"] {
        assert_eq!(wrong(shape(), other), "/x type: an integer is expected", "{other}");
    }
}

#[test]
fn a_whole_number_with_a_fraction_or_exponent_becomes_an_integer() {
    let schema = Schema::object([
        optional("x", Schema::integer(-2, 5), ""),
        optional("list", Schema::list(Schema::integer(0, 100), 2), ""),
        optional("map", Schema::map(Schema::integer(0, 100)), ""),
        optional("any", Schema::AnyOf { shapes: vec![Schema::Boolean, Schema::integer(0, 9)], expected: "" }, ""),
    ]);
    let sent = r#"{"x":5.0,"list":[1e2,-0.0],"map":{"y":7.0},"any":9.0}"#;
    let checked = schema.check(object(sent)).unwrap();
    assert_eq!(Value::Object(checked).to_string(), r#"{"any":9,"list":[100,0],"map":{"y":7},"x":5}"#);
    assert_eq!(wrong(Schema::integer(-2, 5), "6.0"), "/x maximum: it must be at most 5");
    assert_eq!(wrong(Schema::integer(-2, 5), "-3.0"), "/x minimum: it must be at least -2");
}

#[test]
fn minor_units_are_never_floats() {
    let shape = || Schema::MinorUnits { max: 5_000_000 };
    assert_eq!(wrong(shape(), "2499999"), "nothing");
    for other in ["24999.99", "2499999.0", "1e3", r#""2499999""#] {
        assert_eq!(
            wrong(shape(), other),
            "/x type: a whole number of minor units of the currency: 2499999 is 24,999.99 USD",
            "{other}"
        );
    }
    assert_eq!(wrong(shape(), "-1"), "/x minimum: it must be at least 0");
    assert_eq!(wrong(shape(), "5000001"), "/x maximum: it must be at most 5000000");
    let money =
        Schema::object([required("amount", shape(), ""), required("currency", Schema::Text(TextFormat::Currency), "")]);
    assert_eq!(
        wrong(money, "25000"),
        "/x type: an object with amount, currency is expected; amount is in minor units of the currency: 2499999 is 24,999.99 USD"
    );
}

#[test]
fn a_missing_word_of_a_vocabulary_is_named() {
    let schema = Schema::object([
        required("kind", Schema::one_of(&["red", "blue"]), ""),
        required("other", Schema::nullable(Schema::one_of(&["up", "down"])), ""),
    ]);
    assert_eq!(
        problems(schema.check(object("{}")).unwrap_err()),
        [
            "/kind required: it is required, as one of these: red, blue",
            "/other required: it is required, as one of these: up, down"
        ]
    );
}

#[test]
fn booleans() {
    assert_eq!(wrong(Schema::Boolean, "true"), "nothing");
    assert_eq!(wrong(Schema::Boolean, "0"), "/x type: true or false is expected");
}

#[test]
fn free_text_is_measured_in_characters() {
    let shape = || Schema::Text(TextFormat::Free { min: 2, max: 3 });
    assert_eq!(wrong(shape(), r#""äöü""#), "nothing");
    assert_eq!(wrong(shape(), r#""ä""#), "/x minLength: at least 2 characters are expected");
    assert_eq!(wrong(shape(), r#""abcd""#), "/x maxLength: at most 3 characters are allowed");
    assert_eq!(wrong(shape(), r#""a\u0000""#), "/x pattern: a NUL character is not allowed");
    assert_eq!(wrong(shape(), "7"), "/x type: a string is expected");
}

#[test]
fn vocabularies() {
    let shape = || Schema::one_of(&["red", "blue"]);
    assert_eq!(wrong(shape(), r#""blue""#), "nothing");
    for other in [r#""Blue""#, r#""""#, r#""red ""#] {
        assert_eq!(wrong(shape(), other), "/x enum: one of these is expected: red, blue");
    }
}

#[test]
fn instants_have_an_offset() {
    let shape = || Schema::Text(TextFormat::Timestamp);
    for fits in ["2026-01-31T09:30:00Z", "2026-01-31T09:30:00.123+02:00"] {
        assert_eq!(wrong(shape(), &format!("{fits:?}")), "nothing");
    }
    for other in ["2026-01-31T09:30:00", "2026-01-31", "2026-02-30T09:30:00Z", "2026-01-31T25:00:00Z", "now"] {
        assert_eq!(
            wrong(shape(), &format!("{other:?}")),
            "/x format: an RFC 3339 date and time with an offset is expected, such as 2026-01-31T09:30:00Z",
            "{other}"
        );
    }
}

#[test]
fn e_mail_addresses() {
    let shape = || Schema::Text(TextFormat::Email);
    for fits in ["a@b.example", "first.last+tag@sub.example.org"] {
        assert_eq!(wrong(shape(), &format!("{fits:?}")), "nothing");
    }
    let long = format!("{}@example.org", "a".repeat(65));
    for other in [
        "canary",
        "@b.example",
        "a@b",
        "a@@b.example",
        "a@.example",
        "a@b..example",
        "a@example.",
        "a b@c.example",
        &long,
    ] {
        assert_eq!(wrong(shape(), &format!("{other:?}")), "/x format: an e-mail address is expected", "{other}");
    }
}

#[test]
fn telephone_numbers() {
    let shape = || Schema::Text(TextFormat::Phone);
    for fits in ["+1234567", "+123456789012345"] {
        assert_eq!(wrong(shape(), &format!("{fits:?}")), "nothing");
    }
    for other in ["+123456", "+1234567890123456", "15125550123", "+05125550123", "+1 512 555", "+1512555x123", "+"] {
        assert_eq!(
            wrong(shape(), &format!("{other:?}")),
            "/x pattern: a telephone number in E.164 form is expected, such as +15125550123",
            "{other}"
        );
    }
}

#[test]
fn currencies() {
    let shape = || Schema::Text(TextFormat::Currency);
    assert_eq!(wrong(shape(), r#""EUR""#), "nothing");
    for other in ["eur", "EURO", "E1R", "€"] {
        assert_eq!(
            wrong(shape(), &format!("{other:?}")),
            "/x pattern: an ISO 4217 currency code is expected, such as USD"
        );
    }
}

#[test]
fn no_more_problems_are_listed_than_are_worth_it() {
    let schema = Schema::object([required("x", Schema::list(Schema::Boolean, 1000), "")]);
    let many = vec!["7"; 1000].join(",");
    let fault = schema.check(object(&format!(r#"{{"x":[{many}]}}"#))).unwrap_err();
    assert_eq!(fault.problems.len(), 32);
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest_one() {
    let schema = Schema::object([
        optional("year_min", Schema::integer(0, 9), ""),
        optional("make", Schema::text(9), ""),
        optional("model", Schema::text(9), ""),
    ]);
    let said = |text: &str| schema.check(object(text)).unwrap_err().message.into_owned();
    let known = "The arguments are not valid: only these are known: year_min, make, model";
    assert_eq!(said(r#"{"year-min":1}"#), format!("{known}; did you mean year_min?"));
    assert_eq!(said(r#"{"yaer_min":1,"maek":"x"}"#), format!("{known}; did you mean make, year_min?"));
    // Who has said it already does not mean it again.
    assert_eq!(said(r#"{"make":"a","maker":"b"}"#), format!("{known}."));
    assert_eq!(said(r#"{"canary":1}"#), format!("{known}."));
    // Nothing is compared with what is longer than any name.
    assert_eq!(said(&format!(r#"{{"model{}":1}}"#, "l".repeat(1_000_000))), format!("{known}."));
}

#[test]
fn the_message_of_several_problems_has_three_of_the_reasons() {
    let fields = ["a", "b", "c", "d", "e", "f", "g", "h", "i"].map(|name| required(name, Schema::Boolean, ""));
    let schema = Schema::object(fields);
    let said = |text: &str| schema.check(object(text)).unwrap_err().message.into_owned();
    let right = r#""d":true,"e":true,"f":true,"g":true,"h":true,"i":true"#;
    assert_eq!(
        said(&format!(r#"{{"a":1,"b":true,"zzz":1,{right}}}"#)),
        "The arguments are not valid. /a: true or false is expected. /c: it is required. Unknown name: only these are known: a, b, c, d, e, f, g, h, i."
    );
    assert_eq!(
        said("{}"),
        "The arguments are not valid. /a: it is required. /b: it is required. /c: it is required. And 6 more."
    );
    assert_eq!(
        said(&format!(r#"{{"a":true,"b":true,"c":1,"zzz":1,{right}}}"#)),
        "The arguments are not valid. /c: true or false is expected. Unknown name: only these are known: a, b, c, d, e, f, g, h, i."
    );
}

#[test]
fn a_reason_in_a_message_is_bounded() {
    let words: &'static [&'static str] = vec!["word"; 500].leak();
    let schema = Schema::object(["a", "b", "c", "d"].map(|name| required(name, Schema::one_of(words), "")));
    let fault = schema.check(object("{}")).unwrap_err();
    assert!(fault.message.ends_with("word, word,... And 1 more."), "{}", fault.message);
    assert!(fault.message.len() < 1600, "{}", fault.message.len());
    assert!(fault.problems.iter().all(|problem| problem.expected.ends_with("word, word")));
}

static EVEN: Pattern = Pattern { pattern: "^(..)*$", fits: |text| text.len() % 2 == 0, expected: "pairs are expected" };

#[test]
fn forms_maps_nulls_and_alternatives() {
    let formed = || Schema::Text(TextFormat::Pattern(&EVEN));
    assert_eq!(wrong(formed(), r#""ab""#), "nothing");
    assert_eq!(wrong(formed(), r#""abc""#), "/x pattern: pairs are expected");
    assert_eq!(wrong(Schema::non_empty_list(Schema::Boolean, 2), "[]"), "/x minItems: at least 1 is expected");
    assert_eq!(wrong(Schema::non_empty_list(Schema::Boolean, 2), "[true]"), "nothing");
    assert_eq!(wrong(Schema::nullable(formed()), "null"), "nothing");
    assert_eq!(wrong(Schema::nullable(formed()), r#""a""#), "/x pattern: pairs are expected");
    assert_eq!(wrong(Schema::map(Schema::Boolean), r#"{"canary":true}"#), "nothing");
    assert_eq!(wrong(Schema::map(Schema::Boolean), r#"{"canary":1}"#), "/x type: true or false is expected");
    assert_eq!(wrong(Schema::map(Schema::Boolean), "1"), "/x type: an object is expected");
    let either = || Schema::AnyOf { shapes: vec![Schema::Boolean, Schema::integer(0, 1)], expected: "yes or no" };
    for fits in ["true", "0", "1"] {
        assert_eq!(wrong(either(), fits), "nothing");
    }
    assert_eq!(wrong(either(), "2"), "/x anyOf: yes or no");
}
