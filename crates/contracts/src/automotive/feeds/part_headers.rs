//! The names that columns have in feeds of parts: those of parts systems and price files. Fields' own names need no alias.

use crate::feed::HeaderAlias;

const fn field(header: &'static str, field: &'static str) -> HeaderAlias {
    HeaderAlias::field(header, field)
}

const fn ignored(header: &'static str) -> HeaderAlias {
    HeaderAlias::ignored(header)
}

pub(super) const ALIASES: &[HeaderAlias] = &[
    field("part", "part_number"),
    field("part no", "part_number"),
    field("part num", "part_number"),
    field("mpn", "part_number"),
    field("manufacturer", "manufacturer_code"),
    field("mfr", "manufacturer_code"),
    field("mfr code", "manufacturer_code"),
    field("make code", "manufacturer_code"),
    field("part name", "description"),
    field("part description", "description"),
    field("desc", "description"),
    field("on hand", "quantity_on_hand"),
    field("qoh", "quantity_on_hand"),
    field("qty on hand", "quantity_on_hand"),
    field("on hand quantity", "quantity_on_hand"),
    field("on order", "quantity_on_order"),
    field("qty on order", "quantity_on_order"),
    field("on order quantity", "quantity_on_order"),
    field("rop", "reorder_point"),
    field("lead time", "lead_time_days"),
    field("selling price", "price"),
    field("sale price", "price"),
    field("list", "list_price"),
    field("msrp", "list_price"),
    field("core", "core_charge"),
    field("core price", "core_charge"),
    field("core deposit", "core_charge"),
    field("bin location", "bin"),
    field("superseded to", "superseded_by"),
    field("superseded by number", "superseded_by"),
    field("current part number", "superseded_by"),
    field("replaced by", "superseded_by"),
    // What the dealership pays is nobody's business here, and rows belong to the dealership that the import is for.
    ignored("cost"),
    ignored("dealer cost"),
    ignored("store"),
    ignored("dealership"),
];
