//! No bytes, however mangled, make the reader or the decision panic, and whatever is answered about
//! them is JSON.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::cell::RefCell;

use frontdesk_wire::answer;
use frontdesk_wire::frame::{Frame, FrameBody, FrameError, read};
use frontdesk_wire::json::{Value, canonical, parse};
use frontdesk_wire::method::MethodName;
use frontdesk_wire::peek::{PeekedMessage, peek};
use frontdesk_wire::version::{McpHeaders, decide};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

const CASES: u32 = 50_000;

const SEEDS: [&str; 7] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a.b","arguments":{"x":[1,2.5e3,null,true]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    r#"{"jsonrpc":"2.0","id":"é\ud83d\ude97","method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#,
    r#"[{"jsonrpc":"2.0","id":18446744073709551615,"method":"ping"},{"jsonrpc":"2.0","method":"n"},[],7]"#,
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"\u0000\"\\"}}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"amcp://x","_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}}}"#,
    r#"{"params":null,"idempotency_key":"k","id":7,"method":"tools/list"}"#,
    r#"[[[[[[[[{"a":{"b":{"c":[-0.0,1e308,-1]}}}]]]]]]]]"#,
];

const PIECES: [&[u8]; 16] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"\\",
    b",",
    b":",
    b"\\ud800",
    b"\xff",
    b"\xef\xbb\xbf",
    b"1e999",
    b"null",
    b"\"id\":",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    b"=?base64?/w==?=",
];

/// A seed with up to three small changes; one in eight is noise from the start.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let noise = vec(any::<u8>(), 0..64);
    let changed = (select(&SEEDS[..]), vec(change(), 0..4))
        .prop_map(|(seed, changes)| changes.iter().fold(seed.as_bytes().to_vec(), |bytes, change| change.apply(bytes)));
    prop_oneof![1 => noise, 7 => changed]
}

#[derive(Debug, Clone)]
enum Change {
    Truncate(Index),
    Insert(Index, &'static [u8]),
    Replace(Index, u8),
    Remove(Index),
    /// Copies bytes to another place: doubled members, nested messages.
    Copy {
        from: Index,
        length: usize,
        to: Index,
    },
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        any::<Index>().prop_map(Change::Truncate),
        (any::<Index>(), select(&PIECES[..])).prop_map(|(at, piece)| Change::Insert(at, piece)),
        any::<(Index, u8)>().prop_map(|(at, byte)| Change::Replace(at, byte)),
        any::<Index>().prop_map(Change::Remove),
        (any::<Index>(), 0..40_usize, any::<Index>()).prop_map(|(from, length, to)| Change::Copy { from, length, to }),
    ]
}

impl Change {
    fn apply(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        let within = |index: &Index| if bytes.is_empty() { 0 } else { index.index(bytes.len()) };
        match self {
            Change::Truncate(at) => bytes.truncate(within(at)),
            Change::Insert(at, piece) => {
                let at = within(at);
                bytes.splice(at..at, piece.iter().copied());
            }
            Change::Replace(at, byte) => {
                let at = within(at);
                if let Some(replaced) = bytes.get_mut(at) {
                    *replaced = *byte;
                }
            }
            Change::Remove(at) => {
                let at = within(at);
                if !bytes.is_empty() {
                    bytes.remove(at);
                }
            }
            Change::Copy { from, length, to } => {
                let (from, to) = (within(from), within(to));
                let copied = bytes[from..(from + length).min(bytes.len())].to_vec();
                bytes.splice(to..to, copied);
            }
        }
        bytes
    }
}

#[test]
fn any_bytes_are_read_or_refused() {
    let seen = RefCell::new(Seen::default());
    // Always the same cases, so that a failure comes back on every run.
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let input = (message(), message(), [0..4_usize, 0..4, 0..4]);
    let checked = runner.run(&input, |(bytes, header, choice)| {
        let header = String::from_utf8_lossy(&header).into_owned();
        check(&bytes, &header, choice, &mut seen.borrow_mut());
        Ok(())
    });
    checked.unwrap_or_else(|failure| panic!("{failure}"));
    // The changes must reach every outcome, or the test has looked at nothing.
    let seen = seen.into_inner();
    let counts =
        [seen.requests, seen.decided, seen.undecided, seen.others, seen.malformed, seen.not_rpc, seen.dispatchable];
    assert!(counts.iter().all(|count| *count > 200), "{counts:?}");
}

