//! Measures Frontdesk beside a bare server that runs the same statements over the same TLS, with a load generator
//! that checks every answer. It measures and says; it never judges, and ships with nothing.

mod call;
mod charts;
mod cms;
mod database;
mod growth;
mod load;
#[expect(dead_code, reason = "the tests of the store use the rest")]
#[path = "../../crates/store/tests/site_db/mariadb.rs"]
mod mariadb;
mod measure;
mod overheard;
#[expect(dead_code, reason = "the tests of the store use the rest")]
#[path = "../../crates/store/tests/postgres/server.rs"]
mod postgres;
mod process;
mod reference;
mod report;
mod result_file;
mod seed;
mod start;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use database::Database;
use report::{Form, Report};

pub type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const HELP: &str = "\
frontdesk-bench run --frontdesk BINARY --work FOLDER [--json] [--save NAME] [--only NAME] [--database NAME] [--call NAME] [--long]
frontdesk-bench charts [RESULT]
frontdesk-bench reference --database FILE|URL --certificates FOLDER
frontdesk-bench reference --site FILE|URL --certificates FOLDER

--only is one of: start, get, search, create, growth, cms
--database is one of: sqlite, postgres, mariadb (a CMS's only)
--call asks a CMS's site for the calls of this name only: get, search, descendants, ancestors";

/// What a run is asked to do.
pub struct Wish {
    pub frontdesk: PathBuf,
    /// Where data is made. What took long to make is kept there for the next run.
    pub work: PathBuf,
    pub only: Option<String>,
    /// What the calls of a CMS's site must be called.
    pub call: Option<String>,
    pub databases: Vec<Database>,
    /// Where a CMS's site is read from.
    pub sites: Vec<cms::Database>,
    pub form: Form,
    /// The name under which the result is kept, besides being printed.
    pub save: Option<String>,
    pub extent: Extent,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    Usual,
    /// Also the largest data, which takes long to make and some 10 GB of disk.
    Long,
}

const PARTS: &[&str] = &["start", "get", "search", "create", "growth", "cms"];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match command(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn command(words: &[String]) -> Outcome<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match words.split_first() {
        Some((first, rest)) if first == "charts" => draw_charts(rest.first()),
        Some((first, rest)) if first == "run" => runtime.block_on(run(&wish(rest)?)),
        Some((first, rest)) if first == "reference" => {
            let certificates = value(rest, "--certificates").ok_or(HELP)?.into();
            match value(rest, "--site") {
                Some(site) => runtime.block_on(cms::serve(site, certificates)),
                None => runtime.block_on(reference::serve(value(rest, "--database").ok_or(HELP)?, certificates)),
            }
        }
        Some(_) | None => Err(HELP.into()),
    }
}

fn draw_charts(result: Option<&String>) -> Outcome<()> {
    let result = result.map_or_else(result_file::newest, |path| Ok(PathBuf::from(path)))?;
    for path in charts::draw(&result)? {
        eprintln!("{path} drawn from {}", result.display());
    }
    Ok(())
}

async fn run(wish: &Wish) -> Outcome<()> {
    let load_before = result_file::load_average();
    let mut report = Report::default();
    for database in &wish.databases {
        if wish.wants("start") {
            report.starts.extend(start::measure(wish, *database).await?);
        }
        report.rows.extend(measure::calls(wish, *database).await?);
        if wish.wants("growth") {
            report.growth.extend(growth::measure(wish, *database).await?);
        }
    }
    if wish.wants("cms") {
        for database in &wish.sites {
            report.sites.extend(cms::measure(wish, *database).await?);
        }
    }
    report.print(wish.form);
    if let Some(name) = &wish.save {
        wish.say(&format!("saved as {}", result_file::save(&report, name, load_before)?.display()));
    }
    Ok(())
}

impl Wish {
    pub fn wants(&self, part: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == part)
    }

    pub fn wants_call(&self, name: &str) -> bool {
        self.call.as_deref().is_none_or(|call| name.starts_with(call))
    }

    /// A line for whoever waits; standard output is for the result.
    pub fn say(&self, line: &str) {
        eprintln!("{line}");
    }
}

fn wish(words: &[String]) -> Outcome<Wish> {
    let only = value(words, "--only").map(str::to_owned);
    if let Some(name) = &only
        && !PARTS.contains(&name.as_str())
    {
        return Err(format!("no part is called `{name}`; the parts are: {}", PARTS.join(", ")).into());
    }
    let named = value(words, "--database");
    let is_wanted = |name: &str| named.is_none_or(|named| named == name);
    let databases: Vec<Database> = Database::ALL.iter().copied().filter(|one| is_wanted(one.name())).collect();
    let sites: Vec<cms::Database> = cms::Database::ALL.iter().copied().filter(|one| is_wanted(one.name())).collect();
    if sites.is_empty() {
        return Err("there is no such database; the databases are: sqlite, postgres, mariadb".into());
    }
    let has = |name: &str| words.iter().any(|word| word == name);
    Ok(Wish {
        frontdesk: value(words, "--frontdesk").ok_or(HELP)?.into(),
        work: value(words, "--work").ok_or(HELP)?.into(),
        only,
        call: value(words, "--call").map(str::to_owned),
        databases,
        sites,
        save: value(words, "--save").map(str::to_owned),
        form: if has("--json") { Form::Json } else { Form::Table },
        extent: if has("--long") { Extent::Long } else { Extent::Usual },
    })
}

fn value<'a>(words: &'a [String], name: &str) -> Option<&'a str> {
    let at = words.iter().position(|word| word == name)?;
    words.get(at + 1).map(String::as_str)
}
