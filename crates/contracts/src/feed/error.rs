//! What can be wrong with a feed: a `FeedError` ends the reading, a `FeedProblem` concerns one row. Both are sentences for
//! the person who made the file, and never repeat the content of a cell: it may be personal data.

use std::fmt;

use super::{MAX_COLUMNS, MAX_HEADER_CHARACTERS, MAX_ROWS};

/// Why a feed cannot be read, or not any further.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedError {
    line: Option<u64>,
    message: String,
}

/// What is wrong with one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedProblem {
    /// The header of the column; none where the problem is not in one column.
    pub column: Option<String>,
    pub reason: String,
}

impl FeedProblem {
    pub(super) fn of_row(reason: impl Into<String>) -> FeedProblem {
        FeedProblem { column: None, reason: reason.into() }
    }

    pub(super) fn of_column(column: &str, reason: impl Into<String>) -> FeedProblem {
        FeedProblem { column: Some(column.to_owned()), reason: reason.into() }
    }
}

impl fmt::Display for FeedProblem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.column {
            Some(column) => write!(out, "{column}: {}", self.reason),
            None => out.write_str(&self.reason),
        }
    }
}

impl FeedError {
    /// The line of the file where it was found.
    pub fn line(&self) -> Option<u64> {
        self.line
    }

    pub(super) fn whole(message: impl Into<String>) -> FeedError {
        FeedError { line: None, message: message.into() }
    }

    pub(super) fn at(line: u64, message: impl Into<String>) -> FeedError {
        FeedError { line: Some(line), message: message.into() }
    }

    pub(super) fn empty() -> FeedError {
        FeedError::whole("The feed is empty. The first line of a CSV feed has the names of its columns.")
    }

    pub(super) fn unreadable(error: &std::io::Error) -> FeedError {
        FeedError::whole(format!("The feed could not be read: {error}."))
    }

    pub(super) fn binary(what: &str) -> FeedError {
        FeedError::whole(format!("This is {what}, not a CSV or JSON feed. Open it and save it as CSV (UTF-8)."))
    }

    pub(super) fn utf16_without_mark() -> FeedError {
        FeedError::whole(
            "This looks like UTF-16 without a byte order mark. Save the file as UTF-8, or set encoding = \"utf-16le\" \
             under [defaults] in the mapping file.",
        )
    }

    pub(super) fn nul(line: u64) -> FeedError {
        FeedError::at(
            line,
            "There is a NUL byte, so this is not a text file or it is damaged. Export it again as CSV (UTF-8).",
        )
    }

    pub(super) fn invalid_text(line: u64, encoding: &str) -> FeedError {
        FeedError::at(line, format!("The text is not valid {encoding}. Save the file as UTF-8."))
    }

    pub(super) fn open_quote(line: u64) -> FeedError {
        FeedError::at(
            line,
            "A quote (\") that opens in the record on this line is never closed, so the rest of the file would be one \
             cell. Close it, or write it twice (\"\") if it belongs to the text.",
        )
    }

    pub(super) fn long_record(line: u64) -> FeedError {
        FeedError::at(line, "The record is longer than 1 MiB. Check the file: a record is one line of it.")
    }

    pub(super) fn many_columns(line: u64) -> FeedError {
        FeedError::at(line, format!("There are more than {MAX_COLUMNS} columns. Leave out those that are not needed."))
    }

    pub(super) fn many_rows(line: u64) -> FeedError {
        FeedError::at(line, format!("There are more than {MAX_ROWS} rows. Split the feed into several files."))
    }

    pub(super) fn long_header(position: usize) -> FeedError {
        FeedError::whole(format!(
            "The name of column {position} has more than {MAX_HEADER_CHARACTERS} characters. The first line must have \
             the names of the columns."
        ))
    }

    pub(super) fn json(line: u64, what: &str) -> FeedError {
        FeedError::at(line, format!("The JSON is not valid: {what}."))
    }
}

impl fmt::Display for FeedError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(out, "Line {line}: {}", self.message),
            None => out.write_str(&self.message),
        }
    }
}

impl std::error::Error for FeedError {}
