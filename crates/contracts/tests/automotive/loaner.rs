//! A made-up resource: the cars that a workshop lends. It is the one file that a new resource takes.

use frontdesk_contracts::automotive::codes::CodeSpec;
use frontdesk_contracts::automotive::customer::Customer;
use frontdesk_contracts::automotive::domains::{self, Domain};
use frontdesk_contracts::automotive::resource::{Resource, ResourceApi, ResourceParts, WriteContext};
use frontdesk_contracts::record::filter::{at_least, equals, personal_words, words};
use frontdesk_contracts::record::{
    Email, Entity, FilterArgument, Integer, PersonName, Ref, SortOption, Text, Timestamp, check_transition,
};
use frontdesk_contracts::{Record, Vocabulary};
use frontdesk_engine::model::page::Direction;
use frontdesk_engine::{Code, Fault};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub(crate) enum LoanerStatus {
    Free,
    Lent,
    InRepair,
    Retired,
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Record)]
#[table("loaner", prefix = "loa", not_found = "service.not_found", noun = "loaner car")]
pub(crate) struct Loaner {
    /// Number plate.
    #[field(create, unique, searched)]
    pub(crate) plate: Text<20>,
    /// Whether it can be lent.
    #[field(update, known, indexed, receipt)]
    #[default(LoanerStatus::Free)]
    pub(crate) status: LoanerStatus,
    /// Seats.
    #[field(create, update, sorted)]
    #[default(Integer::constant::<5>())]
    pub(crate) seats: Integer<2, 9>,
    /// The customer who has it.
    #[field(create, update, indexed)]
    pub(crate) customer_id: Option<Ref<Customer>>,
    /// Who drives it; masked in lists.
    #[field(create, update, columns)]
    pub(crate) driver: Option<Driver>,
    /// What was agreed; left out where masked.
    #[field(create, update, sealed)]
    pub(crate) notes: Option<Text<500>>,
    /// Since when it is lent.
    #[field(column)]
    #[default(|new| new.now)]
    pub(crate) since: Timestamp,
    /// The code of the key box; never shown again.
    #[field(create, update, write_only)]
    pub(crate) key_code: Option<Text<10>>,
}

#[derive(Debug, Clone, PartialEq, Record)]
pub(crate) struct Driver {
    /// Full name.
    #[field(searched)]
    pub(crate) name: PersonName,
    /// E-mail address.
    #[field(indexed)]
    pub(crate) email: Option<Email>,
    /// Number of the licence.
    #[field(sealed)]
    pub(crate) licence: Option<Text<40>>,
}

const INVALID_TRANSITION: CodeSpec = CodeSpec {
    code: Code("service.invalid_transition"),
    means: "The status cannot follow the one before.",
    next: "Choose one that the message names.",
};

const TRANSITIONS: &[(LoanerStatus, &[LoanerStatus])] = &[
    (LoanerStatus::Free, &[LoanerStatus::Lent, LoanerStatus::InRepair, LoanerStatus::Retired]),
    (LoanerStatus::Lent, &[LoanerStatus::Free, LoanerStatus::InRepair]),
    (LoanerStatus::InRepair, &[LoanerStatus::Free, LoanerStatus::Retired]),
];

impl Resource for Loaner {
    const DOMAIN: &'static Domain = &domains::SERVICE;

    fn on_update(before: &Entity<Loaner>, after: &mut Entity<Loaner>, context: &WriteContext<'_>) -> Result<(), Fault> {
        check_transition(TRANSITIONS, before.record.status, after.record.status, INVALID_TRANSITION.code)?;
        if before.record.status != after.record.status {
            after.record.since = context.now();
        }
        Ok(())
    }
}

const LISTED_BY: &[FilterArgument] = &[
    equals("status", "Only cars with this status."),
    equals("customer_id", "Only what this customer has."),
    equals("email", "Only what the driver with this address has."),
    at_least("since_at_least", "since", "Only what changed hands at or after this."),
    personal_words("driver", "Words of the driver's name."),
];

const SORTED_BY: &[SortOption] = &[
    SortOption { word: "seats_asc", field: "seats", direction: Direction::Ascending },
    SortOption { word: "seats_desc", field: "seats", direction: Direction::Descending },
];

pub(crate) fn resource() -> ResourceParts {
    ResourceApi::<Loaner>::new("loaners", "The car's id, as lists give it; not its plate.")
        .list("service.list_loaners", "List loaner cars", "Lists loaner cars.", LISTED_BY, ("Loaners", "Loaner cars."))
        .search(
            "service.search_loaners",
            "Search loaner cars",
            "Finds loaner cars by their plate.",
            &[words("text", "Words of the plate.")],
            SORTED_BY,
        )
        .get("service.get_loaner", "Get a loaner car", "Reads one.", ("Loaner", "One loaner car by its id."))
        .create("service.create_loaner", "Add a loaner car", "Adds one.", Vec::new(), &[])
        .update("service.update_loaner", "Change a loaner car", "Changes one.", &[INVALID_TRANSITION])
        .parts()
}
