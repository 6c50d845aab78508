//! The arguments by which a list is filtered and sorted, resolved against the columns of a table.

use frontdesk_engine::model::page::{Direction, Filter, Order};
use frontdesk_engine::model::schema::{Field, Schema, optional};
use frontdesk_engine::model::table::{Cell, ColumnType, SearchTerm, search_terms};
use frontdesk_engine::{Fault, Permitted};
use serde_json::{Map, Value};

use super::field::{ColumnIndex, FieldSpec};
use super::table::columns;

/// Each word costs an index lookup.
const MAX_WORDS: usize = 16;

pub const NEWEST: Order = Order { column: "created_at", direction: Direction::Descending };

/// An argument of a list, declared beside the resource. `field` is the name of a field with a column, or of a column.
#[derive(Debug, Clone, Copy)]
pub enum FilterArgument {
    Equals {
        argument: &'static str,
        field: &'static str,
        about: &'static str,
    },
    AtLeast {
        argument: &'static str,
        field: &'static str,
        about: &'static str,
    },
    /// Two arguments for the ends of a range.
    Range {
        min: (&'static str, &'static str),
        max: (&'static str, &'static str),
        field: &'static str,
    },
    /// Words that must all occur in the searched fields.
    Words {
        argument: &'static str,
        about: &'static str,
        term: fn(String) -> SearchTerm,
    },
}

/// An argument that is named like the field it compares.
pub const fn equals(field: &'static str, about: &'static str) -> FilterArgument {
    FilterArgument::Equals { argument: field, field, about }
}

pub const fn at_least(argument: &'static str, field: &'static str, about: &'static str) -> FilterArgument {
    FilterArgument::AtLeast { argument, field, about }
}

/// Each end is the name of an argument and its description.
pub const fn range(
    field: &'static str,
    min: (&'static str, &'static str),
    max: (&'static str, &'static str),
) -> FilterArgument {
    FilterArgument::Range { min, max, field }
}

pub const fn words(argument: &'static str, about: &'static str) -> FilterArgument {
    FilterArgument::Words { argument, about, term: SearchTerm::Plain }
}

/// Words of personal data, which are found whole and by keyed hash.
pub const fn personal_words(argument: &'static str, about: &'static str) -> FilterArgument {
    FilterArgument::Words { argument, about, term: SearchTerm::Personal }
}

/// A word of the `sort` argument, and the field and direction it stands for.
#[derive(Debug, Clone, Copy)]
pub struct SortOption {
    pub word: &'static str,
    pub field: &'static str,
    pub direction: Direction,
}

/// The filters of one list.
pub struct Filters(Vec<ResolvedFilter>);

struct ResolvedFilter {
    argument: FilterArgument,
    /// Absent for words.
    field: Option<&'static FieldSpec>,
}

impl Filters {
    /// Fails with what is wrong with a declaration.
    pub fn resolve(fields: &'static [FieldSpec], arguments: &[FilterArgument]) -> Result<Filters, String> {
        let resolved = arguments.iter().map(|argument| {
            let field = match argument {
                FilterArgument::Equals { field, .. } => Some(find(fields, field).ok_or_else(|| no_column(field))?),
                FilterArgument::AtLeast { field, .. } | FilterArgument::Range { field, .. } => {
                    Some(find_ordered(fields, field)?)
                }
                FilterArgument::Words { argument, term, .. } => {
                    let personal = matches!(term(String::new()), SearchTerm::Personal(_));
                    if !fields.iter().any(|field| field.searched && field.is_personal() == personal) {
                        let kind = if personal { "personal" } else { "public" };
                        return Err(format!("{argument}: no {kind} field is searched"));
                    }
                    None
                }
            };
            Ok(ResolvedFilter { argument: *argument, field })
        });
        resolved.collect::<Result<Vec<_>, _>>().map(Filters)
    }

    /// The arguments as schema fields.
    pub fn schema(&self) -> Vec<Field> {
        let mut fields = Vec::new();
        for ResolvedFilter { argument, field } in &self.0 {
            let schema = || field.map_or_else(|| Schema::text(200), |field| (field.input)());
            match argument {
                FilterArgument::Equals { argument, about, .. }
                | FilterArgument::AtLeast { argument, about, .. }
                | FilterArgument::Words { argument, about, .. } => fields.push(optional(argument, schema(), about)),
                FilterArgument::Range { min, max, .. } => {
                    fields.push(optional(min.0, schema(), min.1));
                    fields.push(optional(max.0, schema(), max.1));
                }
            }
        }
        fields
    }

