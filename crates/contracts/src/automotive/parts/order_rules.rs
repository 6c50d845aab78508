//! What an order does to the stock: it takes and waits when it is placed, ships, and gives back when it is cancelled. All
//! of it happens in the plan of the order's own change.

use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::{Fault, Scope};
use serde_json::Value;

use super::backlog::WaitingLine;
use super::number::PartNumber;
use super::order::{MAX_LINES, MAX_QUANTITY, PartOrder, PartOrderLine, PartOrderStatus};
use super::part::Part;
use super::stock::StockChange;
use super::supersession::{self, PartChain};
use super::{DUPLICATE, INSUFFICIENT_STOCK, INVALID_TRANSITION};
use crate::automotive::codes::CodeSpec;
use crate::automotive::domains::{self, Domain};
use crate::automotive::resource::{Resource, WriteContext};
use crate::automotive::values::{MAX_SAFE_INTEGER, Money, is_plain_id};
use crate::record::{Entity, Integer, Stored as _, check_transition};

pub(super) const LINES: &str = "lines";
pub(super) const ALLOW_BACKORDER: &str = "allow_backorder";

const DAY_SECONDS: i64 = 24 * 60 * 60;

use PartOrderStatus::{Backordered, Cancelled, Confirmed, PartiallyShipped, Received, Requested, Shipped};

/// An order becomes backordered when it is placed, and confirmed by itself when everything is there.
const TRANSITIONS: &[(PartOrderStatus, &[PartOrderStatus])] = &[
    (Requested, &[Confirmed, Shipped, Received, Cancelled]),
    (Confirmed, &[Shipped, Received, Cancelled]),
    (Backordered, &[PartiallyShipped, Cancelled]),
    (PartiallyShipped, &[Shipped, Received, Cancelled]),
    (Shipped, &[Received]),
];

impl Resource for PartOrder {
    const DOMAIN: &'static Domain = &domains::PARTS;
    const DUPLICATE: CodeSpec = DUPLICATE;

    fn on_create(entity: &mut Entity<PartOrder>, _: &WriteContext<'_>) -> Result<(), Fault> {
        if entity.record.order_number.is_empty() {
            let end = entity.id.get(entity.id.len().saturating_sub(10)..).unwrap_or(&entity.id);
            entity.record.order_number = format!("P-{}", end.to_ascii_uppercase()).as_str().into();
        }
        // Lists show it unmasked, so it must not be able to hold a name.
        if !is_plain_id(&entity.record.order_number) {
            let expected = "only letters A to Z, digits, _ and - are allowed";
            return Err(Fault::invalid_argument("/order_number", "pattern", expected));
        }
        Ok(())
    }

    fn on_update(
        before: &Entity<PartOrder>,
        after: &mut Entity<PartOrder>,
        context: &WriteContext<'_>,
    ) -> Result<(), Fault> {
        let (old, new) = (&before.record, &mut after.record);
        check_transition(TRANSITIONS, old.status, new.status, INVALID_TRANSITION.code)?;
        if context.is_named("status") {
            new.check_shipping()?;
        }
        if old.eta != new.eta && new.eta.is_some_and(|eta| eta <= context.now()) {
            return Err(Fault::invalid_argument("/eta", "minimum", "it must lie in the future"));
        }
        if old.status != new.status && new.status == Received {
            new.received_at = Some(context.now());
        }
        if old.status != new.status && new.status == Cancelled {
            new.cancelled_at = Some(context.now());
            new.cancel_reason = context.argument("cancel_reason")?;
        }
        Ok(())
    }

    async fn cascade(
        before: Option<&Entity<PartOrder>>,
        after: &mut Entity<PartOrder>,
        context: &mut WriteContext<'_>,
    ) -> Result<(), Fault> {
        let mut stock = StockChange::default();
        match before {
            None => place(after, &mut stock, context).await?,
            Some(before) if before.record.status != Cancelled && after.record.status == Cancelled => {
                stock.release(&after.id, &mut after.record.lines, context).await?;
            }
            Some(_) if context.is_named("status") && after.record.status.ships() => {
                if stock.ship(&mut after.record.lines, context).await? > 0 {
                    after.record.shipped_at = Some(context.now());
                }
            }
            Some(_) => {}
        }
        stock.close(context);
        after.record.sum_up()
    }
}

