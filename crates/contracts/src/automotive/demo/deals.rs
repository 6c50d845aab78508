//! The demo deals: every sold lead has one, some of those in negotiation have one, and some came to nothing. Their
//! figures are computed by the same rules as everybody's, from the demo dealership's own table of fees and taxes.

use frontdesk_engine::model::timestamp::Millis;

use super::market::{INDIA, market};
use super::rows::DemoIds;
use super::{DemoDealership, DemoLead, DemoVehicle};
use crate::automotive::deal::{CancelReason, Deal, DealStatus, DealTrade, DealType, FinancingStatus, Incentive};
use crate::automotive::fee::{Fee, FeeKind, FeeStatus, TaxBasis};
use crate::automotive::lead::LeadStatus;
use crate::automotive::values::Money;
use crate::automotive::vehicle::VehicleStatus;
use crate::record::{Integer, List};

/// A deal and where it comes from.
pub(super) struct DemoDeal {
    pub(super) deal: Deal,
    pub(super) id: String,
    /// Index into the dealership's customers, and into its vehicles.
    pub(super) customer: usize,
    pub(super) vehicle: usize,
    pub(super) created_at: Millis,
    pub(super) updated_at: Millis,
}

impl DemoDeal {
    /// Whether its vehicle is reserved or sold by it.
    pub(super) fn holds_vehicle(&self) -> bool {
        matches!(
            self.deal.status,
            DealStatus::Accepted | DealStatus::Delivered | DealStatus::Funded | DealStatus::Posted
        )
    }
}

/// `next_id` gives a new id of a deal.
pub(super) fn deals(
    dealership: &DemoDealership,
    ids: &DemoIds<'_>,
    table: &[Fee],
    next_id: &mut dyn FnMut() -> String,
) -> Vec<DemoDeal> {
    let mut made: Vec<DemoDeal> = Vec::new();
    for (lead, lead_id) in dealership.leads.iter().zip(ids.leads) {
        let Some(place) = lead.vehicle else { continue };
        let (Some(car), Some(customer_id), Some(vehicle_id)) =
            (dealership.vehicles.get(place), ids.customers.get(lead.customer), ids.vehicles.get(place))
        else {
            continue;
        };
        let number = made.len();
        let of_status = |status: DealStatus| made.iter().filter(|deal| deal.deal.status == status).count();
        let is_taken = made.iter().any(|deal| deal.vehicle == place && deal.holds_vehicle());
        let status = match (lead.status, car.status) {
            _ if is_taken => continue,
            (LeadStatus::Sold, VehicleStatus::Sold) => {
                SOLD.get(number % SOLD.len()).copied().unwrap_or(DealStatus::Delivered)
            }
            (LeadStatus::Negotiating, VehicleStatus::Reserved) => DealStatus::Accepted,
            (LeadStatus::Negotiating, VehicleStatus::Pending) => DealStatus::PendingFinance,
            (LeadStatus::Negotiating, VehicleStatus::Available) => DealStatus::Desking,
            (LeadStatus::Working, VehicleStatus::Available) if of_status(DealStatus::Quote) < 4 => DealStatus::Quote,
            (LeadStatus::Lost, VehicleStatus::Available) if of_status(DealStatus::Abandoned) < 2 => {
                DealStatus::Abandoned
            }
            _ => continue,
        };
        let id = next_id();
        let terms = terms(lead, car, number, status);
        let record = Deal {
            deal_number: format!("{}-{:04}", dealership.region, 2_001 + number).as_str().into(),
            customer_id: customer_id.as_str().into(),
            vehicle_id: vehicle_id.as_str().into(),
            lead_id: Some(lead_id.as_str().into()),
            ..terms
        };
        // The terms above are right, so this does not happen.
        let Ok(deal) = record.with_figures(table) else { continue };
        let created_at = super::rows::millis(lead.received_at);
        let updated_at = super::rows::millis(lead.updated_at);
        made.push(DemoDeal { deal, id, customer: lead.customer, vehicle: place, created_at, updated_at });
    }
    made
}

const SOLD: [DealStatus; 3] = [DealStatus::Delivered, DealStatus::Funded, DealStatus::Posted];
const TYPES: [DealType; 4] = [DealType::RetailFinance, DealType::Cash, DealType::Lease, DealType::RetailFinance];