    /// The fields that an argument of the same name compares.
    pub fn compared_fields(&self) -> Vec<&'static str> {
        let compared = self.0.iter().filter_map(|filter| match (filter.argument, filter.field) {
            (FilterArgument::Equals { argument, .. }, Some(field)) if argument == field.name => Some(argument),
            (_, _) => None,
        });
        compared.collect()
    }

    /// The filters of a call.
    pub fn of_call(&self, permitted: &Permitted<'_>) -> Result<Vec<Filter>, Fault> {
        resolve_call(self.0.iter(), &permitted.input().arguments)
    }

    /// The arguments of a call that are ends of a range of money.
    pub fn money_arguments(&self, permitted: &Permitted<'_>) -> Vec<&'static str> {
        let ends = self.0.iter().filter(|filter| filter.is_money()).flat_map(ResolvedFilter::arguments);
        ends.filter(|name| permitted.input().arguments.contains_key(*name)).collect()
    }

    /// The filters of a call without its ranges of money.
    pub fn without_money(&self, permitted: &Permitted<'_>) -> Result<Vec<Filter>, Fault> {
        resolve_call(self.0.iter().filter(|filter| !filter.is_money()), &permitted.input().arguments)
    }
}

impl ResolvedFilter {
    /// Whether it is a range of amounts of money.
    fn is_money(&self) -> bool {
        let parts = self.field.map_or(&[][..], |field| (field.nested)());
        let is_range = matches!(self.argument, FilterArgument::Range { .. });
        is_range && parts.first().is_some_and(|part| matches!((part.input)(), Schema::MinorUnits { .. }))
    }

    fn arguments(&self) -> Vec<&'static str> {
        match self.argument {
            FilterArgument::Equals { argument, .. }
            | FilterArgument::AtLeast { argument, .. }
            | FilterArgument::Words { argument, .. } => vec![argument],
            FilterArgument::Range { min, max, .. } => vec![min.0, max.0],
        }
    }
}

fn resolve_call<'a>(
    resolved: impl Iterator<Item = &'a ResolvedFilter>,
    arguments: &Map<String, Value>,
) -> Result<Vec<Filter>, Fault> {
    let mut filters = Vec::new();
    for ResolvedFilter { argument, field } in resolved {
        match (argument, field) {
            (FilterArgument::Equals { argument, .. }, Some(field)) => {
                let cells = parts(field, arguments, argument).into_iter().flatten();
                filters.extend(cells.map(|(column, cell)| Filter::Equals(column, cell)));
            }
            (FilterArgument::AtLeast { argument, .. }, Some(field)) => {
                let end = RangeEnd::read(field, arguments, argument);
                filters.extend(end.map(|end| Filter::AtLeast(end.column, end.value)));
            }
            (FilterArgument::Range { min, max, .. }, Some(field)) => {
                filters.extend(range_filters(field, arguments, min.0, max.0)?);
            }
            (FilterArgument::Words { argument, term, .. }, _) => {
                filters.extend(word_filter(arguments, argument, *term)?);
            }
            (_, None) => {}
        }
    }
    Ok(filters)
}

