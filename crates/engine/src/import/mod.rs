//! Records that come in by file: each row becomes the create or the update that the tool of its kind would make, by the
//! same rules and with the same record. An import never writes by itself.

mod duplicates;
mod job;
mod job_store;
mod queue;
mod session;
mod spec;
mod tools;
mod worker;

pub use duplicates::DuplicateRows;
pub use job::{IMPORT, IMPORT_EXPIRES_AT, IMPORT_FEED, ImportCounts, ImportMode, ImportStatus, OnBadRows};
pub use queue::ImportQueue;
pub use session::{CHUNK_ROWS, ImportSession, RowResult, RowVerdict};
pub use spec::{FeedText, ImportKey, ImportRow, ImportRules, ImportSpec, ReadRow, RowChange, RowProblem};
pub use tools::{ImportToolTexts, import_tools};
pub use worker::{ImportHost, run_imports, too_many};
