//! `share_trip_status`: a link that shows how a trip stands to anybody who has it, without anybody's personal data. It
//! ends with the trip.

use std::sync::Arc;

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::{Future, Outcome, ReadTool};
use frontdesk_engine::{Fault, Permitted};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::ride::{check_not_final, ride_of, stage_of};
use crate::record::{Entity, Stored as _, Vocabulary as _};
use crate::tomo::ToolContext;
use crate::tomo::booking::{Booking, answer};
use crate::tomo::codes::NOT_FOUND;
use crate::tomo::intent::IntentTool;
use crate::tomo::known_facts::{Fact, text};

const PURPOSE: &str = "trip";

/// A link lasts this long at most; rides within a city are over by then.
const LINK_SECONDS: i64 = 6 * 60 * 60;

pub(super) struct ShareTrip {
    pub(super) context: Arc<ToolContext>,
    pub(super) tool: IntentTool,
}

pub(super) const SHARED: &[Fact] = &[text("booking_ref"), text("share_url"), text("expires_at")];

#[derive(Serialize, Deserialize)]
struct TripLink {
    booking_id: String,
    expires_at: i64,
}

impl ReadTool for ShareTrip {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let booking = Booking::load(permitted, &self.context).await?;
            check_not_final(&booking.record)?;
            let expires_at = Millis(permitted.now().seconds().saturating_mul(1_000)).plus_seconds(LINK_SECONDS);
            let link = TripLink { booking_id: booking.id.clone(), expires_at: expires_at.0 };
            let content = serde_json::to_vec(&link).map_err(|_| Fault::internal("a link is no JSON"))?;
            let token = permitted.seal(PURPOSE, &content)?;
            let facts = json!({
                "booking_ref": booking.id,
                "share_url": format!("{}/trips/{token}", self.context.public_url),
                "expires_at": expires_at.to_rfc3339(),
            });
            Ok(Outcome::One(answer(&self.tool, &booking, &facts)?))
        })
    }
}

/// How the trip of a link stands: no names, plates, addresses or coordinates. A link that is wrong, too old or whose trip
/// is over leads nowhere.
pub async fn trip_status(permitted: &Permitted<'_>, token: &str) -> Result<Value, Fault> {
    let missing = || Fault::domain(NOT_FOUND, "This link has ended or is wrong.");
    let content = permitted.open(PURPOSE, token).ok_or_else(missing)?;
    let link: TripLink = serde_json::from_slice(&content).map_err(|_| missing())?;
    if permitted.now().0 >= link.expires_at {
        return Err(missing());
    }
    let row = permitted.get_to_change(Booking::table(), &link.booking_id).await?.ok_or_else(missing)?;
    let booking: Entity<Booking> = Entity::restore(permitted.tenant(), &row)?;
    if booking.record.status.is_final() {
        return Err(missing());
    }
    let (ride, stage) = (ride_of(&booking.record)?, stage_of(&booking.record)?);
    Ok(json!({
        "stage": stage.as_str(),
        "message": stage.message(),
        "eta_minutes": ride.eta_minutes(permitted.now()),
        "vehicle_class": ride.vehicle_class.as_str(),
        "city": &*ride.city,
        "expires_at": Millis(link.expires_at).to_rfc3339(),
    }))
}
