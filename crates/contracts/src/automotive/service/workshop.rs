//! A workshop: its time zone, opening hours and bays. Workshops come in by import; a dealership usually has one.

use frontdesk_engine::Fault;
use frontdesk_engine::model::fault::Problem;

use super::DUPLICATE;
use crate::Record;
use crate::automotive::codes::CodeSpec;
use crate::automotive::domains::{self, Domain};
use crate::automotive::resource::{Resource, ResourceApi, ResourceParts, WriteContext};
use crate::calendar::{LocalCalendar, WeekdayHours, check_days, check_hours, zone_name};
use crate::record::{Entity, Integer, List, Text};

#[derive(Debug, Clone, PartialEq, Record)]
#[table("workshop", prefix = "wsp", not_found = "service.not_found")]
pub struct Workshop {
    /// The dealership's own short name for it.
    #[field(create, unique)]
    pub code: Text<40>,
    /// Its name.
    #[field(create, update)]
    pub name: Text<120>,
    /// IANA time zone of the opening hours, such as America/New_York.
    #[field(create, update)]
    pub time_zone: Text<64>,
    /// Work begins at the opening time and every so many minutes after it.
    #[field(create, update)]
    #[default(Integer::constant::<30>())]
    pub slot_minutes: Integer<5, 480>,
    /// How many vehicles are worked on at the same time.
    #[field(create, update)]
    pub bays: Integer<1, 200>,
    /// How many of the bays are of a special kind.
    #[field(create, update)]
    #[default(List::default())]
    pub bay_kinds: List<BayKind, 20>,
    /// When work is done, by day of the week.
    #[field(create, update)]
    pub opening_hours: List<WeekdayHours, 28>,
    /// Days on which it is closed, such as 2026-12-25.
    #[field(create, update)]
    #[default(List::default())]
    pub closed_days: List<Text<10>, 400>,
}

#[derive(Debug, Clone, PartialEq, Eq, Record)]
pub struct BayKind {
    /// What service codes call it, such as alignment.
    pub kind: Text<40>,
    /// How many bays are of this kind.
    pub bays: Integer<1, 200>,
}

impl Resource for Workshop {
    const DOMAIN: &'static Domain = &domains::SERVICE;
    const DUPLICATE: CodeSpec = DUPLICATE;

    fn on_create(entity: &mut Entity<Workshop>, _: &WriteContext<'_>) -> Result<(), Fault> {
        entity.record.check()
    }

    fn on_update(_: &Entity<Workshop>, after: &mut Entity<Workshop>, _: &WriteContext<'_>) -> Result<(), Fault> {
        after.record.check()
    }
}

impl Workshop {
    /// When work can begin. None if the time zone is no longer known.
    pub fn calendar(&self) -> Option<LocalCalendar> {
        let closed = self.closed_days.iter().map(|day| &**day);
        LocalCalendar::new(&self.time_zone, self.opening_hours.iter(), closed, self.slot_minutes.get())
    }

    /// How many bays are of this kind.
    pub fn bays_of_kind(&self, kind: &str) -> i64 {
        self.bay_kinds.iter().filter(|known| *known.kind == *kind).map(|known| known.bays.get()).sum()
    }

    fn check(&mut self) -> Result<(), Fault> {
        let mut problems = check_hours("/opening_hours", &self.opening_hours);
        problems.extend(check_days("/closed_days", self.closed_days.iter().map(|day| &**day)));
        match zone_name(&self.time_zone) {
            Some(name) => self.time_zone = name.as_str().into(),
            None => problems.push(Problem {
                pointer: "/time_zone".to_owned(),
                keyword: "format",
                expected: "a time zone of the IANA database is expected, such as Europe/Berlin".to_owned(),
            }),
        }
        let too_many = |kind: &BayKind| kind.bays > Integer::clamped(self.bays.get());
        for (place, _) in self.bay_kinds.iter().enumerate().filter(|(_, kind)| too_many(kind)) {
            problems.push(Problem {
                pointer: format!("/bay_kinds/{place}/bays"),
                keyword: "maximum",
                expected: "it must not be more than all bays".to_owned(),
            });
        }
        if problems.is_empty() { Ok(()) } else { Err(Fault::invalid(problems)) }
    }
}

pub fn resource() -> ResourceParts {
    ResourceApi::<Workshop>::new("workshops", "The workshop's id, as lists give it; not its code.")
        .list(
            "service.list_workshops",
            "List workshops",
            "Lists the dealership's workshops with time zone, opening hours and bays. Free times are told by \
             service.check_availability.",
            &[],
            ("Workshops", "Workshops of the dealership."),
        )
        .get(
            "service.get_workshop",
            "Get a workshop",
            "Reads one workshop by its id.",
            ("Workshop", "One workshop by its id."),
        )
        .parts()
}
