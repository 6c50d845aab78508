//! `service.check_availability`: when given work can begin. It reads the same rows that bookings change, so what it says
//! was true when it was read.

use frontdesk_engine::model::incoming::Verb;
use frontdesk_engine::model::route::Route;
use frontdesk_engine::model::schema::{Schema, TextFormat, optional, required};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::{Effect, Future, Outcome, RateKey, Run, ScopeRule, Sensitivity, Tool, ToolSpec};
use frontdesk_engine::{Fault, Permitted, Scope};
use jiff::civil::Date;
use serde_json::{Value, json};

use super::advisor::Advisor;
use super::lookup::{self, end_of};
use super::workshop_day::{PlaceDemand, WorkshopDay};
use super::{INVALID_SERVICE_CODE, SLOT_UNAVAILABLE};
use crate::Vocabulary;
use crate::automotive::domains;
use crate::automotive::resource::tenant;
use crate::record::{Entity, FieldType as _, Ref, Stored as _, Text, Vocabulary as _};

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum SlotStatus { Open, Full, Unknown }

const NAME: &str = "service.check_availability";
const MAX_DAYS: i64 = 31;
const DEFAULT_DAYS: i64 = 7;
const MAX_SLOTS: i64 = 200;
const DEFAULT_SLOTS: i64 = 20;
const DAY_SECONDS: i64 = 24 * 60 * 60;

pub(super) fn tool() -> Tool {
    Tool {
        spec: ToolSpec {
            name: NAME,
            title: "Check free times",
            about: "Tells when the workshop can begin given work, in order, at the moment of asking. Use it before \
                    service.book_appointment and send one of the starts there. Service codes are those of \
                    service.list_service_codes.",
            input: input(),
            output: output(),
            effect: Effect::Reads,
            scope: ScopeRule::One(Scope::new(domains::SERVICE.read)),
            unmask_scope: None,
            sensitivity: Sensitivity::Business,
            max_login_age: None,
            rate: RateKey::Client,
            route: Some(Route::new(Verb::Get, "/appointments/availability")),
            codes: vec![SLOT_UNAVAILABLE.code, INVALID_SERVICE_CODE.code, WorkshopDay::NOT_FOUND],
        },
        run: Run::read(check_availability),
    }
}

fn input() -> Schema {
    Schema::object([
        required("service_codes", Schema::non_empty_list(Schema::text(40), 20), "What is to be done."),
        optional("from", Schema::Text(TextFormat::Timestamp), "Only starts at or after this; now if absent."),
        optional(
            "until",
            Schema::Text(TextFormat::Timestamp),
            "Only starts before this, at most 31 days after from; 7 days after it if absent.",
        ),
        optional("advisor_id", Schema::text(64), "Only when this advisor is free."),
        optional("workshop_id", Schema::text(64), "The workshop; needed only if the dealership has several."),
        optional("include_full", Schema::Boolean, "true: also starts that are full, whose waitlist can be joined."),
        optional("max_slots", Schema::integer(1, MAX_SLOTS), "How many starts at most; 20 if absent."),
        tenant(),
    ])
}

fn output() -> Schema {
    const TYPE: &[&str] = &["availability"];
    let slot = Schema::object([
        required("start", Schema::Text(TextFormat::Timestamp), "Send it to service.book_appointment."),
        required("end", Schema::Text(TextFormat::Timestamp), "When the work would end."),
        required(
            "local_start",
            Schema::text(40),
            "The start as clocks at the workshop show it; tell the customer this.",
        ),
        required("status", SlotStatus::input(), "Whether a booking gets a place or joins the waitlist."),
        required("places_left", Schema::integer(0, 200), "How many such bookings still get a place."),
    ]);
    Schema::object([
        required("type", Schema::one_of(TYPE), "Always availability."),
        required("workshop_id", Schema::text(64), "The workshop."),
        required("time_zone", Schema::text(64), "Its IANA time zone."),
        required("duration_minutes", Schema::integer(0, 28_800), "How long the work takes."),
        required("slots", Schema::list(slot, MAX_SLOTS.unsigned_abs() as usize), "When it can begin, in order."),
        optional(
            "next_from",
            Schema::Text(TextFormat::Timestamp),
            "Send it as from to go on; absent if until was reached.",
        ),
    ])
}

