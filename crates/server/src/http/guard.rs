//! Checks of host, origin and transport: a page in a browser must not reach the server under a foreign host name (DNS
//! rebinding) or from an origin that is not allowed, and a request that crossed a network in cleartext is refused.

use ::http::Uri;

use super::headers::{Occurrence, RequestHeaders};
use crate::config::Config;

/// Why a request is refused, if it is.
pub(super) fn refusal(config: &Config, target: &Uri, headers: &RequestHeaders<'_>) -> Option<&'static str> {
    transport_refusal(config, target, headers).or_else(|| origin_refusal(config, headers))
}

/// The same without the check of the origin, for documents that every page may read.
pub(super) fn transport_refusal(config: &Config, target: &Uri, headers: &RequestHeaders<'_>) -> Option<&'static str> {
    let host = headers.host.single().and_then(|host| host.to_str().ok());
    let known = |name: &str| config.allowed_hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(name));
    // A host in the request target overrides the header (RFC 9112, 3.2.2).
    if !host.is_some_and(|host| known(host_name(host))) || target.host().is_some_and(|name| !known(name)) {
        return Some("This server does not answer to that host name; see `allowed_hosts` in its configuration.");
    }
    if headers.cleartext {
        return Some("This request crossed a network in cleartext. Send it over https, and replace its credential.");
    }
    None
}

fn origin_refusal(config: &Config, headers: &RequestHeaders<'_>) -> Option<&'static str> {
    for origin in headers.all(headers.origin) {
        let known = origin.to_str().is_ok_and(|origin| config.allowed_origins.iter().any(|allowed| allowed == origin));
        if !known {
            return Some(
                "Requests from that origin are not allowed; see `allowed_origins` in the server's configuration.",
            );
        }
    }
    None
}

/// Any transfer coding other than exactly `chunked` lets a proxy see another end of the body than this server does
/// (request smuggling). With both a coding and a length, hyper uses the coding and closes after the answer (RFC 9112, 6.1).
pub(super) fn has_ambiguous_framing(headers: &RequestHeaders<'_>) -> bool {
    match headers.transfer_encoding {
        Occurrence::Absent => false,
        Occurrence::Once(only) => !only.as_bytes().eq_ignore_ascii_case(b"chunked"),
        Occurrence::Many(_) => true,
    }
}

/// The host without its port; an IPv6 address keeps its brackets.
fn host_name(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.is_empty() => name,
        _ => host,
    }
}
