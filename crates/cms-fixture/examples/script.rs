//! Writes a made-up CMS site as SQL: `cargo run -p frontdesk-cms-fixture --example script -- sqlite 50000 > site.sql`, for `sqlite`,
//! `mysql` or `postgres`; 260 documents if no number is given.

use std::io::{self, Write as _};
use std::process::ExitCode;

use frontdesk_cms_fixture::{CmsSite, SMALL_SITE_DOCUMENTS, ScriptDialect};

fn main() -> io::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let dialect = match arguments.first().map(String::as_str) {
        Some("sqlite") => ScriptDialect::Sqlite,
        Some("mysql" | "mariadb") => ScriptDialect::Mysql,
        Some("postgres") => ScriptDialect::Postgres,
        Some(_) | None => {
            writeln!(io::stderr(), "Usage: script sqlite|mysql|postgres [number of documents]")?;
            return Ok(ExitCode::FAILURE);
        }
    };
    let documents = arguments.get(1).and_then(|number| number.parse().ok()).unwrap_or(SMALL_SITE_DOCUMENTS);
    let mut out = io::BufWriter::new(io::stdout().lock());
    CmsSite::with_documents(documents).write(dialect, &mut out)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
