//! The names that columns have in feeds of vehicles: those of Google's vehicle listings, of HomeNet's exports, and close
//! relatives. Fields' own names need no alias.

use super::vehicles::{CERTIFIED, IMAGE, IMAGES, MORE_IMAGES};
use crate::feed::HeaderAlias;

const fn field(header: &'static str, field: &'static str) -> HeaderAlias {
    HeaderAlias::field(header, field)
}

const fn field_if_missing(header: &'static str, field: &'static str) -> HeaderAlias {
    HeaderAlias::field_if_missing(header, field)
}

const fn extra(header: &'static str, name: &'static str) -> HeaderAlias {
    HeaderAlias::extra(header, name)
}

const fn ignored(header: &'static str) -> HeaderAlias {
    HeaderAlias::ignored(header)
}

pub(super) const ALIASES: &[HeaderAlias] = &[
    field("vin number", "vin"),
    field("vehicle identification number", "vin"),
    field("stock", "stock_number"),
    field("stock no", "stock_number"),
    field("stock num", "stock_number"),
    field("stock id", "stock_number"),
    field_if_missing("id", "stock_number"),
    field("new used", "condition"),
    field_if_missing("type", "condition"),
    field("inventory type", "condition"),
    field("stock type", "condition"),
    field("vehicle condition", "condition"),
    field("model year", "year"),
    field("vehicle year", "year"),
    field("brand", "make"),
    field("manufacturer", "make"),
    field("vehicle make", "make"),
    field("model name", "model"),
    field("vehicle model", "model"),
    field("trim level", "trim"),
    field("vehicle trim", "trim"),
    field("body", "body_style"),
    field("body type", "body_style"),
    field("door count", "doors"),
    field("number of doors", "doors"),
    field("miles", "mileage").in_unit("mi"),
    field("mileage mi", "mileage").in_unit("mi"),
    field("kilometers", "mileage").in_unit("km"),
    field("kilometres", "mileage").in_unit("km"),
    field("mileage km", "mileage").in_unit("km"),
    field("odometer", "mileage"),
    field("odometer reading", "mileage"),
    field("mileage unit", "mileage.unit"),
    field("odometer unit", "mileage.unit"),
    field("odometer units", "mileage.unit"),
    field("color", "exterior_color"),
    field("colour", "exterior_color"),
    field("ext color", "exterior_color"),
    field("exterior colour", "exterior_color"),
    field("int color", "interior_color"),
    field("interior colour", "interior_color"),
    field("engine description", "engine"),
    field("trans", "transmission"),
    field("transmission type", "transmission"),
    field("drive", "drivetrain"),
    field("drive type", "drivetrain"),
    field("drivetrain type", "drivetrain"),
    field("fuel", "fuel_type"),
    field("engine fuel type", "fuel_type"),
    field("features", "options"),
    field("vehicle option", "options"),
    field("vehicle options", "options"),
    field("installed options", "options"),
    field("equipment", "options"),
    field("selling price", "price"),
    field("sale price", "price"),
    field("internet price", "price"),
    field("asking price", "price"),
    field("advertised price", "price"),
    field("currency", "price.currency"),
    field("vehicle msrp", "msrp"),
    field("availability", "status"),
    field("vehicle status", "status"),
    field("inventory status", "status"),
    field("date in stock", "in_stock_at"),
    field("in stock date", "in_stock_at"),
    field("inventory date", "in_stock_at"),
    field("stock date", "in_stock_at"),
    field("vehicle description", "description"),
    field("dealer comments", "description"),
    field("comments", "description"),
    extra("certified", CERTIFIED),
    extra("is certified", CERTIFIED),
    extra("certified pre owned", CERTIFIED),
    extra("cpo", CERTIFIED),
    extra("image link", IMAGE),
    extra("image url", IMAGE),
    extra("main image", IMAGE),
    extra("additional image link", MORE_IMAGES),
    extra("additional image links", MORE_IMAGES),
    extra("image list", IMAGES),
    extra("images", IMAGES),
    extra("image urls", IMAGES),
    extra("photos", IMAGES),
    extra("photo urls", IMAGES),
    extra("pictures", IMAGES),
    // The dealership is the one whose token writes, whatever the feed calls it.
    ignored("store code"),
    ignored("dealer id"),
    ignored("dealership id"),
    ignored("dealership name"),
    ignored("dealership address"),
    ignored("dealer name"),
    ignored("place id"),
    ignored("maps url"),
    ignored("tracking phone number"),
    ignored("link"),
    ignored("model number"),
    ignored("model code"),
    ignored("exterior color code"),
    ignored("transmission description"),
    ignored("book value"),
    ignored("invoice"),
];
