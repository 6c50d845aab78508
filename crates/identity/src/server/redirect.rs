//! Where a browser is sent back to. A redirect URI is compared as text with those that a client has registered; only the
//! port of one on this machine may differ (RFC 8252 §7.3), because such a client listens on whichever is free.

use url::{Host, Url};

const MAX_BYTES: usize = 2_000;

/// What a person should know about where the answer goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RedirectPlace {
    Web,
    /// A program on the machine of whoever uses the browser: any program there could have asked.
    ThisMachine,
}

/// Why a redirect URI cannot be registered.
pub(crate) const RULES: &str = "A redirect URI is an https URL, or an http URL on 127.0.0.1, [::1] or localhost, without user, password and fragment.";

/// Whether a URI may be registered.
pub(crate) fn may_register(uri: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_graphic() && !b"\\\"<>`{}|^#".contains(&byte);
    if uri.len() > MAX_BYTES || !uri.bytes().all(plain) {
        return false;
    }
    let Ok(url) = Url::parse(uri) else {
        return false;
    };
    let clean = url.username().is_empty() && url.password().is_none() && !authority(uri).contains('@');
    // One spelling each: no dot segments, no upper case in scheme and host, no other form of an address.
    let same = url.as_str() == uri || url.as_str().strip_suffix('/') == Some(uri);
    let allowed = match url.scheme() {
        "https" => url.host().is_some(),
        "http" => place_of(&url) == RedirectPlace::ThisMachine,
        _ => false,
    };
    clean && same && allowed
}

/// The text after the scheme, up to the path.
fn authority(uri: &str) -> &str {
    let rest = uri.split_once("://").map_or("", |(_, rest)| rest);
    rest.split(['/', '?']).next().unwrap_or_default()
}

/// Whether the URI of a request is one of those that are registered.
pub(crate) fn matches(registered: &[String], sent: &str) -> bool {
    registered.iter().any(|known| known == sent || is_same_but_port(known, sent))
}

fn is_same_but_port(known: &str, sent: &str) -> bool {
    for (start, needs_no_port) in [("http://127.0.0.1", false), ("http://[::1]", false), ("http://localhost", true)] {
        if let (Some(known), Some(sent)) = (known.strip_prefix(start), sent.strip_prefix(start)) {
            let (known_port, known_rest) = split_port(known);
            let (sent_port, sent_rest) = split_port(sent);
            // A name can mean another machine, so a port that was registered for it stays.
            let may_differ = !needs_no_port || known_port.is_none();
            let is_port =
                sent_port.is_none_or(|port| port.parse::<u16>().is_ok_and(|number| number.to_string() == port));
            return may_differ
                && is_port
                && known_rest == sent_rest
                && (sent_rest.is_empty() || sent_rest.starts_with('/'));
        }
    }
    false
}

/// The port of what follows a host, and the rest.
fn split_port(text: &str) -> (Option<&str>, &str) {
    let Some(after) = text.strip_prefix(':') else {
        return (None, text);
    };
    let end = after.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(after.len());
    let (port, rest) = after.split_at(end);
    (Some(port), rest)
}

pub(crate) fn place(uri: &str) -> RedirectPlace {
    Url::parse(uri).map_or(RedirectPlace::Web, |url| place_of(&url))
}

fn place_of(url: &Url) -> RedirectPlace {
    let is_here = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    if is_here { RedirectPlace::ThisMachine } else { RedirectPlace::Web }
}

/// The host, as a person reads it.
pub(crate) fn host(uri: &str) -> String {
    Url::parse(uri).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
}

/// What a content security policy must allow, so that a browser follows a redirect there after a form.
pub(crate) fn policy_source(uri: &str) -> String {
    match Url::parse(uri) {
        // A policy cannot name an IPv6 address.
        Ok(url) if matches!(url.host(), Some(Host::Ipv6(_))) => format!("{}:", url.scheme()),
        Ok(url) => url.origin().ascii_serialization(),
        Err(_) => "'none'".to_owned(),
    }
}

/// The URI with these parameters in addition.
pub(crate) fn with_parameters(uri: &str, parameters: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(parameters);
    let between = if uri.contains('?') { '&' } else { '?' };
    format!("{uri}{between}{}", query.finish())
}

#[cfg(test)]
mod tests {
    use super::{matches, may_register, policy_source, with_parameters};

