//! The service shape: times at which somebody does work. Who does it is either a provider of the business's own records
//! or the workshop of the tenant's dealership.

pub(super) mod advance;
mod appointments;
mod book;
mod booked;
mod change;
pub mod demo;
mod offer;
mod own;
mod places;
pub mod provider;
pub mod provider_day;
pub mod provider_service;
mod search;
mod slots;
mod source;
mod workshop;

use std::sync::Arc;

use frontdesk_engine::import::ImportSpec;
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::model::tool::Run;

use super::ToolContext;
use super::intent::{IntentTool, Role};
use super::known_facts::{Fact, FactGroups, TOKEN, list};
use super::managed::import;
use crate::record::Stored as _;
pub(super) use advance::advance;
use book::BookSlot;
pub use booked::{BookedSlot, BookedVehicle};
use change::{BookingChange, ChangeBooking};
use provider::Provider;
use provider_day::ProviderDay;
use provider_service::ProviderService;
use search::{ReaderKind, ServiceReader};

pub fn tables() -> Vec<&'static TableSpec> {
    vec![Provider::table(), ProviderService::table(), ProviderDay::table()]
}

pub fn imports() -> Vec<ImportSpec> {
    vec![import::<Provider>("providers"), import::<ProviderService>("provider_services")]
}

/// What the reading tools can know.
const SLOTS: &[Fact] = &[list("slots", &[slots::SLOT])];
const SEARCH: FactGroups = &[&[list("providers", &[offer::PROVIDER, search::WORK, SLOTS])], TOKEN];
const DETAIL: FactGroups = &[offer::PROVIDER, &[list("services", &[offer::SERVICE])]];

/// What each tool can know. A booking has a refund only once it is cancelled.
pub(super) fn facts(tool: &str) -> FactGroups {
    match tool {
        "search_providers" => SEARCH,
        "get_provider_detail" => DETAIL,
        "get_available_slots" => &[offer::PROVIDER, search::WORK, SLOTS, TOKEN],
        "cancel_booking" => &[booked::BOOKED, change::CHANGED, booked::CANCELLED],
        "modify_booking" => &[booked::BOOKED, change::CHANGED],
        _ => &[booked::BOOKED],
    }
}

/// What a tool does. An intent file gives every tool of the shape the role that it has there.
pub fn run(context: &Arc<ToolContext>, tool: &IntentTool) -> Run {
    let (context, tool) = (Arc::clone(context), tool.clone());
    match tool.role {
        Role::Create => Run::write(BookSlot { context, tool }),
        Role::Cancel => Run::write(ChangeBooking { context, tool, kind: BookingChange::Cancel }),
        Role::Modify => Run::write(ChangeBooking { context, tool, kind: BookingChange::Modify }),
        Role::Search => Run::read(ServiceReader { context, tool, kind: ReaderKind::Search }),
        Role::GetDetail | Role::Utility | Role::Track | Role::Rate => {
            let kind = if tool.name == "get_available_slots" { ReaderKind::Slots } else { ReaderKind::Detail };
            Run::read(ServiceReader { context, tool, kind })
        }
    }
}
