//! `search_restaurants_and_dishes`: which restaurants deliver to a place, with dishes as wished. Nobody can buy a better
//! place in the list.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::table::{Cell, SearchTerm, search_terms};
use frontdesk_engine::model::tool::{Future, Outcome, ReadTool};
use frontdesk_engine::{Fault, Permitted};
use serde_json::{Value, json};

use super::OrderContext;
use super::destination::Destination;
use super::dish::{DISH, Diet, Dish, dish_facts};
use super::dish_day::portions_left;
use super::restaurant::{Cuisine, Restaurant, RestaurantStatus, restaurant_facts};
use crate::record::{Entity, Vocabulary as _, list_records};
use crate::tomo::facts::with;
use crate::tomo::known_facts::{Fact, decimal, list, whole};
use crate::tomo::listing::place::city_keys;
use crate::tomo::result_token::{Offers, issue};

/// How many restaurants an answer has, and how many dishes of each.
const MAX_RESULTS: usize = 20;
const MAX_SHOWN: usize = 5;
/// How many restaurants of a place and dishes of a query are looked at.
const MAX_RESTAURANTS: usize = 500;
const MAX_MATCHES: usize = 2_000;
/// How many dishes a menu has at most.
pub(super) const MAX_MENU: usize = 200;
/// Further than any restaurant delivers.
const MAX_RADIUS_METRES: i64 = 50_000;
const MAX_WORDS: usize = 16;

/// What a search adds to the facts of a restaurant.
pub(super) const FOUND: &[Fact] = &[decimal("distance_km"), whole("eta_minutes"), list("dishes", &[DISH])];

pub(super) struct SearchDishes(pub(super) OrderContext);

impl ReadTool for SearchDishes {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let arguments = &permitted.input().arguments;
            let wanted = Wanted::read(permitted)?;
            let destination = Destination::read("/location", arguments.get("location"))?;
            let mut restaurants = restaurants_near(permitted, &destination).await?;
            restaurants.retain(|restaurant| wanted.takes(&restaurant.record, permitted));
            let by_name: HashSet<String> = restaurants
                .iter()
                .filter(|restaurant| restaurant.record.has_words(&wanted.words))
                .map(|restaurant| restaurant.record.restaurant_code.to_string())
                .collect();
            let by_dish = wanted.restaurants_with_words(permitted, &restaurants).await?;
            restaurants.retain(|restaurant| {
                let code = &*restaurant.record.restaurant_code;
                by_name.contains(code) || by_dish.contains(code)
            });
            restaurants.sort_by(|one, other| wanted.compare(&destination, permitted, one, other));
            let mut found: Vec<Value> = Vec::new();
            for some in restaurants.chunks(MAX_RESULTS) {
                found.extend(self.describe(permitted, &destination, &wanted, &by_name, some).await?);
                if found.len() >= MAX_RESULTS {
                    break;
                }
            }
            found.truncate(MAX_RESULTS);
            self.answer(permitted, found)
        })
    }
}

impl SearchDishes {
    /// The facts of those that have a dish to show.
    async fn describe(
        &self,
        permitted: &Permitted<'_>,
        destination: &Destination,
        wanted: &Wanted,
        by_name: &HashSet<String>,
        restaurants: &[Entity<Restaurant>],
    ) -> Result<Vec<Value>, Fault> {
        let mut menus = menus(permitted, wanted.filters(), restaurants).await?;
        let mut found = Vec::new();
        for restaurant in restaurants {
            let code = restaurant.record.restaurant_code.to_string();
            let mut dishes = menus.remove(&code).unwrap_or_default();
            let is_meant = |dish: &Entity<Dish>| by_name.contains(&code) || has_words(&dish.record, &wanted.words);
            dishes.retain(|(dish, left)| dish.record.is_available(*left) && is_meant(dish));
            let shown: Vec<Value> = dishes.iter().take(MAX_SHOWN).map(|(dish, left)| dish_facts(dish, *left)).collect();
            if shown.is_empty() {
                continue;
            }
            let more = json!({
                "distance_km": destination.distance_km(&restaurant.record),
                "eta_minutes": destination.eta_minutes(&restaurant.record),
                "dishes": shown,
            });
            let facts = with(restaurant_facts(restaurant, permitted.now()), more);
            if self.0.can_describe("results", &facts) {
                found.push(facts);
            }
        }
        Ok(found)
    }

