//! Value types that several resources share: money, distances, contacts.

use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::model::table::search_terms;

use super::vocabulary::DistanceUnit;
use crate::Record;
use crate::record::{Currency, ERASED, Email, Integer, MinorUnits, PersonName, Phone, Text};

/// 2^53 - 1, the largest integer that every JSON parser keeps exactly.
pub const MAX_SAFE_INTEGER: i64 = 9_007_199_254_740_991;

/// An integer amount of minor units and a currency (A3-33).
#[derive(Debug, Clone, PartialEq, Eq, Record)]
pub struct Money {
    /// Minor units: 2499999 is 24,999.99 USD.
    pub amount: MinorUnits,
    /// ISO 4217, such as USD.
    pub currency: Currency,
}

impl Money {
    pub fn new(amount: i64, currency: &str) -> Money {
        Money { amount: MinorUnits::new(amount), currency: currency.into() }
    }
}

/// A distance with its unit (A3-34).
#[derive(Debug, Clone, PartialEq, Eq, Record)]
#[record(ordered_by = millimetres)]
pub struct Distance {
    /// Whole miles or km.
    pub value: Integer<0, 9_999_999>,
    /// Its unit.
    pub unit: DistanceUnit,
}

impl Distance {
    /// Miles and kilometres are both integers in this unit, so that distances compare exactly.
    pub fn millimetres(&self) -> i64 {
        let unit = match self.unit {
            DistanceUnit::Km => 1_000_000,
            DistanceUnit::Mi => 1_609_344,
        };
        self.value.get().saturating_mul(unit)
    }
}

/// How to reach a person.
#[derive(Debug, Clone, PartialEq, Eq, Record)]
pub struct Contact {
    /// Full name, or its initials where masked.
    #[field(searched)]
    #[argument("Full name.")]
    pub name: PersonName,
    /// E-mail address, or what is left of it where masked.
    #[field(indexed)]
    #[argument("E-mail address.")]
    pub email: Option<Email>,
    /// Number in E.164 form, or what is left of it where masked.
    #[field(indexed)]
    #[argument("Number in E.164 form.")]
    pub phone: Option<Phone>,
}

/// Whether somebody without e-mail address and number is of use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reachability {
    Required,
    Optional,
}

impl Contact {
    /// A person needs a name and, where they are to be contacted, a way to do it. `pointer` is where the contact stands.
    pub(super) fn problems(&self, pointer: &str, reachability: Reachability) -> Vec<Problem> {
        let mut problems = Vec::new();
        if search_terms(&self.name).is_empty() {
            problems.push(Problem::new(&format!("{pointer}/name"), "pattern", "at least one letter is expected"));
        }
        if reachability == Reachability::Required && self.email.is_none() && self.phone.is_none() {
            let expected = "an e-mail address or a telephone number is required";
            problems.push(Problem::new(pointer, "anyOf", expected));
        }
        problems
    }

    /// A contact after its person was erased.
    pub fn erased() -> Contact {
        Contact { name: ERASED.into(), email: None, phone: None }
    }
}

/// For numbers and ids that lists show unmasked: they must not be able to hold a name, an e-mail address or free text.
pub(super) fn is_plain_id(id: &str) -> bool {
    id.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-')
}

/// The kind of vehicle somebody looks for.
#[derive(Debug, Clone, PartialEq, Eq, Record)]
pub struct VehicleInterest {
    /// Make.
    pub make: Text<60>,
    /// Model.
    pub model: Text<60>,
    /// Model year.
    pub year: Option<Integer<1900, 2100>>,
}
