//! The parts of a demo dealership and orders of them. Stock, orders and what waits agree, as the rules would have it.

mod catalogue;

use frontdesk_engine::model::table::{Row, TableSpec};
use frontdesk_engine::model::timestamp::Millis;

use super::DemoDealership;
use super::market::market;
use super::rows::{DemoIds, row};
use crate::automotive::parts::backlog::{PartBacklog, WaitingLine};
use crate::automotive::parts::order::{PartOrder, PartOrderStatus};
use crate::automotive::parts::order_line;
use crate::automotive::parts::part::{Part, PartAvailability, PartFitment};
use crate::automotive::parts::supersession::PartLink;
use crate::automotive::values::Money;
use crate::record::{Entity, Integer, List, Stored as _};
use catalogue::{DemoPart, DemoPartOrder, PartsSpec};

const DAY_SECONDS: i64 = 24 * 60 * 60;

/// `repair_order` is the one that an order of parts is for.
pub(super) fn rows(
    dealership: &DemoDealership,
    known: &DemoIds<'_>,
    repair_order: Option<&str>,
    now: Millis,
    new_id: &mut dyn FnMut(&str) -> String,
) -> Vec<(&'static TableSpec, Row)> {
    let mut ids = |prefix: &str, count: usize| -> Vec<String> {
        let mut ids: Vec<String> = (0..count).map(|_| new_id(prefix)).collect();
        ids.sort_unstable();
        ids
    };
    let spec = PartsSpec::of(dealership.country);
    let currency = market(dealership.country).currency;
    let part_ids = ids(Part::ID_PREFIX, spec.parts.len());
    let order_ids = ids(PartOrder::ID_PREFIX, spec.orders.len());
    let months_ago = now.plus_seconds(-120 * DAY_SECONDS);
    let places = spec.parts.iter().zip(&part_ids).enumerate();
    let mut parts: Vec<Entity<Part>> = places
        .map(|(place, (demo, id))| {
            Entity::new(id.clone(), known.tenant.clone(), months_ago, part(place, demo, spec, currency))
        })
        .collect();

    let mut rows = Vec::new();
    for (demo, id) in spec.orders.iter().zip(&order_ids) {
        let ordered_at = now.plus_seconds(-demo.2 * DAY_SECONDS - 3 * 3_600);
        let mut made = order(demo, known, repair_order, ordered_at);
        for (number, (place, quantity)) in (1..).zip(demo.5) {
            let Some(part) = parts.get_mut(*place) else { continue };
            let backlog = take(part, &mut made, (number, *quantity), id, now);
            rows.extend(
                backlog.map(|backlog| row(known.tenant, &backlog.id, (ordered_at, ordered_at), backlog.record)),
            );
        }
        // One currency and small amounts, so the sum exists.
        let _ = made.sum_up();
        let updated_at = made.cancelled_at.or(made.received_at).or(made.shipped_at).unwrap_or(ordered_at);
        rows.push(row(known.tenant, id, (ordered_at, updated_at), made));
    }
    for part in parts {
        if part.record.superseded_by.is_some() {
            let record = PartLink {
                part_number: part.record.part_number.clone(),
                superseded_by: part.record.superseded_by.clone(),
            };
            let id = PartLink::id_of(&part.record.part_number.key());
            rows.push(row(known.tenant, &id, (months_ago, months_ago), record));
        }
        rows.push(row(known.tenant, &part.id, (months_ago, months_ago), part.record));
    }
    rows
}

