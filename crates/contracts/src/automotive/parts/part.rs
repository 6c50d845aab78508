//! A part of the catalogue, with what is there of it. Parts come in by import; orders change what is reserved.

use frontdesk_engine::Fault;
use frontdesk_engine::model::fault::Problem;
use serde_json::{Map, Value};

use super::number::{self, PartNumber};
use super::stock::StockChange;
use super::{DUPLICATE, availability, supersession};
use crate::automotive::codes::CodeSpec;
use crate::automotive::domains::{self, Domain};
use crate::automotive::parts::backlog::PartBacklog;
use crate::automotive::parts::supersession::PartLink;
use crate::automotive::resource::{Resource, ResourceApi, ResourceParts, Withdrawal, WriteContext};
use crate::automotive::values::Money;
use crate::record::filter::{equals, words};
use crate::record::{Entity, FilterArgument, Integer, List, Stored as _, Text};
use crate::{Record, Vocabulary};

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum PartCondition { New, Remanufactured, Used, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum PartStatus { Active, SpecialOrder, Discontinued, Withdrawn, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum PartAvailability {
    InStock, LowStock, Backordered, SpecialOrder, Discontinued, Superseded, Unavailable, Unknown,
}

/// More than any store holds of one part.
pub const MAX_STOCK: i64 = 1_000_000_000;

#[derive(Debug, Clone, PartialEq, Record)]
#[table("part", prefix = "prt", not_found = "parts.not_found")]
pub struct Part {
    /// The number of the manufacturer; case, dashes and spaces do not matter.
    #[field(create, unique, searched)]
    pub part_number: PartNumber,
    /// Whose number it is, such as TOY.
    #[field(create, update, indexed, searched)]
    pub manufacturer_code: Option<Text<20>>,
    /// What it is.
    #[field(create, update, searched)]
    pub description: Text<200>,
    /// New or not.
    #[field(create, update, known, column)]
    #[default(PartCondition::New)]
    pub condition: PartCondition,
    /// Whether more of it can be had: active and special_order parts can be waited for, others not.
    #[field(create, update, known, column)]
    #[default(PartStatus::Active)]
    pub status: PartStatus,
    /// The number that replaces it. Orders go to the current part.
    #[field(create, update, indexed)]
    pub superseded_by: Option<PartNumber>,
    /// Whether it can be had now, from stock and status.
    #[field(indexed)]
    #[default(PartAvailability::Unknown)]
    pub availability: PartAvailability,
    /// How many the dealership has.
    #[field(create, update)]
    #[default(Integer::constant::<0>())]
    pub quantity_on_hand: Integer<0, MAX_STOCK>,
    /// How many of them orders have taken that are not shipped.
    #[default(Integer::constant::<0>())]
    pub quantity_reserved: Integer<0, MAX_STOCK>,
    /// How many can still be ordered from stock.
    #[default(Integer::constant::<0>())]
    pub quantity_available: Integer<0, MAX_STOCK>,
    /// How many are on their way to the dealership.
    #[field(create, update)]
    #[default(Integer::constant::<0>())]
    pub quantity_on_order: Integer<0, MAX_STOCK>,
    /// How many orders wait for.
    #[default(Integer::constant::<0>())]
    pub quantity_backordered: Integer<0, MAX_STOCK>,
    /// With this many or fewer available, stock is low.
    #[field(create, update)]
    #[default(Integer::constant::<0>())]
    pub reorder_point: Integer<0, MAX_STOCK>,
    /// How long a delivery to the dealership takes.
    #[field(create, update)]
    pub lead_time_days: Option<Integer<0, 3_650>>,
    /// What one costs here.
    #[field(create, update)]
    pub price: Money,
    /// The manufacturer's list price.
    #[field(create, update)]
    pub list_price: Option<Money>,
    /// Deposit on each, paid back for the old part; in the currency of the price.
    #[field(create, update)]
    pub core_charge: Option<Money>,
    /// Where it lies.
    #[field(create, update)]
    pub bin: Option<Text<40>>,
    /// Vehicles that it fits.
    #[field(create, update, searched)]
    #[default(List::default())]
    pub fitment: List<PartFitment, 100>,
}

#[derive(Debug, Clone, PartialEq, Record)]
pub struct PartFitment {
    /// Make, such as Toyota.
    #[field(searched)]
    pub make: Text<60>,
    /// Model; all of the make if absent.
    #[field(searched)]
    pub model: Option<Text<60>>,
    /// First model year.
    pub year_from: Option<Integer<1900, 2100>>,
    /// Last model year.
    pub year_to: Option<Integer<1900, 2100>>,
}

impl Resource for Part {
    const DOMAIN: &'static Domain = &domains::PARTS;
    const DUPLICATE: CodeSpec = DUPLICATE;
    const WITHDRAWAL: Option<Withdrawal> =
        Some(Withdrawal { field: "status", listed: &["active", "special_order"], withdrawn: "withdrawn" });

    fn match_text(field: &str, text: &str) -> String {
        if field == "part_number" { number::key_of(text) } else { text.to_owned() }
    }

    /// What a feed lists again can be had again.
    fn on_listed(part: &Part, arguments: &mut Map<String, Value>) {
        let names_itself = |number: &str| number::key_of(number) == part.part_number.key();
        let is_current = arguments.get("superseded_by").and_then(Value::as_str).is_some_and(names_itself);
        if is_current && part.superseded_by.is_none() {
            arguments.remove("superseded_by");
        }
        if part.status == PartStatus::Withdrawn && !arguments.contains_key("status") {
            arguments.insert("status".to_owned(), Value::from("active"));
        }
    }

    fn on_create(entity: &mut Entity<Part>, _: &WriteContext<'_>) -> Result<(), Fault> {
        entity.record.drop_own_number();
        entity.record.settle();
        entity.record.check()
    }

    fn on_update(_: &Entity<Part>, after: &mut Entity<Part>, _: &WriteContext<'_>) -> Result<(), Fault> {
        after.record.drop_own_number();
        after.record.settle();
        after.record.check()
    }

    /// What has come in goes to the orders that wait for it.
    async fn cascade(
        before: Option<&Entity<Part>>,
        after: &mut Entity<Part>,
        context: &mut WriteContext<'_>,
    ) -> Result<(), Fault> {
        supersession::link(before.map(|before| &before.record), &after.record, context).await?;
        let fills = after.record.quantity_available.get() > 0 && after.record.quantity_backordered.get() > 0;
        if fills {
            let mut stock = StockChange::default();
            stock.open_own(after, context).await?;
            stock.fill_all(context).await?;
            stock.close_own(after, context);
        }
        Ok(())
    }
}

impl Part {
    /// Feeds name the current number of every part; its own means that nothing replaces it, or no longer.
    fn drop_own_number(&mut self) {
        let own = self.part_number.key();
        self.superseded_by = self.superseded_by.take().filter(|number| number.key() != own);
    }

    /// Works out what follows from the quantities and the status.
    pub fn settle(&mut self) {
        let available = self.quantity_on_hand.get().saturating_sub(self.quantity_reserved.get()).max(0);
        self.quantity_available = Integer::clamped(available);
        self.availability = match self.status {
            _ if self.superseded_by.is_some() => PartAvailability::Superseded,
            PartStatus::Withdrawn | PartStatus::Unknown => PartAvailability::Unavailable,
            PartStatus::Active | PartStatus::SpecialOrder | PartStatus::Discontinued if available > 0 => {
                if available > self.reorder_point.get() {
                    PartAvailability::InStock
                } else {
                    PartAvailability::LowStock
                }
            }
            PartStatus::Active => PartAvailability::Backordered,
            PartStatus::SpecialOrder => PartAvailability::SpecialOrder,
            PartStatus::Discontinued => PartAvailability::Discontinued,
        };
    }

    /// How many an order gets from stock: those who wait come first, so it is what they leave.
    pub(in crate::automotive) fn takes(&self, quantity: i64) -> i64 {
        match self.status {
            PartStatus::Active | PartStatus::SpecialOrder | PartStatus::Discontinued
                if self.superseded_by.is_none() =>
            {
                let left = self.quantity_available.get().saturating_sub(self.quantity_backordered.get());
                quantity.min(left.max(0))
            }
            PartStatus::Active
            | PartStatus::SpecialOrder
            | PartStatus::Discontinued
            | PartStatus::Withdrawn
            | PartStatus::Unknown => 0,
        }
    }

    /// Whether an order can wait for more of it.
    pub(super) fn can_be_waited_for(&self) -> bool {
        matches!(self.status, PartStatus::Active | PartStatus::SpecialOrder) && self.superseded_by.is_none()
    }

    pub(in crate::automotive) fn reserve(&mut self, quantity: i64) {
        self.quantity_reserved = moved(self.quantity_reserved, quantity);
        self.settle();
    }

    /// What has left the store.
    pub(super) fn ship(&mut self, quantity: i64) {
        self.quantity_on_hand = moved(self.quantity_on_hand, quantity.saturating_neg());
        self.reserve(quantity.saturating_neg());
    }

    pub(in crate::automotive) fn wait_for(&mut self, quantity: i64) {
        self.quantity_backordered = moved(self.quantity_backordered, quantity);
        self.settle();
    }

    fn check(&self) -> Result<(), Fault> {
        let mut problems = Vec::new();
        let has_no_sign = |number: &PartNumber| number.key().is_empty();
        if has_no_sign(&self.part_number) {
            problems.push(Problem::new("/part_number", "pattern", "at least one letter or digit is expected"));
        }
        if self.superseded_by.as_ref().is_some_and(has_no_sign) {
            problems.push(Problem::new("/superseded_by", "pattern", "at least one letter or digit is expected"));
        }
        if self.core_charge.as_ref().is_some_and(|charge| charge.currency != self.price.currency) {
            problems.push(Problem::new("/core_charge/currency", "const", "it must be the currency of the price"));
        }
        for (place, fits) in self.fitment.iter().enumerate() {
            if let (Some(from), Some(to)) = (fits.year_from, fits.year_to)
                && to < from
            {
                let pointer = format!("/fitment/{place}/year_to");
                problems.push(Problem::new(&pointer, "minimum", "it must not be before year_from"));
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(Fault::invalid(problems)) }
    }
}

fn moved(quantity: Integer<0, MAX_STOCK>, by: i64) -> Integer<0, MAX_STOCK> {
    Integer::clamped(quantity.get().saturating_add(by))
}

const LISTED_BY: &[FilterArgument] = &[
    equals("availability", "Only parts that can be had so."),
    equals("manufacturer_code", "Only parts of this manufacturer."),
    equals("superseded_by", "Only parts that this number replaces."),
];

const SEARCHED_BY: &[FilterArgument] = &[
    words("text", "Words that must all occur: part number, description, manufacturer code, make or model it fits."),
    equals("part_number", "The part with this number; case, dashes and spaces do not matter."),
    equals("manufacturer_code", "Only parts of this manufacturer."),
    equals("availability", "Only parts that can be had so."),
    equals("condition", "New or not."),
];

pub fn resource() -> ResourceParts {
    ResourceApi::<Part>::new("parts", "The part's id, as lists give it; not its part number.")
        .list(
            "parts.list",
            "List parts",
            "Lists the parts catalogue with prices and stock, newest first, page by page.",
            LISTED_BY,
            ("Parts", "Parts of the dealership, newest first."),
        )
        .search(
            "parts.search",
            "Search parts",
            "Finds parts by words, part number or the vehicle they fit, page by page.",
            SEARCHED_BY,
            &[],
        )
        .get("parts.get", "Get a part", "Reads one part by its id.", ("Part", "One part by its id."))
        .tool(availability::tool(), &[])
        .hidden_table(PartLink::table())
        .hidden_table(PartBacklog::table())
        .parts()
}
