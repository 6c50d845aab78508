//! The stages of an order: forward only, and what each of them means for the booking, for the money and for the portions.

use frontdesk_engine::Fault;
use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::model::timestamp::Millis;
use serde_json::Value;

use super::placed::{CourierPlace, PlacedOrder};
use crate::Vocabulary;
use crate::record::{FieldType, Integer, PersonName, Text, Vocabulary as _};
use crate::tomo::booking::{Booking, BookingStatus, Rupees};
use crate::tomo::codes::BOOKING_CLOSED;
use crate::tomo::lifecycle::Advance;
use crate::tomo::listing::price::share;

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum OrderStage { Placed, Accepted, Preparing, Ready, PickedUp, Delivered, Cancelled, Rejected, Failed, Unknown }

/// How many steps lie between an order and its delivery.
pub(super) const STEPS: u32 = 5;

impl OrderStage {
    pub(super) fn of(booking: &Booking) -> OrderStage {
        booking.stage.as_deref().and_then(OrderStage::parse).unwrap_or(OrderStage::Unknown)
    }

    /// How many steps it has come. Nothing more happens to what was given up, so it counts as having come to its end.
    pub(super) fn steps(self) -> u32 {
        match self {
            OrderStage::Placed | OrderStage::Unknown => 0,
            OrderStage::Accepted => 1,
            OrderStage::Preparing => 2,
            OrderStage::Ready => 3,
            OrderStage::PickedUp => 4,
            OrderStage::Delivered | OrderStage::Cancelled | OrderStage::Rejected | OrderStage::Failed => STEPS,
        }
    }

    /// What a booking in this stage is.
    fn status(self) -> BookingStatus {
        match self {
            OrderStage::Delivered => BookingStatus::Completed,
            OrderStage::Cancelled => BookingStatus::Cancelled,
            OrderStage::Rejected | OrderStage::Failed => BookingStatus::Failed,
            OrderStage::Placed
            | OrderStage::Accepted
            | OrderStage::Preparing
            | OrderStage::Ready
            | OrderStage::PickedUp
            | OrderStage::Unknown => BookingStatus::Confirmed,
        }
    }

    /// For people.
    pub(super) fn message(self) -> &'static str {
        match self {
            OrderStage::Placed => "The restaurant has the order.",
            OrderStage::Accepted => "The restaurant has accepted the order.",
            OrderStage::Preparing => "The order is being prepared.",
            OrderStage::Ready => "The order is ready to be picked up.",
            OrderStage::PickedUp => "The order is on its way.",
            OrderStage::Delivered => "The order was delivered.",
            OrderStage::Cancelled => "The order was cancelled.",
            OrderStage::Rejected => "The restaurant could not take the order.",
            OrderStage::Failed => "The order could not be delivered.",
            OrderStage::Unknown => "The order was placed.",
        }
    }

    /// Whether nothing has been cooked yet, so that its portions can be sold again.
    fn is_uncooked(self) -> bool {
        match self {
            OrderStage::Placed | OrderStage::Accepted => true,
            OrderStage::Preparing
            | OrderStage::Ready
            | OrderStage::PickedUp
            | OrderStage::Delivered
            | OrderStage::Cancelled
            | OrderStage::Rejected
            | OrderStage::Failed
            | OrderStage::Unknown => false,
        }
    }

    /// Whether an order can go from here to there.
    fn leads_to(self, next: OrderStage) -> bool {
        match next {
            OrderStage::Accepted
            | OrderStage::Preparing
            | OrderStage::Ready
            | OrderStage::PickedUp
            | OrderStage::Delivered => self.steps() < next.steps(),
            // Food that is on its way is neither cancelled nor rejected: it arrives or fails to.
            OrderStage::Cancelled | OrderStage::Rejected => self.steps() < OrderStage::PickedUp.steps(),
            OrderStage::Failed => true,
            OrderStage::Placed | OrderStage::Unknown => false,
        }
    }
}

/// What becomes of the portions of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PortionsAfter {
    Kept,
    GivenBack,
}

