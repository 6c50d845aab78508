//! An answer as a stream of server-sent events: the text of each event. It only ever writes; nothing is read from a stream.

/// A comment, which clients ignore. It keeps proxies from closing a silent stream, and shows us that nobody listens.
pub const HEARTBEAT: &[u8] = b": waiting\n\n";

/// Appends a JSON-RPC message as one event. An event without a name is a `message`, and this is the form that clients who do
/// not parse every field of an event expect.
pub fn write_event(message: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"data: ");
    // Line breaks in JSON are white space, but here they end the data.
    out.extend(message.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }));
    out.extend_from_slice(b"\n\n");
}

/// A JSON-RPC message as one event.
pub fn event(message: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(message.len() + 24);
    write_event(message, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::event;

    #[test]
    fn an_event_is_one_line_of_data() {
        assert_eq!(event(b"{\"a\":\r\n \"b\"}"), b"data: {\"a\":   \"b\"}\n\n");
    }
}
