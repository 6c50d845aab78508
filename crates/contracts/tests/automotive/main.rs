//! The automotive contract: literal answers, names and vocabularies by their clauses, and the tools through the engine
//! with a store in memory.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

mod appointments;
mod arguments;
mod availability;
mod calendar;
mod consents;
mod customers;
mod deals;
mod demo_rows;
mod erasure;
mod errors;
mod every_resource;
mod failures;
mod feed_rows;
mod fees;
mod import_jobs;
mod imports;
mod inventory_writes;
mod lead_lifecycle;
mod lead_stock;
mod leads;
mod loaner;
mod made_up_resource;
mod manifest;
mod mask;
mod matrix;
mod naming;
mod personal_data;
mod provoked_codes;
mod quotes;
mod receipts;
mod reference;
mod repair_orders;
mod resource_fields;
mod resources;
mod routes;
mod sales;
mod scopes;
mod search;
mod service_parallel;
mod signals;
mod size;
mod stock;
mod successes;
mod support;
mod surface;
mod totals;
mod trade_values;
mod vendor_fields;
mod whole_deals;
mod wrong_calls;
mod wrong_ids;
