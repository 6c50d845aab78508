//! `deals.request_quote`: what a vehicle costs on certain terms, by the rules of a deal. It records nothing.

use frontdesk_engine::model::incoming::Verb;
use frontdesk_engine::model::route::Route;
use frontdesk_engine::model::schema::{Schema, required};
use frontdesk_engine::model::tool::{
    Effect, Future, Outcome, RateKey, ReadTool, Run, ScopeRule, Sensitivity, Tool, ToolSpec,
};
use frontdesk_engine::{Fault, Permitted, Scope};
use serde_json::Value;

use super::figures::Terms;
use super::{DealLine, DealTotals, DealTrade, DealType, Incentive, PaymentGroup};
use crate::Record;
use crate::automotive::resource::{TENANT, missing_reference, tenant};
use crate::automotive::trade_value::TradeValue;
use crate::automotive::values::Money;
use crate::automotive::vehicle::{VEHICLE_UNAVAILABLE, Vehicle};
use crate::automotive::{domains, fee};
use crate::record::{Entity, FieldType as _, FieldValue as _, Integer, List, Ref, Stored as _, list_records};

/// The arguments: the terms of a deal.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct QuoteInput {
    /// The vehicle, by its id.
    pub vehicle_id: Ref<Vehicle>,
    /// How it would be paid.
    #[field(known)]
    pub deal_type: DealType,
    /// What the vehicle costs; its asking price if absent.
    pub selling_price: Option<Money>,
    /// Rebates and discounts.
    #[default(List::default())]
    pub incentives: List<Incentive, 20>,
    /// Vehicles taken in payment.
    #[default(List::default())]
    pub trades: List<DealTrade, 4>,
    /// What is paid at once.
    pub down_payment: Option<Money>,
    /// How many monthly payments; for retail_finance, balloon and lease.
    pub term_months: Option<Integer<1, 120>>,
    /// Yearly rate in basis points: 599 is 5.99 percent; for retail_finance and balloon.
    pub apr_basis_points: Option<Integer<0, 9_999>>,
    /// Money factor in hundred-thousandths: 125 is 0.00125; for lease.
    pub money_factor: Option<Integer<0, 2_000>>,
    /// Value at the end of a lease, or what is due with the last payment of a balloon credit.
    pub residual: Option<Money>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct QuoteAnswer {
    /// The vehicle.
    pub vehicle_id: Ref<Vehicle>,
    /// How it would be paid.
    pub deal_type: DealType,
    /// What the vehicle costs.
    pub selling_price: Money,
    /// Fees of the dealership's table, one line each.
    pub fees: List<DealLine, 200>,
    /// Taxes of the dealership's table, one line each.
    pub taxes: List<DealLine, 200>,
    /// What it comes to.
    pub totals: DealTotals,
    /// What is paid in instalments.
    pub amount_financed: Option<Money>,
    /// The regular payment; payments has the last one.
    pub monthly_payment: Option<Money>,
    /// All payments in their order, equal ones together. They add up exactly.
    pub payments: List<PaymentGroup, 120>,
}

const TYPE: &[&str] = &["quote"];

pub(super) fn tool() -> Tool {
    let input = QuoteInput::input();
    let answer = QuoteAnswer::output();
    Tool {
        spec: ToolSpec {
            name: "deals.request_quote",
            title: "Request a quote",
            about: "Computes what a vehicle costs in cash, on credit or as a lease, with the dealership's own fees and \
                    taxes, incentives, trades and a down payment. Nothing is recorded or promised: deals.create with the \
                    same terms and a customer keeps it. For the value of a trade call deals.request_trade_value first.",
            input: Schema::object(input.fields().iter().cloned().chain([tenant()])),
            output: Schema::object(
                [
                    required("type", Schema::one_of(TYPE), "Always quote."),
                    required(TENANT, Schema::text(64), "The dealership that makes it."),
                ]
                .into_iter()
                .chain(answer.fields().iter().cloned()),
            ),
            effect: Effect::Reads,
            scope: ScopeRule::One(Scope::new(domains::DEALS.read)),
            unmask_scope: None,
            sensitivity: Sensitivity::Business,
            max_login_age: None,
            rate: RateKey::Client,
            route: Some(Route { success: Some(200), ..Route::new(Verb::Post, "/quotes") }),
            codes: vec![Vehicle::NOT_FOUND, TradeValue::NOT_FOUND, VEHICLE_UNAVAILABLE.code],
        },
        run: Run::read(RequestQuote),
    }
}

struct RequestQuote;

impl ReadTool for RequestQuote {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let arguments = Value::Object(permitted.input().arguments.clone());
            let input =
                QuoteInput::read(&arguments).ok_or_else(|| Fault::internal("checked arguments are unreadable"))?;
            let Some(row) = permitted.get(Vehicle::table(), &input.vehicle_id).await? else {
                return Err(missing_reference::<Vehicle>(permitted, &input.vehicle_id).await?);
            };
            let vehicle: Entity<Vehicle> = Entity::restore(permitted.tenant(), &row)?;
            vehicle.record.check_for_sale()?;
            for id in input.trades.iter().filter_map(|trade| trade.trade_value_id.as_ref()) {
                if permitted.get(TradeValue::table(), id).await?.is_none() {
                    return Err(missing_reference::<TradeValue>(permitted, id).await?);
                }
            }
            let table = fee::active(list_records(permitted, fee::active_lines(), fee::MAX_LINES).await?)?;
            let answer = input.answer(&vehicle.record, &table)?;
            let mut text = format!("{{\"type\":\"quote\",\"{TENANT}\":{}}}", Value::from(permitted.tenant().as_str()));
            let mut rest = String::new();
            answer.write(&mut rest);
            text = frontdesk_wire::json::splice(&text, &rest);
            Ok(Outcome::Raw { answer: text, rows: 1 })
        })
    }
}

impl QuoteInput {
    fn answer(self, vehicle: &Vehicle, table: &[fee::Fee]) -> Result<QuoteAnswer, Fault> {
        let selling_price = self.selling_price.unwrap_or_else(|| vehicle.price.clone());
        let figures = Terms {
            deal_type: self.deal_type,
            selling_price: &selling_price,
            incentives: &self.incentives,
            trades: &self.trades,
            down_payment: self.down_payment.as_ref(),
            term_months: self.term_months.map(|months| months.get()),
            apr_basis_points: self.apr_basis_points.map(|rate| rate.get()),
            money_factor: self.money_factor.map(|factor| factor.get()),
            residual: self.residual.as_ref(),
        }
        .figures(table)?;
        Ok(QuoteAnswer {
            vehicle_id: self.vehicle_id,
            deal_type: self.deal_type,
            selling_price,
            fees: figures.fees,
            taxes: figures.taxes,
            totals: figures.totals,
            amount_financed: figures.amount_financed,
            monthly_payment: figures.monthly_payment,
            payments: figures.payments,
        })
    }
}
