//! The types that a call is described with: who calls, what is asked, what is planned, what is answered, what goes wrong.
//! Nothing here waits or does input or output.

pub mod caller;
pub mod contract;
pub mod contract_entry;
pub mod event_sink;
pub mod fault;
pub mod glob;
pub mod idempotency_key;
pub mod incoming;
pub mod intern;
pub mod latency_target;
pub mod mount_policy;
pub mod nearest;
pub mod notice;
pub mod observation;
pub mod page;
pub mod plan;
pub mod relay;
pub mod reply;
pub mod route;
pub mod row_check;
pub mod schema;
pub mod table;
pub mod tenant;
pub mod timestamp;
pub mod tool;
pub mod tool_input;
pub mod trace;
