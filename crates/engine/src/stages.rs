//! The stages of a call, one file each, as `serve` names them. `permit` stands beside them because its
//! product is a type that everything else depends on.

pub mod admit;
pub mod batch;
pub mod catalogue;
pub mod door;
pub mod frame;
pub mod identify;
pub mod listing;
pub mod perform;
pub mod read;
pub mod record;
pub mod resolve;
pub mod shape;
pub mod stopwatch;
mod template;
