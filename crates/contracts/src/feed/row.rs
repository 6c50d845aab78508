//! From the cells of one row to arguments that fit the schema, or all that is wrong with them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::cell::{CellContext, FeedCell, convert, truth};
use super::columns::{ColumnResolver, ColumnTarget, ColumnUse};
use super::error::FeedProblem;
use super::mapping::{FeedDefaults, FeedMapping};
use super::target::{FeedTarget, folded};
use crate::record::render::REDACTED;

/// A row whose cells were read, before it is checked as a whole.
pub struct RowDraft<'a> {
    pub arguments: Map<String, Value>,
    pub defaults: &'a FeedDefaults,
    extras: BTreeMap<&'static str, (String, String)>,
    problems: Vec<FeedProblem>,
    /// The fields that have a problem already.
    wrong: Vec<String>,
    /// The fields that were read, with the headers of their columns.
    headers: Vec<(String, String)>,
}

impl RowDraft<'_> {
    /// The text of an extra column, if it has any.
    pub fn extra(&self, name: &str) -> Option<&str> {
        self.extras.get(name).map(|(_, text)| text.as_str())
    }

    /// An extra column that says yes or no; anything else is a problem.
    pub fn truth(&mut self, name: &'static str) -> Option<bool> {
        let text = self.extra(name)?.to_owned();
        let truth = truth(&text);
        if truth.is_none() {
            self.reject(name, "yes or no is expected");
        }
        truth
    }

    /// Notes what is wrong with an extra column.
    pub fn reject(&mut self, extra: &str, reason: impl Into<String>) {
        let column = self.extras.get(extra).map(|(header, _)| header.clone());
        self.problems.push(FeedProblem { column, reason: reason.into() });
    }

    /// Notes what is wrong with a field that was read.
    pub fn reject_field(&mut self, field: &str, reason: impl Into<String>) {
        let column = self.headers.iter().find(|(path, _)| path == field).map(|(_, header)| header.clone());
        self.problems.push(FeedProblem { column, reason: reason.into() });
        self.wrong.push(field.to_owned());
    }

    /// Whether something is wrong with this field, so that its absence says nothing.
    pub fn is_wrong(&self, field: &str) -> bool {
        self.wrong.iter().any(|path| path.split('.').next() == Some(field))
    }
}

/// How the rows of one feed are read.
pub(super) struct RowReader<'a, 't> {
    pub(super) target: &'t FeedTarget,
    pub(super) resolver: &'a ColumnResolver<'t>,
    pub(super) mapping: &'a FeedMapping,
    pub(super) columns: &'a [ColumnUse],
}

impl RowReader<'_, '_> {
    pub(super) fn arguments(&self, cells: &[(usize, FeedCell)]) -> Result<Map<String, Value>, Vec<FeedProblem>> {
        let mut draft = RowDraft {
            arguments: Map::new(),
            defaults: &self.mapping.defaults,
            extras: BTreeMap::new(),
            problems: Vec::new(),
            wrong: Vec::new(),
            headers: Vec::new(),
        };
        for (column, cell) in cells {
            if let Some(column) = self.columns.get(*column) {
                self.read_cell(column, cell, cells, &mut draft);
            }
        }
        for (path, text) in &self.mapping.constants {
            if value_at(&draft.arguments, path).is_none() && !draft.is_wrong(path) {
                let cell = FeedCell::Text(text.clone());
                let name = format!("[constants] {path}");
                self.read_field(path, &name, None, &cell, &[], &mut draft);
            }
        }
        if let Some(finish) = self.target.finish {
            finish(&mut draft);
        }
        self.check(draft)
    }

