//! What the workshop offers: a code, how long it takes and what kind of bay it needs. Codes come in by import.

use frontdesk_engine::Fault;

use super::DUPLICATE;
use super::repair_order::PayType;
use crate::automotive::codes::CodeSpec;
use crate::automotive::domains::{self, Domain};
use crate::automotive::resource::{Resource, ResourceApi, ResourceParts, WriteContext};
use crate::automotive::values::Money;
use crate::record::filter::{equals, words};
use crate::record::{Entity, FilterArgument, Integer, Text};
use crate::{Record, Vocabulary};

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum ServiceCodeStatus { Offered, Withdrawn, Unknown }

#[derive(Debug, Clone, PartialEq, Record)]
#[table("service_code", prefix = "svc", not_found = "service.not_found", noun = "service code")]
pub struct ServiceCode {
    /// The code that appointments name, in upper case, such as OIL.
    #[field(create, unique, searched)]
    pub code: Text<40>,
    /// What it is, in the customer's words.
    #[field(create, update, searched)]
    pub name: Text<120>,
    /// How long it takes.
    #[field(create, update)]
    pub duration_minutes: Integer<1, 1440>,
    /// The kind of bay it needs, such as alignment; any bay if absent.
    #[field(create, update, column)]
    pub bay_kind: Option<Text<40>>,
    /// What it usually costs.
    #[field(create, update)]
    pub price: Option<Money>,
    /// Who usually pays.
    #[field(create, update)]
    #[default(PayType::Customer)]
    pub pay_type: PayType,
    /// Whether it can be booked.
    #[field(create, update, known, indexed)]
    #[default(ServiceCodeStatus::Offered)]
    pub status: ServiceCodeStatus,
}

impl Resource for ServiceCode {
    const DOMAIN: &'static Domain = &domains::SERVICE;
    const DUPLICATE: CodeSpec = DUPLICATE;

    fn match_text(_: &str, text: &str) -> String {
        text.to_uppercase()
    }

    fn on_create(entity: &mut Entity<ServiceCode>, _: &WriteContext<'_>) -> Result<(), Fault> {
        entity.record.code = entity.record.code.to_uppercase().as_str().into();
        Ok(())
    }
}

const LISTED_BY: &[FilterArgument] = &[
    equals("code", "The one with this code, in capitals."),
    words("text", "Words of the code or the name that must all occur."),
    equals("status", "Only codes with this status; offered ones can be booked."),
    equals("bay_kind", "Only codes that need this kind of bay."),
];

pub fn resource() -> ResourceParts {
    ResourceApi::<ServiceCode>::new("service_codes", "The service code's id, as lists give it; not the code itself.")
        .list(
            "service.list_service_codes",
            "List service codes",
            "Lists what the workshop offers, with codes and durations, page by page. Use it before \
             service.check_availability and service.book_appointment, which take the codes.",
            LISTED_BY,
            ("Service codes", "What the workshop offers."),
        )
        .get(
            "service.get_service_code",
            "Get a service code",
            "Reads one service code by its id.",
            ("Service code", "One service code by its id."),
        )
        .parts()
}
