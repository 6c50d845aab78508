//! The file of an import: what it is, how its columns are understood, and its rows, which are read by a thread of their
//! own while others are being applied.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use frontdesk_contracts as contracts;
use frontdesk_contracts::feed::{
    ColumnTarget, ColumnUse, FeedMapping, FeedReader, FeedSettings, FeedTarget, XmlRow, XmlSettings,
};
use frontdesk_engine::desk::id_of_hash;
use frontdesk_engine::import::{CHUNK_ROWS, ImportSpec, ReadRow};
use frontdesk_engine::seal::sha256;
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

use super::ImportArgs;
use crate::cli::CliError;

/// How many rows are read together.
const READ_ROWS: usize = 4 * CHUNK_ROWS;
/// A chunk is full at about this size, so that a request to the server stays small.
const CHUNK_BYTES: usize = 1024 * 1024;
/// How many chunks may be read ahead.
const READ_AHEAD: usize = 2;
/// The largest XML file.
const MAX_XML: u64 = 1024 * 1024;

/// A file that can be read, and what is known about it before its rows.
pub(super) struct ImportSource {
    file: PathBuf,
    pub(super) size: u64,
    modified: Option<SystemTime>,
    pub(super) spec: Arc<ImportSpec>,
    /// The same for the same content, mapping and kind of record.
    pub(super) import_id: String,
    content: Content,
}

enum Content {
    Feed { target: Arc<FeedTarget>, settings: FeedSettings, columns: Vec<ColumnUse> },
    Xml(Vec<XmlRow>),
}

/// Rows that were read together.
pub(super) struct RowChunk {
    pub(super) rows: Vec<ReadRow>,
    /// Keys of the rows that have one of their own, by line.
    pub(super) keys: Vec<(u64, String)>,
    /// How many bytes of the file have been read.
    pub(super) position: u64,
}

impl ImportSource {
    /// `currency` is that of amounts which name none, unless somebody says otherwise.
    pub(super) fn open(args: &ImportArgs, currency: Option<String>) -> Result<ImportSource, CliError> {
        let file = &args.file;
        let (size, modified) = match std::fs::metadata(file) {
            Ok(metadata) if metadata.is_file() => (metadata.len(), metadata.modified().ok()),
            Ok(_) => return Err(format!("{} is not a file", file.display()).into()),
            Err(error) => return Err(format!("cannot read {}: {error}", file.display()).into()),
        };
        let (contract, spec) = find_spec(&args.resource)?;
        let mapping_text = match &args.map {
            Some(map) => {
                std::fs::read_to_string(map).map_err(|error| format!("cannot read {}: {error}", map.display()))?
            }
            None => String::new(),
        };
        let mut mapping = FeedMapping::from_toml(&mapping_text).map_err(|error| error.to_string())?;
        let said = args.currency.as_ref().map(|currency| currency.to_ascii_uppercase());
        mapping.defaults.currency = said.or(mapping.defaults.currency).or(currency);
        // Whatever is wrong with the file is said with its name: a script may import several.
        let named = |error: String| format!("{}: {error}", file.display());
        let content = if is_xml(file)? {
            Content::Xml(xml_rows(contract, args, &mapping, file, size)?)
        } else {
            let input = if args.partial { &spec.row } else { &spec.create.spec.input };
            let target = contracts::feed_target(contract, spec.name, input);
            let settings = FeedSettings { format: None, mapping };
            let reader = FeedReader::open(open(file)?, &target, settings.clone());
            let reader = reader.map_err(|error| named(error.to_string()))?;
            let columns = reader.columns().to_vec();
            drop(reader);
            Content::Feed { target: Arc::new(target), settings, columns }
        };
        let hash = content_hash(file)?;
        let parts = [spec.name.as_bytes(), &hash, mapping_text.as_bytes(), args.consent.join(" ").as_bytes()].join(&0);
        let import_id = id_of_hash("imp", &sha256(&parts));
        Ok(ImportSource { file: file.clone(), size, modified, spec: Arc::new(spec), import_id, content })
    }

    /// Which column becomes what, as a table.
    pub(super) fn describe(&self) -> String {
        let Content::Feed { columns, .. } = &self.content else {
            return String::new();
        };
        let width = columns.iter().map(|column| column.header.chars().count()).max().unwrap_or_default().clamp(6, 40);
        // The records of a JSON file have no columns in common.
        if columns.is_empty() {
            return String::new();
        }
        let mut text = format!("{:<width$}  FIELD\n", "COLUMN");
        let mut ignored = Vec::new();
        for column in columns {
            match &column.target {
                ColumnTarget::Ignored => ignored.push(column.header.as_str()),
                used @ (ColumnTarget::Field(_) | ColumnTarget::Extra(_)) => {
                    text.push_str(&format!("{:<width$}  {used}\n", column.header));
                }
            }
        }
        if !ignored.is_empty() {
            text.push_str(&format!("Ignored: {}\n", ignored.join(", ")));
        }
        text
    }

    /// What the file has that no field has, one sentence for each row.
    pub(super) fn notes(&self) -> Vec<String> {
        let Content::Xml(rows) = &self.content else {
            return Vec::new();
        };
        let mut notes = Vec::new();
        for XmlRow { row, unmapped, dropped } in rows {
            if !unmapped.is_empty() {
                notes.push(format!("{}. kept in the comments: {}", row.line, unmapped.join(", ")));
            }
            if !dropped.is_empty() {
                notes.push(format!("{}. too long for the comments: {}", row.line, dropped.join(", ")));
            }
        }
        notes
    }