fn check(bytes: &[u8], header: &str, choice: [usize; 3], seen: &mut Seen) {
    let peeked = peek(bytes);
    reads_alike(bytes);
    match read(bytes) {
        Ok(FrameBody::One(Frame::Request(request))) => {
            // A decision by the first look must be about the message that is then read.
            assert_eq!(
                (peeked.method_name.as_ref(), peeked.id.as_ref()),
                (Some(&request.method_name), Some(&request.id))
            );
            assert_eq!(peeked.name.as_deref(), request.params.get("name").and_then(Value::as_str));
            seen.frame(&Frame::Request(request), header, choice);
        }
        Ok(FrameBody::One(Frame::Notification(notice))) => {
            assert_eq!((peeked.method_name.as_ref(), &peeked.id), (Some(&notice.method_name), &None));
            seen.frame(&Frame::Notification(notice), header, choice);
        }
        Ok(FrameBody::One(frame)) => seen.frame(&frame, header, choice),
        Ok(FrameBody::Batch(items)) => {
            for item in &items {
                match item {
                    Ok(frame) => seen.frame(frame, header, choice),
                    Err(error) => seen.refusal(error),
                }
            }
        }
        Err(error) => seen.refusal(&error),
    }
    if let Ok(value) = parse(bytes) {
        seen.dispatched(&value, &peeked);
        let bytes = canonical(&value);
        assert_eq!(canonical(&parse(&bytes).unwrap()), bytes, "canonical bytes are their own canonical bytes");
    }
}

/// A message is read member by member, one in a batch as a value: both readers must see the same in it, and refuse the
/// same as `parse`.
fn reads_alike(bytes: &[u8]) {
    let refused = match read(bytes) {
        Err(FrameError::Malformed(error)) => Some(error),
        Ok(_) | Err(FrameError::InvalidRequest { .. }) => None,
    };
    assert_eq!(refused, parse(bytes).err(), "{}", String::from_utf8_lossy(bytes));
    let listed = [b"[", bytes, b"]"].concat();
    if let (Ok(FrameBody::Batch(items)), Ok(value)) = (read(&listed), parse(bytes))
        && !value.is_array()
    {
        let alone = read(bytes).map(|body| match body {
            FrameBody::One(frame) => frame,
            FrameBody::Batch(_) => unreachable!("it is no list"),
        });
        assert_eq!(items, [alone], "{value}");
    }
}

#[derive(Default)]
struct Seen {
    requests: usize,
    decided: usize,
    undecided: usize,
    others: usize,
    malformed: usize,
    not_rpc: usize,
    dispatchable: usize,
}

impl Seen {
    fn frame(&mut self, frame: &Frame, header: &str, [version, method, name]: [usize; 3]) {
        let Frame::Request(request) = frame else {
            self.others += 1;
            return;
        };
        self.requests += 1;
        assert!(parse(&answer::success(&request.id, "{}")).is_ok());
        let versions = [None, Some(header), Some("2026-07-28"), Some("2025-11-25")];
        let texts = [None, Some(header), Some(request.method_name.as_str()), Some("=?base64?YS5i?=")];
        let headers = McpHeaders { protocol_version: versions[version], method: texts[method], name: texts[name] };
        match decide(&headers, request) {
            Ok(_) => self.decided += 1,
            Err(error) => {
                self.undecided += 1;
                let data = error.data();
                let answer = answer::error(Some(&request.id), error.code(), &error.to_string(), data.as_deref());
                assert!(parse(&answer).is_ok());
            }
        }
    }

    /// Dispatched messages are read more leniently than others: any object with a method is one.
    fn dispatched(&mut self, value: &Value, peeked: &PeekedMessage) {
        if let Some(method) = value.get("method").and_then(Value::as_str) {
            self.dispatchable += 1;
            let name = value.get("params").and_then(|params| params.get("name")).and_then(Value::as_str);
            let peeked_method = peeked.method_name.as_ref().map(MethodName::as_str);
            assert_eq!((peeked_method, peeked.name.as_deref()), (Some(method), name), "{value}");
        }
    }

    fn refusal(&mut self, error: &FrameError) {
        match error {
            FrameError::Malformed(_) => self.malformed += 1,
            FrameError::InvalidRequest { .. } => self.not_rpc += 1,
        }
        assert!(parse(&answer::error(error.id(), error.code(), &error.to_string(), None)).is_ok());
    }
}
