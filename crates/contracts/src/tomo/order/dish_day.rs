//! How many portions of a dish are sold on a day: a single row, which every order of that day changes together with
//! itself. So two orders cannot take the same portion. Only dishes with a daily stock have rows, and the sandbox has none.

use std::collections::HashMap;

use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::plan::{OnConflict, Step};
use frontdesk_engine::model::table::Cell;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Fault, Permitted};

use super::dish::Dish;
use crate::Record;
use crate::record::{Day, Entity, Integer, Stored as _, Text, list_records};
use crate::tomo::codes::NOT_AVAILABLE;
use crate::tomo::{TENANT, is_sandbox};

/// No tool shows it.
#[derive(Debug, Clone, PartialEq, Record)]
#[table("tomo_dish_day", prefix = "dsd", not_found = "NOT_FOUND", noun = "dish day")]
pub struct DishDay {
    /// The dish.
    #[field(indexed)]
    #[default(Text::from(""))]
    pub dish_id: Text<64>,
    /// The local day, such as 2027-03-01.
    #[field(column)]
    #[default(Text::from(""))]
    pub day: Text<10>,
    /// How many portions are sold.
    #[default(Integer::constant::<0>())]
    pub portions: Integer<0, 1_000_000>,
}

/// The id of the row of a day. It is made of its parts, so that it can be read without a search.
fn id_of(dish_id: &str, day: Day) -> String {
    let dish = dish_id.split_once('_').map_or(dish_id, |(_, own)| own);
    format!("{}_{dish}_{day}", DishDay::ID_PREFIX)
}

/// The days that a call changes, each once.
#[derive(Default)]
pub(super) struct Portions(Vec<OpenDay>);

struct OpenDay {
    row: Entity<DishDay>,
    before: i64,
}

impl Portions {
    /// Takes portions of a dish with a daily stock, if so many are left. The caller guards the dish against changes.
    pub(super) async fn take(
        &mut self,
        permitted: &Permitted<'_>,
        dish: &Entity<Dish>,
        day: Day,
        quantity: i64,
    ) -> Result<(), Fault> {
        let Some(stock) = dish.record.daily_stock else { return Ok(()) };
        let open = self.open(permitted, &dish.id, day).await?;
        let sold = open.row.record.portions.get().saturating_add(quantity);
        if sold > stock.get() {
            return Err(sold_out(&dish.record.name));
        }
        open.row.record.portions = Integer::clamped(sold);
        Ok(())
    }

    /// Gives portions back that an order had taken.
    pub(super) async fn give_back(
        &mut self,
        permitted: &Permitted<'_>,
        dish_id: &str,
        day: Day,
        quantity: i64,
    ) -> Result<(), Fault> {
        let open = self.open(permitted, dish_id, day).await?;
        open.row.record.portions = Integer::clamped(open.row.record.portions.get().saturating_sub(quantity));
        Ok(())
    }

    async fn open(&mut self, permitted: &Permitted<'_>, dish_id: &str, day: Day) -> Result<&mut OpenDay, Fault> {
        let id = id_of(dish_id, day);
        if !self.0.iter().any(|open| open.row.id == id) {
            let row = match permitted.get_to_change(DishDay::table(), &id).await? {
                Some(row) => Entity::restore(permitted.tenant(), &row)?,
                None => {
                    let portions = Integer::constant::<0>();
                    let record = DishDay { dish_id: dish_id.into(), day: day.to_string().as_str().into(), portions };
                    let entity = Entity::new(id.clone(), permitted.tenant().clone(), permitted.now(), record);
                    // It has no row yet.
                    Entity { version: 0, ..entity }
                }
            };
            self.0.push(OpenDay { before: row.record.portions.get(), row });
        }
        let open = self.0.iter_mut().find(|open| open.row.id == id);
        open.ok_or_else(|| Fault::internal("a day that was just opened is missing"))
    }

    /// The changes, in the order of the rows' ids. If one of the rows has changed since it was read, the call runs again.
    pub(super) fn steps(mut self, now: Millis) -> Vec<Step> {
        self.0.sort_by(|one, other| one.row.id.cmp(&other.row.id));
        let mut steps = Vec::new();
        for OpenDay { row, before } in self.0 {
            if row.record.portions.get() == before {
                continue;
            }
            let expect_version = row.version;
            let row = Entity { updated_at: now, version: expect_version.saturating_add(1), ..row }.row(TENANT);
            let (table, on_duplicate) = (DishDay::table(), Fault::internal("a day has no unique values"));
            if expect_version == 0 {
                steps.push(Step::RequireAbsent { table, id: row.id.clone() });
                steps.push(Step::Insert { table, row, on_duplicate });
            } else {
                let on_conflict = OnConflict::Retry;
                steps.push(Step::Update { table, row, expect_version, on_conflict, on_duplicate });
            }
        }
        steps
    }
}

pub(super) fn sold_out(name: &str) -> Fault {
    Fault::domain(NOT_AVAILABLE, format!("{name} cannot be had in this quantity today. Choose less or something else."))
}

/// How many portions of each of these dishes are left today, by the id of the dish; those without a limit are missing.
/// In the sandbox nothing is ever sold.
pub(super) async fn portions_left(
    permitted: &Permitted<'_>,
    dishes: &[(&Entity<Dish>, Day)],
) -> Result<HashMap<String, i64>, Fault> {
    let limited: Vec<_> = dishes.iter().filter(|(dish, _)| dish.record.daily_stock.is_some()).collect();
    let mut sold: HashMap<String, i64> = HashMap::new();
    if !limited.is_empty() && !is_sandbox(permitted) {
        let mut days: Vec<String> = limited.iter().map(|(_, day)| day.to_string()).collect();
        days.sort_unstable();
        days.dedup();
        let most = limited.len().saturating_mul(days.len());
        let filters = vec![
            Filter::AnyOf("dish_id", limited.iter().map(|(dish, _)| Cell::Text(dish.id.clone())).collect()),
            Filter::AnyOf("day", days.into_iter().map(Cell::Text).collect()),
        ];
        let rows: Vec<Entity<DishDay>> = list_records(permitted, filters, most).await?;
        sold = rows.into_iter().map(|row| (row.id, row.record.portions.get())).collect();
    }
    let left = limited.into_iter().map(|(dish, day)| {
        let sold = sold.get(&id_of(&dish.id, *day)).copied().unwrap_or(0);
        let stock = dish.record.daily_stock.map_or(0, |stock| stock.get());
        (dish.id.clone(), stock.saturating_sub(sold).max(0))
    });
    Ok(left.collect())
}
