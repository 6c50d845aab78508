//! The service shape: times at which somebody does work.

use std::sync::Arc;

use frontdesk_engine::import::ImportSpec;
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::model::tool::Run;

use super::ToolContext;
use super::intent::IntentTool;
use crate::Record;
use crate::record::{Text, Timestamp};

/// A time that is booked.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct BookedSlot {
    /// When it ends.
    pub ends_at: Timestamp,
    /// The appointment of the workshop, where it is one.
    pub appointment_id: Option<Text<64>>,
}

pub fn tables() -> Vec<&'static TableSpec> {
    Vec::new()
}

pub fn imports() -> Vec<ImportSpec> {
    Vec::new()
}

pub fn run(_context: &Arc<ToolContext>, _tool: &IntentTool) -> Run {
    Run::read(super::unbuilt)
}
