//! A placed order: what is stored of it and what is told about it. Where it goes, who brings it and what was written
//! along are sealed; only the courier's first name is ever told.

use frontdesk_engine::Fault;
use frontdesk_engine::Permitted;
use frontdesk_engine::model::plan::Step;
use frontdesk_engine::model::timestamp::Millis;
use serde_json::{Value, json};

use super::cart::{CartTotal, line_facts, total_facts};
use super::dish::Diet;
use super::dish_day::Portions;
use super::stage::{OrderStage, PortionsAfter};
use crate::Record;
use crate::record::{Day, Entity, FixedDecimal, Integer, List, PersonName, Text, Timestamp, Vocabulary as _};
use crate::tomo::booking::{Booking, BookingMode, Rupees};
use crate::tomo::booking_plan::booking_facts;
use crate::tomo::facts::with;
use crate::tomo::known_facts::{Fact, text, whole};

/// What was ordered.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct PlacedOrder {
    /// The restaurant's name.
    pub restaurant_name: Text<120>,
    /// The dishes.
    pub lines: List<OrderLine, 20>,
    /// What the dishes come to.
    pub subtotal_inr: Rupees,
    /// Packaging.
    pub packaging_inr: Rupees,
    /// Delivery.
    pub delivery_fee_inr: Rupees,
    /// Tax on dishes and packaging, in percent.
    pub tax_percent: Integer<0, 100>,
    /// Tax.
    pub tax_inr: Rupees,
    /// What is paid back after it was accepted, in percent.
    pub accepted_refund_percent: Integer<0, 100>,
    /// The local day on which its portions are counted.
    pub day: Day,
    /// When it came to its stage.
    pub stage_at: Timestamp,
    /// When it is expected to arrive.
    pub eta_at: Timestamp,
    /// Where it goes.
    #[field(sealed)]
    pub delivery: Option<DeliveryAddress>,
    /// What the customer wrote along.
    #[field(sealed)]
    pub notes: Option<Text<300>>,
    /// First name of who brings it.
    pub courier_name: Option<PersonName>,
    /// Where the courier was last.
    #[field(sealed)]
    pub courier_place: Option<CourierPlace>,
    /// Why it was given up.
    #[field(sealed)]
    pub reason: Option<Text<300>>,
}

/// A dish of an order, as it was when it was ordered.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct OrderLine {
    /// The dish.
    pub dish_id: Text<64>,
    /// Its name.
    pub name: Text<120>,
    /// veg, non_veg or egg.
    pub diet: Diet,
    /// How many portions.
    pub quantity: Integer<1, 50>,
    /// The names of what was chosen with it.
    pub options: List<Text<80>, 5>,
    /// What a portion costs with its options.
    pub unit_price_inr: Rupees,
    /// Whether its portions were taken from a daily stock.
    pub takes_stock: bool,
}

/// Where an order is brought to.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct DeliveryAddress {
    /// House and street.
    pub line1: Text<200>,
    /// Floor, flat, building.
    pub line2: Option<Text<200>>,
    /// What is near it.
    pub landmark: Option<Text<200>>,
    /// City.
    pub city: Text<80>,
    /// Pincode.
    pub pincode: Text<6>,
    /// Degrees north.
    pub lat: Option<FixedDecimal<6, -90, 90>>,
    /// Degrees east.
    pub lng: Option<FixedDecimal<6, -180, 180>>,
}

/// Where a courier is.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct CourierPlace {
    /// Degrees north.
    pub lat: FixedDecimal<6, -90, 90>,
    /// Degrees east.
    pub lng: FixedDecimal<6, -180, 180>,
}

impl PlacedOrder {
    /// Dishes and packaging without tax: what the restaurant earns.
    pub(super) fn food_inr(&self) -> i64 {
        self.subtotal_inr.get().saturating_add(self.packaging_inr.get())
    }

    /// Removes everything about a person; what was ordered and what it cost stays.
    pub(in crate::tomo) fn erase(&mut self) {
        let PlacedOrder {
            restaurant_name: _,
            lines: _,
            subtotal_inr: _,
            packaging_inr: _,
            delivery_fee_inr: _,
            tax_percent: _,
            tax_inr: _,
            accepted_refund_percent: _,
            day: _,
            stage_at: _,
            eta_at: _,
            delivery,
            notes,
            courier_name,
            courier_place,
            reason,
        } = self;
        *delivery = None;
        *notes = None;
        *courier_name = None;
        *courier_place = None;
        *reason = None;
    }

    fn total(&self, total_inr: i64) -> CartTotal {
        CartTotal {
            subtotal_inr: self.subtotal_inr.get(),
            packaging_inr: self.packaging_inr.get(),
            delivery_fee_inr: self.delivery_fee_inr.get(),
            tax_percent: self.tax_percent.get(),
            tax_inr: self.tax_inr.get(),
            total_inr,
        }
    }
}

impl OrderLine {
    fn facts(&self) -> Value {
        let options: Vec<&str> = self.options.iter().map(|option| &**option).collect();
        let dish = (&*self.dish_id, &*self.name, self.diet.as_str());
        line_facts(dish, self.quantity.get(), &options, self.unit_price_inr.get())
    }
}

pub(super) fn order_of(booking: &Booking) -> Result<&PlacedOrder, Fault> {
    booking.order.as_ref().ok_or_else(|| Fault::internal("a booking of an order has none"))
}

/// The steps that give the portions of an order back, if they are. Orders of the sandbox have taken none.
pub(super) async fn portion_steps(
    permitted: &Permitted<'_>,
    booking: &Booking,
    after: PortionsAfter,
) -> Result<Vec<Step>, Fault> {
    if after == PortionsAfter::Kept || booking.mode != BookingMode::Live {
        return Ok(Vec::new());
    }
    let order = order_of(booking)?;
    let mut portions = Portions::default();
    for line in order.lines.iter().filter(|line| line.takes_stock) {
        portions.give_back(permitted, &line.dish_id, order.day, line.quantity.get()).await?;
    }
    Ok(portions.steps(permitted.now()))
}

/// Minutes until it is expected; 0 when nothing more will happen or it is late.
pub(super) fn minutes_left(booking: &Booking, order: &PlacedOrder, now: Millis) -> i64 {
    if booking.status.is_final() {
        return 0;
    }
    order.eta_at.0.saturating_sub(now.0).max(0).saturating_add(59_999) / 60_000
}

/// The facts of an order beside those of any booking and what it comes to.
pub(super) const ORDER: &[Fact] = &[
    text("restaurant_id"),
    text("restaurant_name"),
    text("stage"),
    text("stage_at"),
    whole("eta_minutes"),
    text("eta_at"),
    whole("accepted_refund_percent"),
];

/// Everything that an answer may say about an order. Nothing of the person.
pub(super) fn order_facts(booking: &Entity<Booking>, now: Millis) -> Value {
    let record = &booking.record;
    let Some(order) = &record.order else { return booking_facts(booking) };
    let own = json!({
        "restaurant_id": &*record.item_id,
        "restaurant_name": &*order.restaurant_name,
        "stage": OrderStage::of(record).as_str(),
        "stage_at": order.stage_at.to_rfc3339(),
        "eta_minutes": minutes_left(record, order, now),
        "eta_at": order.eta_at.to_rfc3339(),
        "accepted_refund_percent": order.accepted_refund_percent.get(),
        "lines": order.lines.iter().map(OrderLine::facts).collect::<Vec<Value>>(),
    });
    with(with(booking_facts(booking), total_facts(&order.total(record.total_inr.get()))), own)
}