    #[test]
    fn only_https_and_this_machine_can_be_registered() {
        for good in [
            "https://agent.example/cb",
            "https://agent.example",
            "https://agent.example/cb?x=1",
            "http://127.0.0.1/cb",
            "http://127.0.0.1:8123/cb",
            "http://[::1]:9/cb",
            "http://localhost:6274/oauth/callback",
        ] {
            assert!(may_register(good), "{good}");
        }
        for bad in [
            "http://agent.example/cb",
            "https://user@agent.example/cb",
            "https://user:secret@agent.example/cb",
            "https://@agent.example/cb",
            "https://agent.example/cb#",
            "https://agent.example/cb#part",
            "https://agent.example/a/../cb",
            "https://agent.example/%2e%2e/cb",
            "https://AGENT.example/cb",
            "HTTPS://agent.example/cb",
            "https://agent.example\\cb",
            "https://agent.example/\tcb",
            "https://agent.example/ cb",
            "https://ägent.example/cb",
            "https://*.example/cb\"",
            "http://127.1/cb",
            "http://0x7f.0.0.1/cb",
            "http://2130706433/cb",
            "http://127.0.0.1.example/cb",
            "http://localhost.example/cb",
            "javascript:alert(1)",
            "data:text/html,x",
            "cursor://callback",
            "file:///etc/passwd",
            "//agent.example/cb",
            "/cb",
            "",
        ] {
            assert!(!may_register(bad), "{bad}");
        }
    }

    #[test]
    fn a_redirect_matches_as_text_but_for_a_local_port() {
        let registered = |uri: &str| vec![uri.to_owned()];
        for (known, sent, same) in [
            ("https://agent.example/cb", "https://agent.example/cb", true),
            ("https://agent.example/cb", "https://agent.example/cb/", false),
            ("https://agent.example/cb", "https://agent.example/cb?x=1", false),
            ("https://agent.example/cb", "https://agent.example/cb#f", false),
            ("https://agent.example/cb", "https://agent.example:443/cb", false),
            ("https://agent.example/cb", "https://evil@agent.example/cb", false),
            ("https://agent.example/cb", "https://agent.example.evil/cb", false),
            ("https://agent.example/cb", "https://sub.agent.example/cb", false),
            ("https://agent.example/cb", "HTTPS://agent.example/cb", false),
            ("https://agent.example/cb", "https://agent.example/x/../cb", false),
            ("https://agent.example/cb", "https://agent.example/%2e/cb", false),
            ("https://agent.example/cb", "https://agent.example\\cb", false),
            ("https://agent.example/cb", "https://agent.example/cb\n", false),
            ("https://agent.example/cb", "http://agent.example/cb", false),
            ("https://agent.example/cb", "javascript:alert(1)", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:51234/cb", true),
            ("http://127.0.0.1:1/cb", "http://127.0.0.1:51234/cb", true),
            ("http://127.0.0.1/cb", "http://127.0.0.1/cb", true),
            ("http://127.0.0.1/cb", "http://127.0.0.1:51234/other", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:99999/cb", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:/cb", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:080/cb", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:80@evil.example/cb", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1.evil.example/cb", false),
            ("http://127.0.0.1/cb", "http://localhost:51234/cb", false),
            ("http://127.0.0.1/cb", "http://[::1]:51234/cb", false),
            ("http://127.0.0.1/cb", "https://127.0.0.1:51234/cb", false),
            ("http://[::1]/cb", "http://[::1]:51234/cb", true),
            ("http://localhost/cb", "http://localhost:51234/cb", true),
            ("http://localhost:1/cb", "http://localhost:51234/cb", false),
            ("http://localhost/cb", "http://localhost.evil.example/cb", false),
        ] {
            assert_eq!(matches(&registered(known), sent), same, "{known} and {sent}");
        }
    }

    #[test]
    fn answers_are_added_to_a_redirect_escaped() {
        let answer = with_parameters("https://agent.example/cb?x=1", &[("state", "a&b=c\r\n"), ("code", "1")]);
        assert_eq!(answer, "https://agent.example/cb?x=1&state=a%26b%3Dc%0D%0A&code=1");
        assert_eq!(policy_source("http://127.0.0.1:9/cb"), "http://127.0.0.1:9");
        assert_eq!(policy_source("http://[::1]:9/cb"), "http:");
        assert_eq!(policy_source("https://agent.example/cb?x"), "https://agent.example");
    }
}
