//! The shapes of intents (§2): which tools an intent of a shape must have, all of them and no others.

use super::intent::Role;
use super::known_facts::FactGroups;
use super::{listing, mobility, order, service};
use crate::partner::PartnerSource;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Things to book for a time or to buy: rooms, cars.
    Listing,
    /// Times at which somebody does work.
    Service,
    /// Rides from one place to another.
    Mobility,
    /// Dishes that are prepared and delivered.
    Order,
}

impl Shape {
    pub const ALL: [Shape; 4] = [Shape::Listing, Shape::Service, Shape::Mobility, Shape::Order];

    pub fn as_str(self) -> &'static str {
        match self {
            Shape::Listing => "listing",
            Shape::Service => "service",
            Shape::Mobility => "mobility",
            Shape::Order => "order",
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
            Shape::Mobility => mobility::facts(tool),
            Shape::Order => order::facts(tool),
        }
    }

    /// The tool with which a booking is given up.
    pub fn cancel_tool(self) -> &'static str {
        match self {
            Shape::Listing | Shape::Service => "cancel_booking",
            Shape::Mobility => "cancel_ride",
            Shape::Order => "cancel_order",
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
            Shape::Mobility => &[
                ("get_ride_estimates", Role::Search),
                ("book_ride", Role::Create),
                ("track_ride", Role::Track),
                ("cancel_ride", Role::Cancel),
                ("update_ride_drop", Role::Modify),
                ("rate_ride", Role::Rate),
                ("share_trip_status", Role::Utility),
            ],
            Shape::Order => &[
                ("search_restaurants_and_dishes", Role::Search),
                ("get_restaurant_menu", Role::GetDetail),
                ("get_dish_detail", Role::GetDetail),
                ("compute_cart_total", Role::Utility),
                ("place_order", Role::Create),
                ("cancel_order", Role::Cancel),
                ("track_order", Role::Track),
            ],
        }
    }
}
