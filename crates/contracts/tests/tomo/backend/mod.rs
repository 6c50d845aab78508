//! The business's own system behind the contract: what is sent, what is taken back, and what is not.

mod changes;
mod creates;
mod failures;
mod interrupted;
mod lies;
mod parallel;
mod reads;
mod rides;
mod support;
