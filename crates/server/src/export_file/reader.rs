//! Reading an export file. Only blocks that decrypt with the file's key at exactly their position are returned, and the end
//! is reached only if all of them were there.

use std::fs::File;
use std::io::{self, BufReader, Read as _};
use std::path::{Path, PathBuf};

use frontdesk_engine::seal::SealKey;
use frontdesk_store::transfer::StoredValue;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::row::read_row;
use super::signature::{FileEnd, first_line, read_end, read_format, signature_bytes};
use super::{Block, ExportFileError, MAGIC, MAX_BLOCK};

pub struct ExportReader {
    path: PathBuf,
    input: BufReader<File>,
    key: SealKey,
    hash: Sha256,
    blocks: u64,
    rows: u64,
    block: Vec<u8>,
    /// How much of the block has been read.
    read: usize,
    next: u32,
    /// How many bytes follow the hash at the end.
    signature_bytes: usize,
}

impl ExportReader {
    /// Opens the file and reads its manifest.
    pub fn open(path: &Path, key: &SealKey) -> Result<(ExportReader, Value), ExportFileError> {
        let failed = |error| ExportFileError::Unusable { path: path.to_owned(), error };
        let mut input = BufReader::new(File::open(path).map_err(failed)?);
        let line = first_line(&mut input).map_err(failed)?;
        let format = read_format(path, &line)?;
        let mut reader = ExportReader {
            path: path.to_owned(),
            input,
            key: key.clone(),
            hash: Sha256::new_with_prefix(line.as_bytes()),
            blocks: 0,
            rows: 0,
            block: Vec::new(),
            read: 0,
            next: 0,
            signature_bytes: signature_bytes(format).unwrap_or_default(),
        };
        reader.next = reader.length()?;
        let sealed = reader.read_block()?;
        let manifest = reader.decrypt(Block::Manifest, &sealed);
        let manifest = manifest.and_then(|plain| serde_json::from_slice(&plain).ok());
        match manifest {
            Some(manifest) => Ok((reader, manifest)),
            // A file with a correct hash was encrypted with another key.
            None if has_correct_hash(path, reader.signature_bytes) => {
                Err(ExportFileError::WrongKey { path: path.to_owned() })
            }
            None => Err(reader.damaged()),
        }
    }

    /// The next row, or `None` when the file was read completely and is unchanged.
    pub fn row(&mut self) -> Result<Option<(usize, Vec<StoredValue>)>, ExportFileError> {
        while self.block.len() == self.read {
            let sealed = self.read_block()?;
            if self.next == 0 {
                return self.end(&sealed).map(|()| None);
            }
            self.block = self.decrypt(Block::Rows, &sealed).ok_or_else(|| self.damaged())?;
            self.read = 0;
        }
        let mut rest = self.block.get(self.read..).unwrap_or_default();
        let row = read_row(&mut rest).ok_or_else(|| self.damaged())?;
        self.read = self.block.len() - rest.len();
        self.rows += 1;
        Ok(Some(row))
    }

    fn end(&mut self, sealed: &[u8]) -> Result<(), ExportFileError> {
        let rows = self.decrypt(Block::End, sealed);
        let expected = self.hash.clone().finalize();
        // One byte more than expected is enough to notice trailing data. Whose signature it is, `verify_sender` says.
        let mut rest = Vec::new();
        let length = expected.len() + self.signature_bytes;
        let max = length as u64 + 1;
        self.input.by_ref().take(max).read_to_end(&mut rest).map_err(|error| self.failed(error))?;
        let is_complete = rows.as_deref() == Some(&self.rows.to_be_bytes()[..])
            && rest.len() == length
            && rest.starts_with(&expected);
        if is_complete { Ok(()) } else { Err(self.damaged()) }
    }

    /// The SHA-256 of everything that was read. After the last row it identifies the file.
    pub fn digest(&self) -> [u8; 32] {
        self.hash.clone().finalize().into()
    }

    /// Reads the next encrypted block, and the length of the one after it.
    fn read_block(&mut self) -> Result<Vec<u8>, ExportFileError> {
        let length = usize::try_from(self.next).unwrap_or(usize::MAX);
        if length == 0 || length > MAX_BLOCK {
            return Err(self.damaged());
        }
        let mut sealed = vec![0; length];
        self.fill(&mut sealed)?;
        self.next = self.length()?;
        Ok(sealed)
    }

    fn decrypt(&mut self, block: Block, sealed: &[u8]) -> Option<Vec<u8>> {
        let number = self.blocks.to_string();
        self.blocks += 1;
        self.key.open(&[MAGIC, &number, block.as_str()], sealed)
    }

    fn length(&mut self) -> Result<u32, ExportFileError> {
        let mut length = [0; 4];
        self.fill(&mut length)?;
        Ok(u32::from_be_bytes(length))
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), ExportFileError> {
        match self.input.read_exact(bytes) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(self.damaged()),
            Err(error) => return Err(self.failed(error)),
        }
        self.hash.update(bytes);
        Ok(())
    }

    fn damaged(&self) -> ExportFileError {
        ExportFileError::Damaged { path: self.path.clone() }
    }

    fn failed(&self, error: io::Error) -> ExportFileError {
        ExportFileError::Unusable { path: self.path.clone(), error }
    }
}

/// Whether the SHA-256 at the end is correct. It is not authenticated: it only distinguishes a wrong key from a damaged
/// copy.
fn has_correct_hash(path: &Path, signature_bytes: usize) -> bool {
    read_end(path, signature_bytes).is_ok_and(|end| end.as_ref().is_some_and(FileEnd::is_hash_correct))
}
