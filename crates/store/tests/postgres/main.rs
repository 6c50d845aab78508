//! The store suite on PostgreSQL, and tests of PostgreSQL alone.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::panic, reason = "a test fails by panicking")]
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

mod audit_loss;
mod erasing;
mod installation;
mod nodes;
mod outages;
mod pressure;
mod quotas;
#[path = "../shared/quotas_suite.rs"]
mod quotas_suite;
mod reindex;
mod rls;
mod tampering;
mod test_store;
mod tls;
mod transfer;
mod writer_stats;

mod portable {
    frontdesk_testkit::every_behaviour!(crate::test_store::subject);
}
