//! The list of wrong rows: a CSV file with line, column and reason. It is written as the rows are checked, and exists only
//! if there are any.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use frontdesk_contracts::feed::escape_formula;
use frontdesk_engine::import::RowProblem;

use crate::cli::CliError;

pub(super) struct ProblemFile {
    path: PathBuf,
    /// By whoever runs the import.
    is_named: bool,
    file: Option<BufWriter<File>>,
}

impl ProblemFile {
    /// The list of an earlier run is removed. A link that somebody has put into the feed's folder is not followed; whoever
    /// names a device or a link means it.
    pub(super) fn new(feed: &Path, named: Option<PathBuf>) -> Result<ProblemFile, CliError> {
        let is_named = named.is_some();
        let path = named.unwrap_or_else(|| feed.with_added_extension("errors.csv"));
        if let (Ok(list), Ok(feed)) = (path.canonicalize(), feed.canonicalize())
            && list == feed
        {
            return Err("--errors names the feed itself; name another file".into());
        }
        let is_removed = |found: &std::fs::Metadata| found.is_file() || (found.is_symlink() && !is_named);
        if std::fs::symlink_metadata(&path).is_ok_and(|found| is_removed(&found)) {
            let _ = std::fs::remove_file(&path);
        }
        Ok(ProblemFile { path, is_named, file: None })
    }

    pub(super) fn add(&mut self, line: u64, problems: &[RowProblem]) -> Result<(), CliError> {
        let failed = |error: std::io::Error| {
            format!("cannot write {}: {error}; name another file with --errors", self.path.display())
        };
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let mut options = File::options();
                options.write(true).truncate(self.is_named).create(self.is_named).create_new(!self.is_named);
                let mut file = BufWriter::new(options.open(&self.path).map_err(failed)?);
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

    /// Where it is, if anything was wrong. More can be added.
    pub(super) fn finish(&mut self) -> Result<Option<PathBuf>, CliError> {
        match &mut self.file {
            Some(file) => {
                file.flush()?;
                Ok(Some(self.path.clone()))
            }
            None => Ok(None),
        }
    }
}

/// Names of columns come from the feed, and the list is opened in a spreadsheet.
fn quoted(text: &str) -> String {
    let text = escape_formula(text.to_owned());
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_columns_are_no_formulas() {
        assert_eq!(quoted("=HYPERLINK(\"http://x\",1)"), "\"'=HYPERLINK(\"\"http://x\"\",1)\"");
        assert_eq!((quoted("@x"), quoted("price")), ("'@x".to_owned(), "price".to_owned()));
    }
}
