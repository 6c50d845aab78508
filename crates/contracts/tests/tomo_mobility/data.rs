//! A made-up ride business in Bengaluru, and another one with the same codes.

use frontdesk_contracts::record::{Entity, FixedDecimal, Integer, List, Stored};
use frontdesk_contracts::tomo::mobility::driver::{Driver, DriverStatus};
use frontdesk_contracts::tomo::mobility::fare_table::{FareStatus, FareTable, VehicleClass};
use frontdesk_contracts::tomo::mobility::surge::SurgeRule;
use frontdesk_engine::model::plan::Step;
use frontdesk_engine::{Fault, TenantId};
use serde_json::{Value, json};

use super::desk::{NOW, Seeds};

pub(crate) const RIDES: &str = "rid_karnataka";
pub(crate) const OTHER: &str = "rid_telangana";

pub(crate) fn seeds() -> Seeds {
    vec![(RIDES, rows(RIDES)), (OTHER, rows(OTHER))]
}

pub(crate) fn insert<R: Stored>(tenant: &str, id: &str, record: R) -> Step {
    let entity = Entity::new(id.to_owned(), TenantId::parse(tenant).unwrap(), NOW, record);
    Step::Insert { table: R::table(), row: entity.row("tenant"), on_duplicate: Fault::internal("seeded twice") }
}

/// One sedan and two autos are free; the SUV is off duty.
fn rows(tenant: &str) -> Vec<Step> {
    let off = Driver { status: DriverStatus::Off, ..driver("D4", "Imran Khan", VehicleClass::Suv, 12_971_000) };
    vec![
        insert(tenant, "far_auto", FareTable { seats: Integer::clamped(3), ..fare(VehicleClass::Auto, 30, 1_500) }),
        insert(tenant, "far_sedan", fare(VehicleClass::Sedan, 80, 1_750)),
        insert(tenant, "far_suv", fare(VehicleClass::Suv, 120, 2_400)),
        insert(tenant, "srg_evening", surge("EVENING", None, "17:30", "21:00", 150)),
        insert(tenant, "srg_noon", surge("NOON", Some(VehicleClass::Suv), "11:00", "13:00", 125)),
        insert(tenant, "drv_1", driver("D1", "Prakash Rao Hegde", VehicleClass::Sedan, 12_985_000)),
        insert(tenant, "drv_2", driver("D2", "Salma Begum", VehicleClass::Auto, 12_980_000)),
        insert(tenant, "drv_3", driver("D3", "Manju Gowda", VehicleClass::Auto, 12_990_000)),
        insert(tenant, "drv_4", off),
    ]
}

/// 2 km are included, 1.20 rupees a minute, 5 percent tax, 20 km/h on roads that are 1.3 times as long.
pub(crate) fn fare(class: VehicleClass, base: i64, per_km: i64) -> FareTable {
    FareTable {
        fare_code: format!("BLR-{class:?}").as_str().into(),
        city: "Bengaluru".into(),
        vehicle_class: class,
        seats: Integer::clamped(4),
        base_fare_inr: Integer::clamped(base),
        included_km: FixedDecimal::scaled(20),
        per_km_inr: FixedDecimal::scaled(per_km),
        per_minute_inr: FixedDecimal::scaled(120),
        minimum_fare_inr: Integer::clamped(50),
        tax_percent: Integer::clamped(5),
        road_factor: FixedDecimal::scaled(130),
        speed_kmh: Integer::clamped(20),
        max_km: Integer::clamped(40),
        pickup_km: Integer::clamped(8),
        free_cancel_minutes: Integer::clamped(5),
        cancel_fee_inr: Integer::clamped(40),
        no_show_fee_inr: Integer::clamped(60),
        status: FareStatus::Offered,
    }
}

pub(crate) fn surge(code: &str, class: Option<VehicleClass>, from: &str, until: &str, multiplier: i64) -> SurgeRule {
    SurgeRule {
        surge_code: code.into(),
        city: "Bengaluru".into(),
        vehicle_class: class,
        weekdays: List::default(),
        from_time: from.into(),
        until_time: until.into(),
        multiplier: FixedDecimal::scaled(multiplier),
        status: FareStatus::Offered,
    }
}

/// On the meridian of the pickup, so that distances are differences of latitudes.
pub(crate) fn driver(code: &str, name: &str, class: VehicleClass, latitude: i64) -> Driver {
    Driver {
        driver_code: code.into(),
        name: name.into(),
        phone: format!("+9198000000{}", code.replace('D', "1")).as_str().into(),
        vehicle_class: class,
        vehicle: "Maruti Suzuki Dzire".into(),
        plate: format!("KA01{code}").as_str().into(),
        city: "bangalore".into(),
        latitude: FixedDecimal::scaled(latitude),
        longitude: FixedDecimal::scaled(77_600_000),
        rating: FixedDecimal::scaled(47),
        status: DriverStatus::Available,
        booking_id: None,
    }
}

pub(crate) fn pickup() -> Value {
    json!({"lat": 12.97, "lng": 77.6, "address": "12 Secret Lane, MG Road"})
}

/// 4,448 metres of a straight line south of the pickup: 5,782 metres of road, 18 minutes.
pub(crate) fn drop() -> Value {
    json!({"lat": 12.93, "lng": 77.6, "address": "7 Hidden Street, Koramangala"})
}

/// 10,008 metres of a straight line: 13,010 metres of road, 40 minutes.
pub(crate) fn far_drop() -> Value {
    json!({"lat": 12.88, "lng": 77.6, "address": "1 Quiet Road, Begur"})
}
