//! Successful answers as literal text, in both eras.

use frontdesk_contracts::automotive::{Automotive, domains};
use frontdesk_engine::model::contract::{CredentialPresence, Dialect, Payload, ReplyContext, RequestTarget};
use frontdesk_engine::model::page::Total;
use frontdesk_engine::{Scope, Scopes};
use frontdesk_wire::frame::Id;
use frontdesk_wire::version::{Era, Version};

const LEGACY: Era = Era::Legacy(Version::V2025_11_25);

fn answer(shaped: Payload, place: RequestTarget<'_>, era: Era) -> String {
    let id = Id::Number(7);
    let ordinary = Scopes::new([Scope::new(domains::INVENTORY.read)]);
    let at = ReplyContext {
        header_version: None,
        era: Some(era),
        id: Some(&id),
        target: place,
        metadata_url: "https://desk.example/metadata",
        ordinary_scopes: &ordinary,
        granted_scopes: None,
        credential: CredentialPresence::Present,
        trace_id: "trace",
    };
    let reply = Automotive::default().success(shaped, &at);
    assert_eq!(reply.status, 200);
    assert_eq!(reply.headers, [("Cache-Control", "no-store".into())]);
    String::from_utf8(reply.body.to_vec()).unwrap()
}

fn page(cursor: Option<&str>) -> Payload {
    Payload::Many {
        items: vec![r#"{"id":"veh_1"}"#.to_owned(), r#"{"id":"veh_2"}"#.to_owned()],
        cursor: cursor.map(str::to_owned),
        total: None,
        note: None,
    }
}

#[test]
fn a_single_result_is_the_object_itself() {
    let one = || Payload::One(r#"{"id":"veh_1"}"#.to_owned());
    insta::assert_snapshot!(
        answer(one(), RequestTarget::Tool("inventory.get"), LEGACY),
        @r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"id\":\"veh_1\"}"}],"structuredContent":{"id":"veh_1"},"isError":false}}"#
    );
    insta::assert_snapshot!(
        answer(one(), RequestTarget::Tool("inventory.get"), Era::Modern),
        @r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"id\":\"veh_1\"}"}],"structuredContent":{"id":"veh_1"},"isError":false,"resultType":"complete"}}"#
    );
}

#[test]
fn a3_18_a_page_has_items_and_a_next_cursor() {
    insta::assert_snapshot!(
        answer(page(Some("c")), RequestTarget::Tool("inventory.list"), LEGACY),
        @r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"items\":[{\"id\":\"veh_1\"},{\"id\":\"veh_2\"}],\"next_cursor\":\"c\"}"}],"structuredContent":{"items":[{"id":"veh_1"},{"id":"veh_2"}],"next_cursor":"c"},"isError":false}}"#
    );
}

#[test]
fn a_total_is_a_member_of_the_list_and_a_note_a_second_text() {
    let many = |total, note: Option<&str>| Payload::Many {
        items: Vec::new(),
        cursor: None,
        total: Some(total),
        note: note.map(str::to_owned),
    };
    insta::assert_snapshot!(
        answer(many(Total::Exactly(0), Some("Say \"why\".")), RequestTarget::Tool("inventory.search"), Era::Modern),
        @r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"items\":[],\"x_frontdesk_total\":0}"},{"type":"text","text":"Say \"why\"."}],"structuredContent":{"items":[],"x_frontdesk_total":0},"isError":false,"resultType":"complete"}}"#
    );
    insta::assert_snapshot!(
        answer(many(Total::MoreThan(10_000), None), RequestTarget::Tool("inventory.search"), LEGACY),
        @r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"items\":[],\"x_frontdesk_total\":10000,\"x_frontdesk_total_capped\":true}"}],"structuredContent":{"items":[],"x_frontdesk_total":10000,"x_frontdesk_total_capped":true},"isError":false}}"#
    );
    // A resource has no place beside its data.
    insta::assert_snapshot!(
        answer(many(Total::Exactly(0), Some("why")), RequestTarget::Resource("amcp://d/inventory"), LEGACY),
        @r#"{"jsonrpc":"2.0","id":7,"result":{"contents":[{"uri":"amcp://d/inventory","mimeType":"application/json","text":"{\"items\":[],\"x_frontdesk_total\":0}"}]}}"#
    );
}

#[test]
fn a3_19_the_last_page_has_no_cursor() {
    insta::assert_snapshot!(
        answer(page(None), RequestTarget::Tool("inventory.list"), LEGACY),
        @r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"items\":[{\"id\":\"veh_1\"},{\"id\":\"veh_2\"}]}"}],"structuredContent":{"items":[{"id":"veh_1"},{"id":"veh_2"}]},"isError":false}}"#
    );
    let none = Payload::Many { items: Vec::new(), cursor: None, total: None, note: None };
    insta::assert_snapshot!(
        answer(none, RequestTarget::Tool("inventory.list"), LEGACY),
        @r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"items\":[]}"}],"structuredContent":{"items":[]},"isError":false}}"#
    );
}

#[test]
fn a_resource_contains_the_same_json_as_the_tool() {
    let place = RequestTarget::Resource("amcp://dlr_lakeside/inventory");
    insta::assert_snapshot!(
        answer(page(Some("c")), place, LEGACY),
        @r#"{"jsonrpc":"2.0","id":7,"result":{"contents":[{"uri":"amcp://dlr_lakeside/inventory","mimeType":"application/json","text":"{\"items\":[{\"id\":\"veh_1\"},{\"id\":\"veh_2\"}],\"next_cursor\":\"c\"}"}]}}"#
    );
    insta::assert_snapshot!(
        answer(Payload::One("{}".to_owned()), place, Era::Modern),
        @r#"{"jsonrpc":"2.0","id":7,"result":{"contents":[{"uri":"amcp://dlr_lakeside/inventory","mimeType":"application/json","text":"{}"}],"resultType":"complete","ttlMs":0,"cacheScope":"private"}}"#
    );
}
