//! Strict JSON: what is refused and why, and the texts that equal meanings share.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use frontdesk_wire::json::{JsonError, canonical, parse, parse_answer, splice, write_integer};

fn refusal(text: impl AsRef<[u8]>) -> JsonError {
    parse(text.as_ref()).unwrap_err()
}

fn canonical_text(text: &str) -> String {
    String::from_utf8(canonical(&parse(text.as_bytes()).unwrap())).unwrap()
}

#[test]
fn every_kind_of_value_is_read() {
    let text = r#"{"null":null,"yes":true,"no":false,"low":-9223372036854775808,"high":18446744073709551615,
        "float":1.5,"text":"a\u00e9\ud83d\ude97","list":[1,[]],"object":{"":{}}}"#;
    let value = parse(text.as_bytes()).unwrap();
    assert_eq!(
        value.to_string(),
        r#"{"float":1.5,"high":18446744073709551615,"list":[1,[]],"low":-9223372036854775808,"no":false,"null":null,"object":{"":{}},"text":"aé🚗","yes":true}"#
    );
}

#[test]
fn a_scalar_may_stand_alone_with_white_space_around_it() {
    assert_eq!(parse(b" \t\r\n7 \n").unwrap().to_string(), "7");
}

#[test]
fn a_key_named_twice_is_refused_at_the_top() {
    assert_eq!(refusal(r#"{"a":1,"b":2,"a":1}"#), JsonError::DuplicateKey);
}

#[test]
fn a_key_named_twice_is_refused_below() {
    assert_eq!(refusal(r#"[{"x":[{"a":{},"a":{}}]}]"#), JsonError::DuplicateKey);
}

#[test]
fn a_key_named_twice_is_found_behind_an_escape() {
    assert_eq!(refusal(r#"{"name":1,"n\u0061me":2}"#), JsonError::DuplicateKey);
}

#[test]
fn equal_keys_of_different_objects_are_no_duplicates() {
    assert!(parse(br#"{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}"#).is_ok());
}

#[test]
fn sixty_four_levels_are_read_and_sixty_five_refused() {
    let lists = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(parse(lists(64).as_bytes()).is_ok());
    assert_eq!(refusal(lists(65)), JsonError::TooDeep);
    let objects = |levels: usize| format!("{}{{}}{}", "{\"a\":".repeat(levels - 1), "}".repeat(levels - 1));
    assert!(parse(objects(64).as_bytes()).is_ok());
    assert_eq!(refusal(objects(65)), JsonError::TooDeep);
}

#[test]
fn a_million_open_brackets_do_not_exhaust_the_stack() {
    assert_eq!(refusal("[".repeat(1_000_000)), JsonError::TooDeep);
}

#[test]
fn bytes_that_are_not_utf_8_are_refused() {
    assert_eq!(refusal(b"\"\xff\""), JsonError::Encoding);
    assert_eq!(refusal(b"\"\xc0\xaf\""), JsonError::Encoding, "an overlong slash");
    assert_eq!(refusal(b"\"\xed\xa0\x80\""), JsonError::Encoding, "a surrogate in UTF-8");
    assert_eq!(refusal(b"{\x00}\xfe"), JsonError::Encoding);
}

#[test]
fn a_byte_order_mark_is_refused() {
    assert_eq!(refusal(b"\xef\xbb\xbf{}"), JsonError::Encoding);
    assert_eq!(refusal(b"{\0}\0"), JsonError::Syntax, "UTF-16");
}

#[test]
fn lone_surrogates_are_refused() {
    for text in [r#""\ud800""#, r#""\udc00""#, r#""\ud800\ud800""#, r#""\ud800x""#, r#"{"\udfff":1}"#] {
        assert_eq!(refusal(text), JsonError::Syntax, "{text}");
    }
}

#[test]
fn anything_after_the_value_is_refused() {
    for text in ["{} {}", "1 2", "{},", "[]]", "{}\0", "{}//x"] {
        assert_eq!(refusal(text), JsonError::Syntax, "{text}");
    }
}

#[test]
fn numbers_that_json_does_not_know_are_refused() {
    for text in ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "01", "+1", ".5", "1.", "0x10", "1e", "-"] {
        assert_eq!(refusal(text), JsonError::Syntax, "{text}");
    }
}

#[test]
fn relaxed_spellings_are_refused() {
    for text in ["", " ", "{", "{a:1}", "{'a':1}", "[1,]", "{\"a\":1,}", "\"a\nb\"", r#""\x41""#, "tru", "// c\n1"] {
        assert_eq!(refusal(text), JsonError::Syntax, "{text}");
    }
}

#[test]
fn keys_that_mean_something_to_the_library_are_plain_keys() {
    let text = r#"{"$serde_json::private::Number":"1","$serde_json::private::RawValue":"[1]"}"#;
    assert_eq!(parse(text.as_bytes()).unwrap().to_string(), text);
}

#[test]
fn a_refusal_repeats_nothing_of_the_text() {
    let messages = [
        (JsonError::Encoding, "The text is not UTF-8 without a byte order mark."),
        (JsonError::Syntax, "The text is not valid JSON."),
        (JsonError::DuplicateKey, "An object names the same key twice."),
        (JsonError::TooDeep, "The text is nested too deeply."),
    ];
    for (error, message) in messages {
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn canonical_bytes_ignore_order_space_and_escapes() {
    let one = r#"{ "b" : [ 1 , { "z":null, "y":true } ], "a" : "\u0041\/" }"#;
    let two = r#"{"a":"A/","b":[1,{"y":true,"z":null}]}"#;
    assert_eq!(canonical_text(one), two);
    assert_eq!(canonical_text(two), two);
}

#[test]
fn the_order_of_a_list_changes_the_canonical_bytes() {
    assert_ne!(canonical_text("[1,2]"), canonical_text("[2,1]"));
}

#[test]
fn spellings_of_one_number_share_their_canonical_bytes() {
    assert_eq!(canonical_text("[100,100.0,1e2,1.0E+2]"), "[100,100,100,100]");
    assert_eq!(canonical_text("[0,-0,0.0,-0.0]"), "[0,0,0,0]");
    assert_eq!(canonical_text("[1.50,15e-1,-2.0]"), "[1.5,1.5,-2]");
}

#[test]
fn different_numbers_never_share_their_canonical_bytes() {
    assert_eq!(
        canonical_text("[9007199254740991.0,9007199254740992,9007199254740993,9007199254740993.0]"),
        "[9007199254740991,9007199254740992,9007199254740993,9007199254740992.0]"
    );
    assert_ne!(canonical_text("1"), canonical_text("\"1\""));
}

#[test]
fn canonical_strings_keep_what_they_mean() {
    let text = r#"["\"","\\","\n\r\t","\u0000\u001f","\u007f","é"]"#;
    assert_eq!(canonical_text(text), "[\"\\\"\",\"\\\\\",\"\\n\\r\\t\",\"\\u0000\\u001f\",\"\u{7f}\",\"é\"]");
    assert_eq!(parse(canonical_text(text).as_bytes()), parse(text.as_bytes()));
}

#[test]
fn two_objects_are_spliced_into_one() {
    assert_eq!(splice(r#"{"a":1}"#, r#"{"b":{"c":2}}"#), r#"{"a":1,"b":{"c":2}}"#);
    assert_eq!(splice(" { \"a\":{} } \n", r#"{"b":"}"}"#), r#"{"a":{},"b":"}"}"#);
}

#[test]
fn an_empty_object_leaves_no_comma() {
    assert_eq!(splice("{}", r#"{"b":2}"#), r#"{"b":2}"#);
    assert_eq!(splice(r#"{"a":1}"#, "{ }"), r#"{"a":1}"#);
    assert_eq!(splice("{}", "{}"), "{}");
}

#[test]
fn a_text_that_is_no_object_adds_nothing() {
    assert_eq!(splice("[1]", r#"{"b":2}"#), r#"{"b":2}"#);
    assert_eq!(splice("{", ""), "{}");
}

#[test]
fn integers_are_written_as_the_standard_library_does() {
    for number in [0, 7, -7, 10, 99, 100, 1_000_000_007, i64::MAX, i64::MIN] {
        let mut out = String::from("n=");
        write_integer(number, &mut out);
        assert_eq!(out, format!("n={number}"));
    }
}

#[test]
fn twenty_thousand_values_are_read_and_one_more_refused() {
    let list = |values: usize| format!("[{}0]", "0,".repeat(values - 2));
    assert!(parse(list(20_000).as_bytes()).is_ok());
    assert_eq!(refusal(list(20_001)), JsonError::TooManyValues);
    let object = |values: usize| {
        let members: Vec<String> = (1..values).map(|at| format!("\"{at}\":[]")).collect();
        format!("{{{}}}", members.join(","))
    };
    assert!(parse(object(20_000).as_bytes()).is_ok());
    assert_eq!(refusal(object(20_001)), JsonError::TooManyValues);
    // Towers that are each within the depth, beside each other.
    let towers = format!("[{}0]", format!("{}{},", "[".repeat(60), "]".repeat(60)).repeat(400));
    assert_eq!(refusal(towers), JsonError::TooManyValues);
    // A long text is one value, whatever stands in it, and other servers' answers may hold more.
    assert!(parse(format!("\"{}\"", "[,{".repeat(100_000)).as_bytes()).is_ok());
    assert!(parse_answer(list(50_000).as_bytes()).is_ok());
}
