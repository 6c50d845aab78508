//! Calls that are done by somebody else's system. A call is first claimed under a lease, then sent with its key, and what
//! was answered is committed last. Whatever is lost between, the same key is sent again: by the caller, or by the worker.
//! Nothing here knows what is sent or to whom.

mod record;
mod run;
mod store;
mod worker;

pub use record::{RELAY, RELAY_EXPIRES_AT};
pub(crate) use run::relay;
pub use worker::{repeat_due, run_relays};
