//! Which forms of an answer a caller takes, by its `Accept` header. It decides nothing else: a caller that takes no JSON
//! gets JSON all the same.

use super::headers::RequestHeaders;

/// What clients of MCP send with every request.
const COMMON: &[u8] = b"application/json, text/event-stream";

/// Whether the caller names `text/event-stream` itself. A wildcard does not count: it comes with libraries that could not
/// read a stream.
pub(super) fn accepts_events(headers: &RequestHeaders<'_>) -> bool {
    headers
        .all(headers.accept)
        .any(|value| value.as_bytes() == COMMON || value.to_str().is_ok_and(|value| value.split(',').any(names_events)))
}

fn names_events(range: &str) -> bool {
    let mut parts = range.split(';').map(str::trim);
    let names = parts.next().is_some_and(|range| range.eq_ignore_ascii_case("text/event-stream"));
    names && !parts.any(is_refusal)
}

/// A weight of zero (RFC 9110, 12.4.2).
fn is_refusal(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else {
        return false;
    };
    let zero = value.trim().trim_start_matches('0');
    name.trim().eq_ignore_ascii_case("q")
        && value.trim().starts_with('0')
        && (zero.is_empty() || zero.strip_prefix('.').is_some_and(|rest| rest.bytes().all(|digit| digit == b'0')))
}

#[cfg(test)]
mod tests {
    use ::http::HeaderMap;

    use super::{RequestHeaders, accepts_events};

    fn accepts(values: &[&str]) -> bool {
        let mut map = HeaderMap::new();
        for value in values {
            map.append("accept", value.parse().unwrap());
        }
        accepts_events(&RequestHeaders::new(&map))
    }

    #[test]
    fn only_an_explicit_name_counts() {
        for (values, expected) in [
            (&["application/json, text/event-stream"][..], true),
            (&["text/event-stream"], true),
            (&["TEXT/Event-Stream;q=0.1"], true),
            (&["application/json;q=1 , text/event-stream ; q=0.001"], true),
            (&["application/json", "text/event-stream"], true),
            (&["text/event-stream;charset=utf-8"], true),
            (&[], false),
            (&["*/*"], false),
            (&["text/*"], false),
            (&["application/json"], false),
            (&["text/event-stream;q=0"], false),
            (&["text/event-stream; Q=0.000"], false),
            (&["text/event-stream ; q=0."], false),
            (&["text/event-streams"], false),
            (&["x-text/event-stream"], false),
            (&["application/json;x=text/event-stream"], false),
        ] {
            assert_eq!(accepts(values), expected, "{values:?}");
        }
    }
}
