//! Writes a made-up site as SQL: `cargo run -p frontdesk-site --example script -- sqlite 50000 > site.sql`, for `sqlite`,
//! `mysql` or `postgres`; 260 documents if no number is given.

use std::io::{self, Write as _};
use std::process::ExitCode;

use frontdesk_site::{Database, SMALL, Site};

fn main() -> io::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let database = match arguments.first().map(String::as_str) {
        Some("sqlite") => Database::Sqlite,
        Some("mysql" | "mariadb") => Database::Mysql,
        Some("postgres") => Database::Postgres,
        Some(_) | None => {
            writeln!(io::stderr(), "Say sqlite, mysql or postgres, and how many documents.")?;
            return Ok(ExitCode::FAILURE);
        }
    };
    let documents = arguments.get(1).and_then(|number| number.parse().ok()).unwrap_or(SMALL);
    let mut out = io::BufWriter::new(io::stdout().lock());
    Site::of(documents).write(database, &mut out)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
