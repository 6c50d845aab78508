//! A vehicle in stock: its table, its published schema and its row. It has no personal data.

use frontdesk_engine::Fault;
use frontdesk_engine::model::schema::{Schema, TextFormat, optional, required};
use frontdesk_engine::model::table::{Cell, ColumnSpec, ColumnType, Row, SearchTerm, TableSpec, search_terms};
use frontdesk_engine::model::timestamp::Millis;
use serde::Serialize;

use super::json;
use super::schemas;
use super::values::{Distance, Money, instant};
use super::vocabulary::{
    BodyStyle, Drivetrain, FuelType, MediaType, Transmission, VehicleCondition, VehicleStatus, Vocabulary,
    VocabularyTerm,
};

pub const PREFIX: &str = "veh";

pub static TABLE: TableSpec = TableSpec {
    name: "vehicle",
    columns: &[
        text("vin"),
        text("stock_number"),
        text("make_key"),
        text("model_key"),
        integer("year"),
        integer("price_minor"),
        text("currency"),
        integer("mileage_mm"),
        text("condition"),
        text("status"),
        text("body_style"),
        text("fuel_type"),
    ],
    unique: &["vin", "stock_number"],
    sorted: &["price_minor", "year", "mileage_mm"],
    filtered: &["make_key", "status"],
    searched: &[],
    index: None,
};

#[derive(Debug, Clone, Serialize)]
pub struct Vehicle {
    pub id: String,
    pub r#type: &'static str,
    pub dealership_id: String,
    pub vin: String,
    pub stock_number: String,
    pub condition: VocabularyTerm<VehicleCondition>,
    pub year: i64,
    pub make: String,
    pub model: String,
    pub trim: String,
    pub body_style: VocabularyTerm<BodyStyle>,
    pub doors: i64,
    pub mileage: Distance,
    pub exterior_color: String,
    pub interior_color: String,
    pub engine: String,
    pub transmission: VocabularyTerm<Transmission>,
    pub drivetrain: VocabularyTerm<Drivetrain>,
    pub fuel_type: VocabularyTerm<FuelType>,
    pub options: Vec<Equipment>,
    pub media: Vec<Medium>,
    pub price: Money,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub msrp: Option<Money>,
    pub status: VocabularyTerm<VehicleStatus>,
    #[serde(with = "instant")]
    pub in_stock_at: Millis,
    pub description: String,
    #[serde(with = "instant")]
    pub created_at: Millis,
    #[serde(with = "instant")]
    pub updated_at: Millis,
    pub version: i64,
}

#[derive(Debug, Clone, Serialize)]
pub struct Equipment {
    pub code: String,
    pub name: String,
}

#[derive(Debug, Clone, Serialize)]
pub struct Medium {
    pub url: String,
    pub r#type: VocabularyTerm<MediaType>,
    pub alt: String,
    pub order: i64,
}

impl Vehicle {
    pub fn row(&self) -> Result<Row, Fault> {
        let body = json::write("a vehicle", self)?;
        Ok(Row {
            id: self.id.clone(),
            version: self.version,
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
            cells: vec![
                ("vin", Cell::Text(self.vin.clone())),
                ("stock_number", Cell::Text(self.stock_number.clone())),
                ("make_key", Cell::Text(key(&self.make))),
                ("model_key", Cell::Text(key(&self.model))),
                ("year", Cell::Integer(self.year)),
                ("price_minor", Cell::Integer(self.price.amount)),
                ("currency", Cell::Text(self.price.currency.clone())),
                ("mileage_mm", Cell::Integer(self.mileage.millimetres())),
                ("condition", Cell::Text(self.condition.as_str().to_owned())),
                ("status", Cell::Text(self.status.as_str().to_owned())),
                ("body_style", Cell::Text(self.body_style.as_str().to_owned())),
                ("fuel_type", Cell::Text(self.fuel_type.as_str().to_owned())),
            ],
            search_terms: self.words(),
            body,
            masked: None,
            personal: None,
            secret: None,
        })
    }

    /// The words that a text search finds the vehicle by.
    fn words(&self) -> Vec<SearchTerm> {
        let year = self.year.to_string();
        let mut texts = vec![
            self.make.as_str(),
            &self.model,
            &self.trim,
            &year,
            &self.exterior_color,
            &self.interior_color,
            self.body_style.as_str(),
            self.fuel_type.as_str(),
            &self.stock_number,
            &self.vin,
            &self.description,
        ];
        texts.extend(self.options.iter().map(|option| option.name.as_str()));
        search_terms(&texts.join(" ")).into_iter().map(SearchTerm::Plain).collect()
    }
}

/// Makes and models are compared in this form: `F-150` and `f 150` are equal.
pub fn key(name: &str) -> String {
    search_terms(name).join(" ")
}

pub fn schema() -> Schema {
    let equipment = Schema::object([
        required("code", Schema::text(40), "The manufacturer's code."),
        required("name", Schema::text(200), "What it is."),
    ]);
    let medium = Schema::object([
        required("url", Schema::text(2000), "Where it can be fetched."),
        required("type", Schema::one_of(MediaType::WORDS), "What it is."),
        required("alt", Schema::text(300), "What it shows, in words."),
        required("order", Schema::integer(0, 1000), "Its place among the others, from 0."),
    ]);
    schemas::resource(
        &["vehicle"],
        [
            required("vin", Schema::text(17), "Vehicle identification number."),
            required("stock_number", Schema::text(40), "The dealership's own number."),
            required("condition", Schema::one_of(VehicleCondition::WORDS), "New or used."),
            required("year", Schema::integer(1900, 2100), "Model year."),
            required("make", Schema::text(60), "Make, such as Toyota."),
            required("model", Schema::text(60), "Model, such as RAV4."),
            required("trim", Schema::text(80), "Trim level."),
            required("body_style", Schema::one_of(BodyStyle::WORDS), "Body style."),
            required("doors", Schema::integer(0, 9), "Number of doors."),
            required("mileage", Distance::schema(), "Odometer reading."),
            required("exterior_color", Schema::text(60), "Colour outside."),
            required("interior_color", Schema::text(60), "Colour inside."),
            required("engine", Schema::text(120), "Engine."),
            required("transmission", Schema::one_of(Transmission::WORDS), "Transmission."),
            required("drivetrain", Schema::one_of(Drivetrain::WORDS), "Driven wheels."),
            required("fuel_type", Schema::one_of(FuelType::WORDS), "What it runs on."),
            required("options", Schema::list(equipment, 200), "Equipment."),
            required("media", Schema::list(medium, 200), "Pictures and other media."),
            required("price", Money::schema(), "Asking price."),
            optional("msrp", Money::schema(), "The manufacturer's suggested price."),
            required("status", Schema::one_of(VehicleStatus::WORDS), "Whether it can be bought."),
            required("in_stock_at", Schema::Text(TextFormat::Timestamp), "When it came into stock."),
            required("description", Schema::text(4000), "The dealership's words about it."),
        ],
    )
}

const fn text(name: &'static str) -> ColumnSpec {
    ColumnSpec { name, column_type: ColumnType::Text }
}

const fn integer(name: &'static str) -> ColumnSpec {
    ColumnSpec { name, column_type: ColumnType::Integer }
}
