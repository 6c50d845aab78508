//! Headers by which a proxy says that a request reached it without TLS. They can only cause a refusal, so they are believed
//! from everybody (A6-24).

/// Each proxy appends the scheme by which it was reached.
const SCHEMES: [&str; 8] = [
    "cloudfront-forwarded-proto",
    "x-forwarded-proto",
    "x-forwarded-protocol",
    "x-forwarded-scheme",
    "x-original-proto",
    "x-proto",
    "x-scheme",
    "x-url-scheme",
];

/// `on` with TLS, `off` without.
const SWITCHES: [&str; 7] = [
    "front-end-https",
    "wl-proxy-ssl",
    "x-appengine-https",
    "x-forwarded-https",
    "x-forwarded-ssl",
    "x-https",
    "x-ssl",
];

/// Whether this header says that the request crossed a network in cleartext.
pub(super) fn says_cleartext(name: &str, value: &[u8]) -> bool {
    if SCHEMES.contains(&name) {
        return !value.split(|byte| *byte == b',').all(is_https);
    }
    if SWITCHES.contains(&name) {
        return !value.split(|byte| *byte == b',').all(is_on);
    }
    match name {
        "forwarded" => !forwarded_parameters(value, b"proto").all(is_https),
        // JSON of Cloudflare: {"scheme":"http"}.
        "cf-visitor" => {
            let text: Vec<u8> = value.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
            let text = text.to_ascii_lowercase();
            let secure = b"\"scheme\":\"https\"";
            !text.windows(secure.len()).any(|part| part == secure)
        }
        _ => false,
    }
}

/// The values of one parameter in a `Forwarded` header (RFC 7239), in order and without their quotes. A quoted string may
/// hold separators; nobody else's parser need agree on what is malformed, since every reading here is at least as strict.
pub(super) fn forwarded_parameters<'a>(value: &'a [u8], name: &'static [u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut is_quoted = false;
    let mut pairs = value.split(move |byte| {
        is_quoted ^= *byte == b'"';
        !is_quoted && (*byte == b',' || *byte == b';')
    });
    std::iter::from_fn(move || {
        pairs.find_map(|pair| {
            let at = pair.iter().position(|byte| *byte == b'=')?;
            let (key, value) = pair.split_at_checked(at)?;
            let value = value.get(1..)?.trim_ascii();
            let value = value.strip_prefix(b"\"").and_then(|inner| inner.strip_suffix(b"\"")).unwrap_or(value);
            key.trim_ascii().eq_ignore_ascii_case(name).then_some(value)
        })
    })
}

fn is_https(scheme: &[u8]) -> bool {
    scheme.trim_ascii().eq_ignore_ascii_case(b"https")
}

fn is_on(value: &[u8]) -> bool {
    ["on", "1", "true", "yes"].iter().any(|word| value.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::says_cleartext;

    #[test]
    fn every_header_that_says_cleartext_is_heard() {
        for (name, value) in [
            ("x-forwarded-proto", "http"),
            ("x-forwarded-proto", "https, http"),
            ("x-forwarded-proto", ""),
            ("x-forwarded-protocol", "http"),
            ("x-forwarded-scheme", "http"),
            ("x-scheme", "http"),
            ("x-url-scheme", "HTTP"),
            ("x-original-proto", "ws"),
            ("x-proto", "http"),
            ("cloudfront-forwarded-proto", "http"),
            ("forwarded", "proto=http"),
            ("forwarded", "for=192.0.2.1;proto=http;by=203.0.113.1"),
            ("forwarded", "for=192.0.2.1;proto=https, for=\"a;b,c\"; Proto = \"http\""),
            ("front-end-https", "off"),
            ("x-forwarded-ssl", "off"),
            ("x-forwarded-https", "0"),
            ("x-appengine-https", "off"),
            ("wl-proxy-ssl", "false"),
            ("x-https", ""),
            ("x-ssl", "no"),
            ("cf-visitor", "{\"scheme\": \"http\"}"),
            ("cf-visitor", ""),
        ] {
            assert!(says_cleartext(name, value.as_bytes()), "{name}: {value}");
        }
    }

    #[test]
    fn other_headers_and_https_are_no_reason() {
        for (name, value) in [
            ("x-forwarded-proto", "https"),
            ("x-forwarded-scheme", "HTTPS, https"),
            ("forwarded", "for=192.0.2.1"),
            ("forwarded", "for=\"proto=http;\";proto=https"),
            ("forwarded", "proto=\"https\""),
            ("front-end-https", "On"),
            ("x-forwarded-ssl", "1"),
            ("cf-visitor", "{\"scheme\":\"https\"}"),
            ("via", "1.1 proxy"),
            ("x-forwarded-for", "192.0.2.1"),
            ("x-forwarded-port", "80"),
        ] {
            assert!(!says_cleartext(name, value.as_bytes()), "{name}: {value}");
        }
    }
}
