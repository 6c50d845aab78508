//! Stage 9: from an outcome to an answer. Personal data is left out unless the caller may see it, the
//! page's end is sealed into a cursor, and the dialect puts the contract's envelope around it.

use crate::model::contract::Payload;
use crate::model::fault::{Fault, FaultKind};
use crate::model::reply::Reply;
use crate::model::route::{ID, RouteRequest};
use crate::model::table::joined;
use crate::model::tool::{Effect, ListAnswer, Outcome};
use crate::pipeline::permit::Permitted;
use crate::pipeline::record::CallRecord;
use crate::ports::Disclosure;
use crate::serve::route::entity_tag;

pub(crate) fn shape(
    call_record: &mut CallRecord<'_>,
    permitted: &Permitted<'_>,
    outcome: Outcome,
) -> Result<Reply, Fault> {
    let CallRecord { desk, mount, .. } = *call_record;
    let mut version = 0;
    let mut new_id = None;
    let payload = match outcome {
        Outcome::One(item) => {
            version = item.version;
            if call_record.incoming.route.is_some() && call_record.effect() == Some(Effect::Adds) {
                new_id = Some(item.id.clone());
            }
            call_record.add_id(&item.id);
            Payload::One(match (permitted.disclosure(), &item.personal, &item.masked) {
                (Disclosure::Full, Some(personal), _) => {
                    if permitted.reveals_personal_data(&item) {
                        call_record.mark_personal();
                    }
                    joined(&item.body, Some(personal))
                }
                (Disclosure::Full | Disclosure::Masked | Disclosure::ToChange, _, Some(masked)) => {
                    joined(&item.body, Some(masked))
                }
                (Disclosure::Full | Disclosure::Masked | Disclosure::ToChange, _, None) => item.body,
            })
        }
        Outcome::Many(list) => {
            let ListAnswer { page, total, note } = *list;
            call_record.set_rows(page.rows.len());
            // Who looked a person up is worth knowing as exactly as who read the whole record.
            page.ids.iter().for_each(|id| call_record.add_id(id));
            if permitted.personal_filter() {
                call_record.mark_personal();
            }
            let cursor = match page.next {
                None => None,
                Some(key) => {
                    Some(permitted.cursor(key).ok_or_else(|| Fault::internal("the cursor could not be sealed"))?)
                }
            };
            Payload::Many { items: page.rows, cursor, total, note }
        }
        Outcome::Raw { answer, rows } => {
            call_record.set_rows(rows);
            Payload::One(answer)
        }
    };
    let headers = call_record
        .incoming
        .route
        .as_deref()
        .map(|request| route_headers(request, &payload, version, mount.contract.dialect.tenant_argument()));
    let reply = mount.contract.dialect.success(payload, &call_record.reply_context());
    let location = new_id.zip(call_record.incoming.route.as_deref());
    let location =
        location.map(|(id, request)| ("Location", format!("{}/{id}", collection_path(call_record, request))));
    let reply = match call_record.route().and_then(|route| route.success) {
        Some(status) => reply.status(status),
        None => reply,
    };
    let reply =
        headers.into_iter().flatten().chain(location).fold(reply, |reply, (name, value)| reply.header(name, value));
    // A write has happened by now, and its answer must say so however long it is.
    let limit = mount.policy.as_ref().map_or(desk.settings.reply_bytes, |policy| policy.result_bytes);
    if call_record.effect() == Some(Effect::Reads) && reply.body.len() > limit {
        return Err(too_large());
    }
    Ok(reply)
}

/// The path below which new records are found: without the variable that the request's own path may end with.
fn collection_path<'r>(call_record: &CallRecord<'_>, request: &'r RouteRequest) -> &'r str {
    let has_variable = call_record.route().is_some_and(|route| route.path.ends_with(ID));
    match request.path.rsplit_once('/') {
        Some((collection, _)) if has_variable => collection,
        Some(_) | None => &request.path,
    }
}

/// What HTTP says about an answer at a route: the version of a record, the address of the next page.
fn route_headers(
    request: &RouteRequest,
    payload: &Payload,
    version: i64,
    tenant_argument: &str,
) -> Option<(&'static str, String)> {
    match payload {
        // An answer that was stored before versions were has none.
        Payload::One(_) => (version > 0).then(|| ("ETag", entity_tag(version))),
        Payload::Many { cursor, .. } => {
            let mut next = format!("<{}?cursor={}", request.path, cursor.as_deref()?);
            // The cursor has the filters, but a token for several tenants must name its own again.
            let query = request.query.as_deref().unwrap_or_default();
            if let Some((name, tenant)) =
                form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == tenant_argument)
            {
                let tenant: String = form_urlencoded::byte_serialize(tenant.as_bytes()).collect();
                next.push_str(&format!("&{name}={tenant}"));
            }
            Some(("Link", format!("{next}>; rel=\"next\"")))
        }
    }
}

pub(crate) fn too_large() -> Fault {
    Fault::new(FaultKind::AnswerTooLarge, "The answer would be too large. Ask for less.")
}
