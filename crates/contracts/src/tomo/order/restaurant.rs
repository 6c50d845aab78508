//! A restaurant that delivers: where it is, when it is open, how far it delivers and what it charges besides its dishes.
//! Restaurants come in by import.

use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::model::table::search_terms;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Fault, Permitted};
use serde_json::{Map, Value, json};

use crate::calendar::{LocalCalendar, WeekdayHours, check_days, check_hours, zone_name};
use crate::record::import::{Imported, Withdrawal};
use crate::record::{Day, Entity, FixedDecimal, Integer, List, NameText, Stored as _, Text, Vocabulary as _};
use crate::tomo::booking::Rupees;
use crate::tomo::known_facts::{Fact, boolean, decimal, list, object, text, texts, whole};
use crate::tomo::listing::place::Point;
use crate::tomo::managed::Managed;
use crate::{Record, Vocabulary};

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum RestaurantStatus { Offered, Withdrawn, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum Cuisine { SouthIndian, NorthIndian, Andhra, Kerala, Bengali, Gujarati, Maharashtrian, Rajasthani, Mughlai, Biryani,
    Seafood, StreetFood, FastFood, Chinese, Thai, Japanese, Korean, Italian, Mexican, Continental, MiddleEastern, Healthy,
    Bakery, Desserts, Beverages, Unknown }

#[derive(Debug, Clone, PartialEq, Record)]
#[table("tomo_restaurant", prefix = "rst", not_found = "NOT_FOUND", noun = "restaurant")]
pub struct Restaurant {
    /// The business's own short name for it.
    #[field(create, unique)]
    pub restaurant_code: Text<40>,
    /// Its name.
    #[field(create, update)]
    pub name: Text<120>,
    /// City.
    #[field(create, update, column = "city_key", indexed)]
    pub city: NameText<80>,
    /// Part of the city, such as Koramangala.
    #[field(create, update)]
    pub area: Text<120>,
    /// Street and number.
    #[field(create, update)]
    pub address: Text<300>,
    /// Six digits.
    #[field(create, update, indexed)]
    pub pincode: Text<6>,
    /// Degrees north, such as 12.9352.
    #[field(create, update, column)]
    pub latitude: FixedDecimal<6, -90, 90>,
    /// Degrees east, such as 77.6245.
    #[field(create, update, column)]
    pub longitude: FixedDecimal<6, -180, 180>,
    /// What it cooks.
    #[field(create, update, known)]
    pub cuisines: List<Cuisine, 10>,
    /// What customers say on average, from 0 to 5, such as 4.3.
    #[field(create, update)]
    pub rating: Option<FixedDecimal<1, 0, 5>>,
    /// Whether everything it has is vegetarian.
    #[field(create, update)]
    #[default(false)]
    pub veg_only: bool,
    /// IANA time zone of the opening hours, such as Asia/Kolkata.
    #[field(create, update)]
    pub time_zone: Text<64>,
    /// When it takes orders, by day of the week.
    #[field(create, update)]
    pub opening_hours: List<WeekdayHours, 28>,
    /// Days on which it is closed, such as 2027-01-26.
    #[field(create, update)]
    #[default(List::default())]
    pub closed_days: List<Text<10>, 400>,
    /// How far it delivers, as the crow flies, in kilometres.
    #[field(create, update)]
    pub delivery_radius_km: FixedDecimal<1, 0, 50>,
    /// What a delivery costs, in whole rupees. No tax is added to it.
    #[field(create, update)]
    #[default(Integer::constant::<0>())]
    pub delivery_fee_inr: Rupees,
    /// What packaging costs for an order, in whole rupees before tax.
    #[field(create, update)]
    #[default(Integer::constant::<0>())]
    pub packaging_fee_inr: Rupees,
    /// Dishes must come to so much at least, in whole rupees before packaging, delivery and tax.
    #[field(create, update)]
    #[default(Integer::constant::<0>())]
    pub minimum_order_inr: Rupees,
    /// Tax on dishes and packaging, in percent.
    #[field(create, update)]
    #[default(Integer::constant::<5>())]
    pub tax_percent: Integer<0, 100>,
    /// How long an order takes in the kitchen.
    #[field(create, update)]
    pub preparation_minutes: Integer<1, 240>,
    /// What is paid back of an order that is cancelled after it was accepted, in percent of its total.
    #[field(create, update)]
    #[default(Integer::constant::<0>())]
    pub accepted_refund_percent: Integer<0, 100>,
    /// Number of its food licence, 14 digits.
    #[field(create, update)]
    pub fssai_number: Text<14>,
    /// Whether it takes orders here.
    #[field(create, update, known, indexed)]
    #[default(RestaurantStatus::Offered)]
    pub status: RestaurantStatus,
}

impl Restaurant {
    /// Its hours. None if the time zone is no longer known.
    fn calendar(&self) -> Option<LocalCalendar> {
        let closed = self.closed_days.iter().map(|day| &**day);
        LocalCalendar::new(&self.time_zone, self.opening_hours.iter(), closed, 1)
    }

    pub(super) fn is_open(&self, now: Millis) -> bool {
        self.calendar().is_some_and(|calendar| calendar.is_open(now))
    }

    /// The local day, on which portions are counted.
    pub(super) fn local_day(&self, now: Millis) -> Option<Day> {
        self.calendar().and_then(|calendar| calendar.date_of(now)).map(Day)
    }

    pub(super) fn point(&self) -> Point {
        Point { latitude: self.latitude.get(), longitude: self.longitude.get() }
    }

    pub(super) fn radius_metres(&self) -> i64 {
        self.delivery_radius_km.get().saturating_mul(100)
    }

    /// Whether it has every one of these words in its name, its area or what it cooks.
    pub(super) fn has_words(&self, words: &[String]) -> bool {
        let cuisines: Vec<&str> = self.cuisines.iter().map(|cuisine| cuisine.as_str()).collect();
        let own = search_terms(&format!("{} {} {}", &*self.name, &*self.area, cuisines.join(" ")));
        words.iter().all(|word| own.contains(word))
    }

    /// The one with this id, if it takes orders here.
    pub(super) async fn load(permitted: &Permitted<'_>, id: &str) -> Result<Option<Entity<Restaurant>>, Fault> {
        let row = permitted.get(Restaurant::table(), id).await?;
        let found: Option<Entity<Restaurant>> = row.map(|row| Entity::restore(permitted.tenant(), &row)).transpose()?;
        Ok(found.filter(|restaurant| restaurant.record.status == RestaurantStatus::Offered))
    }

    fn problems(&mut self) -> Vec<Problem> {
        let mut problems = check_hours("/opening_hours", &self.opening_hours);
        problems.extend(check_days("/closed_days", self.closed_days.iter().map(|day| &**day)));
        match zone_name(&self.time_zone) {
            Some(name) => self.time_zone = name.as_str().into(),
            None => problems.push(Problem::new(
                "/time_zone",
                "format",
                "a time zone of the IANA database is expected, such as Asia/Kolkata",
            )),
        }
        let is_number = |text: &str, digits: usize| text.len() == digits && text.bytes().all(|b| b.is_ascii_digit());
        if !is_number(&self.pincode, 6) {
            problems.push(Problem::new("/pincode", "pattern", "a pincode of 6 digits is expected"));
        }
        if !is_number(&self.fssai_number, 14) {
            problems.push(Problem::new("/fssai_number", "pattern", "a licence number of 14 digits is expected"));
        }
        if self.cuisines.is_empty() {
            problems.push(Problem::new("/cuisines", "minItems", "at least one is expected"));
        }
        problems
    }
}

/// What a feed no longer lists takes no more orders; those that were placed stay.
const WITHDRAWAL: Withdrawal = Withdrawal { field: "status", listed: &["offered"], withdrawn: "withdrawn" };

impl Imported for Restaurant {
    const WITHDRAWAL: Option<Withdrawal> = Some(WITHDRAWAL);

    fn on_listed(record: &Restaurant, arguments: &mut Map<String, Value>) {
        if record.status == RestaurantStatus::Withdrawn {
            arguments.entry("status").or_insert_with(|| Value::from("offered"));
        }
    }
}

impl Managed for Restaurant {
    async fn check(&mut self, _: &Permitted<'_>) -> Result<(), Fault> {
        let problems = self.problems();
        if problems.is_empty() { Ok(()) } else { Err(Fault::invalid(problems)) }
    }
}

/// The facts of a restaurant.
pub(super) const RESTAURANT: &[Fact] = &[
    text("restaurant_id"),
    text("restaurant_code"),
    text("name"),
    text("city"),
    text("area"),
    text("address"),
    text("pincode"),
    decimal("lat"),
    decimal("lng"),
    texts("cuisines"),
    decimal("rating"),
    boolean("veg_only"),
    boolean("is_open"),
    text("time_zone"),
    list("opening_hours", &[&[text("weekday"), text("opens"), text("closes")]]),
    decimal("delivery_radius_km"),
    whole("delivery_fee_inr"),
    whole("packaging_inr"),
    whole("minimum_order_inr"),
    whole("tax_percent"),
    whole("preparation_minutes"),
    object("cancellation", &[&[whole("placed_refund_percent"), whole("accepted_refund_percent")]]),
    text("fssai_number"),
];

pub(super) fn restaurant_facts(restaurant: &Entity<Restaurant>, now: Millis) -> Value {
    let record = &restaurant.record;
    let hours = record
        .opening_hours
        .iter()
        .map(|hours| json!({"weekday": hours.weekday.as_str(), "opens": &*hours.opens, "closes": &*hours.closes}));
    let cuisines: Vec<&str> = record.cuisines.iter().map(|cuisine| cuisine.as_str()).collect();
    json!({
        "restaurant_id": restaurant.id,
        "restaurant_code": &*record.restaurant_code,
        "name": &*record.name,
        "city": &*record.city,
        "area": &*record.area,
        "address": &*record.address,
        "pincode": &*record.pincode,
        "lat": record.latitude.to_f64(),
        "lng": record.longitude.to_f64(),
        "cuisines": cuisines,
        "rating": record.rating.map(|rating| rating.to_f64()),
        "veg_only": record.veg_only,
        "is_open": record.is_open(now),
        "time_zone": &*record.time_zone,
        "opening_hours": hours.collect::<Vec<Value>>(),
        "delivery_radius_km": record.delivery_radius_km.to_f64(),
        "delivery_fee_inr": record.delivery_fee_inr.get(),
        "packaging_inr": record.packaging_fee_inr.get(),
        "minimum_order_inr": record.minimum_order_inr.get(),
        "tax_percent": record.tax_percent.get(),
        "preparation_minutes": record.preparation_minutes.get(),
        "cancellation": {
            "placed_refund_percent": 100,
            "accepted_refund_percent": record.accepted_refund_percent.get(),
        },
        "fssai_number": &*record.fssai_number,
    })
}
