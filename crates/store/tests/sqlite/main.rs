//! The store suite on SQLite, and tests of SQLite alone.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::panic, reason = "a test fails by panicking")]
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

mod anchors;
mod at_rest;
mod audit;
mod audit_loss;
mod dispatch;
mod erasing;
mod installation;
mod opening;
mod quotas;
#[path = "../shared/quotas_suite.rs"]
mod quotas_suite;
mod reindex;
mod search_terms;
mod tampering;
mod test_store;
mod transfer;
mod writer;
mod writer_stats;

mod portable {
    frontdesk_testkit::every_behaviour!(crate::test_store::subject);
}
