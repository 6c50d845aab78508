//! Drivers of the business. They come in by import; a ride takes one and gives them back. A telephone number never leaves:
//! what a caller sees of a driver is a first name, a rating and the vehicle.

use frontdesk_engine::model::page::{Filter, Projection, Query, Start, Window};
use frontdesk_engine::model::plan::{OnConflict, Step};
use frontdesk_engine::model::table::Cell;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Fault, Permitted};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::fare_table::VehicleClass;
use crate::automotive::erasure::PersonRecord;
use crate::record::filter::NEWEST;
use crate::record::import::{Imported, Withdrawal};
use crate::record::{
    ERASED, Email, Entity, FixedDecimal, NameText, PersonName, Phone, Stored as _, Text, Vocabulary as _,
};
use crate::tomo::TENANT;
use crate::tomo::known_facts::{Fact, decimal, text};
use crate::tomo::listing::place::{Point, city_keys};
use crate::tomo::managed::Managed;
use crate::{Record, Vocabulary};

/// Whether a ride can be given to a driver.
#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum DriverStatus { Available, Busy, Off, Unknown }

/// How many free drivers one call looks at.
const MAX_DRIVERS: usize = 500;

#[derive(Debug, Clone, PartialEq, Record)]
#[table("tomo_driver", prefix = "drv", not_found = "NOT_FOUND", noun = "driver")]
pub struct Driver {
    /// The business's own short name for the driver.
    #[field(create, unique)]
    pub driver_code: Text<40>,
    /// Name. Callers see the first word of it.
    #[field(create, update)]
    pub name: PersonName,
    /// Telephone number in E.164 form. It never leaves.
    #[field(create, update, indexed)]
    pub phone: Phone,
    /// Class of the vehicle.
    #[field(create, update, known, indexed)]
    pub vehicle_class: VehicleClass,
    /// Make and model, such as Maruti Suzuki Dzire.
    #[field(create, update)]
    pub vehicle: Text<80>,
    /// Registration plate, such as KA01AB1234.
    #[field(create, update, sealed)]
    pub plate: Text<20>,
    /// City.
    #[field(create, update, indexed)]
    pub city: NameText<80>,
    /// Degrees north, such as 12.9352.
    #[field(create, update, column)]
    pub latitude: FixedDecimal<6, -90, 90>,
    /// Degrees east, such as 77.6245.
    #[field(create, update, column)]
    pub longitude: FixedDecimal<6, -180, 180>,
    /// What riders say on average, from 0 to 5, such as 4.7.
    #[field(create, update)]
    pub rating: FixedDecimal<1, 0, 5>,
    /// Whether a ride can be given to the driver.
    #[field(create, update, known, indexed)]
    #[default(DriverStatus::Available)]
    pub status: DriverStatus,
    /// The ride that the driver has now.
    pub booking_id: Option<Text<64>>,
}

impl Driver {
    pub(super) fn position(&self) -> Point {
        Point { latitude: self.latitude.get(), longitude: self.longitude.get() }
    }

    fn is_free(&self) -> bool {
        self.status == DriverStatus::Available && self.booking_id.is_none()
    }

    fn give_back(&mut self, at: Option<Point>) {
        self.booking_id = None;
        // One who went off duty meanwhile stays so.
        if self.status == DriverStatus::Busy {
            self.status = DriverStatus::Available;
        }
        if let Some(at) = at {
            self.latitude = FixedDecimal::scaled(coarse(at.latitude));
            self.longitude = FixedDecimal::scaled(coarse(at.longitude));
        }
    }
}

/// To hundredths of a degree, about a kilometre: drivers are found by their position, so that it is stored in clear, and
/// where a ride has ended is the rider's.
fn coarse(millionths: i64) -> i64 {
    const HUNDREDTH: i64 = 10_000;
    millionths.saturating_add(HUNDREDTH / 2).div_euclid(HUNDREDTH).saturating_mul(HUNDREDTH)
}

/// A free driver, from a list: without anything personal.
#[derive(Debug, Clone)]
pub(super) struct FreeDriver {
    pub(super) id: String,
    pub(super) vehicle_class: VehicleClass,
    pub(super) position: Point,
    /// Of the straight line.
    pub(super) metres: i64,
}

#[derive(Deserialize)]
struct ListedDriver {
    id: String,
    vehicle_class: String,
    latitude: f64,
    longitude: f64,
}

/// The free drivers of a city that are this near, the nearest first.
pub(super) async fn free_near(
    permitted: &Permitted<'_>,
    city: &str,
    at: Point,
    metres: i64,
) -> Result<Vec<FreeDriver>, Fault> {
    let (south, north) = at.latitudes_within(metres);
    let (west, east) = at.longitudes_within(metres);
    let filters = vec![
        Filter::AnyOf("city", city_keys(city).into_iter().map(Cell::Text).collect()),
        Filter::Equals("status", Cell::Text(DriverStatus::Available.as_str().to_owned())),
        Filter::AtLeast("latitude", south),
        Filter::AtMost("latitude", north),
        Filter::AtLeast("longitude", west),
        Filter::AtMost("longitude", east),
    ];
    let mut found = Vec::new();
    let mut start = Start::First;
    while found.len() < MAX_DRIVERS {
        let limit = MAX_DRIVERS.saturating_sub(found.len());
        let window = Window { start, limit, bytes: permitted.window().bytes };
        let query = Query {
            projection: Projection::Rows,
            table: Driver::table(),
            filters: filters.clone(),
            order: NEWEST,
            window,
        };
        let page = permitted.page(query).await?;
        for body in page.rows {
            let listed: ListedDriver =
                serde_json::from_str(&body).map_err(|_| Fault::internal("a stored driver cannot be read"))?;
            let position = Point::from_degrees(listed.latitude, listed.longitude);
            found.push(FreeDriver {
                id: listed.id,
                vehicle_class: VehicleClass::from_word(&listed.vehicle_class),
                position,
                metres: position.metres_to(at),
            });
        }
        match page.next {
            Some(next) => start = Start::After(next),
            None => break,
        }
    }
    found.retain(|driver| driver.metres <= metres);
    found.sort_by(|one, other| one.metres.cmp(&other.metres).then_with(|| one.id.cmp(&other.id)));
    Ok(found)
}

