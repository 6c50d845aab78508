//! A vehicle in stock. It has no personal data.

use frontdesk_engine::model::page::Direction;
use frontdesk_engine::{Code, Fault};

use super::codes::CodeSpec;
use super::domains::{self, Domain};
use super::resource::{Resource, ResourceApi, ResourceParts, WriteContext};
use super::values::{Distance, Money};
use super::vin::Vin;
use crate::record::filter::{equals, range, words};
use crate::record::{Entity, FilterArgument, Integer, List, NameText, SortOption, Text, Timestamp};
use crate::{Record, Vocabulary};

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum VehicleCondition { New, Used, CertifiedPreOwned, Demo, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum VehicleStatus { Available, InTransit, OnOrder, Pending, Reserved, OnHold, Sold, Wholesale, Unavailable, Unknown }

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
#[table("vehicle", prefix = "veh", not_found = "inventory.not_found")]
pub struct Vehicle {
    /// Vehicle identification number.
    #[field(create, unique, searched)]
    pub vin: Text<17>,
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
    pub trim: Text<80>,
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
    /// The manufacturer's suggested price.
    #[field(create, update)]
    pub msrp: Option<Money>,
    /// Whether it can be bought.
    #[field(create, update, known, indexed, receipt)]
    #[default(VehicleStatus::Available)]
    pub status: VehicleStatus,
    /// When it came into stock.
    #[field(create, update)]
    #[default(|new| new.now)]
    pub in_stock_at: Timestamp,
    /// The dealership's words about it.
    #[field(create, update, searched)]
    pub description: Option<Text<4000>>,
}

#[derive(Debug, Clone, PartialEq, Record)]
pub struct Equipment {
    /// The manufacturer's code.
    pub code: Text<40>,
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

const DUPLICATE: CodeSpec = CodeSpec {
    code: Code("inventory.duplicate"),
    means: "The dealership has a vehicle with this VIN or stock number already.",
    next: "Find it with `inventory.search` and change that one.",
};

impl Resource for Vehicle {
    const DOMAIN: &'static Domain = &domains::INVENTORY;
    const DUPLICATE: CodeSpec = DUPLICATE;

    fn on_create(entity: &mut Entity<Vehicle>, _: &WriteContext<'_>) -> Result<(), Fault> {
        let vehicle = &mut entity.record;
        let vin =
            Vin::parse(&vehicle.vin).map_err(|error| Fault::invalid_argument("/vin", "pattern", error.to_string()))?;
        vehicle.vin = vin.as_str().into();
        vehicle.check_against(&vin)
    }

    fn on_update(_: &Entity<Vehicle>, after: &mut Entity<Vehicle>, context: &WriteContext<'_>) -> Result<(), Fault> {
        match Vin::parse(&after.record.vin) {
            Ok(vin) if context.is_named("year") || context.is_named("make") => after.record.check_against(&vin),
            Ok(_) | Err(_) => Ok(()),
        }
    }
}

impl Vehicle {
    /// Year and make must be those that the VIN says, as far as it says them.
    fn check_against(&self, vin: &Vin) -> Result<(), Fault> {
        if let Some(year) = vin.year().filter(|year| i64::from(*year) != self.year.get()) {
            return Err(Fault::invalid_argument("/year", "const", format!("the VIN says {year}")));
        }
        match vin.make().filter(|make| !NameText::<60>::from(*make).is_like(&self.make)) {
            Some(make) => Err(Fault::invalid_argument("/make", "const", format!("the VIN says {make}"))),
            None => Ok(()),
        }
    }
}

const LISTED_BY: &[FilterArgument] =
    &[equals("status", "Only vehicles with this status."), equals("condition", "Only vehicles of this condition.")];

const SEARCHED_BY: &[FilterArgument] = &[
    words("text", "Words that must all occur: make, model, trim, colour, equipment, description, stock number, VIN."),
    equals("make", "Make, such as Toyota; case does not matter."),
    equals("model", "Model, such as RAV4; case does not matter."),
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
            "Adds a vehicle to the stock. Its year and make must be those of its VIN. Without \
                    amcp:inventory:read the answer is a receipt.",
            Vec::new(),
            &[],
        )
        .update(
            "inventory.update",
            "Update a vehicle",
            "Changes what is named, such as price, mileage or status. options and media replace all those \
                    before; null clears what need not be there. Without amcp:inventory:read the answer is a receipt.",
            &[],
        )
        .parts()
}
