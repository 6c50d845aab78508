//! `get_restaurant_menu`, `get_dish_detail` and `compute_cart_total`: what there is, and what it comes to.

use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::table::Cell;
use frontdesk_engine::model::tool::{Future, Outcome, ReadTool};
use frontdesk_engine::{Fault, Permitted};
use serde_json::{Value, json};

use super::OrderContext;
use super::cart::{CartItem, CartLine, CartPromise, CartTotal, Charges, lines_facts, total_facts};
use super::destination::Destination;
use super::dish::{DISH, Dish, dish_facts};
use super::dish_day::{portions_left, sold_out};
use super::place::check_open;
use super::restaurant::{Restaurant, restaurant_facts};
use super::search::menus;
use crate::record::Entity;
use crate::tomo::codes::{MIN_ORDER_NOT_MET, NOT_FOUND};
use crate::tomo::facts::with;
use crate::tomo::known_facts::{Fact, decimal, list, text, whole};
use crate::tomo::managed::find_by_code;
use crate::tomo::result_token;

pub(super) struct GetMenu(pub(super) OrderContext);

/// What a menu adds to the facts of its restaurant.
pub(super) const MENU: &[Fact] = &[list("sections", &[&[text("category"), list("dishes", &[DISH])]])];

impl ReadTool for GetMenu {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let restaurant = restaurant(permitted).await?;
            let on_menu = ["offered", "sold_out"].map(|word| Cell::Text(word.to_owned())).to_vec();
            let filters = vec![Filter::AnyOf("status", on_menu)];
            let menu = menus(permitted, filters, std::slice::from_ref(&restaurant)).await?;
            let mut sections: Vec<(String, Vec<Value>)> = Vec::new();
            for (dish, left) in menu.into_values().flatten() {
                let facts = dish_facts(&dish, left);
                match sections.iter_mut().find(|(category, _)| *category == *dish.record.category) {
                    Some((_, dishes)) => dishes.push(facts),
                    None => sections.push((dish.record.category.to_string(), vec![facts])),
                }
            }
            let rows = sections.iter().map(|(_, dishes)| dishes.len()).sum();
            let sections: Vec<Value> = sections
                .into_iter()
                .map(|(category, dishes)| json!({"category": category, "dishes": dishes}))
                .collect();
            let facts = with(restaurant_facts(&restaurant, permitted.now()), json!({"sections": sections}));
            self.0.detail(&facts, rows)
        })
    }
}

pub(super) struct GetDish(pub(super) OrderContext);

/// What is said of its restaurant beside a dish.
pub(super) const OF_RESTAURANT: &[Fact] = &[text("restaurant_id"), text("restaurant_name")];

impl ReadTool for GetDish {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let missing = || Fault::domain(NOT_FOUND, "No dish with this dish_id is on a menu here.");
            let id = permitted.input().text("dish_id").unwrap_or_default();
            let dish = Dish::load(permitted, id).await?.ok_or_else(missing)?;
            let code = &dish.record.restaurant_code;
            let own: Option<Entity<Restaurant>> = find_by_code(permitted, "restaurant_code", code).await?;
            let own = own.ok_or_else(missing)?;
            let restaurant = Restaurant::load(permitted, &own.id).await?.ok_or_else(missing)?;
            let left = left_of(permitted, &restaurant.record, &dish).await?;
            let more = json!({"restaurant_id": restaurant.id, "restaurant_name": &*restaurant.record.name});
            self.0.detail(&with(dish_facts(&dish, left), more), 1)
        })
    }
}

pub(super) struct ComputeCart(pub(super) OrderContext);

/// What a cart says beside its lines and its total.
pub(super) const CART: &[Fact] = &[
    text("restaurant_id"),
    text("restaurant_name"),
    whole("minimum_order_inr"),
    decimal("distance_km"),
    whole("eta_minutes"),
];

impl ReadTool for ComputeCart {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(self.compute(permitted))
    }
}

impl ComputeCart {
    async fn compute(&self, permitted: &Permitted<'_>) -> Result<Outcome, Fault> {
        let input = permitted.input();
        let items = CartItem::read_all(permitted)?;
        let destination = Destination::read("/location", input.arguments.get("location"))?;
        // What a search has promised holds; without its token the prices are those of now.
        let held = input.text("result_token").map(|token| result_token::read(permitted, &self.0.shared, token));
        let held = held.transpose()?;
        let restaurant = restaurant(permitted).await?;
        check_open(&restaurant.record, permitted)?;
        destination.check_reached_by(&restaurant.record)?;
        let mut lines: Vec<CartLine> = Vec::new();
        for (place, item) in items.iter().enumerate() {
            lines.push(CartLine::price(permitted, &restaurant.record, held.as_ref(), place, item).await?);
        }
        check_portions(permitted, &restaurant.record, &lines).await?;
        let delivery_fee = held.as_ref().and_then(|held| held.price(&restaurant.id));
        let charges = Charges {
            packaging_inr: restaurant.record.packaging_fee_inr.get(),
            delivery_fee_inr: delivery_fee.unwrap_or(restaurant.record.delivery_fee_inr.get()),
            tax_percent: restaurant.record.tax_percent.get(),
        };
        let total = CartTotal::of(lines.iter().map(|line| (line.unit_price_inr, line.quantity)), charges);
        let minimum = restaurant.record.minimum_order_inr.get();
        if total.subtotal_inr < minimum {
            let message = format!("This restaurant asks for dishes of at least {minimum} rupees. Add something.");
            return Err(Fault::domain(MIN_ORDER_NOT_MET, message));
        }
        let promise = CartPromise::of(&restaurant.id, &lines, total);
        let (token, expires_at) = result_token::issue(permitted, &self.0.shared, promise.offers()?)?;
        let own = json!({
            "restaurant_id": restaurant.id,
            "restaurant_name": &*restaurant.record.name,
            "minimum_order_inr": minimum,
            "distance_km": destination.distance_km(&restaurant.record),
            "eta_minutes": destination.eta_minutes(&restaurant.record),
            "lines": lines_facts(&lines),
            "result_token": token,
            "expires_at": expires_at.to_rfc3339(),
        });
        self.0.raw(&with(total_facts(&total), own), 1)
    }
}

/// Refuses what is sold out already. Only an order takes portions; another one may be faster.
async fn check_portions(permitted: &Permitted<'_>, restaurant: &Restaurant, lines: &[CartLine]) -> Result<(), Fault> {
    for line in lines {
        let of_dish = lines.iter().filter(|other| other.dish.id == line.dish.id);
        let wanted = of_dish.map(|line| line.quantity).fold(0, i64::saturating_add);
        let left = left_of(permitted, restaurant, &line.dish).await?;
        if left.is_some_and(|left| left < wanted) {
            return Err(sold_out(&line.dish.record.name));
        }
    }
    Ok(())
}

async fn left_of(
    permitted: &Permitted<'_>,
    restaurant: &Restaurant,
    dish: &Entity<Dish>,
) -> Result<Option<i64>, Fault> {
    let Some(day) = restaurant.local_day(permitted.now()) else { return Ok(None) };
    Ok(portions_left(permitted, &[(dish, day)]).await?.remove(&dish.id))
}

/// The restaurant that the call names.
async fn restaurant(permitted: &Permitted<'_>) -> Result<Entity<Restaurant>, Fault> {
    let id = permitted.input().text("restaurant_id").unwrap_or_default();
    let missing = || Fault::domain(NOT_FOUND, "No restaurant with this restaurant_id takes orders here.");
    Restaurant::load(permitted, id).await?.ok_or_else(missing)
}
