//! The demo's finance and insurance: what is sold with a car, and credit applications for financed deals with what made-up
//! lenders decided. Its taxpayer numbers begin with 900, which nobody is given as a social security number.

use frontdesk_engine::model::table::{Row, TableSpec};
use frontdesk_engine::model::timestamp::Millis;

use super::deals::DemoDeal;
use super::market::INDIA;
use super::rows::{DemoIds, contact, row};
use super::{DemoCustomer, DemoDealership};
use crate::automotive::consent::{
    ConsentContact, ConsentRecord, ConsentRegime, ConsentRevision, ConsentSource, ConsentStatus, LegalBasis,
};
use crate::automotive::deal::{DealType, FinancingStatus};
use crate::automotive::fni::application::{
    ApplicationDecision, ApplicationStatus, CreditApplication, Employment, EmploymentStatus, PermissiblePurpose,
    Residence, ResidenceType,
};
use crate::automotive::fni::decision::{CreditDecision, LenderDecision};
use crate::automotive::fni::product::{FniProduct, FniProductStatus, FniProductType};
use crate::automotive::values::{Distance, Money};
use crate::automotive::vocabulary::{ConsentChannel, ConsentPurpose, DistanceUnit};
use crate::record::{Day, Integer, List, Stored as _};

type DemoRow = (&'static TableSpec, Row);

const DAY: i64 = 24 * 60 * 60;

/// Only in America, whose rules these records follow.
pub(super) fn rows(
    dealership: &DemoDealership,
    ids: &DemoIds<'_>,
    deals: &[DemoDeal],
    new_id: &mut dyn FnMut(&str) -> String,
) -> Vec<DemoRow> {
    if dealership.country == INDIA {
        return Vec::new();
    }
    let since = deals.iter().map(|deal| deal.created_at).min().unwrap_or(Millis(0));
    let mut rows: Vec<DemoRow> = products()
        .into_iter()
        .map(|product| row(ids.tenant, &new_id(FniProduct::ID_PREFIX), (since, since), product))
        .collect();
    for (number, deal) in deals.iter().filter(|deal| is_financed(deal)).enumerate() {
        let Some(customer) = dealership.customers.get(deal.customer) else { continue };
        rows.extend(application(number, ids, deal, customer, new_id));
    }
    rows
}

fn is_financed(deal: &DemoDeal) -> bool {
    let is_credit = matches!(deal.deal.deal_type, DealType::RetailFinance | DealType::Lease);
    let has_application = matches!(
        deal.deal.financing_status,
        FinancingStatus::Submitted | FinancingStatus::Approved | FinancingStatus::Funded
    );
    is_credit && has_application
}

/// The application for a deal, with the consent it needs and the decisions that its deal's status follows from.
fn application(
    number: usize,
    ids: &DemoIds<'_>,
    deal: &DemoDeal,
    customer: &DemoCustomer,
    new_id: &mut dyn FnMut(&str) -> String,
) -> Vec<DemoRow> {
    let times = (deal.created_at, deal.updated_at);
    let serial = i64::try_from(number).unwrap_or_default();
    let money = |amount: i64| Money::new(amount, "USD");
    let id = new_id(CreditApplication::ID_PREFIX);
    let consent_id = new_id(ConsentRecord::ID_PREFIX);
    let application_number = format!("A-{}", 5_001 + serial);
    let decided = decisions(deal.deal.financing_status, number);
    let decision_ids: Vec<String> = decided.iter().map(|_| new_id(LenderDecision::ID_PREFIX)).collect();
    let lines = decided.iter().zip(&decision_ids).map(|((_, decision), decision_id)| ApplicationDecision {
        lender_decision_id: decision_id.as_str().into(),
        decision: *decision,
    });
    let income = 420_000 + serial % 5 * 65_000;
    let ssn = format!("900-{:02}-{:04}", 70 + serial % 18, 1_001 + serial);
    let record = CreditApplication {
        application_number: application_number.as_str().into(),
        status: if decided.is_empty() { ApplicationStatus::Submitted } else { ApplicationStatus::Decisioned },
        customer_id: deal.deal.customer_id.clone(),
        deal_id: Some(deal.id.as_str().into()),
        lead_id: deal.deal.lead_id.clone(),
        permissible_purpose: Some(PermissiblePurpose::CreditTransaction),
        consent_id: Some(consent_id.as_str().into()),
        submitted_at: Some(times.0),
        decisions: List(lines.collect()),
        applicant: contact(customer),
        amount_requested: deal.deal.amount_financed.clone(),
        residence: Some(Residence {
            street: format!("{} Example Street", 100 + serial).as_str().into(),
            city: customer.city.into(),
            region: customer.region.into(),
            postal_code: "00000".into(),
            country: customer.country.into(),
            residence_type: if number.is_multiple_of(2) { ResidenceType::Rent } else { ResidenceType::Mortgage },
            months: Integer::clamped(14 + serial * 9 % 120),
            monthly_payment: Some(money(135_000 + serial % 4 * 20_000)),
        }),
        employment: Some(Employment {
            status: if number % 5 == 4 { EmploymentStatus::SelfEmployed } else { EmploymentStatus::Employed },
            employer: Some("Example Works".into()),
            months: Some(Integer::clamped(8 + serial * 13 % 200)),
            gross_monthly_income: money(income),
        }),
        ssn_last4: ssn.get(7..).map(Into::into),
        bank_account_last4: None,
        ssn: Some(ssn.as_str().into()),
        birth_date: Day::parse(&format!("{}-{:02}-15", 1_960 + serial % 40, 1 + serial % 12)),
        bank_account_number: None,
    };
    let consent = ConsentRecord {
        status: ConsentStatus::Granted,
        channels: List(vec![ConsentChannel::Email]),
        purpose: Some(ConsentPurpose::CreditInquiry),
        legal_basis: LegalBasis::Consent,
        regime: Some(ConsentRegime::Glba),
        source: ConsentSource::InStore,
        customer_id: Some(deal.deal.customer_id.clone()),
        lead_id: None,
        granted_at: Some(times.0),
        expires_at: None,
        decided_at: times.0,
        revisions: List(vec![ConsentRevision { at: times.0, by: "demo".into(), status: ConsentStatus::Granted }]),
        contact: Some(ConsentContact::of(&record.applicant)),
        evidence: None,
    };
    let decisions: Vec<DemoRow> = decided
        .iter()
        .zip(&decision_ids)
        .enumerate()
        .map(|(place, ((lender, decision), decision_id))| {
            let is_offer = *decision == CreditDecision::Approved;
            let record = LenderDecision {
                decision_number: format!("{}-{}", 70_001 + serial, place + 1).as_str().into(),
                application_number: application_number.as_str().into(),
                credit_application_id: id.as_str().into(),
                customer_id: Some(deal.deal.customer_id.clone()),
                deal_id: Some(deal.id.as_str().into()),
                lender_name: (*lender).into(),
                decision: *decision,
                decided_at: times.0.plus_seconds(DAY / 4),
                expires_at: is_offer.then(|| times.0.plus_seconds(30 * DAY)),
                adverse_action_required: Some(!is_offer),
                adverse_action_due_at: (!is_offer).then(|| times.0.plus_seconds(30 * DAY)),
                adverse_action_sent_at: (!is_offer).then(|| times.0.plus_seconds(2 * DAY)),
                amount: deal.deal.amount_financed.clone().filter(|_| is_offer),
                apr_basis_points: deal.deal.apr_basis_points.filter(|_| is_offer),
                term_months: deal.deal.term_months.filter(|_| is_offer),
                monthly_payment: deal.deal.monthly_payment.clone().filter(|_| is_offer),
                credit_tier: is_offer.then(|| "A".into()),
                program: is_offer.then(|| "Standard".into()),
                conditions: is_offer.then(|| List(vec!["Proof of income".into()])),
                reasons: (!is_offer).then(|| List(vec!["Time at residence is too short".into()])),
            };
            row(ids.tenant, decision_id, (times.0.plus_seconds(DAY / 4), times.0.plus_seconds(DAY / 4)), record)
        })
        .collect();
    let mut rows = vec![row(ids.tenant, &consent_id, (times.0, times.0), consent), row(ids.tenant, &id, times, record)];
    rows.extend(decisions);
    rows
}

/// Lender and decision. One in three was declined by a first lender.
fn decisions(status: FinancingStatus, number: usize) -> Vec<(&'static str, CreditDecision)> {
    let approved = ("Example Credit Union", CreditDecision::Approved);
    match status {
        FinancingStatus::Approved | FinancingStatus::Funded if number.is_multiple_of(3) => {
            vec![("Example Bank", CreditDecision::Declined), approved]
        }
        FinancingStatus::Approved | FinancingStatus::Funded => vec![approved],
        _ => Vec::new(),
    }
}

fn products() -> Vec<FniProduct> {
    let product = |code: &str, name: &str, product_type: FniProductType, price: i64| FniProduct {
        code: code.into(),
        name: name.into(),
        product_type,
        provider: Some("Example Warranty Company".into()),
        price: Some(Money::new(price, "USD")),
        term_months: Some(Integer::clamped(36)),
        max_mileage: None,
        deductible: None,
        description: None,
        status: FniProductStatus::Active,
    };
    vec![
        FniProduct {
            term_months: Some(Integer::clamped(60)),
            max_mileage: Some(Distance { value: Integer::clamped(100_000), unit: DistanceUnit::Mi }),
            deductible: Some(Money::new(10_000, "USD")),
            description: Some("Repairs of engine, transmission, drivetrain and electronics.".into()),
            ..product("VSC-60", "Service contract, 5 years", FniProductType::VehicleServiceContract, 219_500)
        },
        product("GAP", "GAP waiver", FniProductType::Gap, 89_500),
        product("TW-36", "Tire and wheel protection", FniProductType::TireWheel, 64_900),
        product("MAINT-36", "Prepaid maintenance", FniProductType::PrepaidMaintenance, 79_900),
        product("KEY-36", "Key replacement", FniProductType::KeyReplacement, 39_900),
    ]
}