/// Moves the order to a stage. Repeating the stage it has changes what is said of it, and nothing else.
pub(super) fn advance(booking: &mut Booking, to: &Advance) -> Result<PortionsAfter, Fault> {
    let before = OrderStage::of(booking);
    let unknown = || Fault::invalid_argument("/stage", "enum", "a stage of an order is expected");
    let stage = OrderStage::parse(&to.stage).filter(|stage| *stage != OrderStage::Unknown).ok_or_else(unknown)?;
    let details = Details::read(to)?;
    if booking.status.is_final() {
        return if stage == before { Ok(PortionsAfter::Kept) } else { Err(closed(before)) };
    }
    if stage != before && !before.leads_to(stage) {
        let expected = format!("an order that is {} cannot become {}", before.as_str(), stage.as_str());
        return Err(Fault::invalid_argument("/stage", "enum", expected));
    }
    let order = order_of_mut(booking)?;
    details.keep(order, to.at);
    if stage == before {
        return Ok(PortionsAfter::Kept);
    }
    order.stage_at = to.at;
    booking.stage = Some(stage.as_str().into());
    match stage {
        OrderStage::Delivered => complete(booking, details.net_inr, to.at)?,
        OrderStage::Cancelled => cancel(booking, before, details.net_inr, to.at)?,
        OrderStage::Rejected | OrderStage::Failed => fail(booking, details.net_inr, to.at)?,
        OrderStage::Placed
        | OrderStage::Accepted
        | OrderStage::Preparing
        | OrderStage::Ready
        | OrderStage::PickedUp
        | OrderStage::Unknown => {
            if details.net_inr.is_some() {
                return Err(Fault::invalid_argument("/details/net_inr", "false", "it is known when an order ends"));
            }
        }
    }
    let is_given_up = matches!(stage, OrderStage::Cancelled | OrderStage::Rejected | OrderStage::Failed);
    Ok(if is_given_up && before.is_uncooked() { PortionsAfter::GivenBack } else { PortionsAfter::Kept })
}

/// Cancels the order for its customer. Before it was accepted everything is paid back; then what the terms say; what is
/// on its way cannot be cancelled.
pub(super) fn cancel_by_customer(booking: &mut Booking, now: Millis) -> Result<PortionsAfter, Fault> {
    let before = OrderStage::of(booking);
    if booking.status.is_final() {
        return Err(closed(before));
    }
    if !before.leads_to(OrderStage::Cancelled) {
        return Err(Fault::domain(BOOKING_CLOSED, "This order is on its way, so it can no longer be cancelled."));
    }
    order_of_mut(booking)?.stage_at = now;
    booking.stage = Some(OrderStage::Cancelled.as_str().into());
    cancel(booking, before, None, now)?;
    Ok(if before.is_uncooked() { PortionsAfter::GivenBack } else { PortionsAfter::Kept })
}

fn closed(stage: OrderStage) -> Fault {
    Fault::domain(BOOKING_CLOSED, format!("This order has ended: it is {}.", stage.as_str()))
}

fn complete(booking: &mut Booking, net_inr: Option<i64>, at: Millis) -> Result<(), Fault> {
    let earned = order_of_mut(booking)?.food_inr();
    end(booking, OrderStage::Delivered, net_inr.unwrap_or(earned), at)
}

fn cancel(booking: &mut Booking, before: OrderStage, net_inr: Option<i64>, at: Millis) -> Result<(), Fault> {
    let order = order_of_mut(booking)?;
    let percent = match before {
        OrderStage::Placed => 100,
        OrderStage::Accepted
        | OrderStage::Preparing
        | OrderStage::Ready
        | OrderStage::PickedUp
        | OrderStage::Delivered
        | OrderStage::Cancelled
        | OrderStage::Rejected
        | OrderStage::Failed
        | OrderStage::Unknown => order.accepted_refund_percent.get(),
    };
    let food = order.food_inr();
    let kept = food.saturating_sub(share(food, percent, 100));
    pay_back(booking, percent);
    booking.cancelled_at = Some(at);
    end(booking, OrderStage::Cancelled, net_inr.unwrap_or(kept), at)
}

