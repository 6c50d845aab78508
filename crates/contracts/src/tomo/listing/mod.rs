//! The listing shape: things that are booked for nights or bought.

use std::sync::Arc;

use frontdesk_engine::import::ImportSpec;
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::model::tool::Run;

use super::ToolContext;
use super::intent::IntentTool;
use crate::Record;
use crate::record::{Integer, Text};

/// Rooms of a hotel that are booked.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct Stay {
    /// The kind of room.
    pub room_id: Text<64>,
    /// The first night.
    pub check_in: Text<10>,
    /// The day after the last night.
    pub check_out: Text<10>,
    /// How many rooms.
    pub rooms: Integer<1, 20>,
}

/// A car that is held for its buyer.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct CarPurchase {
    /// The vehicle of the stock.
    pub vehicle_id: Text<64>,
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
