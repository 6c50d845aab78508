//! Writing an export file: rows are collected into blocks, and each block is encrypted for its position before it is
//! written.

use std::io::{self, Write};
use std::sync::Arc;

use frontdesk_engine::ports::Random;
use frontdesk_engine::seal::SealKey;
use frontdesk_engine::seal::installation_key::InstallationKey;
use frontdesk_store::transfer::StoredValue;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::row::write_row;
use super::signature::PURPOSE;
use super::{Block, FORMAT, MAGIC, MAX_BLOCK};

/// A block is written when it has so many bytes.
const BLOCK_SIZE: usize = 64 * 1024;

pub struct ExportWriter<W> {
    out: W,
    key: SealKey,
    random: Arc<dyn Random>,
    hash: Sha256,
    blocks: u64,
    rows: u64,
    bytes: u64,
    block: Vec<u8>,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportSummary {
    pub rows: u64,
    pub bytes: u64,
    /// Of the whole file, as `sha256sum` shows it.
    pub sha256: String,
}

impl<W: Write> ExportWriter<W> {
    pub fn new(out: W, key: SealKey, random: Arc<dyn Random>, manifest: &Value) -> io::Result<ExportWriter<W>> {
        let (hash, block) = (Sha256::new(), Vec::new());
        let mut writer = ExportWriter { out, key, random, hash, blocks: 0, rows: 0, bytes: 0, block };
        writer.put(format!("{MAGIC}{FORMAT}\n").as_bytes())?;
        writer.seal(Block::Manifest, manifest.to_string().as_bytes())?;
        Ok(writer)
    }

    pub fn row(&mut self, table: usize, row: &[StoredValue]) -> io::Result<()> {
        write_row(&mut self.block, table, row).ok_or_else(too_large)?;
        self.rows += 1;
        if self.block.len() >= BLOCK_SIZE { self.write_block() } else { Ok(()) }
    }

    /// Ends the file with the signature of the installation that it comes from.
    pub fn finish(mut self, sender: &InstallationKey) -> io::Result<(W, ExportSummary)> {
        self.write_block()?;
        let rows = self.rows;
        self.seal(Block::End, &rows.to_be_bytes())?;
        self.put(&0_u32.to_be_bytes())?;
        let inner: [u8; 32] = self.hash.clone().finalize().into();
        self.put(&inner)?;
        self.put(&sender.sign(PURPOSE, &inner))?;
        self.out.flush()?;
        let sha256 = self.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok((self.out, ExportSummary { rows, bytes: self.bytes, sha256 }))
    }

    fn write_block(&mut self) -> io::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let block = std::mem::take(&mut self.block);
        self.seal(Block::Rows, &block)
    }

    fn seal(&mut self, block: Block, plain: &[u8]) -> io::Result<()> {
        let number = self.blocks.to_string();
        let position = [MAGIC, &number, block.as_str()];
        let sealed = self.key.seal(self.random.as_ref(), &position, plain).filter(|sealed| sealed.len() <= MAX_BLOCK);
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
