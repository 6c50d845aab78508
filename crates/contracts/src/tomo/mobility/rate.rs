//! `rate_ride`: what the rider thought of a ride that is complete. A later rating replaces an earlier one as a whole, and
//! the same one again changes nothing. A ride of the sandbox never moves by itself, so it can be rated at once.

use std::sync::Arc;

use frontdesk_engine::model::plan::Plan;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::{Future, WriteTool};
use frontdesk_engine::{Fault, Permitted};
use serde_json::{Value, json};

use super::ride::{ride_of, ride_of_mut};
use crate::record::{Entity, FieldType as _, Integer, Text};
use crate::tomo::ToolContext;
use crate::tomo::booking::{Booking, BookingMode, BookingStatus};
use crate::tomo::booking_plan::{changed, repeated};
use crate::tomo::codes::BOOKING_CLOSED;
use crate::tomo::intent::IntentTool;
use crate::tomo::known_facts::{Fact, boolean, text, whole};

pub(super) struct RateRide {
    pub(super) context: Arc<ToolContext>,
    pub(super) tool: IntentTool,
}

/// The facts of a rating. What the rider wrote is in no answer.
pub(super) const RATED: &[Fact] = &[text("booking_ref"), boolean("acknowledged"), whole("rating"), text("rated_at")];

impl WriteTool for RateRide {
    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
        Box::pin(async move {
            let (rating, comment) = (rating_argument(permitted)?, comment_argument(permitted)?);
            let mut booking = Booking::load(permitted, &self.context).await?;
            check_ratable(&booking.record)?;
            let ride = ride_of_mut(&mut booking.record)?;
            if (ride.rating, &ride.comment) == (Some(rating), &comment) {
                let facts = rated_facts(&booking)?;
                return repeated(&self.tool, &booking, &facts);
            }
            ride.rating = Some(rating);
            ride.comment = comment;
            ride.rated_at = Some(whole_second(permitted.now()));
            let facts = rated_facts(&booking)?;
            changed(permitted, &self.tool, booking, Vec::new(), |_| facts)
        })
    }
}

fn rated_facts(booking: &Entity<Booking>) -> Result<Value, Fault> {
    let ride = ride_of(&booking.record)?;
    Ok(json!({
        "booking_ref": booking.id,
        "acknowledged": true,
        "rating": ride.rating.map(|rating| rating.get()),
        "rated_at": ride.rated_at.map(|at| at.to_rfc3339()),
    }))
}

/// An intent file may allow more than a record can hold.
fn rating_argument(permitted: &Permitted<'_>) -> Result<Integer<1, 5>, Fault> {
    let rating = permitted.input().integer("rating").filter(|rating| (1..=5).contains(rating));
    let rating = rating.ok_or_else(|| Fault::invalid_argument("/rating", "maximum", "1 to 5 is expected"))?;
    Ok(Integer::clamped(rating))
}

fn comment_argument(permitted: &Permitted<'_>) -> Result<Option<Text<500>>, Fault> {
    let Some(given) = permitted.input().arguments.get("comment") else { return Ok(None) };
    if !Text::<500>::input().problems(given).is_empty() {
        return Err(Fault::invalid_argument("/comment", "maxLength", "1 to 500 characters are expected"));
    }
    Ok(given.as_str().map(Text::from))
}

fn check_ratable(booking: &Booking) -> Result<(), Fault> {
    let is_tried_out = booking.mode == BookingMode::Sandbox;
    match booking.status {
        BookingStatus::Completed => Ok(()),
        BookingStatus::Confirmed if is_tried_out => Ok(()),
        BookingStatus::Confirmed | BookingStatus::Cancelled | BookingStatus::Failed | BookingStatus::Unknown => {
            Err(Fault::domain(BOOKING_CLOSED, "Only a ride that is complete can be rated."))
        }
    }
}

/// Stored times have the precision of published ones.
fn whole_second(at: Millis) -> Millis {
    Millis(at.seconds().saturating_mul(1_000))
}