/// Whoever could not deliver earns nothing.
fn fail(booking: &mut Booking, net_inr: Option<i64>, at: Millis) -> Result<(), Fault> {
    if net_inr.is_some_and(|net| net != 0) {
        return Err(Fault::invalid_argument("/details/net_inr", "const", "0 is expected where an order failed"));
    }
    pay_back(booking, 100);
    let stage = OrderStage::of(booking);
    end(booking, stage, 0, at)
}

fn pay_back(booking: &mut Booking, percent: i64) {
    booking.refund_inr = Some(Rupees::clamped(share(booking.total_inr.get(), percent, 100)));
    booking.refund_percent = Some(Integer::clamped(percent));
}

fn end(booking: &mut Booking, stage: OrderStage, net_inr: i64, at: Millis) -> Result<(), Fault> {
    if net_inr > booking.total_inr.get() {
        let expected = "it is not more than the order's total";
        return Err(Fault::invalid_argument("/details/net_inr", "maximum", expected));
    }
    booking.status = stage.status();
    booking.ended_at = Some(at);
    booking.net_inr = Some(Rupees::clamped(net_inr));
    Ok(())
}

fn order_of_mut(booking: &mut Booking) -> Result<&mut PlacedOrder, Fault> {
    booking.order.as_mut().ok_or_else(|| Fault::internal("a booking of an order has none"))
}

/// What a notification says besides the stage.
#[derive(Debug, Default)]
struct Details {
    eta_minutes: Option<i64>,
    courier_name: Option<PersonName>,
    location: Option<CourierPlace>,
    net_inr: Option<i64>,
    reason: Option<Text<300>>,
}

impl Details {
    /// What is not known is refused: it was meant to say something.
    fn read(to: &Advance) -> Result<Details, Fault> {
        let mut details = Details::default();
        for (name, value) in &to.details {
            let pointer = format!("/details/{}", name.replace('~', "~0").replace('/', "~1"));
            match name.as_str() {
                "eta_minutes" => {
                    details.eta_minutes = Some(read::<Integer<0, 1_440>>(&pointer, value)?.get());
                }
                "courier_name" => {
                    let name: PersonName = read(&pointer, value)?;
                    let expected = || Fault::invalid_argument(&pointer, "pattern", "a name is expected");
                    details.courier_name = Some(name.split_whitespace().next().ok_or_else(expected)?.into());
                }
                "location" => details.location = Some(read(&pointer, value)?),
                "net_inr" => details.net_inr = Some(read::<Rupees>(&pointer, value)?.get()),
                "reason" => details.reason = Some(read(&pointer, value)?),
                _ => {
                    let expected = "known are eta_minutes, courier_name, location, net_inr and reason";
                    return Err(Fault::invalid_argument(&pointer, "additionalProperties", expected));
                }
            }
        }
        Ok(details)
    }

    fn keep(&self, order: &mut PlacedOrder, at: Millis) {
        if let Some(minutes) = self.eta_minutes {
            order.eta_at = at.plus_seconds(minutes.saturating_mul(60));
        }
        if let Some(name) = &self.courier_name {
            order.courier_name = Some(name.clone());
        }
        if let Some(place) = &self.location {
            order.courier_place = Some(place.clone());
        }
        if let Some(reason) = &self.reason {
            order.reason = Some(reason.clone());
        }
    }
}

/// A value of a notification, checked as a field of a record is.
fn read<T: FieldType>(pointer: &str, value: &Value) -> Result<T, Fault> {
    let below = |problem: Problem| Problem { pointer: format!("{pointer}{}", problem.pointer), ..problem };
    let problems: Vec<Problem> = T::input().problems(value).into_iter().map(below).collect();
    if !problems.is_empty() {
        return Err(Fault::invalid(problems));
    }
    T::read(value).ok_or_else(|| Fault::internal("a checked value cannot be read"))
}
