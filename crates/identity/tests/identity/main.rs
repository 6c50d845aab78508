//! The embedded authorization server through its public surface. Names in brackets of a test's
//! comment are the attack or clause it answers.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise, also in its helpers"
)]

mod audit;
mod clients;
mod grants;
mod identify;
mod metadata;
mod proofs;
mod records;
mod revocation;
mod support;
