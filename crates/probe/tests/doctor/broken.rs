//! One defect at a time: the point that fails, with its literal line, and no other.

use crate::desk::Defect;
use crate::fake_server::FakeServer;

/// The points that failed, with their lines.
fn failures(text: &str) -> Vec<String> {
    let mut points: Vec<String> = Vec::new();
    for line in text.lines() {
        if line.starts_with(['✓', '–', '✗']) {
            points.push(line.to_owned());
        } else if let Some(point) = points.last_mut() {
            point.push_str(&format!("\n{line}"));
        }
    }
    points.into_iter().filter(|point| point.starts_with('✗')).map(|point| point.trim_end().to_owned()).collect()
}

/// The server with this defect fails these points and no others, in these words.
fn fails(defect: Defect, expected: &[&[&str]]) {
    let server = FakeServer::start(defect);
    let report = server.examine();
    let found = failures(report.text.rsplit_once("\n\n").unwrap().0);
    let expected: Vec<String> = expected.iter().map(|lines| lines.join("\n")).collect();
    assert_eq!(found, expected, "{defect:?}");
    assert_eq!(report.failed, expected.len());
    assert_eq!(server.desk.lock().unwrap().open.len(), 0, "{defect:?}: everything is cancelled again");
}

const HANDSHAKE: &str = "✗  2. initialize returns a valid handshake";
const LIST: &str = "✗  3. tools/list returns tools with full _meta.tomo";
const INTENTS: &str = "✗  4. every tool belongs to an intent, and no tool of it is missing";
const INPUTS: &str = "✗  5. every inputSchema is the intent's";
const RESPONSES: &str = "✗  6. every response has all fields of the intent";
const FORBIDDEN: &str = "✗  7. no forbidden fields anywhere";
const CREDENTIALS: &str = "✗  8. calls without a credential are refused";
const IDEMPOTENCY: &str = "✗  9. tools that create are idempotent";
const LIMITS: &str = "✗ 11. rate limits say when to try again";

#[test]
fn a_wrong_handshake_is_named() {
    fails(
        Defect::NoToolsCapability,
        &[&[
            HANDSHAKE,
            "      capabilities.tools is missing.",
            "        Declare it: {\"capabilities\": {\"tools\": {}}}.",
        ]],
    );
    fails(
        Defect::GenericName,
        &[&[
            HANDSHAKE,
            "      serverInfo.name is \"mcp-server\", which identifies no company.",
            "        Write the name of your company there.",
        ]],
    );
    fails(
        Defect::UnknownVersion,
        &[&[
            HANDSHAKE,
            "      protocolVersion is \"1999-01-01\".",
            "        Answer with 2024-11-05, which TOMO asks for.",
        ]],
    );
    fails(
        Defect::OtherId,
        &[&[
            HANDSHAKE,
            "      initialize: HTTP 200, a message with another id than the request.",
            "        Answer initialize with a JSON-RPC result (§1).",
        ]],
    );
}

#[test]
fn a_server_that_needs_an_accept_header_is_named() {
    fails(
        Defect::NeedsAccept,
        &[
            &[
                HANDSHAKE,
                "      initialize without an Accept header, as in §10: HTTP 406, an empty body.",
                "        Answer with JSON when a request names no media type.",
            ],
            &[LIST, "      tools/list: HTTP 406, an empty body.", "        Answer tools/list (§2)."],
        ],
    );
}

#[test]
fn a_flood_is_not_read_and_a_redirect_not_followed() {
    fails(
        Defect::Endless,
        &[&[
            HANDSHAKE,
            "      initialize: the answer is larger than 4 MiB and was not read.",
            "        Answer initialize with a JSON-RPC result (§1).",
        ]],
    );
    fails(
        Defect::Redirect,
        &[&[
            HANDSHAKE,
            "      initialize: HTTP 301, an empty body.",
            "        Answer initialize with a JSON-RPC result (§1).",
        ]],
    );
}

#[test]
fn a_wrong_description_of_a_tool_is_named() {
    fails(
        Defect::LongDescription,
        &[&[
            LIST,
            "      search_availability: the description has 141 characters.",
            "        Shorten it to one sentence of at most 140 characters.",
        ]],
    );
    fails(
        Defect::ThreeSignals,
        &[&[
            LIST,
            "      search_availability: _meta.tomo.ttbs_signals is not valid.",
            "        Rate time, taste, budget and safety, each from 0.0 to 1.0, and nothing else.",
        ]],
    );
    fails(
        Defect::ForeignCallback,
        &[&[
            LIST,
            "      search_availability: _meta.tomo.completion_callback is not valid.",
            "        Write TOMO's URL: https, and the path /api/v1/cpc/mcp_provider/<your_partner_id>.",
        ]],
    );
    fails(
        Defect::NextCursor,
        &[&[
            LIST,
            "      tools/list has a nextCursor.",
            "        List all tools in one answer: TOMO does not ask for more.",
        ]],
    );
}

