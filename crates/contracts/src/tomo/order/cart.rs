//! What an order comes to. Amounts are whole rupees: a line is the price of the dish and of its options times the
//! quantity; packaging is added once; tax is the restaurant's percentage of dishes and packaging together, rounded half
//! up once; the delivery fee is added last and is not taxed.

use frontdesk_engine::{Fault, Permitted};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::dish::{Dish, DishOption, OptionChoice};
use super::dish_day::sold_out;
use super::restaurant::Restaurant;
use crate::record::{Entity, Vocabulary as _};
use crate::tomo::codes::NOT_FOUND;
use crate::tomo::known_facts::{Fact, list, text, texts, whole};
use crate::tomo::listing::price::share;
use crate::tomo::result_token::Offers;

/// What an order can have at most, whatever an intent file allows. It bounds the token that holds it.
pub const MAX_LINES: usize = 20;
pub const MAX_QUANTITY: i64 = 50;
pub const MAX_OPTIONS: usize = 5;

/// A dish that somebody wants.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CartItem {
    pub(super) dish_id: String,
    pub(super) quantity: i64,
    pub(super) options: Vec<String>,
}

impl CartItem {
    /// The items of the call.
    pub(super) fn read_all(permitted: &Permitted<'_>) -> Result<Vec<CartItem>, Fault> {
        let items = permitted.input().arguments.get("items").and_then(Value::as_array);
        let items: Vec<CartItem> = items
            .into_iter()
            .flatten()
            .enumerate()
            .map(|(place, item)| CartItem::read(&format!("/items/{place}"), item))
            .collect::<Result<_, _>>()?;
        if items.is_empty() || items.len() > MAX_LINES {
            let expected = format!("between 1 and {MAX_LINES} items are expected");
            return Err(Fault::invalid_argument("/items", "maxItems", expected));
        }
        Ok(items)
    }

    fn read(pointer: &str, item: &Value) -> Result<CartItem, Fault> {
        let quantity = item.get("quantity").and_then(Value::as_i64).unwrap_or(1);
        if !(1..=MAX_QUANTITY).contains(&quantity) {
            let expected = format!("a number from 1 to {MAX_QUANTITY} is expected");
            return Err(Fault::invalid_argument(&format!("{pointer}/quantity"), "maximum", expected));
        }
        let mut options: Vec<String> = Vec::new();
        for code in item.get("option_codes").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            if !options.iter().any(|known| known == code) {
                options.push(code.to_owned());
            }
        }
        if options.len() > MAX_OPTIONS {
            let expected = format!("at most {MAX_OPTIONS} options are expected");
            return Err(Fault::invalid_argument(&format!("{pointer}/option_codes"), "maxItems", expected));
        }
        let dish_id = item.get("dish_id").and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(CartItem { dish_id, quantity, options })
    }
}

/// Something that is ordered, at its price.
#[derive(Debug, Clone)]
pub(super) struct CartLine {
    pub(super) dish: Entity<Dish>,
    pub(super) options: Vec<DishOption>,
    pub(super) quantity: i64,
    pub(super) unit_price_inr: i64,
}

impl CartLine {
    /// An item at what it costs now, or at what a search has promised for its dish.
    pub(super) async fn price(
        permitted: &Permitted<'_>,
        restaurant: &Restaurant,
        held: Option<&Offers>,
        place: usize,
        item: &CartItem,
    ) -> Result<CartLine, Fault> {
        let missing = || Fault::domain(NOT_FOUND, "No dish with this dish_id is on the menu of this restaurant.");
        let dish = Dish::load(permitted, &item.dish_id).await?;
        let dish = dish.filter(|dish| dish.record.restaurant_code == restaurant.restaurant_code).ok_or_else(missing)?;
        if !dish.record.is_available(None) {
            return Err(sold_out(&dish.record.name));
        }
        let options = chosen(&dish.record, &item.options, &format!("/items/{place}/option_codes"))?;
        let base = held.and_then(|held| held.price(&dish.id)).unwrap_or(dish.record.price_inr.get());
        let extras = options.iter().map(|option| option.price_inr.get()).fold(0, i64::saturating_add);
        Ok(CartLine { dish, options, quantity: item.quantity, unit_price_inr: base.saturating_add(extras) })
    }

    fn facts(&self) -> Value {
        let options: Vec<&str> = self.options.iter().map(|option| &*option.name).collect();
        line_facts(
            (&self.dish.id, &self.dish.record.name, self.dish.record.diet.as_str()),
            self.quantity,
            &options,
            self.unit_price_inr,
        )
    }
}

