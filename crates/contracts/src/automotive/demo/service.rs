//! The workshop of a demo dealership: what it offers, its advisors, appointments of the days around `now`, one slot that is
//! full with somebody waiting, and repair orders of vehicles that were brought in.

mod workshops;

use frontdesk_engine::model::table::{Row, TableSpec};
use frontdesk_engine::model::timestamp::Millis;

use super::DemoDealership;
use super::market::{Market, market};
use super::rows::{DemoIds, row};
use crate::automotive::lead::Channel;
use crate::automotive::service::advisor::{Advisor, AdvisorStatus};
use crate::automotive::service::appointment::{Appointment, AppointmentStatus, CustomerTransport, ServicedVehicle};
use crate::automotive::service::repair_order::{JobLine, JobLineStatus, PayType, RepairOrder, RepairOrderStatus};
use crate::automotive::service::service_code::{ServiceCode, ServiceCodeStatus};
use crate::automotive::service::workshop::{BayKind, Workshop};
use crate::automotive::service::workshop_day::{DayPlace, PlaceStatus, WorkshopDay};
use crate::automotive::values::{Distance, Money};
use crate::automotive::vehicle::VehicleStatus;
use crate::calendar::{LocalCalendar, WeekdayHours};
use crate::record::{Integer, List, Stored, Text};
use workshops::{DemoCode, DemoOrder, WeekdayTimes, WorkshopSpec};

pub(super) fn rows(
    dealership: &DemoDealership,
    known: &DemoIds<'_>,
    now: Millis,
    new_id: &mut dyn FnMut(&str) -> String,
) -> Vec<(&'static TableSpec, Row)> {
    let mut ids = |prefix: &str, count: usize| -> Vec<String> {
        let mut ids: Vec<String> = (0..count).map(|_| new_id(prefix)).collect();
        ids.sort_unstable();
        ids
    };
    let (spec, market) = (WorkshopSpec::of(dealership.country), market(dealership.country));
    let code_ids = ids(ServiceCode::ID_PREFIX, spec.codes.len());
    let advisor_ids = ids(Advisor::ID_PREFIX, spec.advisors.len());
    let workshop_ids = ids(Workshop::ID_PREFIX, 1);
    let appointment_ids = ids(Appointment::ID_PREFIX, spec.booked.len());
    let order_ids = ids(RepairOrder::ID_PREFIX, spec.orders.len());
    let workshop = workshop(dealership, spec);
    // The demo's time zones exist, so this does not happen.
    let (Some(calendar), Some(workshop_id)) = (workshop.calendar(), workshop_ids.first()) else { return Vec::new() };
    let diary = Diary {
        known,
        spec,
        market,
        workshop: &workshop,
        workshop_id,
        calendar: &calendar,
        advisor_ids: &advisor_ids,
        now,
    };

    let months_ago = now.plus_seconds(-120 * DAY_SECONDS);
    let old = (months_ago, months_ago);
    let codes = spec.codes.iter().zip(&code_ids);
    let codes = codes.map(|(demo, id)| row(known.tenant, id, old, service_code(demo, market)));
    let advisors = spec.advisors.iter().zip(&advisor_ids);
    let advisors = advisors.map(|(demo, id)| row(known.tenant, id, old, advisor(demo, spec)));
    let mut rows: Vec<(&'static TableSpec, Row)> = codes.chain(advisors).collect();
    rows.push(row(known.tenant, workshop_id, old, workshop.clone()));
    rows.extend(diary.appointments(&appointment_ids));
    let orders = spec.orders.iter().zip(&order_ids).enumerate();
    let sold = dealership.vehicles.iter().zip(known.vehicles).filter(|(demo, _)| demo.status == VehicleStatus::Sold);
    rows.extend(orders.zip(sold).map(|((place, (demo, id)), (_, vehicle_id))| {
        let opened_at = now.plus_seconds(-demo.2 * DAY_SECONDS);
        row(known.tenant, id, (opened_at, opened_at), diary.repair_order(place, demo, vehicle_id))
    }));
    rows
}

const DAY_SECONDS: i64 = 24 * 60 * 60;

fn workshop(dealership: &DemoDealership, spec: &WorkshopSpec) -> Workshop {
    Workshop {
        code: "MAIN".into(),
        name: format!("{} Service", dealership.name).as_str().into(),
        time_zone: dealership.time_zone.into(),
        slot_minutes: Integer::constant::<30>(),
        bays: Integer::constant::<3>(),
        bay_kinds: List(vec![BayKind { kind: "alignment".into(), bays: Integer::constant::<1>() }]),
        opening_hours: weekly(spec.opening_hours),
        closed_days: List(spec.closed_days.iter().map(|day| (*day).into()).collect()),
    }
}

fn weekly<const MAX: usize>(hours: &[WeekdayTimes]) -> List<WeekdayHours, MAX> {
    let times = |(weekday, opens, closes): &WeekdayTimes| WeekdayHours {
        weekday: *weekday,
        opens: (*opens).into(),
        closes: (*closes).into(),
    };
    List(hours.iter().map(times).collect())
}

fn service_code((code, name, minutes, bay_kind, price): &DemoCode, market: &Market) -> ServiceCode {
    ServiceCode {
        code: (*code).into(),
        name: (*name).into(),
        duration_minutes: Integer::clamped(*minutes),
        bay_kind: bay_kind.map(Text::from),
        price: Some(Money::new(*price, market.currency)),
        pay_type: PayType::Customer,
        status: ServiceCodeStatus::Offered,
    }
}

fn advisor((number, name): &(&str, &str), spec: &WorkshopSpec) -> Advisor {
    Advisor {
        employee_number: (*number).into(),
        name: (*name).into(),
        status: AdvisorStatus::Active,
        working_hours: weekly(spec.working_hours),
    }
}

/// What appointments and repair orders are made from.
struct Diary<'a> {
    known: &'a DemoIds<'a>,
    spec: &'a WorkshopSpec,
    market: &'a Market,
    workshop: &'a Workshop,
    workshop_id: &'a str,
    calendar: &'a LocalCalendar,
    advisor_ids: &'a [String],
    now: Millis,
}

