//! What keeps one caller from costing the others: budgets of calls, the memory of bodies, counted refusals, running calls
//! that can be cancelled, answers that stay open, and locks for tenants whose writes conflict. All of it is bounded.

pub mod address_locks;
pub mod body_memory;
pub mod inflight;
pub mod ip_prefix;
pub mod rate;
pub mod streams;
pub mod tally;
pub mod tenant_changes;
pub mod tenant_locks;
