//! The embedded authorization server through its public API. Ids in brackets in the comment of a test are the attacks
//! and clauses that it covers.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise, also in its helpers"
)]

mod audit;
mod authentication;
mod clients;
mod grants;
mod identify;
mod login_limit;
mod metadata;
mod revocation;
mod step_up;
mod support;
