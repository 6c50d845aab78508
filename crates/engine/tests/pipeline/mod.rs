//! One file per stage, in the order of the stages.

mod admit;
mod batch;
mod cancel;
mod cursor;
mod deadline;
mod era;
mod frame;
mod identify;
mod initialize;
mod large_bodies;
mod listing;
mod perform;
mod permit;
pub(crate) mod precheck;
mod precheck_order;
mod read;
mod record;
mod replay;
mod resolve;
mod resource;
mod run_tool;
mod shape;
mod watch;
mod watch_held;
