//! The demo leads: every status, interest and channel of the vocabulary. A lead must never be older than its customer.

use time::OffsetDateTime;

use super::comments;
use super::rng::DemoRng;
use super::{DealershipSpec, DemoCustomer, DemoEmployee, DemoLead, DemoVehicle};
use crate::automotive::lead::{Channel, Interest, LeadStatus};
use crate::automotive::vehicle::VehicleStatus;

/// Status, number of leads, and the range of days since such a lead was received.
const STATUSES: [(LeadStatus, usize, i64, i64); 10] = [
    (LeadStatus::New, 16, 0, 2),
    (LeadStatus::Contacted, 13, 1, 8),
    (LeadStatus::Working, 14, 3, 30),
    (LeadStatus::AppointmentSet, 9, 2, 21),
    (LeadStatus::Negotiating, 7, 4, 28),
    (LeadStatus::Sold, 8, 10, 75),
    (LeadStatus::Lost, 7, 14, 90),
    (LeadStatus::Duplicate, 2, 3, 40),
    (LeadStatus::Invalid, 2, 1, 40),
    (LeadStatus::Unknown, 2, 1, 60),
];

pub(super) fn leads(
    spec: &DealershipSpec,
    rng: &mut DemoRng,
    now: OffsetDateTime,
    vehicles: &[DemoVehicle],
    customers: &[DemoCustomer],
) -> Vec<DemoLead> {
    let mut writers: Vec<usize> = (0..customers.len()).collect();
    rng.shuffle(&mut writers);
    let mut writers = writers.into_iter().cycle();
    let for_sale = with_status(vehicles, &[VehicleStatus::Available]);
    let promised = with_status(vehicles, &[VehicleStatus::Pending, VehicleStatus::Reserved]);
    let mut sold = with_status(vehicles, &[VehicleStatus::Sold]).into_iter();

    let mut leads: Vec<DemoLead> = Vec::new();
    for (status, count, newest, oldest) in STATUSES {
        for _ in 0..count {
            let Some(customer) = writers.next() else {
                return leads;
            };
            let interest = interest(rng, status);
            let vehicle = match status {
                // A car is sold once; further sold leads are about cars that have left the stock.
                LeadStatus::Sold => sold.next(),
                LeadStatus::Negotiating if rng.percent(50) => rng.choose(&promised),
                _ if matches!(interest, Interest::Sell | Interest::Service) => None,
                _ if rng.percent(80) => rng.choose(&for_sale),
                _ => None,
            };
            let created = customers.get(customer).map_or(0, |customer| customer.created_days_ago);
            let received_days_ago = rng.within(newest..=oldest).min(created);
            let updated_days_ago = match status {
                LeadStatus::New => received_days_ago,
                _ => rng.within(0..=received_days_ago),
            };
            let (channel, provider) = rng.choose(SOURCES).unwrap_or((Channel::Unknown, "Imported list"));
            leads.push(DemoLead {
                customer,
                vehicle,
                status,
                interest,
                channel,
                provider,
                owner: owner(spec, rng),
                comments: comments::comment(rng, interest),
                timeframe: comments::timeframe(rng),
                received_days_ago,
                // Hours count back from `now`, so created < received < updated holds within one day too.
                received_at: rng.moment(now, received_days_ago, 6..=12),
                updated_days_ago,
                updated_at: rng.moment(now, updated_days_ago, 0..=6),
                lost_reason: (status == LeadStatus::Lost).then(|| comments::lost_reason(rng)),
            });
        }
    }
    mirror_duplicates(&mut leads);
    rng.shuffle(&mut leads);
    leads
}

fn with_status(vehicles: &[DemoVehicle], statuses: &[VehicleStatus]) -> Vec<usize> {
    vehicles
        .iter()
        .enumerate()
        .filter(|(_, vehicle)| statuses.contains(&vehicle.status))
        .map(|(index, _)| index)
        .collect()
}

/// A lead in an advanced status is about buying, leasing or trading in.
fn interest(rng: &mut DemoRng, status: LeadStatus) -> Interest {
    use Interest::{Buy, Lease, Sell, Service, TestDrive, TradeIn, Unknown};
    let usual: &[Interest] = match status {
        LeadStatus::Sold | LeadStatus::Negotiating => &[Buy, Buy, Buy, Lease],
        LeadStatus::AppointmentSet => &[TestDrive, TestDrive, Buy, TradeIn],
        LeadStatus::Unknown | LeadStatus::Invalid => &[Unknown, Buy],
        LeadStatus::New | LeadStatus::Contacted | LeadStatus::Working | LeadStatus::Lost | LeadStatus::Duplicate => {
            &[Buy, Buy, Buy, TestDrive, TradeIn, Lease, Sell, Service]
        }
    };
    rng.choose(usual).unwrap_or(Unknown)
}

fn owner(spec: &DealershipSpec, rng: &mut DemoRng) -> DemoEmployee {
    let [first, ..] = spec.employees;
    rng.choose(&spec.employees).unwrap_or(first)
}

/// A duplicate is a second message of a person who was contacted already, about the same car.
fn mirror_duplicates(leads: &mut [DemoLead]) {
    let talking: Vec<DemoLead> = leads.iter().filter(|lead| lead.status == LeadStatus::Contacted).cloned().collect();
    let duplicates = leads.iter_mut().filter(|lead| lead.status == LeadStatus::Duplicate);
    for (duplicate, first) in duplicates.zip(talking) {
        duplicate.customer = first.customer;
        duplicate.vehicle = first.vehicle;
        duplicate.interest = first.interest;
        duplicate.comments = first.comments;
        duplicate.owner = first.owner;
        duplicate.received_days_ago = first.received_days_ago;
        duplicate.received_at = first.received_at + time::Duration::minutes(7);
        duplicate.updated_days_ago = first.received_days_ago;
        duplicate.updated_at = first.received_at + time::Duration::minutes(31);
    }
}

/// Channel and provider; frequent ones are listed more than once.
const SOURCES: &[(Channel, &str)] = &[
    (Channel::Website, "Dealer website"),
    (Channel::Website, "Dealer website"),
    (Channel::Website, "Dealer website"),
    (Channel::Phone, "Main line"),
    (Channel::Phone, "Main line"),
    (Channel::WalkIn, "Showroom"),
    (Channel::WalkIn, "Showroom"),
    (Channel::Chat, "Website chat"),
    (Channel::Chat, "Website chat"),
    (Channel::AiAgent, "Shopping assistant"),
    (Channel::AiAgent, "Shopping assistant"),
    (Channel::Email, "Sales inbox"),
    (Channel::Social, "Social media page"),
    (Channel::Referral, "Customer referral"),
    (Channel::ThirdParty, "Roadfinder Listings"),
    (Channel::ThirdParty, "Gearbox Classifieds"),
    (Channel::Oem, "Manufacturer programme"),
    (Channel::Event, "County fair"),
    (Channel::Unknown, "Imported list"),
];
