//! What keeps one caller from costing the others: budgets of calls, counted refusals, running calls that can be
//! cancelled, and locks for tenants whose writes conflict. All of it is bounded.

pub mod inflight;
pub mod rate;
pub mod tally;
pub mod tenant_locks;
