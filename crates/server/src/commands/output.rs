//! A file that a command writes for its owner's eyes alone. It has its name only once it is whole, and nothing that was
//! there before has its mode changed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::Failure;

/// What becomes of a file that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Existing {
    Kept,
    Overwritten,
}

pub(super) struct Output {
    file: BufWriter<File>,
    goal: Goal,
}

/// Where the bytes end up.
enum Goal {
    /// A pipe or a device takes them as they come, and keeps its mode.
    Stream(PathBuf),
    Named {
        draft: Draft,
        name: PathBuf,
        existing: Existing,
    },
}

impl Output {
    pub(super) fn open(path: &Path, existing: Existing) -> Result<Output, Failure> {
        let failed = |error| cannot_write(path, &error);
        let name = match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
            Err(error) => return Err(failed(error)),
            Ok(there) if there.is_file() => match existing {
                Existing::Kept => return Err(is_there(path)),
                // The file a link leads to is replaced, and not the link.
                Existing::Overwritten => fs::canonicalize(path).map_err(failed)?,
            },
            Ok(there) if there.file_type().is_fifo() || there.file_type().is_char_device() => {
                let file = OpenOptions::new().write(true).open(path).map_err(failed)?;
                return Ok(Output { file: BufWriter::new(file), goal: Goal::Stream(path.to_owned()) });
            }
            Ok(_) => {
                return Err(format!("{} is not a file. Name another one with --output.", path.display()).into());
            }
        };
        // Whoever exports to the same name at the same time has another draft.
        let draft = Draft(name.with_added_extension(format!("{}.part", std::process::id())));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft.0).map_err(failed)?;
        Ok(Output { file: BufWriter::new(file), goal: Goal::Named { draft, name, existing } })
    }

    /// On disk, and under its name.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        let written = self.file.flush();
        match self.goal {
            Goal::Stream(path) => written.map_err(|error| cannot_write(&path, &error)),
            Goal::Named { draft, name, existing } => {
                let failed = |error| cannot_write(&name, &error);
                written.and_then(|()| self.file.get_ref().sync_all()).map_err(failed)?;
                // It may have come while this was written.
                if existing == Existing::Kept && name.exists() {
                    return Err(is_there(&name));
                }
                fs::rename(&draft.0, &name).map_err(failed)?;
                let folder = name.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
                File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

struct Draft(PathBuf);

impl Drop for Draft {
    /// What was not finished does not stay; what was has another name by now.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn is_there(path: &Path) -> Failure {
    let path = path.display();
    format!("{path} is there already. Name another file with --output, or overwrite it with --force.").into()
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    format!("cannot write {}: {error}. Name another file with --output.", path.display()).into()
}
