//! The parts that a call takes from, gives back to or ships, each changed once and under its version: of two orders of the
//! last unit the second sees what the first has taken, so stock never falls below zero.

use frontdesk_engine::Fault;

use super::backlog::{MAX_WAITING, PartBacklog, WaitingLine};
use super::order::{PartOrder, PartOrderLine};
use super::part::Part;
use crate::automotive::resource::WriteContext;
use crate::record::{Entity, Integer, Ref};

/// One call serves at most this many orders that wait; the next call about the part goes on.
const MAX_SERVED: usize = 50;

#[derive(Default)]
pub(super) struct StockChange {
    parts: Vec<OpenPart>,
    /// Other orders, which get what they have waited for.
    served: Vec<Entity<PartOrder>>,
}

pub(super) struct OpenPart {
    pub(super) part: Entity<Part>,
    backlog: Option<Entity<PartBacklog>>,
    before: Part,
    is_backlog_changed: bool,
}

impl StockChange {
    /// A part that an order is about to take from. Those who wait for it are served first.
    pub(super) async fn open(
        &mut self,
        part: Entity<Part>,
        context: &mut WriteContext<'_>,
    ) -> Result<&mut OpenPart, Fault> {
        let id = part.id.clone();
        if !self.parts.iter().any(|open| open.part.id == id) {
            self.parts.push(OpenPart::load(part, context).await?);
            self.fill(&id, context).await?;
        }
        self.part(&id)
    }

    /// The part that the call itself writes.
    pub(super) async fn open_own(&mut self, part: &Entity<Part>, context: &mut WriteContext<'_>) -> Result<(), Fault> {
        self.parts.push(OpenPart::load(part.clone(), context).await?);
        Ok(())
    }

    /// Takes what is not shipped of these lines out of the store.
    pub(super) async fn ship(
        &mut self,
        lines: &mut [PartOrderLine],
        context: &mut WriteContext<'_>,
    ) -> Result<i64, Fault> {
        let mut shipped: i64 = 0;
        for line in lines {
            let quantity = line.quantity_filled.get().saturating_sub(line.quantity_shipped.get());
            if quantity == 0 {
                continue;
            }
            if let Some(open) = self.open_of(line, context).await? {
                open.part.record.ship(quantity);
            }
            line.quantity_shipped = line.quantity_filled;
            shipped = shipped.saturating_add(quantity);
        }
        Ok(shipped)
    }

    /// Gives back what is not shipped of an order, and serves those who wait for it.
    pub(super) async fn release(
        &mut self,
        order_id: &str,
        lines: &mut [PartOrderLine],
        context: &mut WriteContext<'_>,
    ) -> Result<(), Fault> {
        for line in lines {
            let taken = line.quantity_filled.get().saturating_sub(line.quantity_shipped.get());
            let waiting = line.quantity_backordered.get();
            if let Some(open) = self.open_of(line, context).await? {
                open.part.record.reserve(taken.saturating_neg());
                open.part.record.wait_for(waiting.saturating_neg());
                open.forget(order_id);
            }
            line.quantity_filled = line.quantity_shipped;
            line.quantity_backordered = Integer::constant::<0>();
        }
        self.fill_all(context).await
    }

    pub(super) async fn fill_all(&mut self, context: &mut WriteContext<'_>) -> Result<(), Fault> {
        let ids: Vec<String> = self.parts.iter().map(|open| open.part.id.clone()).collect();
        for id in ids {
            self.fill(&id, context).await?;
        }
        Ok(())
    }

    /// Adds all changes to the plan.
    pub(super) fn close(self, context: &mut WriteContext<'_>) {
        for open in self.parts {
            if open.part.record != open.before {
                context.update(open.part);
            }
            if let Some(backlog) = open.backlog.filter(|_| open.is_backlog_changed) {
                context.write_hidden(backlog);
            }
        }
        self.served.into_iter().for_each(|order| context.update(order));
    }

    /// As `close`, for the part that the call itself writes.
    pub(super) fn close_own(mut self, part: &mut Entity<Part>, context: &mut WriteContext<'_>) {
        for open in self.parts.iter_mut().filter(|open| open.part.id == part.id) {
            part.record = open.part.record.clone();
            open.before = open.part.record.clone();
        }
        self.close(context);
    }