#[test]
fn a_toolset_that_is_not_the_intents_is_named() {
    fails(
        Defect::PartialToolset,
        &[&[
            INTENTS,
            "      demo.book_room: the tool modify_booking is missing.",
            "        Implement it: an intent cannot be listed with a part of its tools.",
        ]],
    );
    fails(
        Defect::ExtraTool,
        &[&[
            INTENTS,
            "      list_offers: the intent demo.book_room has no such tool.",
            "        Remove it, or move it to an endpoint of its own.",
        ]],
    );
    fails(
        Defect::OtherWidget,
        &[&[
            INTENTS,
            "      search_availability: _meta.tomo.result_widget is \"cards\".",
            "        The intent says room_results.",
        ]],
    );
    fails(
        Defect::UnknownIntent,
        &[&[
            INTENTS,
            "      the intent \"demo.book_rooms\" is not known here; known are auto.book_general_service, demo.book_room, \
             food.order_delivery, marketplace.buy_used_car, mobility.book_intracity_ride, travel.book_hotel.",
            "        Correct the id, or name the file of the intent with --intent.",
        ]],
    );
}

#[test]
fn a_tool_without_its_meta_fails_two_points() {
    fails(
        Defect::NoMeta,
        &[
            &[
                LIST,
                "      get_listing: _meta.tomo is missing.",
                "        Add _meta.tomo with its eight fields to every tool (§2).",
            ],
            &[
                INTENTS,
                "      the intent \"\" is not known here; known are auto.book_general_service, demo.book_room, \
                 food.order_delivery, marketplace.buy_used_car, mobility.book_intracity_ride, travel.book_hotel.",
                "        Correct the id, or name the file of the intent with --intent.",
                "      demo.book_room: the tool get_listing is missing.",
                "        Implement it: an intent cannot be listed with a part of its tools.",
            ],
        ],
    );
}

#[test]
fn an_input_that_is_not_the_intents_is_named() {
    let remedy = "        Publish the input as the intent describes it.";
    fails(
        Defect::OtherInput,
        &[&[INPUTS, "      modify_booking: /nights has the type string; the intent says integer.", remedy]],
    );
    fails(Defect::NotRequired, &[&[INPUTS, "      create_booking: /result_token is not in required.", remedy]]);
    let refused = |tool: &str| {
        ["intent", "intent_version", "request_id", "user_session_id", "context"].map(|name| {
            format!("      {tool}: the input refuses {name}, which TOMO sends with every call.\n        Add it to properties.")
        })
    };
    let [search, get] = ["search_availability", "get_listing"].map(|tool| refused(tool).join("\n"));
    let create = refused("create_booking")[..2].join("\n");
    fails(
        Defect::RefusesCommonArguments,
        &[&[INPUTS, search.as_str(), get.as_str(), create.as_str(), "      and 13 more like these"]],
    );
    fails(
        Defect::FreeTextError,
        &[
            &[
                INPUTS,
                "      search_availability without city: HTTP 200, a result.",
                "        Refuse it with -32602 INVALID_REQUEST.",
                "      get_listing without listing_id: HTTP 200, a result.",
                "        Refuse it with -32602 INVALID_REQUEST.",
            ],
            &[
                IDEMPOTENCY,
                "      create_booking: without idempotency_key it was not refused: HTTP 200, a result.",
                "        Put idempotency_key into required, and refuse a call without it with -32602 INVALID_REQUEST.",
            ],
        ],
    );
}

#[test]
fn a_response_that_is_not_the_intents_is_named() {
    let remedy = "        Answer exactly what the intent's response shape has, no more and no less.";
    fails(
        Defect::ExtraField,
        &[&[
            RESPONSES,
            "      search_availability: /listings/0/stars is not in the response shape.",
            remedy,
            "      get_listing: /stars is not in the response shape.",
            remedy,
        ]],
    );
    fails(
        Defect::MissingField,
        &[&[
            RESPONSES,
            "      search_availability: /listings/0/name is missing.",
            remedy,
            "      get_listing: /name is missing.",
            remedy,
        ]],
    );
    fails(
        Defect::NullField,
        &[&[
            RESPONSES,
            "      search_availability: /listings/0/price_inr is null.",
            remedy,
            "      get_listing: /price_inr is null.",
            remedy,
        ]],
    );
    fails(
        Defect::FreeVocabulary,
        &[&[RESPONSES, "      create_booking: /status is none of confirmed, cancelled.", remedy]],
    );
    fails(
        Defect::Expired,
        &[&[
            RESPONSES,
            "      search_availability: /expires_at lies in the past.",
            "        Say until when what was found can be booked.",
        ]],
    );
}

#[test]
fn texts_of_the_server_do_not_steer_the_terminal() {
    let remedy = "        Answer exactly what the intent's response shape has, no more and no less.";
    fails(
        Defect::SteersTerminal,
        &[&[
            RESPONSES,
            "      search_availability: /listings/0/?[2J is not in the response shape.",
            remedy,
            "      get_listing: /?[2J is not in the response shape.",
            remedy,
        ]],
    );
}

