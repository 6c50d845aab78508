//! Certificate and key files. A private key is created with its final mode, and a file is replaced atomically.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use super::error::NetError;

/// Who must not be able to read a key.
#[derive(Clone, Copy)]
pub(super) enum Exposure {
    ToGroupOrEveryone,
    ToEveryone,
}

#[derive(Clone, Copy)]
pub(super) enum ReadableBy {
    Owner,
    LoopbackAuth,
}

pub(super) fn read(file: &Path) -> Result<Vec<u8>, NetError> {
    fs::read(file).map_err(|cause| unreadable(file, cause))
}

pub(super) fn refuse_exposed(file: &Path, exposure: Exposure) -> Result<(), NetError> {
    let mode = fs::metadata(file).map_err(|cause| unreadable(file, cause))?.permissions().mode() & 0o7777;
    let forbidden = match exposure {
        Exposure::ToGroupOrEveryone => 0o077,
        Exposure::ToEveryone => 0o007,
    };
    if mode & forbidden == 0 { Ok(()) } else { Err(NetError::KeyExposed { file: file.to_owned(), mode }) }
}

pub(super) fn make_folder(folder: &Path) -> Result<(), NetError> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|cause| unwritable(folder, cause))
}

/// Writes a temporary file and renames it, so that a crash leaves the old file or the new one.
pub(super) fn replace(file: &Path, content: &str, readable_by: ReadableBy) -> Result<(), NetError> {
    let temporary = file.with_added_extension(format!("{}.new", std::process::id()));
    // Left by a crashed process with the same id.
    let _ = fs::remove_file(&temporary);
    let written = write(&temporary, content, readable_by).and_then(|()| fs::rename(&temporary, file)).and_then(|()| {
        // The rename is durable after the folder is synced.
        file.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    });
    written.map_err(|cause| {
        let _ = fs::remove_file(&temporary);
        unwritable(file, cause)
    })
}

fn write(file: &Path, content: &str, readable_by: ReadableBy) -> io::Result<()> {
    let mut opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
    opened.write_all(content.as_bytes())?;
    match readable_by {
        ReadableBy::Owner => {}
        ReadableBy::LoopbackAuth => opened.set_permissions(Permissions::from_mode(0o644))?,
    }
    opened.sync_all()
}

fn unreadable(file: &Path, cause: io::Error) -> NetError {
    if cause.kind() == io::ErrorKind::NotFound {
        NetError::FileMissing(file.to_owned())
    } else {
        NetError::FileUnreadable { file: file.to_owned(), cause }
    }
}

fn unwritable(file: &Path, cause: io::Error) -> NetError {
    NetError::FileUnwritable { file: file.to_owned(), cause }
}