/// The rules of an update see to the rest: what goes back to stock, when it was cancelled, and why.
pub(super) fn cancel(entity: &mut Entity<PartOrder>, _: &WriteContext<'_>) -> Result<(), Fault> {
    entity.record.status = Cancelled;
    Ok(())
}

impl PartOrderStatus {
    fn ships(self) -> bool {
        matches!(self, PartiallyShipped | Shipped | Received)
    }
}

impl PartOrder {
    fn waits(&self) -> bool {
        self.lines.iter().any(|line| line.quantity_backordered.get() > 0)
    }

    /// What is shipped must be there, and a status must be true of all lines.
    fn check_shipping(&self) -> Result<(), Fault> {
        let is_ready = self.lines.iter().any(|line| line.quantity_filled > line.quantity_shipped);
        let message = match self.status {
            Shipped | Received if self.waits() => {
                "Lines of this order wait for stock. Set partially_shipped to send what is there, or cancel the rest with \
                 parts.cancel_order."
            }
            PartiallyShipped if !self.waits() => "Everything is there: set shipped instead.",
            PartiallyShipped if !is_ready => "Nothing that could be sent has come in yet.",
            PartiallyShipped
            | Shipped
            | Received
            | Requested
            | Confirmed
            | Backordered
            | Cancelled
            | PartOrderStatus::Unknown => return Ok(()),
        };
        Err(Fault::domain(INVALID_TRANSITION.code, message))
    }

    /// A line that still waits.
    pub(super) fn waiting_line(&mut self, number: Integer<1, MAX_LINES>) -> Option<&mut PartOrderLine> {
        self.lines.iter_mut().find(|line| line.line == number && line.quantity_backordered.get() > 0)
    }

    /// Something it waited for has come in.
    pub(super) fn note_filled(&mut self) {
        if self.status == Backordered && !self.waits() {
            self.status = Confirmed;
        }
    }

    /// Works out what the lines and the order come to.
    pub fn sum_up(&mut self) -> Result<(), Fault> {
        let mut total: Option<Money> = None;
        let mut problems = Vec::new();
        let is_cancelled = self.status == Cancelled;
        for (place, line) in self.lines.iter_mut().enumerate() {
            let currency = line.unit_price.currency.clone();
            let core = line.core_charge.as_ref().map_or(0, |charge| charge.amount.get());
            let each = line.unit_price.amount.get().saturating_add(core);
            let quantity = if is_cancelled { line.quantity_shipped.get() } else { line.quantity.get() };
            let amount = each.saturating_mul(quantity);
            line.line_total = Money::new(amount, &currency);
            let sum = total.get_or_insert_with(|| Money::new(0, &currency));
            let added = sum.amount.get().saturating_add(amount);
            if sum.currency != currency {
                let expected = "all parts of an order have prices in one currency";
                problems.push(Problem::new(&format!("/lines/{place}/part_number"), "const", expected));
            } else if added > MAX_SAFE_INTEGER {
                let expected = "the order comes to too much";
                problems.push(Problem::new(&format!("/lines/{place}/quantity"), "maximum", expected));
            } else {
                *sum = Money::new(added, &currency);
            }
        }
        self.total = total;
        if problems.is_empty() { Ok(()) } else { Err(Fault::invalid(problems)) }
    }
}

