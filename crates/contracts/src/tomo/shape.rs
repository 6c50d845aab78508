//! The shapes of intents (§2): which tools an intent of a shape must have, all of them and no others.

use super::intent::Role;
use super::known_facts::FactGroups;
use super::{listing, service};
use crate::partner::PartnerSource;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Things to book for a time or to buy: rooms, cars.
    Listing,
    /// Times at which somebody does work.
    Service,
}

impl Shape {
    pub const ALL: [Shape; 2] = [Shape::Listing, Shape::Service];

    pub fn as_str(self) -> &'static str {
        match self {
            Shape::Listing => "listing",
            Shape::Service => "service",
        }
    }

    pub fn parse(text: &str) -> Option<Shape> {
        Shape::ALL.into_iter().find(|shape| shape.as_str() == text)
    }

    /// What a tool can know to answer with, whatever an intent file asks for.
    pub fn facts(self, source: PartnerSource, tool: &str) -> FactGroups {
        match self {
            Shape::Listing => listing::facts(source, tool),
            Shape::Service => service::facts(tool),
        }
    }

    /// Every tool with its role, in the order of the specification.
    pub fn tools(self) -> &'static [(&'static str, Role)] {
        match self {
            Shape::Listing => &[
                ("search_availability", Role::Search),
                ("get_listing", Role::GetDetail),
                ("create_booking", Role::Create),
                ("cancel_booking", Role::Cancel),
                ("modify_booking", Role::Modify),
            ],
            Shape::Service => &[
                ("search_providers", Role::Search),
                ("get_provider_detail", Role::GetDetail),
                ("get_available_slots", Role::GetDetail),
                ("book_slot", Role::Create),
                ("cancel_booking", Role::Cancel),
                ("modify_booking", Role::Modify),
            ],
        }
    }
}
