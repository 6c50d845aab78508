//! A repair order: the work on a vehicle that was brought in, line by line, until it is closed. What was said about the
//! vehicle is personal data.

use std::collections::BTreeSet;

use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::{Code, Fault};

use super::advisor::Advisor;
use super::appointment::{Appointment, AppointmentStatus};
pub use super::job_line::{JobLine, JobLineStatus, PayType};
use super::{DUPLICATE, INVALID_TRANSITION};
use crate::automotive::codes::CodeSpec;
use crate::automotive::customer::Customer;
use crate::automotive::domains::{self, Domain};
use crate::automotive::resource::{Resource, ResourceApi, ResourceParts, WriteContext};
use crate::automotive::values::{Distance, MAX_SAFE_INTEGER, Money, is_plain_id};
use crate::automotive::vehicle::Vehicle;
use crate::automotive::vin::Vin;
use crate::record::filter::{at_least, equals};
use crate::record::{Entity, FilterArgument, List, Ref, Text, Timestamp, check_transition};
use crate::{Record, Vocabulary};

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum RepairOrderStatus {
    Open, Estimate, AwaitingApproval, Approved, InProgress, AwaitingParts, OnHold, ReadyForPickup, Invoiced, Closed, Voided,
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Record)]
#[table("repair_order", prefix = "ro", not_found = "service.not_found", noun = "repair order")]
pub struct RepairOrder {
    /// The workshop's own number.
    #[field(create, unique)]
    pub ro_number: Text<40>,
    /// How far it has come.
    #[field(update, known, indexed, receipt)]
    #[argument("The new status.")]
    #[default(RepairOrderStatus::Open)]
    pub status: RepairOrderStatus,
    /// The appointment it came from.
    #[field(create, indexed)]
    #[argument(
        "The appointment it comes from; vehicle, customer and advisor are taken from there unless you name them."
    )]
    pub appointment_id: Option<Ref<Appointment>>,
    /// The customer, where known.
    #[field(create, update, indexed)]
    pub customer_id: Option<Ref<Customer>>,
    /// The vehicle, where the dealership has it.
    #[field(create, update, indexed)]
    pub vehicle_id: Option<Ref<Vehicle>>,
    /// The vehicle's identification number.
    #[field(create, update, indexed)]
    #[argument("The vehicle's identification number, if it has no id here.")]
    pub vin: Option<Text<17>>,
    /// Who looks after the customer.
    #[field(create, update, indexed)]
    pub advisor_id: Option<Ref<Advisor>>,
    /// The number on the tag in the vehicle.
    #[field(create, update)]
    pub tag_number: Option<Text<20>>,
    /// Odometer reading when it came.
    #[field(create, update)]
    pub mileage_in: Option<Distance>,
    /// Odometer reading when it left.
    #[field(update)]
    pub mileage_out: Option<Distance>,
    /// When it was opened.
    #[field(column)]
    #[default(|new| new.now)]
    pub opened_at: Timestamp,
    /// When it is to be ready.
    #[field(create, update, column)]
    pub promised_at: Option<Timestamp>,
    /// When it was closed or voided.
    pub closed_at: Option<Timestamp>,
    /// The work, line by line; without the words about it where masked.
    #[field(create, update)]
    #[argument("The work, line by line. An update replaces all lines.")]
    #[default(List::default())]
    pub jobs: List<JobLine, 50>,
    /// Taxes and fees on top of the jobs.
    #[field(create, update)]
    pub charges: Option<Money>,
    /// What it comes to: all jobs but those that are deferred, declined or cancelled, and the charges.
    pub total: Option<Money>,
    /// What else was said; left out where masked.
    #[field(create, update, sealed)]
    pub notes: Option<Text<4000>>,
    /// A code that the customer must name to fetch the vehicle; never shown again.
    #[field(create, update, write_only)]
    pub pickup_code: Option<Text<20>>,
}

pub const FINISHED: CodeSpec = CodeSpec {
    code: Code("service.finished"),
    means: "The repair order is closed or voided and cannot change any more.",
    next: "Open a new one with `service.create_repair_order`.",
};

pub const JOBS_OPEN: CodeSpec = CodeSpec {
    code: Code("service.jobs_open"),
    means: "The repair order has jobs that are pending or in progress.",
    next: "Complete, defer, decline or cancel each of them, then close the order.",
};

use RepairOrderStatus::{
    Approved, AwaitingApproval, AwaitingParts, Closed, Estimate, InProgress, Invoiced, OnHold, Open, ReadyForPickup,
    Voided,
};

const TRANSITIONS: &[(RepairOrderStatus, &[RepairOrderStatus])] = &[
    (Open, &[Estimate, AwaitingApproval, Approved, InProgress, OnHold, Voided]),
    (Estimate, &[AwaitingApproval, Approved, OnHold, Voided]),
    (AwaitingApproval, &[Estimate, Approved, OnHold, ReadyForPickup, Voided]),
    (Approved, &[InProgress, AwaitingParts, OnHold, Voided]),
    (InProgress, &[AwaitingApproval, AwaitingParts, OnHold, ReadyForPickup]),
    (AwaitingParts, &[InProgress, OnHold, ReadyForPickup]),
    (OnHold, &[Estimate, AwaitingApproval, Approved, InProgress, AwaitingParts, ReadyForPickup, Voided]),
    (ReadyForPickup, &[InProgress, Invoiced]),
    (Invoiced, &[Closed]),
];

