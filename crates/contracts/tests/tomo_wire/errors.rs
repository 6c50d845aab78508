//! Errors (§4): the table of codes, and where HTTP says more than 200.

use frontdesk_contracts::partner::{ErrorStatus, PartnerSource};
use frontdesk_contracts::tomo;
use frontdesk_engine::model::incoming::{Credential, RequestBody};
use frontdesk_engine::model::tool::{Future, Outcome, Run};
use frontdesk_engine::{Fault, FaultKind, Permitted, Reply};
use serde_json::{Value, json};

use crate::support::{HOTEL, WireDesk, call, examples, partner};

fn text(reply: &Reply) -> String {
    String::from_utf8(reply.body.to_vec()).unwrap()
}

#[test]
fn t_070_t_071_t_074_t_075_t_076_t_082_the_table_of_codes() {
    let desk = WireDesk::open();
    for (body, answer) in [
        (
            "{",
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"The text is not valid JSON.","data":{"tomo_error_code":"INVALID_REQUEST"}}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"orders/burn"}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"Method not found","data":{"tomo_error_code":"METHOD_NOT_FOUND"}}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"burn_hotel","arguments":{}}}"#,
            r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32602,"message":"There is no tool of this name; `tools/list` names those there are.","data":{"tomo_error_code":"INVALID_REQUEST"}}}"#,
        ),
    ] {
        let reply = desk.send(body);
        assert_eq!((reply.status, text(&reply).as_str()), (200, answer));
    }
    for body in ["{}", r#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#, "[]", "7"] {
        let error = desk.answer(body)["error"].clone();
        assert_eq!((&error["code"], &error["data"]["tomo_error_code"]), (&json!(-32600), &json!("INVALID_REQUEST")));
    }
}

#[test]
fn t_072_t_073_an_argument_is_named_by_its_dotted_path() {
    let desk = WireDesk::open();
    let mut arguments = examples()[0].1.clone();
    arguments["destination"]["country_code"] = json!("FR");
    let answer = desk.call("search_availability", &arguments);
    assert_eq!(answer["result"], Value::Null);
    assert_eq!(answer["id"], 42);
    assert_eq!(
        answer["error"],
        json!({
            "code": -32602,
            "message": "Invalid params: destination.country_code: one of these is expected: IN.",
            "data": {"tomo_error_code": "INVALID_REQUEST", "tomo_field": "destination.country_code"},
        })
    );
}

#[test]
fn an_argument_that_is_not_known_has_no_empty_path() {
    let mut arguments = examples()[0].1.clone();
    arguments["colour"] = json!("blue");
    let error = WireDesk::open().call("search_availability", &arguments)["error"].clone();
    assert_eq!((&error["code"], &error["data"]), (&json!(-32602), &json!({"tomo_error_code": "INVALID_REQUEST"})));
    let message = error["message"].as_str().unwrap();
    assert!(message.starts_with("Invalid params: arguments: only these are known: "), "{message}");
}

#[test]
fn t_077_a_fault_of_the_server_says_nothing_about_its_cause() {
    fn fails<'a>(_: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(std::future::ready(Err(Fault::internal("the disk is full of secrets"))))
    }
    let mut contract = tomo::contract(&partner(HOTEL, PartnerSource::Own)).unwrap();
    contract.tools[0].run = Run::read(fails);
    let answer = WireDesk::with(contract).call("search_availability", &examples()[0].1);
    assert_eq!(
        answer["error"],
        json!({
            "code": -32603,
            "message": "Something went wrong on our side.",
            "data": {"tomo_error_code": "INTERNAL_ERROR"},
        })
    );
}

#[test]
fn t_078_who_is_unknown_gets_401_with_the_id() {
    let desk = WireDesk::open();
    let body = r#"{"jsonrpc":"2.0","id":"x-1","method":"tools/list"}"#;
    for credential in [Credential::Missing, Credential::Bearer("wrong".to_owned()), Credential::Unusable] {
        let reply = desk.send_as(credential, None, body);
        assert_eq!(reply.status, 401);
        let answer: Value = serde_json::from_slice(&reply.body).unwrap();
        assert_eq!(answer["id"], "x-1");
        assert_eq!(answer["error"]["code"], -32000);
        assert_eq!(answer["error"]["data"], json!({"tomo_error_code": "INVALID_AUTH"}));
    }
}

#[test]
fn t_081_a_refusal_of_the_business_has_the_code_of_the_intent() {
    let desk = WireDesk::open();
    let unknown = desk.call("get_listing", &json!({"listing_id": "hls_nobody"}))["error"].clone();
    assert_eq!((&unknown["code"], &unknown["data"]["tomo_error_code"]), (&json!(-32602), &json!("NOT_FOUND")));
    let mut booking = examples()[2].1.clone();
    for name in ["listing_id", "room_id", "result_token"] {
        booking[name] = json!("made_up");
    }
    let expired = desk.call("create_booking", &booking)["error"].clone();
    assert_eq!((&expired["code"], &expired["data"]["tomo_error_code"]), (&json!(-32602), &json!("RESULT_EXPIRED")));
}

#[test]
fn a_code_that_the_intent_does_not_list_becomes_one_that_it_does() {
    let mut settings = partner(HOTEL, PartnerSource::Own);
    settings.intents[0].text = settings.intents[0].text.replace("\"RESULT_EXPIRED\",", "");
    let desk = WireDesk::of(&settings);
    let mut booking = examples()[2].1.clone();
    for name in ["listing_id", "room_id", "result_token"] {
        booking[name] = json!("made_up");
    }
    assert_eq!(desk.call("create_booking", &booking)["error"]["data"]["tomo_error_code"], "INVALID_REQUEST");
}

#[test]
fn the_equivalents_of_http_are_a_setting() {
    let mut settings = partner(HOTEL, PartnerSource::Own);
    settings.error_status = ErrorStatus::Equivalent;
    let desk = WireDesk::of(&settings);
    let unknown_listing = call("anon", "get_listing", &json!({"listing_id": "hls_nobody"})).to_string();
    for (body, status) in [
        ("{", 400),
        (r#"{"jsonrpc":"2.0","id":1,"method":"orders/burn"}"#, 404),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"burn_hotel","arguments":{}}}"#, 400),
        (unknown_listing.as_str(), 404),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, 200),
    ] {
        assert_eq!(desk.send(body).status, status, "{body}");
    }
}

#[test]
fn little_of_what_a_stranger_sends_is_read() {
    let (asked, answer) = std::sync::mpsc::channel();
    let body = RequestBody::from_reader(move |most| async move {
        asked.send(most).unwrap();
        Err(Fault::new(FaultKind::TooLarge, "too large"))
    });
    let reply = WireDesk::open().send_body(Credential::Missing, None, body);
    assert_eq!((reply.status, answer.recv().unwrap()), (401, 65_536));
}
