//! Answers that went well: the object itself, or a page of objects, in the envelope of a tool call or
//! of a resource. Both carry the same JSON.

use frontdesk_engine::Reply;
use frontdesk_engine::contract::{At, Place, Shaped};
use frontdesk_wire::answer::{self, Cache, CacheScope, ToolResult, quote, sealed_result, tool_result};

use super::spoken;

/// Stock and leads change at any time, so nothing read here may be kept.
const NEVER: Cache = Cache { ttl_ms: 0, scope: CacheScope::Private };

pub(super) fn success(shaped: Shaped, at: &At<'_>) -> Reply {
    let object = object(shaped);
    let era = spoken(at);
    let result = match at.place {
        Place::Tool(_) => tool_result(&object, ToolResult::Success, &era),
        Place::Resource(address) => {
            let contents = format!(
                "{{\"contents\":[{{\"uri\":{},\"mimeType\":\"application/json\",\"text\":{}}}]}}",
                quote(address),
                quote(&object),
            );
            sealed_result(&contents, &era, Some(NEVER))
        }
        Place::Method | Place::Transport => sealed_result(&object, &era, None),
    };
    match at.id {
        Some(id) => Reply::rpc(answer::success(id, &result)),
        None => Reply::empty(202),
    }
}

/// `next_cursor` is there only while there is more (A3-19).
fn object(shaped: Shaped) -> String {
    match shaped {
        Shaped::One(object) => object,
        Shaped::Many { items, cursor } => {
            let more = cursor.map(|cursor| format!(",\"next_cursor\":{}", quote(&cursor)));
            format!("{{\"items\":[{}]{}}}", items.join(","), more.unwrap_or_default())
        }
    }
}
