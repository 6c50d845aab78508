//! The automotive contract: literal answers, names and vocabularies by their clauses, and the tools through the engine
//! with a store in memory.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

mod arguments;
mod demo_rows;
mod errors;
mod failures;
mod inventory_writes;
mod leads;
mod loaner;
mod made_up_resource;
mod manifest;
mod mask;
mod naming;
mod personal_data;
mod receipts;
mod reference;
mod resource_fields;
mod resources;
mod routes;
mod scopes;
mod search;
mod successes;
mod support;
mod totals;
mod vendor_fields;
mod wrong_calls;
