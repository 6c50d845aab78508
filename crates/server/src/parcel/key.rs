//! The key of a file, as a file: 64 hexadecimal digits for its owner alone.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use frontdesk_engine::ports::Random;
use frontdesk_engine::seal::SealKey;

use super::ParcelError;
use crate::folder::unhex;

/// Makes a key and writes it where no file is.
pub fn make_key(path: &Path, random: &dyn Random) -> Result<SealKey, ParcelError> {
    let failed = |error| ParcelError::Unusable { path: path.to_owned(), error };
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(failed)?;
    let key = SealKey::random(random);
    let text: String = key.expose().iter().map(|byte| format!("{byte:02x}")).collect();
    match file.write_all(text.as_bytes()).and_then(|()| file.sync_all()) {
        Ok(()) => Ok(key),
        Err(error) => {
            // Half a key is none.
            let _ = fs::remove_file(path);
            Err(failed(error))
        }
    }
}

pub fn read_key(path: &Path) -> Result<SealKey, ParcelError> {
    let failed = |error| ParcelError::Unusable { path: path.to_owned(), error };
    let absent = |error: io::Error| match error.kind() == io::ErrorKind::NotFound {
        true => io::Error::other("it is not there. Bring it beside the file, or name it with --key"),
        false => error,
    };
    let about = fs::metadata(path).map_err(absent).map_err(failed)?;
    if about.permissions().mode() & 0o077 != 0 {
        return Err(ParcelError::Exposed { path: path.to_owned() });
    }
    let text = fs::read_to_string(path).map_err(failed)?;
    unhex(text.trim()).map(SealKey::from_bytes).ok_or_else(|| ParcelError::BadKey { path: path.to_owned() })
}
