//! Successful answers: the payload as one text (§3). Callers of versions that know structured content get the same
//! object there, too.

use frontdesk_engine::Reply;
use frontdesk_engine::model::contract::{Payload, ReplyContext, RequestTarget};
use frontdesk_wire::answer::{finished_result, success as rpc_success, text_result, tool_success};
use frontdesk_wire::version::Version;

pub(super) fn success(payload: Payload, context: &ReplyContext<'_>) -> Reply {
    let object = match payload {
        Payload::One(object) => object,
        // No tool of this contract answers in pages.
        Payload::Many { items, .. } => format!("{{\"items\":[{}]}}", items.join(",")),
    };
    let era = context.era_or_default();
    let Some(id) = context.id else {
        return Reply::empty(202);
    };
    let reply = match context.target {
        RequestTarget::Tool(_) if era.version() >= Version::V2025_06_18 => Reply::rpc(tool_success(id, &object, &era)),
        RequestTarget::Tool(_) => Reply::rpc(rpc_success(id, &text_result(&object))),
        RequestTarget::Resource(_) | RequestTarget::Route { .. } | RequestTarget::Method | RequestTarget::Transport => {
            Reply::rpc(rpc_success(id, &finished_result(&object, &era, None)))
        }
    };
    // A booking is for TOMO alone, and prices change.
    reply.header("Cache-Control", "no-store")
}
