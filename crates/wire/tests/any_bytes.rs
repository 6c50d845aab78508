//! No bytes, however mangled, make the reader or the decision panic, and whatever is answered about
//! them is JSON.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use frontdesk_wire::answer;
use frontdesk_wire::frame::{Frame, FrameBody, FrameError, read};
use frontdesk_wire::json::{Value, canonical, parse};
use frontdesk_wire::peek::{PeekedMessage, peek};
use frontdesk_wire::version::{McpHeaders, decide};

const ROUNDS: usize = 250_000;

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

/// A fixed sequence, so that a failure comes back on every run.
struct Xorshift(u64);

impl Xorshift {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(bound.max(1)).unwrap()).unwrap()
    }
}

#[test]
fn any_bytes_are_read_or_refused() {
    let mut chance = Xorshift(0x9e37_79b9_7f4a_7c15);
    let mut seen = Seen::default();
    for _ in 0..ROUNDS {
        let bytes = mutated(&mut chance);
        let header = String::from_utf8_lossy(&mutated(&mut chance)).into_owned();
        let glimpsed = peek(&bytes);
        reads_alike(&bytes);
        match read(&bytes) {
            Ok(FrameBody::One(Frame::Request(request))) => {
                // Whoever decides by a first look must have decided about the message that is then read.
                assert_eq!(
                    (glimpsed.method.as_deref(), glimpsed.id.as_ref()),
                    (Some(&*request.method), Some(&request.id))
                );
                assert_eq!(glimpsed.name.as_deref(), request.params.get("name").and_then(Value::as_str));
                seen.frame(&Frame::Request(request), &header, &mut chance);
            }
            Ok(FrameBody::One(Frame::Notification(notice))) => {
                assert_eq!((glimpsed.method.as_deref(), &glimpsed.id), (Some(&*notice.method), &None));
                seen.frame(&Frame::Notification(notice), &header, &mut chance);
            }
            Ok(FrameBody::One(frame)) => seen.frame(&frame, &header, &mut chance),
            Ok(FrameBody::Batch(items)) => {
                for item in &items {
                    match item {
                        Ok(frame) => seen.frame(frame, &header, &mut chance),
                        Err(error) => seen.refusal(error),
                    }
                }
            }
            Err(error) => seen.refusal(&error),
        }
        if let Ok(value) = parse(&bytes) {
            seen.dispatched(&value, &glimpsed);
            let bytes = canonical(&value);
            assert_eq!(canonical(&parse(&bytes).unwrap()), bytes, "canonical bytes are their own canonical bytes");
        }
    }
    // The mutations must reach every outcome, or the test has looked at nothing.
    let counts = [seen.requests, seen.decided, seen.undecided, seen.others, seen.malformed, seen.not_rpc, seen.letters];
    assert!(counts.iter().all(|count| *count > 1000), "{counts:?}");
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
    letters: usize,
}

impl Seen {
    fn frame(&mut self, frame: &Frame, header: &str, chance: &mut Xorshift) {
        let Frame::Request(request) = frame else {
            self.others += 1;
            return;
        };
        self.requests += 1;
        assert!(parse(&answer::success(&request.id, "{}")).is_ok());
        let versions = [None, Some(header), Some("2026-07-28"), Some("2025-11-25")];
        let texts = [None, Some(header), Some(request.method.as_str()), Some("=?base64?YS5i?=")];
        let headers = McpHeaders {
            protocol_version: versions[chance.below(4)],
            method: texts[chance.below(4)],
            name: texts[chance.below(4)],
        };
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
    fn dispatched(&mut self, value: &Value, glimpsed: &PeekedMessage) {
        if let Some(method) = value.get("method").and_then(Value::as_str) {
            self.letters += 1;
            let name = value.get("params").and_then(|params| params.get("name")).and_then(Value::as_str);
            assert_eq!((glimpsed.method.as_deref(), glimpsed.name.as_deref()), (Some(method), name), "{value}");
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

/// A seed with up to three small wounds; one in eight is noise from the start.
fn mutated(chance: &mut Xorshift) -> Vec<u8> {
    if chance.below(8) == 0 {
        let length = chance.below(64);
        return (0..length).map(|_| u8::try_from(chance.below(256)).unwrap()).collect();
    }
    let mut bytes = SEEDS[chance.below(SEEDS.len())].as_bytes().to_vec();
    for _ in 0..chance.below(4) {
        let at = chance.below(bytes.len());
        match chance.below(5) {
            0 => bytes.truncate(at),
            1 => drop(bytes.splice(at..at, PIECES[chance.below(PIECES.len())].iter().copied())),
            2 if !bytes.is_empty() => bytes[at] = u8::try_from(chance.below(256)).unwrap(),
            3 if !bytes.is_empty() => drop(bytes.remove(at)),
            _ => {
                // A stretch from elsewhere in the text: doubled members, nested messages.
                let from = chance.below(bytes.len());
                let to = (from + chance.below(40)).min(bytes.len());
                let stretch = bytes[from..to].to_vec();
                drop(bytes.splice(at..at, stretch));
            }
        }
    }
    bytes
}
