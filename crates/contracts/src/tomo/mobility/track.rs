//! `track_ride`: how a ride stands. It only reads.

use std::sync::Arc;

use frontdesk_engine::model::tool::{Future, Outcome, Progress, WatchReport, WatchState, WatchTool};
use frontdesk_engine::{Fault, Permitted};
use serde_json::json;

use super::ride::{load_driver, ride_facts, ride_of, stage_of};
use super::stage::STEPS;
use crate::tomo::ToolContext;
use crate::tomo::booking::{Booking, answer};
use crate::tomo::booking_plan::CANCELLED;
use crate::tomo::codes::NOT_FOUND;
use crate::tomo::facts::with;
use crate::tomo::intent::IntentTool;
use crate::tomo::known_facts::{Fact, decimal, object, text};

pub(super) struct TrackRide {
    pub(super) context: Arc<ToolContext>,
    pub(super) tool: IntentTool,
}

/// What tracking adds to the facts of a ride.
pub(super) const TRACK: &[Fact] =
    &[object("location", &[&[decimal("lat"), decimal("lng"), text("updated_at")]]), text("message")];

impl WatchTool for TrackRide {
    fn observe<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<WatchReport, Fault>> {
        Box::pin(self.look(permitted))
    }
}

impl TrackRide {
    async fn look(&self, permitted: &Permitted<'_>) -> Result<WatchReport, Fault> {
        let booking = Booking::load(permitted, &self.context).await?;
        let (ride, stage) = (ride_of(&booking.record)?, stage_of(&booking.record)?);
        // Where the vehicle was is where the rider was, so that it is gone with the rider.
        let erased = || Fault::domain(NOT_FOUND, "The rider was erased, so this ride can no longer be followed.");
        let seen = ride.seen.as_ref().ok_or_else(erased)?;
        let track = json!({
            "location": {"lat": seen.lat.to_f64(), "lng": seen.lng.to_f64(), "updated_at": seen.at.to_rfc3339()},
            "message": stage.message(),
        });
        let driver = load_driver(permitted, ride).await?;
        let mut facts = with(ride_facts(&booking, &driver, permitted.now())?, track);
        if let Some(facts) = facts.as_object_mut() {
            // What a cancellation cost is for the tool that cancels.
            for fact in CANCELLED {
                facts.remove(fact.name);
            }
        }
        let is_over = booking.record.status.is_final();
        Ok(WatchReport {
            outcome: Outcome::One(answer(&self.tool, &booking, &facts)?),
            progress: Progress { done: stage.step(), total: STEPS, message: stage.message().to_owned() },
            state: if is_over { WatchState::Ended } else { WatchState::Open },
        })
    }
}
