//! What a contract says about importing one kind of record.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::caller::{Scope, TenantId};
use crate::model::fault::Fault;
use crate::model::page::Filter;
use crate::model::schema::Schema;
use crate::model::table::{Cell, StoredRow, TableSpec};
use crate::model::timestamp::Millis;
use crate::model::tool::Tool;

/// One kind of record that can be imported.
#[derive(Clone)]
pub struct ImportSpec {
    /// As commands and routes name it, in the plural.
    pub name: &'static str,
    /// What one is called in messages.
    pub noun: &'static str,
    pub table: &'static TableSpec,
    /// What a caller needs to import it.
    pub scope: Scope,
    /// What a row becomes. A kind without such tools for callers has them here only.
    pub create: Tool,
    pub update: Tool,
    /// A row about a record that exists already: the arguments of `create`, none of them required.
    pub row: Schema,
    /// A record as exports write it: every field that can be read.
    pub exported: Schema,
    pub rules: Arc<dyn ImportRules>,
}

/// What only the contract knows about the rows of a kind.
pub trait ImportRules: Send + Sync {
    /// The values by which a row finds the record that it is about: unique columns, the first ones first. A kind without
    /// any is only ever added to.
    fn keys(&self, arguments: &Map<String, Value>) -> Vec<ImportKey>;

    /// Whether a record must be opened to be compared, because parts of it are sealed.
    fn has_sealed_parts(&self) -> bool;

    /// What a row changes of its record.
    fn compare(
        &self,
        tenant: &TenantId,
        record: &StoredRow,
        arguments: &Map<String, Value>,
    ) -> Result<RowChange, Fault>;

    /// The records that a feed is expected to list, and the arguments of the update that withdraws one. None for kinds
    /// that cannot be withdrawn.
    fn withdrawal(&self) -> Option<(Vec<Filter>, Map<String, Value>)>;

    /// A stored record as an export writes it now.
    fn exported(&self, text: String, now: Millis) -> String {
        let _ = now;
        text
    }

    /// The rows of a feed.
    fn read_feed(&self, feed: &FeedText) -> Result<Vec<ReadRow>, String>;
}

/// A value that a record is found by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportKey {
    /// The argument, as messages name it.
    pub field: &'static str,
    /// The unique column that has it.
    pub column: &'static str,
    pub cell: Cell,
}

/// What a row would change.
#[derive(Debug, Clone, PartialEq)]
pub enum RowChange {
    Nothing,
    /// The arguments of the update, without the id.
    Update(Map<String, Value>),
}

/// A feed as it was pushed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeedText {
    /// Text in a format that the contract recognises.
    Text(String),
    /// Objects of arguments.
    Items(Vec<Value>),
}

/// A row as it was read. `line` is where it begins in its file, or its number from 1 on.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadRow {
    pub line: u64,
    pub arguments: Result<Map<String, Value>, Vec<RowProblem>>,
}

/// A row that can be applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportRow {
    pub line: u64,
    pub arguments: Map<String, Value>,
    /// Makes a repetition safe where records are not matched; the import and the line if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The check found no record that it is about. It is then added without another look; if somebody else has added one
    /// meanwhile, the record's unique values say so.
    #[serde(default)]
    pub is_new: bool,
}

/// What is wrong with a row. Values are never repeated: they may be personal data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowProblem {
    /// A column of the file, or a pointer into the arguments; empty for the row as a whole.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub field: String,
    pub reason: String,
}
