//! Packing: rows are gathered into blocks, and each block is sealed for its place before it is written.

use std::io::{self, Write};
use std::sync::Arc;

use frontdesk_engine::ports::Random;
use frontdesk_engine::seal::SealKey;
use frontdesk_store::transfer::SqlValue;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::field::write_row;
use super::{Block, FORMAT, LONGEST, NAME};

/// A block is written once it has so many bytes.
const FULL: usize = 64 * 1024;

pub struct Packer<W> {
    out: W,
    key: SealKey,
    random: Arc<dyn Random>,
    hash: Sha256,
    blocks: u64,
    rows: u64,
    bytes: u64,
    gathered: Vec<u8>,
}

/// What was written in the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    pub rows: u64,
    pub bytes: u64,
    /// Of the whole file, as `sha256sum` shows it.
    pub sha256: String,
}

impl<W: Write> Packer<W> {
    pub fn begin(out: W, key: SealKey, random: Arc<dyn Random>, manifest: &Value) -> io::Result<Packer<W>> {
        let (hash, gathered) = (Sha256::new(), Vec::new());
        let mut packer = Packer { out, key, random, hash, blocks: 0, rows: 0, bytes: 0, gathered };
        packer.put(format!("{NAME}{FORMAT}\n").as_bytes())?;
        packer.seal(Block::Manifest, manifest.to_string().as_bytes())?;
        Ok(packer)
    }

    pub fn row(&mut self, table: usize, row: &[SqlValue]) -> io::Result<()> {
        write_row(&mut self.gathered, table, row).ok_or_else(too_large)?;
        self.rows += 1;
        match self.gathered.len() >= FULL {
            true => self.send(),
            false => Ok(()),
        }
    }

    pub fn finish(mut self) -> io::Result<(W, Sent)> {
        self.send()?;
        let rows = self.rows;
        self.seal(Block::End, &rows.to_be_bytes())?;
        self.put(&0_u32.to_be_bytes())?;
        let inner = self.hash.clone().finalize();
        self.put(&inner)?;
        self.out.flush()?;
        let sha256 = self.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok((self.out, Sent { rows, bytes: self.bytes, sha256 }))
    }

    fn send(&mut self) -> io::Result<()> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        let block = std::mem::take(&mut self.gathered);
        self.seal(Block::Rows, &block)
    }

    fn seal(&mut self, block: Block, plain: &[u8]) -> io::Result<()> {
        let number = self.blocks.to_string();
        let place = [NAME, &number, block.word()];
        let sealed = self.key.seal(self.random.as_ref(), &place, plain).filter(|sealed| sealed.len() <= LONGEST);
        let sealed = sealed.ok_or_else(too_large)?;
        self.blocks += 1;
        self.put(&u32::try_from(sealed.len()).map_err(|_| too_large())?.to_be_bytes())?;
        self.put(&sealed)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.out.write_all(bytes)
    }
}

fn too_large() -> io::Error {
    io::Error::other("a row is too large for the file")
}
