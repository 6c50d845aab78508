//! The order shape: dishes that a restaurant prepares and somebody delivers. Restaurants and dishes are the business's own
//! records. What happens to an order after it was placed comes from outside, through `advance`.

mod cart;
pub mod demo;
mod demo_menus;
mod destination;
pub mod dish;
pub mod dish_day;
mod follow;
mod menu;
mod place;
mod placed;
pub mod restaurant;
mod search;
pub mod stage;

use std::sync::Arc;

use frontdesk_engine::import::ImportSpec;
use frontdesk_engine::model::plan::Step;
use frontdesk_engine::model::schema::Schema;
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::model::tool::{Outcome, Run};
use frontdesk_engine::{Fault, Permitted};
use serde_json::Value;

use super::ToolContext;
use super::booking::Booking;
use super::booking_plan::{BOOKING, CANCELLED};
use super::codes::NOT_FOUND;
use super::facts::fills;
use super::intent::{IntentTool, Role};
use super::known_facts::{FactGroups, TOKEN, list};
use super::lifecycle::Advance;
use super::managed::import;
use crate::record::{Entity, Stored as _};
pub use cart::{CartTotal, Charges, MAX_LINES, MAX_OPTIONS, MAX_QUANTITY};
pub use placed::{CourierPlace, DeliveryAddress, OrderLine, PlacedOrder};

pub fn tables() -> Vec<&'static TableSpec> {
    vec![restaurant::Restaurant::table(), dish::Dish::table(), dish_day::DishDay::table()]
}

pub fn imports() -> Vec<ImportSpec> {
    vec![import::<restaurant::Restaurant>("restaurants"), import::<dish::Dish>("dishes")]
}

/// What the reading tools can know.
const SEARCH: FactGroups = &[&[list("results", &[restaurant::RESTAURANT, search::FOUND])], TOKEN];

/// What each tool can know. An order has a refund only once it is cancelled.
pub(super) fn facts(tool: &str) -> FactGroups {
    match tool {
        "search_restaurants_and_dishes" => SEARCH,
        "get_restaurant_menu" => &[restaurant::RESTAURANT, menu::MENU],
        "get_dish_detail" => &[dish::DISH, menu::OF_RESTAURANT],
        "compute_cart_total" => &[menu::CART, cart::LINES, cart::TOTAL, TOKEN],
        "track_order" => &[follow::TRACK],
        "cancel_order" => &[BOOKING, CANCELLED, placed::ORDER, cart::LINES, cart::TOTAL],
        _ => &[BOOKING, placed::ORDER, cart::LINES, cart::TOTAL],
    }
}

/// What a tool does. An intent file gives every tool of the shape the role that it has there.
pub fn run(context: &Arc<ToolContext>, tool: &IntentTool) -> Run {
    let context = OrderContext { shared: Arc::clone(context), tool: tool.clone() };
    match tool.role {
        Role::Search => Run::read(search::SearchDishes(context)),
        Role::Utility => Run::read(menu::ComputeCart(context)),
        Role::Create => Run::write(place::PlaceOrder(context)),
        Role::Cancel | Role::Modify => Run::write(follow::CancelOrder(context)),
        Role::Track => Run::watch(follow::TrackOrder(context)),
        Role::GetDetail | Role::Rate => {
            if tool.name == "get_dish_detail" {
                Run::read(menu::GetDish(context))
            } else {
                Run::read(menu::GetMenu(context))
            }
        }
    }
}

/// Moves an order to another stage, and says what else that changes: portions that can be sold again.
pub async fn advance(
    permitted: &Permitted<'_>,
    booking: &mut Entity<Booking>,
    to: &Advance,
) -> Result<Vec<Step>, Fault> {
    let portions = stage::advance(&mut booking.record, to)?;
    placed::portion_steps(permitted, &booking.record, portions).await
}

/// One tool of this shape: what it answers with is in its schema.
struct OrderContext {
    shared: Arc<ToolContext>,
    tool: IntentTool,
}

impl OrderContext {
    /// Whether this member of the answer can show something with these facts. What cannot be described as the intent asks
    /// is not offered.
    fn can_describe(&self, member: &str, facts: &Value) -> bool {
        let shown = self.tool.output.fields().iter().find(|field| field.name == member);
        match shown.map(|field| &field.schema) {
            Some(Schema::List { of, .. }) => fills(of, facts),
            Some(_) | None => true,
        }
    }

    fn raw(&self, facts: &Value, rows: usize) -> Result<Outcome, Fault> {
        let payload = self
            .tool
            .project(facts)
            .map_err(|missing| Fault::internal(format!("{} has no {} to answer with", self.tool.name, missing.0)))?;
        Ok(Outcome::Raw { answer: payload.to_string(), rows })
    }

    /// The same about one record, which may lack what the intent asks for.
    fn detail(&self, facts: &Value, rows: usize) -> Result<Outcome, Fault> {
        let payload = self
            .tool
            .project(facts)
            .map_err(|missing| Fault::domain(NOT_FOUND, "This cannot be ordered here.").caused_by(missing.0))?;
        Ok(Outcome::Raw { answer: payload.to_string(), rows })
    }
}
