//! `book_slot`: a place at a time, at the price that the search promised. It takes the place and stores the booking in
//! one plan, together with the dealership's appointment where the workshop does the work.

use std::sync::Arc;

use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::model::plan::{Change, Event, Plan, Step};
use frontdesk_engine::model::tool::{Future, Item, WriteTool};
use frontdesk_engine::{Fault, Permitted};
use serde_json::{Map, Value};

use super::booked::{BookedSlot, BookedVehicle, booking_facts, load_current};
use super::offer::RequestedWork;
use super::places::{self, PlaceRequest, gone};
use super::slots::slot_argument;
use super::source;
use crate::record::{Entity, FieldType, Integer, List, Stored as _, Text};
use crate::tomo::ToolContext;
use crate::tomo::booking::{Booking, BookingCustomer, BookingMode, BookingStatus, Rupees, TENANT_MEMBER, answer};
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
            status: BookingStatus::Confirmed,
            mode: BookingMode::of(permitted),
            intent: self.context.intent.id.as_str().into(),
            intent_version: self.context.intent.version.as_str().into(),
            request_id: permitted.input().text("request_id").map(Text::from),
            item_id: provider.id.as_str().into(),
            total_inr: Rupees::clamped(promise.price_inr),
            previous_total_inr: None,
            refund_inr: None,
            refund_percent: None,
            starts_at: start,
            cancelled_at: None,
            stay: None,
            car: None,
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
        };
        let booking = Entity::new(id, permitted.tenant().clone(), now, record);
        let insert = Step::Insert {
            table: Booking::table(),
            row: booking.row(TENANT_MEMBER),
            on_duplicate: Fault::internal("the id of a new booking exists already"),
        };
        let created = Event { kind: Booking::TABLE_NAME, id: booking.id.clone(), change: Change::Created };
        let outcome = answer(&self.tool, &booking, &booking_facts(&booking)?)?;
        Ok(Plan {
            steps: std::iter::once(insert).chain(taken.steps).collect(),
            events: std::iter::once(created).chain(taken.events).collect(),
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

/// An object of the call, as far as it is stored. An intent may ask for more than that, but not for less.
fn argument<T: FieldType>(permitted: &Permitted<'_>, name: &str) -> Result<T, Fault> {
    let given = permitted.input().arguments.get(name).and_then(Value::as_object);
    let known = |member: &String| T::nested().iter().any(|field| field.name == member);
    let members: Map<String, Value> = given
        .into_iter()
        .flatten()
        .filter(|(member, _)| known(member))
        .map(|(member, value)| (member.clone(), value.clone()))
        .collect();
    let value = Value::Object(members);
    let below = |problem: Problem| Problem { pointer: format!("/{name}{}", problem.pointer), ..problem };
    let problems: Vec<Problem> = T::input().problems(&value).into_iter().map(below).collect();
    if !problems.is_empty() {
        return Err(Fault::invalid(problems));
    }
    T::read(&value).ok_or_else(|| Fault::internal(format!("the checked argument {name} cannot be read")))
}
