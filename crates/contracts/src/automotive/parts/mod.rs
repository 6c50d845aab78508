//! Parts: the catalogue with its stock, which comes in by import, and orders that take from that stock or wait for it.

pub mod availability;
pub mod backlog;
mod erased;
pub mod number;
pub mod order;
mod order_rules;
pub mod part;
mod stock;
pub mod supersession;

use frontdesk_engine::Code;

use super::codes::CodeSpec;
use super::resource::ResourceParts;
use crate::record::Stored as _;
use part::Part;

pub(in crate::automotive) use order_rules::new_line as order_line;

pub const INSUFFICIENT_STOCK: CodeSpec = CodeSpec {
    code: Code("parts.insufficient_stock"),
    means: "Less is available than was ordered, and waiting for the rest is not allowed or not possible. Nothing was ordered.",
    next: "Order less, or send `allow_backorder` if the customer will wait; `details.errors` names the lines.",
};

pub const INVALID_TRANSITION: CodeSpec = CodeSpec {
    code: Code("parts.invalid_transition"),
    means: "The order's status cannot follow the one it has, or lines still wait for stock.",
    next: "Read the order, and choose a status that the message names.",
};

pub const DUPLICATE: CodeSpec = CodeSpec {
    code: Code("parts.duplicate"),
    means: "Another part has this part number, or another order this order number.",
    next: "Find that record and change it, or send another number.",
};

/// Of a line's part number.
pub const NOT_FOUND: CodeSpec = CodeSpec {
    code: Part::NOT_FOUND,
    means: "No part with this number or id, or no order with this id, exists for this caller.",
    next: "Find it with `parts.search` or `parts.list_orders`.",
};

/// In the order of `tools/list`.
pub fn resources() -> Vec<ResourceParts> {
    vec![part::resource(), order::resource()]
}
