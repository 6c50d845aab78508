//! What rides cost in a city, for each class of vehicle: the fare table of the business. It comes in by import.

use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::table::Cell;
use frontdesk_engine::{Fault, Permitted};
use serde_json::{Map, Value};

use crate::record::import::{Imported, Withdrawal};
use crate::record::{Entity, FixedDecimal, Integer, NameText, Text, Vocabulary as _, list_records};
use crate::tomo::listing::place::city_keys;
use crate::tomo::managed::Managed;
use crate::{Record, Vocabulary};

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum VehicleClass { Bike, Auto, Mini, Sedan, Suv, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum FareStatus { Offered, Withdrawn, Unknown }

/// Whole rupees of a fare. Bounded, so that no fare overflows.
pub type FareRupees = Integer<0, 100_000>;

/// How many fare tables one city can have.
const MAX_TABLES: usize = 50;

#[derive(Debug, Clone, PartialEq, Record)]
#[table("tomo_fare", prefix = "far", not_found = "NOT_FOUND", noun = "fare table")]
pub struct FareTable {
    /// The business's own short name for it, such as BLR-SEDAN.
    #[field(create, unique)]
    pub fare_code: Text<60>,
    /// City.
    #[field(create, update, indexed)]
    pub city: NameText<80>,
    /// Class of vehicle. A city has one table for each.
    #[field(create, update, known, indexed)]
    pub vehicle_class: VehicleClass,
    /// How many passengers there is room for.
    #[field(create, update)]
    pub seats: Integer<1, 20>,
    /// What a ride costs at least before kilometres and minutes are counted, in whole rupees.
    #[field(create, update)]
    pub base_fare_inr: FareRupees,
    /// Kilometres that the base fare includes, such as 2.5.
    #[field(create, update)]
    #[default(FixedDecimal::scaled(0))]
    pub included_km: FixedDecimal<1, 0, 100>,
    /// Rupees for each further kilometre, such as 14.50.
    #[field(create, update)]
    pub per_km_inr: FixedDecimal<2, 0, 1_000>,
    /// Rupees for each minute, such as 1.25.
    #[field(create, update)]
    #[default(FixedDecimal::scaled(0))]
    pub per_minute_inr: FixedDecimal<2, 0, 1_000>,
    /// What a ride costs at least, before a surge and without tax.
    #[field(create, update)]
    #[default(Integer::constant::<0>())]
    pub minimum_fare_inr: FareRupees,
    /// Tax in percent of the fare.
    #[field(create, update)]
    pub tax_percent: Integer<0, 50>,
    /// How much longer roads are than the straight line, such as 1.3.
    #[field(create, update)]
    #[default(FixedDecimal::scaled(130))]
    pub road_factor: FixedDecimal<2, 1, 3>,
    /// Average speed in kilometres an hour.
    #[field(create, update)]
    pub speed_kmh: Integer<5, 120>,
    /// The longest ride, in kilometres of road.
    #[field(create, update)]
    #[default(Integer::constant::<60>())]
    pub max_km: Integer<1, 300>,
    /// From how far away a driver comes to a pickup, in kilometres of a straight line.
    #[field(create, update)]
    #[default(Integer::constant::<8>())]
    pub pickup_km: Integer<1, 50>,
    /// A cancellation costs nothing for so many minutes after a driver was assigned.
    #[field(create, update)]
    #[default(Integer::constant::<5>())]
    pub free_cancel_minutes: Integer<0, 240>,
    /// What a later cancellation costs, in whole rupees.
    #[field(create, update)]
    #[default(Integer::constant::<0>())]
    pub cancel_fee_inr: FareRupees,
    /// What it costs if nobody is at the pickup, in whole rupees.
    #[field(create, update)]
    #[default(Integer::constant::<0>())]
    pub no_show_fee_inr: FareRupees,
    /// Whether it can be booked.
    #[field(create, update, known, indexed)]
    #[default(FareStatus::Offered)]
    pub status: FareStatus,
}

/// What a ride was promised to cost. A booking keeps it: a later table does not change what was agreed.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct FareTerms {
    /// What a ride costs at least before kilometres and minutes are counted.
    pub base_fare_inr: FareRupees,
    /// Kilometres that the base fare includes.
    pub included_km: FixedDecimal<1, 0, 100>,
    /// Rupees for each further kilometre.
    pub per_km_inr: FixedDecimal<2, 0, 1_000>,
    /// Rupees for each minute.
    pub per_minute_inr: FixedDecimal<2, 0, 1_000>,
    /// What a ride costs at least, before a surge and without tax.
    pub minimum_fare_inr: FareRupees,
    /// Tax in percent of the fare.
    pub tax_percent: Integer<0, 50>,
    /// How much longer roads are than the straight line.
    pub road_factor: FixedDecimal<2, 1, 3>,
    /// Average speed in kilometres an hour.
    pub speed_kmh: Integer<5, 120>,
    /// The longest ride, in kilometres of road.
    pub max_km: Integer<1, 300>,
    /// A cancellation costs nothing for so many minutes after a driver was assigned.
    pub free_cancel_minutes: Integer<0, 240>,
    /// What a later cancellation costs.
    pub cancel_fee_inr: FareRupees,
    /// What it costs if nobody is at the pickup.
    pub no_show_fee_inr: FareRupees,
}

