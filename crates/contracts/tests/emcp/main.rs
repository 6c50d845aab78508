//! The eMCP toolset: literal answers, and the tools through the engine with a made-up site in SQLite, MariaDB and
//! PostgreSQL.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

mod bench_queries;
#[path = "../common/mod.rs"]
mod common;
mod defects;
mod expected_queries;
mod failures;
mod initialize;
mod lenient;
#[path = "../../../store/tests/site_db/mariadb.rs"]
#[expect(dead_code, reason = "the store's own tests use more of it")]
mod mariadb;
mod models;
mod query_recorder;
mod random_calls;
mod schema_validator;
mod schemas;
mod search;
#[path = "../../../store/tests/postgres/server.rs"]
#[expect(dead_code, reason = "the store's own tests use more of it")]
mod server;
mod support;
#[path = "../../../store/tests/site_db/three.rs"]
#[expect(dead_code, reason = "the store's own tests use more of it")]
mod three;
mod tree;
mod variables;
