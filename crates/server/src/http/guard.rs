//! Host and Origin: a page in somebody's browser must not be able to reach the desk under a name that
//! is not the desk's own (DNS rebinding), nor from a site nobody allowed.

use ::http::HeaderMap;
use ::http::header::{HOST, ORIGIN};

use crate::config::Config;

/// What is wrong with where the request comes from, if anything.
pub(super) fn refuse(config: &Config, headers: &HeaderMap) -> Option<&'static str> {
    let mut hosts = headers.get_all(HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().ok(),
        (Some(_), Some(_)) | (None, _) => None,
    };
    let named = host.map(|host| name_of(host).to_ascii_lowercase());
    if !named.is_some_and(|named| config.allowed_hosts.contains(&named)) {
        return Some("This server does not answer to that host name; see `allowed_hosts` in its configuration.");
    }
    for origin in headers.get_all(ORIGIN) {
        let known = origin.to_str().is_ok_and(|origin| config.allowed_origins.iter().any(|allowed| allowed == origin));
        if !known {
            return Some(
                "Requests from that origin are not allowed; see `allowed_origins` in the server's configuration.",
            );
        }
    }
    None
}

/// The host without its port; an IPv6 address keeps its brackets.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.is_empty() => name,
        _ => host,
    }
}
