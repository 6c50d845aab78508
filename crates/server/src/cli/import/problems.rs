//! The list of wrong rows: a CSV file with line, column and reason. It is written as the rows are checked, and exists only
//! if there are any.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use frontdesk_engine::import::RowProblem;

use crate::cli::CliError;

pub(super) struct ProblemFile {
    path: PathBuf,
    file: Option<BufWriter<File>>,
}

impl ProblemFile {
    /// The list of an earlier run is removed.
    pub(super) fn new(feed: &Path, named: Option<PathBuf>) -> ProblemFile {
        let path = named.unwrap_or_else(|| feed.with_added_extension("errors.csv"));
        let _ = std::fs::remove_file(&path);
        ProblemFile { path, file: None }
    }

    pub(super) fn add(&mut self, line: u64, problems: &[RowProblem]) -> Result<(), CliError> {
        let failed = |error: std::io::Error| {
            format!("cannot write {}: {error}; name another file with --errors", self.path.display())
        };
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let mut file = BufWriter::new(File::create(&self.path).map_err(failed)?);
                writeln!(file, "line,column,reason").map_err(failed)?;
                self.file.insert(file)
            }
        };
        for RowProblem { field, reason } in problems {
            writeln!(file, "{line},{},{}", quoted(field.trim_start_matches('/')), quoted(reason)).map_err(failed)?;
        }
        Ok(())
    }

    /// Removes it: a list of only some of the wrong rows would look complete.
    pub(super) fn discard(&mut self) {
        if self.file.take().is_some() {
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// Where it is, if anything was wrong.
    pub(super) fn finish(&mut self) -> Result<Option<PathBuf>, CliError> {
        match self.file.take() {
            Some(mut file) => {
                file.flush()?;
                Ok(Some(self.path.clone()))
            }
            None => Ok(None),
        }
    }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
