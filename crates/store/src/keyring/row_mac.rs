//! The MAC of a contract's row, with a key of its tenant. It covers what callers read and what is sealed, with the row's
//! version, so that a row cannot be changed or mixed from two versions. Columns that rows are found by are not covered:
//! they are computed from the row, and some are counted up and down in place.

use super::TenantKeys;
use crate::StoreError;

/// What the MAC covers, as it is stored.
pub(crate) struct RowContent<'a> {
    pub(crate) tenant: &'a str,
    pub(crate) table: &'a str,
    pub(crate) id: &'a str,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
    pub(crate) body: &'a str,
    pub(crate) masked: Option<&'a str>,
    pub(crate) sealed: Option<&'a [u8]>,
    pub(crate) sealed_secret: Option<&'a [u8]>,
}

impl RowContent<'_> {
    pub(crate) fn mac(&self, keys: &TenantKeys) -> Vec<u8> {
        self.with_parts(|parts| keys.rows.mac(parts).to_vec())
    }

    /// A row without a MAC is refused as well.
    pub(crate) fn verify(&self, keys: &TenantKeys, mac: Option<&[u8]>) -> Result<(), StoreError> {
        if mac.is_some_and(|mac| self.with_parts(|parts| keys.rows.verifies(parts, mac))) {
            return Ok(());
        }
        tracing::error!(table = self.table, id = self.id, "row refused: it was changed without its tenant's key");
        Err(StoreError::RowRefused { table: self.table.to_owned(), id: self.id.to_owned() })
    }

    fn with_parts<T>(&self, compute: impl FnOnce(&[&[u8]]) -> T) -> T {
        // What is absent differs from what is empty.
        let present = [self.masked.is_some(), self.sealed.is_some(), self.sealed_secret.is_some()].map(u8::from);
        compute(&[
            self.tenant.as_bytes(),
            self.table.as_bytes(),
            self.id.as_bytes(),
            &self.version.to_be_bytes(),
            &self.created_at.to_be_bytes(),
            &self.updated_at.to_be_bytes(),
            &present,
            self.body.as_bytes(),
            self.masked.unwrap_or_default().as_bytes(),
            self.sealed.unwrap_or_default(),
            self.sealed_secret.unwrap_or_default(),
        ])
    }
}