fn check_availability<'a>(permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
    Box::pin(async move {
        let request = AvailabilityRequest::read(permitted)?;
        let workshop = lookup::workshop(permitted, permitted.input().text("workshop_id").unwrap_or_default()).await?;
        let calendar = lookup::calendar(&workshop.record)?;
        let advisor_id = permitted.input().text("advisor_id");
        let advisor = lookup::advisor(permitted, advisor_id.map(Ref::<Advisor>::from).as_ref()).await?;
        let work = lookup::work(permitted, &workshop.record, &request.service_codes).await?;
        let hours = lookup::advisor_calendar(&workshop.record, advisor.as_ref());

        let mut slots: Vec<Value> = Vec::new();
        let mut next_from = None;
        let mut next_date = calendar.date_of(request.from);
        while let Some(date) = next_date.filter(|date| is_before(&calendar, *date, request.until)) {
            next_date = if next_from.is_none() { date.tomorrow().ok() } else { None };
            let wanted = calendar.slots(date).into_iter().filter(|slot| request.includes(slot.start));
            let fitting: Vec<_> = wanted
                .filter(|slot| lookup::fits(slot, end_of(slot.start, work.minutes), hours.as_ref()).is_ok())
                .collect();
            if fitting.is_empty() {
                continue;
            }
            let stored: Option<Entity<WorkshopDay>> =
                lookup::load(permitted, &WorkshopDay::id_of(&workshop.id, date)).await?;
            let mut day =
                stored.unwrap_or_else(|| WorkshopDay::empty(permitted.tenant(), &workshop.id, date, request.now));
            // Whoever waits goes first at the next booking.
            day.record.move_up(&workshop.record, request.now, "");
            for slot in fitting {
                let end = end_of(slot.start, work.minutes);
                let demand = PlaceDemand { start: slot.start, end, advisor_id, bay_kinds: &work.bay_kinds };
                let left = day.record.left(&workshop.record, &demand);
                let status = if left > 0 { SlotStatus::Open } else { SlotStatus::Full };
                if status == SlotStatus::Full && !request.with_full {
                    continue;
                }
                if slots.len() >= request.max_slots {
                    next_from = Some(slot.start);
                    next_date = None;
                    break;
                }
                slots.push(json!({
                    "start": slot.start.to_rfc3339(),
                    "end": end.to_rfc3339(),
                    "local_start": calendar.local_text(slot.start),
                    "status": status.as_str(),
                    "places_left": left,
                }));
            }
        }
        let rows = slots.len();
        let mut answer = json!({
            "type": "availability",
            "workshop_id": workshop.id,
            "time_zone": &*workshop.record.time_zone,
            "duration_minutes": work.minutes,
            "slots": slots,
        });
        if let Some((next, answer)) = next_from.zip(answer.as_object_mut()) {
            answer.insert("next_from".to_owned(), Value::from(next.to_rfc3339()));
        }
        Ok(Outcome::Raw { answer: answer.to_string(), rows })
    })
}

/// Whether some of the day lies before the instant.
fn is_before(calendar: &crate::calendar::LocalCalendar, date: Date, until: Millis) -> bool {
    calendar.date_of(until).is_some_and(|last| date <= last)
}

struct AvailabilityRequest {
    service_codes: Vec<Text<40>>,
    now: Millis,
    from: Millis,
    until: Millis,
    with_full: bool,
    max_slots: usize,
}

impl AvailabilityRequest {
    fn read(permitted: &Permitted<'_>) -> Result<AvailabilityRequest, Fault> {
        let input = permitted.input();
        let now = permitted.now();
        let time = |name: &str| input.text(name).and_then(Millis::parse);
        let from = time("from").unwrap_or(now).max(now);
        let until = time("until").unwrap_or(from.plus_seconds(DEFAULT_DAYS * DAY_SECONDS));
        if until > from.plus_seconds(MAX_DAYS * DAY_SECONDS) {
            return Err(Fault::invalid_argument(
                "/until",
                "maximum",
                "it must lie within 31 days after from, or after now",
            ));
        }
        let codes = input.arguments.get("service_codes").and_then(Value::as_array).into_iter().flatten();
        Ok(AvailabilityRequest {
            service_codes: codes.filter_map(Value::as_str).map(Text::from).collect(),
            now,
            from,
            until,
            with_full: input.arguments.get("include_full").and_then(Value::as_bool).unwrap_or(false),
            max_slots: usize::try_from(input.integer("max_slots").unwrap_or(DEFAULT_SLOTS)).unwrap_or_default(),
        })
    }

    fn includes(&self, start: Millis) -> bool {
        self.now < start && self.from <= start && start < self.until
    }
}
