//! An appointment of the workshop. `service.book_appointment` takes what the published example has; who the customer is
//! and what they said is personal data.

use frontdesk_engine::Fault;
use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::model::page::Direction;
use frontdesk_engine::model::schema::{Schema, optional};
use frontdesk_engine::model::timestamp::Millis;

use super::advisor::Advisor;
use super::booking::{self, ACCEPT_WAITLIST};
use super::repair_order::RepairOrder;
use super::workshop::Workshop;
use super::workshop_day::WorkshopDay;
use super::{DUPLICATE, INVALID_SERVICE_CODE, INVALID_TRANSITION, SLOT_UNAVAILABLE, availability, waitlist};
use crate::automotive::codes::CodeSpec;
use crate::automotive::customer::Customer;
use crate::automotive::domains::{self, Domain};
use crate::automotive::lead::Channel;
use crate::automotive::resource::{Resource, ResourceApi, ResourceParts, TimedAnswers, WriteContext};
use crate::automotive::values::{Contact, Distance};
use crate::automotive::vehicle::Vehicle;
use crate::automotive::vin::Vin;
use crate::record::filter::{equals, range};
use crate::record::{
    Entity, FieldType as _, FilterArgument, Integer, List, Ref, SortOption, Stored as _, Text, Timestamp,
    check_transition,
};
use crate::{Record, Vocabulary};

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum AppointmentStatus { Booked, Waitlisted, Confirmed, CheckedIn, InProgress, Completed, Cancelled, NoShow, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum CustomerTransport { Wait, DropOff, Loaner, Shuttle, Rental, RideShare, PickupDelivery, Tow, Unknown }

#[derive(Debug, Clone, PartialEq, Record)]
#[table("appointment", prefix = "apt", not_found = "service.not_found")]
pub struct Appointment {
    /// The same as id, as the published example names it.
    #[field(receipt)]
    #[default(Text::from(""))]
    pub appointment_id: Text<64>,
    /// How far it has come. A booked one has its place; a waitlisted one moves up when a place becomes free, and is
    /// cancelled if none has by its start.
    #[field(update, known, indexed, receipt)]
    #[argument("The new status. To move up from the waitlist is not yours to set; it happens by itself.")]
    #[default(AppointmentStatus::Booked)]
    pub status: AppointmentStatus,
    /// The number in the dealership's own system.
    #[field(create, unique)]
    pub appointment_number: Option<Text<40>>,
    /// The vehicle, where the dealership has it.
    #[field(create, update, indexed)]
    #[argument("The vehicle, by its id here. If the dealership does not have it, send vin or vehicle instead.")]
    pub vehicle_id: Option<Ref<Vehicle>>,
    /// The vehicle's identification number.
    #[field(create, update, indexed)]
    #[argument("The vehicle's identification number, if it has no id here.")]
    pub vin: Option<Text<17>>,
    /// The vehicle in words.
    #[field(create, update)]
    #[argument("The vehicle in words, if neither its id nor its VIN is known.")]
    pub vehicle: Option<ServicedVehicle>,
    /// The customer, where known.
    #[field(create, update, indexed)]
    #[argument("The customer, if already known here.")]
    pub customer_id: Option<Ref<Customer>>,
    /// Where it takes place.
    #[field(create, update, indexed)]
    #[argument("The workshop; needed only if the dealership has several.")]
    #[default(Ref::from(""))]
    pub workshop_id: Ref<Workshop>,
    /// When work begins.
    #[field(create, update, sorted, receipt)]
    #[argument("When work begins: a start that service.check_availability gave.")]
    pub start: Timestamp,
    /// When the work is planned to end.
    #[field(receipt)]
    #[default(|new| new.now)]
    pub end: Timestamp,
    /// The start as clocks at the workshop show it.
    #[field(receipt)]
    #[default(Text::from(""))]
    pub local_start: Text<40>,
    /// IANA time zone of the workshop.
    #[default(Text::from(""))]
    pub time_zone: Text<64>,
    /// What is to be done.
    #[field(create, update)]
    #[argument("What is to be done: codes of service.list_service_codes, at least one.")]
    pub service_codes: List<Text<40>, 20>,
    /// Who receives the customer.
    #[field(create, update, indexed)]
    #[argument("The advisor the customer wants, by id; anybody if absent.")]
    pub advisor_id: Option<Ref<Advisor>>,
    /// What the customer does meanwhile.
    #[field(create, update, known)]
    pub transport: Option<CustomerTransport>,
    /// Odometer reading.
    #[field(create, update)]
    pub mileage: Option<Distance>,
    /// How it was booked.
    #[field(create, column)]
    #[argument("How it was booked; ai_agent if absent.")]
    #[default(Channel::AiAgent)]
    pub channel: Channel,
    /// When it moved up from the waitlist.
    pub moved_up_at: Option<Timestamp>,
    /// When it was cancelled.
    pub cancelled_at: Option<Timestamp>,
    /// The repair order that it became.
    #[field(column)]
    pub repair_order_id: Option<Ref<RepairOrder>>,
    /// Whom to reach about it; masked in lists.
    #[field(create, update, columns)]
    #[argument("Whom to reach about this appointment, and about nothing else.")]
    pub contact: Option<Contact>,
    /// What the customer says is wrong; left out where masked.
    #[field(create, update, sealed)]
    #[default(List::default())]
    pub concerns: List<Text<500>, 20>,
    /// What else was said; left out where masked.
    #[field(create, update, sealed)]
    pub notes: Option<Text<4000>>,
    /// Why it was cancelled; left out where masked.
    #[field(sealed)]
    pub cancel_reason: Option<Text<500>>,
}

/// A vehicle that the dealership does not have.
#[derive(Debug, Clone, PartialEq, Eq, Record)]
pub struct ServicedVehicle {
    /// Make, such as Toyota.
    pub make: Text<60>,
    /// Model, such as RAV4.
    pub model: Text<60>,
    /// Model year.
    pub year: Option<Integer<1900, 2100>>,
}

use AppointmentStatus::{Booked, Cancelled, CheckedIn, Completed, Confirmed, InProgress, NoShow, Waitlisted};

const TRANSITIONS: &[(AppointmentStatus, &[AppointmentStatus])] = &[
    (Booked, &[Confirmed, CheckedIn, InProgress, Completed, Cancelled, NoShow]),
    (Waitlisted, &[Cancelled]),
    (Confirmed, &[CheckedIn, InProgress, Completed, Cancelled, NoShow]),
    (CheckedIn, &[InProgress, Completed, Cancelled]),
    (InProgress, &[Completed]),
];

/// Nobody plans a workshop further ahead, and a wrong year should not be booked.
const MAX_DAYS_AHEAD: i64 = 366;

impl AppointmentStatus {
    /// Whether it takes a place of the workshop's day, or waits for one.
    pub(super) fn holds_place(self) -> bool {
        match self {
            Booked | Waitlisted | Confirmed | CheckedIn | InProgress | Completed | AppointmentStatus::Unknown => true,
            Cancelled | NoShow => false,
        }
    }

    /// Whether its customer is expected or here.
    pub(super) fn is_under_way(self) -> bool {
        matches!(self, Booked | Confirmed | CheckedIn | InProgress)
    }

    fn can_move(self) -> bool {
        matches!(self, Booked | Waitlisted | Confirmed)
    }
}

impl Resource for Appointment {
    const DOMAIN: &'static Domain = &domains::SERVICE;
    const DUPLICATE: CodeSpec = DUPLICATE;
    const TIMED: Option<TimedAnswers> = Some(waitlist::TIMED);

    fn on_create(entity: &mut Entity<Appointment>, context: &WriteContext<'_>) -> Result<(), Fault> {
        entity.record.appointment_id = entity.id.as_str().into();
        let mut problems = entity.record.check();
        problems.extend(entity.record.missing_vehicle());
        problems.extend(entity.record.check_start(context.now()));
        if problems.is_empty() { Ok(()) } else { Err(Fault::invalid(problems)) }
    }

    fn on_update(
        before: &Entity<Appointment>,
        after: &mut Entity<Appointment>,
        context: &WriteContext<'_>,
    ) -> Result<(), Fault> {
        let (old, new) = (&before.record, &mut after.record);
        let from = old.status_at(context.now());
        if !context.is_named("status") && new.status == old.status {
            new.status = from;
        }
        check_transition(TRANSITIONS, from, new.status, INVALID_TRANSITION.code)?;
        let mut problems = new.check();
        // One whose customer was erased has none, and goes on without.
        if old.missing_vehicle().is_none() {
            problems.extend(new.missing_vehicle());
        }
        if !old.is_at_same_place(new) {
            if !from.can_move() || from != new.status {
                return Err(Fault::domain(
                    INVALID_TRANSITION.code,
                    "Time, work, advisor and workshop can change only while the status is booked, waitlisted or confirmed, \
                     and not together with it.",
                ));
            }
            problems.extend(new.check_start(context.now()));
        }
        if !problems.is_empty() {
            return Err(Fault::invalid(problems));
        }
        if old.status != Cancelled && new.status == Cancelled {
            if new.repair_order_id.is_some() {
                return Err(Fault::domain(
                    INVALID_TRANSITION.code,
                    "The appointment has a repair order. Set that to voided with service.update_repair_order first.",
                ));
            }
            new.cancelled_at = Some(context.now());
            new.cancel_reason = context.argument("cancel_reason")?;
        }
        Ok(())
    }

    /// The appointment and its place change together.
    async fn cascade(
        before: Option<&Entity<Appointment>>,
        after: &mut Entity<Appointment>,
        context: &mut WriteContext<'_>,
    ) -> Result<(), Fault> {
        booking::place(before, after, context).await
    }
}

impl Appointment {
    /// Whether both take the same place.
    pub(super) fn is_at_same_place(&self, other: &Appointment) -> bool {
        self.start == other.start
            && self.service_codes == other.service_codes
            && self.advisor_id == other.advisor_id
            && self.workshop_id == other.workshop_id
    }

    fn missing_vehicle(&self) -> Option<Problem> {
        let is_missing = self.vehicle_id.is_none() && self.vin.is_none() && self.vehicle.is_none();
        let expected = "vehicle_id is required, or for a vehicle that is not here vin or vehicle";
        let problem = || Problem { pointer: String::new(), keyword: "anyOf", expected: expected.to_owned() };
        is_missing.then(problem)
    }

    fn check(&mut self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut wrong = |pointer: &str, keyword: &'static str, expected: &str| {
            problems.push(Problem { pointer: pointer.to_owned(), keyword, expected: expected.to_owned() });
        };
        self.service_codes.iter_mut().for_each(|code| *code = code.to_uppercase().as_str().into());
        if self.service_codes.is_empty() {
            wrong("/service_codes", "minItems", "at least one service code is required");
        }
        if self.contact.as_ref().is_some_and(|contact| contact.email.is_none() && contact.phone.is_none()) {
            wrong("/contact", "anyOf", "an e-mail address or a telephone number is required");
        }
        match self.vin.as_deref().map(Vin::parse) {
            Some(Ok(vin)) => self.vin = Some(vin.as_str().into()),
            Some(Err(error)) => wrong("/vin", "pattern", &error.to_string()),
            None => {}
        }
        problems
    }

    fn check_start(&self, now: Millis) -> Option<Problem> {
        let wrong = |keyword: &'static str, expected: &str| {
            Some(Problem { pointer: "/start".to_owned(), keyword, expected: expected.to_owned() })
        };
        if self.start <= now {
            return wrong("minimum", "it must lie in the future");
        }
        if self.start > now.plus_seconds(MAX_DAYS_AHEAD * 24 * 60 * 60) {
            return wrong("maximum", "it must lie within a year from now");
        }
        None
    }
}

