//! From the bytes of a feed to its text: recognises the encoding, refuses files that are no text, and writes every line
//! end as `\n`. It holds no more than what its reader has not yet consumed.

use std::io::Read;

use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::error::FeedError;

const CHUNK: usize = 64 * 1024;

/// The text of a feed, with the line at which it will be read on.
pub(super) struct TextBuffer<R> {
    reader: R,
    charset: Charset,
    /// Bytes that are not yet decoded: the beginning of a character.
    undecoded: Vec<u8>,
    after_carriage_return: bool,
    is_exhausted: bool,
    text: String,
    consumed: usize,
    line: u64,
}

enum Charset {
    /// All bytes so far are ASCII. The first other one decides between UTF-8 and Windows-1252.
    Ascii,
    Decoder(Decoder),
}

/// How files begin that people send in place of a CSV file.
const MAGIC: &[(&[u8], &str)] = &[
    (b"PK\x03\x04", "an Excel workbook (.xlsx) or a ZIP archive"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook (.xls)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"%PDF", "a PDF"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"SQLite format 3\0", "a database"),
];

impl<R: Read> TextBuffer<R> {
    pub(super) fn open(reader: R, encoding: Option<&'static Encoding>) -> Result<TextBuffer<R>, FeedError> {
        let mut buffer = TextBuffer {
            reader,
            charset: encoding
                .map_or(Charset::Ascii, |encoding| Charset::Decoder(encoding.new_decoder_with_bom_removal())),
            undecoded: Vec::new(),
            after_carriage_return: false,
            is_exhausted: false,
            text: String::new(),
            consumed: 0,
            line: 1,
        };
        while buffer.undecoded.len() < CHUNK && buffer.read_chunk()? {}
        let start = buffer.undecoded.as_slice();
        if let Some((_, what)) = MAGIC.iter().find(|(magic, _)| start.starts_with(magic)) {
            return Err(FeedError::binary(what));
        }
        if encoding.is_none() {
            match Encoding::for_bom(start) {
                Some((encoding, length)) => {
                    buffer.charset = Charset::Decoder(encoding.new_decoder_without_bom_handling());
                    buffer.undecoded.drain(..length);
                }
                None if is_utf16(start) => return Err(FeedError::utf16_without_mark()),
                None => {}
            }
        }
        buffer.decode()?;
        Ok(buffer)
    }

    /// The line of the file of the next byte.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// The text that is already decoded, at least one byte of it unless the feed has ended.
    pub(super) fn available(&mut self) -> Result<&[u8], FeedError> {
        if self.consumed >= self.text.len() {
            // More is read only when all was consumed, so that the text does not grow with the feed.
            self.text.clear();
            self.consumed = 0;
            while self.text.is_empty() && self.fill()? {}
        }
        Ok(self.text.as_bytes().get(self.consumed..).unwrap_or_default())
    }

    /// As `available`, but all of the feed up to this many bytes.
    pub(super) fn peek(&mut self, bytes: usize) -> Result<&[u8], FeedError> {
        while self.text.len().saturating_sub(self.consumed) < bytes && self.fill()? {}
        self.available()
    }

    pub(super) fn consume(&mut self, bytes: usize) {
        let until = self.consumed.saturating_add(bytes).min(self.text.len());
        self.line += count_lines(self.text.as_bytes().get(self.consumed..until).unwrap_or_default());
        self.consumed = until;
    }

    /// Consumes bytes while they are like this; the first other one stays. `None` at the end of the feed.
    pub(super) fn skip_while(&mut self, is_skipped: fn(u8) -> bool) -> Result<Option<u8>, FeedError> {
        loop {
            let available = self.available()?;
            if available.is_empty() {
                return Ok(None);
            }
            let skipped = available.iter().position(|byte| !is_skipped(*byte));
            let next = skipped.and_then(|at| available.get(at).copied());
            let length = skipped.unwrap_or(available.len());
            self.consume(length);
            if next.is_some() {
                return Ok(next);
            }
        }
    }

    /// Reads and decodes more; false at the end of the feed.
    fn fill(&mut self) -> Result<bool, FeedError> {
        if self.is_exhausted {
            return Ok(false);
        }
        self.read_chunk()?;
        self.decode()?;
        Ok(true)
    }

