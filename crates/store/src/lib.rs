//! Where things are kept: every line of SQL in Frontdesk is in this crate. It knows kinds, rows and
//! plans as the engine declares them, and no contract.

pub mod audit;
mod claims;
mod ddl;
mod error;
mod keeper;
mod load;
pub mod moving;
mod notes;
pub mod postgres;
pub mod site_db;
mod sql;
pub mod sqlite;
pub mod statements;
mod vault;

pub use audit::Selection;
pub use error::{Data, StoreError};
pub use keeper::Keeper;
pub use load::Load;
pub use postgres::{Address, AddressError, PostgresAudit, PostgresOptions, PostgresStore, reach};
pub use sqlite::{AuditReader, Options, SqliteStore, back_up, inspect, make_sample};
