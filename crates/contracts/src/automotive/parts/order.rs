//! An order of parts, for a customer, the workshop or the counter. It takes from stock what is there and waits for the
//! rest, if the caller allows that. Prices are those of the catalogue.

use frontdesk_engine::model::schema::{Field, Schema, optional, required};

use super::number::{MAX_LENGTH, PartNumber};
use super::order_rules::{self, ALLOW_BACKORDER, LINES};
use super::part::Part;
use super::{INSUFFICIENT_STOCK, INVALID_TRANSITION, NOT_FOUND};
use crate::automotive::customer::Customer;
use crate::automotive::resource::{ResourceApi, ResourceParts};
use crate::automotive::service::repair_order::RepairOrder;
use crate::automotive::values::Money;
use crate::record::filter::{at_least, equals};
use crate::record::{FieldType as _, FilterArgument, Integer, List, Ref, Text, Timestamp};
use crate::{Record, Vocabulary};

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum PartOrderStatus { Requested, Confirmed, Backordered, PartiallyShipped, Shipped, Received, Cancelled, Unknown }

pub const MAX_LINES: i64 = 50;
pub const MAX_QUANTITY: i64 = 10_000;

#[derive(Debug, Clone, PartialEq, Record)]
#[table("part_order", prefix = "por", not_found = "parts.not_found", noun = "part order")]
pub struct PartOrder {
    /// The dealership's number of the order.
    #[field(create, unique)]
    #[argument("The dealership's number of the order: letters A to Z, digits, _ and -; made up if absent.")]
    #[default(Text::from(""))]
    pub order_number: Text<40>,
    /// How far it has come. A backordered one becomes confirmed by itself when everything is there.
    #[field(update, known, indexed, receipt)]
    #[argument("The new status.")]
    #[default(PartOrderStatus::Requested)]
    pub status: PartOrderStatus,
    /// The customer it is for.
    #[field(create, update, indexed)]
    pub customer_id: Option<Ref<Customer>>,
    /// The repair order it is for.
    #[field(create, update, indexed)]
    pub repair_order_id: Option<Ref<RepairOrder>>,
    /// What is ordered.
    #[default(List::default())]
    pub lines: List<PartOrderLine, 50>,
    /// What it comes to, core charges included; of a cancelled order what was shipped.
    pub total: Option<Money>,
    /// When it was ordered.
    #[field(column)]
    #[default(|new| new.now)]
    pub ordered_at: Timestamp,
    /// When what is missing is expected.
    #[field(update)]
    pub eta: Option<Timestamp>,
    /// When the last of it was shipped.
    pub shipped_at: Option<Timestamp>,
    /// When it was received.
    pub received_at: Option<Timestamp>,
    /// When it was cancelled.
    pub cancelled_at: Option<Timestamp>,
    /// What else was said; left out where masked.
    #[field(create, update, sealed)]
    pub notes: Option<Text<4000>>,
    /// Why it was cancelled; left out where masked.
    #[field(sealed)]
    pub cancel_reason: Option<Text<500>>,
}

#[derive(Debug, Clone, PartialEq, Record)]
pub struct PartOrderLine {
    /// Its number on the order, from 1.
    pub line: Integer<1, MAX_LINES>,
    /// The part.
    pub part_id: Ref<Part>,
    /// Its number.
    pub part_number: PartNumber,
    /// The number that was ordered, if part_number supersedes it.
    pub ordered_part_number: Option<PartNumber>,
    /// What it is.
    pub description: Text<200>,
    /// How many were ordered.
    pub quantity: Integer<1, MAX_QUANTITY>,
    /// How many of them were taken from stock, those that were shipped among them.
    pub quantity_filled: Integer<0, MAX_QUANTITY>,
    /// How many of them were shipped.
    pub quantity_shipped: Integer<0, MAX_QUANTITY>,
    /// How many of them wait for stock.
    pub quantity_backordered: Integer<0, MAX_QUANTITY>,
    /// What one costs.
    pub unit_price: Money,
    /// Deposit on each.
    pub core_charge: Option<Money>,
    /// What the line comes to.
    pub line_total: Money,
}

const LISTED_BY: &[FilterArgument] = &[
    equals("status", "Only orders with this status."),
    equals("customer_id", "Only those of this customer."),
    equals("repair_order_id", "Only those for this repair order."),
    equals("order_number", "The one with this number."),
    at_least("ordered_since", "ordered_at", "Only those ordered at or after this."),
];

/// The argument of the lines, of which the record has more to say.
fn lines_argument() -> Field {
    let line = Schema::object([
        required(
            "part_number",
            Schema::text(MAX_LENGTH),
            "The part's number; a superseded one orders the current part.",
        ),
        required("quantity", Schema::integer(1, MAX_QUANTITY), "How many."),
    ]);
    required(LINES, Schema::non_empty_list(line, MAX_LINES.unsigned_abs() as usize), "What to order.")
}

pub fn resource() -> ResourceParts {
    let allow_backorder = optional(
        ALLOW_BACKORDER,
        Schema::Boolean,
        "true: what is not in stock waits for the next delivery; otherwise nothing is ordered then.",
    );
    let cancel_reason = optional("cancel_reason", Text::<500>::input(), "Why it is cancelled.");
    ResourceApi::<PartOrder>::new("part_orders", "The order's id, as lists give it; not its number.")
        .list(
            "parts.list_orders",
            "List part orders",
            "Lists orders of parts, newest first, page by page.",
            LISTED_BY,
            ("Part orders", "Orders of parts, newest first."),
        )
        .get(
            "parts.get_order",
            "Get a part order",
            "Reads one order of parts by its id, with its notes.",
            ("Part order", "One order of parts by its id."),
        )
        .create(
            "parts.create_order",
            "Order parts",
            "Orders parts at catalogue prices and reserves what is in stock. Ask parts.check_availability first. Status \
             requested: all is there; backordered: some lines wait. Without amcp:parts:read the answer is a receipt.",
            vec![lines_argument(), allow_backorder],
            &[INSUFFICIENT_STOCK, NOT_FOUND],
        )
        .update(
            "parts.update_order",
            "Update a part order",
            "Changes what is named. Status: confirmed, then shipped and received, which take the parts out of stock; \
             partially_shipped sends what a backordered order has. Lines stay: cancel and order again.",
            &[INVALID_TRANSITION],
        )
        .change(
            (
                "parts.cancel_order",
                "Cancel a part order",
                "Cancels what is not shipped of an order. Reserved parts go to orders that wait, or back to stock.",
            ),
            "cancel",
            vec![cancel_reason],
            &[INVALID_TRANSITION],
            order_rules::cancel,
        )
        .parts()
}