impl Resource for RepairOrder {
    const DOMAIN: &'static Domain = &domains::SERVICE;
    const DUPLICATE: CodeSpec = DUPLICATE;

    fn on_create(entity: &mut Entity<RepairOrder>, context: &WriteContext<'_>) -> Result<(), Fault> {
        let order = &mut entity.record;
        let mut problems = order.check();
        if order.appointment_id.is_none() {
            problems.extend(order.missing_vehicle());
        }
        problems.extend(order.past_promise(context));
        refuse(problems)
    }

    fn on_update(
        before: &Entity<RepairOrder>,
        after: &mut Entity<RepairOrder>,
        context: &WriteContext<'_>,
    ) -> Result<(), Fault> {
        let order = &mut after.record;
        if matches!(before.record.status, Closed | Voided) {
            return Err(Fault::domain(
                FINISHED.code,
                "A repair order that is closed or voided stays as it is. Open a new one for further work.",
            ));
        }
        check_transition(TRANSITIONS, before.record.status, order.status, INVALID_TRANSITION.code)?;
        let mut problems = order.check();
        // One whose customer was erased has none, and goes on without.
        if before.record.missing_vehicle().is_none() {
            problems.extend(order.missing_vehicle());
        }
        if before.record.promised_at != order.promised_at {
            problems.extend(order.past_promise(context));
        }
        refuse(problems)?;
        if matches!(order.status, ReadyForPickup | Invoiced | Closed) && order.jobs.iter().any(JobLine::is_open) {
            return Err(Fault::domain(
                JOBS_OPEN.code,
                "Complete, defer, decline or cancel every job first; then the vehicle is ready.",
            ));
        }
        if matches!(order.status, Closed | Voided) {
            order.closed_at = Some(context.now());
        }
        Ok(())
    }

    /// The appointment knows its repair order, and is over when that is.
    async fn cascade(
        before: Option<&Entity<RepairOrder>>,
        after: &mut Entity<RepairOrder>,
        context: &mut WriteContext<'_>,
    ) -> Result<(), Fault> {
        let Some(appointment_id) = after.record.appointment_id.clone() else { return Ok(()) };
        match before {
            None => {
                let mut appointment = context.load_required(&appointment_id).await?;
                after.record.take_over(&mut appointment, &after.id)?;
                context.update(appointment);
            }
            Some(_) if matches!(after.record.status, Closed | Voided) => {
                let stored = context.load(&appointment_id).await?;
                if let Some(mut appointment) = stored.filter(|stored| stored.record.status.is_under_way()) {
                    if after.record.status == Closed {
                        appointment.record.status = AppointmentStatus::Completed;
                    } else {
                        // The work can get another order.
                        appointment.record.repair_order_id = None;
                    }
                    context.update(appointment);
                }
            }
            Some(_) => {}
        }
        Ok(())
    }
}

impl RepairOrder {
    /// Takes what is not named from the appointment, and checks the customer in.
    fn take_over(&mut self, appointment: &mut Entity<Appointment>, id: &str) -> Result<(), Fault> {
        let from = &mut appointment.record;
        if from.repair_order_id.is_some() {
            let message = "The appointment has a repair order already. Read the appointment, and change that order.";
            return Err(Fault::domain(DUPLICATE.code, message));
        }
        if !from.status.is_under_way() {
            let status = crate::record::Vocabulary::as_str(from.status);
            let message =
                format!("The appointment is {status}; one that is booked, confirmed or checked in is expected.");
            return Err(Fault::domain(INVALID_TRANSITION.code, message));
        }
        if self.vehicle_id.is_none() && self.vin.is_none() {
            (self.vehicle_id, self.vin) = (from.vehicle_id.clone(), from.vin.clone());
        }
        self.customer_id = self.customer_id.take().or_else(|| from.customer_id.clone());
        self.advisor_id = self.advisor_id.take().or_else(|| from.advisor_id.clone());
        self.mileage_in = self.mileage_in.take().or_else(|| from.mileage.clone());
        from.repair_order_id = Some(id.into());
        if matches!(from.status, AppointmentStatus::Booked | AppointmentStatus::Confirmed) {
            from.status = AppointmentStatus::CheckedIn;
        }
        refuse(self.missing_vehicle().into_iter().collect())
    }

    fn missing_vehicle(&self) -> Option<Problem> {
        let is_missing = self.vehicle_id.is_none() && self.vin.is_none();
        is_missing.then(|| problem("", "anyOf", "vehicle_id is required, or vin for a vehicle that is not here"))
    }