impl Diary<'_> {
    /// The appointments and the rows of their days. Whoever finds no place waits, as the rules would have it.
    fn appointments(&self, ids: &[String]) -> Vec<(&'static TableSpec, Row)> {
        let tomorrow = self.calendar.date_of(self.now.plus_seconds(DAY_SECONDS));
        let dates = tomorrow.into_iter().flat_map(|first| first.series(jiff::Span::new().days(1)));
        let is_weekday = |date: &jiff::civil::Date| self.calendar.slots(*date).len() > 10;
        let mut days: Vec<_> = dates.take(10).filter(is_weekday).take(4).map(|date| (date, Vec::new())).collect();
        let mut rows = Vec::new();
        for (place, ((day, slot, code, advisor), id)) in self.spec.booked.iter().zip(ids).enumerate() {
            let Some((date, places)) = days.get_mut(*day) else { continue };
            let Some(start) = self.calendar.slots(*date).get(*slot).map(|slot| slot.start) else { continue };
            let Some((_, _, minutes, bay_kind, _)) = self.spec.code(code) else { continue };
            let mut record = WorkshopDay::empty(self.known.tenant, self.workshop_id, *date, self.now).record;
            record.places = List(places.clone());
            let mut taken = DayPlace {
                appointment_id: id.as_str().into(),
                status: PlaceStatus::Booked,
                start,
                end: start.plus_seconds(minutes * 60),
                advisor_id: advisor.and_then(|place| self.advisor_ids.get(place)).map(|id| id.as_str().into()),
                bay_kinds: List(bay_kind.iter().map(|kind| Text::from(*kind)).collect()),
            };
            if record.left(self.workshop, &taken.demand()) == 0 {
                taken.status = PlaceStatus::Waitlisted;
            }
            let booked_at = self.now.plus_seconds(-DAY_SECONDS - 3_600 * i64::try_from(place).unwrap_or(0));
            let appointment = self.appointment(place, code, &taken);
            rows.push(row(self.known.tenant, id, (booked_at, booked_at), appointment));
            places.push(taken);
        }
        for (date, places) in days {
            let mut day = WorkshopDay::empty(self.known.tenant, self.workshop_id, date, self.now);
            day.record.places = List(places);
            rows.push(row(self.known.tenant, &day.id, (self.now, self.now), day.record));
        }
        rows
    }

    fn appointment(&self, place: usize, code: &str, taken: &DayPlace) -> Appointment {
        let status = match taken.status {
            PlaceStatus::Booked if place % 3 == 1 => AppointmentStatus::Confirmed,
            PlaceStatus::Booked | PlaceStatus::Unknown => AppointmentStatus::Booked,
            PlaceStatus::Waitlisted => AppointmentStatus::Waitlisted,
        };
        Appointment {
            appointment_id: Text::from(&*taken.appointment_id),
            status,
            appointment_number: None,
            vehicle_id: None,
            vin: None,
            vehicle: Some(ServicedVehicle {
                make: self.spec.car.0.into(),
                model: self.spec.car.1.into(),
                year: Some(Integer::clamped(2014 + i64::try_from(place).unwrap_or(0))),
            }),
            customer_id: self.known.customers.get(place).map(|id| id.as_str().into()),
            workshop_id: self.workshop_id.into(),
            start: taken.start,
            end: taken.end,
            local_start: self.calendar.local_text(taken.start).unwrap_or_default().as_str().into(),
            time_zone: self.workshop.time_zone.clone(),
            service_codes: List(vec![code.into()]),
            advisor_id: taken.advisor_id.as_ref().map(|id| (**id).into()),
            transport: Some(if place.is_multiple_of(2) { CustomerTransport::Wait } else { CustomerTransport::DropOff }),
            mileage: None,
            channel: if place.is_multiple_of(2) { Channel::AiAgent } else { Channel::Phone },
            moved_up_at: None,
            cancelled_at: None,
            repair_order_id: None,
            contact: None,
            concerns: List::default(),
            notes: None,
            cancel_reason: None,
        }
    }

    fn repair_order(
        &self,
        place: usize,
        (number, status, days_ago, code, [complaint, cause, correction]): &DemoOrder,
        vehicle_id: &str,
    ) -> RepairOrder {
        let opened_at = self.now.plus_seconds(-days_ago * DAY_SECONDS);
        let price = self.spec.code(code).map_or(0, |known| known.4);
        let is_done = *status != RepairOrderStatus::InProgress;
        let labor = Money::new(price, self.market.currency);
        RepairOrder {
            ro_number: (*number).into(),
            status: *status,
            appointment_id: None,
            customer_id: self.known.customers.iter().rev().nth(place).map(|id| id.as_str().into()),
            vehicle_id: Some(vehicle_id.into()),
            vin: None,
            advisor_id: self.advisor_ids.get(place).map(|id| id.as_str().into()),
            tag_number: Some(format!("T{}", 40 + place).as_str().into()),
            mileage_in: Some(Distance { value: Integer::constant::<41_250>(), unit: self.market.distance }),
            mileage_out: None,
            opened_at,
            promised_at: None,
            closed_at: (*status == RepairOrderStatus::Closed).then(|| opened_at.plus_seconds(DAY_SECONDS)),
            jobs: List(vec![JobLine {
                line: Integer::constant::<1>(),
                op_code: (*code).into(),
                complaint: Some((*complaint).into()),
                cause: Some((*cause).into()),
                correction: is_done.then(|| (*correction).into()),
                pay_type: PayType::Customer,
                status: if is_done { JobLineStatus::Completed } else { JobLineStatus::InProgress },
                labor_hours_hundredths: Some(Integer::constant::<50>()),
                technician_id: None,
                labor_total: Some(labor.clone()),
                parts_total: None,
            }]),
            charges: None,
            total: Some(labor),
            notes: None,
            pickup_code: None,
        }
    }
}
