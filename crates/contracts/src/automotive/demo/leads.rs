//! The demo leads: every status, interest and channel of the vocabulary. A lead must never be older than its customer.

use time::OffsetDateTime;

use super::comments;
use super::rng::DemoRng;
use super::{DealershipSpec, DemoCustomer, DemoEmployee, DemoLead, DemoVehicle};

/// Status, number of leads, and the range of days since such a lead was received.
const STATUSES: [(&str, usize, i64, i64); 10] = [
    ("new", 16, 0, 2),
    ("contacted", 13, 1, 8),
    ("working", 14, 3, 30),
    ("appointment_set", 9, 2, 21),
    ("negotiating", 7, 4, 28),
    ("sold", 8, 10, 75),
    ("lost", 7, 14, 90),
    ("duplicate", 2, 3, 40),
    ("invalid", 2, 1, 40),
    ("unknown", 2, 1, 60),
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
    let for_sale = with_status(vehicles, &["available"]);
    let promised = with_status(vehicles, &["pending", "reserved"]);
    let mut sold = with_status(vehicles, &["sold"]).into_iter();

    let mut leads: Vec<DemoLead> = Vec::new();
    for (status, count, newest, oldest) in STATUSES {
        for _ in 0..count {
            let Some(customer) = writers.next() else {
                return leads;
            };
            let interest = interest(rng, status);
            let vehicle = match status {
                // A car is sold once; further sold leads are about cars that have left the stock.
                "sold" => sold.next(),
                "negotiating" if rng.percent(50) => rng.choose(&promised),
                _ if matches!(interest, "sell" | "service") => None,
                _ if rng.percent(80) => rng.choose(&for_sale),
                _ => None,
            };
            let created = customers.get(customer).map_or(0, |customer| customer.created_days_ago);
            let received_days_ago = rng.within(newest..=oldest).min(created);
            let updated_days_ago = match status {
                "new" => received_days_ago,
                _ => rng.within(0..=received_days_ago),
            };
            let (channel, provider) = rng.pick(SOURCES);
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
                lost_reason: (status == "lost").then(|| comments::lost_reason(rng)),
            });
        }
    }
    mirror_duplicates(&mut leads);
    rng.shuffle(&mut leads);
    leads
}

fn with_status(vehicles: &[DemoVehicle], statuses: &[&str]) -> Vec<usize> {
    vehicles
        .iter()
        .enumerate()
        .filter(|(_, vehicle)| statuses.contains(&vehicle.status))
        .map(|(index, _)| index)
        .collect()
}

/// A lead in an advanced status is about buying, leasing or trading in.
fn interest(rng: &mut DemoRng, status: &str) -> &'static str {
    match status {
        "sold" | "negotiating" => rng.pick(&["buy", "buy", "buy", "lease"]),
        "appointment_set" => rng.pick(&["test_drive", "test_drive", "buy", "trade_in"]),
        "unknown" | "invalid" => rng.pick(&["unknown", "buy"]),
        _ => rng.pick(&["buy", "buy", "buy", "test_drive", "trade_in", "lease", "sell", "service"]),
    }
}

fn owner(spec: &DealershipSpec, rng: &mut DemoRng) -> DemoEmployee {
    let [first, ..] = spec.employees;
    rng.choose(&spec.employees).unwrap_or(first)
}

/// A duplicate is a second message of a person who was contacted already, about the same car.
fn mirror_duplicates(leads: &mut [DemoLead]) {
    let talking: Vec<DemoLead> = leads.iter().filter(|lead| lead.status == "contacted").cloned().collect();
    let duplicates = leads.iter_mut().filter(|lead| lead.status == "duplicate");
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
const SOURCES: &[(&str, &str)] = &[
    ("website", "Dealer website"),
    ("website", "Dealer website"),
    ("website", "Dealer website"),
    ("phone", "Main line"),
    ("phone", "Main line"),
    ("walk_in", "Showroom"),
    ("walk_in", "Showroom"),
    ("chat", "Website chat"),
    ("chat", "Website chat"),
    ("ai_agent", "Shopping assistant"),
    ("ai_agent", "Shopping assistant"),
    ("email", "Sales inbox"),
    ("social", "Social media page"),
    ("referral", "Customer referral"),
    ("third_party", "Roadfinder Listings"),
    ("third_party", "Gearbox Classifieds"),
    ("oem", "Manufacturer programme"),
    ("event", "County fair"),
    ("unknown", "Imported list"),
];
