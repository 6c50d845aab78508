//! Template variables by name. A name is looked up before anything else is asked, so only real variables are ever read
//! (E-14), and each becomes one table beside the documents.

use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::model::page::Direction;
use frontdesk_engine::model::schema::{Field, Schema, Text, optional};
use frontdesk_engine::model::tool_input::ToolInput;
use frontdesk_engine::ports::site_db::{Expr, Join, JoinKind, Literal, Name, Predicate, Select, SiteRow, TableAlias};
use frontdesk_engine::{Fault, Permitted};
use serde_json::Value as Json;

use super::forms::{self, Otherwise};
use super::lately::{Known, Lately};
use super::shapes;
use super::words::{HERE, column, is, same};

pub(super) const WITH: &str = "with_tvs";
pub(super) const FILTERS: &str = "tv_filters";
pub(super) const ORDER: &str = "tv_order";

/// So many different variables may be named in one call. Together with the documents and their tree these stay below
/// what every database can join.
const MOST: usize = 50;
pub(super) const MOST_FILTERS: usize = 20;
pub(super) const MOST_ORDERS: usize = 10;

const TABLE: Name = "site_tmplvars";
const VALUES: Name = "site_tmplvar_contentvalues";

/// Where the tables of values begin among the tables of a statement.
const FIRST_SOURCE: u8 = 10;

/// A database may find names that differ in case or marks too; more than so many for each name are not looked through.
const ALIKE: usize = 8;
/// All names and defaults together; a default travels back to the database with the question.
const MOST_BYTES: usize = 256 * 1024;

#[derive(Debug, Default)]
pub(super) struct Variables {
    known: Known,
    /// Places among those known, in the order in which they were asked for.
    shown: Vec<(usize, Otherwise)>,
}

#[derive(Debug)]
pub(super) struct Variable {
    name: String,
    id: i64,
    default: Option<String>,
    source: TableAlias,
}

/// The argument that asks for variables in the answer.
pub(super) fn with_tvs() -> Field {
    optional(
        WITH,
        Schema::list(Schema::Text(Text::Pattern(&forms::ENTRY)), MOST),
        "Template variables to show with each page, by name; name:d shows the variable's default where a page has no \
         value.",
    )
}

impl Variables {
    /// Looks up every variable that checked arguments name.
    pub(super) async fn named(permitted: &Permitted<'_>, lately: &Lately) -> Result<Variables, Fault> {
        let (reading, archive, now) = (permitted.input(), permitted.archive()?, permitted.now());
        let wanted = wanted(reading);
        if wanted.is_empty() {
            return Ok(Variables::default());
        }
        let defaults = needs_defaults(reading);
        let asked = asked(&wanted, defaults);
        let known = match lately.found(&asked, now) {
            Some(known) => known,
            None => {
                let from_row = archive.select(&lookup(&wanted, defaults)).await?;
                // A name that is not known yet is looked for each time; one that is grows old from when it was found.
                let known: Known = recognized(&wanted, &from_row)?.into();
                lately.keep(asked, now, &known);
                known
            }
        };
        let mut variables = Variables { known, shown: Vec::new() };
        for entry in strings(reading, WITH) {
            variables.show(entry);
        }
        Ok(variables)
    }

    /// A name that is asked for twice is shown once, with its default if either asks for it.
    fn show(&mut self, entry: &str) {
        let (name, otherwise) = forms::marked(entry);
        let Some(place) = self.known.iter().position(|variable| variable.name == name) else {
            return;
        };
        match self.shown.iter_mut().find(|(shown, _)| *shown == place) {
            Some((_, before)) if otherwise == Otherwise::Default => *before = Otherwise::Default,
            Some(_) => {}
            None => self.shown.push((place, otherwise)),
        }
    }

    pub(super) fn joins(&self) -> impl Iterator<Item = Join> {
        self.known.iter().map(|variable| Join {
            table: (variable.source, VALUES),
            on: vec![
                same(Expr::Column(variable.source, "contentid"), column("id")),
                is(Expr::Column(variable.source, "tmplvarid"), variable.id),
            ],
            kind: JoinKind::Left,
        })
    }

    /// What a document has in the variable.
    pub(super) fn value(&self, name: &str, otherwise: Otherwise) -> Result<Expr, Fault> {
        let known = self.known.iter().find(|variable| variable.name == name);
        known.map(|variable| variable.value(otherwise)).ok_or_else(lost)
    }

    /// The columns that were asked for.
    pub(super) fn columns(&self) -> Result<Vec<Expr>, Fault> {
        let column = |(place, otherwise): &(usize, Otherwise)| {
            self.known.get(*place).map(|variable| variable.value(*otherwise)).ok_or_else(lost)
        };
        self.shown.iter().map(column).collect()
    }

    /// Their names, in the order in which they were asked for.
    pub(super) fn names(&self) -> Vec<&str> {
        self.shown.iter().filter_map(|(place, _)| Some(self.known.get(*place)?.name.as_str())).collect()
    }
}

