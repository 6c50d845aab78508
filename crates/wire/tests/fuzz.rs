//! Fuzz targets. In an ordinary test run each gets a bounded number of random inputs; `cargo bolero test <name>` of the
//! tool cargo-bolero runs one for as long as wanted, guided by coverage.

#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

use bolero::check;
use frontdesk_wire::answer;
use frontdesk_wire::frame::{self, FrameError};
use frontdesk_wire::json::{canonical, parse};
use frontdesk_wire::method::MethodName;
use frontdesk_wire::peek::peek;

const INPUTS: usize = 20_000;

/// A valid message with up to four of its bytes replaced. Random bytes alone are hardly ever JSON.
fn mutated(bytes: &[u8]) -> Vec<u8> {
    let mut message =
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a.b","arguments":{}}}"#.to_vec();
    for pair in bytes.chunks_exact(2).take(4) {
        let position = usize::from(pair[0]) % message.len();
        message[position] = pair[1];
    }
    message
}

/// Whatever is read or refused, the reply is JSON.
#[test]
fn fuzz_frame() {
    check!().with_iterations(INPUTS).for_each(|input: &[u8]| {
        for bytes in [input, &mutated(input)] {
            if let Err(error) = frame::read(bytes) {
                assert!(parse(&answer::error(error.id(), error.code(), &error.to_string(), None)).is_ok());
            }
        }
    });
}

/// Canonical bytes are their own canonical bytes; a frame is malformed exactly if its JSON is.
#[test]
fn fuzz_json() {
    check!().with_iterations(INPUTS).for_each(|input: &[u8]| {
        for bytes in [input, &mutated(input)] {
            let parsed = parse(bytes);
            let malformed = matches!(frame::read(bytes), Err(FrameError::Malformed(_)));
            assert_eq!(parsed.is_err(), malformed);
            if let Ok(value) = parsed {
                let text = canonical(&value);
                assert_eq!(parse(&text).map(|again| canonical(&again)), Ok(text));
            }
        }
    });
}

/// A first look never panics, and sees the method that the whole message has.
#[test]
fn fuzz_peek() {
    check!().with_iterations(INPUTS).for_each(|input: &[u8]| {
        for bytes in [input, &mutated(input)] {
            let peeked = peek(bytes);
            if let Ok(value) = parse(bytes)
                && let Some(method) = value.get("method").and_then(|method| method.as_str())
            {
                assert_eq!(peeked.method_name.as_ref().map(MethodName::as_str), Some(method));
            }
        }
    });
}
