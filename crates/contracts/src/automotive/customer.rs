//! A customer of the dealership, with their latest lead and sale. Their identity is personal data.

use super::domains::{self, Domain};
use super::lead::{Lead, LeadStatus};
use super::resource::{Resource, ResourceApi, ResourceParts};
use super::values::{Contact, Money};
use crate::record::filter::{equals, personal_words};
use crate::record::{FilterArgument, Ref, Text, Timestamp};
use crate::{Record, Vocabulary};

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum CustomerKind { Individual, Business, Unknown }

#[derive(Debug, Clone, PartialEq, Record)]
#[table("customer", prefix = "cus", not_found = "customers.not_found")]
pub struct Customer {
    /// A person or a business.
    pub kind: CustomerKind,
    /// Where they live; no street.
    pub location: Location,
    /// What they have spent here so far.
    pub lifetime_value: Money,
    /// Their newest lead.
    pub latest_lead: Option<LatestLead>,
    /// Their newest purchase.
    pub latest_sale: Option<LatestSale>,
    /// What they are looking for.
    pub vehicle_of_interest: Option<CustomerInterest>,
    /// Who it is; masked in lists.
    #[field(columns)]
    pub primary_contact: Contact,
}

#[derive(Debug, Clone, PartialEq, Record)]
pub struct Location {
    /// City.
    pub city: Text<120>,
    /// State or region.
    pub region: Text<120>,
    /// ISO 3166-1 code, such as US.
    pub country: Text<2>,
}

#[derive(Debug, Clone, PartialEq, Record)]
pub struct LatestLead {
    /// The lead's id.
    pub id: Ref<Lead>,
    /// How far it has come.
    pub status: LeadStatus,
}

#[derive(Debug, Clone, PartialEq, Record)]
pub struct LatestSale {
    /// The sale's id.
    pub id: Text<64>,
    /// When it was closed.
    pub closed_at: Timestamp,
}

/// A customer's interest has no model year.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct CustomerInterest {
    /// Make.
    pub make: Text<60>,
    /// Model.
    pub model: Text<60>,
}

impl Resource for Customer {
    /// The specification gives customers no domain of their own.
    const DOMAIN: &'static Domain = &domains::LEADS;
}

const LISTED_BY: &[FilterArgument] = &[
    equals("email", "Whole e-mail address; case does not matter."),
    equals("phone", "Whole number in E.164 form."),
    personal_words("name", "Whole words of the name, all of which must occur."),
];

pub fn resource() -> ResourceParts {
    ResourceApi::<Customer>::new("customers", "The customer's id, as lists give it.")
        .list(
            "customers.list",
            "List customers",
            "Lists the dealership's customers, newest first, page by page, contact data masked. Finds \
                    somebody by whole e-mail address, telephone number or words of their name.",
            LISTED_BY,
            ("Customers", "Customers of the dealership, newest first, contact data masked."),
        )
        .get(
            "customers.get",
            "Get a customer",
            "Reads one customer by their id, with contact data.",
            ("Customer", "One customer by their id, with contact data."),
        )
        .parts()
}
