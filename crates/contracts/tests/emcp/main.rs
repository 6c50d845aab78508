//! The eMCP toolset: literal answers, and the tools through the engine with a made-up site in SQLite, MariaDB and
//! PostgreSQL.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

mod bench_queries;
mod defects;
mod failures;
mod initialize;
mod lenient;
mod models;
mod query_recorder;
mod random_calls;
mod schema_validator;
mod schemas;
mod search;
mod support;
mod tree;
mod unknown_arguments;
mod variables;
