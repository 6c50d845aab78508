//! The judge: walks a published checklist against any server, ours or another's, from outside. It shares the intent files
//! of spec/ with the server and none of its code, so that one mistake cannot hide in both.

mod command;
mod event_stream;
mod https;
mod json_schema;
mod report;
mod rpc;
mod tomo;

pub use command::{ProbeArgument, ProbeArgumentKind, ProbeCommand, ProbeInput, ProbeReport};

/// The commands, each with the contract that it judges servers by.
pub const COMMANDS: &[ProbeCommand] = &[tomo::DOCTOR, tomo::SIMULATE];