    fn past_promise(&self, context: &WriteContext<'_>) -> Option<Problem> {
        let is_past = self.promised_at.is_some_and(|at| at <= context.now());
        is_past.then(|| problem("/promised_at", "minimum", "it must lie in the future"))
    }

    /// Everything that is wrong with the order by itself; also sums it up.
    fn check(&mut self) -> Vec<Problem> {
        let mut problems = Vec::new();
        match self.vin.as_deref().map(Vin::parse) {
            Some(Ok(vin)) => self.vin = Some(vin.as_str().into()),
            Some(Err(error)) => problems.push(problem("/vin", "pattern", &error.to_string())),
            None => {}
        }
        let mut lines = BTreeSet::new();
        for (place, job) in self.jobs.iter().enumerate() {
            if !lines.insert(job.line) {
                problems.push(problem(&format!("/jobs/{place}/line"), "uniqueItems", "each number occurs once"));
            }
            // Lists show it unmasked, so it must not be able to hold a name.
            if job.technician_id.as_ref().is_some_and(|id| !is_plain_id(id)) {
                let expected = "only letters A to Z, digits, _ and - are allowed";
                problems.push(problem(&format!("/jobs/{place}/technician_id"), "pattern", expected));
            }
        }
        if let (Some(came), Some(left)) = (&self.mileage_in, &self.mileage_out)
            && left.millimetres() < came.millimetres()
        {
            problems.push(problem("/mileage_out", "minimum", "it must not be less than mileage_in"));
        }
        problems.extend(self.sum_up());
        problems
    }

    /// All amounts must be of one currency, because their sum is.
    fn sum_up(&mut self) -> Vec<Problem> {
        let jobs = self.jobs.iter().enumerate().flat_map(|(place, job)| {
            let amounts = [("labor_total", &job.labor_total), ("parts_total", &job.parts_total)];
            let of_job = amounts.into_iter().filter_map(|(name, amount)| Some((name, amount.as_ref()?)));
            of_job.map(move |(name, amount)| (format!("/jobs/{place}/{name}"), amount, job.is_charged()))
        });
        let charges = self.charges.iter().map(|amount| ("/charges".to_owned(), amount, true));
        let mut total: Option<Money> = None;
        let mut problems = Vec::new();
        for (pointer, amount, is_charged) in jobs.chain(charges) {
            let sum = total.get_or_insert_with(|| Money::new(0, &amount.currency));
            if sum.currency != amount.currency {
                let expected = "all amounts of an order are in one currency";
                problems.push(problem(&format!("{pointer}/currency"), "const", expected));
            } else if is_charged {
                let added = sum.amount.get().saturating_add(amount.amount.get());
                *sum = Money::new(added, &amount.currency);
                if added > MAX_SAFE_INTEGER {
                    problems.push(problem(&format!("{pointer}/amount"), "maximum", "the amounts add up to too much"));
                    break;
                }
            }
        }
        self.total = total;
        problems
    }
}

fn problem(pointer: &str, keyword: &'static str, expected: &str) -> Problem {
    Problem { pointer: pointer.to_owned(), keyword, expected: expected.to_owned() }
}

fn refuse(problems: Vec<Problem>) -> Result<(), Fault> {
    if problems.is_empty() { Ok(()) } else { Err(Fault::invalid(problems)) }
}

const LISTED_BY: &[FilterArgument] = &[
    equals("status", "Only repair orders with this status."),
    equals("customer_id", "Only those of this customer."),
    equals("vehicle_id", "Only those about this vehicle."),
    equals("vin", "Only those about the vehicle with this number."),
    equals("appointment_id", "Only the one of this appointment."),
    equals("advisor_id", "Only those this advisor looks after."),
    equals("ro_number", "Only the one with this number."),
    at_least("opened_since", "opened_at", "Only those opened at or after this."),
];

pub fn resource() -> ResourceParts {
    ResourceApi::<RepairOrder>::new("repair_orders", "The repair order's id, as lists give it; not its ro_number.")
        .list(
            "service.list_repair_orders",
            "List repair orders",
            "Lists the workshop's repair orders, newest first, page by page, without what was written about them.",
            LISTED_BY,
            ("Repair orders", "Repair orders of the workshop, newest first."),
        )
        .get(
            "service.get_repair_order",
            "Get a repair order",
            "Reads one repair order by its id, with all that was written about it.",
            ("Repair order", "One repair order by its id."),
        )
        .create(
            "service.create_repair_order",
            "Create a repair order",
            "Opens a repair order for a vehicle that was brought in, by its id here or its VIN. With appointment_id it takes \
             over vehicle, customer and advisor, and the appointment is checked in. The new order has status open. Without \
             amcp:service:read the answer is a receipt.",
            Vec::new(),
            &[INVALID_TRANSITION],
        )
        .update(
            "service.update_repair_order",
            "Update a repair order",
            "Changes what is named. jobs replaces all jobs. The status follows the order \
             of work: an error names what is possible. Closing it completes its appointment; after voiding it the appointment can get another.",
            &[INVALID_TRANSITION, FINISHED, JOBS_OPEN],
        )
        .parts()
}
