//! The records of a CSV feed. A record never takes more memory than its bound, whatever the file holds.

use std::io::Read;

use csv_core::{ReadRecordResult, ReaderBuilder};

use super::decode::TextBuffer;
use super::error::FeedError;
use super::{MAX_COLUMNS, MAX_RECORD_BYTES};

/// The separators that are recognised, the likeliest first.
pub(super) const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

const FIRST_CAPACITY: usize = 16 * 1024;

pub(super) struct CsvRecords {
    parser: csv_core::Reader,
    output: Vec<u8>,
    /// Where each cell ends in the output.
    ends: Vec<usize>,
}

impl CsvRecords {
    pub(super) fn new(separator: u8) -> CsvRecords {
        CsvRecords {
            parser: ReaderBuilder::new().delimiter(separator).build(),
            output: vec![0; FIRST_CAPACITY],
            ends: vec![0; 64],
        }
    }

    /// The next record that is no empty line, and the line of the file where it begins.
    pub(super) fn next<R: Read>(&mut self, input: &mut TextBuffer<R>) -> Result<Option<(u64, Vec<String>)>, FeedError> {
        if input.skip_while(|byte| byte == b'\n')?.is_none() {
            return Ok(None);
        }
        let line = input.line();
        let (mut written, mut cells) = (0, 0);
        loop {
            let available = input.available()?;
            // At the end of the file one more line end tells an open quote: only there it becomes part of the cell.
            let is_end = available.is_empty();
            let chunk = if is_end { b"\n" } else { available };
            let output = self.output.get_mut(written..).unwrap_or_default();
            let ends = self.ends.get_mut(cells..).unwrap_or_default();
            let (result, read, more_written, more_cells) = self.parser.read_record(chunk, output, ends);
            if !is_end {
                input.consume(read);
            }
            written += more_written;
            cells += more_cells;
            let spans_lines = input.line() > line;
            match result {
                ReadRecordResult::InputEmpty if is_end => return Err(FeedError::open_quote(line)),
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull if self.output.len() < MAX_RECORD_BYTES => {
                    self.output.resize((self.output.len() * 2).min(MAX_RECORD_BYTES), 0);
                }
                ReadRecordResult::OutputFull if spans_lines => return Err(FeedError::open_quote(line)),
                ReadRecordResult::OutputFull => return Err(FeedError::long_record(line)),
                ReadRecordResult::OutputEndsFull if self.ends.len() <= MAX_COLUMNS => {
                    self.ends.resize((self.ends.len() * 2).min(MAX_COLUMNS + 1), 0);
                }
                ReadRecordResult::OutputEndsFull => return Err(FeedError::many_columns(line)),
                ReadRecordResult::Record | ReadRecordResult::End => break,
            }
        }
        if cells > MAX_COLUMNS {
            return Err(FeedError::many_columns(line));
        }
        Ok(Some((line, self.cells(cells))))
    }

    fn cells(&self, count: usize) -> Vec<String> {
        let mut start = 0;
        let ends = self.ends.iter().take(count);
        let cells = ends.map(|end| {
            let cell = self.output.get(start..*end).unwrap_or_default();
            start = *end;
            String::from_utf8_lossy(cell).into_owned()
        });
        cells.collect()
    }
}

/// The separator by which most names of columns are known ones; without any, the one that makes most columns. `known` is
/// how many of the names it is told are known.
pub(super) fn recognise_separator(start: &[u8], known: impl Fn(&[String]) -> usize) -> u8 {
    let scored = SEPARATORS.into_iter().map(|separator| {
        match first_record(start, separator) {
            Ok(header) => (separator, (known(&header), header.len())),
            // More columns than can be read; the error says so when this separator is used.
            Err(_) => (separator, (0, MAX_COLUMNS + 1)),
        }
    });
    // Of equal ones the first, which `max_by_key` would not choose.
    let best = scored.rev().max_by_key(|(_, score)| *score);
    best.map_or(b',', |(separator, _)| separator)
}

fn first_record(start: &[u8], separator: u8) -> Result<Vec<String>, FeedError> {
    let mut input = TextBuffer::open(start, Some(encoding_rs::UTF_8))?;
    let first = CsvRecords::new(separator).next(&mut input)?;
    Ok(first.map(|(_, cells)| cells).unwrap_or_default())
}
