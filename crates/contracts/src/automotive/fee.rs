//! The dealership's own table of fees, taxes and deductions from trades. Nothing of it is built in: quotes and deals
//! have the lines that the table has, and none without it.

use frontdesk_engine::Fault;
use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::table::Cell;
use serde_json::{Map, Value};

use super::deal::DealType;
use super::domains::{self, Domain};
use super::resource::{Resource, ResourceApi, ResourceParts, Withdrawal, WriteContext};
use super::values::Money;
use crate::record::filter::equals;
use crate::record::{Entity, FilterArgument, Integer, List, Text, Vocabulary as _};
use crate::{Record, Vocabulary};

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum FeeKind { Fee, Tax, TradeDeduction, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum FeeStatus { Active, Retired, Unknown }

/// What a rate of a tax is taken of, beside the taxable fees.
#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum TaxBasis { SellingPrice, LessIncentives, LessTrade, LessIncentivesAndTrade, Unknown }

#[derive(Debug, Clone, PartialEq, Record)]
#[table("fee", prefix = "fee", not_found = "deals.not_found")]
pub struct Fee {
    /// The dealership's own short name for it.
    #[field(create, unique)]
    pub code: Text<40>,
    /// What customers read on a quote.
    #[field(create, update)]
    pub name: Text<120>,
    /// A fee, a tax, or what is deducted from the value of a trade for reconditioning and margin.
    #[field(create, update, known, indexed)]
    pub kind: FeeKind,
    /// A fixed amount; it applies to deals in its currency. Either this or a rate.
    #[field(create, update)]
    pub amount: Option<Money>,
    /// A rate in basis points: 825 is 8.25 percent. Of the selling price, of `basis` for a tax, of the value for a trade.
    #[field(create, update)]
    pub rate_basis_points: Option<Integer<0, 10_000>>,
    /// Whether taxes are charged on this fee.
    #[field(create, update)]
    #[default(false)]
    pub taxable: bool,
    /// What a tax's rate is taken of, beside the taxable fees: the trade's allowance and incentives may reduce it.
    #[field(create, update, known)]
    #[default(TaxBasis::SellingPrice)]
    pub basis: TaxBasis,
    /// The types of deals that it applies to; empty for all.
    #[field(create, update)]
    #[default(List::default())]
    pub applies_to: List<DealType, 10>,
    /// Its place among the others.
    #[field(create, update)]
    #[default(Integer::constant::<100>())]
    pub order: Integer<0, 1000>,
    /// Only active lines are charged.
    #[field(create, update, known, indexed, receipt)]
    #[default(FeeStatus::Active)]
    pub status: FeeStatus,
}

impl Resource for Fee {
    const DOMAIN: &'static Domain = &domains::DEALS;
    const WITHDRAWAL: Option<Withdrawal> =
        Some(Withdrawal { field: "status", listed: &["active"], withdrawn: "retired" });

    /// What the table lists again is charged again.
    fn on_listed(fee: &Fee, arguments: &mut Map<String, Value>) {
        if fee.status == FeeStatus::Retired && !arguments.contains_key("status") {
            arguments.insert("status".to_owned(), Value::from("active"));
        }
    }

    fn on_create(entity: &mut Entity<Fee>, _: &WriteContext<'_>) -> Result<(), Fault> {
        entity.record.check()
    }

    fn on_update(_: &Entity<Fee>, after: &mut Entity<Fee>, _: &WriteContext<'_>) -> Result<(), Fault> {
        after.record.check()
    }
}

impl Fee {
    fn check(&self) -> Result<(), Fault> {
        let mut problems = Vec::new();
        let mut wrong = |pointer: &str, keyword: &'static str, expected: &str| {
            problems.push(Problem { pointer: pointer.to_owned(), keyword, expected: expected.to_owned() });
        };
        match (&self.amount, self.rate_basis_points) {
            (Some(_), None) | (None, Some(_)) => {}
            (None, None) => wrong("/amount", "oneOf", "an amount or rate_basis_points is required"),
            (Some(_), Some(_)) => wrong("/rate_basis_points", "oneOf", "an amount or a rate is expected, not both"),
        }
        if self.taxable && self.kind != FeeKind::Fee {
            wrong("/taxable", "const", "only a fee can be taxable");
        }
        if self.basis != TaxBasis::SellingPrice && self.kind != FeeKind::Tax {
            wrong("/basis", "const", "only a tax has another basis than selling_price");
        }
        if problems.is_empty() { Ok(()) } else { Err(Fault::invalid(problems)) }
    }

    pub(super) fn applies_to(&self, deal_type: DealType) -> bool {
        self.applies_to.is_empty() || self.applies_to.contains(&deal_type)
    }
}

/// More active lines than a deal can have are refused, not left out.
pub(super) const MAX_LINES: usize = 201;

/// The lines that are charged.
pub(super) fn active_lines() -> Vec<Filter> {
    vec![Filter::Equals("status", Cell::Text(FeeStatus::Active.as_str().to_owned()))]
}

/// Those lines, as a list of at most `MAX_LINES` has found them.
pub(super) fn active(found: Vec<Entity<Fee>>) -> Result<Vec<Fee>, Fault> {
    if found.len() >= MAX_LINES {
        return Err(Fault::internal("the table of fees has more than 200 active lines"));
    }
    Ok(found.into_iter().map(|fee| fee.record).collect())
}

const LISTED_BY: &[FilterArgument] = &[
    equals("kind", "Only lines of this kind."),
    equals("status", "Only lines with this status."),
    equals("code", "The line with this code."),
];

pub fn resource() -> ResourceParts {
    ResourceApi::<Fee>::new("fees", "The line's id, as lists give it; not its code.")
        .list(
            "deals.list_fees",
            "List fees and taxes",
            "Lists the dealership's own table of fees, taxes and deductions from trades, newest first. It is imported; \
             deals.request_quote and deals.create charge its active lines and nothing else.",
            LISTED_BY,
            ("Fees", "Fees, taxes and deductions of the dealership, newest first."),
        )
        .get(
            "deals.get_fee",
            "Get a fee or tax",
            "Reads one line of the table of fees and taxes by its id.",
            ("Fee", "One fee, tax or deduction by its id."),
        )
        .parts()
}
