//! The mobility shape: rides from one place to another, with the fares, the surges and the drivers of the business's own
//! records. A driver has one ride at a time; pickup, drop and rider are in no answer.

mod advance;
mod book;
mod change;
pub mod demo;
pub mod driver;
mod estimate;
mod fare;
pub mod fare_table;
mod rate;
mod ride;
mod share;
mod stage;
pub mod surge;
mod track;

use std::sync::Arc;

use frontdesk_engine::import::ImportSpec;
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::model::tool::Run;

use super::ToolContext;
use super::booking_plan::{BOOKING, CANCELLED};
use super::intent::{IntentTool, Role};
use super::known_facts::{FactGroups, TOKEN, list};
use super::managed::import;
use crate::record::Stored as _;
pub use advance::advance;
use book::BookRide;
use change::{ChangeRide, RideChange};
use driver::Driver;
use estimate::EstimateRides;
pub use fare::SurgeMultiplier;
use fare_table::FareTable;
use rate::RateRide;
pub use ride::{BookedRide, RidePlace, RidePlaces, SeenVehicle};
use share::ShareTrip;
pub use share::trip_status;
pub use stage::RideStage;
use surge::SurgeRule;
use track::TrackRide;

pub fn tables() -> Vec<&'static TableSpec> {
    vec![FareTable::table(), SurgeRule::table(), Driver::table()]
}

pub fn imports() -> Vec<ImportSpec> {
    vec![import::<FareTable>("fares"), import::<SurgeRule>("surges"), import::<Driver>("drivers")]
}

const ESTIMATES: FactGroups = &[&[list("options", &[estimate::OPTION])], TOKEN];

/// What each tool can know. A ride has a refund only once it is cancelled.
pub(super) fn facts(tool: &str) -> FactGroups {
    match tool {
        "get_ride_estimates" => ESTIMATES,
        "track_ride" => &[BOOKING, ride::RIDE, track::TRACK],
        "cancel_ride" => &[BOOKING, ride::RIDE, CANCELLED],
        "rate_ride" => &[rate::RATED],
        "share_trip_status" => &[share::SHARED],
        _ => &[BOOKING, ride::RIDE],
    }
}

/// What a tool does. An intent file gives every tool of the shape the role that it has there.
pub fn run(context: &Arc<ToolContext>, tool: &IntentTool) -> Run {
    let (context, tool) = (Arc::clone(context), tool.clone());
    match tool.role {
        Role::Search | Role::GetDetail => Run::read(EstimateRides { context, tool }),
        Role::Create => Run::write(BookRide { context, tool }),
        Role::Track => Run::watch(TrackRide { context, tool }),
        Role::Cancel => Run::write(ChangeRide { context, tool, kind: RideChange::Cancel }),
        Role::Modify => Run::write(ChangeRide { context, tool, kind: RideChange::Drop }),
        Role::Rate => Run::write(RateRide { context, tool }),
        Role::Utility => Run::read(ShareTrip { context, tool }),
    }
}
