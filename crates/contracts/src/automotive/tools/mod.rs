//! The tools of the contract, in the order of `tools/list`, and the arguments they share. The first one needs no
//! argument, so that a client can try the server with it.

mod consent;
mod create;
mod customers;
mod inventory;
mod leads;
mod update;

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

const MAX_LIMIT: i64 = 100;
/// Each word costs an index lookup.
const MAX_SEARCH_WORDS: usize = 16;

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

/// The input schema of a tool that reads one record.
fn single_input(own: impl IntoIterator<Item = Field>) -> Schema {
    let tenant =
        optional(TENANT, Schema::text(64), "The dealership meant. Needed only if the token is good for several.");
    Schema::object(own.into_iter().chain([tenant]))
}

/// The input schema of a tool that lists.
fn list_input(own: impl IntoIterator<Item = Field>) -> Schema {
    let paging = [
        optional(CURSOR, Schema::text(8192), "next_cursor of the page before. Send the same filters with it, or none."),
        optional(LIMIT, Schema::integer(1, MAX_LIMIT), "How many items at most; 25 if absent."),
    ];
    single_input(own.into_iter().chain(paging))
}

/// The input schema of a tool that writes.
fn write_input(own: impl IntoIterator<Item = Field>) -> Schema {
    let key = optional(
        KEY,
        Schema::text(255),
        "A new random value per change. Repeated with the same arguments, the change happens once.",
    );
    single_input(own.into_iter().chain([key]))
}

fn id_argument(about: &'static str) -> Field {
    required("id", Schema::text(64), about)
}

const NEWEST: Order = Order { column: "created_at", direction: Direction::Descending };

async fn list_page(
    permitted: &Permitted<'_>,
    table: &'static TableSpec,
    filters: Vec<Filter>,
    order: Order,
) -> Result<Outcome, Fault> {
    let query = Query { projection: Projection::Rows, table, filters, order, window: permitted.window() };
    permitted.page(query).await.map(Outcome::Many)
}

async fn get_one(permitted: &Permitted<'_>, table: &'static TableSpec) -> Result<Outcome, Fault> {
    let id = permitted.input().text("id").unwrap_or_default();
    let found = permitted.get(table, id).await?.ok_or_else(Fault::not_found)?;
    Ok(Outcome::One(item(found)))
}

fn item(row: StoredRow) -> Item {
    Item { id: row.id, version: row.version, body: row.body, masked: row.masked, personal: row.personal }
}

/// A filter on a text column, if the argument is present.
fn equals(permitted: &Permitted<'_>, argument: &str, column: &'static str) -> Option<Filter> {
    let value = permitted.input().text(argument)?;
    Some(Filter::Equals(column, Cell::Text(value.to_owned())))
}

/// A filter on the digest of personal data, if the argument is present. `normalize` must be the one that was applied
/// before the digest was stored.
fn equals_digest(
    permitted: &Permitted<'_>,
    argument: &str,
    column: &'static str,
    normalize: fn(&str) -> String,
) -> Option<Filter> {
    let value = permitted.input().text(argument)?;
    Some(Filter::Equals(column, Cell::Digest(normalize(value))))
}

/// A filter on the words of a text, if the argument is present. A text without words is an error: it would match
/// everything.
fn word_filter(
    permitted: &Permitted<'_>,
    argument: &str,
    term: fn(String) -> SearchTerm,
) -> Result<Option<Filter>, Fault> {
    let Some(text) = permitted.input().text(argument) else {
        return Ok(None);
    };
    let terms = search_terms(text);
    let pointer = format!("/{argument}");
    match terms.len() {
        0 => Err(Fault::invalid_argument(&pointer, "pattern", "at least one letter or digit is expected")),
        1..=MAX_SEARCH_WORDS => Ok(Some(Filter::SearchTerms(terms.into_iter().map(term).collect()))),
        _ => Err(Fault::invalid_argument(&pointer, "maxLength", "at most 16 words are allowed")),
    }
}

/// The arguments as the tool's own type.
fn read_arguments<T: DeserializeOwned>(permitted: &Permitted<'_>) -> Result<T, Fault> {
    json::from_arguments(&permitted.input().arguments)
}

/// A customer to be updated, with the version that was read.
async fn customer_for_update(permitted: &Permitted<'_>, id: &str) -> Result<Option<(Customer, i64)>, Fault> {
    match permitted.get_to_change(&customer::TABLE, id).await? {
        Some(found) => Ok(Some((Customer::from_stored_row(&found)?, found.version))),
        None => Ok(None),
    }
}

/// The update of a customer that was read at this version.
fn customer_update(permitted: &Permitted<'_>, mut customer: Customer, version: i64) -> Result<(Step, Event), Fault> {
    customer.public.updated_at = permitted.now();
    customer.public.version = version.saturating_add(1);
    let event = Event { kind: customer::TABLE.name, id: customer.public.id.clone(), change: Change::Updated };
    let step = Step::Update {
        table: &customer::TABLE,
        row: customer.row()?,
        expect_version: version,
        on_conflict: OnConflict::Retry,
    };
    Ok((step, event))
}