    /// Gives what is there to who waits, those who came first before others.
    async fn fill(&mut self, part_id: &str, context: &mut WriteContext<'_>) -> Result<(), Fault> {
        while self.served.len() < MAX_SERVED {
            let Some(first) = self.part(part_id)?.first_waiting() else { return Ok(()) };
            let place = self.serve(&first.order_id, context).await?;
            let order = place.and_then(|place| self.served.get_mut(place));
            let line = order.and_then(|order| order.record.waiting_line(first.line));
            let Some(open) = self.parts.iter_mut().find(|open| open.part.id == part_id) else { return Ok(()) };
            let given = match line {
                Some(line) => {
                    let given = open.part.record.quantity_available.get().min(first.quantity.get());
                    let given = given.min(line.quantity_backordered.get());
                    line.quantity_filled = Integer::clamped(line.quantity_filled.get().saturating_add(given));
                    line.quantity_backordered = Integer::clamped(line.quantity_backordered.get().saturating_sub(given));
                    open.part.record.reserve(given);
                    given
                }
                // Nobody is there to take it, so the next one may.
                None => first.quantity.get(),
            };
            open.part.record.wait_for(given.saturating_neg());
            open.take_from_first(given);
            if let Some(order) = place.and_then(|place| self.served.get_mut(place)) {
                order.record.note_filled();
            }
        }
        Ok(())
    }

    /// The order's place among those that are served.
    async fn serve(
        &mut self,
        order_id: &Ref<PartOrder>,
        context: &mut WriteContext<'_>,
    ) -> Result<Option<usize>, Fault> {
        let known = self.served.iter().position(|order| order.id == **order_id);
        if known.is_some() {
            return Ok(known);
        }
        let Some(order) = context.load(order_id).await? else { return Ok(None) };
        self.served.push(order);
        Ok(self.served.len().checked_sub(1))
    }

    async fn open_of(
        &mut self,
        line: &PartOrderLine,
        context: &mut WriteContext<'_>,
    ) -> Result<Option<&mut OpenPart>, Fault> {
        if !self.parts.iter().any(|open| open.part.id == *line.part_id) {
            let Some(part) = context.load(&line.part_id).await? else { return Ok(None) };
            self.parts.push(OpenPart::load(part, context).await?);
        }
        self.part(&line.part_id).map(Some)
    }

    fn part(&mut self, id: &str) -> Result<&mut OpenPart, Fault> {
        let open = self.parts.iter_mut().find(|open| open.part.id == id);
        open.ok_or_else(|| Fault::internal("a part that was just opened is missing"))
    }
}

impl OpenPart {
    async fn load(part: Entity<Part>, context: &mut WriteContext<'_>) -> Result<OpenPart, Fault> {
        // Most parts are waited for by nobody, and have no row.
        let backlog = if part.record.quantity_backordered.get() > 0 {
            context.load(&Ref::<PartBacklog>::from(PartBacklog::id_of(&part.id).as_str())).await?
        } else {
            None
        };
        Ok(OpenPart { before: part.record.clone(), part, backlog, is_backlog_changed: false })
    }

    /// Takes from stock for a new line; returns how many it has to wait for.
    pub(super) fn take(&mut self, quantity: i64) -> i64 {
        let taken = self.part.record.takes(quantity);
        self.part.record.reserve(taken);
        quantity.saturating_sub(taken)
    }

    /// Whether another line can wait for it.
    pub(super) fn has_room_to_wait(&self) -> bool {
        let waiting = self.backlog.as_ref().map_or(0, |backlog| backlog.record.waiting.len());
        self.part.record.can_be_waited_for() && waiting < MAX_WAITING
    }

    /// Puts a line behind those who wait already.
    pub(super) async fn wait(&mut self, waiting: WaitingLine, context: &mut WriteContext<'_>) -> Result<(), Fault> {
        self.part.record.wait_for(waiting.quantity.get());
        let backlog = match self.backlog.take() {
            Some(backlog) => backlog,
            None => {
                let id = PartBacklog::id_of(&self.part.id);
                let stored = context.load(&Ref::<PartBacklog>::from(id.as_str())).await?;
                stored.unwrap_or_else(|| PartBacklog::empty(&self.part.tenant, &self.part.id, context.now()))
            }
        };
        let backlog = self.backlog.insert(backlog);
        backlog.record.waiting.push(waiting);
        self.is_backlog_changed = true;
        Ok(())
    }

    fn first_waiting(&self) -> Option<WaitingLine> {
        let waiting = self.backlog.as_ref()?.record.waiting.first();
        waiting.filter(|_| self.part.record.quantity_available.get() > 0).cloned()
    }

    fn take_from_first(&mut self, quantity: i64) {
        let Some(backlog) = &mut self.backlog else { return };
        if let Some(first) = backlog.record.waiting.first_mut() {
            first.quantity = Integer::clamped(first.quantity.get().saturating_sub(quantity));
        }
        backlog.record.waiting.retain(|line| line.quantity.get() > 0);
        self.is_backlog_changed = true;
    }

    fn forget(&mut self, order_id: &str) {
        let Some(backlog) = &mut self.backlog else { return };
        let waiting = backlog.record.waiting.len();
        backlog.record.waiting.retain(|line| *line.order_id != *order_id);
        self.is_backlog_changed |= backlog.record.waiting.len() != waiting;
    }
}
