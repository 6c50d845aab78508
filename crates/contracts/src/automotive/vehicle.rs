//! A vehicle in stock. It has no personal data.

mod stock_rules;

use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::model::page::Direction;
use frontdesk_engine::model::plan::Change;
use frontdesk_engine::{Code, Fault};
use serde_json::{Map, Value};

use super::codes::CodeSpec;
use super::deal::Deal;
use super::domains::{self, Domain};
use super::resource::{Resource, ResourceApi, ResourceParts, Withdrawal, WriteContext};
use super::values::{Distance, Money};
use super::vin::Vin;
use crate::record::filter::{equals, range, words};
use crate::record::{Entity, FilterArgument, Integer, List, NameText, Ref, SortOption, Text, Timestamp};
use crate::{Record, Vocabulary};
pub use stock_rules::VEHICLE_UNAVAILABLE;

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum VehicleCondition { New, Used, CertifiedPreOwned, Demo, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum VehicleStatus { Available, InTransit, OnOrder, Pending, Reserved, OnHold, Sold, Wholesale, Unavailable, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum VinCheck { Verified, NotVerified, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum BodyStyle { Sedan, Coupe, Hatchback, Wagon, Convertible, Suv, Crossover, Pickup, Van, Minivan, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum FuelType { Gasoline, Diesel, Electric, Hybrid, PlugInHybrid, FlexFuel, Hydrogen, NaturalGas, Propane, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum Transmission { Automatic, Manual, Cvt, DualClutch, AutomatedManual, DirectDrive, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum Drivetrain { Fwd, Rwd, Awd, FourWd, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum MediaType { Image, Video, Document, Unknown }

#[derive(Debug, Clone, PartialEq, Record)]
#[table("vehicle", prefix = "veh", not_found = "inventory.not_found", partial_key = stock_rules::LIVE_VIN)]
pub struct Vehicle {
    /// Vehicle identification number. A car that was sold and came back is a new unit with the same number.
    #[field(create, indexed, searched)]
    pub vin: Text<17>,
    /// Whether the VIN's check digit is right. not_verified is no error outside North America; read the number again.
    #[default(VinCheck::Unknown)]
    pub vin_check: VinCheck,
    /// The dealership's own number.
    #[field(create, update, unique, searched)]
    pub stock_number: Text<40>,
    /// New or used.
    #[field(create, update, known, column)]
    pub condition: VehicleCondition,
    /// Model year.
    #[field(create, update, sorted, searched)]
    pub year: Integer<1900, 2100>,
    /// Make, such as Toyota.
    #[field(create, update, column = "make_key", indexed, searched)]
    pub make: NameText<60>,
    /// Model, such as RAV4.
    #[field(create, update, column = "model_key", searched)]
    pub model: NameText<60>,
    /// Trim level.
    #[field(create, update, searched)]
    pub trim: Option<Text<80>>,
    /// Body style.
    #[field(create, update, column, searched)]
    #[default(BodyStyle::Unknown)]
    pub body_style: BodyStyle,
    /// Number of doors.
    #[field(create, update)]
    pub doors: Option<Integer<0, 9>>,
    /// Odometer reading.
    #[field(create, update, column = "mileage_mm", sorted)]
    pub mileage: Distance,
    /// Colour outside.
    #[field(create, update, searched)]
    pub exterior_color: Option<Text<60>>,
    /// Colour inside.
    #[field(create, update, searched)]
    pub interior_color: Option<Text<60>>,
    /// Engine.
    #[field(create, update)]
    pub engine: Option<Text<120>>,
    /// Transmission.
    #[field(create, update)]
    #[default(Transmission::Unknown)]
    pub transmission: Transmission,
    /// Driven wheels.
    #[field(create, update)]
    #[default(Drivetrain::Unknown)]
    pub drivetrain: Drivetrain,
    /// What it runs on.
    #[field(create, update, column, searched)]
    #[default(FuelType::Unknown)]
    pub fuel_type: FuelType,
    /// Equipment.
    #[field(create, update)]
    #[default(List::default())]
    pub options: List<Equipment, 200>,
    /// Pictures and other media.
    #[field(create, update)]
    #[default(List::default())]
    pub media: List<Medium, 200>,
    /// Asking price.
    #[field(create, update, column("price_minor", "currency"), sorted)]
    pub price: Money,
    /// Asking prices so far, the oldest first, the current one last; 20 at most.
    #[default(List::default())]
    pub price_history: List<PricePoint, 20>,
    /// The manufacturer's suggested price.
    #[field(create, update)]
    pub msrp: Option<Money>,
    /// Whether it can be bought.
    #[field(create, update, known, indexed, receipt)]
    #[default(VehicleStatus::Available)]
    pub status: VehicleStatus,
    /// The deal that reserves it or has sold it, and decides its status.
    pub held_by: Option<VehicleHold>,
    /// When it came into stock.
    #[field(create, update, column)]
    #[default(|new| new.now)]
    pub in_stock_at: Timestamp,
    /// When it was sold; absent otherwise, and for units sold before this was recorded.
    #[field(column)]
    pub sold_at: Option<Timestamp>,
    /// The dealership's words about it.
    #[field(create, update, searched)]
    pub description: Option<Text<4000>>,
}

#[derive(Debug, Clone, PartialEq, Record)]
pub struct PricePoint {
    /// Since when it was asked.
    pub at: Timestamp,
    /// The asking price.
    pub price: Money,
}

#[derive(Debug, Clone, PartialEq, Record)]
pub struct VehicleHold {
    /// The deal's id.
    pub deal_id: Ref<Deal>,
    /// The status it goes back to if the deal is cancelled before delivery.
    pub status_before: VehicleStatus,
}

#[derive(Debug, Clone, PartialEq, Record)]
pub struct Equipment {
    /// The manufacturer's code.
    pub code: Option<Text<40>>,
    /// What it is.
    #[field(searched)]
    pub name: Text<200>,
}

#[derive(Debug, Clone, PartialEq, Record)]
pub struct Medium {
    /// Where it can be fetched.
    pub url: Text<2000>,
    /// What it is.
    pub r#type: MediaType,
    /// What it shows, in words.
    pub alt: Text<300>,
    /// Its place among the others, from 0.
    pub order: Integer<0, 1000>,
}

pub(super) const DUPLICATE: CodeSpec = CodeSpec {
    code: Code("inventory.duplicate"),
    means: "The dealership has a vehicle with this stock number already, or one with this VIN that is not sold.",
    next: "Find it with `inventory.search` and change that one.",
};

impl Resource for Vehicle {
    const DOMAIN: &'static Domain = &domains::INVENTORY;
    const DUPLICATE: CodeSpec = DUPLICATE;
    /// One that is being sold, or is held for another reason, keeps its status when a feed no longer lists it.
    const WITHDRAWAL: Option<Withdrawal> = Some(Withdrawal {
        field: "status",
        listed: &["available", "in_transit", "on_order"],
        withdrawn: "unavailable",
    });

    fn match_text(field: &str, text: &str) -> String {
        match (field, Vin::parse(text)) {
            ("vin", Ok(vin)) => vin.as_str().to_owned(),
            _ => text.to_owned(),
        }
    }

    /// What is listed again is for sale again. A deal decides the status of its vehicle, not a feed.
    fn on_listed(vehicle: &Vehicle, arguments: &mut Map<String, Value>) {
        if vehicle.held_by.is_some() {
            arguments.remove("status");
            return;
        }
        if vehicle.status == VehicleStatus::Unavailable && !arguments.contains_key("status") {
            arguments.insert("status".to_owned(), Value::from("available"));
        }
    }

    /// A withdrawn vehicle is gone for who follows the stock.
    fn change(before: &Vehicle, after: &Vehicle) -> Change {
        let is_withdrawn = |vehicle: &Vehicle| vehicle.status == VehicleStatus::Unavailable;
        match (is_withdrawn(before), is_withdrawn(after)) {
            (false, true) => Change::Deleted,
            (true, false) => Change::Created,
            (true, true) | (false, false) => Change::Updated,
        }
    }

    fn on_create(entity: &mut Entity<Vehicle>, context: &WriteContext<'_>) -> Result<(), Fault> {
        let vehicle = &mut entity.record;
        let vin =
            Vin::parse(&vehicle.vin).map_err(|error| Fault::invalid_argument("/vin", "pattern", error.to_string()))?;
        vehicle.vin = vin.as_str().into();
        vehicle.vin_check = VinCheck::of(&vin);
        vehicle.note_price(context.now());
        vehicle.note_sale(VehicleStatus::Unknown, context.now());
        check_against(&vin, vehicle.year, &vehicle.make)
    }

    fn on_update(
        before: &Entity<Vehicle>,
        after: &mut Entity<Vehicle>,
        context: &WriteContext<'_>,
    ) -> Result<(), Fault> {
        stock_rules::check_status(&before.record, &after.record)?;
        after.record.note_sale(before.record.status, context.now());
        if before.record.price != after.record.price {
            after.record.note_change_of_price(before, context.now());
        }
        let Ok(vin) = Vin::parse(&after.record.vin) else {
            return Ok(());
        };
        after.record.vin_check = VinCheck::of(&vin);
        if context.is_named("year") || context.is_named("make") {
            return check_against(&vin, after.record.year, &after.record.make);
        }
        Ok(())
    }
}

/// Year and make must be those that the VIN says, as far as it says them.
pub(super) fn check_against(vin: &Vin, year: Integer<1900, 2100>, make: &NameText<60>) -> Result<(), Fault> {
    let wrong_year = vin.year().filter(|said| i64::from(*said) != year.get());
    let wrong_make = vin.make().filter(|said| !NameText::<60>::from(*said).is_like(make));
    let problem = |pointer: &str, said: String| Problem {
        pointer: pointer.to_owned(),
        keyword: "const",
        expected: format!("the VIN says {said}"),
    };
    let problems = [
        wrong_year.map(|year| problem("/year", year.to_string())),
        wrong_make.map(|make| problem("/make", make.to_owned())),
    ];
    let problems: Vec<Problem> = problems.into_iter().flatten().collect();
    if problems.is_empty() { Ok(()) } else { Err(Fault::invalid(problems)) }
}

const LISTED_BY: &[FilterArgument] =
    &[equals("status", "Only vehicles with this status."), equals("condition", "Only vehicles of this condition.")];

const SEARCHED_BY: &[FilterArgument] = &[
    words("text", "Words that must all occur: make, model, trim, colour, equipment, description, stock number, VIN."),
    equals("make", "Make, such as Toyota; case does not matter."),
    equals("model", "Model, such as RAV4; case does not matter."),
    equals("stock_number", "The vehicle with this stock number."),
    equals("vin", "Whole VIN in capitals; also finds units that were sold before."),
    equals("condition", "New or used."),
    equals("status", "Whether it can be bought."),
    equals("body_style", "Body style."),
    equals("fuel_type", "What it runs on."),
    range("year", ("year_min", "Model year from."), ("year_max", "Model year to.")),
    range(
        "price",
        ("price_min", "Price from, in minor units (2499999 is 24,999.99 USD); finds only prices in this currency."),
        ("price_max", "Price to, in minor units (2499999 is 24,999.99 USD); finds only prices in this currency."),
    ),
    range("mileage", ("mileage_min", "Odometer reading from."), ("mileage_max", "Odometer reading to.")),
];

const SORTED_BY: &[SortOption] = &[
    SortOption { word: "price_asc", field: "price", direction: Direction::Ascending },
    SortOption { word: "price_desc", field: "price", direction: Direction::Descending },
    SortOption { word: "year_desc", field: "year", direction: Direction::Descending },
    SortOption { word: "year_asc", field: "year", direction: Direction::Ascending },
    SortOption { word: "mileage_asc", field: "mileage", direction: Direction::Ascending },
    SortOption { word: "mileage_desc", field: "mileage", direction: Direction::Descending },
];

pub fn resource() -> ResourceParts {
    ResourceApi::<Vehicle>::new("inventory", "The vehicle's id, as lists give it; not its VIN.")
        .routed_as("vehicles")
        .list(
            "inventory.list",
            "List stock",
            "Lists the dealership's vehicles, newest first, page by page.",
            LISTED_BY,
            ("Stock", "Vehicles of the dealership, newest first."),
        )
        .search(
            "inventory.search",
            "Search stock",
            "Finds vehicles by words, make, model, year, price, mileage, condition, status, body style and \
                    fuel, in the order asked for, page by page.",
            SEARCHED_BY,
            SORTED_BY,
        )
        .get("inventory.get", "Get a vehicle", "Reads one vehicle by its id.", ("Vehicle", "One vehicle by its id."))
        .create(
            "inventory.create",
            "Add a vehicle",
            "Adds a vehicle to the stock. Its year and make must be those of its VIN; a VIN may come back once \
                    the unit before is sold. vin_check not_verified means that the check digit does not prove the \
                    number: have it read again. Without amcp:inventory:read the answer is a receipt.",
            Vec::new(),
            &[],
        )
        .update(
            "inventory.update",
            "Update a vehicle",
            "Changes what is named, such as price, mileage or status. options and media replace all those \
                    before. A sold vehicle must go on_hold before it is available \
                    again; one that a deal holds changes its status with that deal. Without amcp:inventory:read the \
                    answer is a receipt.",
            &[stock_rules::INVALID_TRANSITION, stock_rules::HELD_BY_DEAL],
        )
        .parts()
}
