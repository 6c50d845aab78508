//! What an intent file may not say: each refusal with its line, its place and its reason.

use frontdesk_contracts::tomo::intent::{BUILT_IN, parse};

/// A file that is right, one thing a line.
const RIGHT: &str = r##"{
  "intent": "demo.book_room",
  "intent_version": "v1.0.0",
  "shape": "listing",
  "schemas_are": "our reading",
  "error_codes": ["INVALID_REQUEST", "METHOD_NOT_FOUND", "INTERNAL_ERROR", "INVALID_AUTH", "RATE_LIMITED", "PARTNER_MAINTENANCE", "IDEMPOTENCY_CONFLICT"],
  "definitions": {
    "ref": {
      "type": "string",
      "minLength": 1
    }
  },
  "tools": [
    {
      "name": "search_availability",
      "role": "search",
      "description": "Finds rooms.",
      "widget": "rooms",
      "input": {"type": "object", "additionalProperties": false, "properties": {}},
      "output": {"type": "object", "additionalProperties": false, "properties": {}},
      "examples": [{}]
    },
    {
      "name": "get_listing",
      "role": "get_detail",
      "description": "Shows a room.",
      "widget": "room",
      "input": {"type": "object", "additionalProperties": false, "properties": {}},
      "output": {"type": "object", "additionalProperties": false, "properties": {}},
      "examples": [{}]
    },
    {
      "name": "create_booking",
      "role": "create",
      "description": "Books a room.",
      "widget": "booking",
      "input": {
        "type": "object",
        "additionalProperties": false,
        "required": ["idempotency_key"],
        "properties": {
          "idempotency_key": {"type": "string"},
          "nights": {"type": "integer", "minimum": 1}
        }
      },
      "output": {
        "type": "object",
        "additionalProperties": false,
        "required": ["booking_ref"],
        "properties": {
          "booking_ref": {"$ref": "#/definitions/ref"}
        }
      },
      "examples": [
        {"idempotency_key": "k"},
        {"idempotency_key": "k", "nights": 2}
      ]
    },
    {
      "name": "cancel_booking",
      "role": "cancel",
      "description": "Cancels a booking.",
      "widget": "refund",
      "input": {"type": "object", "additionalProperties": false, "properties": {}},
      "output": {"type": "object", "additionalProperties": false, "properties": {}},
      "examples": [{}]
    },
    {
      "name": "modify_booking",
      "role": "modify",
      "description": "Changes a booking.",
      "widget": "booking",
      "input": {"type": "object", "additionalProperties": false, "properties": {}},
      "output": {"type": "object", "additionalProperties": false, "properties": {}},
      "examples": [{}]
    }
  ]
}
"##;