const LISTED_BY: &[FilterArgument] = &[
    equals("status", "Only appointments with this status."),
    range(
        "start",
        ("start_min", "Only those that begin at or after this."),
        ("start_max", "Only those that begin at or before this."),
    ),
    equals("appointment_number", "The one with this number of the dealership's own system."),
    equals("customer_id", "Only those of this customer."),
    equals("vehicle_id", "Only those of this vehicle."),
    equals("vin", "Only those of the vehicle with this number."),
    equals("advisor_id", "Only those of this advisor."),
    equals("workshop_id", "Only those at this workshop."),
    equals("email", "Whole e-mail address; case does not matter."),
    equals("phone", "Whole number in E.164 form."),
];

const SORTED_BY: &[SortOption] = &[
    SortOption { word: "start_asc", field: "start", direction: Direction::Ascending },
    SortOption { word: "start_desc", field: "start", direction: Direction::Descending },
];

pub fn resource() -> ResourceParts {
    let accept_waitlist = optional(
        ACCEPT_WAITLIST,
        Schema::Boolean,
        "false: if that time is full, book nothing instead of joining its waitlist; true if absent.",
    );
    let cancel_reason = optional("cancel_reason", Text::<500>::input(), "Why it is cancelled.");
    let codes = &[SLOT_UNAVAILABLE, INVALID_SERVICE_CODE];
    let change_codes = &[SLOT_UNAVAILABLE, INVALID_SERVICE_CODE, INVALID_TRANSITION];
    ResourceApi::<Appointment>::new("appointments", "The appointment's id, as lists give it.")
        .sorted_list(
            (
                "service.list_appointments",
                "List appointments",
                "Lists the workshop's appointments, last booked first or by their start, page by page, contact data masked. \
                 For one day send start_min and start_max with sort start_asc.",
            ),
            LISTED_BY,
            SORTED_BY,
            ("Appointments", "Appointments of the workshop, last booked first, contact data masked."),
        )
        .get(
            "service.get_appointment",
            "Get an appointment",
            "Reads one appointment by its id, with contact data and what the customer said.",
            ("Appointment", "One appointment by its id, with contact data."),
        )
        .tool(availability::tool(), codes)
        .create(
            "service.book_appointment",
            "Book a service appointment",
            "Books work for a vehicle at a start that service.check_availability gave. The status says whether it is \
             booked or waitlisted; a waitlisted one moves up by itself when a place becomes free. A vehicle that the \
             dealership does not have is named by vin or vehicle. Without amcp:service:read the answer is a receipt.",
            vec![accept_waitlist],
            codes,
        )
        .update(
            "service.update_appointment",
            "Update an appointment",
            "Changes what is named. A new start, service codes or advisor move it, if there is room; otherwise it stays \
             where it is. Cancel with service.cancel_appointment.",
            change_codes,
        )
        .change(
            (
                "service.cancel_appointment",
                "Cancel an appointment",
                "Cancels an appointment that is booked, waitlisted, confirmed or checked in. Its place goes to who waits for \
                 it. To move an appointment, use service.update_appointment instead, which keeps the place until then.",
            ),
            "cancel",
            vec![cancel_reason],
            &[INVALID_TRANSITION],
            cancel,
        )
        .hidden_table(WorkshopDay::table())
        .parts()
}

/// The rules of an update see to the rest: when it was cancelled, and why.
fn cancel(entity: &mut Entity<Appointment>, _: &WriteContext<'_>) -> Result<(), Fault> {
    entity.record.status = AppointmentStatus::Cancelled;
    Ok(())
}
