//! Measures Frontdesk beside a bare server that runs the same statements over the same TLS, with a load generator
//! that checks every answer. It prints figures without judging them, and is never shipped.

mod attack;
mod call;
mod charts;
mod cms;
mod database;
mod growth;
mod imports;
mod lists;
mod load;
mod measure;
mod process;
mod reference;
mod report;
mod result_file;
mod seed;
mod start;
mod statement_log;
mod tomo;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use database::Database;
use report::{OutputFormat, Report};

pub type BenchResult<T> = Result<T, Box<dyn Error + Send + Sync>>;

const HELP: &str = "\
frontdesk-bench run --frontdesk BINARY --work FOLDER [--json] [--save NAME] [--only NAME] [--database NAME] [--call NAME] [--long]
frontdesk-bench attack --frontdesk BINARY --work FOLDER [--only NAME]
frontdesk-bench charts [RESULT]
frontdesk-bench reference --database FILE|URL --certificates FOLDER
frontdesk-bench reference --site FILE|URL --certificates FOLDER
frontdesk-bench reference --partner FILE --certificates FOLDER

--only is one of: start, get, search, create, growth, lists, import, cms, tomo
--database is one of: sqlite, postgres, mariadb (a CMS's only)
--call asks a CMS's site for the calls of this name only: get, search, descendants, ancestors";

/// The arguments of a run.
pub struct Options {
    pub frontdesk: PathBuf,
    /// Where data is generated. Large data is kept there for the next run.
    pub work: PathBuf,
    pub only: Option<String>,
    /// Only the calls of a CMS's site whose names begin with this.
    pub call: Option<String>,
    pub databases: Vec<Database>,
    /// Where a CMS's site is read from.
    pub sites: Vec<cms::Database>,
    pub format: OutputFormat,
    /// The name under which the result is kept, besides being printed.
    pub save: Option<String>,
    pub sizes: DataSizes,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum DataSizes {
    Default,
    /// Also the largest data, which takes long to make and some 10 GB of disk.
    All,
}

const PARTS: &[&str] = &["start", "get", "search", "create", "growth", "lists", "import", "cms", "tomo"];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match command(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn command(arguments: &[String]) -> BenchResult<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match arguments.split_first() {
        Some((first, rest)) if first == "charts" => draw_charts(rest.first()),
        Some((first, rest)) if first == "run" => runtime.block_on(run(&parse_options(rest)?)),
        Some((first, rest)) if first == "attack" => {
            // One thread, so that the attacker leaves a core to whom it attacks.
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
            runtime.block_on(attack::run(&attack_options(rest)?))
        }
        Some((first, rest)) if first == "reference" => {
            let certificates = value(rest, "--certificates").ok_or(HELP)?.into();
            match (value(rest, "--site"), value(rest, "--partner")) {
                (Some(site), _) => runtime.block_on(cms::serve(site, certificates)),
                (None, Some(file)) => runtime.block_on(tomo::serve(file, certificates)),
                (None, None) => {
                    runtime.block_on(reference::serve(value(rest, "--database").ok_or(HELP)?, certificates))
                }
            }
        }
        Some(_) | None => Err(HELP.into()),
    }
}

fn draw_charts(result: Option<&String>) -> BenchResult<()> {
    let result = result.map_or_else(result_file::newest, |path| Ok(PathBuf::from(path)))?;
    for path in charts::draw(&result)? {
        eprintln!("{path} drawn from {}", result.display());
    }
    Ok(())
}

async fn run(options: &Options) -> BenchResult<()> {
    let load_before = result_file::load_average();
    let mut report = Report::default();
    for database in &options.databases {
        if options.includes("start") {
            report.starts.extend(start::measure(options, *database).await?);
        }
        report.rows.extend(measure::calls(options, *database).await?);
        if options.includes("growth") {
            report.growth.extend(growth::measure(options, *database).await?);
        }
        if options.includes("import") {
            report.imports.push(imports::measure(options, *database).await?);
        }
        if options.includes("lists") && *database == Database::Sqlite {
            report.lists.extend(lists::measure(options).await?);
        }
        if options.includes("tomo") && *database == Database::Sqlite {
            report.rows.extend(tomo::measure(options).await?);
        }
    }
    if options.includes("cms") {
        for database in &options.sites {
            report.sites.extend(cms::measure(options, *database).await?);
        }
    }
    report.print(options.format);
    if let Some(name) = &options.save {
        options.log(&format!("saved as {}", result_file::save(&report, name, load_before)?.display()));
    }
    Ok(())
}

impl Options {
    pub fn includes(&self, part: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == part)
    }

    pub fn includes_call(&self, name: &str) -> bool {
        self.call.as_deref().is_none_or(|call| name.starts_with(call))
    }

    /// A line about the progress; standard output is for the result.
    pub fn log(&self, line: &str) {
        eprintln!("{line}");
    }
}

fn parse_options(arguments: &[String]) -> BenchResult<Options> {
    let only = value(arguments, "--only").map(str::to_owned);
    if let Some(name) = &only
        && !PARTS.contains(&name.as_str())
    {
        return Err(format!("no part is called `{name}`; the parts are: {}", PARTS.join(", ")).into());
    }
    let named = value(arguments, "--database");
    let is_wanted = |name: &str| named.is_none_or(|named| named == name);
    let databases: Vec<Database> = Database::ALL.iter().copied().filter(|one| is_wanted(one.name())).collect();
    let sites: Vec<cms::Database> = cms::Database::ALL.iter().copied().filter(|one| is_wanted(one.name())).collect();
    if sites.is_empty() {
        return Err("there is no such database; the databases are: sqlite, postgres, mariadb".into());
    }
    let has = |name: &str| arguments.iter().any(|word| word == name);
    Ok(Options {
        frontdesk: value(arguments, "--frontdesk").ok_or(HELP)?.into(),
        work: value(arguments, "--work").ok_or(HELP)?.into(),
        only,
        call: value(arguments, "--call").map(str::to_owned),
        databases,
        sites,
        save: value(arguments, "--save").map(str::to_owned),
        format: if has("--json") { OutputFormat::Json } else { OutputFormat::Table },
        sizes: if has("--long") { DataSizes::All } else { DataSizes::Default },
    })
}

fn attack_options(arguments: &[String]) -> BenchResult<attack::AttackOptions> {
    let only = value(arguments, "--only").map(str::to_owned);
    Ok(attack::AttackOptions {
        frontdesk: value(arguments, "--frontdesk").ok_or(HELP)?.into(),
        work: value(arguments, "--work").ok_or(HELP)?.into(),
        // A page has all of it or is not written.
        page: only.is_none().then(|| PathBuf::from("docs/security-figures.md")),
        only,
    })
}

fn value<'a>(arguments: &'a [String], name: &str) -> Option<&'a str> {
    let at = arguments.iter().position(|word| word == name)?;
    arguments.get(at + 1).map(String::as_str)
}
