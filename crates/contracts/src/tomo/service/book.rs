//! `book_slot`: a place at a time, at the price that the search promised. It takes the place and stores the booking in
//! one plan, together with the dealership's appointment where the workshop does the work.

use std::sync::Arc;

use frontdesk_engine::model::plan::{Change, Plan, Step};
use frontdesk_engine::model::tool::{Future, Item, WriteTool};
use frontdesk_engine::{Fault, Permitted};
use serde_json::Value;

use super::booked::{BookedSlot, BookedVehicle, booking_facts, load_current};
use super::offer::RequestedWork;
use super::places::{self, PlaceRequest, gone};
use super::slots::slot_argument;
use super::source;
use crate::record::{Entity, Integer, List, Stored as _, Text};
use crate::tomo::ToolContext;
use crate::tomo::argument::argument;
use crate::tomo::booking::{Booking, BookingCustomer, TENANT_MEMBER, answer, events};
use crate::tomo::codes::RESULT_EXPIRED;
use crate::tomo::intent::IntentTool;
use crate::tomo::result_token;

pub(super) struct BookSlot {
    pub(super) context: Arc<ToolContext>,
    pub(super) tool: IntentTool,
}

impl WriteTool for BookSlot {
    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
        Box::pin(self.plan_booking(permitted))
    }

    /// The same booking, as it is by now.
    fn replay<'a>(&'a self, permitted: &'a Permitted<'a>, stored: Item) -> Future<'a, Result<Item, Fault>> {
        Box::pin(async move {
            let booking = load_current(permitted, &self.context, &stored.id).await?;
            answer(&self.tool, &booking, &booking_facts(&booking)?)
        })
    }
}

impl BookSlot {
    async fn plan_booking(&self, permitted: &Permitted<'_>) -> Result<Plan, Fault> {
        let start = slot_argument(permitted)?;
        let vehicle: BookedVehicle = argument(permitted, "vehicle")?;
        let customer: BookingCustomer = argument(permitted, "customer")?;
        let promise = Promise::read(permitted, &self.context)?;
        let provider = source::find(permitted, &self.context, &promise.provider_id).await?.ok_or_else(gone)?;
        let services = source::services(permitted, &self.context, &provider).await?;
        let work = RequestedWork::of(&services, &promise.service_codes).ok_or_else(gone)?;
        let id = permitted.new_id(Booking::ID_PREFIX);
        let request = PlaceRequest {
            booking_id: &id,
            provider: &provider,
            work: &work,
            start,
            vehicle: &vehicle,
            customer: &customer,
        };
        let taken = places::take(permitted, &self.context, &request).await?;

        let now = permitted.now();
        let day = provider.calendar.date_of(start).map(|day| day.to_string()).unwrap_or_default();
        let record = Booking {
            slot: Some(BookedSlot {
                ends_at: work.end_of(start),
                day: day.as_str().into(),
                time_zone: provider.time_zone.as_str().into(),
                provider_name: provider.name.as_str().into(),
                service_codes: List(work.codes.iter().map(|code| code.as_str().into()).collect()),
                vehicle,
                free_cancel_hours: Integer::clamped(provider.terms.free_hours),
                late_refund_percent: Integer::clamped(provider.terms.late_percent),
                appointment_id: taken.appointment_id.as_deref().map(Text::from),
            }),
            customer: Some(customer),
            ..Booking::confirmed(permitted, &self.context, &provider.id, promise.price_inr, start)?
        };
        let booking = Entity::new(id, permitted.tenant().clone(), now, record);
        let insert = Step::Insert {
            table: Booking::table(),
            row: booking.row(TENANT_MEMBER),
            on_duplicate: Fault::internal("the id of a new booking exists already"),
        };
        let outcome = answer(&self.tool, &booking, &booking_facts(&booking)?)?;
        Ok(Plan {
            steps: std::iter::once(insert).chain(taken.steps).collect(),
            events: events(&booking, Change::Created).into_iter().chain(taken.events).collect(),
            outcome,
        })
    }
}

/// What the search promised for the provider that is booked.
struct Promise {
    provider_id: String,
    service_codes: Vec<String>,
    price_inr: i64,
}

impl Promise {
    fn read(permitted: &Permitted<'_>, context: &ToolContext) -> Result<Promise, Fault> {
        let text = |name: &str| permitted.input().text(name).unwrap_or_default();
        let offers = result_token::read(permitted, context, text("result_token"))?;
        let provider_id = text("provider_id").to_owned();
        let other = || Fault::domain(RESULT_EXPIRED, "This result_token is not about this provider. Search again.");
        let price_inr = offers.price(&provider_id).ok_or_else(other)?;
        let codes = offers.search.get("service_codes").and_then(Value::as_array).into_iter().flatten();
        let service_codes = codes.filter_map(Value::as_str).map(str::to_owned).collect();
        Ok(Promise { provider_id, service_codes, price_inr })
    }
}
