//! Moving a tenant to another database. A [`Departure`] is the tenant as it was at one moment; an [`Arrival`] is
//! one transaction that makes it whole in its new home, or leaves nothing. Rows travel as they are kept: what is
//! sealed or hashed with the tenant's own key stays so, and only that key changes hands, opened here with the old
//! master key and sealed with the new one.
//!
//! The hashes of an audit chain are keyed with the master key, so they cannot be checked elsewhere. The chain is
//! checked on departure, and its records are linked anew on arrival with the same numbers. The first link after
//! them says that the tenant arrived and how the old chain ended, so that both can be compared where both are kept.
//!
//! Clients that act for this tenant alone come along with their ids: idempotency keys belong to them. A client of
//! several tenants is not this tenant's to take; it is only named. Tokens, cursors and the nodes' chains stay.

mod arrival;
mod departure;
mod manifest;
mod rules;
mod shelf;
mod tables;

use std::path::PathBuf;

use crate::Address;

pub use arrival::{Arrival, Receiving};
pub use departure::Departure;
pub use manifest::{Announced, ChainEnds, Manifest};

/// Where a tenant's rows are.
#[derive(Debug, Clone)]
pub enum Home {
    Sqlite(PathBuf),
    Postgres(Address),
}

/// A value as a table keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Field {
    Null,
    Integer(i64),
    Text(String),
    Bytes(Vec<u8>),
}

#[cfg(test)]
mod tests;