    fn read_cell(&self, column: &ColumnUse, cell: &FeedCell, cells: &[(usize, FeedCell)], draft: &mut RowDraft<'_>) {
        let text = match cell {
            FeedCell::Text(text) => text.trim().to_owned(),
            // A rule reads a list of texts as it reads one cell with all of them.
            FeedCell::Json(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|"),
            FeedCell::Json(_) | FeedCell::Invalid => String::new(),
        };
        if column.target != ColumnTarget::Ignored && text.contains('\u{fffd}') {
            let reason = "this text is damaged: its characters are not of the encoding of the feed";
            draft.problems.push(FeedProblem::of_column(&column.header, reason));
            if let ColumnTarget::Field(path) = &column.target {
                draft.wrong.push(path.clone());
            }
            return;
        }
        match &column.target {
            ColumnTarget::Ignored if folded(&column.header) == REDACTED && !text.is_empty() => {
                let reason = "this record was exported masked, and would replace what is known by what is left of it; \
                              export it with personal data";
                draft.problems.push(FeedProblem::of_column(&column.header, reason));
            }
            ColumnTarget::Ignored => {}
            ColumnTarget::Extra(name) => {
                if !text.is_empty() {
                    draft.extras.insert(name, (column.header.clone(), text));
                }
            }
            ColumnTarget::Field(path) => self.read_field(path, &column.header, column.unit, cell, cells, draft),
        }
    }

    fn read_field(
        &self,
        path: &str,
        header: &str,
        header_unit: Option<&str>,
        cell: &FeedCell,
        cells: &[(usize, FeedCell)],
        draft: &mut RowDraft<'_>,
    ) {
        let meant = match cell {
            FeedCell::Text(text) => self.mapping.meaning(path, text.trim()),
            FeedCell::Json(_) | FeedCell::Invalid => None,
        };
        let meant = meant.map(|meant| FeedCell::Text(meant.to_owned()));
        let cell = meant.as_ref().unwrap_or(cell);
        if matches!(cell, FeedCell::Text(text) if text.trim().is_empty()) {
            return;
        }
        let Some(schema) = self.target.schema(path) else {
            return;
        };
        let context = CellContext {
            path,
            defaults: draft.defaults,
            synonyms: self.target.synonyms,
            header_unit,
            column_unit: self.unit_of(path, cells),
            list_separator: self.mapping.lists.get(path).copied(),
        };
        let inserted = convert(schema, cell, context).and_then(|value| {
            let reason = || "another column says something else about this".to_owned();
            insert_at(&mut draft.arguments, path, value).ok_or_else(reason)
        });
        draft.headers.push((path.to_owned(), header.to_owned()));
        if let Err(reason) = inserted {
            draft.problems.push(FeedProblem::of_column(header, reason));
            draft.wrong.push(path.to_owned());
        }
    }

    /// What the column for the unit or the currency of this field says in this row.
    fn unit_of<'c>(&self, path: &str, cells: &'c [(usize, FeedCell)]) -> Option<&'c str> {
        let unit = format!("{path}.{}", self.resolver.unit_field(path)?);
        let is_unit = |column: &usize| {
            self.columns.get(*column).is_some_and(|column| column.target == ColumnTarget::Field(unit.clone()))
        };
        let text = cells.iter().find(|(column, _)| is_unit(column)).map(|(_, cell)| cell);
        match text {
            Some(FeedCell::Text(text)) => Some(text.trim()).filter(|text| !text.is_empty()),
            Some(FeedCell::Json(_) | FeedCell::Invalid) | None => None,
        }
    }

    /// A problem of a field is that of its column, and is left out where the cell was wrong already.
    fn check(&self, draft: RowDraft<'_>) -> Result<Map<String, Value>, Vec<FeedProblem>> {
        let RowDraft { arguments, mut problems, wrong, .. } = draft;
        let mut checked = Map::new();
        match self.target.input.check(arguments) {
            Ok(arguments) => checked = arguments,
            Err(fault) => {
                for problem in fault.problems {
                    let field = problem.pointer.trim_start_matches('/').replace('/', ".");
                    let top = field.split('.').next().unwrap_or_default();
                    if !wrong.iter().any(|path| path.split('.').next() == Some(top)) {
                        let column = self.column_of(&field).or_else(|| self.column_of(top));
                        problems.push(match column {
                            Some(column) => FeedProblem::of_column(column, problem.expected),
                            None => FeedProblem::of_row(format!("{field}: {}", problem.expected)),
                        });
                    }
                }
            }
        }
        if problems.is_empty() { Ok(checked) } else { Err(problems) }
    }

    fn column_of(&self, path: &str) -> Option<&str> {
        let column =
            self.columns.iter().find(|column| matches!(&column.target, ColumnTarget::Field(own) if own == path));
        column.map(|column| column.header.as_str())
    }
}

fn value_at<'a>(arguments: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    let mut names = path.split('.');
    let first = arguments.get(names.next()?)?;
    names.try_fold(first, |value, name| value.get(name))
}

/// Puts a value in its place, and makes the records around it; `None` where something else is in the way.
fn insert_at(arguments: &mut Map<String, Value>, path: &str, value: Value) -> Option<()> {
    match path.split_once('.') {
        Some((name, rest)) => {
            let inner = arguments.entry(name).or_insert_with(|| Value::Object(Map::new()));
            insert_at(inner.as_object_mut()?, rest, value)
        }
        None => {
            match (arguments.get_mut(path), value) {
                // The unit came first; the whole says the same one.
                (Some(Value::Object(before)), Value::Object(value)) => before.extend(value),
                (Some(before), value) if *before != value => return None,
                (_, value) => drop(arguments.insert(path.to_owned(), value)),
            }
            Some(())
        }
    }
}
