//! `cancel_order` and `track_order`: giving an order up, and how it stands.

use frontdesk_engine::model::plan::Plan;
use frontdesk_engine::model::tool::{Future, Outcome, Progress, WatchReport, WatchState, WatchTool, WriteTool};
use frontdesk_engine::{Fault, Permitted};
use serde_json::{Value, json};

use super::OrderContext;
use super::placed::{minutes_left, order_facts, order_of, portion_steps};
use super::stage::{OrderStage, STEPS, cancel_by_customer};
use crate::record::{Entity, Vocabulary as _};
use crate::tomo::booking::{Booking, BookingStatus};
use crate::tomo::booking_plan::{changed, repeated};
use crate::tomo::known_facts::{Fact, decimal, list, text, whole};

pub(super) struct CancelOrder(pub(super) OrderContext);

impl WriteTool for CancelOrder {
    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
        Box::pin(async move {
            let CancelOrder(context) = self;
            let now = permitted.now();
            let mut booking = Booking::load(permitted, &context.shared).await?;
            if booking.record.status == BookingStatus::Cancelled {
                return repeated(&context.tool, &booking, &order_facts(&booking, now));
            }
            let portions = cancel_by_customer(&mut booking.record, now)?;
            let steps = portion_steps(permitted, &booking.record, portions).await?;
            changed(permitted, &context.tool, booking, steps, |booking| order_facts(booking, now))
        })
    }
}

pub(super) struct TrackOrder(pub(super) OrderContext);

impl WatchTool for TrackOrder {
    /// T-107: it only looks.
    fn observe<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<WatchReport, Fault>> {
        Box::pin(async move {
            let TrackOrder(context) = self;
            let booking = Booking::load(permitted, &context.shared).await?;
            let stage = OrderStage::of(&booking.record);
            let facts = track_facts(&booking, permitted)?;
            let payload = context
                .tool
                .project(&facts)
                .map_err(|missing| Fault::internal(format!("an order has no {} to answer with", missing.0)))?;
            let is_final = booking.record.status.is_final();
            Ok(WatchReport {
                outcome: Outcome::Raw { answer: payload.to_string(), rows: 1 },
                progress: Progress { done: stage.steps(), total: STEPS, message: stage.message().to_owned() },
                state: if is_final { WatchState::Ended } else { WatchState::Open },
            })
        })
    }
}

/// The facts of an order on its way. Who brings it and where they are may not be known: a list of none or one.
pub(super) const TRACK: &[Fact] = &[
    text("booking_ref"),
    text("status"),
    text("mode"),
    text("restaurant_id"),
    text("restaurant_name"),
    text("stage"),
    text("stage_at"),
    text("message"),
    whole("eta_minutes"),
    text("eta_at"),
    whole("progress_percent"),
    list("couriers", &[&[text("first_name")]]),
    list("courier_positions", &[&[decimal("lat"), decimal("lng")]]),
];

fn track_facts(booking: &Entity<Booking>, permitted: &Permitted<'_>) -> Result<Value, Fault> {
    let record = &booking.record;
    let order = order_of(record)?;
    let stage = OrderStage::of(record);
    let couriers = order.courier_name.iter().map(|name| json!({"first_name": &**name}));
    let positions =
        order.courier_place.iter().map(|place| json!({"lat": place.lat.to_f64(), "lng": place.lng.to_f64()}));
    Ok(json!({
        "booking_ref": booking.id,
        "status": record.status.as_str(),
        "mode": record.mode.as_str(),
        "restaurant_id": &*record.item_id,
        "restaurant_name": &*order.restaurant_name,
        "stage": stage.as_str(),
        "stage_at": order.stage_at.to_rfc3339(),
        "message": stage.message(),
        "eta_minutes": minutes_left(record, order, permitted.now()),
        "eta_at": order.eta_at.to_rfc3339(),
        "progress_percent": stage.steps().saturating_mul(100) / STEPS,
        "couriers": couriers.collect::<Vec<Value>>(),
        "courier_positions": positions.collect::<Vec<Value>>(),
    }))
}