impl FareTable {
    pub(super) fn terms(&self) -> FareTerms {
        FareTerms {
            base_fare_inr: self.base_fare_inr,
            included_km: self.included_km,
            per_km_inr: self.per_km_inr,
            per_minute_inr: self.per_minute_inr,
            minimum_fare_inr: self.minimum_fare_inr,
            tax_percent: self.tax_percent,
            road_factor: self.road_factor,
            speed_kmh: self.speed_kmh,
            max_km: self.max_km,
            free_cancel_minutes: self.free_cancel_minutes,
            cancel_fee_inr: self.cancel_fee_inr,
            no_show_fee_inr: self.no_show_fee_inr,
        }
    }

    pub(super) fn pickup_metres(&self) -> i64 {
        self.pickup_km.get().saturating_mul(1_000)
    }
}

/// The tables that are offered in a city, by class.
pub(super) async fn tables_in(permitted: &Permitted<'_>, city: &str) -> Result<Vec<Entity<FareTable>>, Fault> {
    let filters = vec![
        Filter::AnyOf("city", city_keys(city).into_iter().map(Cell::Text).collect()),
        Filter::Equals("status", Cell::Text(FareStatus::Offered.as_str().to_owned())),
    ];
    let mut tables = list_records::<FareTable>(permitted, filters, MAX_TABLES).await?;
    let class = |table: &Entity<FareTable>| {
        VehicleClass::WORDS.iter().position(|word| *word == table.record.vehicle_class.as_str())
    };
    tables.sort_by(|one, other| {
        class(one).cmp(&class(other)).then_with(|| (*one.record.fare_code).cmp(&*other.record.fare_code))
    });
    // Rows of one file are checked together, so that two of a class can come in: the first code counts.
    tables.dedup_by_key(|table| table.record.vehicle_class);
    Ok(tables)
}

/// What a feed no longer lists is no longer offered; rides of it stay as they were agreed.
pub(super) const WITHDRAWAL: Withdrawal = Withdrawal { field: "status", listed: &["offered"], withdrawn: "withdrawn" };

/// What a feed lists again is offered again.
pub(super) fn offer_again(status: FareStatus, arguments: &mut Map<String, Value>) {
    if status == FareStatus::Withdrawn {
        arguments.entry("status").or_insert_with(|| Value::from("offered"));
    }
}

impl Imported for FareTable {
    const WITHDRAWAL: Option<Withdrawal> = Some(WITHDRAWAL);

    fn on_listed(record: &FareTable, arguments: &mut Map<String, Value>) {
        offer_again(record.status, arguments);
    }
}

impl Managed for FareTable {
    /// Two tables of one class would be two prices for the same ride.
    async fn check(&mut self, permitted: &Permitted<'_>) -> Result<(), Fault> {
        if self.status != FareStatus::Offered {
            return Ok(());
        }
        let is_other = |table: &Entity<FareTable>| {
            table.record.vehicle_class == self.vehicle_class && *table.record.fare_code != *self.fare_code
        };
        let Some(other) = tables_in(permitted, &self.city).await?.into_iter().find(is_other) else { return Ok(()) };
        let expected = format!("{} is the fare table of this class in this city", &*other.record.fare_code);
        Err(Fault::invalid(vec![Problem { pointer: "/vehicle_class".to_owned(), keyword: "unique", expected }]))
    }
}
