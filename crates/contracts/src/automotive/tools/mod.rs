//! The tools of the contract, in the order they are listed, and the arguments they share. The first
//! needs no argument at all, so that a client can try the server with it.

mod change;
mod consent;
mod create;
mod customers;
mod inventory;
mod leads;

use frontdesk_engine::model::page::{Direction, Filter, Order, Projection, Query};
use frontdesk_engine::model::plan::{Change, Event, OnConflict, Step};
use frontdesk_engine::model::schema::{Field, Schema, optional, required};
use frontdesk_engine::model::table::{Cell, SearchTerm, StoredRow, TableSpec, search_terms};
use frontdesk_engine::model::tool::{Item, Outcome, Tool};
use frontdesk_engine::{Fault, Permitted};
use serde::de::DeserializeOwned;

use super::customer::{self, Customer};
use super::json;

pub(super) const TENANT: &str = "dealership_id";
pub(super) const CURSOR: &str = "cursor";
pub(super) const LIMIT: &str = "limit";
pub(super) const KEY: &str = "idempotency_key";
pub(super) const DEFAULT_LIMIT: usize = 25;

const MOST_LIMIT: i64 = 100;
/// More words narrow nothing down and cost a look-up each.
const MOST_WORDS: usize = 16;

pub(super) fn all() -> Vec<Tool> {
    vec![
        inventory::list(),
        inventory::search(),
        inventory::get(),
        leads::list(),
        leads::get(),
        leads::create(),
        leads::update(),
        customers::list(),
        customers::get(),
    ]
}

/// The input of a tool that reads or writes one thing.
fn arguments(own: impl IntoIterator<Item = Field>) -> Schema {
    let tenant =
        optional(TENANT, Schema::text(64), "The dealership meant. Needed only if the token is good for several.");
    Schema::object(own.into_iter().chain([tenant]))
}

/// The input of a tool that lists.
fn listing(own: impl IntoIterator<Item = Field>) -> Schema {
    let window = [
        optional(CURSOR, Schema::text(8192), "next_cursor of the page before. Send the same filters with it, or none."),
        optional(LIMIT, Schema::integer(1, MOST_LIMIT), "How many items at most; 25 if absent."),
    ];
    arguments(own.into_iter().chain(window))
}

/// The input of a tool that writes.
fn writing(own: impl IntoIterator<Item = Field>) -> Schema {
    let key = optional(
        KEY,
        Schema::text(255),
        "A new random value per change. Repeated with the same arguments, the change happens once.",
    );
    arguments(own.into_iter().chain([key]))
}

fn id_argument(about: &'static str) -> Field {
    required("id", Schema::text(64), about)
}

const NEWEST: Order = Order { column: "created_at", direction: Direction::Descending };

async fn page(
    permitted: &Permitted<'_>,
    kind: &'static TableSpec,
    filters: Vec<Filter>,
    order: Order,
) -> Result<Outcome, Fault> {
    let query = Query { projection: Projection::Rows, table: kind, filters, order, window: permitted.window() };
    permitted.page(query).await.map(Outcome::Many)
}

async fn one(permitted: &Permitted<'_>, kind: &'static TableSpec) -> Result<Outcome, Fault> {
    let id = permitted.input().text("id").unwrap_or_default();
    let found = permitted.get(kind, id).await?.ok_or_else(Fault::not_found)?;
    Ok(Outcome::One(item(found)))
}

fn item(found: StoredRow) -> Item {
    Item { id: found.id, body: found.body, masked: found.masked, personal: found.personal }
}

/// A filter on a text column, where the argument was given.
fn equals(permitted: &Permitted<'_>, argument: &str, column: &'static str) -> Option<Filter> {
    let value = permitted.input().text(argument)?;
    Some(Filter::Equals(column, Cell::Text(value.to_owned())))
}

/// A filter on hashed personal data, where the argument was given; `normal` makes equal what is the
/// same address or number.
fn equals_hashed(
    permitted: &Permitted<'_>,
    argument: &str,
    column: &'static str,
    normal: fn(&str) -> String,
) -> Option<Filter> {
    let value = permitted.input().text(argument)?;
    Some(Filter::Equals(column, Cell::Digest(normal(value))))
}

/// A filter on the words of a text, where the argument was given. A text without any is a mistake:
/// it would match everything.
fn containing(
    permitted: &Permitted<'_>,
    argument: &str,
    word: fn(String) -> SearchTerm,
) -> Result<Option<Filter>, Fault> {
    let Some(text) = permitted.input().text(argument) else {
        return Ok(None);
    };
    let found = search_terms(text);
    let pointer = format!("/{argument}");
    match found.len() {
        0 => Err(Fault::invalid_argument(&pointer, "pattern", "at least one letter or digit is expected")),
        1..=MOST_WORDS => Ok(Some(Filter::SearchTerms(found.into_iter().map(word).collect()))),
        _ => Err(Fault::invalid_argument(&pointer, "maxLength", "at most 16 words are allowed")),
    }
}

/// The arguments as a type of the tool's own.
fn read_arguments<T: DeserializeOwned>(permitted: &Permitted<'_>) -> Result<T, Fault> {
    json::fit(&permitted.input().arguments)
}

/// A customer to be changed, with the version that was read.
async fn known_customer(permitted: &Permitted<'_>, id: &str) -> Result<Option<(Customer, i64)>, Fault> {
    match permitted.get_to_change(&customer::KIND, id).await? {
        Some(found) => Ok(Some((Customer::from_found(&found)?, found.version))),
        None => Ok(None),
    }
}

/// Writes a customer who was read at this version.
fn changed_customer(permitted: &Permitted<'_>, mut customer: Customer, version: i64) -> Result<(Step, Event), Fault> {
    customer.open.updated_at = permitted.now();
    customer.open.version = version.saturating_add(1);
    let event = Event { kind: customer::KIND.name, id: customer.open.id.clone(), change: Change::Updated };
    let step = Step::Update {
        table: &customer::KIND,
        row: customer.row()?,
        expect_version: version,
        on_conflict: OnConflict::Retry,
    };
    Ok((step, event))
}
