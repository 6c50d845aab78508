//! Template variables, looked up by name. Names are resolved before anything else is queried, so only real variables are
//! ever read (E-14). One that filters or sorts becomes a join of the value table to the documents; those that are only
//! shown do so if they are few.

use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::model::page::Direction;
use frontdesk_engine::model::schema::{Field, Schema, TextFormat, optional};
use frontdesk_engine::model::tool_input::ToolInput;
use frontdesk_engine::ports::site_db::{
    Expr, Join, JoinKind, Literal, Name, Predicate, Select, SiteDb, SiteRow, TableAlias,
};
use frontdesk_engine::{Fault, Permitted};
use serde_json::Value as Json;

use super::patterns::{self, VariableFallback};
use super::query::{BASE, column, columns_equal, equals};
use super::schemas;
use super::variable_cache::{VariableCache, VariableList};
use super::variable_values::{self, ShownVariable};

pub(super) const WITH: &str = "with_tvs";
pub(super) const FILTERS: &str = "tv_filters";
pub(super) const ORDER: &str = "tv_order";

/// Different variables that one call may name. With the documents and their tree, this many joins stay below what every
/// supported database allows in one statement.
const MAX_VARIABLES: usize = 50;
pub(super) const MAX_FILTERS: usize = 20;
pub(super) const MAX_ORDERS: usize = 10;

/// Up to so many variables are all joined; see `variable_values`.
const MAX_JOINED: usize = 4;

const TABLE: Name = "site_tmplvars";

/// The first table alias for value tables; smaller ones belong to the documents, their tree and tags.
const FIRST_ALIAS: u8 = 10;

/// A case-insensitive collation also returns names that differ in case or accents; this bounds the rows read per name.
const ROWS_PER_NAME: usize = 8;
/// The limit for all names and defaults of one lookup. A default is sent back to the database as a bound value.
const LOOKUP_BYTES: usize = 256 * 1024;

/// The variables that a call names.
#[derive(Debug, Default)]
pub(super) struct Variables {
    resolved: VariableList,
    /// Indexes into `resolved`, in the order of `with_tvs`.
    selected: Vec<(usize, VariableFallback)>,
    /// Indexes into `resolved` of those that are joined to the documents.
    joined: Vec<usize>,
}

#[derive(Debug)]
pub(super) struct Variable {
    name: String,
    id: i64,
    default: Option<String>,
    alias: TableAlias,
}

/// The argument that adds variables to the answer.
pub(super) fn with_tvs() -> Field {
    optional(
        WITH,
        Schema::list(Schema::Text(TextFormat::Pattern(&patterns::NAME_WITH_SUFFIX)), MAX_VARIABLES),
        "Template variables to show with each page, by name; name:d shows the variable's default where a page has no \
         value.",
    )
}

impl Variables {
    /// Looks up every variable that the checked arguments name.
    pub(super) async fn resolve(permitted: &Permitted<'_>, cache: &VariableCache) -> Result<Variables, Fault> {
        let (input, site_db, now) = (permitted.input(), permitted.site_db()?, permitted.monotonic());
        let names = requested_names(input);
        if names.is_empty() {
            return Ok(Variables::default());
        }
        let fallback = requested_fallback(input);
        let key = cache_key(&names, fallback);
        let resolved = match cache.get(&key, now) {
            Some(resolved) => resolved,
            None => {
                let rows = site_db.select(&lookup(&names, fallback)).await?;
                // Only a complete lookup is cached: an unknown name is looked up again by every call.
                let resolved: VariableList = match_rows(&names, &rows)?.into();
                cache.insert(key, now, &resolved);
                resolved
            }
        };
        let joined = joined(input, &resolved);
        let mut variables = Variables { resolved, selected: Vec::new(), joined };
        for entry in strings(input, WITH) {
            variables.select(entry);
        }
        Ok(variables)
    }

    /// A name that occurs twice is selected once, with its default if either entry asks for it.
    fn select(&mut self, entry: &str) {
        let (name, fallback) = patterns::split_default_suffix(entry);
        let Some(index) = self.resolved.iter().position(|variable| variable.name == name) else {
            return;
        };
        match self.selected.iter_mut().find(|(selected, _)| *selected == index) {
            Some((_, earlier)) if fallback == VariableFallback::Default => *earlier = VariableFallback::Default,
            Some(_) => {}
            None => self.selected.push((index, fallback)),
        }
    }

