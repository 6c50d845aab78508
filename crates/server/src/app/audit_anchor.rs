//! The file of audit anchors: signed lines that are only ever appended. Keep it on another machine or medium than the
//! data; who can write to both can put back both.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::seal::SealKey;
use frontdesk_store::audit::AnchorStart;
use frontdesk_store::transfer::DataLocation;
use frontdesk_store::{AuditReader, PostgresAudit, StoreError};
use tokio::runtime::Handle;

use crate::config::DatabaseConfig;
use crate::data_dir;

/// How much of the file's end is read at a time.
const CHUNK: u64 = 64 * 1024;

/// The database whose chains are anchored.
#[derive(Clone)]
pub(crate) struct AnchorSource {
    pub(crate) data: std::path::PathBuf,
    pub(crate) database: DatabaseConfig,
    pub(crate) root: SealKey,
}

/// Whether there was something to append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Appended {
    Line,
    Nothing,
}

impl AnchorSource {
    pub(crate) fn location(&self) -> DataLocation {
        match &self.database {
            DatabaseConfig::Embedded => DataLocation::Sqlite(data_dir::database_file(&self.data)),
            DatabaseConfig::Postgres(address) => DataLocation::Postgres(address.clone()),
        }
    }

    /// The next anchor. Blocks the thread.
    pub(crate) fn line(&self, start: &AnchorStart, at: Millis, runtime: &Handle) -> Result<Option<String>, StoreError> {
        match &self.database {
            DatabaseConfig::Embedded => {
                AuditReader::open(&data_dir::database_file(&self.data), &self.root).anchor(start, at)
            }
            DatabaseConfig::Postgres(address) => {
                runtime.block_on(async { PostgresAudit::open(address, &self.root).await?.anchor(start, at).await })
            }
        }
    }

    /// Appends an anchor to the file if the chains have grown since its last one. Blocks the thread.
    pub(crate) fn append(&self, file: &Path, at: Millis, runtime: &Handle) -> Result<Appended, StoreError> {
        let failed = |error| StoreError::Io { path: file.to_owned(), error };
        let start = match last_line(file).map_err(failed)? {
            Some(line) => AnchorStart::after_line(&line)?,
            None => AnchorStart::default(),
        };
        match self.line(&start, at, runtime)? {
            Some(line) => append_line(file, &line).map(|()| Appended::Line).map_err(failed),
            None => Ok(Appended::Nothing),
        }
    }
}

/// Every line of the file, one after the other.
pub(crate) fn lines(file: &Path) -> io::Result<impl Iterator<Item = io::Result<String>>> {
    Ok(BufReader::new(File::open(file)?).lines())
}

/// The last complete line. One that a crash has left incomplete is cut off: it was never an anchor.
fn last_line(path: &Path) -> io::Result<Option<String>> {
    let mut file = match OpenOptions::new().read(true).write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let length = file.seek(SeekFrom::End(0))?;
    let mut begin = length;
    let mut end = Vec::new();
    // Until it has a line feed before the last line's.
    while begin > 0 && end.iter().filter(|byte| **byte == b'\n').count() < 2 {
        let size = begin.min(CHUNK);
        begin -= size;
        file.seek(SeekFrom::Start(begin))?;
        let mut chunk = vec![0; usize::try_from(size).unwrap_or_default()];
        file.read_exact(&mut chunk)?;
        chunk.extend(end);
        end = chunk;
    }
    let complete = end.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
    if complete < end.len() {
        file.set_len(begin + complete as u64)?;
        file.sync_all()?;
    }
    let text = String::from_utf8_lossy(end.get(..complete).unwrap_or_default()).into_owned();
    Ok(text.lines().last().map(str::to_owned))
}

fn append_line(path: &Path, line: &str) -> io::Result<()> {
    let is_new = !path.exists();
    let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    file.write_all(format!("{line}\n").as_bytes())?;
    file.sync_all()?;
    if is_new {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_incomplete_last_line_is_cut_off() {
        let path = std::env::temp_dir().join(format!("anchors-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        assert_eq!(last_line(&path).unwrap(), None);
        append_line(&path, "first").unwrap();
        append_line(&path, &"long ".repeat(40_000)).unwrap();
        assert_eq!(last_line(&path).unwrap(), Some("long ".repeat(40_000)));
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"anchor\":1,").unwrap();
        assert_eq!(last_line(&path).unwrap(), Some("long ".repeat(40_000)));
        append_line(&path, "third").unwrap();
        assert_eq!(last_line(&path).unwrap().as_deref(), Some("third"));
        assert_eq!(lines(&path).unwrap().count(), 3);
        std::fs::remove_file(&path).unwrap();
    }
}
