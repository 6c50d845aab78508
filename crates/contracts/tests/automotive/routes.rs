//! Answers to a tool that was called by a route: plain JSON under its HTTP status, without a JSON-RPC envelope.

use frontdesk_contracts::automotive::{Automotive, domains};
use frontdesk_engine::model::contract::{CredentialPresence, Dialect, Payload, ReplyContext, RequestTarget};
use frontdesk_engine::model::tool::Effect;
use frontdesk_engine::{Fault, FaultKind, Reply, Scope, Scopes};
use frontdesk_testkit::reply_text;

use crate::failures::kinds;

fn answered(effect: Effect, with: impl FnOnce(&ReplyContext<'_>) -> Reply) -> Reply {
    with(&ReplyContext {
        header_version: None,
        era: None,
        id: None,
        target: RequestTarget::Route { tool: "leads.create", effect },
        metadata_url: "https://desk.example/metadata",
        ordinary_scopes: &Scopes::new([Scope::new(domains::INVENTORY.read)]),
        granted_scopes: None,
        credential: CredentialPresence::Present,
        trace_id: "trace",
    })
}

#[test]
fn a_route_is_answered_with_the_object_itself() {
    let object = || Payload::One(r#"{"id":"led_1"}"#.to_owned());
    for (effect, status) in [(Effect::Reads, 200), (Effect::Changes, 200), (Effect::Adds, 201)] {
        let reply = answered(effect, |context| Automotive::default().success(object(), context));
        assert_eq!((reply.status, &reply.body[..]), (status, &br#"{"id":"led_1"}"#[..]));
    }
}

#[test]
fn a_fault_on_a_route_is_its_http_status_and_the_error_object() {
    let failed =
        |kind| answered(Effect::Adds, |context| Automotive::default().failure(&Fault::new(kind, "M"), context));
    assert_eq!(
        reply_text(&failed(FaultKind::NotFound)),
        r#"404 {"error":{"code":"leads.not_found","message":"M","details":{"retryable":false}}}"#
    );
    for kind in kinds() {
        let reply = failed(kind);
        assert!((400..600).contains(&reply.status), "{kind:?} {}", reply.status);
        assert!(reply.body.starts_with(br#"{"error":{"code":"#), "{kind:?} {:?}", reply.body);
    }
    let status = |kind| failed(kind).status;
    assert_eq!(status(FaultKind::Malformed), 400);
    assert_eq!(status(FaultKind::UnknownTool), 404);
    assert_eq!(status(FaultKind::VersionConflict), 412);
    assert_eq!(status(FaultKind::RateLimited), 429);
}