    pub(super) fn joins(&self) -> impl Iterator<Item = Join> {
        self.joined.iter().filter_map(|index| self.resolved.get(*index)).map(|variable| Join {
            table: (variable.alias, variable_values::TABLE),
            on: vec![
                columns_equal(Expr::Column(variable.alias, "contentid"), column("id")),
                equals(Expr::Column(variable.alias, "tmplvarid"), variable.id),
            ],
            kind: JoinKind::Left,
        })
    }

    /// The value that a document has for the variable.
    pub(super) fn value(&self, name: &str, fallback: VariableFallback) -> Result<Expr, Fault> {
        let variable = self.resolved.iter().find(|variable| variable.name == name);
        variable.map(|variable| variable.value(fallback)).ok_or_else(unresolved)
    }

    /// The columns of the selected variables, if all of them are joined.
    pub(super) fn columns(&self) -> Result<Vec<Expr>, Fault> {
        if !self.are_all_joined() {
            return Ok(Vec::new());
        }
        let column = |(index, fallback): &(usize, VariableFallback)| {
            self.resolved.get(*index).map(|variable| variable.value(*fallback)).ok_or_else(unresolved)
        };
        self.selected.iter().map(column).collect()
    }

    /// Reads the selected variables of these rows, unless the rows have them as columns.
    pub(super) async fn append_values(
        &self,
        site_db: &dyn SiteDb,
        rows: &mut [SiteRow],
        max_bytes: usize,
    ) -> Result<(), Fault> {
        if self.are_all_joined() {
            return Ok(());
        }
        let shown = |(index, fallback): &(usize, VariableFallback)| {
            let variable = self.resolved.get(*index)?;
            let default = match fallback {
                VariableFallback::Default => variable.default.as_deref(),
                VariableFallback::Null => None,
            };
            Some(ShownVariable { id: variable.id, default })
        };
        let shown: Vec<ShownVariable<'_>> = self.selected.iter().filter_map(shown).collect();
        variable_values::append(site_db, &shown, rows, max_bytes).await
    }

    fn are_all_joined(&self) -> bool {
        self.joined.len() == self.resolved.len()
    }

    /// The names of the selected variables, in the order of `with_tvs`.
    pub(super) fn names(&self) -> Vec<&str> {
        self.selected.iter().filter_map(|(index, _)| Some(self.resolved.get(*index)?.name.as_str())).collect()
    }
}

fn unresolved() -> Fault {
    Fault::internal("a template variable was not looked up")
}

impl Variable {
    /// Reads a row if it has exactly this name; the database's collation may have matched others.
    fn from_row(row: &SiteRow, name: &str, index: usize) -> Option<Variable> {
        let [id, found, more @ ..] = row.as_slice() else {
            return None;
        };
        let index = u8::try_from(index).ok()?;
        (schemas::text(found)? == name).then_some(())?;
        Some(Variable {
            name: name.to_owned(),
            id: schemas::integer(id)?,
            default: more.first().and_then(schemas::text).map(|text| text.into_owned()),
            alias: TableAlias(FIRST_ALIAS.checked_add(index)?),
        })
    }

    fn value(&self, fallback: VariableFallback) -> Expr {
        let value = Expr::Column(self.alias, "value");
        match (fallback, &self.default) {
            (VariableFallback::Default, Some(default)) => Expr::Coalesce(Box::new(value), default.clone()),
            (VariableFallback::Default, None) | (VariableFallback::Null, _) => value,
        }
    }

    pub(super) fn byte_size(&self) -> usize {
        self.name.len() + self.default.as_ref().map_or(0, String::len)
    }
}

/// Finds the row of each name, and reports every name that has none.
fn match_rows(names: &[(ArgumentPath, &str)], rows: &[SiteRow]) -> Result<Vec<Variable>, Fault> {
    let mut resolved: Vec<Variable> = Vec::new();
    let mut problems = Vec::new();
    for (path, name) in names {
        if resolved.iter().any(|variable| variable.name == *name) {
            continue;
        }
        match rows.iter().find_map(|row| Variable::from_row(row, name, resolved.len())) {
            Some(_) if resolved.len() >= MAX_VARIABLES => return Err(too_many(&path.pointer())),
            Some(variable) => resolved.push(variable),
            None => problems.push(unknown(&path.pointer())),
        }
    }
    if problems.is_empty() { Ok(resolved) } else { Err(Fault::invalid(problems)) }
}

