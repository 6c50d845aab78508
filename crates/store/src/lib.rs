//! Storage: every SQL statement of Frontdesk is in this crate. It knows tables, rows and plans as the engine
//! declares them, and no contract.

pub mod audit;
mod backend;
mod error;
mod idempotency;
mod installation;
mod keyring;
pub mod postgres;
mod reindex;
pub mod site_db;
mod sql;
pub mod sqlite;
pub mod transfer;

pub use audit::AuditSelection;
pub use backend::usage::{StorageLimits, StoredUsage, Usage, UsageLimit};
pub use backend::{Backend, WriterStats};
pub use error::{DatabaseKind, StoreError};
pub use installation::{installation_key, root_key};
pub use postgres::{Address, AddressError, PostgresAudit, PostgresOptions, PostgresStore, check_connection};
pub use sql::registry_rows::UnauthenticatedRows;
pub use sql::statements;
pub use sqlite::{
    AuditReader, BackupMac, BackupTrust, SqliteOptions, SqliteStore, back_up, extract_backup, make_sample,
};
