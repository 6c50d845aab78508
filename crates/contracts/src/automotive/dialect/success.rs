//! Successful answers: an object or a page of objects, as the result of a tool call or as the contents of a resource.
//! Both contain the same JSON.

use frontdesk_engine::Reply;
use frontdesk_engine::model::contract::{Payload, ReplyContext, RequestTarget};
use frontdesk_engine::model::page::Total;
use frontdesk_engine::model::tool::Effect;
use frontdesk_wire::answer::{self, CacheHint, CacheScope, finished_result, quote, tool_success_with_note};

use super::super::resource::{TOTAL, TOTAL_CAPPED};
use super::era_or_default;

/// Stock and leads can change at any time, so clients must not cache them.
const NO_CACHE: CacheHint = CacheHint { ttl_ms: 0, scope: CacheScope::Private };

pub(super) fn success(payload: Payload, context: &ReplyContext<'_>) -> Reply {
    let (object, note) = object_and_note(payload);
    if let RequestTarget::Route { effect, .. } = context.target {
        return Reply::plain(route_status(effect), object);
    }
    let era = era_or_default(context);
    let Some(id) = context.id else {
        return Reply::empty(202);
    };
    let result = match context.target {
        RequestTarget::Tool(_) => {
            return Reply::rpc(tool_success_with_note(id, &object, note.as_deref(), &era));
        }
        RequestTarget::Resource(uri) => {
            let contents = format!(
                "{{\"contents\":[{{\"uri\":{},\"mimeType\":\"application/json\",\"text\":{}}}]}}",
                quote(uri),
                quote(&object),
            );
            finished_result(&contents, &era, Some(NO_CACHE))
        }
        RequestTarget::Route { .. } | RequestTarget::Method | RequestTarget::Transport => {
            finished_result(&object, &era, None)
        }
    };
    Reply::rpc(answer::success(id, &result))
}

fn route_status(effect: Effect) -> u16 {
    match effect {
        Effect::Adds => 201,
        Effect::Reads | Effect::Changes => 200,
    }
}

/// `next_cursor` is present only if there are more items (A3-19). The note is no part of the object: only a tool result
/// has a place for it.
fn object_and_note(payload: Payload) -> (String, Option<String>) {
    match payload {
        Payload::One(object) => (object, None),
        Payload::Many { items, cursor, total, note } => {
            let mut object = String::with_capacity(items.iter().map(|item| item.len() + 1).sum::<usize>() + 512);
            object.push_str("{\"items\":[");
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    object.push(',');
                }
                object.push_str(item);
            }
            object.push(']');
            if let Some(cursor) = cursor {
                object.push_str(",\"next_cursor\":");
                object.push_str(&quote(&cursor));
            }
            match total {
                None => {}
                Some(Total::Exactly(count)) => object.push_str(&format!(",\"{TOTAL}\":{count}")),
                Some(Total::MoreThan(count)) => {
                    object.push_str(&format!(",\"{TOTAL}\":{count},\"{TOTAL_CAPPED}\":true"));
                }
            }
            object.push('}');
            (object, note)
        }
    }
}