fn part(place: usize, demo: &DemoPart, spec: &PartsSpec, currency: &str) -> Part {
    // A number that is superseded costs what the current one does.
    let mut current = demo;
    while let Some(next) = spec.parts.iter().find(|next| Some(next.number) == current.superseded_by) {
        current = next;
    }
    let fits = |(make, model, from, to): &(&str, &str, i64, i64)| PartFitment {
        make: (*make).into(),
        model: Some((*model).into()),
        year_from: Some(Integer::clamped(*from)),
        year_to: Some(Integer::clamped(*to)),
    };
    let none = Integer::constant::<0>();
    let mut part = Part {
        part_number: demo.number.into(),
        manufacturer_code: Some(demo.maker.into()),
        description: demo.description.into(),
        condition: demo.condition,
        status: demo.status,
        superseded_by: demo.superseded_by.map(Into::into),
        availability: PartAvailability::Unknown,
        quantity_on_hand: Integer::clamped(demo.on_hand),
        quantity_reserved: none,
        quantity_available: none,
        quantity_on_order: Integer::clamped(demo.on_order),
        quantity_backordered: none,
        reorder_point: Integer::clamped(demo.reorder_point),
        lead_time_days: Some(Integer::clamped(demo.lead_time_days)),
        price: Money::new(current.price, currency),
        list_price: Some(Money::new(current.price + current.price / 10, currency)),
        core_charge: (demo.core_charge > 0).then(|| Money::new(demo.core_charge, currency)),
        bin: Some(format!("{}-{:02}", ["A", "B", "C", "D"].get(place % 4).unwrap_or(&"A"), 1 + place).as_str().into()),
        fitment: List(demo.fits.iter().map(fits).collect()),
    };
    part.settle();
    part
}

fn order(demo: &DemoPartOrder, known: &DemoIds<'_>, repair_order: Option<&str>, ordered_at: Millis) -> PartOrder {
    let DemoPartOrder(number, status, _, customer, is_for_workshop, _) = demo;
    let customer_id = customer.and_then(|place| known.customers.get(place));
    let is = |words: &[PartOrderStatus]| words.contains(status);
    let later = |hours: i64, happened: bool| happened.then(|| ordered_at.plus_seconds(hours * 3_600));
    PartOrder {
        order_number: (*number).into(),
        status: *status,
        customer_id: customer_id.map(|id| id.as_str().into()),
        repair_order_id: repair_order.filter(|_| *is_for_workshop).map(Into::into),
        lines: List::default(),
        total: None,
        ordered_at,
        eta: is(&[PartOrderStatus::Backordered]).then(|| ordered_at.plus_seconds(5 * DAY_SECONDS)),
        shipped_at: later(2, is(&[PartOrderStatus::Shipped, PartOrderStatus::Received])),
        received_at: later(24, is(&[PartOrderStatus::Received])),
        cancelled_at: later(6, is(&[PartOrderStatus::Cancelled])),
        notes: None,
        cancel_reason: None,
    }
}

/// Adds a line to an order and takes it from stock, as far as the order's status says that it was; gives what then waits.
fn take(
    part: &mut Entity<Part>,
    order: &mut PartOrder,
    (number, quantity): (i64, i64),
    order_id: &str,
    now: Millis,
) -> Option<Entity<PartBacklog>> {
    let is_open =
        matches!(order.status, PartOrderStatus::Requested | PartOrderStatus::Confirmed | PartOrderStatus::Backordered);
    let waiting = if is_open { quantity - part.record.takes(quantity) } else { 0 };
    let place = usize::try_from(number - 1).unwrap_or_default();
    let asked = part.record.part_number.clone();
    let mut line = order_line(place, &asked, quantity, waiting, part);
    if is_open {
        part.record.reserve(quantity - waiting);
        part.record.wait_for(waiting);
    } else if order.status == PartOrderStatus::Cancelled {
        line.quantity_filled = Integer::constant::<0>();
    } else {
        line.quantity_shipped = line.quantity_filled;
    }
    let entry =
        WaitingLine { order_id: order_id.into(), line: Integer::clamped(number), quantity: line.quantity_backordered };
    order.lines.push(line);
    let mut backlog = PartBacklog::empty(&part.tenant, &part.id, now);
    backlog.record.waiting.push(entry);
    (waiting > 0).then_some(backlog)
}
