//! What the stages are made of, each by itself.

mod cursor_fuzz;
mod globs;
mod idempotency_keys;
mod ids;
mod rates;
mod schema_check;
mod schema_from_json;
mod schema_publish;
mod search_terms;
mod traces;