/// A field with a column by its own name, or by that of a column.
fn find(fields: &'static [FieldSpec], name: &str) -> Option<&'static FieldSpec> {
    let with_columns = columns(fields);
    let by_column = |field: &&&FieldSpec| field.columns.first() == Some(&name);
    let by_name = |field: &&&FieldSpec| field.name == name;
    with_columns.iter().find(by_column).or_else(|| with_columns.iter().find(by_name)).copied()
}

fn no_column(name: &str) -> String {
    format!("{name} is no field with a column")
}

/// A field that is compared by a whole number.
fn find_ordered(fields: &'static [FieldSpec], name: &str) -> Result<&'static FieldSpec, String> {
    let field = find(fields, name).ok_or_else(|| no_column(name))?;
    match (field.column_types)().first() {
        Some(ColumnType::Integer) => Ok(field),
        Some(ColumnType::Text | ColumnType::Digest) | None => {
            Err(format!("{name} has no order: its column is no number"))
        }
    }
}

/// The columns of a field, each with its part of the argument.
fn parts(field: &FieldSpec, arguments: &Map<String, Value>, argument: &str) -> Option<Vec<(&'static str, Cell)>> {
    let cells = (field.cells_of)(arguments.get(argument)?)?;
    Some(field.columns.iter().copied().zip(cells).collect())
}

/// One end of a range: the first part is compared, and the others must be equal. Amounts are comparable only within one
/// currency.
struct RangeEnd {
    column: &'static str,
    value: i64,
    others: Vec<(&'static str, Cell)>,
}

impl RangeEnd {
    fn read(field: &FieldSpec, arguments: &Map<String, Value>, argument: &str) -> Option<RangeEnd> {
        let mut parts = parts(field, arguments, argument)?.into_iter();
        match parts.next()? {
            (column, Cell::Integer(value)) => Some(RangeEnd { column, value, others: parts.collect() }),
            (_, Cell::Null | Cell::Text(_) | Cell::Digest(_)) => None,
        }
    }
}

fn range_filters(
    field: &FieldSpec,
    arguments: &Map<String, Value>,
    min_name: &str,
    max_name: &str,
) -> Result<Vec<Filter>, Fault> {
    let min = RangeEnd::read(field, arguments, min_name);
    let max = RangeEnd::read(field, arguments, max_name);
    if let (Some(min), Some(max)) = (&min, &max) {
        if let Some(place) = min.others.iter().zip(&max.others).position(|(min, max)| min != max) {
            let part = (field.nested)().get(place.saturating_add(1)).map_or("", |part| part.name);
            return Err(Fault::invalid_argument(
                &format!("/{max_name}/{part}"),
                "const",
                format!("{min_name} and {max_name} must have the same {part}"),
            ));
        }
        if min.value > max.value {
            return Err(Fault::invalid_argument(
                &format!("/{max_name}"),
                "minimum",
                "it must not be less than the lower end of the range",
            ));
        }
    }
    let others = min.as_ref().or(max.as_ref()).map(|end| end.others.clone()).unwrap_or_default();
    let mut filters: Vec<Filter> = others.into_iter().map(|(column, cell)| Filter::Equals(column, cell)).collect();
    filters.extend(min.map(|min| Filter::AtLeast(min.column, min.value)));
    filters.extend(max.map(|max| Filter::AtMost(max.column, max.value)));
    Ok(filters)
}

/// A text without words is an error: it would match everything.
fn word_filter(
    arguments: &Map<String, Value>,
    argument: &str,
    term: fn(String) -> SearchTerm,
) -> Result<Option<Filter>, Fault> {
    let Some(text) = arguments.get(argument).and_then(Value::as_str) else {
        return Ok(None);
    };
    let terms = search_terms(text);
    let pointer = format!("/{argument}");
    match terms.len() {
        0 => Err(Fault::invalid_argument(&pointer, "pattern", "at least one letter or digit is expected")),
        1..=MAX_WORDS => Ok(Some(Filter::SearchTerms(terms.into_iter().map(term).collect()))),
        _ => Err(Fault::invalid_argument(&pointer, "maxLength", "at most 16 words are allowed")),
    }
}

/// The orders of one list.
pub struct Sorting(Vec<(&'static str, Order)>);

impl Sorting {
    /// Fails with what is wrong with a declaration.
    pub fn resolve(fields: &'static [FieldSpec], options: &[SortOption]) -> Result<Sorting, String> {
        let resolved = options.iter().map(|option| {
            let field = find_ordered(fields, option.field)?;
            if field.index != Some(ColumnIndex::Sorted) {
                return Err(format!("{} is not marked `sorted`", option.field));
            }
            let column = field.columns.first().copied().ok_or_else(|| no_column(option.field))?;
            Ok((option.word, Order { column, direction: option.direction }))
        });
        resolved.collect::<Result<Vec<_>, _>>().map(Sorting)
    }

    /// The words of the argument; `newest` is the default.
    pub fn words(&self) -> Vec<&'static str> {
        std::iter::once("newest").chain(self.0.iter().map(|(word, _)| *word)).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn of_call(&self, permitted: &Permitted<'_>) -> Order {
        let asked = permitted.input().text("sort");
        self.0.iter().find(|(word, _)| Some(*word) == asked).map_or(NEWEST, |(_, order)| *order)
    }
}