    /// Rows of a file that was replaced meanwhile have not been checked.
    pub(super) fn require_unchanged(&self) -> Result<(), CliError> {
        let now = std::fs::metadata(&self.file).ok();
        if now.is_some_and(|now| now.len() == self.size && now.modified().ok() == self.modified) {
            return Ok(());
        }
        Err(format!("{} was changed while it was read, and nothing was applied; import it again", self.file.display())
            .into())
    }

    /// Reads the rows from the beginning. An error ends the reading: it concerns the whole file.
    pub(super) fn chunks(&self) -> mpsc::Receiver<Result<RowChunk, String>> {
        let (sender, receiver) = mpsc::channel(READ_AHEAD);
        match &self.content {
            Content::Feed { target, settings, .. } => {
                let (target, settings, file) = (Arc::clone(target), settings.clone(), self.file.clone());
                spawn_blocking(move || {
                    if let Err(error) = read_feed(&file, &target, settings, &sender) {
                        let _ = sender.blocking_send(Err(format!("{}: {error}", file.display())));
                    }
                });
            }
            Content::Xml(rows) => {
                let position = self.size;
                let keys = rows.iter().filter_map(|row| Some((row.row.line, row.row.key.clone()?))).collect();
                let read = |row: &XmlRow| ReadRow { line: row.row.line, arguments: Ok(row.row.arguments.clone()) };
                let chunk = RowChunk { rows: rows.iter().map(read).collect(), keys, position };
                spawn_blocking(move || {
                    let _ = sender.blocking_send(Ok(chunk));
                });
            }
        }
        receiver
    }
}

fn find_spec(resource: &str) -> Result<(&'static str, ImportSpec), CliError> {
    let all = contracts::all();
    let specs = || all.iter().flat_map(|contract| contract.imports.iter().map(|spec| (contract.id, spec)));
    match specs().find(|(_, spec)| spec.name == resource) {
        Some((contract, spec)) => Ok((contract, spec.clone())),
        None => {
            let names: Vec<&str> = specs().map(|(_, spec)| spec.name).collect();
            Err(format!("there is nothing called `{resource}` to import; there are: {}", names.join(", ")).into())
        }
    }
}

fn xml_rows(
    contract: &str,
    args: &ImportArgs,
    mapping: &FeedMapping,
    file: &Path,
    size: u64,
) -> Result<Vec<XmlRow>, CliError> {
    if size > MAX_XML {
        return Err(format!("{} is larger than {MAX_XML} bytes; divide it into several files", file.display()).into());
    }
    let settings =
        XmlSettings { calling_code: mapping.defaults.calling_code.clone(), stated_consent: args.consent.clone() };
    let document = std::fs::read(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    match contracts::read_xml(contract, &args.resource, &document, &settings) {
        Some(rows) => rows.map_err(|error| format!("{}: {error}", file.display()).into()),
        None => {
            let reason = format!("{} cannot be read from XML; use CSV or JSON", args.resource);
            Err(format!("{}: {reason}", file.display()).into())
        }
    }
}

fn read_feed(
    file: &Path,
    target: &FeedTarget,
    settings: FeedSettings,
    sender: &mpsc::Sender<Result<RowChunk, String>>,
) -> Result<(), String> {
    let position = Arc::new(AtomicU64::new(0));
    let source =
        CountingReader { file: open(file).map_err(|error| error.to_string())?, position: Arc::clone(&position) };
    let reader = FeedReader::open(source, target, settings).map_err(|error| error.to_string())?;
    let (mut rows, mut bytes) = (Vec::new(), 0);
    for row in reader {
        let row = ReadRow::from(row.map_err(|error| error.to_string())?);
        bytes += row.arguments.as_ref().map_or(0, |arguments| arguments.values().map(size_of_value).sum());
        rows.push(row);
        if rows.len() == READ_ROWS || bytes >= CHUNK_BYTES {
            let chunk = RowChunk {
                rows: std::mem::take(&mut rows),
                keys: Vec::new(),
                position: position.load(Ordering::Relaxed),
            };
            bytes = 0;
            // Nobody listens any more once the import has failed.
            if sender.blocking_send(Ok(chunk)).is_err() {
                return Ok(());
            }
        }
    }
    let _ = sender.blocking_send(Ok(RowChunk { rows, keys: Vec::new(), position: position.load(Ordering::Relaxed) }));
    Ok(())
}

/// About how long it is as JSON.
fn size_of_value(value: &serde_json::Value) -> usize {
    match value {
        serde_json::Value::String(text) => text.len() + 2,
        serde_json::Value::Array(items) => items.iter().map(size_of_value).sum::<usize>() + 2,
        serde_json::Value::Object(members) => members.values().map(|value| size_of_value(value) + 16).sum(),
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => 8,
    }
}

struct CountingReader {
    file: BufReader<File>,
    position: Arc<AtomicU64>,
}

impl Read for CountingReader {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.position.fetch_add(u64::try_from(count).unwrap_or_default(), Ordering::Relaxed);
        Ok(count)
    }
}

fn open(file: &Path) -> Result<BufReader<File>, CliError> {
    let opened = File::open(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    Ok(BufReader::with_capacity(256 * 1024, opened))
}

fn is_xml(file: &Path) -> Result<bool, CliError> {
    let mut start = Vec::new();
    open(file)?.take(512).read_to_end(&mut start)?;
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&start);
    Ok(text.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'<'))
}

fn content_hash(file: &Path) -> Result<[u8; 32], CliError> {
    let mut reader = open(file)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let count = reader.read(&mut buffer)?;
        if count == 0 {
            return Ok(hash.finalize().into());
        }
        hash.update(buffer.get(..count).unwrap_or_default());
    }
}
