//! A dish of a restaurant: what it is, what it costs, what can be chosen with it and how many portions there are in a day.
//! Dishes come in by import.

use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::{Fault, Permitted};
use serde_json::{Map, Value, json};

use super::restaurant::Restaurant;
use crate::record::import::{Imported, Withdrawal};
use crate::record::{Entity, Integer, List, Stored as _, Text, Vocabulary as _};
use crate::tomo::booking::Rupees;
use crate::tomo::known_facts::{Fact, boolean, list, text, texts, whole};
use crate::tomo::managed::{Managed, find_by_code};
use crate::{Record, Vocabulary};

/// Whether it can be ordered. What is sold out stays on the menu.
#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum DishStatus { Offered, SoldOut, Withdrawn, Unknown }

/// What food in India is marked with.
#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum Diet { Veg, NonVeg, Egg, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum SpiceLevel { None, Mild, Medium, Hot, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum Allergen { Gluten, Crustaceans, Egg, Fish, Peanuts, Soy, Milk, Nuts, Celery, Mustard, Sesame, Sulphites, Molluscs,
    Unknown }

/// How many options of a group may be chosen.
#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum OptionChoice { Any, One, Unknown }

#[derive(Debug, Clone, PartialEq, Record)]
#[table("tomo_dish", prefix = "dsh", not_found = "NOT_FOUND", noun = "dish")]
pub struct Dish {
    /// The business's own short name for it.
    #[field(create, unique)]
    pub dish_code: Text<40>,
    /// The restaurant_code of its restaurant.
    #[field(create, indexed)]
    pub restaurant_code: Text<40>,
    /// Its name.
    #[field(create, update, searched)]
    pub name: Text<120>,
    /// What it is, in a sentence or two.
    #[field(create, update, searched)]
    pub description: Text<600>,
    /// Part of the menu, such as Breakfast.
    #[field(create, update, searched)]
    pub category: Text<60>,
    /// Price of one portion without options, in whole rupees before tax.
    #[field(create, update, column)]
    pub price_inr: Rupees,
    /// veg, non_veg or egg.
    #[field(create, update, known, column)]
    pub diet: Diet,
    /// How hot it is.
    #[field(create, update, known)]
    #[default(SpiceLevel::None)]
    pub spice_level: SpiceLevel,
    /// What it contains that some people must not eat.
    #[field(create, update, known)]
    #[default(List::default())]
    pub allergens: List<Allergen, 13>,
    /// How many portions can be ordered in a day; without a limit if absent.
    #[field(create, update)]
    pub daily_stock: Option<Integer<0, 100_000>>,
    /// What can be chosen with it, each at its price.
    #[field(create, update)]
    #[default(List::default())]
    pub options: List<DishOption, 20>,
    /// Whether it can be ordered.
    #[field(create, update, known, indexed)]
    #[default(DishStatus::Offered)]
    pub status: DishStatus,
}

/// A size, an extra or something to leave out.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct DishOption {
    /// The business's own short name for it.
    pub code: Text<20>,
    /// What it belongs to, such as Size.
    pub group: Text<40>,
    /// Its name.
    pub name: Text<80>,
    /// What it adds to the price, in whole rupees before tax.
    #[default(Integer::constant::<0>())]
    pub price_inr: Rupees,
    /// How many of its group may be chosen.
    #[field(known)]
    #[default(OptionChoice::Any)]
    pub choose: OptionChoice,
}

impl Dish {
    pub(super) fn option(&self, code: &str) -> Option<&DishOption> {
        self.options.iter().find(|option| *option.code == *code)
    }

    /// Whether it can be ordered while so many portions are left.
    pub(super) fn is_available(&self, portions_left: Option<i64>) -> bool {
        self.status == DishStatus::Offered && portions_left.is_none_or(|left| left > 0)
    }

    /// The one with this id, if it is on a menu.
    pub(super) async fn load(permitted: &Permitted<'_>, id: &str) -> Result<Option<Entity<Dish>>, Fault> {
        let row = permitted.get(Dish::table(), id).await?;
        let found: Option<Entity<Dish>> = row.map(|row| Entity::restore(permitted.tenant(), &row)).transpose()?;
        Ok(found.filter(|dish| matches!(dish.record.status, DishStatus::Offered | DishStatus::SoldOut)))
    }

    fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (place, option) in self.options.iter().enumerate() {
            let earlier = || self.options.iter().take(place);
            if earlier().any(|other| other.code == option.code) {
                let pointer = format!("/options/{place}/code");
                problems.push(Problem::new(&pointer, "uniqueItems", "another option has this code"));
            }
            if earlier().any(|other| other.group == option.group && other.choose != option.choose) {
                let pointer = format!("/options/{place}/choose");
                problems.push(Problem::new(&pointer, "const", "all options of a group say the same"));
            }
        }
        problems
    }
}

/// What a feed no longer lists cannot be ordered; orders of it stay.
const WITHDRAWAL: Withdrawal = Withdrawal { field: "status", listed: &["offered", "sold_out"], withdrawn: "withdrawn" };

impl Imported for Dish {
    const WITHDRAWAL: Option<Withdrawal> = Some(WITHDRAWAL);

    fn on_listed(record: &Dish, arguments: &mut Map<String, Value>) {
        if record.status == DishStatus::Withdrawn {
            arguments.entry("status").or_insert_with(|| Value::from("offered"));
        }
    }
}

impl Managed for Dish {
    async fn check(&mut self, permitted: &Permitted<'_>) -> Result<(), Fault> {
        let known: Option<Entity<Restaurant>> =
            find_by_code(permitted, "restaurant_code", &self.restaurant_code).await?;
        let mut problems = self.problems();
        match known {
            None => problems.push(Problem::new(
                "/restaurant_code",
                "enum",
                "there is no restaurant with this code; import it first",
            )),
            Some(restaurant) if restaurant.record.veg_only && self.diet != Diet::Veg => {
                problems.push(Problem::new("/diet", "const", "everything that this restaurant has is veg"));
            }
            Some(_) => {}
        }
        if problems.is_empty() { Ok(()) } else { Err(Fault::invalid(problems)) }
    }
}

/// The facts of a dish.
pub(super) const DISH: &[Fact] = &[
    text("dish_id"),
    text("dish_code"),
    text("name"),
    text("description"),
    text("category"),
    whole("price_inr"),
    text("diet"),
    text("spice_level"),
    texts("allergens"),
    boolean("available"),
    whole("portions_left"),
    list("options", &[&[text("code"), text("group"), text("name"), whole("price_inr"), text("choose")]]),
];

pub(super) fn dish_facts(dish: &Entity<Dish>, portions_left: Option<i64>) -> Value {
    let record = &dish.record;
    let allergens: Vec<&str> = record.allergens.iter().map(|allergen| allergen.as_str()).collect();
    let options = record.options.iter().map(|option| {
        json!({
            "code": &*option.code,
            "group": &*option.group,
            "name": &*option.name,
            "price_inr": option.price_inr.get(),
            "choose": option.choose.as_str(),
        })
    });
    json!({
        "dish_id": dish.id,
        "dish_code": &*record.dish_code,
        "name": &*record.name,
        "description": &*record.description,
        "category": &*record.category,
        "price_inr": record.price_inr.get(),
        "diet": record.diet.as_str(),
        "spice_level": record.spice_level.as_str(),
        "allergens": allergens,
        "available": record.is_available(portions_left),
        "portions_left": portions_left,
        "options": options.collect::<Vec<Value>>(),
    })
}
