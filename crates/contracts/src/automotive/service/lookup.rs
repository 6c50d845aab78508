//! What both booking and asking for free times look up: the workshop, the work that service codes stand for, the slot.

use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::model::page::{Projection, Query, Start, Window};
use frontdesk_engine::model::table::Cell;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Fault, Permitted};

use super::advisor::{Advisor, AdvisorStatus};
use super::service_code::{ServiceCode, ServiceCodeStatus};
use super::workshop::Workshop;
use super::{INVALID_SERVICE_CODE, SLOT_UNAVAILABLE};
use crate::calendar::{LocalCalendar, LocalSlot};
use crate::record::filter::NEWEST;
use crate::record::{Entity, Ref, Stored, Text};

/// How many workshops are named to a caller that must choose one.
const MAX_NAMED: usize = 20;

/// What the named service codes take together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Work {
    pub(super) minutes: i64,
    pub(super) bay_kinds: Vec<Text<40>>,
}

pub(super) async fn load<T: Stored>(permitted: &Permitted<'_>, id: &str) -> Result<Option<Entity<T>>, Fault> {
    let row = permitted.get_to_change(T::table(), id).await?;
    row.map(|row| Entity::restore(permitted.tenant(), &row)).transpose()
}

pub(super) async fn load_required<T: Stored>(permitted: &Permitted<'_>, id: &str) -> Result<Entity<T>, Fault> {
    let missing = || Fault::domain(T::NOT_FOUND, format!("No {} with this id exists here.", T::NOUN));
    load(permitted, id).await?.ok_or_else(missing)
}

/// The workshop that is named, or the only one.
pub(super) async fn workshop(permitted: &Permitted<'_>, id: &str) -> Result<Entity<Workshop>, Fault> {
    if !id.is_empty() {
        return load_required(permitted, id).await;
    }
    let query = Query {
        projection: Projection::Ids,
        table: Workshop::table(),
        filters: Vec::new(),
        order: NEWEST,
        window: Window { start: Start::First, limit: MAX_NAMED, ..permitted.window() },
    };
    match permitted.page(query).await?.rows.as_slice() {
        [] => {
            Err(Fault::domain(SLOT_UNAVAILABLE.code, "This dealership has no workshop yet, so nothing can be booked."))
        }
        [only] => load_required(permitted, only).await,
        several => {
            let expected = format!("the dealership has several workshops; name one: {}", several.join(", "));
            Err(Fault::invalid_argument("/workshop_id", "required", expected))
        }
    }
}

/// What the codes take in this workshop. All that is wrong with them is said at once.
pub(super) async fn work(permitted: &Permitted<'_>, workshop: &Workshop, codes: &[Text<40>]) -> Result<Work, Fault> {
    let mut work = Work { minutes: 0, bay_kinds: Vec::new() };
    let mut problems = Vec::new();
    for (place, code) in codes.iter().enumerate() {
        let mut wrong = |expected: &str| {
            let pointer = format!("/service_codes/{place}");
            problems.push(Problem { pointer, keyword: "enum", expected: expected.to_owned() });
        };
        let Some(offered) = find_code(permitted, code).await? else {
            wrong("a code that service.list_service_codes lists is expected");
            continue;
        };
        match offered.status {
            ServiceCodeStatus::Offered => {}
            ServiceCodeStatus::Withdrawn | ServiceCodeStatus::Unknown => {
                wrong("this code is no longer offered");
                continue;
            }
        }
        if offered.bay_kind.as_ref().is_some_and(|kind| workshop.bays_of_kind(kind) == 0) {
            wrong("the workshop has no bay of the kind that this code needs");
            continue;
        }
        work.minutes = work.minutes.saturating_add(offered.duration_minutes.get());
        work.bay_kinds.extend(offered.bay_kind.filter(|kind| !work.bay_kinds.contains(kind)));
    }
    if problems.is_empty() {
        return Ok(work);
    }
    let message = "Not all of this can be booked: details.errors names the service codes that are wrong. Find codes with \
                   service.list_service_codes.";
    Err(Fault { problems, ..Fault::domain(INVALID_SERVICE_CODE.code, message) })
}

async fn find_code(permitted: &Permitted<'_>, code: &str) -> Result<Option<ServiceCode>, Fault> {
    let row = permitted.find(ServiceCode::table(), "code", Cell::Text(code.to_uppercase())).await?;
    row.map(|row| Ok(Entity::restore(permitted.tenant(), &row)?.record)).transpose()
}

/// An advisor who can be booked.
pub(super) async fn advisor(permitted: &Permitted<'_>, id: Option<&Ref<Advisor>>) -> Result<Option<Advisor>, Fault> {
    let Some(id) = id else { return Ok(None) };
    let advisor: Entity<Advisor> = load_required(permitted, id).await?;
    match advisor.record.status {
        AdvisorStatus::Active => Ok(Some(advisor.record)),
        AdvisorStatus::Inactive | AdvisorStatus::Unknown => Err(unavailable(
            "This advisor no longer receives customers. Choose another with service.list_advisors, or name none.",
        )),
    }
}

pub(super) fn calendar(workshop: &Workshop) -> Result<LocalCalendar, Fault> {
    workshop.calendar().ok_or_else(|| Fault::internal("the time zone of a workshop is unknown"))
}

/// When an advisor receives customers, if not always while the workshop is open.
pub(super) fn advisor_calendar(workshop: &Workshop, advisor: Option<&Advisor>) -> Option<LocalCalendar> {
    let advisor = advisor.filter(|advisor| !advisor.working_hours.is_empty())?;
    LocalCalendar::new(&workshop.time_zone, advisor.working_hours.iter(), [], workshop.slot_minutes.get())
}

/// Whether work of this length can begin at a slot.
pub(super) fn fits(slot: &LocalSlot, end: Millis, advisor: Option<&LocalCalendar>) -> Result<(), Fault> {
    if end > slot.closes {
        return Err(unavailable(
            "The work would not end before the workshop closes. Choose an earlier time with service.check_availability.",
        ));
    }
    if advisor.is_some_and(|hours| !hours.is_open(slot.start)) {
        return Err(unavailable(
            "The advisor does not receive customers then. Choose a time with service.check_availability, or another advisor.",
        ));
    }
    Ok(())
}

pub(super) fn unavailable(message: &'static str) -> Fault {
    Fault::domain(SLOT_UNAVAILABLE.code, message)
}

pub(super) fn end_of(start: Millis, minutes: i64) -> Millis {
    start.plus_seconds(minutes.saturating_mul(60))
}
