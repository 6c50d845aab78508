//! The address of a client behind proxies that the operator trusts. From anybody else the headers that name an address are
//! ignored, because whoever sends a request can write them.

use std::net::{IpAddr, SocketAddr};

use ::http::HeaderMap;

use super::cleartext::forwarded_parameters;
use crate::config::IpNetwork;

const FORWARDED: &str = "forwarded";
const X_FORWARDED_FOR: &str = "x-forwarded-for";

/// The nearest address that is no trusted proxy. The address of the proxy if it says nothing usable, or if its two headers
/// contradict each other: then one of them is the client's own.
pub(super) fn client_address(trusted: &[IpNetwork], headers: &HeaderMap, peer: IpAddr) -> IpAddr {
    let is_trusted = |address: IpAddr| trusted.iter().any(|network| network.contains(address.to_canonical()));
    if !is_trusted(peer) {
        return peer;
    }
    let nearest = |hops: &[Option<IpAddr>]| {
        let mut client = peer;
        for hop in hops.iter().rev() {
            // What is written before something unreadable may be anybody's.
            let Some(address) = hop else { break };
            client = *address;
            if !is_trusted(client) {
                break;
            }
        }
        client
    };
    let hops = |name: &str| -> Vec<Option<IpAddr>> {
        let values = headers.get_all(name).iter().map(::http::HeaderValue::as_bytes);
        if name == FORWARDED {
            values.flat_map(|value| forwarded_parameters(value, b"for")).map(read_node).collect()
        } else {
            values.flat_map(|value| value.split(|byte| *byte == b',')).map(read_node).collect()
        }
    };
    match (hops(FORWARDED), hops(X_FORWARDED_FOR)) {
        (forwarded, others) if forwarded.is_empty() || others.is_empty() => nearest(&[forwarded, others].concat()),
        (forwarded, others) if nearest(&forwarded) == nearest(&others) => nearest(&forwarded),
        _ => peer,
    }
}

/// An address with or without brackets and a port; not `unknown` or a made-up name.
fn read_node(node: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(node).ok()?.trim();
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse::<IpAddr>().or_else(|_| text.parse::<SocketAddr>().map(|socket| socket.ip())).ok()?;
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests {
    use ::http::{HeaderMap, HeaderName, HeaderValue};

    use super::client_address;
    use crate::config::IpNetwork;

    fn client(peer: &str, headers: &[(&'static str, &'static str)]) -> String {
        let trusted = ["10.0.0.0/8", "fd00::/8"].map(|text| IpNetwork::parse(text).unwrap());
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        client_address(&trusted, &map, peer.parse().unwrap()).to_string()
    }

    #[test]
    fn a_stranger_cannot_choose_its_address() {
        for header in [("x-forwarded-for", "192.0.2.9"), ("forwarded", "for=192.0.2.9")] {
            assert_eq!(client("203.0.113.5", &[header]), "203.0.113.5");
        }
    }

    #[test]
    fn behind_trusted_proxies_the_nearest_other_address_counts() {
        let forwarded_for = |value| client("10.0.0.1", &[("x-forwarded-for", value)]);
        assert_eq!(forwarded_for("192.0.2.9"), "192.0.2.9");
        assert_eq!(forwarded_for("198.51.100.1, 192.0.2.9, 10.3.3.3"), "192.0.2.9");
        assert_eq!(forwarded_for("192.0.2.9:4711"), "192.0.2.9");
        assert_eq!(forwarded_for("2001:db8::7"), "2001:db8::7");
        assert_eq!(forwarded_for("[2001:db8::7]:4711"), "2001:db8::7");
        assert_eq!(forwarded_for("::ffff:192.0.2.9"), "192.0.2.9");
        // All of them are proxies, so the farthest counts.
        assert_eq!(forwarded_for("10.2.2.2, 10.3.3.3"), "10.2.2.2");
        // The proxy at the other end of the connection may be written as IPv6.
        assert_eq!(client("::ffff:10.0.0.1", &[("x-forwarded-for", "192.0.2.9")]), "192.0.2.9");
        let lines = [("x-forwarded-for", "192.0.2.9"), ("x-forwarded-for", "10.3.3.3")];
        assert_eq!(client("10.0.0.1", &lines), "192.0.2.9");
        let forwarded = r#"for=198.51.100.1;proto=https, for="[2001:db8::7]:4711";proto=https"#;
        assert_eq!(client("fd00::1", &[("forwarded", forwarded)]), "2001:db8::7");
    }

    #[test]
    fn what_cannot_be_read_or_contradicts_itself_names_the_proxy() {
        for value in ["", "unknown", "192.0.2.9, _hidden", "localhost", "192.0.2.9, , "] {
            assert_eq!(client("10.0.0.1", &[("x-forwarded-for", value)]), "10.0.0.1", "{value}");
        }
        assert_eq!(client("10.0.0.1", &[("x-forwarded-for", "192.0.2.9, unknown, 10.3.3.3")]), "10.3.3.3");
        assert_eq!(client("10.0.0.1", &[]), "10.0.0.1");
        let both = |forwarded| client("10.0.0.1", &[("x-forwarded-for", "192.0.2.9"), ("forwarded", forwarded)]);
        assert_eq!(both("for=192.0.2.9"), "192.0.2.9");
        assert_eq!(both("for=198.51.100.1"), "10.0.0.1");
    }
}