/// The nearest free driver of a class, if there is one.
pub(super) async fn nearest(
    permitted: &Permitted<'_>,
    (city, class): (&str, VehicleClass),
    at: Point,
    metres: i64,
) -> Result<Option<Entity<Driver>>, Fault> {
    let near = free_near(permitted, city, at, metres).await?;
    for driver in near.into_iter().filter(|driver| driver.vehicle_class == class) {
        let driver = find(permitted, &driver.id).await?;
        if let Some(driver) = driver.filter(|driver| driver.record.is_free()) {
            return Ok(Some(driver));
        }
    }
    Ok(None)
}

/// The free driver with this code.
pub(super) async fn free_by_code(permitted: &Permitted<'_>, code: &str) -> Result<Option<Entity<Driver>>, Fault> {
    let Some(row) = permitted.find(Driver::table(), "driver_code", Cell::Text(code.to_owned())).await? else {
        return Ok(None);
    };
    Ok(find(permitted, &row.id).await?.filter(|driver| driver.record.is_free()))
}

pub(super) async fn find(permitted: &Permitted<'_>, id: &str) -> Result<Option<Entity<Driver>>, Fault> {
    let row = permitted.get_to_change(Driver::table(), id).await?;
    row.map(|row| Entity::restore(permitted.tenant(), &row)).transpose()
}

/// Gives a ride to a driver. If somebody else has changed the driver, the whole call runs again.
pub(super) fn take(mut driver: Entity<Driver>, booking_id: &str, now: Millis) -> Step {
    driver.record.status = DriverStatus::Busy;
    driver.record.booking_id = Some(booking_id.into());
    update(driver, now)
}

/// The driver of a ride that is over is free again, where they are now if that is known.
pub(super) async fn release(
    permitted: &Permitted<'_>,
    driver_id: &str,
    booking_id: &str,
    at: Option<Point>,
) -> Result<Vec<Step>, Fault> {
    let has_ride = |driver: &Entity<Driver>| driver.record.booking_id.as_deref() == Some(booking_id);
    let Some(mut driver) = find(permitted, driver_id).await?.filter(has_ride) else { return Ok(Vec::new()) };
    driver.record.give_back(at);
    Ok(vec![update(driver, permitted.now())])
}

fn update(mut driver: Entity<Driver>, now: Millis) -> Step {
    let expect_version = driver.version;
    driver.version = expect_version.saturating_add(1);
    driver.updated_at = now;
    Step::Update {
        table: Driver::table(),
        row: driver.row(TENANT),
        expect_version,
        on_conflict: OnConflict::Retry,
        on_duplicate: Fault::internal("the code of a driver is taken"),
    }
}

/// What a caller sees of a driver.
pub(super) const DRIVER: &[Fact] = &[text("first_name"), decimal("rating"), text("vehicle"), text("plate")];

pub(super) fn driver_facts(driver: &Driver) -> Value {
    json!({
        "first_name": driver.name.split_whitespace().next(),
        "rating": driver.rating.to_f64(),
        "vehicle": &*driver.vehicle,
        "plate": &*driver.plate,
    })
}

/// The driver of every ride of the sandbox.
pub(super) fn sandbox_driver() -> Value {
    json!({"first_name": "Sandbox", "rating": 5.0, "vehicle": "Sandbox vehicle", "plate": "KA00XX0000"})
}

impl Imported for Driver {
    const WITHDRAWAL: Option<Withdrawal> =
        Some(Withdrawal { field: "status", listed: &["available", "busy"], withdrawn: "off" });

    fn on_listed(record: &Driver, arguments: &mut Map<String, Value>) {
        if record.status == DriverStatus::Off {
            arguments.entry("status").or_insert_with(|| Value::from("available"));
        }
    }
}

impl Managed for Driver {
    async fn check(&mut self, _: &Permitted<'_>) -> Result<(), Fault> {
        // A file that was written before the ride was booked does not take it away.
        if self.booking_id.is_some() && self.status == DriverStatus::Available {
            self.status = DriverStatus::Busy;
        }
        if self.name.split_whitespace().next().is_none() {
            return Err(Fault::invalid_argument("/name", "pattern", "at least one letter is expected"));
        }
        Ok(())
    }
}

impl PersonRecord for Driver {
    const TENANT_MEMBER: &'static str = TENANT;

    fn email(&self) -> Option<&Email> {
        None
    }

    fn phone(&self) -> Option<&Phone> {
        Some(&self.phone)
    }

    fn customer_id(&self) -> Option<&str> {
        None
    }

    /// The ride that the driver has is still given back.
    fn erase(&mut self) {
        let Driver {
            driver_code: _,
            name,
            phone,
            vehicle_class: _,
            vehicle: _,
            plate,
            city: _,
            latitude,
            longitude,
            rating: _,
            status,
            booking_id: _,
        } = self;
        *name = ERASED.into();
        *phone = ERASED.into();
        *plate = ERASED.into();
        *latitude = FixedDecimal::scaled(0);
        *longitude = FixedDecimal::scaled(0);
        *status = DriverStatus::Off;
    }
}