/// Takes what is there and waits for the rest. All lines that cannot be had are named at once.
async fn place(
    order: &mut Entity<PartOrder>,
    stock: &mut StockChange,
    context: &mut WriteContext<'_>,
) -> Result<(), Fault> {
    let allows_backorder = context.argument::<bool>(ALLOW_BACKORDER)?.unwrap_or(false);
    // Who may order but not read is not told how many there are.
    let may_read = context.permitted().caller().scopes.has(&Scope::new(domains::PARTS.read));
    let mut unknown = Vec::new();
    let mut short = Vec::new();
    let mut longest: Option<i64> = None;
    for (place, (number, quantity)) in wanted_lines(context).into_iter().enumerate() {
        let Some(chain) = supersession::follow(context.permitted(), &number).await? else {
            let expected = "a part number that parts.search finds is expected";
            unknown.push(Problem::new(&format!("/lines/{place}/part_number"), "enum", expected));
            continue;
        };
        let is_current_here = chain.missing.is_none();
        let Some(part) = current(chain, context) else { continue };
        let open = stock.open(part, context).await?;
        let available = open.part.record.takes(quantity);
        let waiting = open.take(quantity);
        if waiting > 0 && !(allows_backorder && open.has_room_to_wait()) {
            let expected = if is_current_here {
                shortage(&open.part.record, Some(available).filter(|_| may_read))
            } else {
                "it is superseded by a part that the catalogue does not have".to_owned()
            };
            short.push(Problem::new(&format!("/lines/{place}/quantity"), "maximum", expected));
            continue;
        }
        let line = new_line(place, &number, quantity, waiting, &open.part);
        if waiting > 0 {
            let entry = WaitingLine {
                order_id: order.id.as_str().into(),
                line: line.line,
                quantity: line.quantity_backordered,
            };
            open.wait(entry, context).await?;
            longest = longest.max(open.part.record.lead_time_days.map(Integer::get));
            order.record.status = Backordered;
        }
        order.record.lines.push(line);
    }
    if !unknown.is_empty() {
        let message =
            format!("Not all of these parts exist here. {}. Find parts with parts.search.", spelled(&unknown));
        return Err(Fault { problems: unknown, ..Fault::domain(Part::NOT_FOUND, message) });
    }
    if !short.is_empty() {
        let message = format!("Nothing was ordered. {}.", spelled(&short));
        return Err(Fault { problems: short, ..Fault::domain(INSUFFICIENT_STOCK.code, message) });
    }
    order.record.eta = longest.map(|days| context.now().plus_seconds(days.saturating_mul(DAY_SECONDS)));
    Ok(())
}

/// The part that is ordered instead of those before it in the chain, which must stay superseded.
fn current(chain: PartChain, context: &mut WriteContext<'_>) -> Option<Entity<Part>> {
    let mut parts = chain.parts;
    let current = parts.pop()?;
    parts.iter().for_each(|earlier| context.require_unchanged(earlier));
    Some(current)
}

fn shortage(part: &Part, available: Option<i64>) -> String {
    let rest = if part.can_be_waited_for() { "allow_backorder waits for the rest" } else { "more of it cannot be had" };
    let available = available.map_or_else(|| "fewer".to_owned(), |available| available.to_string());
    format!("{available} can be had from stock; {rest}")
}

fn spelled(problems: &[Problem]) -> String {
    let reasons = problems.iter().map(|problem| format!("{}: {}", problem.pointer, problem.expected));
    reasons.collect::<Vec<String>>().join("; ")
}

fn wanted_lines(context: &WriteContext<'_>) -> Vec<(PartNumber, i64)> {
    let arguments = &context.permitted().input().arguments;
    let lines = arguments.get(LINES).and_then(Value::as_array).into_iter().flatten();
    let wanted = lines.filter_map(|line| {
        let number = line.get("part_number").and_then(Value::as_str)?;
        Some((PartNumber::from(number), line.get("quantity").and_then(Value::as_i64)?))
    });
    wanted.collect()
}

/// A line as it is when the order is placed; `waiting` of the quantity were not there.
pub(in crate::automotive) fn new_line(
    place: usize,
    asked: &PartNumber,
    quantity: i64,
    waiting: i64,
    part: &Entity<Part>,
) -> PartOrderLine {
    let number = i64::try_from(place).unwrap_or(MAX_LINES).saturating_add(1);
    let part_id = part.id.as_str().into();
    let part = &part.record;
    PartOrderLine {
        line: Integer::clamped(number),
        part_id,
        part_number: part.part_number.clone(),
        ordered_part_number: (!asked.is_same(&part.part_number)).then(|| asked.clone()),
        description: part.description.clone(),
        quantity: Integer::clamped(quantity),
        quantity_filled: Integer::<0, MAX_QUANTITY>::clamped(quantity.saturating_sub(waiting)),
        quantity_shipped: Integer::constant::<0>(),
        quantity_backordered: Integer::clamped(waiting),
        unit_price: part.price.clone(),
        core_charge: part.core_charge.clone(),
        line_total: part.price.clone(),
    }
}
