//! The key file of an export: 64 hexadecimal digits, readable by its owner only.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use frontdesk_engine::ports::Random;
use frontdesk_engine::seal::SealKey;
use zeroize::Zeroizing;

use super::ExportFileError;
use crate::data_dir::{decode_hex, encode_hex};

/// Creates a key and writes it into a new file.
pub fn create_key(path: &Path, random: &dyn Random) -> Result<SealKey, ExportFileError> {
    let failed = |error| ExportFileError::Unusable { path: path.to_owned(), error };
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(failed)?;
    let key = SealKey::random(random);
    let text = encode_hex(key.expose());
    match file.write_all(text.as_bytes()).and_then(|()| file.sync_all()) {
        Ok(()) => Ok(key),
        Err(error) => {
            // An incomplete key is removed.
            let _ = fs::remove_file(path);
            Err(failed(error))
        }
    }
}

pub fn read_key(path: &Path) -> Result<SealKey, ExportFileError> {
    let failed = |error| ExportFileError::Unusable { path: path.to_owned(), error };
    let missing = |error: io::Error| {
        if error.kind() == io::ErrorKind::NotFound {
            io::Error::other("it does not exist. Put it beside the file, or name it with --key")
        } else {
            error
        }
    };
    let metadata = fs::metadata(path).map_err(missing).map_err(failed)?;
    if metadata.permissions().mode() & 0o077 != 0 {
        return Err(ExportFileError::KeyExposed { path: path.to_owned() });
    }
    let text = Zeroizing::new(fs::read_to_string(path).map_err(failed)?);
    decode_hex(text.trim())
        .map(SealKey::from_bytes)
        .ok_or_else(|| ExportFileError::InvalidKey { path: path.to_owned() })
}
