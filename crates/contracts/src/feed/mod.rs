//! Reads a feed (CSV, JSON or JSON lines) of any size into the arguments of a tool, row by row and with bounded memory.
//! It names no contract, and no problem that it reports repeats the content of a cell.

mod cell;
mod columns;
mod csv;
mod decode;
mod error;
mod formula;
mod import_row;
mod json;
mod mapping;
mod reader;
mod row;
mod target;
mod xml;

pub(crate) use cell::phone;
pub use columns::{ColumnTarget, ColumnUse};
pub use error::{FeedError, FeedProblem};
pub use formula::{escape_formula, unescape_formula};
pub use mapping::{DateOrder, FeedDefaults, FeedMapping, NumberStyle};
pub use reader::{FeedFormat, FeedReader, FeedRow, FeedSettings};
pub use row::RowDraft;
pub use target::{AliasTarget, DerivedField, FeedTarget, HeaderAlias, Synonym, SynonymMatch};
pub use xml::{XmlRow, XmlSettings};

/// The largest record of a feed, and the largest header row.
pub const MAX_RECORD_BYTES: usize = 1 << 20;
pub const MAX_COLUMNS: usize = 2_000;
pub const MAX_ROWS: u64 = 2_000_000;
/// The longest name of a column, in characters.
pub const MAX_HEADER_CHARACTERS: usize = 200;
