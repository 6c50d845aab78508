//! What is read is exactly what was written; otherwise the error says why.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use frontdesk_engine::seal::SealKey;
use frontdesk_engine::seal::installation_key::InstallationKey;
use frontdesk_store::transfer::StoredValue;
use serde_json::{Value, json};

use super::{ExportFileError, ExportReader, ExportWriter, create_key, read_key, verify_sender};
use crate::system::SystemRandom;

struct TempFile(PathBuf);

impl TempFile {
    fn new() -> TempFile {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("fd-export-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        TempFile(std::env::temp_dir().join(name))
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

type Rows = Vec<(usize, Vec<StoredValue>)>;

fn rows() -> Rows {
    let long = "x".repeat(300);
    (0..300)
        .map(|number| {
            let fields = vec![
                StoredValue::Integer(-number),
                StoredValue::Text(format!("{number} ä {long}")),
                StoredValue::Bytes(vec![0, 255]),
                StoredValue::Null,
            ];
            (usize::try_from(number % 3).unwrap(), fields)
        })
        .collect()
}

fn key(byte: u8) -> SealKey {
    SealKey::from_bytes([byte; 32])
}

fn sender(byte: u8) -> InstallationKey {
    InstallationKey::from_seed(&[byte; 32]).unwrap()
}

/// A file of several blocks.
fn written() -> (TempFile, Vec<u8>) {
    let mut writer =
        ExportWriter::new(Vec::new(), key(1), Arc::new(SystemRandom), &json!({"is": "a manifest"})).unwrap();
    for (table, row) in rows() {
        writer.row(table, &row).unwrap();
    }
    let (bytes, summary) = writer.finish(&sender(1)).unwrap();
    assert_eq!((summary.rows, summary.bytes), (300, bytes.len() as u64));
    assert!(bytes.starts_with(b"frontdesk-tenant 2\n"));
    (TempFile::new(), bytes)
}

fn read(file: &TempFile, bytes: &[u8], key: &SealKey) -> Result<(Value, Rows), ExportFileError> {
    fs::write(&file.0, bytes).unwrap();
    let (mut reader, manifest) = ExportReader::open(&file.0, key)?;
    let mut rows = Vec::new();
    while let Some(row) = reader.row()? {
        rows.push(row);
    }
    Ok((manifest, rows))
}

#[test]
fn exported_rows_are_read_back() {
    let (file, bytes) = written();
    let (manifest, unpacked) = read(&file, &bytes, &key(1)).unwrap();
    assert_eq!(manifest, json!({"is": "a manifest"}));
    assert!(unpacked == rows());
    // Long enough that encrypted bytes do not equal it by chance.
    assert!(!bytes.windows(16).any(|some| some == [b'x'; 16]), "not encrypted");
}

#[test]
fn truncation_and_changed_bytes_are_detected() {
    let (file, bytes) = written();
    for length in (19..bytes.len()).step_by(7_919).chain(bytes.len() - 40..bytes.len()) {
        assert!(
            matches!(read(&file, &bytes[..length], &key(1)), Err(ExportFileError::Damaged { .. })),
            "cut at {length}"
        );
    }
    let signature = bytes.len() - 64;
    for place in (19..signature).step_by(7_919).chain(signature - 40..signature) {
        let mut changed = bytes.clone();
        changed[place] ^= 1;
        assert!(matches!(read(&file, &changed, &key(1)), Err(ExportFileError::Damaged { .. })), "changed at {place}");
        let verified = verify_sender(&file.0, &sender(1).public_key());
        assert!(matches!(verified, Err(ExportFileError::Damaged { .. })), "changed at {place}");
    }
    let longer = [bytes.as_slice(), b"more"].concat();
    assert!(matches!(read(&file, &longer, &key(1)), Err(ExportFileError::Damaged { .. })));
}

/// Anybody can compute the hash at the end; who can sign has the installation's key.
#[test]
fn only_the_sender_can_have_signed_a_file() {
    let (file, bytes) = written();
    let verified = |bytes: &[u8], sender: &InstallationKey| {
        fs::write(&file.0, bytes).unwrap();
        verify_sender(&file.0, &sender.public_key())
    };
    verified(&bytes, &sender(1)).unwrap();
    assert!(matches!(verified(&bytes, &sender(2)), Err(ExportFileError::OtherSender { .. })));
    for place in bytes.len() - 64..bytes.len() {
        let mut changed = bytes.clone();
        changed[place] ^= 1;
        assert!(matches!(verified(&changed, &sender(1)), Err(ExportFileError::OtherSender { .. })), "{place}");
    }
    let mut unsigned = bytes[..bytes.len() - 64].to_vec();
    unsigned[17] = b'1';
    assert!(matches!(verified(&unsigned, &sender(1)), Err(ExportFileError::Unsigned { .. })));
}

/// A sparse file can be much longer than memory.
#[test]
fn trailing_data_is_detected_without_reading_it() {
    let (file, bytes) = written();
    fs::write(&file.0, &bytes).unwrap();
    fs::OpenOptions::new().write(true).open(&file.0).unwrap().set_len(1 << 40).unwrap();
    let (mut reader, _) = ExportReader::open(&file.0, &key(1)).unwrap();
    let mut rows = 0;
    let ended = loop {
        match reader.row() {
            Ok(Some(_)) => rows += 1,
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    assert_eq!(rows, 300);
    assert!(matches!(ended, Some(ExportFileError::Damaged { .. })), "{ended:?}");
}

/// Anybody can compute the SHA-256 at the end; the authentication tags need the key.
#[test]
fn a_removed_block_is_detected_despite_a_correct_hash() {
    use sha2::{Digest as _, Sha256};
    let (file, bytes) = written();
    let length = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let second = 19 + 4 + length(19);
    let third = second + 4 + length(second);
    let mut without = [&bytes[..second], &bytes[third..bytes.len() - 96]].concat();
    let hash = Sha256::digest(&without);
    without.extend(hash);
    without.extend(&bytes[bytes.len() - 64..]);
    assert!(matches!(read(&file, &without, &key(1)), Err(ExportFileError::Damaged { .. })));
}

#[test]
fn foreign_newer_and_undecryptable_files_are_distinguished() {
    let (file, bytes) = written();
    let path = file.0.display().to_string();
    let said = |bytes: &[u8], key: &SealKey| read(&file, bytes, key).unwrap_err().to_string();
    assert_eq!(
        said(b"SQLite format 3\0", &key(1)),
        format!("{path} is not a file written by `frontdesk tenant export`")
    );
    assert_eq!(said(b"", &key(1)), format!("{path} is not a file written by `frontdesk tenant export`"));
    let newer = [b"frontdesk-tenant 3\n", &bytes[19..]].concat();
    assert_eq!(
        said(&newer, &key(1)),
        format!(
            "{path} is in format 3, and this version of Frontdesk reads formats up to 2. \
             Import it with the version that wrote it, or a newer one."
        )
    );
    assert_eq!(
        said(&bytes, &key(2)),
        format!("the key does not decrypt {path}. Name the key file that was written with it with --key.")
    );
}

#[test]
fn a_key_file_is_readable_by_its_owner_only() {
    let file = TempFile::new();
    let made = create_key(&file.0, &SystemRandom).unwrap();
    assert_eq!(fs::metadata(&file.0).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(read_key(&file.0).unwrap().expose(), made.expose());
    assert!(matches!(create_key(&file.0, &SystemRandom), Err(ExportFileError::Unusable { .. })), "overwritten");
    fs::set_permissions(&file.0, fs::Permissions::from_mode(0o640)).unwrap();
    assert!(matches!(read_key(&file.0), Err(ExportFileError::KeyExposed { .. })));
}
