//! Which part of the house a request is for.

use std::sync::Arc;

use ::http::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS};
use ::http::request::Parts;
use ::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use frontdesk_engine::dispatch::{DispatchPreference, dispatch};
use frontdesk_engine::model::reply::{Reply, ReplyKind};
use frontdesk_engine::model::trace::Trace;
use frontdesk_engine::{Fault, FaultKind, serve};
use frontdesk_identity::OAuthRequest;

use super::told::Told;
use super::{guard, page, receive};
use crate::config::Certificate;
use crate::house::House;
use crate::mounting::Came;
use crate::net::{Body, Caps, Peer, ResponseBody};

/// More than nearly every answer has.
const HEADERS: usize = 6;

/// Forms of the authorization server are small.
const FORM_BYTES: usize = 16 * 1024;

pub async fn answer(house: Arc<House>, request: Request<Body>, peer: Peer) -> Response<ResponseBody> {
    let (head, body) = request.into_parts();
    let told = Told::by(&head.headers);
    let trace = receive::trace(&told).unwrap_or_else(|| house.desk.new_trace());
    let path = head.uri.path();
    let (mount, way) = match (house.mounts.find_dispatch(path), house.mounts.find(path)) {
        (Some(mount), _) => (mount, Way::Dispatch(preferred(&head.headers))),
        (None, Some(mount)) => (mount, Way::Serve),
        (None, None) => {
            // Boxed, as is what follows: hyper moves the whole future of a call about before it is polled, so that every
            // call would pay for the room of the longest way.
            let reply = Box::pin(elsewhere(&house, head, body, peer, &trace)).await;
            return respond(&house, reply, &trace);
        }
    };
    let trace = receive::named(mount, trace, &told);
    let came = match told.forwarded {
        true => Came::Forwarded,
        false => Came::Directly,
    };
    let mut incoming = receive::receive(&house.config, mount, &head, &told, body, peer, trace.clone());
    if !house.admits(mount, peer.address, came) {
        incoming.transport_fault = Some(Fault::new(
            FaultKind::HostNotAllowed,
            "Only callers on this machine are served here, directly and not by a proxy; for others set up tokens.",
        ));
    }
    // All that is needed of it has been taken.
    drop(head);
    let reply = match way {
        Way::Serve => serve(&house.desk, mount, incoming).await,
        Way::Dispatch(wanted) => Box::pin(dispatch(&house.desk, mount, wanted, incoming)).await,
    };
    respond(&house, reply, &trace)
}

/// What is to become of a message.
enum Way {
    Serve,
    Dispatch(DispatchPreference),
}

fn preferred(headers: &HeaderMap) -> DispatchPreference {
    DispatchPreference::preferred(headers.get("prefer").and_then(|value| value.to_str().ok()))
}

/// Everything that is not a contract's endpoint.
async fn elsewhere(house: &House, head: Parts, body: Body, peer: Peer, trace: &Trace) -> Reply {
    let told = Told::by(&head.headers);
    let path = head.uri.path();
    let refuse = match is_public(house, path) {
        true => guard::refuse_way,
        false => guard::refuse,
    };
    if let Some(why) = refuse(&house.config, &head.uri, &told) {
        return problem(403, why);
    }
    if guard::has_two_ends(&told) {
        return problem(400, "The form's end can be found in two ways.").header("connection", "close");
    }
    let open = |reply: Reply| match head.method {
        Method::GET => reply,
        Method::HEAD => Reply { body: Default::default(), ..reply },
        _ => problem(405, "Only GET is possible here.").header("allow", "GET, HEAD"),
    };
    if path == "/" {
        return open(page::front(house));
    }
    let documents = house.mounts.iter().flat_map(|(_, mount)| &mount.contract.documents);
    for (at, text) in documents {
        if *at == path {
            let reply = Reply::plain(200, text.clone());
            return open(
                reply.header("access-control-allow-origin", "*").header("cache-control", "public, max-age=3600"),
            );
        }
    }
    let Ok(body) = body.collect(FORM_BYTES, Caps::default().body).await else {
        return problem(413, "The form is too large, or did not arrive in time.").header("connection", "close");
    };
    let authorization: Vec<&str> =
        head.headers.get_all(AUTHORIZATION).iter().map(|value| value.to_str().unwrap_or("\u{fffd}")).collect();
    let asked = OAuthRequest {
        method: head.method.as_str(),
        path,
        query: head.uri.query(),
        content_type: head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()),
        authorization: &authorization,
        body: &body,
        address: peer.address,
        trace,
    };
    match house.identity.answer(asked).await {
        Some(reply) => reply,
        None => problem(404, "There is nothing at this address; GET / says what is where."),
    }
}

/// Documents that say of themselves that any page may read them.
fn is_public(house: &House, path: &str) -> bool {
    let mut documents = house.mounts.iter().flat_map(|(_, mount)| &mount.contract.documents);
    path.starts_with("/.well-known/") || documents.any(|(at, _)| *at == path)
}

fn problem(status: u16, message: &str) -> Reply {
    let body = serde_json::json!({"error": {"code": "request.refused", "message": message}});
    Reply::plain(status, body.to_string())
}

fn respond(house: &House, reply: Reply, trace: &Trace) -> Response<ResponseBody> {
    let body = match reply.kind {
        ReplyKind::Empty => ResponseBody::empty(),
        ReplyKind::Rpc | ReplyKind::Plain => ResponseBody::full(reply.body),
    };
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    // Room for all of them at once, instead of growing with each.
    headers.reserve(HEADERS);
    if reply.kind != ReplyKind::Empty {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    // Unless an answer says that it is for everybody, it is for one caller and no cache.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // Not with a development certificate: it would bind every other port of `localhost` for a year.
    if house.config.certificate != Certificate::Development {
        headers.insert(STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    if let Ok(trace) = HeaderValue::from_str(trace.display_id()) {
        headers.insert(receive::TRACE_ID.clone(), trace);
    }
    for (name, value) in reply.headers {
        // Said above; parsing it once more would cost every call of some contracts.
        if value == "no-store" && name.eq_ignore_ascii_case(CACHE_CONTROL.as_str()) {
            continue;
        }
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(&value)) {
            headers.insert(name, value);
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room<F>(_: fn(Arc<House>, Request<Body>, Peer) -> F) -> usize {
        size_of::<F>()
    }

    /// It is copied several times for every call.
    #[test]
    fn the_future_of_a_call_stays_small() {
        assert!(room(answer) <= 4 * 1024, "{} bytes", room(answer));
    }
}
