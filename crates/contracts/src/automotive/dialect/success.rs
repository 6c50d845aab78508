//! Answers that went well: the object itself, or a page of objects, in the envelope of a tool call or
//! of a resource. Both carry the same JSON.

use frontdesk_engine::Reply;
use frontdesk_engine::model::contract::{Payload, ReplyContext, RequestTarget};
use frontdesk_wire::answer::{self, CacheHint, CacheScope, finished_result, quote, tool_success};

use super::spoken;

/// Stock and leads change at any time, so nothing read here may be kept.
const NEVER: CacheHint = CacheHint { ttl_ms: 0, scope: CacheScope::Private };

pub(super) fn success(shaped: Payload, at: &ReplyContext<'_>) -> Reply {
    let object = object(shaped);
    let era = spoken(at);
    let Some(id) = at.id else {
        return Reply::empty(202);
    };
    let result = match at.target {
        RequestTarget::Tool(_) => return Reply::rpc(tool_success(id, &object, &era)),
        RequestTarget::Resource(address) => {
            let contents = format!(
                "{{\"contents\":[{{\"uri\":{},\"mimeType\":\"application/json\",\"text\":{}}}]}}",
                quote(address),
                quote(&object),
            );
            finished_result(&contents, &era, Some(NEVER))
        }
        RequestTarget::Method | RequestTarget::Transport => finished_result(&object, &era, None),
    };
    Reply::rpc(answer::success(id, &result))
}

/// `next_cursor` is there only while there is more (A3-19).
fn object(shaped: Payload) -> String {
    match shaped {
        Payload::One(object) => object,
        Payload::Many { items, cursor } => {
            let mut object = String::with_capacity(items.iter().map(|item| item.len() + 1).sum::<usize>() + 512);
            object.push_str("{\"items\":[");
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    object.push(',');
                }
                object.push_str(item);
            }
            object.push(']');
            if let Some(cursor) = cursor {
                object.push_str(",\"next_cursor\":");
                object.push_str(&quote(&cursor));
            }
            object.push('}');
            object
        }
    }
}
