//! The files of an export: nothing that was there is touched, and what an export has made goes again if it fails.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use frontdesk_engine::ports::Random;
use frontdesk_engine::seal::SealKey;

use super::{ParcelError, make_key};

pub struct Files {
    file: PathBuf,
    /// Where the rows are until all of them are on disk.
    draft: PathBuf,
    key: PathBuf,
    /// What goes again if this is dropped.
    made: Vec<PathBuf>,
}

impl Files {
    /// Refuses files that are there already, and a key that would take the place of the rows.
    pub fn choose(file: &Path, key: &Path) -> Result<Files, ParcelError> {
        let draft = file.with_added_extension("part");
        let place = real_place(key)?;
        if place == real_place(file)? || place == real_place(&draft)? {
            return Err(ParcelError::Shared { path: key.to_owned() });
        }
        if let Some(taken) = [file, key].into_iter().find(|path| is_there(path)) {
            return Err(ParcelError::Taken { path: taken.to_owned() });
        }
        if is_there(&draft) {
            return Err(ParcelError::Left { path: draft });
        }
        Ok(Files { file: file.to_owned(), draft, key: key.to_owned(), made: Vec::new() })
    }

    /// Makes the key, and the file for the rows.
    pub fn make(&mut self, random: &dyn Random) -> Result<(SealKey, File), ParcelError> {
        let key = make_key(&self.key, random)?;
        self.made.push(self.key.clone());
        let out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&self.draft);
        let out = out.map_err(|error| self.failed(error))?;
        self.made.push(self.draft.clone());
        Ok((key, out))
    }

    /// The file has its name only once it is whole and on disk.
    pub fn finish(mut self, out: &File) -> Result<(), ParcelError> {
        out.sync_all().map_err(|error| self.failed(error))?;
        give_name(&self.draft, &self.file).map_err(|error| self.failed(error))?;
        self.made.push(self.file.clone());
        for path in [&self.key, &self.file] {
            File::open(folder_of(path)).and_then(|folder| folder.sync_all()).map_err(|error| self.failed(error))?;
        }
        self.made.clear();
        Ok(())
    }

    pub fn failed(&self, error: io::Error) -> ParcelError {
        ParcelError::Unusable { path: self.draft.clone(), error }
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for path in &self.made {
            let _ = fs::remove_file(path);
        }
    }
}

/// Never over a file that has come meanwhile, which a plain renaming would do.
fn give_name(draft: &Path, file: &Path) -> io::Result<()> {
    match fs::hard_link(draft, file) {
        Ok(()) => fs::remove_file(draft),
        // Sticks and some network drives know no second name: there the name is taken first.
        Err(error) if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported) => {
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
            fs::rename(draft, file)
        }
        Err(error) => Err(error),
    }
}

/// One answer for all ways to write the same path.
fn real_place(path: &Path) -> Result<PathBuf, ParcelError> {
    let unusable = |path: &Path, error| ParcelError::Unusable { path: path.to_owned(), error };
    let no_name = || io::Error::new(io::ErrorKind::InvalidInput, "it is no name of a file");
    let name = path.file_name().ok_or_else(|| unusable(path, no_name()))?;
    let folder = folder_of(path);
    Ok(folder.canonicalize().map_err(|error| unusable(folder, error))?.join(name))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A link that leads nowhere is there, too.
fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}
