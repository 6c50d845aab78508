//! A whole desk on PostgreSQL, and two of them on one database.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

mod day;
mod erasure;
mod imports;
mod key_rotation;
mod nodes;
mod parts;
mod serving;
mod signals;
mod tenant_transfer;