/// The options with these codes, if the dish has them and they can be chosen together.
pub(super) fn chosen(dish: &Dish, codes: &[String], pointer: &str) -> Result<Vec<DishOption>, Fault> {
    let mut options: Vec<DishOption> = Vec::new();
    for (place, code) in codes.iter().enumerate() {
        let wrong = |keyword, expected| Fault::invalid_argument(&format!("{pointer}/{place}"), keyword, expected);
        let option = dish.option(code).ok_or_else(|| wrong("enum", "the dish has no option with this code"))?;
        let is_second = option.choose == OptionChoice::One && options.iter().any(|other| other.group == option.group);
        if is_second {
            return Err(wrong("maxItems", "only one option of its group can be chosen"));
        }
        options.push(option.clone());
    }
    Ok(options)
}

/// What an order comes to, in whole rupees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CartTotal {
    pub subtotal_inr: i64,
    pub packaging_inr: i64,
    pub delivery_fee_inr: i64,
    pub tax_percent: i64,
    pub tax_inr: i64,
    pub total_inr: i64,
}

/// What a restaurant adds to its dishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charges {
    pub packaging_inr: i64,
    pub delivery_fee_inr: i64,
    pub tax_percent: i64,
}

impl CartTotal {
    /// Of lines with a price for each and a quantity.
    pub fn of(lines: impl IntoIterator<Item = (i64, i64)>, charges: Charges) -> CartTotal {
        let Charges { packaging_inr, delivery_fee_inr, tax_percent } = charges;
        let subtotal_inr =
            lines.into_iter().map(|(price, quantity)| price.saturating_mul(quantity)).fold(0, i64::saturating_add);
        let taxed = subtotal_inr.saturating_add(packaging_inr);
        let tax_inr = share(taxed, tax_percent, 100);
        let total_inr = taxed.saturating_add(tax_inr).saturating_add(delivery_fee_inr);
        CartTotal { subtotal_inr, packaging_inr, delivery_fee_inr, tax_percent, tax_inr, total_inr }
    }
}

/// What the token of a cart promises: these dishes at these prices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CartPromise {
    pub(super) restaurant_id: String,
    pub(super) lines: Vec<PromisedLine>,
    pub(super) total: CartTotal,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PromisedLine {
    pub(super) dish_id: String,
    pub(super) options: Vec<String>,
    pub(super) quantity: i64,
    pub(super) unit_price_inr: i64,
}

const CART: &str = "cart";

impl CartPromise {
    pub(super) fn of(restaurant_id: &str, lines: &[CartLine], total: CartTotal) -> CartPromise {
        let line = |line: &CartLine| PromisedLine {
            dish_id: line.dish.id.clone(),
            options: line.options.iter().map(|option| option.code.to_string()).collect(),
            quantity: line.quantity,
            unit_price_inr: line.unit_price_inr,
        };
        CartPromise { restaurant_id: restaurant_id.to_owned(), lines: lines.iter().map(line).collect(), total }
    }

    pub(super) fn offers(&self) -> Result<Offers, Fault> {
        let cart = serde_json::to_value(self).map_err(|_| Fault::internal("a cart is no JSON"))?;
        let prices = vec![(self.restaurant_id.clone(), self.total.total_inr)];
        Ok(Offers { search: Value::Object(Map::from_iter([(CART.to_owned(), cart)])), prices })
    }

    /// None if the token is not one of a cart.
    pub(super) fn of_offers(offers: &Offers) -> Option<CartPromise> {
        serde_json::from_value(offers.search.get(CART)?.clone()).ok()
    }
}

/// The facts of what is ordered and what it comes to.
pub(super) const LINES: &[Fact] = &[list(
    "lines",
    &[&[
        text("dish_id"),
        text("name"),
        text("diet"),
        whole("quantity"),
        texts("options"),
        whole("unit_price_inr"),
        whole("line_total_inr"),
    ]],
)];
pub(super) const TOTAL: &[Fact] = &[
    whole("subtotal_inr"),
    whole("packaging_inr"),
    whole("delivery_fee_inr"),
    whole("tax_percent"),
    whole("tax_inr"),
    whole("total_inr"),
    text("currency"),
];

pub(super) fn line_facts(
    (dish_id, name, diet): (&str, &str, &str),
    quantity: i64,
    options: &[&str],
    unit_price_inr: i64,
) -> Value {
    json!({
        "dish_id": dish_id,
        "name": name,
        "diet": diet,
        "quantity": quantity,
        "options": options,
        "unit_price_inr": unit_price_inr,
        "line_total_inr": unit_price_inr.saturating_mul(quantity),
    })
}

pub(super) fn lines_facts(lines: &[CartLine]) -> Value {
    lines.iter().map(CartLine::facts).collect()
}

pub(super) fn total_facts(total: &CartTotal) -> Value {
    json!({
        "subtotal_inr": total.subtotal_inr,
        "packaging_inr": total.packaging_inr,
        "delivery_fee_inr": total.delivery_fee_inr,
        "tax_percent": total.tax_percent,
        "tax_inr": total.tax_inr,
        "total_inr": total.total_inr,
        "currency": "INR",
    })
}
