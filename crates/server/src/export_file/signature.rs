//! The end of an export file: a SHA-256 of everything before it, and since format 2 the sender's signature of it. Both can
//! be checked without the file's key, so a file of somebody else is refused before anything in it is read.

use std::fs::File;
use std::io::{self, BufReader, Read as _};
use std::path::Path;

use frontdesk_engine::seal::installation_key::InstallationPublicKey;
use sha2::{Digest as _, Sha256};

use super::{ExportFileError, FORMAT, MAGIC};

/// What the signature is for: nothing else that an installation signs is taken for an export.
pub(super) const PURPOSE: &str = "tenant export";
pub(super) const HASH_BYTES: usize = 32;
pub(super) const SIGNATURE_BYTES: usize = 64;
/// The first line is not longer.
const MAX_FIRST_LINE: u64 = 64;

/// Checks that this installation has signed the file as it is.
pub fn verify_sender(path: &Path, sender: &InstallationPublicKey) -> Result<(), ExportFileError> {
    let failed = |error| ExportFileError::Unusable { path: path.to_owned(), error };
    let mut input = BufReader::new(File::open(path).map_err(failed)?);
    let format = read_format(path, &first_line(&mut input).map_err(failed)?)?;
    drop(input);
    let Some(signature_bytes) = signature_bytes(format) else {
        return Err(ExportFileError::Unsigned { path: path.to_owned() });
    };
    let end = read_end(path, signature_bytes).map_err(failed)?;
    let Some(end) = end.filter(FileEnd::is_hash_correct) else {
        return Err(ExportFileError::Damaged { path: path.to_owned() });
    };
    if sender.verify(PURPOSE, &end.computed, &end.signature) {
        Ok(())
    } else {
        Err(ExportFileError::OtherSender { path: path.to_owned() })
    }
}

/// `None` for the format that had no signature.
pub(super) fn signature_bytes(format: u32) -> Option<usize> {
    (format >= 2).then_some(SIGNATURE_BYTES)
}

/// The format that the first line names.
pub(super) fn read_format(path: &Path, line: &str) -> Result<u32, ExportFileError> {
    let format = line.strip_prefix(MAGIC).and_then(|rest| rest.strip_suffix('\n')).map(str::parse::<u32>);
    match format {
        Some(Ok(format)) if (1..=FORMAT).contains(&format) => Ok(format),
        Some(Ok(format)) if format > FORMAT => Err(ExportFileError::NewerFormat { path: path.to_owned(), format }),
        Some(_) | None => Err(ExportFileError::NotAnExport { path: path.to_owned() }),
    }
}

pub(super) fn first_line(input: &mut BufReader<File>) -> io::Result<String> {
    use std::io::BufRead as _;
    let mut line = Vec::new();
    input.take(MAX_FIRST_LINE).read_until(b'\n', &mut line)?;
    Ok(String::from_utf8_lossy(&line).into_owned())
}

/// The SHA-256 that is computed of a file, the one that it has, and its signature.
pub(super) struct FileEnd {
    computed: [u8; HASH_BYTES],
    written: Vec<u8>,
    signature: Vec<u8>,
}

impl FileEnd {
    /// Not authenticated by itself: it only distinguishes a damaged copy from a wrong key.
    pub(super) fn is_hash_correct(&self) -> bool {
        self.written == self.computed
    }
}

/// `None` if the file is too short to have an end.
pub(super) fn read_end(path: &Path, signature_bytes: usize) -> io::Result<Option<FileEnd>> {
    let file = File::open(path)?;
    let end = HASH_BYTES + signature_bytes;
    let Some(mut left) = file.metadata()?.len().checked_sub(end as u64) else {
        return Ok(None);
    };
    let mut input = BufReader::new(file);
    let mut hash = Sha256::new();
    let mut piece = vec![0; 64 * 1024];
    while left > 0 {
        let max = usize::try_from(left).unwrap_or(usize::MAX).min(piece.len());
        let read = input.read(piece.get_mut(..max).unwrap_or_default())?;
        if read == 0 {
            return Ok(None);
        }
        hash.update(piece.get(..read).unwrap_or_default());
        left -= read as u64;
    }
    let mut written = Vec::new();
    input.take(end as u64).read_to_end(&mut written)?;
    let signature = written.split_off(HASH_BYTES.min(written.len()));
    Ok(Some(FileEnd { computed: hash.finalize().into(), written, signature }))
}