/// Where in the arguments a name occurs.
enum ArgumentPath {
    /// The entry of `with_tvs` at this index.
    WithTvs(usize),
    /// The `tv` of the item at this index of this argument.
    Item(&'static str, usize),
}

impl ArgumentPath {
    fn pointer(&self) -> String {
        match self {
            ArgumentPath::WithTvs(index) => format!("/{WITH}/{index}"),
            ArgumentPath::Item(argument, index) => format!("/{argument}/{index}/tv"),
        }
    }
}

/// All variables if they are few, otherwise those that filters and orders name.
fn joined(input: &ToolInput, resolved: &[Variable]) -> Vec<usize> {
    let all = 0..resolved.len();
    if resolved.len() <= MAX_JOINED {
        return all.collect();
    }
    let used: Vec<&str> = items(input).filter_map(|(_, _, item)| item.get("tv").and_then(Json::as_str)).collect();
    all.filter(|index| resolved.get(*index).is_some_and(|variable| used.contains(&variable.name.as_str()))).collect()
}

/// The filters and orders, each with its argument and its index there.
fn items(input: &ToolInput) -> impl Iterator<Item = (&'static str, usize, &Json)> {
    [FILTERS, ORDER].into_iter().flat_map(|argument| {
        let items = input.arguments.get(argument).and_then(Json::as_array).into_iter().flatten();
        items.enumerate().map(move |(index, item)| (argument, index, item))
    })
}

/// Every name in the arguments, with its path.
fn requested_names(input: &ToolInput) -> Vec<(ArgumentPath, &str)> {
    let entries = strings(input, WITH).enumerate();
    let mut names: Vec<(ArgumentPath, &str)> =
        entries.map(|(index, entry)| (ArgumentPath::WithTvs(index), patterns::split_default_suffix(entry).0)).collect();
    for (argument, index, item) in items(input) {
        if let Some(name) = item.get("tv").and_then(Json::as_str) {
            names.push((ArgumentPath::Item(argument, index), name));
        }
    }
    names
}

/// Unambiguous, because no name contains a comma or a colon.
fn cache_key(names: &[(ArgumentPath, &str)], fallback: VariableFallback) -> String {
    let mut key = String::with_capacity(64);
    key.push_str(match fallback {
        VariableFallback::Default => ":d",
        VariableFallback::Null => "",
    });
    for (_, name) in names {
        key.push(',');
        key.push_str(name);
    }
    key
}

fn strings<'a>(input: &'a ToolInput, argument: &str) -> impl Iterator<Item = &'a str> + use<'a> {
    let items = input.arguments.get(argument).and_then(Json::as_array);
    items.into_iter().flatten().filter_map(Json::as_str)
}

/// Whether the lookup must read defaults, because any of the arguments uses one.
fn requested_fallback(input: &ToolInput) -> VariableFallback {
    let selected =
        strings(input, WITH).any(|entry| patterns::split_default_suffix(entry).1 == VariableFallback::Default);
    if selected || items(input).any(|(_, _, item)| item.get("use_default").and_then(Json::as_bool) == Some(true)) {
        VariableFallback::Default
    } else {
        VariableFallback::Null
    }
}

/// Of several variables with one name the newest is used, as in the original.
fn lookup(names: &[(ArgumentPath, &str)], fallback: VariableFallback) -> Select {
    let mut columns = vec![column("id"), column("name")];
    match fallback {
        VariableFallback::Default => columns.push(column("default_text")),
        VariableFallback::Null => {}
    }
    let values = names.iter().map(|(_, name)| Literal::Text((*name).to_owned())).collect();
    Select {
        from: (BASE, TABLE),
        joins: Vec::new(),
        columns,
        filter: vec![Predicate::AnyOf(column("name"), values)],
        order: vec![(column("id"), Direction::Descending)],
        offset: 0,
        limit: u64::try_from(names.len() * ROWS_PER_NAME).unwrap_or(u64::MAX),
        bytes: LOOKUP_BYTES,
    }
}

fn too_many(pointer: &str) -> Fault {
    Fault::invalid_argument(
        pointer,
        "maxItems",
        "no more than 50 different template variables may be named in one call",
    )
}

fn unknown(pointer: &str) -> Problem {
    Problem {
        pointer: pointer.to_owned(),
        keyword: "enum",
        expected: "no template variable has this name; evo.model.list with the model SiteTmplvar names them".to_owned(),
    }
}
