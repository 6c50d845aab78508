//! The files of an export: existing files are not touched, and the files of a failed export are removed.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use frontdesk_engine::ports::Random;
use frontdesk_engine::seal::SealKey;

use super::{ExportFileError, create_key};

pub struct ExportFiles {
    file: PathBuf,
    /// The temporary file of the rows until all are on disk.
    temporary: PathBuf,
    key: PathBuf,
    /// Removed when this is dropped.
    created: Vec<PathBuf>,
}

impl ExportFiles {
    /// Refuses existing files, and the same file for key and rows.
    pub fn choose(file: &Path, key: &Path) -> Result<ExportFiles, ExportFileError> {
        let temporary = file.with_added_extension("part");
        let key_path = canonical(key)?;
        if key_path == canonical(file)? || key_path == canonical(&temporary)? {
            return Err(ExportFileError::SameFile { path: key.to_owned() });
        }
        if let Some(taken) = [file, key].into_iter().find(|path| exists(path)) {
            return Err(ExportFileError::Exists { path: taken.to_owned() });
        }
        if exists(&temporary) {
            return Err(ExportFileError::Unfinished { path: temporary });
        }
        Ok(ExportFiles { file: file.to_owned(), temporary, key: key.to_owned(), created: Vec::new() })
    }

    /// Creates the key, and the file for the rows.
    pub fn create(&mut self, random: &dyn Random) -> Result<(SealKey, File), ExportFileError> {
        let key = create_key(&self.key, random)?;
        self.created.push(self.key.clone());
        let out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&self.temporary);
        let out = out.map_err(|error| self.failed(error))?;
        self.created.push(self.temporary.clone());
        Ok((key, out))
    }

    /// Renames the file when it is complete and on disk.
    pub fn finish(mut self, out: &File) -> Result<(), ExportFileError> {
        out.sync_all().map_err(|error| self.failed(error))?;
        rename_new(&self.temporary, &self.file).map_err(|error| self.failed(error))?;
        self.created.push(self.file.clone());
        for path in [&self.key, &self.file] {
            File::open(folder_of(path)).and_then(|folder| folder.sync_all()).map_err(|error| self.failed(error))?;
        }
        self.created.clear();
        Ok(())
    }

    pub fn failed(&self, error: io::Error) -> ExportFileError {
        ExportFileError::Unusable { path: self.temporary.clone(), error }
    }
}

impl Drop for ExportFiles {
    fn drop(&mut self) {
        for path in &self.created {
            let _ = fs::remove_file(path);
        }
    }
}

/// Unlike a plain rename, never overwrites a file that was created meanwhile.
fn rename_new(temporary: &Path, file: &Path) -> io::Result<()> {
    match fs::hard_link(temporary, file) {
        Ok(()) => fs::remove_file(temporary),
        // Some file systems have no hard links: there the name is reserved first.
        Err(error) if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported) => {
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
            fs::rename(temporary, file)
        }
        Err(error) => Err(error),
    }
}

/// The same for all spellings of a path.
fn canonical(path: &Path) -> Result<PathBuf, ExportFileError> {
    let unusable = |path: &Path, error| ExportFileError::Unusable { path: path.to_owned(), error };
    let no_name = || io::Error::new(io::ErrorKind::InvalidInput, "it is not a file name");
    let name = path.file_name().ok_or_else(|| unusable(path, no_name()))?;
    let folder = folder_of(path);
    Ok(folder.canonicalize().map_err(|error| unusable(folder, error))?.join(name))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A dangling symbolic link exists, too.
fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}
