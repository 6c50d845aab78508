//! Where things are kept: every line of SQL in Frontdesk is in this crate. It knows kinds, rows and
//! plans as the engine declares them, and no contract.

pub mod audit;
mod ddl;
mod error;
mod load;
mod sql;
pub mod sqlite;
mod vault;

pub use error::StoreError;
pub use load::Load;
pub use sqlite::{AuditReader, Options, Selection, SqliteStore, back_up, inspect};
