//! What a car that a customer trades in is worth, from the dealership's own stock and sales. There is no other source:
//! without enough comparable cars there is no value.

mod comparables;
pub mod estimate;

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Code, Fault};

use super::codes::CodeSpec;
use super::domains::{self, Domain};
use super::resource::{Resource, ResourceApi, ResourceParts, WriteContext};
use super::values::{Distance, Money};
use super::vehicle::{VinCheck, check_against};
use super::vin::Vin;
use crate::record::filter::{at_least, equals};
use crate::record::{Currency, Entity, FilterArgument, Integer, NameText, Text, Timestamp};
use crate::{Record, Vocabulary};
use estimate::{MIN_COMPARABLES, WINDOWS};

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum TradeCondition { Excellent, Good, Fair, Poor, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum TradeValueStatus { Valued, NeedsInspection, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum TradeValueBasis { TradeIn, Wholesale, Retail, PrivateParty, Unknown }

#[derive(Debug, Clone, PartialEq, Record)]
#[table("trade_value", prefix = "trv", not_found = "deals.not_found")]
pub struct TradeValue {
    /// Vehicle identification number.
    #[field(create, indexed)]
    pub vin: Option<Text<17>>,
    /// Whether the VIN's check digit is right; not_verified is no error outside North America.
    pub vin_check: Option<VinCheck>,
    /// Model year.
    #[field(create)]
    pub year: Integer<1900, 2100>,
    /// Make, such as Toyota.
    #[field(create, column = "make_key")]
    pub make: NameText<60>,
    /// Model, such as RAV4.
    #[field(create, column = "model_key")]
    pub model: NameText<60>,
    /// Odometer reading.
    #[field(create)]
    pub mileage: Distance,
    /// The state that it is in.
    #[field(create, known)]
    pub condition: TradeCondition,
    /// Currency of the value.
    #[field(create)]
    #[argument("Currency of the value; that of most comparable cars if absent.")]
    pub currency: Option<Currency>,
    /// Whether the value stands as it is, or somebody has to see the car first.
    #[field(column, receipt)]
    #[default(TradeValueStatus::Unknown)]
    pub status: TradeValueStatus,
    /// The lower end.
    pub low: Option<Money>,
    /// The value.
    pub value: Option<Money>,
    /// The upper end.
    pub high: Option<Money>,
    /// retail: what such cars cost here. trade_in: that, less the deductions of the dealership's table.
    #[default(TradeValueBasis::Unknown)]
    pub basis: TradeValueBasis,
    /// How many comparable cars it is from.
    #[default(Integer::constant::<0>())]
    pub comparables: Integer<0, 1000>,
    /// How many of them were sold; the others are offered.
    #[default(Integer::constant::<0>())]
    pub comparables_sold: Integer<0, 1000>,
    /// By how many model years they differ at most.
    #[default(Integer::constant::<0>())]
    pub year_span: Integer<0, 100>,
    /// By how many percent their odometer readings differ at most.
    #[default(Integer::constant::<0>())]
    pub mileage_span_percent: Integer<0, 100>,
    /// When it was valued.
    #[field(column)]
    #[default(|new| new.now)]
    pub valued_at: Timestamp,
    /// Until when it can be used; then ask again.
    #[default(|new| new.now)]
    pub expires_at: Timestamp,
}

const UNAVAILABLE: CodeSpec = CodeSpec {
    code: Code("deals.trade_value_unavailable"),
    means: "The dealership has too few comparable cars in stock or sold to value this one.",
    next: "Tell the customer that somebody has to see the car; do not estimate. Check make and model, or their spelling.",
};

/// Stock and prices move; a value is good for two weeks.
const VALID_MILLIS: i64 = 14 * 24 * 60 * 60 * 1000;

impl Resource for TradeValue {
    const DOMAIN: &'static Domain = &domains::DEALS;

    fn on_create(entity: &mut Entity<TradeValue>, context: &WriteContext<'_>) -> Result<(), Fault> {
        let trade = &mut entity.record;
        trade.expires_at = Millis(context.now().0.saturating_add(VALID_MILLIS));
        let Some(text) = &trade.vin else {
            return Ok(());
        };
        let vin = Vin::parse(text).map_err(|error| Fault::invalid_argument("/vin", "pattern", error.to_string()))?;
        trade.vin = Some(vin.as_str().into());
        trade.vin_check = Some(VinCheck::of(&vin));
        check_against(&vin, trade.year, &trade.make)
    }

    async fn cascade(
        before: Option<&Entity<TradeValue>>,
        after: &mut Entity<TradeValue>,
        context: &mut WriteContext<'_>,
    ) -> Result<(), Fault> {
        if before.is_some() {
            return Ok(());
        }
        let trade = &mut after.record;
        let found = comparables::find(trade, context).await?;
        let currency = match &trade.currency {
            Some(currency) => currency.to_string(),
            None => estimate::usual_currency(&found).unwrap_or_default(),
        };
        let prices: Vec<_> = found.into_iter().filter(|one| one.currency == currency).collect();
        let subject = estimate::Subject { year: trade.year.get(), mileage: trade.mileage.millimetres() };
        let Some(estimate) = estimate::estimate(subject, trade.condition, &prices) else {
            let most = WINDOWS.last().map(|window| estimate::count(subject, *window, &prices)).unwrap_or_default();
            return Err(Fault::domain(
                UNAVAILABLE.code,
                format!(
                    "No value is available: {MIN_COMPARABLES} comparable cars of this make and model, with about this \
                     age and mileage, are needed, and the dealership has {most}. Somebody has to see the car."
                ),
            ));
        };
        let deductions = comparables::deductions(context).await?;
        let deduct = |amount: i64| Money::new(estimate::less_deductions(amount, &currency, &deductions), &currency);
        trade.currency = Some(currency.as_str().into());
        trade.low = Some(deduct(estimate.low));
        trade.value = Some(deduct(estimate.value));
        trade.high = Some(deduct(estimate.high));
        let applies = estimate::has_deduction(&currency, &deductions);
        trade.basis = if applies { TradeValueBasis::TradeIn } else { TradeValueBasis::Retail };
        trade.status = match trade.condition {
            TradeCondition::Poor | TradeCondition::Unknown => TradeValueStatus::NeedsInspection,
            TradeCondition::Excellent | TradeCondition::Good | TradeCondition::Fair => TradeValueStatus::Valued,
        };
        trade.comparables = Integer::clamped(estimate.comparables);
        trade.comparables_sold = Integer::clamped(estimate.sold);
        trade.year_span = Integer::clamped(estimate.window.years);
        trade.mileage_span_percent = Integer::clamped(estimate.window.mileage_percent);
        Ok(())
    }
}

const LISTED_BY: &[FilterArgument] = &[
    equals("vin", "Only values of the car with this VIN."),
    equals("make", "Only cars of this make."),
    equals("model", "Only cars of this model."),
    equals("status", "Only values with this status."),
    at_least("valued_since", "valued_at", "Only values from then on."),
];

pub fn resource() -> ResourceParts {
    ResourceApi::<TradeValue>::new("trade_values", "The valuation's id, as lists give it; not a VIN.")
        .list(
            "deals.list_trade_values",
            "List trade values",
            "Lists the values that were requested for trades, newest first. One that has expired must be requested again.",
            LISTED_BY,
            ("Trade values", "Values of trades, newest first."),
        )
        .get(
            "deals.get_trade_value",
            "Get a trade value",
            "Reads one valuation of a trade by its id.",
            ("Trade value", "One valuation of a trade by its id."),
        )
        .create(
            "deals.request_trade_value",
            "Request a trade value",
            "Values a car that a customer would trade in, from the dealership's own comparable stock and sales: low, value \
             and high, with how many cars they are from. Too few are deals.trade_value_unavailable. It is no offer until \
             somebody has seen the car. Use it as allowance of a trade in deals.request_quote or deals.create.",
            Vec::new(),
            &[UNAVAILABLE],
        )
        .parts()
}
