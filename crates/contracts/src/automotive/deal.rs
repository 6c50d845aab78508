//! A deal: who buys which vehicle on which terms. Its figures are computed here, its vehicle and its customer follow its
//! status, and of its financing it shows the status only.

pub mod arithmetic;
mod erased;
mod figures;
pub mod quote;
mod rules;
mod sale;

use frontdesk_engine::Code;
use frontdesk_engine::model::schema::required;

use super::codes::CodeSpec;
use super::customer::Customer;
use super::lead::Lead;
use super::resource::{ResourceApi, ResourceParts};
use super::trade_value::TradeValue;
use super::values::{Distance, Money};
use super::vehicle::{DUPLICATE as VEHICLE_DUPLICATE, VEHICLE_UNAVAILABLE, Vehicle};
use crate::record::filter::{at_least, equals};
use crate::record::{
    FieldType as _, FilterArgument, Integer, List, NameText, Ref, Stored as _, Text, Timestamp, without_unknown,
};
use crate::{Record, Vocabulary};

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum DealStatus { Quote, Desking, PendingFinance, Accepted, Delivered, Funded, Posted, Abandoned, Reversed, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum DealType { RetailFinance, Lease, Cash, Balloon, Fleet, Wholesale, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum FinancingStatus { NotRequired, NotSubmitted, Submitted, ConditionallyApproved, Approved, Declined, Funded, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum CancelReason { CustomerWithdrew, FinancingDeclined, VehicleUnavailable, Price, Returned, Duplicate, Other, Unknown }

#[derive(Debug, Clone, PartialEq, Record)]
#[table("deal", prefix = "dea", not_found = "deals.not_found")]
pub struct Deal {
    /// The dealership's own number.
    #[field(create, unique, searched, receipt)]
    #[argument("The dealership's own number; made from the id if absent.")]
    #[default("".into())]
    pub deal_number: Text<40>,
    /// How far it has come. From accepted on it holds its vehicle, from delivered on the vehicle is sold.
    #[field(update, known, indexed, receipt)]
    #[argument("The new status; to cancel use deals.cancel_deal.")]
    #[default(DealStatus::Quote)]
    pub status: DealStatus,
    /// How it is paid.
    #[field(create, update, known, column)]
    pub deal_type: DealType,
    /// The buyer.
    #[field(create, indexed)]
    pub customer_id: Ref<Customer>,
    /// Who buys with them.
    #[field(create, update)]
    pub co_buyer_id: Option<Ref<Customer>>,
    /// The vehicle.
    #[field(create, update, indexed)]
    pub vehicle_id: Ref<Vehicle>,
    /// The lead that it came from.
    #[field(create, update, indexed)]
    pub lead_id: Option<Ref<Lead>>,
    /// The employee who makes it: letters A to Z, digits, _ and -.
    #[field(create, update, indexed)]
    pub salesperson_id: Option<Text<64>>,
    /// What the vehicle costs in this deal.
    #[field(create, update)]
    #[argument("What the vehicle costs in this deal; its asking price if absent.")]
    #[default(Money::new(0, "USD"))]
    pub selling_price: Money,
    /// Fees of the dealership's table, one line each.
    #[default(List::default())]
    pub fees: List<DealLine, 200>,
    /// Taxes of the dealership's table, one line each.
    #[default(List::default())]
    pub taxes: List<DealLine, 200>,
    /// Rebates and discounts.
    #[field(create, update)]
    #[default(List::default())]
    pub incentives: List<Incentive, 20>,
    /// Vehicles taken in payment.
    #[field(create, update)]
    #[default(List::default())]
    pub trades: List<DealTrade, 4>,
    /// What is paid at once.
    #[field(create, update)]
    pub down_payment: Option<Money>,
    /// What is paid in instalments: the cost of a lease, the principal of a credit.
    pub amount_financed: Option<Money>,
    /// How many monthly payments.
    #[field(create, update)]
    pub term_months: Option<Integer<1, 120>>,
    /// Yearly rate of a credit in basis points: 599 is 5.99 percent.
    #[field(create, update)]
    pub apr_basis_points: Option<Integer<0, 9_999>>,
    /// Money factor of a lease in hundred-thousandths: 125 is 0.00125.
    #[field(create, update)]
    pub money_factor: Option<Integer<0, 2_000>>,
    /// What the vehicle is worth at the end of a lease, or what is due with the last payment of a balloon credit.
    #[field(create, update)]
    pub residual: Option<Money>,
    /// The regular payment; payments has the last one.
    pub monthly_payment: Option<Money>,
    /// All payments in their order, equal ones together. They add up exactly.
    #[default(List::default())]
    pub payments: List<PaymentGroup, 120>,
    /// What it comes to.
    pub totals: Option<DealTotals>,
    /// How far the financing has come. Nothing else of it is shown here.
    #[field(update, known)]
    #[default(FinancingStatus::NotSubmitted)]
    pub financing_status: FinancingStatus,
    /// Until when these figures are offered.
    #[field(create, update)]
    pub quote_expires_at: Option<Timestamp>,
    /// When the vehicle was delivered.
    #[field(column)]
    pub closed_at: Option<Timestamp>,
    /// Why it was cancelled.
    pub cancel_reason: Option<CancelReason>,
}

#[derive(Debug, Clone, PartialEq, Record)]
pub struct DealLine {
    /// Code of the line in the dealership's table.
    pub code: Text<40>,
    /// What it is.
    pub name: Text<120>,
    /// What is charged.
    pub amount: Money,
}

#[derive(Debug, Clone, PartialEq, Record)]
pub struct Incentive {
    /// What it is.
    pub name: Text<120>,
    /// By how much it lowers what is to be paid.
    pub amount: Money,
}

#[derive(Debug, Clone, PartialEq, Record)]
pub struct DealTrade {
    /// Make.
    pub make: NameText<60>,
    /// Model.
    pub model: NameText<60>,
    /// Model year.
    pub year: Integer<1900, 2100>,
    /// Vehicle identification number.
    pub vin: Option<Text<17>>,
    /// Odometer reading.
    pub mileage: Option<Distance>,
    /// What the dealership gives for it.
    pub allowance: Money,
    /// What is still owed on it and paid off by the dealership.
    pub payoff: Option<Money>,
    /// The valuation that it goes back to, from deals.request_trade_value.
    pub trade_value_id: Option<Ref<TradeValue>>,
}

#[derive(Debug, Clone, PartialEq, Record)]
pub struct PaymentGroup {
    /// How many payments of this amount, one a month.
    pub count: Integer<1, 120>,
    /// The amount of each.
    pub amount: Money,
}

#[derive(Debug, Clone, PartialEq, Record)]
pub struct DealTotals {
    /// All fees.
    pub fees: Money,
    /// All taxes.
    pub taxes: Money,
    /// All incentives.
    pub incentives: Money,
    /// What is given for trades.
    pub trade_allowance: Money,
    /// What is paid off on trades.
    pub trade_payoff: Money,
    /// Selling price, fees and taxes.
    pub total_price: Money,
    /// Total price without incentives, trades and down payment: to be paid at once or financed.
    pub amount_due: Money,
    /// What the customer gets back, if trades and incentives are worth more than the vehicle.
    pub due_to_customer: Option<Money>,
    /// Interest or rent within the payments.
    pub finance_charge: Option<Money>,
    /// All payments together.
    pub total_of_payments: Option<Money>,
}

const DUPLICATE: CodeSpec = CodeSpec {
    code: Code("deals.duplicate"),
    means: "The dealership has a deal with this number already.",
    next: "Find it with `deals.list` and `deal_number`, or send another number.",
};

const INVALID_TRANSITION: CodeSpec = CodeSpec {
    code: Code("deals.invalid_transition"),
    means: "The deal's status cannot follow the one it has.",
    next: "Choose one that the message names, or make a new deal.",
};

const TERMS_FROZEN: CodeSpec = CodeSpec {
    code: Code("deals.terms_frozen"),
    means: "The deal is accepted, so its terms cannot change.",
    next: "Set status `desking` to negotiate again, which releases the vehicle, or cancel it with `deals.cancel_deal`.",
};

const QUOTE_EXPIRED: CodeSpec = CodeSpec {
    code: Code("deals.quote_expired"),
    means: "The figures of the deal were offered until a time that is over.",
    next: "Ask the dealership; then send a new `quote_expires_at` with `deals.update`.",
};

/// Of a trade's `trade_value_id`.
const TRADE_VALUE_NOT_FOUND: CodeSpec = CodeSpec {
    code: TradeValue::NOT_FOUND,
    means: "No trade value with this id exists for this caller.",
    next: "Find it with `deals.list_trade_values`.",
};

const LISTED_BY: &[FilterArgument] = &[
    equals("status", "Only deals with this status."),
    equals("deal_type", "Only deals paid this way."),
    equals("customer_id", "Only deals of this buyer."),
    equals("vehicle_id", "Only deals about this vehicle."),
    equals("lead_id", "Only deals from this lead."),
    equals("salesperson_id", "Only deals of this employee."),
    equals("deal_number", "The deal with this number."),
    at_least("closed_since", "closed_at", "Only deals delivered at or after this."),
];

pub fn resource() -> ResourceParts {
    let reason = required("reason", without_unknown(CancelReason::input()), "Why it is cancelled.");
    ResourceApi::<Deal>::new("deals", "The deal's id, as lists give it; not its number.")
        .list(
            "deals.list",
            "List deals",
            "Lists the dealership's deals and stored quotes, newest first, page by page.",
            LISTED_BY,
            ("Deals", "Deals of the dealership, newest first."),
        )
        .get(
            "deals.get",
            "Get a deal",
            "Reads one deal by its id, with its lines, totals and payments.",
            ("Deal", "One deal by its id."),
        )
        .create(
            "deals.create",
            "Create a deal",
            "Records a deal with status quote: a customer, a vehicle and terms. Fees and taxes come from the \
             dealership's table, all totals and payments are computed. To see figures without recording anything, call \
             deals.request_quote. Go on with deals.update and status accepted, which reserves the vehicle.",
            Vec::new(),
            &[VEHICLE_UNAVAILABLE, TRADE_VALUE_NOT_FOUND],
        )
        .update(
            "deals.update",
            "Update a deal",
            "Changes terms while the deal is open, and its status: quote, desking or pending_finance to accepted \
             (reserves the vehicle), then delivered (the vehicle is sold), funded and posted. Figures are computed \
             again with the dealership's current table. To call a deal off use deals.cancel_deal.",
            &[INVALID_TRANSITION, TERMS_FROZEN, QUOTE_EXPIRED, VEHICLE_UNAVAILABLE],
        )
        .change(
            (
                "deals.cancel_deal",
                "Cancel a deal",
                "Calls a deal off. Before delivery it becomes abandoned and its vehicle can be sold again; after \
                 delivery it becomes reversed and the vehicle comes back on hold, to be inspected.",
            ),
            "cancel",
            vec![reason],
            &[INVALID_TRANSITION, VEHICLE_DUPLICATE],
            rules::cancel,
        )
        .tool(quote::tool(), &[])
        .parts()
}
