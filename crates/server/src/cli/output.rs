//! A file that a command writes, readable by its owner only. It is renamed into place when it is complete, and the mode of
//! pipes and devices is not changed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::CliError;

/// What happens to a file that exists already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IfExists {
    Fail,
    Overwrite,
}

pub(super) struct OutputFile {
    file: BufWriter<File>,
    target: Target,
}

/// Where the bytes are written.
enum Target {
    /// A pipe or a device, which is written to directly and keeps its mode.
    Stream(PathBuf),
    Named {
        temporary: TempFile,
        name: PathBuf,
        if_exists: IfExists,
    },
}

impl OutputFile {
    pub(super) fn open(path: &Path, if_exists: IfExists) -> Result<OutputFile, CliError> {
        let failed = |error| cannot_write(path, &error);
        let name = match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
            Err(error) => return Err(failed(error)),
            Ok(metadata) if metadata.is_file() => match if_exists {
                IfExists::Fail => return Err(exists_already(path)),
                // The target of a symbolic link is replaced, not the link.
                IfExists::Overwrite => fs::canonicalize(path).map_err(failed)?,
            },
            Ok(metadata) if metadata.file_type().is_fifo() || metadata.file_type().is_char_device() => {
                let file = OpenOptions::new().write(true).open(path).map_err(failed)?;
                return Ok(OutputFile { file: BufWriter::new(file), target: Target::Stream(path.to_owned()) });
            }
            Ok(_) => {
                return Err(format!("{} is not a file. Name another one with --output.", path.display()).into());
            }
        };
        // A concurrent export to the same name has another temporary file.
        let temporary = TempFile(name.with_added_extension(format!("{}.part", std::process::id())));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary.0).map_err(failed)?;
        Ok(OutputFile { file: BufWriter::new(file), target: Target::Named { temporary, name, if_exists } })
    }

    /// Syncs the file and gives it its name.
    pub(super) fn finish(mut self) -> Result<(), CliError> {
        let written = self.file.flush();
        match self.target {
            Target::Stream(path) => written.map_err(|error| cannot_write(&path, &error)),
            Target::Named { temporary, name, if_exists } => {
                let failed = |error| cannot_write(&name, &error);
                written.and_then(|()| self.file.get_ref().sync_all()).map_err(failed)?;
                // It may have been created meanwhile.
                if if_exists == IfExists::Fail && name.exists() {
                    return Err(exists_already(&name));
                }
                fs::rename(&temporary.0, &name).map_err(failed)?;
                let folder = name.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
                File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
            }
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

struct TempFile(PathBuf);

impl Drop for TempFile {
    /// An unfinished file is removed; a finished one has been renamed.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn exists_already(path: &Path) -> CliError {
    let path = path.display();
    format!("{path} exists already. Name another file with --output, or overwrite it with --force.").into()
}

fn cannot_write(path: &Path, error: &io::Error) -> CliError {
    format!("cannot write {}: {error}. Name another file with --output.", path.display()).into()
}
