//! Reads a feed row by row: recognises its format, maps its columns, and hands out the arguments of each row.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use serde_json::{Map, Value};

use super::cell::FeedCell;
use super::columns::{ColumnResolver, ColumnTarget, ColumnUse};
use super::csv::{CsvRecords, recognise_separator};
use super::decode::TextBuffer;
use super::error::{FeedError, FeedProblem};
use super::formula::unescape_formula;
use super::json::{JsonMembers, JsonRecords};
use super::mapping::FeedMapping;
use super::row::RowReader;
use super::target::FeedTarget;
use super::{MAX_COLUMNS, MAX_HEADER_CHARACTERS, MAX_RECORD_BYTES, MAX_ROWS};

/// How a feed is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedFormat {
    Csv,
    /// An array of objects, an object with `items`, or one object per line.
    Json,
}

#[derive(Debug, Clone, Default)]
pub struct FeedSettings {
    /// Recognised by its first character if absent.
    pub format: Option<FeedFormat>,
    pub mapping: FeedMapping,
}

/// One row of a feed.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedRow {
    /// The line of the file where it begins, from 1.
    pub line: u64,
    /// Arguments that fit the schema of the target, or all that is wrong.
    pub arguments: Result<Map<String, Value>, Vec<FeedProblem>>,
}

/// An iterator over the rows of a feed. After an error it ends.
pub struct FeedReader<'t, R> {
    target: &'t FeedTarget,
    resolver: ColumnResolver<'t>,
    mapping: FeedMapping,
    input: TextBuffer<R>,
    records: Records,
    columns: Vec<ColumnUse>,
    rows: u64,
    is_finished: bool,
}

enum Records {
    Csv(Box<CsvRecords>),
    Json {
        records: JsonRecords,
        /// The first record, which was read for its columns.
        first: Option<(u64, JsonMembers)>,
        /// The columns by the names of members.
        columns: BTreeMap<String, usize>,
    },
}

impl<'t, R: Read> FeedReader<'t, R> {
    /// Reads as far as the names of the columns.
    pub fn open(reader: R, target: &'t FeedTarget, settings: FeedSettings) -> Result<FeedReader<'t, R>, FeedError> {
        let FeedSettings { format, mapping } = settings;
        let resolver = ColumnResolver::new(target, &mapping)?;
        let mut input = TextBuffer::open(reader, mapping.defaults.encoding)?;
        let first = input.skip_while(|byte| byte.is_ascii_whitespace() && byte != b'\t')?;
        let format = match (format, first) {
            (_, None) => return Err(FeedError::empty()),
            (Some(format), Some(_)) => format,
            (None, Some(b'[' | b'{')) => FeedFormat::Json,
            (None, Some(b'<')) => return Err(FeedError::binary("an XML or HTML document")),
            (None, Some(_)) => FeedFormat::Csv,
        };
        let (records, columns) = match format {
            FeedFormat::Csv => csv(&mut input, &resolver, &mapping)?,
            FeedFormat::Json => json(&mut input, &resolver)?,
        };
        Ok(FeedReader { target, resolver, mapping, input, records, columns, rows: 0, is_finished: false })
    }

    /// The columns and what becomes of them. Of a JSON feed, those of the rows that were read so far.
    pub fn columns(&self) -> &[ColumnUse] {
        &self.columns
    }

    fn next_row(&mut self) -> Result<Option<FeedRow>, FeedError> {
        loop {
            let record = match &mut self.records {
                Records::Csv(records) => {
                    let record = records.next(&mut self.input)?;
                    record.map(|(line, cells)| (line, csv_row(cells, self.columns.len())))
                }
                Records::Json { records, first, columns } => {
                    let record = match first.take() {
                        Some(record) => Some(record),
                        None => records.next(&mut self.input)?,
                    };
                    let resolver = &self.resolver;
                    match record {
                        Some((line, members)) => {
                            Some((line, json_row(line, members, resolver, columns, &mut self.columns)?))
                        }
                        None => None,
                    }
                }
            };
            let Some((line, cells)) = record else {
                return Ok(None);
            };
            let cells = match cells {
                RowCells::Empty => continue,
                RowCells::Cells(cells) => Ok(cells),
                RowCells::Wrong(problem) => Err(vec![problem]),
            };
            self.rows += 1;
            if self.rows > MAX_ROWS {
                return Err(FeedError::many_rows(line));
            }
            let reader = RowReader {
                target: self.target,
                resolver: &self.resolver,
                mapping: &self.mapping,
                columns: &self.columns,
            };
            let arguments = cells.and_then(|cells| reader.arguments(&cells));
            return Ok(Some(FeedRow { line, arguments }));
        }
    }
}

impl<R: Read> Iterator for FeedReader<'_, R> {
    type Item = Result<FeedRow, FeedError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_finished {
            return None;
        }
        let row = self.next_row().transpose();
        self.is_finished = !matches!(row, Some(Ok(_)));
        row
    }
}

