//! The bare server that reads a site: for each call the statements that Frontdesk sends, their values put in, and the
//! rows written out as they come. It remembers names of variables as long as Frontdesk does, and checks nothing.

mod mysql;
mod postgres;
mod sqlite;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use frontdesk_engine::ports::site_db::Select;
use frontdesk_store::site_db::SiteDbSettings;
use frontdesk_store::statements::site::{SiteQuery, SqlParam, queries};
use frontdesk_testkit::sites::emcp_queries as expected_queries;
use frontdesk_wire::answer::quote;
use serde::Deserialize;

use super::call::{COLOR, DEPTH};
use crate::BenchResult;
use crate::reference::{Message, Params, Responder, answered, listen};
use mysql::Mysql;
use postgres::Postgres;
use sqlite::Sqlite;

/// Serves a site until it is killed.
pub async fn serve(url: &str, certificates: PathBuf) -> BenchResult<()> {
    let made = queries(&SiteDbSettings::new(url, "evo_"), &Texts::selects()).await?;
    let texts = Texts::new(made).ok_or("too few statements")?;
    match url.split_once("://") {
        Some(("mysql", _)) => listen(Reader { base: Mysql::connect(url).await?, texts }, certificates).await,
        Some(("postgres", _)) => listen(Reader { base: Postgres::connect(url).await?, texts }, certificates).await,
        Some(_) | None => listen(Reader { base: Sqlite::new(url), texts }, certificates).await,
    }
}

/// A database that is asked with finished statements.
trait Base: Send + Sync + 'static {
    /// Ids and names of variables.
    fn variables(&self, asked: &Query) -> impl Future<Output = BenchResult<Vec<(i64, String)>>> + Send;

    /// Documents with these variables, each behind a comma but the first, and how many they are.
    fn documents(&self, asked: &Query, names: &[String]) -> impl Future<Output = BenchResult<(String, usize)>> + Send;
}

struct Query<'a> {
    text: &'a str,
    rows: Rows,
    values: Vec<SqlParam>,
}

/// How many rows a statement is for; PostgreSQL is told to plan those for many anew each time, as by Frontdesk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rows {
    One,
    Many,
}

/// A row as its driver has it.
trait Row {
    fn whole(&self, column: usize) -> BenchResult<i64>;
    fn text(&self, column: usize) -> BenchResult<Option<&str>>;
}

enum Type {
    Whole,
    Truth,
    Text,
}

use Type::{Text, Truth, Whole};

const FIELDS: [(&str, Type); 17] = [
    ("id", Whole),
    ("parent", Whole),
    ("pagetitle", Text),
    ("longtitle", Text),
    ("description", Text),
    ("alias", Text),
    ("published", Whole),
    ("deleted", Whole),
    ("hidemenu", Truth),
    ("menuindex", Whole),
    ("template", Whole),
    ("createdon", Whole),
    ("editedon", Whole),
    ("pub_date", Whole),
    ("unpub_date", Whole),
    ("isfolder", Whole),
    ("type", Text),
];

fn write(row: &impl Row, variables: &[String], out: &mut String) -> BenchResult<()> {
    let text = |column| row.text(column).map(|text| text.map_or_else(|| "null".to_owned(), quote));
    out.push_str(if out.is_empty() { "{" } else { ",{" });
    for (column, (name, kind)) in FIELDS.iter().enumerate() {
        out.push_str(if column == 0 { "\"" } else { ",\"" });
        out.push_str(name);
        out.push_str("\":");
        match kind {
            Whole => out.push_str(&row.whole(column)?.to_string()),
            Truth => out.push_str(if row.whole(column)? == 0 { "false" } else { "true" }),
            Text => out.push_str(&text(column)?),
        }
    }
    for (number, name) in variables.iter().enumerate() {
        out.push_str(if number == 0 { ",\"tvs\":{\"" } else { ",\"" });
        out.push_str(name);
        out.push_str("\":");
        out.push_str(&text(FIELDS.len() + number)?);
    }
    out.push_str(if variables.is_empty() { "}" } else { "}}" });
    Ok(())
}

/// Where a value of the call stands among those of a statement.
#[derive(Clone, Copy)]
enum Slot {
    Id,
    Offset,
    Variable(usize),
}

/// A statement whose values are partly a call's.
struct Template {
    text: String,
    values: Vec<SqlParam>,
    slots: Vec<(usize, Slot)>,
    rows: Rows,
}

/// Numbers that stand for a call's values; no statement has them otherwise.
const ID: i64 = 900_000_001;
const OFFSET: u64 = 900_000_002;
const VARIABLES: [i64; 2] = [900_000_003, 900_000_004];

impl Template {
    fn new((statement, rows): (SiteQuery, Rows)) -> Template {
        let slot = |value: &SqlParam| match value {
            SqlParam::Integer(ID) => Some(Slot::Id),
            SqlParam::Integer(number) if *number == OFFSET as i64 => Some(Slot::Offset),
            SqlParam::Integer(number) => VARIABLES.iter().position(|one| one == number).map(Slot::Variable),
            SqlParam::Text(_) | SqlParam::SortKey(_) => None,
        };
        let slots = statement.params.iter().enumerate().filter_map(|(at, value)| Some((at, slot(value)?))).collect();
        Template { text: statement.sql, values: statement.params, slots, rows }
    }

