//! `place_order`: the dishes of a cart, at the total that it promised. It takes their portions and stores the booking in
//! one plan.

use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::model::plan::{OnConflict, Plan, Step};
use frontdesk_engine::model::tool::{Future, Item, WriteTool};
use frontdesk_engine::{Fault, Permitted};

use super::OrderContext;
use super::cart::{CartPromise, PromisedLine};
use super::destination::Destination;
use super::dish::Dish;
use super::dish_day::{Portions, sold_out};
use super::placed::{DeliveryAddress, OrderLine, PlacedOrder, order_facts};
use super::restaurant::Restaurant;
use super::stage::OrderStage;
use crate::record::{Day, Entity, FieldType as _, Integer, List, Stored, Text, Vocabulary as _};
use crate::tomo::argument::argument;
use crate::tomo::booking::{Booking, BookingCustomer, answer};
use crate::tomo::booking_plan::created;
use crate::tomo::codes::{NOT_AVAILABLE, RESTAURANT_CLOSED, RESULT_EXPIRED};
use crate::tomo::{is_sandbox, result_token};

pub(super) struct PlaceOrder(pub(super) OrderContext);

impl WriteTool for PlaceOrder {
    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
        Box::pin(self.plan_order(permitted))
    }

    /// A repeated key gets the order as it is by now.
    fn replay<'a>(&'a self, permitted: &'a Permitted<'a>, stored: Item) -> Future<'a, Result<Item, Fault>> {
        Box::pin(async move {
            let booking = Booking::load_by_id(permitted, &self.0.shared, &stored.id).await?;
            answer(&self.0.tool, &booking, &order_facts(&booking, permitted.now()))
        })
    }
}

impl PlaceOrder {
    async fn plan_order(&self, permitted: &Permitted<'_>) -> Result<Plan, Fault> {
        let PlaceOrder(context) = self;
        let now = permitted.now();
        let customer: BookingCustomer = argument(permitted, "customer")?;
        let delivery: DeliveryAddress = argument(permitted, "delivery_address")?;
        let notes = notes(permitted)?;
        let token = permitted.input().text("result_token").unwrap_or_default();
        let offers = result_token::read(permitted, &context.shared, token)?;
        let promise = CartPromise::of_offers(&offers).ok_or_else(no_cart)?;
        let restaurant = Restaurant::load(permitted, &promise.restaurant_id).await?.ok_or_else(gone)?;
        check_open(&restaurant.record, permitted)?;
        let address = permitted.input().arguments.get("delivery_address");
        let destination = Destination::read("/delivery_address", address)?;
        destination.check_reached_by(&restaurant.record)?;
        let day = restaurant.record.local_day(now).ok_or_else(gone)?;

        let mut taken =
            TakenDishes { steps: vec![unchanged(&restaurant)], portions: Portions::default(), lines: Vec::new() };
        for line in &promise.lines {
            taken.add(permitted, &restaurant.record, line, day).await?;
        }
        let eta = destination.eta_minutes(&restaurant.record);
        let total = promise.total;
        let order = PlacedOrder {
            restaurant_name: restaurant.record.name.clone(),
            lines: List(taken.lines),
            subtotal_inr: Integer::clamped(total.subtotal_inr),
            packaging_inr: Integer::clamped(total.packaging_inr),
            delivery_fee_inr: Integer::clamped(total.delivery_fee_inr),
            tax_percent: Integer::clamped(total.tax_percent),
            tax_inr: Integer::clamped(total.tax_inr),
            accepted_refund_percent: restaurant.record.accepted_refund_percent,
            day,
            stage_at: now,
            eta_at: now.plus_seconds(eta.saturating_mul(60)),
            delivery: Some(delivery),
            notes,
            courier_name: None,
            courier_place: None,
            reason: None,
        };
        let booking = Booking {
            stage: Some(OrderStage::Placed.as_str().into()),
            order: Some(order),
            customer: Some(customer),
            ..Booking::confirmed(permitted, &context.shared, &restaurant.id, total.total_inr, now)?
        };
        let id = permitted.new_id(Booking::ID_PREFIX);
        let entity = Entity::new(id, permitted.tenant().clone(), now, booking);
        let mut steps = taken.steps;
        steps.extend(taken.portions.steps(now));
        created(&context.tool, entity, steps, |booking| order_facts(booking, now))
    }
}

/// What an order takes: its lines, and the steps that hold only while the dishes stay as they were read.
struct TakenDishes {
    steps: Vec<Step>,
    portions: Portions,
    lines: Vec<OrderLine>,
}

impl TakenDishes {
    async fn add(
        &mut self,
        permitted: &Permitted<'_>,
        restaurant: &Restaurant,
        line: &PromisedLine,
        day: Day,
    ) -> Result<(), Fault> {
        let dish = Dish::load(permitted, &line.dish_id).await?;
        let dish = dish.filter(|dish| dish.record.restaurant_code == restaurant.restaurant_code).ok_or_else(gone)?;
        if !dish.record.is_available(None) {
            return Err(sold_out(&dish.record.name));
        }
        let options = line.options.iter().map(|code| dish.record.option(code).map(|option| option.name.clone()));
        let options = options.collect::<Option<Vec<Text<80>>>>().ok_or_else(gone)?;
        // The sandbox takes nothing from anybody.
        let takes_stock = dish.record.daily_stock.is_some() && !is_sandbox(permitted);
        if takes_stock {
            self.portions.take(permitted, &dish, day, line.quantity).await?;
        }
        self.steps.push(unchanged(&dish));
        self.lines.push(OrderLine {
            dish_id: dish.id.as_str().into(),
            name: dish.record.name.clone(),
            diet: dish.record.diet,
            quantity: Integer::clamped(line.quantity),
            options: List(options),
            unit_price_inr: Integer::clamped(line.unit_price_inr),
            takes_stock,
        });
        Ok(())
    }
}

/// The order holds only while this stays as it was read: it says what is offered.
fn unchanged<R: Stored>(entity: &Entity<R>) -> Step {
    Step::Require {
        table: R::table(),
        id: entity.id.clone(),
        expect_version: entity.version,
        on_conflict: OnConflict::Retry,
    }
}

pub(super) fn check_open(restaurant: &Restaurant, permitted: &Permitted<'_>) -> Result<(), Fault> {
    let closed = || Fault::domain(RESTAURANT_CLOSED, "This restaurant takes no orders now. Try again when it is open.");
    if restaurant.is_open(permitted.now()) { Ok(()) } else { Err(closed()) }
}

fn notes(permitted: &Permitted<'_>) -> Result<Option<Text<300>>, Fault> {
    let Some(given) = permitted.input().arguments.get("notes") else { return Ok(None) };
    let below = |problem: Problem| Problem { pointer: "/notes".to_owned(), ..problem };
    let problems: Vec<Problem> = Text::<300>::input().problems(given).into_iter().map(below).collect();
    if problems.is_empty() {
        Ok(given.as_str().filter(|text| !text.trim().is_empty()).map(Text::from))
    } else {
        Err(Fault::invalid(problems))
    }
}

fn no_cart() -> Fault {
    Fault::domain(
        RESULT_EXPIRED,
        "This result_token is not of a cart. Call compute_cart_total and send its result_token.",
    )
}

fn gone() -> Fault {
    Fault::domain(NOT_AVAILABLE, "Something in this cart is no longer offered. Search again.")
}