type Opened = (Records, Vec<ColumnUse>);

fn csv<R: Read>(
    input: &mut TextBuffer<R>,
    resolver: &ColumnResolver<'_>,
    mapping: &FeedMapping,
) -> Result<Opened, FeedError> {
    let separator = match (mapping.defaults.separator, take_separator_line(input)?) {
        (Some(separator), _) | (None, Some(separator)) => separator,
        (None, None) => recognise_separator(input.peek(MAX_RECORD_BYTES)?, |header| resolver.known(header)),
    };
    let mut records = CsvRecords::new(separator);
    let Some((_, headers)) = records.next(input)? else {
        return Err(FeedError::empty());
    };
    let columns = resolver.header_row(&headers, mapping)?;
    Ok((Records::Csv(Box::new(records)), columns))
}

/// Excel writes `sep=;` as a line of its own before the header.
fn take_separator_line<R: Read>(input: &mut TextBuffer<R>) -> Result<Option<u8>, FeedError> {
    match input.peek(6)? {
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', separator, b'\n', ..] => {
            let separator = *separator;
            input.consume(6);
            Ok(Some(separator))
        }
        _ => Ok(None),
    }
}

fn json<R: Read>(input: &mut TextBuffer<R>, resolver: &ColumnResolver<'_>) -> Result<Opened, FeedError> {
    let mut records = JsonRecords::open(input)?;
    let first = records.next(input)?;
    if let Some((line, members)) = &first
        && !members.iter().any(|(name, _)| resolver.resolve(name).target != ColumnTarget::Ignored)
    {
        let names: Vec<String> = members.iter().map(|(name, _)| name.clone()).collect();
        return Err(resolver
            .header_row(&names, &FeedMapping::default())
            .err()
            .unwrap_or_else(|| FeedError::json(*line, "no member of the first record is known")));
    }
    Ok((Records::Json { records, first, columns: BTreeMap::new() }, Vec::new()))
}

enum RowCells {
    Cells(Vec<(usize, FeedCell)>),
    /// A line without any content.
    Empty,
    Wrong(FeedProblem),
}

fn csv_row(mut cells: Vec<String>, columns: usize) -> RowCells {
    if cells.iter().all(|cell| cell.trim().is_empty()) {
        return RowCells::Empty;
    }
    while cells.len() > columns && cells.last().is_some_and(|cell| cell.trim().is_empty()) {
        cells.pop();
    }
    if cells.len() != columns {
        return RowCells::Wrong(FeedProblem::of_row(format!(
            "the row has {} cells and the header {columns}, so that its cells cannot be told apart; a separator or a quote \
             in a text may be the reason",
            cells.len()
        )));
    }
    let cells = cells.into_iter().map(|cell| FeedCell::Text(unescape_formula(cell)));
    RowCells::Cells(cells.enumerate().collect())
}

fn json_row(
    line: u64,
    members: JsonMembers,
    resolver: &ColumnResolver<'_>,
    known: &mut BTreeMap<String, usize>,
    columns: &mut Vec<ColumnUse>,
) -> Result<RowCells, FeedError> {
    let (mut cells, mut weak, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
    let mut duplicate = None;
    for (name, cell) in members {
        let column = match known.get(&name) {
            Some(column) => *column,
            None if name.chars().count() > MAX_HEADER_CHARACTERS => {
                return Err(FeedError::json(line, "a name of a member is longer than 200 characters"));
            }
            None if columns.len() < MAX_COLUMNS => {
                columns.push(resolver.resolve(&name));
                known.insert(name, columns.len() - 1);
                columns.len() - 1
            }
            None => return Err(FeedError::many_columns(line)),
        };
        let Some(used) = columns.get(column) else { continue };
        let field = match &used.target {
            ColumnTarget::Ignored => None,
            ColumnTarget::Field(_) | ColumnTarget::Extra(_) => Some(used.target.to_string()),
        };
        if let Some(cell) = cell {
            if resolver.is_weak(&used.header) {
                weak.push((column, cell, field));
                continue;
            }
            if let Some(field) = field
                && !seen.insert(field.clone())
            {
                duplicate = Some(field);
            }
            cells.push((column, cell));
        }
    }
    for (column, cell, field) in weak {
        if field.is_none_or(|field| seen.insert(field)) {
            cells.push((column, cell));
        }
    }
    Ok(match duplicate {
        Some(field) => RowCells::Wrong(FeedProblem::of_row(format!("two members give {field}"))),
        None => RowCells::Cells(cells),
    })
}