    fn fill(&self, arguments: &Arguments, variables: &[i64]) -> Query<'_> {
        let mut values = self.values.clone();
        for (at, slot) in &self.slots {
            let value = match slot {
                Slot::Id => arguments.id,
                Slot::Offset => arguments.offset,
                Slot::Variable(number) => variables.get(*number).copied(),
            };
            if let Some(place) = values.get_mut(*at) {
                *place = SqlParam::Integer(value.unwrap_or_default());
            }
        }
        Query { text: &self.text, values, rows: self.rows }
    }
}

/// As long as Frontdesk knows the names of variables.
const CACHE_TIME: Duration = Duration::from_secs(1);

/// Ids and names of variables.
type VariableNames = Arc<Vec<(i64, String)>>;

/// The names that a call asks for, and what they were found to be a moment ago.
struct CachedNames {
    asked: Template,
    cache: Mutex<Option<(Instant, VariableNames)>>,
}

impl CachedNames {
    fn new(asked: Template) -> CachedNames {
        CachedNames { asked, cache: Mutex::default() }
    }

    async fn known(&self, base: &impl Base, given: &Arguments) -> BenchResult<VariableNames> {
        let cache = || self.cache.lock().map_err(|_| "a thread has ended in the middle");
        if let Some((at, known)) = cache()?.as_ref()
            && at.elapsed() < CACHE_TIME
        {
            return Ok(Arc::clone(known));
        }
        let known = Arc::new(base.variables(&self.asked.fill(given, &[])).await?);
        *cache()? = Some((Instant::now(), Arc::clone(&known)));
        Ok(known)
    }
}

struct Texts {
    of_page: CachedNames,
    page: Template,
    of_search: CachedNames,
    search: Template,
    below: Template,
    above: Template,
}

impl Texts {
    /// One page is all that `page` finds.
    const ROWS: [Rows; 6] = [Rows::Many, Rows::One, Rows::Many, Rows::Many, Rows::Many, Rows::Many];

    fn selects() -> [Select; 6] {
        [
            expected_queries::variables(&["price", "sku"]),
            expected_queries::page(ID, &VARIABLES),
            expected_queries::variables(&["price", "color", "color"]),
            expected_queries::search(&VARIABLES, COLOR, 25, OFFSET),
            expected_queries::descendants(ID, DEPTH, 100, OFFSET),
            expected_queries::ancestors(ID, 100),
        ]
    }

    fn new(made: Vec<SiteQuery>) -> Option<Texts> {
        let mut made = made.into_iter().zip(Texts::ROWS).map(Template::new);
        Some(Texts {
            of_page: CachedNames::new(made.next()?),
            page: made.next()?,
            of_search: CachedNames::new(made.next()?),
            search: made.next()?,
            below: made.next()?,
            above: made.next()?,
        })
    }
}

#[derive(Deserialize)]
struct Arguments {
    id: Option<i64>,
    limit: Option<i64>,
    offset: Option<i64>,
    #[serde(default)]
    with_tvs: Vec<String>,
}

struct Reader<B> {
    base: B,
    texts: Texts,
}

impl<B: Base> Responder for Reader<B> {
    async fn answer(&self, message: &[u8]) -> BenchResult<Vec<u8>> {
        let message: Message<Arguments> = serde_json::from_slice(message)?;
        let Params { name, arguments, meta } = message.params;
        let texts = &self.texts;
        let object = match name.as_str() {
            "evo.content.get" => {
                let (items, _) = self.read(Some(&texts.of_page), &texts.page, &arguments).await?;
                format!("{{\"item\":{items},\"meta\":{{\"toolsetVersion\":\"1.0\"}}}}")
            }
            "evo.content.search" => self.list(Some(&texts.of_search), &texts.search, &arguments).await?,
            "evo.content.descendants" => self.list(None, &texts.below, &arguments).await?,
            "evo.content.ancestors" => self.list(None, &texts.above, &arguments).await?,
            _ => return Err("no such tool".into()),
        };
        Ok(answered(message.id, &object, meta.as_ref()))
    }
}

impl<B: Base> Reader<B> {
    async fn read(&self, of: Option<&CachedNames>, rows: &Template, given: &Arguments) -> BenchResult<(String, usize)> {
        let mut ids = Vec::new();
        if let Some(of) = of {
            let known = of.known(&self.base, given).await?;
            let id = |name: &String| known.iter().find(|(_, known)| known == name).map(|(id, _)| *id);
            ids.extend(given.with_tvs.iter().filter_map(id));
        }
        self.base.documents(&rows.fill(given, &ids), &given.with_tvs).await
    }

    async fn list(&self, of: Option<&CachedNames>, rows: &Template, given: &Arguments) -> BenchResult<String> {
        let (items, count) = self.read(of, rows, given).await?;
        let (limit, offset) = (given.limit.unwrap_or_default(), given.offset.unwrap_or_default());
        Ok(format!(
            "{{\"items\":[{items}],\"meta\":{{\"limit\":{limit},\"offset\":{offset},\"count\":{count},\"toolsetVersion\":\"1.0\"}}}}"
        ))
    }
}
