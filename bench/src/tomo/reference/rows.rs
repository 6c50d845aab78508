//! Rows as the reference reads them, and the statements that find them, made by the store.

use frontdesk_contracts::record::filter::NEWEST;
use frontdesk_engine::model::page::{Filter, Projection, Query, Start, Window};
use frontdesk_engine::model::table::{Cell, TableSpec};
use frontdesk_store::statements::{self, for_sqlite};
use rusqlite::{Connection, params_from_iter};
use serde::{Deserialize, Serialize};

use super::table;
use crate::BenchResult;
use crate::tomo::hotels::{HOTELS_OF_A_CITY, ROOMS_OF_A_CITY};

pub use rusqlite::types::Value;

#[derive(Deserialize)]
pub struct Hotel<'a> {
    pub id: &'a str,
    pub listing_code: &'a str,
    pub name: &'a str,
    pub city: &'a str,
    pub area: &'a str,
    pub address: &'a str,
    pub pincode: &'a str,
    pub latitude: f64,
    pub longitude: f64,
    pub star_rating: i64,
    pub guest_rating: f64,
    #[serde(borrow)]
    pub amenities: Vec<&'a str>,
    #[serde(borrow)]
    pub images: Vec<&'a str>,
    pub check_in_time: &'a str,
    pub check_out_time: &'a str,
    pub cancellation_policy: Vec<Tier>,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Tier {
    pub hours_before: i64,
    pub refund_percent: i64,
}

#[derive(Deserialize)]
pub struct Room<'a> {
    pub id: &'a str,
    pub room_code: &'a str,
    pub listing_code: &'a str,
    pub name: &'a str,
    pub max_guests: i64,
    pub units: i64,
    pub bed_type: &'a str,
    pub meal_plan: &'a str,
    pub base_price_inr: i64,
    pub tax_percent: i64,
}

#[derive(Deserialize)]
pub struct Rate<'a> {
    pub rate_code: &'a str,
    pub room_code: &'a str,
    pub from_night: &'a str,
    pub until_night: &'a str,
    pub price_inr: i64,
    pub units_closed: i64,
}

#[derive(Deserialize)]
pub struct Night<'a> {
    pub room_id: &'a str,
    pub night: &'a str,
    pub rooms: i64,
}

pub fn parse_all<'a, T: Deserialize<'a>>(bodies: &'a [String]) -> BenchResult<Vec<T>> {
    bodies.iter().map(|body| Ok(serde_json::from_str(body)?)).collect()
}

/// The bodies of a page.
pub fn bodies(connection: &Connection, sql: &str, tenant: &str, values: Vec<Value>) -> BenchResult<Vec<String>> {
    let mut statement = connection.prepare_cached(sql)?;
    let all = std::iter::once(Value::from(tenant.to_owned())).chain(values);
    let rows = statement.query_map(params_from_iter(all), |row| row.get(2))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The statements of reads. Every city has as many hotels and rooms.
pub struct Texts {
    pub hotels: String,
    pub rooms: String,
    pub rates: String,
    pub rates_of_room: String,
    pub nights: String,
    pub get_room: String,
    pub find_hotel: String,
}

impl Texts {
    pub fn new() -> BenchResult<Texts> {
        let (listing, room, rate) = (table("tomo_listing")?, table("tomo_room")?, table("tomo_rate")?);
        let any_of = |column, count| Filter::AnyOf(column, vec![Cell::Null; count]);
        let status = || Filter::Equals("status", Cell::Null);
        let rates = |count| {
            let dates = [Filter::AtMost("from_night", 0), Filter::AtLeast("until_night", 0)];
            page(rate, std::iter::once(any_of("room_code", count)).chain(dates).collect())
        };
        let nights = vec![
            any_of("room_id", ROOMS_OF_A_CITY),
            Filter::AtLeast("night", 0),
            Filter::AtMost("night", 0),
            Filter::Equals("mode", Cell::Null),
        ];
        Ok(Texts {
            hotels: page(listing, vec![status(), any_of("city_key", 1)]),
            rooms: page(room, vec![any_of("listing_code", HOTELS_OF_A_CITY), status()]),
            rates: rates(ROOMS_OF_A_CITY),
            rates_of_room: rates(1),
            nights: page(table("tomo_night")?, nights),
            get_room: for_sqlite(&statements::get(room)),
            find_hotel: for_sqlite(&statements::find(listing, "listing_code")),
        })
    }
}

fn page(table: &'static TableSpec, filters: Vec<Filter>) -> String {
    let window = Window { start: Start::First, limit: 1, bytes: usize::MAX };
    for_sqlite(&statements::page(&Query { projection: Projection::Rows, table, filters, order: NEWEST, window }))
}