fn lost() -> Fault {
    Fault::internal("a template variable was not looked up")
}

impl Variable {
    /// The record with exactly this name: a database may find others by its own idea of equality.
    fn read(record: &SiteRow, name: &str, place: usize) -> Option<Variable> {
        let [id, found, more @ ..] = record.as_slice() else {
            return None;
        };
        let place = u8::try_from(place).ok()?;
        (shapes::text(found)? == name).then_some(())?;
        Some(Variable {
            name: name.to_owned(),
            id: shapes::whole(id)?,
            default: more.first().and_then(shapes::text).map(|text| text.into_owned()),
            source: TableAlias(FIRST_SOURCE.checked_add(place)?),
        })
    }

    fn value(&self, otherwise: Otherwise) -> Expr {
        let value = Expr::Column(self.source, "value");
        match (otherwise, &self.default) {
            (Otherwise::Default, Some(default)) => Expr::Coalesce(Box::new(value), default.clone()),
            (Otherwise::Default, None) | (Otherwise::Nothing, _) => value,
        }
    }

    /// How much there is to remember.
    pub(super) fn weight(&self) -> usize {
        self.name.len() + self.default.as_ref().map_or(0, String::len)
    }
}

/// Each name once, as it was found.
fn recognized(wanted: &[(Place, &str)], found: &[SiteRow]) -> Result<Vec<Variable>, Fault> {
    let mut known: Vec<Variable> = Vec::new();
    let mut problems = Vec::new();
    for (place, name) in wanted {
        if known.iter().any(|variable| variable.name == *name) {
            continue;
        }
        match found.iter().find_map(|record| Variable::read(record, name, known.len())) {
            Some(_) if known.len() >= MOST => return Err(too_many(&place.pointer())),
            Some(variable) => known.push(variable),
            None => problems.push(unknown(&place.pointer())),
        }
    }
    match problems.is_empty() {
        true => Ok(known),
        false => Err(Fault::invalid(problems)),
    }
}

/// Where a name stands in the arguments.
enum Place {
    Shown(usize),
    Of(&'static str, usize),
}

impl Place {
    fn pointer(&self) -> String {
        match self {
            Place::Shown(number) => format!("/{WITH}/{number}"),
            Place::Of(argument, number) => format!("/{argument}/{number}/tv"),
        }
    }
}

/// Each name with the place where it stands.
fn wanted(reading: &ToolInput) -> Vec<(Place, &str)> {
    let shown = strings(reading, WITH).enumerate();
    let mut wanted: Vec<(Place, &str)> =
        shown.map(|(number, entry)| (Place::Shown(number), forms::marked(entry).0)).collect();
    for argument in [FILTERS, ORDER] {
        let terms = reading.arguments.get(argument).and_then(Json::as_array).into_iter().flatten();
        for (number, term) in terms.enumerate() {
            if let Some(name) = term.get("tv").and_then(Json::as_str) {
                wanted.push((Place::Of(argument, number), name));
            }
        }
    }
    wanted
}

/// What was asked, in one text: no name has a comma or a colon.
fn asked(wanted: &[(Place, &str)], otherwise: Otherwise) -> String {
    let mut asked = String::with_capacity(64);
    asked.push_str(match otherwise {
        Otherwise::Default => ":d",
        Otherwise::Nothing => "",
    });
    for (_, name) in wanted {
        asked.push(',');
        asked.push_str(name);
    }
    asked
}

fn strings<'a>(reading: &'a ToolInput, argument: &str) -> impl Iterator<Item = &'a str> + use<'a> {
    let items = reading.arguments.get(argument).and_then(Json::as_array);
    items.into_iter().flatten().filter_map(Json::as_str)
}

/// Whether somebody asks for what a variable has where a page has nothing.
fn needs_defaults(reading: &ToolInput) -> Otherwise {
    let shown = strings(reading, WITH).any(|entry| forms::marked(entry).1 == Otherwise::Default);
    let mut terms = [FILTERS, ORDER].into_iter().filter_map(|name| reading.arguments.get(name)?.as_array()).flatten();
    match shown || terms.any(|term| term.get("use_default").and_then(Json::as_bool) == Some(true)) {
        true => Otherwise::Default,
        false => Otherwise::Nothing,
    }
}

/// Of several variables with one name the newest counts, as in the original.
fn lookup(wanted: &[(Place, &str)], otherwise: Otherwise) -> Select {
    let mut columns = vec![column("id"), column("name")];
    match otherwise {
        Otherwise::Default => columns.push(column("default_text")),
        Otherwise::Nothing => {}
    }
    let names = wanted.iter().map(|(_, name)| Literal::Text((*name).to_owned())).collect();
    Select {
        from: (HERE, TABLE),
        joins: Vec::new(),
        columns,
        filter: vec![Predicate::AnyOf(column("name"), names)],
        order: vec![(column("id"), Direction::Descending)],
        offset: 0,
        limit: u64::try_from(wanted.len() * ALIKE).unwrap_or(u64::MAX),
        bytes: MOST_BYTES,
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