#[test]
fn two_content_items_are_named_and_what_needs_them_is_not_checked() {
    let server = FakeServer::start(Defect::TwoItems);
    let text = server.examine().text;
    let point = text.split("✗  6.").nth(1).unwrap().split("\n✓").next().unwrap();
    assert_eq!(
        point,
        " every response has all fields of the intent\n      \
         search_availability: the result has 2 content items; one text is expected.\n        \
         Answer the example of the intent with one text item that holds the payload as JSON (§3).\n      \
         not checked: get_listing: its example needs /listings/0/listing_id of search_availability, which was not answered\n      \
         not checked: create_booking: its example needs /listings/0/listing_id of search_availability, which was not answered\n      \
         not checked: modify_booking: its example needs /booking_ref of create_booking, which was not answered\n      \
         not checked: cancel_booking: its example needs /booking_ref of create_booking, which was not answered"
    );
}

#[test]
fn forbidden_fields_are_found_in_answers_and_schemas() {
    let server = FakeServer::start(Defect::Forbidden);
    let text = server.examine().text;
    let line = "✗  7. no forbidden fields anywhere\n      search_availability: the answer has \
                /result/content/0/text/listings/0/sponsoredRank.\n        Remove it: TOMO refuses whatever ranks for money.";
    assert!(text.contains(line), "{text}");
    fails(
        Defect::ForbiddenInSchema,
        &[&[
            FORBIDDEN,
            "      tools/list: the answer has /result/tools/0/outputSchema/properties/ad_bid.",
            "        Remove it: TOMO refuses whatever ranks for money.",
        ]],
    );
}

#[test]
fn strangers_who_are_not_refused_as_told_are_named() {
    let remedy = "        Answer HTTP 401 with a JSON-RPC error -32000 and data.tomo_error_code INVALID_AUTH.";
    fails(
        Defect::OpenToStrangers,
        &[&[
            CREDENTIALS,
            "      tools/list with a wrong token: HTTP 200, a result.",
            remedy,
            "      tools/call without a credential: HTTP 200, error -32602 INVALID_REQUEST: no.",
            remedy,
        ]],
    );
    fails(
        Defect::PlainRefusal,
        &[&[
            CREDENTIALS,
            "      tools/list with a wrong token: HTTP 403, a message without \"jsonrpc\": \"2.0\".",
            remedy,
            "      tools/call without a credential: HTTP 403, a message without \"jsonrpc\": \"2.0\".",
            remedy,
        ]],
    );
}

#[test]
fn a_credential_that_is_sent_back_is_named() {
    let server = FakeServer::start(Defect::EchoesToken);
    let text = server.examine().text;
    let line = "✗  8. calls without a credential are refused\n      tools/list: the answer repeats the credential.\n        \
                Never send a token back.";
    assert!(text.contains(line), "{text}");
    assert!(!text.contains(crate::desk::TOKEN));
}

#[test]
fn bookings_that_are_made_twice_are_named_and_cancelled() {
    let again = "      create_booking: the same call with the same key made another booking.";
    let remedy = "        Answer a repeated key with the booking_ref of the first call.";
    let conflict = "      create_booking: another body with the same key was not refused: HTTP 200, a result.";
    let conflict_remedy = "        Answer IDEMPOTENCY_CONFLICT when a key comes back with another body.";
    fails(Defect::BooksTwice, &[&[IDEMPOTENCY, again, remedy, conflict, conflict_remedy]]);
    fails(Defect::NoConflict, &[&[IDEMPOTENCY, conflict, conflict_remedy]]);
    fails(
        Defect::NoKeyNeeded,
        &[&[
            IDEMPOTENCY,
            "      create_booking: without idempotency_key it was not refused: HTTP 200, a result.",
            "        Put idempotency_key into required, and refuse a call without it with -32602 INVALID_REQUEST.",
        ]],
    );
}

#[test]
fn a_slow_tool_is_named() {
    let text = FakeServer::start(Defect::Slow).examine().text;
    let line = text.lines().find(|line| line.contains("p95 is")).unwrap();
    assert!(line.starts_with("      search_availability: p95 is 1"), "{line}");
    assert!(line.ends_with(" ms over 2 calls; the target is 1500 ms."), "{line}");
    assert!(text.contains("✗ 10. p95 within the targets\n"), "{text}");
}

#[test]
fn a_limit_that_does_not_say_when_to_come_back_is_named() {
    fails(
        Defect::NoRetryAfter,
        &[&[
            LIMITS,
            "      search_availability: RATE_LIMITED comes without Retry-After.",
            "        Answer -32001 with data.tomo_error_code RATE_LIMITED and Retry-After of at most 16 seconds.",
        ]],
    );
    fails(
        Defect::LongRetryAfter,
        &[&[
            LIMITS,
            "      search_availability: Retry-After is 60.",
            "        Name at most 16 seconds: TOMO does not wait longer before it tries again.",
        ]],
    );
}
