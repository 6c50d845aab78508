//! `frontdesk import`: brings the records of a file in. Every row is checked before the first is applied; each becomes the
//! create or the update that the tool of its kind would make.

mod problems;
mod run;
mod source;

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use frontdesk_engine::import::ImportCounts;
use serde_json::json;

use super::{CliError, DataArgs, StoreGuard, counted, run_server};
use run::{Ending, ImportRun};

/// Bring the records of a file in: new ones are added, others changed.
#[derive(Debug, Args)]
#[command(
    long_about = "Reads a CSV, JSON or JSON lines file, checks every row, and then applies them: a row adds the record that \
        it is about, or changes what it says otherwise. Columns are recognised by the names of fields and by those of \
        common feeds; the command shows which column becomes what, and a mapping file says otherwise.\n\n\
        If a row is wrong, nothing is applied, and a file beside the feed lists the line and the reason. An import that \
        was interrupted is completed by running it again, and running it twice changes nothing. It works while a server \
        is running on the same data folder; others continue to read and write meanwhile.",
    after_help = "\
Examples:
  frontdesk import RECORDS stock.csv --dry-run
  frontdesk import RECORDS stock.csv --tenant TENANT_ID --withdraw-missing
  frontdesk import RECORDS stock.csv --map mapping.toml --skip-bad-rows
  frontdesk import RECORDS messages.xml --consent email --consent voice_call

`frontdesk import x FILE` lists the kinds of records.

A mapping file, everything in it optional:
  [columns]
  \"Unit No\" = \"stock_number\"
  [values.status]
  \"Frontline\" = \"available\"
  [defaults]
  currency = \"USD\"
  distance = \"mi\""
)]
pub(super) struct ImportArgs {
    /// What the rows are, in the plural; an unknown name is refused with the list of those that exist
    #[arg(value_name = "RECORDS")]
    resource: String,
    /// A CSV, JSON or JSON lines file; for some records also an XML file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The tenant that the records are for [default: the only one]
    #[arg(long, value_name = "ID")]
    tenant: Option<String>,
    /// How columns and words of the file are meant (TOML)
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
    /// Apply the other rows although some are wrong
    #[arg(long)]
    skip_bad_rows: bool,
    /// Accept a file that has only some of the fields, to change records that exist
    #[arg(long)]
    partial: bool,
    /// Withdraw the records that the file does not list
    #[arg(long)]
    withdraw_missing: bool,
    /// Withdraw nothing if more than this share of all records is missing, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 50, value_parser = clap::value_parser!(u8).range(0..=100))]
    withdraw_limit: u8,
    /// The currency of amounts without one, such as USD [default: the tenant's]
    #[arg(long, value_name = "CODE")]
    currency: Option<String>,
    /// You state that everybody in an XML file agreed to be contacted this way, where the file does not say
    #[arg(long, value_name = "CHANNEL", num_args = 1..)]
    consent: Vec<String>,
    /// Where wrong rows are listed [default: FILE.errors.csv]
    #[arg(long, value_name = "FILE")]
    errors: Option<PathBuf>,
    #[command(flatten)]
    data: DataArgs,
    /// Print the result as one line of JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: ImportArgs) -> Result<ExitCode, CliError> {
    let guard = StoreGuard::default();
    run_server(&guard, import(args, &guard))
}

async fn import(args: ImportArgs, guard: &StoreGuard) -> Result<ExitCode, CliError> {
    let json = args.json;
    let name = args.file.display().to_string();
    let run = ImportRun::open(args, guard).await?;
    if !json {
        write!(io::stderr().lock(), "{}", run.describe())?;
    }
    let ending = run.run().await?;
    let mut out = io::stdout().lock();
    if json {
        writeln!(out, "{}", json_line(&ending))?;
    } else {
        writeln!(out, "{name}: {}", text(&ending))?;
    }
    Ok(match ending {
        Ending::Rejected { .. } => ExitCode::FAILURE,
        Ending::Checked(_) | Ending::Applied { .. } | Ending::Earlier { .. } => ExitCode::SUCCESS,
    })
}

fn text(ending: &Ending) -> String {
    match ending {
        Ending::Checked(counts) => format!("{} Nothing was changed (--dry-run).", sentence(counts)),
        Ending::Earlier { at } => format!("this file was imported at {at}. Nothing was changed."),
        Ending::Applied { counts, problems, notes, .. } => {
            let nothing = counts.created + counts.updated + counts.withdrawn == 0;
            let mut text = sentence(counts);
            if nothing {
                text.push_str(" Nothing was changed.");
            }
            if let Some(file) = problems {
                text.push_str(&format!(" The rows that were left out are listed in {}.", file.display()));
            }
            for note in notes {
                text.push_str(&format!("\n  {note}"));
            }
            text
        }
        Ending::Rejected { counts, problems } => format!(
            "{} of {} {} wrong, and nothing was changed. {} lists each line with the reason. Correct them, or leave them \
             out with --skip-bad-rows.",
            counts.rejected,
            counted(counts.rows, "row"),
            if counts.rejected == 1 { "is" } else { "are" },
            problems.display()
        ),
    }
}

fn sentence(counts: &ImportCounts) -> String {
    let ImportCounts { rows, created, updated, unchanged, rejected, withdrawn } = counts;
    let mut text = format!("{}: {created} new, {updated} changed, {unchanged} unchanged", counted(*rows, "row"));
    if *rejected > 0 {
        text.push_str(&format!(", {rejected} wrong"));
    }
    if *withdrawn > 0 {
        text.push_str(&format!("; {withdrawn} withdrawn"));
    }
    text.push('.');
    text
}

fn json_line(ending: &Ending) -> serde_json::Value {
    match ending {
        Ending::Checked(counts) => json!({"status": "checked", "counts": counts}),
        Ending::Earlier { at } => json!({"status": "imported_before", "at": at}),
        Ending::Applied { import, counts, problems, notes } => json!({
            "status": "completed", "import": import, "counts": counts, "problems": problems, "notes": notes,
        }),
        Ending::Rejected { counts, problems } => {
            json!({"status": "rejected", "counts": counts, "problems": problems})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_is_said_in_one_sentence() {
        let counts = ImportCounts { rows: 3, created: 1, updated: 1, rejected: 1, ..ImportCounts::default() };
        assert_eq!(sentence(&counts), "3 rows: 1 new, 1 changed, 0 unchanged, 1 wrong.");
        let ending = Ending::Applied {
            import: String::new(),
            counts: ImportCounts { rows: 1, unchanged: 1, ..ImportCounts::default() },
            problems: None,
            notes: Vec::new(),
        };
        assert_eq!(text(&ending), "1 row: 0 new, 0 changed, 1 unchanged. Nothing was changed.");
        let counts = ImportCounts { rows: 2, withdrawn: 4, unchanged: 2, ..ImportCounts::default() };
        assert_eq!(sentence(&counts), "2 rows: 0 new, 0 changed, 2 unchanged; 4 withdrawn.");
    }
}
