//! Template variables by name. A name is looked up before anything else is asked, so only real variables are ever read
//! (E-14), and each becomes one table beside the documents.

use std::sync::Arc;

use frontdesk_engine::archive::{Join, Keeps, Name, Record, Select, Source, Term, Test, Value};
use frontdesk_engine::fault::Problem;
use frontdesk_engine::page::Direction;
use frontdesk_engine::reading::Reading;
use frontdesk_engine::schema::{Field, Schema, Text, optional};
use frontdesk_engine::{Fault, Permitted};
use serde_json::Value as Json;

use super::forms::{self, Otherwise};
use super::lately::Lately;
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
    known: Vec<Variable>,
    shown: Vec<(String, Otherwise)>,
}

#[derive(Debug)]
struct Variable {
    name: String,
    id: i64,
    default: Option<String>,
    source: Source,
}

/// The argument that asks for variables in the answer.
pub(super) fn with_tvs() -> Field {
    optional(
        WITH,
        Schema::list(Schema::Text(Text::Formed(&forms::ENTRY)), MOST),
        "Template variables to show with each page, by name; name:d shows the variable's default where a page has no \
         value.",
    )
}

impl Variables {
    /// Looks up every variable that checked arguments name.
    pub(super) async fn named(permitted: &Permitted<'_>, lately: &Lately) -> Result<Variables, Fault> {
        let (reading, archive, now) = (permitted.asked(), permitted.archive()?, permitted.now());
        let wanted = wanted(reading);
        if wanted.is_empty() {
            return Ok(Variables::default());
        }
        let asked = (wanted.iter().map(|(_, name)| name.clone()).collect(), needs_defaults(reading));
        let kept = lately.found(&asked, now);
        let found = match &kept {
            Some(found) => Arc::clone(found),
            None => Arc::new(archive.select(&lookup(&wanted, asked.1)).await?),
        };
        let mut variables = Variables::default();
        let mut problems = Vec::new();
        for (pointer, name) in &wanted {
            if variables.known.iter().any(|variable| variable.name == *name) {
                continue;
            }
            match found.iter().find_map(|record| variables.read(record, name)) {
                Some(_) if variables.known.len() >= MOST => return Err(too_many(pointer)),
                Some(variable) => variables.known.push(variable),
                None => problems.push(unknown(pointer)),
            }
        }
        if !problems.is_empty() {
            return Err(Fault::invalid(problems));
        }
        // A name that is not known yet is looked for each time; one that is grows old from when it was found.
        if kept.is_none() {
            lately.keep(asked, now, &found);
        }
        for entry in strings(reading, WITH) {
            variables.show(entry);
        }
        Ok(variables)
    }

    /// A name that is asked for twice is shown once, with its default if either asks for it.
    fn show(&mut self, entry: &str) {
        let (name, otherwise) = forms::marked(entry);
        match self.shown.iter_mut().find(|(shown, _)| shown == name) {
            Some((_, before)) if otherwise == Otherwise::Default => *before = Otherwise::Default,
            Some(_) => {}
            None => self.shown.push((name.to_owned(), otherwise)),
        }
    }

    /// The first record with exactly this name: a database may find others by its own idea of equality.
    fn read(&self, record: &Record, name: &str) -> Option<Variable> {
        let [id, found, more @ ..] = record.as_slice() else {
            return None;
        };
        let next = u8::try_from(self.known.len()).ok()?;
        (shapes::text(found)? == name).then_some(())?;
        Some(Variable {
            name: name.to_owned(),
            id: shapes::whole(id)?,
            default: more.first().and_then(shapes::text).map(|text| text.into_owned()),
            source: Source(FIRST_SOURCE.checked_add(next)?),
        })
    }

    pub(super) fn joins(&self) -> impl Iterator<Item = Join> {
        self.known.iter().map(|variable| Join {
            table: (variable.source, VALUES),
            on: vec![
                same(Term::Column(variable.source, "contentid"), column("id")),
                is(Term::Column(variable.source, "tmplvarid"), variable.id),
            ],
            keeps: Keeps::All,
        })
    }

    /// What a document has in the variable.
    pub(super) fn value(&self, name: &str, otherwise: Otherwise) -> Result<Term, Fault> {
        let known = self.known.iter().find(|variable| variable.name == name);
        let variable = known.ok_or_else(|| Fault::internal("a template variable was not looked up"))?;
        let value = Term::Column(variable.source, "value");
        Ok(match (otherwise, &variable.default) {
            (Otherwise::Default, Some(default)) => Term::Or(Box::new(value), default.clone()),
            (Otherwise::Default, None) | (Otherwise::Nothing, _) => value,
        })
    }

    /// The columns that were asked for.
    pub(super) fn columns(&self) -> Result<Vec<Term>, Fault> {
        self.shown.iter().map(|(name, otherwise)| self.value(name, *otherwise)).collect()
    }

    /// Their names, in the order in which they were asked for.
    pub(super) fn names(&self) -> Vec<String> {
        self.shown.iter().map(|(name, _)| name.clone()).collect()
    }
}

/// Each name with the place where it stands.
fn wanted(reading: &Reading) -> Vec<(String, String)> {
    let shown = strings(reading, WITH).into_iter().enumerate();
    let mut wanted: Vec<(String, String)> =
        shown.map(|(number, entry)| (format!("/{WITH}/{number}"), forms::marked(entry).0.to_owned())).collect();
    for argument in [FILTERS, ORDER] {
        let terms = reading.arguments.get(argument).and_then(Json::as_array).into_iter().flatten();
        for (number, term) in terms.enumerate() {
            if let Some(name) = term.get("tv").and_then(Json::as_str) {
                wanted.push((format!("/{argument}/{number}/tv"), name.to_owned()));
            }
        }
    }
    wanted
}

fn strings<'a>(reading: &'a Reading, argument: &str) -> Vec<&'a str> {
    let items = reading.arguments.get(argument).and_then(Json::as_array);
    items.into_iter().flatten().filter_map(Json::as_str).collect()
}

/// Whether somebody asks for what a variable has where a page has nothing.
fn needs_defaults(reading: &Reading) -> Otherwise {
    let shown = strings(reading, WITH).into_iter().any(|entry| forms::marked(entry).1 == Otherwise::Default);
    let mut terms = [FILTERS, ORDER].into_iter().filter_map(|name| reading.arguments.get(name)?.as_array()).flatten();
    match shown || terms.any(|term| term.get("use_default").and_then(Json::as_bool) == Some(true)) {
        true => Otherwise::Default,
        false => Otherwise::Nothing,
    }
}

/// Of several variables with one name the newest counts, as in the original.
fn lookup(wanted: &[(String, String)], otherwise: Otherwise) -> Select {
    let mut columns = vec![column("id"), column("name")];
    match otherwise {
        Otherwise::Default => columns.push(column("default_text")),
        Otherwise::Nothing => {}
    }
    Select {
        from: (HERE, TABLE),
        joins: Vec::new(),
        columns,
        tests: vec![Test::AnyOf(column("name"), wanted.iter().map(|(_, name)| Value::Text(name.clone())).collect())],
        order: vec![(column("id"), Direction::Falling)],
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