    fn read_chunk(&mut self) -> Result<bool, FeedError> {
        let before = self.undecoded.len();
        let chunk = u64::try_from(CHUNK).unwrap_or(u64::MAX);
        let read = self.reader.by_ref().take(chunk).read_to_end(&mut self.undecoded);
        read.map_err(|error| FeedError::unreadable(&error))?;
        self.is_exhausted = self.undecoded.len() == before;
        Ok(!self.is_exhausted)
    }

    /// Decodes what was read. Bytes that are not of the encoding become U+FFFD, which makes the row a wrong one.
    fn decode(&mut self) -> Result<(), FeedError> {
        if let Charset::Ascii = self.charset {
            self.choose_charset();
        }
        let undecoded = std::mem::take(&mut self.undecoded);
        let Charset::Decoder(decoder) = &mut self.charset else {
            let ascii = undecoded.iter().position(|byte| !byte.is_ascii()).unwrap_or(undecoded.len());
            let (ascii, rest) = undecoded.split_at(ascii);
            self.undecoded = rest.to_vec();
            return self.append(&String::from_utf8_lossy(ascii));
        };
        let mut decoded = String::with_capacity(decoder.max_utf8_buffer_length(undecoded.len()).unwrap_or(0));
        let (_, _, was_replaced) = decoder.decode_to_string(&undecoded, &mut decoded, self.is_exhausted);
        let encoding = decoder.encoding();
        if was_replaced && (encoding == UTF_16LE || encoding == UTF_16BE) {
            let before = decoded.split('\u{fffd}').next().unwrap_or_default();
            return Err(FeedError::invalid_text(
                self.line + count_lines(self.rest()) + count_lines(before.as_bytes()),
                "UTF-16",
            ));
        }
        self.append(&decoded)
    }

    /// UTF-8 if the first character outside of ASCII is valid UTF-8. A text of ASCII up to there means the same in both,
    /// so nothing before it was decoded wrongly.
    fn choose_charset(&mut self) {
        let Some(first) = self.undecoded.iter().position(|byte| !byte.is_ascii()) else {
            return;
        };
        let encoding = match std::str::from_utf8(self.undecoded.get(first..).unwrap_or_default()) {
            Ok(_) => UTF_8,
            Err(error) if error.valid_up_to() > 0 => UTF_8,
            // The character goes on in the next chunk.
            Err(error) if error.error_len().is_none() && !self.is_exhausted => return,
            Err(_) => WINDOWS_1252,
        };
        self.charset = Charset::Decoder(encoding.new_decoder_without_bom_handling());
    }

    fn append(&mut self, decoded: &str) -> Result<(), FeedError> {
        if let Some(at) = decoded.bytes().position(|byte| byte == 0) {
            let before = decoded.as_bytes().get(..at).unwrap_or_default();
            return Err(FeedError::nul(self.line + count_lines(self.rest()) + count_lines(before)));
        }
        let after = if self.after_carriage_return { decoded.strip_prefix('\n').unwrap_or(decoded) } else { decoded };
        if !decoded.is_empty() {
            self.after_carriage_return = decoded.ends_with('\r');
        }
        for (position, part) in after.split('\r').enumerate() {
            if position == 0 {
                self.text.push_str(part);
            } else {
                self.text.push('\n');
                self.text.push_str(part.strip_prefix('\n').unwrap_or(part));
            }
        }
        Ok(())
    }

    fn rest(&self) -> &[u8] {
        self.text.as_bytes().get(self.consumed..).unwrap_or_default()
    }
}

fn count_lines(text: &[u8]) -> u64 {
    text.iter().map(|byte| u64::from(*byte == b'\n')).sum()
}

/// Text in UTF-16 has a zero in every second byte, as far as it is ASCII.
fn is_utf16(start: &[u8]) -> bool {
    let zeros = |remainder: usize| {
        let bytes = start.iter().take(64).enumerate().filter(|(position, _)| position % 2 == remainder);
        bytes.filter(|(_, byte)| **byte == 0).count()
    };
    let half = start.len().min(64) / 2;
    half > 1 && zeros(0).max(zeros(1)) * 4 > half * 3 && zeros(0).min(zeros(1)) == 0
}