/// A deal without whom and what it is about, and without figures.
fn terms(lead: &DemoLead, car: &DemoVehicle, number: usize, status: DealStatus) -> Deal {
    let money = |amount: i64| Money::new(amount, car.currency);
    let whole = |amount: i64| money(amount / 100 * 100);
    let price = car.price_minor;
    let deal_type = TYPES.get(number % TYPES.len()).copied().unwrap_or(DealType::Cash);
    let is_credit = deal_type == DealType::RetailFinance;
    let is_lease = deal_type == DealType::Lease;
    let is_sold = SOLD.contains(&status);
    Deal {
        deal_number: "".into(),
        status,
        deal_type,
        customer_id: "".into(),
        co_buyer_id: None,
        vehicle_id: "".into(),
        lead_id: None,
        salesperson_id: Some(lead.owner.id.into()),
        selling_price: whole(price * 985 / 1000),
        fees: List::default(),
        taxes: List::default(),
        incentives: match number % 3 {
            0 => List(vec![Incentive { name: "Spring bonus".into(), amount: money(50_000) }]),
            _ => List::default(),
        },
        trades: match number % 4 {
            3 => List(vec![DealTrade {
                make: "Honda".into(),
                model: "Civic".into(),
                year: Integer::clamped(2016),
                vin: None,
                mileage: None,
                allowance: money(640_000),
                payoff: Some(money(120_000)),
                trade_value_id: None,
            }]),
            _ => List::default(),
        },
        down_payment: (is_credit || is_lease).then(|| whole(price / 10)),
        amount_financed: None,
        term_months: (is_credit || is_lease).then(|| Integer::clamped(if is_lease { 36 } else { 60 })),
        apr_basis_points: is_credit.then(|| Integer::clamped(649)),
        money_factor: is_lease.then(|| Integer::clamped(190)),
        residual: is_lease.then(|| whole(price * 55 / 100)),
        monthly_payment: None,
        payments: List::default(),
        totals: None,
        financing_status: match (status, deal_type) {
            (_, DealType::Cash) => FinancingStatus::NotRequired,
            (DealStatus::PendingFinance, _) => FinancingStatus::Submitted,
            (DealStatus::Accepted | DealStatus::Delivered, _) => FinancingStatus::Approved,
            (DealStatus::Funded | DealStatus::Posted, _) => FinancingStatus::Funded,
            _ => FinancingStatus::NotSubmitted,
        },
        quote_expires_at: None,
        closed_at: is_sold.then(|| super::rows::millis(lead.updated_at)),
        cancel_reason: (status == DealStatus::Abandoned).then_some(CancelReason::Price),
    }
}

/// Made up, like everything here: code, name, kind, amount or rate, taxable, basis.
pub(super) fn fees(dealership: &DemoDealership) -> Vec<Fee> {
    let line = |code: &str, name: &str, kind: FeeKind, order: i64| Fee {
        code: code.into(),
        name: name.into(),
        kind,
        amount: None,
        rate_basis_points: None,
        taxable: false,
        basis: TaxBasis::SellingPrice,
        applies_to: List::default(),
        order: Integer::clamped(order),
        status: FeeStatus::Active,
    };
    if dealership.country == INDIA {
        let rupees = |amount: i64| Some(Money::new(amount * 100, market(INDIA).currency));
        return vec![
            Fee { amount: rupees(2_500), taxable: true, ..line("DOC", "Document handling", FeeKind::Fee, 10) },
            Fee { amount: rupees(6_500), ..line("RTO", "Transfer of registration", FeeKind::Fee, 20) },
            Fee {
                rate_basis_points: Some(Integer::clamped(1_000)),
                ..line("RECON", "Reconditioning and margin", FeeKind::TradeDeduction, 50)
            },
        ];
    }
    let (document_fee, tax_rate) = if dealership.region == "NY" { (17_500, 800) } else { (59_900, 805) };
    let dollars = |amount: i64| Some(Money::new(amount, "USD"));
    vec![
        Fee { amount: dollars(document_fee), taxable: true, ..line("DOC", "Document fee", FeeKind::Fee, 10) },
        Fee { amount: dollars(5_000), ..line("TITLE", "Title fee", FeeKind::Fee, 20) },
        Fee {
            amount: dollars(69_500),
            taxable: true,
            applies_to: List(vec![DealType::Lease]),
            ..line("ACQ", "Lease acquisition fee", FeeKind::Fee, 30)
        },
        Fee {
            rate_basis_points: Some(Integer::clamped(tax_rate)),
            basis: TaxBasis::LessTrade,
            applies_to: List(vec![
                DealType::RetailFinance,
                DealType::Lease,
                DealType::Cash,
                DealType::Balloon,
                DealType::Fleet,
            ]),
            ..line("SALES", "Sales tax", FeeKind::Tax, 40)
        },
        Fee {
            rate_basis_points: Some(Integer::clamped(1_200)),
            ..line("RECON", "Reconditioning and margin", FeeKind::TradeDeduction, 50)
        },
    ]
}
