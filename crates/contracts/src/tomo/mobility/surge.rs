//! When rides cost more: the surge table of the business, by city, class and local time. It comes in by import.

use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::table::Cell;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Fault, Permitted};
use serde_json::{Map, Value};

use super::fare::SurgeMultiplier;
use super::fare_table::{FareStatus, VehicleClass, WITHDRAWAL, offer_again};
use crate::Record;
use crate::calendar::{LocalCalendar, Weekday, WeekdayHours, check_hours};
use crate::record::import::{Imported, Withdrawal};
use crate::record::{List, NameText, Text, Vocabulary as _, list_records};
use crate::tomo::listing::place::city_keys;
use crate::tomo::managed::Managed;

/// The time of all of India.
pub(super) const TIME_ZONE: &str = "Asia/Kolkata";

/// How many rules one city can have.
const MAX_RULES: usize = 200;

#[derive(Debug, Clone, PartialEq, Record)]
#[table("tomo_surge", prefix = "srg", not_found = "NOT_FOUND", noun = "surge")]
pub struct SurgeRule {
    /// The business's own short name for it, such as BLR-EVENING.
    #[field(create, unique)]
    pub surge_code: Text<60>,
    /// City.
    #[field(create, update, indexed)]
    pub city: NameText<80>,
    /// Class of vehicle; all of them if it is missing.
    #[field(create, update, known)]
    pub vehicle_class: Option<VehicleClass>,
    /// Days of the week, such as monday; all of them if there are none.
    #[field(create, update, known)]
    #[default(List::default())]
    pub weekdays: List<Weekday, 7>,
    /// Local time it begins, such as 17:30.
    #[field(create, update)]
    pub from_time: Text<5>,
    /// Local time it ends, such as 21:00; at most 24:00.
    #[field(create, update)]
    pub until_time: Text<5>,
    /// What the fare is multiplied by, such as 1.25. Where several rules hold, the highest counts.
    #[field(create, update)]
    pub multiplier: SurgeMultiplier,
    /// Whether it holds.
    #[field(create, update, known, indexed)]
    #[default(FareStatus::Offered)]
    pub status: FareStatus,
}

impl SurgeRule {
    fn hours(&self) -> Vec<WeekdayHours> {
        use Weekday::{Friday, Monday, Saturday, Sunday, Thursday, Tuesday, Wednesday};
        const ALL: [Weekday; 7] = [Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday];
        let days: &[Weekday] = if self.weekdays.is_empty() { &ALL } else { &self.weekdays };
        let hours = |day: &Weekday| WeekdayHours {
            weekday: *day,
            opens: self.from_time.clone(),
            closes: self.until_time.clone(),
        };
        days.iter().map(hours).collect()
    }

    fn holds(&self, class: VehicleClass, at: Millis) -> bool {
        let is_meant = self.vehicle_class.is_none_or(|meant| meant == class);
        let calendar = || LocalCalendar::new(TIME_ZONE, &self.hours(), [], 1);
        is_meant && calendar().is_some_and(|calendar| calendar.is_open(at))
    }
}

/// The rules of a city.
pub(super) async fn rules_in(permitted: &Permitted<'_>, city: &str) -> Result<Vec<SurgeRule>, Fault> {
    let filters = vec![
        Filter::AnyOf("city", city_keys(city).into_iter().map(Cell::Text).collect()),
        Filter::Equals("status", Cell::Text(FareStatus::Offered.as_str().to_owned())),
    ];
    let rules = list_records::<SurgeRule>(permitted, filters, MAX_RULES).await?;
    Ok(rules.into_iter().map(|rule| rule.record).collect())
}

/// What the fare of a class is multiplied by at this time.
pub(super) fn multiplier(rules: &[SurgeRule], class: VehicleClass, at: Millis) -> SurgeMultiplier {
    let holding = rules.iter().filter(|rule| rule.holds(class, at)).map(|rule| rule.multiplier);
    holding.max().unwrap_or(SurgeMultiplier::scaled(100))
}

impl Imported for SurgeRule {
    const WITHDRAWAL: Option<Withdrawal> = Some(WITHDRAWAL);

    fn on_listed(record: &SurgeRule, arguments: &mut Map<String, Value>) {
        offer_again(record.status, arguments);
    }
}

impl Managed for SurgeRule {
    async fn check(&mut self, _: &Permitted<'_>) -> Result<(), Fault> {
        let own = |pointer: &str| if pointer.ends_with("/closes") { "/until_time" } else { "/from_time" };
        let hours = self.hours();
        // All days have the same hours, so that one of them says what is wrong with them.
        let problems = check_hours("", hours.get(..1).unwrap_or_default());
        let problems: Vec<Problem> = problems
            .into_iter()
            .map(|problem| Problem {
                pointer: own(&problem.pointer).to_owned(),
                expected: problem.expected.replace("later than opens", "later than from_time"),
                ..problem
            })
            .collect();
        if problems.is_empty() { Ok(()) } else { Err(Fault::invalid(problems)) }
    }
}
