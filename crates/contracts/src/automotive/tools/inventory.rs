//! Reading stock: list, search, get. It has no personal data and no writes.

use frontdesk_engine::model::page::{Direction, Filter, Order};
use frontdesk_engine::model::schema::{Schema, optional};
use frontdesk_engine::model::table::{Cell, SearchTerm};
use frontdesk_engine::model::tool::{Effect, Future, Outcome, RateKey, Run, Tool, ToolSpec};
use frontdesk_engine::{Fault, Permitted, Scope};

use super::{NEWEST, equals, get_one, id_argument, list_input, list_page, single_input, word_filter};
use crate::automotive::values::{Distance, Money};
use crate::automotive::vocabulary::{BodyStyle, FuelType, SORT, VehicleCondition, VehicleStatus, Vocabulary};
use crate::automotive::{codes, schemas, scopes, vehicle};

pub(super) fn list() -> Tool {
    Tool {
        spec: ToolSpec {
            name: "inventory.list",
            title: "List stock",
            about: "Lists the dealership's vehicles, newest first, page by page.",
            input: list_input([
                optional("status", Schema::one_of(VehicleStatus::WORDS), "Only vehicles with this status."),
                optional("condition", Schema::one_of(VehicleCondition::WORDS), "Only vehicles of this condition."),
            ]),
            output: schemas::list(vehicle::schema()),
            effect: Effect::Reads,
            scope: Scope::new(scopes::INVENTORY_READ),
            unmask_scope: None,
            rate: RateKey::Client,
            codes: &[],
        },
        run: Run::read(run_list),
    }
}

pub(super) fn search() -> Tool {
    let input = list_input([
        optional(
            "text",
            Schema::text(200),
            "Words that must all occur: make, model, trim, colour, equipment, description, stock number, VIN.",
        ),
        optional("make", Schema::text(60), "Make, such as Toyota; case does not matter."),
        optional("model", Schema::text(60), "Model, such as RAV4; case does not matter."),
        optional("year_min", Schema::integer(1900, 2100), "Model year from."),
        optional("year_max", Schema::integer(1900, 2100), "Model year to."),
        optional("price_min", Money::schema(), "Price from; finds only prices in this currency."),
        optional("price_max", Money::schema(), "Price to; finds only prices in this currency."),
        optional("mileage_min", Distance::schema(), "Odometer reading from."),
        optional("mileage_max", Distance::schema(), "Odometer reading to."),
        optional("condition", Schema::one_of(VehicleCondition::WORDS), "New or used."),
        optional("status", Schema::one_of(VehicleStatus::WORDS), "Whether it can be bought."),
        optional("body_style", Schema::one_of(BodyStyle::WORDS), "Body style."),
        optional("fuel_type", Schema::one_of(FuelType::WORDS), "What it runs on."),
        optional("sort", Schema::one_of(SORT), "Order; newest if absent."),
    ]);
    Tool {
        spec: ToolSpec {
            name: "inventory.search",
            title: "Search stock",
            about: "Finds vehicles by words, make, model, year, price, mileage, condition, status, body style and fuel, \
                in the order asked for, page by page.",
            input,
            output: schemas::list(vehicle::schema()),
            effect: Effect::Reads,
            scope: Scope::new(scopes::INVENTORY_READ),
            unmask_scope: None,
            rate: RateKey::Client,
            codes: &[],
        },
        run: Run::read(run_search),
    }
}

pub(super) fn get() -> Tool {
    Tool {
        spec: ToolSpec {
            name: "inventory.get",
            title: "Get a vehicle",
            about: "Reads one vehicle by its id.",
            input: single_input([id_argument("The vehicle's id, as lists give it; not its VIN.")]),
            output: vehicle::schema(),
            effect: Effect::Reads,
            scope: Scope::new(scopes::INVENTORY_READ),
            unmask_scope: None,
            rate: RateKey::Client,
            codes: &[codes::INVENTORY_NOT_FOUND],
        },
        run: Run::read(run_get),
    }
}

