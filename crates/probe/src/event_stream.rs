//! Server-sent events, as far as MCP uses them: the data of each event. Work and memory grow with what arrives and with
//! nothing else; whoever reads limits that.

#[derive(Default)]
pub(crate) struct EventStream {
    line: Vec<u8>,
    data: Vec<u8>,
}

impl EventStream {
    /// Takes the next bytes; gives the data of every event that they complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut events = Vec::new();
        for byte in bytes {
            if *byte != b'\n' {
                self.line.push(*byte);
                continue;
            }
            let line = std::mem::take(&mut self.line);
            let line = line.strip_suffix(b"\r").unwrap_or(&line);
            if line.is_empty() {
                if !self.data.is_empty() {
                    events.push(std::mem::take(&mut self.data));
                }
            } else if let Some(data) = line.strip_prefix(b"data:") {
                if !self.data.is_empty() {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
            }
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use super::EventStream;

    #[test]
    fn events_are_read_however_they_are_cut() {
        let text = b": comment\r\nevent: message\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\ndata:{}\n\ndata: incomplete\n";
        for size in [1, 7, text.len()] {
            let mut stream = EventStream::default();
            let events: Vec<Vec<u8>> = text.chunks(size).flat_map(|chunk| stream.push(chunk)).collect();
            assert_eq!(events, [b"{\"a\":\n1}".to_vec(), b"{}".to_vec()], "{size}");
        }
    }
}
