//! Where a request comes from and how: a page in somebody's browser must not be able to reach the desk
//! under a name that is not the desk's own (DNS rebinding), nor from a site nobody allowed, and nothing
//! is looked at that has crossed a network in clear.

use ::http::Uri;

use super::told::{Given, Told};
use crate::config::Config;

/// What is wrong with where the request comes from, if anything.
pub(super) fn refuse(config: &Config, target: &Uri, told: &Told<'_>) -> Option<&'static str> {
    refuse_way(config, target, told).or_else(|| refuse_origin(config, told))
}

/// The same for what any page may read.
pub(super) fn refuse_way(config: &Config, target: &Uri, told: &Told<'_>) -> Option<&'static str> {
    let host = told.host.only().and_then(|host| host.to_str().ok());
    let known = |name: &str| config.allowed_hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(name));
    // A target that names a host outranks the header (RFC 9112, 3.2.2).
    if !host.is_some_and(|host| known(name_of(host))) || target.host().is_some_and(|name| !known(name)) {
        return Some("This server does not answer to that host name; see `allowed_hosts` in its configuration.");
    }
    // Whoever sets this header can only make the desk stricter, so it is believed from everybody (A6-24).
    if told.all(told.forwarded_proto).any(|schemes| !is_https(schemes.as_bytes())) {
        return Some("This request has crossed a network in clear. Send it over https, and replace its credential.");
    }
    None
}

fn refuse_origin(config: &Config, told: &Told<'_>) -> Option<&'static str> {
    for origin in told.all(told.origin) {
        let known = origin.to_str().is_ok_and(|origin| config.allowed_origins.iter().any(|allowed| allowed == origin));
        if !known {
            return Some(
                "Requests from that origin are not allowed; see `allowed_origins` in the server's configuration.",
            );
        }
    }
    None
}

/// A transfer coding besides one `chunked` lets whoever stands before the desk see another end of the body
/// than the desk, and a second request between the two. Beside a length hyper believes the coding and
/// closes after the answer, as RFC 9112, 6.1 has it.
pub(super) fn has_two_ends(told: &Told<'_>) -> bool {
    match told.transfer_encoding {
        Given::Nothing => false,
        Given::Once(only) => !only.as_bytes().eq_ignore_ascii_case(b"chunked"),
        Given::Often(_) => true,
    }
}

/// Each proxy on the way adds how it was reached.
fn is_https(schemes: &[u8]) -> bool {
    schemes.split(|byte| *byte == b',').all(|scheme| scheme.trim_ascii().eq_ignore_ascii_case(b"https"))
}

/// The host without its port; an IPv6 address keeps its brackets.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.is_empty() => name,
        _ => host,
    }
}
