//! A made-up ride business for the demo, the same on every machine: its fares, its surges and its drivers in Bengaluru.

use frontdesk_engine::model::plan::{Change, Event, Step};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Fault, TenantId};

use super::driver::{Driver, DriverStatus};
use super::fare_table::{FareStatus, FareTable, VehicleClass};
use super::surge::SurgeRule;
use crate::calendar::Weekday;
use crate::record::{Entity, FixedDecimal, Integer, List, Stored, Vocabulary as _};
use crate::tomo::TENANT;

/// The ride business: its id and its name.
pub const BUSINESS: (&str, &str) = ("rid_monsoon", "Monsoon Rides");

const CITY: &str = "Bengaluru";

/// One class of vehicles.
struct DemoFare {
    class: VehicleClass,
    seats: i64,
    base_inr: i64,
    /// Tenths of a kilometre.
    included_km: i64,
    /// Paise.
    per_km: i64,
    per_minute: i64,
    minimum_inr: i64,
    fee_inr: i64,
}

#[rustfmt::skip]
const FARES: [DemoFare; 5] = [
    DemoFare { class: VehicleClass::Bike, seats: 1, base_inr: 20, included_km: 15, per_km: 800, per_minute: 50, minimum_inr: 30, fee_inr: 10 },
    DemoFare { class: VehicleClass::Auto, seats: 3, base_inr: 36, included_km: 20, per_km: 1_800, per_minute: 75, minimum_inr: 40, fee_inr: 20 },
    DemoFare { class: VehicleClass::Mini, seats: 4, base_inr: 60, included_km: 20, per_km: 1_400, per_minute: 125, minimum_inr: 90, fee_inr: 35 },
    DemoFare { class: VehicleClass::Sedan, seats: 4, base_inr: 80, included_km: 20, per_km: 1_700, per_minute: 150, minimum_inr: 120, fee_inr: 50 },
    DemoFare { class: VehicleClass::Suv, seats: 6, base_inr: 120, included_km: 20, per_km: 2_350, per_minute: 200, minimum_inr: 180, fee_inr: 75 },
];

/// Code, from, until, hundredths. Mornings and evenings of working days, and late at night.
const SURGES: [(&str, &str, &str, i64); 3] =
    [("MORNING", "08:00", "10:30", 120), ("EVENING", "17:30", "20:30", 130), ("NIGHT", "23:00", "24:00", 115)];

struct DemoDriver {
    name: &'static str,
    class: VehicleClass,
    vehicle: &'static str,
    /// Millionths of degrees.
    at: (i64, i64),
    /// Tenths.
    rating: i64,
}

#[rustfmt::skip]
const DRIVERS: [DemoDriver; 12] = [
    DemoDriver { name: "Ravi Demo", class: VehicleClass::Bike, vehicle: "Honda Activa", at: (12_975_300, 77_606_500), rating: 46 },
    DemoDriver { name: "Salma Demo", class: VehicleClass::Bike, vehicle: "TVS Jupiter", at: (12_936_100, 77_623_800), rating: 48 },
    DemoDriver { name: "Manju Demo", class: VehicleClass::Auto, vehicle: "Bajaj RE", at: (12_972_900, 77_603_100), rating: 44 },
    DemoDriver { name: "Iqbal Demo", class: VehicleClass::Auto, vehicle: "Piaggio Ape City", at: (12_978_800, 77_640_200), rating: 47 },
    DemoDriver { name: "Kavitha Demo", class: VehicleClass::Mini, vehicle: "Maruti Suzuki WagonR", at: (12_969_400, 77_600_900), rating: 48 },
    DemoDriver { name: "Joseph Demo", class: VehicleClass::Mini, vehicle: "Tata Tiago", at: (12_980_700, 77_612_300), rating: 45 },
    DemoDriver { name: "Nagaraj Demo", class: VehicleClass::Mini, vehicle: "Hyundai Grand i10", at: (12_934_900, 77_612_700), rating: 43 },
    DemoDriver { name: "Prakash Demo", class: VehicleClass::Sedan, vehicle: "Maruti Suzuki Dzire", at: (12_974_100, 77_609_800), rating: 49 },
    DemoDriver { name: "Fatima Demo", class: VehicleClass::Sedan, vehicle: "Hyundai Aura", at: (12_965_200, 77_597_400), rating: 47 },
    DemoDriver { name: "Gowda Demo", class: VehicleClass::Sedan, vehicle: "Toyota Etios", at: (12_930_800, 77_628_500), rating: 46 },
    DemoDriver { name: "Thomas Demo", class: VehicleClass::Suv, vehicle: "Toyota Innova", at: (12_981_600, 77_600_700), rating: 48 },
    DemoDriver { name: "Lakshmi Demo", class: VehicleClass::Suv, vehicle: "Maruti Suzuki Ertiga", at: (12_959_900, 77_640_900), rating: 46 },
];

