//! What is read is exactly what was written, or a sentence that says why not.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use frontdesk_engine::seal::SealKey;
use frontdesk_store::transfer::SqlValue;
use serde_json::{Value, json};

use super::{Packer, Parcel, ParcelError, make_key, read_key};
use crate::ports::SystemRandom;

struct Draft(PathBuf);

impl Draft {
    fn new() -> Draft {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("fd-parcel-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        Draft(std::env::temp_dir().join(name))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

type Rows = Vec<(usize, Vec<SqlValue>)>;

fn rows() -> Rows {
    let long = "x".repeat(300);
    (0..300)
        .map(|number| {
            let fields = vec![
                SqlValue::Integer(-number),
                SqlValue::Text(format!("{number} ä {long}")),
                SqlValue::Bytes(vec![0, 255]),
                SqlValue::Null,
            ];
            (usize::try_from(number % 3).unwrap(), fields)
        })
        .collect()
}

fn key(byte: u8) -> SealKey {
    SealKey::from_bytes([byte; 32])
}

/// A file of several blocks.
fn written() -> (Draft, Vec<u8>) {
    let mut packer =
        Packer::begin(Vec::new(), key(1), Arc::new(SystemRandom::default()), &json!({"is": "a manifest"})).unwrap();
    for (table, row) in rows() {
        packer.row(table, &row).unwrap();
    }
    let (bytes, sent) = packer.finish().unwrap();
    assert_eq!((sent.rows, sent.bytes), (300, bytes.len() as u64));
    assert!(bytes.starts_with(b"frontdesk-tenant 1\n"));
    (Draft::new(), bytes)
}

fn read(draft: &Draft, bytes: &[u8], key: &SealKey) -> Result<(Value, Rows), ParcelError> {
    fs::write(&draft.0, bytes).unwrap();
    let (mut parcel, manifest) = Parcel::open(&draft.0, key)?;
    let mut rows = Vec::new();
    while let Some(row) = parcel.row()? {
        rows.push(row);
    }
    Ok((manifest, rows))
}

#[test]
fn what_was_packed_is_unpacked() {
    let (draft, bytes) = written();
    let (manifest, unpacked) = read(&draft, &bytes, &key(1)).unwrap();
    assert_eq!(manifest, json!({"is": "a manifest"}));
    assert!(unpacked == rows());
    // Long enough that sealed bytes are not like it by chance.
    assert!(!bytes.windows(16).any(|some| some == [b'x'; 16]), "in clear");
}

#[test]
fn every_cut_and_every_changed_byte_is_noticed() {
    let (draft, bytes) = written();
    for length in (19..bytes.len()).step_by(7_919).chain(bytes.len() - 40..bytes.len()) {
        assert!(matches!(read(&draft, &bytes[..length], &key(1)), Err(ParcelError::Damaged { .. })), "cut at {length}");
    }
    for place in (19..bytes.len()).step_by(7_919).chain(bytes.len() - 40..bytes.len()) {
        let mut changed = bytes.clone();
        changed[place] ^= 1;
        assert!(matches!(read(&draft, &changed, &key(1)), Err(ParcelError::Damaged { .. })), "changed at {place}");
    }
    let longer = [bytes.as_slice(), b"more"].concat();
    assert!(matches!(read(&draft, &longer, &key(1)), Err(ParcelError::Damaged { .. })));
}

/// A file can claim to be of any length without taking up room; memory cannot.
#[test]
fn what_follows_the_end_is_noticed_without_being_read() {
    let (draft, bytes) = written();
    fs::write(&draft.0, &bytes).unwrap();
    fs::OpenOptions::new().write(true).open(&draft.0).unwrap().set_len(1 << 40).unwrap();
    let (mut parcel, _) = Parcel::open(&draft.0, &key(1)).unwrap();
    let mut come = 0;
    let ended = loop {
        match parcel.row() {
            Ok(Some(_)) => come += 1,
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    assert_eq!(come, 300);
    assert!(matches!(ended, Some(ParcelError::Damaged { .. })), "{ended:?}");
}

/// The SHA-256 at the end can be made anew by anybody; the seals cannot.
#[test]
fn a_block_left_out_is_noticed_even_if_the_hash_was_made_to_fit() {
    use sha2::{Digest as _, Sha256};
    let (draft, bytes) = written();
    let length = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let second = 19 + 4 + length(19);
    let third = second + 4 + length(second);
    let mut without = [&bytes[..second], &bytes[third..bytes.len() - 32]].concat();
    let hash = Sha256::digest(&without);
    without.extend(hash);
    assert!(matches!(read(&draft, &without, &key(1)), Err(ParcelError::Damaged { .. })));
}

#[test]
fn a_foreign_a_newer_and_a_wrongly_opened_file_are_told_apart() {
    let (draft, bytes) = written();
    let path = draft.0.display().to_string();
    let said = |bytes: &[u8], key: &SealKey| read(&draft, bytes, key).unwrap_err().to_string();
    assert_eq!(
        said(b"SQLite format 3\0", &key(1)),
        format!("{path} is no file that `frontdesk dealership export` has written")
    );
    assert_eq!(said(b"", &key(1)), format!("{path} is no file that `frontdesk dealership export` has written"));
    let newer = [b"frontdesk-tenant 2\n", &bytes[19..]].concat();
    assert_eq!(
        said(&newer, &key(1)),
        format!(
            "{path} is in format 2, and this Frontdesk knows formats up to 1. \
             Import it with the version that wrote it, or a newer one."
        )
    );
    assert_eq!(
        said(&bytes, &key(2)),
        format!("the key does not open {path}. Name the key file that was made with it with --key.")
    );
}

#[test]
fn a_key_file_is_for_its_owner_alone() {
    let draft = Draft::new();
    let made = make_key(&draft.0, &SystemRandom::default()).unwrap();
    assert_eq!(fs::metadata(&draft.0).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(read_key(&draft.0).unwrap().expose(), made.expose());
    assert!(matches!(make_key(&draft.0, &SystemRandom::default()), Err(ParcelError::Unusable { .. })), "written over");
    fs::set_permissions(&draft.0, fs::Permissions::from_mode(0o640)).unwrap();
    assert!(matches!(read_key(&draft.0), Err(ParcelError::Exposed { .. })));
}