fn run_list<'a>(permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
    Box::pin(async move {
        let filters = ["status", "condition"].into_iter().filter_map(|name| equals(permitted, name, name));
        list_page(permitted, &vehicle::TABLE, filters.collect(), NEWEST).await
    })
}

fn run_search<'a>(permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
    Box::pin(async move {
        let mut filters = Vec::new();
        filters.extend(word_filter(permitted, "text", SearchTerm::Plain)?);
        filters.extend(equals_key(permitted, "make", "make_key"));
        filters.extend(equals_key(permitted, "model", "model_key"));
        for name in ["condition", "status", "body_style", "fuel_type"] {
            filters.extend(equals(permitted, name, name));
        }
        filters.extend(years(permitted)?);
        filters.extend(prices(permitted)?);
        filters.extend(distances(permitted)?);
        list_page(permitted, &vehicle::TABLE, filters, order(permitted)).await
    })
}

fn run_get<'a>(permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
    Box::pin(get_one(permitted, &vehicle::TABLE))
}

fn equals_key(permitted: &Permitted<'_>, argument: &str, column: &'static str) -> Option<Filter> {
    let name = permitted.input().text(argument)?;
    Some(Filter::Equals(column, Cell::Text(vehicle::key(name))))
}

fn years(permitted: &Permitted<'_>) -> Result<Vec<Filter>, Fault> {
    let input = permitted.input();
    range("year", input.integer("year_min"), input.integer("year_max"), "/year_max")
}

/// Amounts are comparable only within one currency, so a range also filters by currency.
fn prices(permitted: &Permitted<'_>) -> Result<Vec<Filter>, Fault> {
    let money = |name| permitted.input().object(name).and_then(Money::read);
    let (min, max) = (money("price_min"), money("price_max"));
    if let (Some(min), Some(max)) = (&min, &max)
        && min.currency != max.currency
    {
        return Err(Fault::invalid_argument(
            "/price_max/currency",
            "const",
            "price_min and price_max must have the same currency",
        ));
    }
    let currency = min.as_ref().or(max.as_ref()).map(|money| money.currency.clone());
    let amounts = range("price_minor", min.map(|money| money.amount), max.map(|money| money.amount), "/price_max")?;
    Ok(currency.map(|currency| Filter::Equals("currency", Cell::Text(currency))).into_iter().chain(amounts).collect())
}

fn distances(permitted: &Permitted<'_>) -> Result<Vec<Filter>, Fault> {
    let distance = |name| permitted.input().object(name).and_then(Distance::read);
    let (min, max) = (distance("mileage_min"), distance("mileage_max"));
    range(
        "mileage_mm",
        min.map(|distance| distance.millimetres()),
        max.map(|distance| distance.millimetres()),
        "/mileage_max",
    )
}

fn range(column: &'static str, min: Option<i64>, max: Option<i64>, pointer: &str) -> Result<Vec<Filter>, Fault> {
    if let (Some(min), Some(max)) = (min, max)
        && min > max
    {
        return Err(Fault::invalid_argument(pointer, "minimum", "it must not be less than the lower end of the range"));
    }
    let min = min.map(|min| Filter::AtLeast(column, min));
    let max = max.map(|max| Filter::AtMost(column, max));
    Ok(min.into_iter().chain(max).collect())
}

fn order(permitted: &Permitted<'_>) -> Order {
    let (column, direction) = match permitted.input().text("sort") {
        Some("price_asc") => ("price_minor", Direction::Ascending),
        Some("price_desc") => ("price_minor", Direction::Descending),
        Some("year_asc") => ("year", Direction::Ascending),
        Some("year_desc") => ("year", Direction::Descending),
        Some("mileage_asc") => ("mileage_mm", Direction::Ascending),
        Some("mileage_desc") => ("mileage_mm", Direction::Descending),
        Some(_) | None => return NEWEST,
    };
    Order { column, direction }
}
