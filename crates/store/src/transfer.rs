//! Moving a tenant to another database. A [`TenantExport`] reads the tenant in one snapshot; a [`TenantImport`] writes
//! it in one transaction. Rows are transferred as they are stored: what is sealed or hashed with the tenant's own key
//! stays so, and only that key is unwrapped with the old master key and wrapped with the new one.
//!
//! The hashes of an audit chain are keyed with the master key, so they cannot be verified elsewhere. The chain is
//! verified by the export, and the import computes new hashes for the same links. It then appends a link that records
//! the import and how the old chain ended, so that both can be compared.
//!
//! Clients of this tenant alone are transferred with their ids, because idempotency keys belong to clients. Clients of
//! several tenants are only listed. Tokens, cursors and the nodes' chains are not transferred.

mod export;
mod import;
mod layout;
mod manifest;
mod row_check;
pub(crate) mod tables;
mod tx;
mod validation;

use std::path::PathBuf;

use crate::Address;

pub use crate::sql::session::StoredValue;
pub use export::TenantExport;
pub use import::{ImportTarget, TenantImport};
pub use manifest::{ChainEnds, Manifest, TableManifest};
pub use row_check::ImportCheck;

/// The database that holds a tenant's rows.
#[derive(Debug, Clone)]
pub enum DataLocation {
    Sqlite(PathBuf),
    Postgres(Address),
}

#[cfg(test)]
mod tests;