    /// Seals what the dishes and the delivery cost, and makes the answer.
    fn answer(&self, permitted: &Permitted<'_>, found: Vec<Value>) -> Result<Outcome, Fault> {
        let price = |facts: &Value, id: &str, price: &str| {
            Some((facts.get(id)?.as_str()?.to_owned(), facts.get(price)?.as_i64()?))
        };
        let mut prices: Vec<(String, i64)> = Vec::new();
        for restaurant in &found {
            prices.extend(price(restaurant, "restaurant_id", "delivery_fee_inr"));
            let dishes = restaurant.get("dishes").and_then(Value::as_array).into_iter().flatten();
            prices.extend(dishes.filter_map(|dish| price(dish, "dish_id", "price_inr")));
        }
        let (token, expires_at) = issue(permitted, &self.0.shared, Offers { search: json!({}), prices })?;
        let rows = found.len();
        self.0.raw(&json!({"results": found, "result_token": token, "expires_at": expires_at.to_rfc3339()}), rows)
    }
}

/// The restaurants that deliver there.
async fn restaurants_near(
    permitted: &Permitted<'_>,
    destination: &Destination,
) -> Result<Vec<Entity<Restaurant>>, Fault> {
    let mut filters = vec![Filter::Equals("status", Cell::Text(RestaurantStatus::Offered.as_str().to_owned()))];
    match (destination.point, &destination.city, &destination.pincode) {
        (Some(point), _, _) => {
            let (south, north) = point.latitudes_within(MAX_RADIUS_METRES);
            filters.extend([Filter::AtLeast("latitude", south), Filter::AtMost("latitude", north)]);
        }
        (None, Some(city), _) => {
            filters.push(Filter::AnyOf("city_key", city_keys(city).into_iter().map(Cell::Text).collect()));
        }
        (None, None, pincode) => {
            filters.push(Filter::Equals("pincode", Cell::Text(pincode.clone().unwrap_or_default())));
        }
    }
    let mut found: Vec<Entity<Restaurant>> = list_records(permitted, filters, MAX_RESTAURANTS).await?;
    found.retain(|restaurant| destination.is_reached_by(&restaurant.record));
    Ok(found)
}

/// Dishes with how many portions are left.
pub(super) type Menu = Vec<(Entity<Dish>, Option<i64>)>;

/// The dishes of these restaurants that pass the filters, by the restaurant's code, in the order of their codes.
pub(super) async fn menus(
    permitted: &Permitted<'_>,
    mut filters: Vec<Filter>,
    restaurants: &[Entity<Restaurant>],
) -> Result<HashMap<String, Menu>, Fault> {
    let mut menus: HashMap<String, Menu> = HashMap::new();
    if restaurants.is_empty() {
        return Ok(menus);
    }
    filters.push(Filter::AnyOf("restaurant_code", codes(restaurants)));
    let most = restaurants.len().saturating_mul(MAX_MENU);
    let mut dishes: Vec<Entity<Dish>> = list_records(permitted, filters, most).await?;
    dishes.sort_by(|one, other| one.record.dish_code.cmp(&other.record.dish_code));
    let now = permitted.now();
    let day_of = |dish: &Entity<Dish>| {
        let own = |restaurant: &&Entity<Restaurant>| restaurant.record.restaurant_code == dish.record.restaurant_code;
        restaurants.iter().find(own).and_then(|restaurant| restaurant.record.local_day(now))
    };
    let limited: Vec<_> = dishes
        .iter()
        .filter(|dish| dish.record.daily_stock.is_some())
        .filter_map(|dish| Some((dish, day_of(dish)?)))
        .collect();
    let left = portions_left(permitted, &limited).await?;
    for dish in dishes {
        let left = left.get(&dish.id).copied();
        menus.entry(dish.record.restaurant_code.to_string()).or_default().push((dish, left));
    }
    Ok(menus)
}

fn codes(restaurants: &[Entity<Restaurant>]) -> Vec<Cell> {
    restaurants.iter().map(|restaurant| Cell::Text(restaurant.record.restaurant_code.to_string())).collect()
}

fn has_words(dish: &Dish, words: &[String]) -> bool {
    let own = search_terms(&format!("{} {} {}", &*dish.name, &*dish.description, &*dish.category));
    words.iter().all(|word| own.contains(word))
}