/// Its fares, surges and drivers, as steps to commit. `new_id` generates an id with a prefix.
pub fn rows(now: Millis, new_id: &mut dyn FnMut(&str) -> String) -> (Vec<Step>, Vec<Event>) {
    // Whole seconds, the precision of published times.
    let now = Millis(now.seconds() * 1000);
    let mut rows = RideRows { now, new_id, steps: Vec::new(), events: Vec::new() };
    for fare in FARES {
        rows.add(FareTable {
            fare_code: format!("BLR-{}", fare.class.as_str().to_uppercase()).as_str().into(),
            city: CITY.into(),
            vehicle_class: fare.class,
            seats: Integer::clamped(fare.seats),
            base_fare_inr: Integer::clamped(fare.base_inr),
            included_km: FixedDecimal::scaled(fare.included_km),
            per_km_inr: FixedDecimal::scaled(fare.per_km),
            per_minute_inr: FixedDecimal::scaled(fare.per_minute),
            minimum_fare_inr: Integer::clamped(fare.minimum_inr),
            tax_percent: Integer::constant::<5>(),
            road_factor: FixedDecimal::scaled(135),
            speed_kmh: Integer::constant::<22>(),
            max_km: Integer::constant::<60>(),
            pickup_km: Integer::constant::<15>(),
            free_cancel_minutes: Integer::constant::<5>(),
            cancel_fee_inr: Integer::clamped(fare.fee_inr),
            no_show_fee_inr: Integer::clamped(fare.fee_inr.saturating_mul(2)),
            status: FareStatus::Offered,
        });
    }
    for (code, from, until, multiplier) in SURGES {
        use Weekday::{Friday, Monday, Thursday, Tuesday, Wednesday};
        rows.add(SurgeRule {
            surge_code: format!("BLR-{code}").as_str().into(),
            city: CITY.into(),
            vehicle_class: None,
            weekdays: List(vec![Monday, Tuesday, Wednesday, Thursday, Friday]),
            from_time: from.into(),
            until_time: until.into(),
            multiplier: FixedDecimal::scaled(multiplier),
            status: FareStatus::Offered,
        });
    }
    for (place, driver) in DRIVERS.into_iter().enumerate() {
        let number = place.saturating_add(1);
        rows.add(Driver {
            driver_code: format!("DRV-{number:02}").as_str().into(),
            name: driver.name.into(),
            // The first digit of a subscriber's number is never 0 in India, so that this is nobody's.
            phone: format!("+910000000{number:03}").as_str().into(),
            vehicle_class: driver.class,
            vehicle: driver.vehicle.into(),
            plate: format!("KA00DM{number:04}").as_str().into(),
            city: CITY.into(),
            latitude: FixedDecimal::scaled(driver.at.0),
            longitude: FixedDecimal::scaled(driver.at.1),
            rating: FixedDecimal::scaled(driver.rating),
            status: DriverStatus::Available,
            booking_id: None,
        });
    }
    (rows.steps, rows.events)
}

struct RideRows<'a> {
    now: Millis,
    new_id: &'a mut dyn FnMut(&str) -> String,
    steps: Vec<Step>,
    events: Vec<Event>,
}

impl RideRows<'_> {
    fn add<R: Stored>(&mut self, record: R) {
        // The id of the demo's business is valid, so this does not happen.
        let Some(tenant) = TenantId::parse(BUSINESS.0) else { return };
        let entity = Entity::new((self.new_id)(R::ID_PREFIX), tenant, self.now, record);
        self.events.push(Event { kind: R::TABLE_NAME, id: entity.id.clone(), change: Change::Created });
        let on_duplicate = Fault::internal("demo data exists already");
        self.steps.push(Step::Insert { table: R::table(), row: entity.row(TENANT), on_duplicate });
    }
}
