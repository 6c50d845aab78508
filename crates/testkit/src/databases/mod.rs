//! PostgreSQL and MariaDB servers for tests, in temporary folders and reached by sockets in them.
//!
//! A test that only needs a database asks for a [`PostgresDatabase`] or a [`MariadbDatabase`]: it is created on the
//! shared server of the test run if there is one (see the binary `test-databases`), otherwise on a server of this
//! process. A test that stops, restarts or configures a server starts a [`PostgresServer`] or [`MariadbServer`] of its
//! own. No server that is on the machine for another reason is ever used.

mod mariadb;
mod mariadb_database;
mod postgres;
mod postgres_database;
mod process;

pub use mariadb::MariadbServer;
pub use mariadb_database::MariadbDatabase;
pub use postgres::{HeldLocks, KillSwitch, PostgresServer, ROLE, WalSync};
pub use postgres_database::PostgresDatabase;

/// Names the folder of the shared PostgreSQL server.
pub const POSTGRES_VARIABLE: &str = "FRONTDESK_TEST_POSTGRES";
/// Names the folder of the shared MariaDB server.
pub const MARIADB_VARIABLE: &str = "FRONTDESK_TEST_MARIADB";

#[expect(clippy::disallowed_methods, reason = "the test runner passes the folders of the shared servers this way")]
fn shared_folder(variable: &str) -> Option<std::path::PathBuf> {
    std::env::var_os(variable).filter(|value| !value.is_empty()).map(std::path::PathBuf::from)
}

/// A name that no other test of this run gives to its database.
fn new_database_name() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("test_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}