/// What somebody wants to eat.
struct Wanted {
    words: Vec<String>,
    cuisines: Vec<Cuisine>,
    diets: Vec<Diet>,
    max_price_inr: Option<i64>,
    open_now: bool,
    sort_by: SortBy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SortBy {
    Distance,
    Rating,
    DeliveryTime,
    DeliveryFee,
}

impl Wanted {
    fn read(permitted: &Permitted<'_>) -> Result<Wanted, Fault> {
        let input = permitted.input();
        let filter = |name: &str| input.arguments.get("filters").and_then(|filters| filters.get(name));
        let is_set = |name: &str| filter(name).and_then(Value::as_bool) == Some(true);
        let words = search_terms(input.text("query").unwrap_or_default());
        if words.is_empty() && input.text("query").is_some() {
            return Err(Fault::invalid_argument("/query", "pattern", "at least one letter or digit is expected"));
        }
        if words.len() > MAX_WORDS {
            return Err(Fault::invalid_argument("/query", "maxLength", "at most 16 words are allowed"));
        }
        let cuisines = filter("cuisines").and_then(Value::as_array).into_iter().flatten();
        Ok(Wanted {
            words,
            cuisines: cuisines.filter_map(Value::as_str).filter_map(Cuisine::parse).collect(),
            diets: if is_set("veg_only") { vec![Diet::Veg] } else { Vec::new() },
            max_price_inr: filter("max_price_inr").and_then(Value::as_i64),
            open_now: is_set("open_now"),
            sort_by: match input.text("sort_by") {
                Some("rating") => SortBy::Rating,
                Some("delivery_time") => SortBy::DeliveryTime,
                Some("delivery_fee") => SortBy::DeliveryFee,
                Some(_) | None => SortBy::Distance,
            },
        })
    }

    /// Whether it is a restaurant of the wanted kind.
    fn takes(&self, restaurant: &Restaurant, permitted: &Permitted<'_>) -> bool {
        let cooks = self.cuisines.is_empty() || restaurant.cuisines.iter().any(|own| self.cuisines.contains(own));
        cooks && (!self.open_now || restaurant.is_open(permitted.now()))
    }

    /// What dishes must be.
    fn filters(&self) -> Vec<Filter> {
        let mut filters = vec![Filter::Equals("status", Cell::Text("offered".to_owned()))];
        if !self.diets.is_empty() {
            let diets = self.diets.iter().map(|diet| Cell::Text(diet.as_str().to_owned()));
            filters.push(Filter::AnyOf("diet", diets.collect()));
        }
        filters.extend(self.max_price_inr.map(|most| Filter::AtMost("price_inr", most)));
        filters
    }

    /// The codes of those restaurants that have a dish with all words.
    async fn restaurants_with_words(
        &self,
        permitted: &Permitted<'_>,
        restaurants: &[Entity<Restaurant>],
    ) -> Result<HashSet<String>, Fault> {
        if self.words.is_empty() || restaurants.is_empty() {
            return Ok(HashSet::new());
        }
        let mut filters = self.filters();
        filters.push(Filter::SearchTerms(self.words.iter().cloned().map(SearchTerm::Plain).collect()));
        filters.push(Filter::AnyOf("restaurant_code", codes(restaurants)));
        let dishes: Vec<Entity<Dish>> = list_records(permitted, filters, MAX_MATCHES).await?;
        Ok(dishes.into_iter().map(|dish| dish.record.restaurant_code.to_string()).collect())
    }

    /// Open ones first, then in the wanted order; the code decides between equals.
    fn compare(
        &self,
        destination: &Destination,
        permitted: &Permitted<'_>,
        one: &Entity<Restaurant>,
        other: &Entity<Restaurant>,
    ) -> Ordering {
        let (one, other) = (&one.record, &other.record);
        let now = permitted.now();
        let key = |restaurant: &Restaurant| match self.sort_by {
            SortBy::Distance => destination.metres_to(restaurant),
            // The best first.
            SortBy::Rating => restaurant.rating.map_or(0, |rating| rating.get()).saturating_neg(),
            SortBy::DeliveryTime => destination.eta_minutes(restaurant),
            SortBy::DeliveryFee => restaurant.delivery_fee_inr.get(),
        };
        let is_elsewhere = |restaurant: &Restaurant| !destination.is_same_pincode(restaurant);
        let whole = |restaurant: &Restaurant| {
            (!restaurant.is_open(now), key(restaurant), is_elsewhere(restaurant), destination.metres_to(restaurant))
        };
        whole(one).cmp(&whole(other)).then_with(|| one.restaurant_code.cmp(&other.restaurant_code))
    }
}
