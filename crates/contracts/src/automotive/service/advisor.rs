//! An employee who receives customers of the workshop. Advisors come in by import. Their names are shown to everybody who
//! may book, because customers choose them.

use frontdesk_engine::Fault;

use super::DUPLICATE;
use crate::automotive::codes::CodeSpec;
use crate::automotive::domains::{self, Domain};
use crate::automotive::resource::{Resource, ResourceApi, ResourceParts, WriteContext};
use crate::calendar::{WeekdayHours, check_hours};
use crate::record::filter::equals;
use crate::record::{Entity, FilterArgument, List, Text};
use crate::{Record, Vocabulary};

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum AdvisorStatus { Active, Inactive, Unknown }

#[derive(Debug, Clone, PartialEq, Record)]
#[table("advisor", prefix = "adv", not_found = "service.not_found")]
pub struct Advisor {
    /// The employee's number in the dealership's own system.
    #[field(create, unique)]
    pub employee_number: Text<40>,
    /// The name that customers know.
    #[field(create, update)]
    pub name: Text<120>,
    /// Whether customers can be booked with them.
    #[field(create, update, known, indexed)]
    #[default(AdvisorStatus::Active)]
    pub status: AdvisorStatus,
    /// When they receive customers, in the workshop's time zone; while it is open, if empty.
    #[field(create, update)]
    #[default(List::default())]
    pub working_hours: List<WeekdayHours, 28>,
}

impl Resource for Advisor {
    const DOMAIN: &'static Domain = &domains::SERVICE;
    const DUPLICATE: CodeSpec = DUPLICATE;

    fn on_create(entity: &mut Entity<Advisor>, _: &WriteContext<'_>) -> Result<(), Fault> {
        entity.record.check()
    }

    fn on_update(_: &Entity<Advisor>, after: &mut Entity<Advisor>, _: &WriteContext<'_>) -> Result<(), Fault> {
        after.record.check()
    }
}

impl Advisor {
    fn check(&self) -> Result<(), Fault> {
        match check_hours("/working_hours", &self.working_hours) {
            problems if problems.is_empty() => Ok(()),
            problems => Err(Fault::invalid(problems)),
        }
    }
}

const LISTED_BY: &[FilterArgument] = &[equals("status", "Only advisors with this status.")];

pub fn resource() -> ResourceParts {
    ResourceApi::<Advisor>::new("advisors", "The advisor's id, as lists give it; not the employee number.")
        .list(
            "service.list_advisors",
            "List service advisors",
            "Lists the employees who receive customers of the workshop, page by page. An advisor_id is the id of one.",
            LISTED_BY,
            ("Service advisors", "Employees who receive customers of the workshop."),
        )
        .get(
            "service.get_advisor",
            "Get a service advisor",
            "Reads one advisor by their id, with their working hours.",
            ("Service advisor", "One advisor by their id."),
        )
        .parts()
}
