//! What the workshops of the demo offer, when they are open, who works there, and what is booked.

use super::super::market::INDIA;
use crate::automotive::service::repair_order::RepairOrderStatus;
use crate::calendar::Weekday;

/// Code, name, minutes, kind of bay, price in hundredths of the currency.
pub(super) type DemoCode = (&'static str, &'static str, i64, Option<&'static str>, i64);

/// A day of the week, and when it begins and ends.
pub(super) type WeekdayTimes = (Weekday, &'static str, &'static str);

/// The number, how far it is, how many days ago it was opened, the code and what was said, found and done.
pub(super) type DemoOrder = (&'static str, RepairOrderStatus, i64, &'static str, [&'static str; 3]);

pub(super) struct WorkshopSpec {
    pub(super) codes: &'static [DemoCode],
    /// Number and name.
    pub(super) advisors: &'static [(&'static str, &'static str)],
    pub(super) opening_hours: &'static [WeekdayTimes],
    /// Those of the advisors.
    pub(super) working_hours: &'static [WeekdayTimes],
    pub(super) closed_days: &'static [&'static str],
    /// The day after the first ones on which the workshop works, the number of the slot, the code, and the advisor.
    pub(super) booked: &'static [(usize, usize, &'static str, Option<usize>)],
    pub(super) orders: &'static [DemoOrder],
    /// Make and model of what is brought in.
    pub(super) car: (&'static str, &'static str),
}

impl WorkshopSpec {
    pub(super) fn of(country: &str) -> &'static WorkshopSpec {
        if country == INDIA { &IN_INDIA } else { &IN_AMERICA }
    }

    pub(super) fn code(&self, code: &str) -> Option<&'static DemoCode> {
        self.codes.iter().find(|known| known.0 == code)
    }
}

const IN_AMERICA: WorkshopSpec = WorkshopSpec {
    codes: &[
        ("OIL", "Oil and filter change", 30, None, 7_995),
        ("ROT", "Tire rotation", 30, None, 3_995),
        ("BRK", "Brake inspection", 60, None, 8_900),
        ("ALI", "Wheel alignment", 60, Some("alignment"), 12_995),
        ("AC", "Air conditioning service", 90, None, 18_900),
        ("BAT", "Battery test and replacement", 30, None, 21_900),
        ("MAJ", "Major service", 180, None, 54_900),
        ("DIA", "Diagnosis of a warning light", 60, None, 14_900),
    ],
    advisors: &[("S-11", "Noor Whitfield"), ("S-12", "Tomasz Aldine"), ("S-13", "Imani Brook")],
    opening_hours: &[
        (Weekday::Monday, "08:00", "17:00"),
        (Weekday::Tuesday, "08:00", "17:00"),
        (Weekday::Wednesday, "08:00", "17:00"),
        (Weekday::Thursday, "08:00", "17:00"),
        (Weekday::Friday, "08:00", "17:00"),
        (Weekday::Saturday, "09:00", "13:00"),
    ],
    working_hours: &[
        (Weekday::Monday, "08:00", "16:00"),
        (Weekday::Tuesday, "08:00", "16:00"),
        (Weekday::Wednesday, "08:00", "16:00"),
        (Weekday::Thursday, "08:00", "16:00"),
        (Weekday::Friday, "08:00", "16:00"),
    ],
    closed_days: &["2026-07-04", "2026-11-26", "2026-12-25"],
    booked: &[
        (0, 0, "OIL", Some(0)),
        (0, 0, "BRK", Some(1)),
        (0, 2, "MAJ", Some(0)),
        (0, 4, "ALI", None),
        // The only bay for alignments is taken.
        (0, 4, "ALI", None),
        (1, 0, "DIA", Some(2)),
        (1, 3, "OIL", None),
        (2, 1, "AC", Some(1)),
        (3, 6, "BAT", None),
    ],
    orders: &[
        (
            "RO-20117",
            RepairOrderStatus::Closed,
            9,
            "BRK",
            ["It squeals when it brakes.", "Front pads worn to 2 mm.", "Replaced the front pads."],
        ),
        (
            "RO-20131",
            RepairOrderStatus::ReadyForPickup,
            2,
            "OIL",
            ["The oil light came on.", "Oil was low.", "Changed oil and filter."],
        ),
        (
            "RO-20140",
            RepairOrderStatus::InProgress,
            1,
            "DIA",
            ["A warning light is on.", "Under inspection.", "Not yet decided."],
        ),
    ],
    car: ("Toyota", "Corolla"),
};

const SIX_DAYS: &[WeekdayTimes] = &[
    (Weekday::Monday, "09:00", "18:00"),
    (Weekday::Tuesday, "09:00", "18:00"),
    (Weekday::Wednesday, "09:00", "18:00"),
    (Weekday::Thursday, "09:00", "18:00"),
    (Weekday::Friday, "09:00", "18:00"),
    (Weekday::Saturday, "09:00", "18:00"),
];

const IN_INDIA: WorkshopSpec = WorkshopSpec {
    codes: &[
        ("GENERAL_SERVICE", "General service", 120, None, 349_900),
        ("OIL_CHANGE", "Oil and filter change", 30, None, 149_900),
        ("WHEEL_ALIGNMENT", "Wheel alignment and balancing", 60, Some("alignment"), 99_900),
        ("AC_SERVICE", "Air conditioning service", 90, None, 229_900),
        ("BRAKE_SERVICE", "Brake inspection and cleaning", 60, None, 119_900),
        ("BATTERY", "Battery test and replacement", 30, None, 519_900),
    ],
    advisors: &[("B-11", "Anjali Deshpande"), ("B-12", "Farhan Qureshi")],
    opening_hours: SIX_DAYS,
    working_hours: SIX_DAYS,
    closed_days: &["2026-08-15", "2026-10-02", "2027-01-26", "2027-08-15"],
    booked: &[(0, 0, "GENERAL_SERVICE", Some(0)), (0, 6, "OIL_CHANGE", None), (1, 2, "WHEEL_ALIGNMENT", Some(1))],
    orders: &[(
        "RO-70112",
        RepairOrderStatus::Closed,
        6,
        "BRAKE_SERVICE",
        ["The pedal feels soft.", "Air in the brake lines.", "Bled the brakes and cleaned the pads."],
    )],
    car: ("Maruti Suzuki", "Swift"),
};