/// The errors after one text has been replaced by another.
fn errors(from: &str, to: &str) -> Vec<String> {
    assert_eq!(RIGHT.matches(from).count(), 1, "{from} must stand there once");
    let errors = parse(&RIGHT.replace(from, to)).unwrap_err();
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn the_file_is_right_before_it_is_changed_and_so_are_those_built_in() {
    assert_eq!(parse(RIGHT).map(|intent| intent.tools.len()), Ok(5));
    for (id, text) in BUILT_IN {
        assert_eq!(parse(text).map(|intent| intent.id), Ok((*id).to_owned()));
    }
}

#[test]
fn t_034_a_partial_toolset_and_another_tool_are_refused() {
    let from = "    {\n      \"name\": \"modify_booking\",";
    assert_eq!(
        errors("\"modify_booking\"", "\"book_again\""),
        [
            "line 13, /tools: an intent of the listing shape must have the tool modify_booking, too",
            "line 69, /tools/4/name: the listing shape has no tool of this name",
        ]
    );
    let start = RIGHT.find(from).unwrap();
    let without = format!("{}\n  ]\n}}\n", RIGHT[..start].trim_end().trim_end_matches(','));
    let found: Vec<String> = parse(&without).unwrap_err().iter().map(ToString::to_string).collect();
    assert_eq!(found, ["line 13, /tools: an intent of the listing shape must have the tool modify_booking, too"]);
}

#[test]
fn wrong_words_about_a_tool_are_refused_on_their_line() {
    assert_eq!(
        errors("\"role\": \"cancel\"", "\"role\": \"delete\""),
        [
            "line 61, /tools/3/role: one of these is expected: search, get_detail, create, modify, cancel, track, rate, utility",
        ]
    );
    assert_eq!(
        errors("\"role\": \"cancel\"", "\"role\": \"modify\""),
        ["line 61, /tools/3/role: the role of cancel_booking is cancel"]
    );
    assert_eq!(
        errors("Shows a room.", &"x".repeat(141)),
        ["line 26, /tools/1/description: it has 141 characters; at most 140 are allowed"]
    );
    assert_eq!(
        errors("\"widget\": \"refund\"", "\"widgit\": \"refund\""),
        [
            "line 63, /tools/3/widgit: this member is not known; known are name, role, description, widget, input, output, examples",
            "line 59, /tools/3/widget: it is required",
        ]
    );
}

#[test]
fn schemas_that_would_not_be_kept_are_refused_on_their_line() {
    assert_eq!(
        errors("\"minimum\": 1}", "\"multipleOf\": 2}"),
        ["line 43, /tools/2/input/properties/nights/multipleOf: this keyword would not be checked here"]
    );
    assert_eq!(
        errors("\"minLength\": 1", "\"contentEncoding\": \"x\""),
        ["line 10, /definitions/ref/contentEncoding: this keyword would not be checked here"]
    );
    assert_eq!(
        errors(
            "\"booking_ref\": {\"$ref\": \"#/definitions/ref\"}",
            "\"booking_ref\": {\"type\": \"string\"},\n\"sponsoredRank\": {\"type\": \"integer\"}"
        ),
        ["line 52, /tools/2/output/properties/sponsoredRank: TOMO refuses a field of this name: it ranks for money"]
    );
    assert_eq!(
        errors(
            "\"nights\": {\"type\": \"integer\", \"minimum\": 1}",
            "\"nights\": {\"type\": \"object\", \"properties\": {}}"
        ),
        [
            "line 43, /tools/2/input/properties/nights: an object with `properties` needs `additionalProperties: false`: other members are refused"
        ]
    );
}

#[test]
fn references_that_lead_nowhere_or_in_a_circle_are_refused() {
    assert_eq!(
        errors("#/definitions/ref", "#/definitions/reference"),
        [
            "line 51, /tools/2/output/properties/booking_ref/$ref: it must name one of `definitions` or `vocabularies` of this file"
        ]
    );
    assert_eq!(
        errors("\"type\": \"string\",\n      \"minLength\": 1", "\"$ref\": \"#/definitions/ref\""),
        ["line 9, /definitions/ref/$ref: the references go in a circle"]
    );
    assert_eq!(
        errors("{\"$ref\": \"#/definitions/ref\"}", "{\"$ref\": \"#/definitions/ref\", \"maxLength\": 3}"),
        ["line 51, /tools/2/output/properties/booking_ref/maxLength: only a description may stand beside a $ref"]
    );
}

#[test]
fn examples_must_work_and_creating_needs_a_key() {
    assert_eq!(
        errors("\"nights\": 2", "\"nights\": 0"),
        ["line 56, /tools/2/examples/1/nights: the example does not fit the input: it must be at least 1."]
    );
    assert_eq!(
        errors("\"required\": [\"idempotency_key\"],", "\"required\": [],"),
        ["line 37, /tools/2/input: a tool that creates must require idempotency_key, as a string"]
    );
}

#[test]
fn broken_files_are_refused_at_their_line() {
    assert_eq!(
        errors("\"shape\": \"listing\",", "\"shape\": \"listing\""),
        ["line 5, /: it is not valid JSON: expected `,` or `}` at line 5 column 3"]
    );
    assert_eq!(
        errors("\"shape\": \"listing\",", "\"shape\": \"listing\",\n  \"intent\": \"demo.book_room\","),
        ["line 5, /intent: it stands here twice"]
    );
    assert_eq!(
        errors("\"METHOD_NOT_FOUND\", ", ""),
        ["line 6, /error_codes: every intent can end with these, too: METHOD_NOT_FOUND"]
    );
    assert_eq!(errors("\"v1.0.0\"", "\"1.0\""), ["line 3, /intent_version: a version such as v1.0.0 is expected"]);
    let large = format!("{}{RIGHT}", " ".repeat(1 << 20));
    assert_eq!(parse(&large).unwrap_err()[0].to_string(), "/: the file is larger than 1 MiB");
}
