//! The stages of a call, one file each, named as `serve` names them. Stage 1, receive, is the transport's.

pub mod admit;
pub mod frame;
pub mod identify;
pub mod perform;
pub mod permit;
pub mod precheck;
pub mod read;
pub mod record;
pub mod resolve;
pub mod shape;
