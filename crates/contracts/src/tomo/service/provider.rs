//! A business that does work at given times: where it is, when it is open and how many customers it serves at once.
//! Providers come in by import. Where a dealership's workshop is sold, the provider with the workshop's code says what
//! the workshop itself does not: its address, its rating and its rule of cancellation.

use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::{Fault, Permitted};
use serde_json::{Map, Value};

use crate::calendar::{LocalCalendar, WeekdayHours, check_days, check_hours, zone_name};
use crate::record::import::{Imported, Withdrawal};
use crate::record::{FixedDecimal, Integer, List, NameText, Text};
use crate::tomo::managed::Managed;
use crate::{Record, Vocabulary};

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum ProviderStatus { Offered, Withdrawn, Unknown }

#[derive(Debug, Clone, PartialEq, Record)]
#[table("tomo_provider", prefix = "prv", not_found = "NOT_FOUND", noun = "provider")]
pub struct Provider {
    /// The business's own short name for it.
    #[field(create, unique)]
    pub provider_code: Text<40>,
    /// Its name.
    #[field(create, update)]
    pub name: Text<120>,
    /// City.
    #[field(create, update, indexed)]
    pub city: NameText<80>,
    /// Part of the city, such as Koramangala.
    #[field(create, update)]
    pub area: Option<Text<120>>,
    /// Street and number.
    #[field(create, update)]
    pub address: Text<300>,
    /// Pincode, 6 digits.
    #[field(create, update)]
    pub pincode: Option<Text<6>>,
    /// Degrees north, such as 12.9352.
    #[field(create, update)]
    pub latitude: Option<FixedDecimal<6, -90, 90>>,
    /// Degrees east, such as 77.6245.
    #[field(create, update)]
    pub longitude: Option<FixedDecimal<6, -180, 180>>,
    /// What customers say on average, from 0 to 5, such as 4.6.
    #[field(create, update)]
    pub rating: Option<FixedDecimal<1, 0, 5>>,
    /// IANA time zone of the opening hours, such as Asia/Kolkata.
    #[field(create, update)]
    pub time_zone: Text<64>,
    /// Work begins at the opening time and every so many minutes after it.
    #[field(create, update)]
    #[default(Integer::constant::<30>())]
    pub slot_minutes: Integer<5, 480>,
    /// How many customers are served at the same time.
    #[field(create, update)]
    #[default(Integer::constant::<1>())]
    pub places: Integer<1, 200>,
    /// When it is open, by day of the week.
    #[field(create, update)]
    pub opening_hours: List<WeekdayHours, 28>,
    /// Days on which it is closed, such as 2027-01-26.
    #[field(create, update)]
    #[default(List::default())]
    pub closed_days: List<Text<10>, 400>,
    /// A cancellation this many hours before the slot or earlier costs nothing.
    #[field(create, update)]
    #[default(Integer::constant::<0>())]
    pub free_cancel_hours: Integer<0, 720>,
    /// What is paid back of a later cancellation, in percent.
    #[field(create, update)]
    #[default(Integer::constant::<100>())]
    pub late_refund_percent: Integer<0, 100>,
    /// Whether it can be booked.
    #[field(create, update, known, indexed)]
    #[default(ProviderStatus::Offered)]
    pub status: ProviderStatus,
}

impl Provider {
    /// When work can begin. None if the time zone is no longer known.
    pub fn calendar(&self) -> Option<LocalCalendar> {
        let closed = self.closed_days.iter().map(|day| &**day);
        LocalCalendar::new(&self.time_zone, self.opening_hours.iter(), closed, self.slot_minutes.get())
    }

    /// What is wrong with it. The name of the time zone is written as its database does.
    pub fn problems(&mut self) -> Vec<Problem> {
        let mut problems = check_hours("/opening_hours", &self.opening_hours);
        problems.extend(check_days("/closed_days", self.closed_days.iter().map(|day| &**day)));
        match zone_name(&self.time_zone) {
            Some(name) => self.time_zone = name.as_str().into(),
            None => problems.push(Problem::new(
                "/time_zone",
                "format",
                "a time zone of the IANA database is expected, such as Asia/Kolkata",
            )),
        }
        let is_pincode = |text: &str| text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_digit());
        if self.pincode.as_deref().is_some_and(|pincode| !is_pincode(pincode)) {
            problems.push(Problem::new("/pincode", "pattern", "a pincode of 6 digits is expected"));
        }
        problems
    }
}

/// What a feed no longer lists is no longer offered; bookings of it stay.
pub(super) const WITHDRAWAL: Withdrawal = Withdrawal { field: "status", listed: &["offered"], withdrawn: "withdrawn" };

/// What a feed lists again is offered again.
pub(super) fn offer_again(status: ProviderStatus, arguments: &mut Map<String, Value>) {
    if status == ProviderStatus::Withdrawn {
        arguments.entry("status").or_insert_with(|| Value::from("offered"));
    }
}

impl Imported for Provider {
    const WITHDRAWAL: Option<Withdrawal> = Some(WITHDRAWAL);

    fn on_listed(record: &Provider, arguments: &mut Map<String, Value>) {
        offer_again(record.status, arguments);
    }
}

impl Managed for Provider {
    async fn check(&mut self, _: &Permitted<'_>) -> Result<(), Fault> {
        let problems = self.problems();
        if problems.is_empty() { Ok(()) } else { Err(Fault::invalid(problems)) }
    }
}
