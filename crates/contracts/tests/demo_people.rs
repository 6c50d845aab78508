//! The people of the demo dealerships: customers with reserved contact data, and consistent leads.

use std::collections::{BTreeMap, BTreeSet};

use frontdesk_contracts::automotive::demo::{DemoDealership, DemoLead, dealerships};
use frontdesk_contracts::record::Vocabulary;
use time::OffsetDateTime;
use time::macros::datetime;

const NOW: OffsetDateTime = datetime!(2025-06-02 15:04:05.678 UTC);

fn count<'a>(words: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for word in words {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

fn leads(dealerships: &[DemoDealership]) -> impl Iterator<Item = &DemoLead> {
    dealerships.iter().flat_map(|dealership| &dealership.leads)
}

#[test]
fn customers_have_only_reserved_emails_and_phone_numbers() {
    let dealerships = dealerships(NOW);
    let mut phones = BTreeSet::new();
    for customer in dealerships.iter().flat_map(|dealership| &dealership.customers) {
        let (local, domain) = customer.email.split_once('@').unwrap();
        assert!(["example.com", "example.org", "example.net"].contains(&domain), "{domain}");
        assert!(local.chars().all(|c| c.is_ascii_lowercase() || "-.".contains(c)), "{local}");
        let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).count();
        assert_eq!(
            letters(local),
            letters(customer.given_name) + letters(customer.family_name),
            "{local} of {} {}",
            customer.given_name,
            customer.family_name
        );
        assert_eq!(customer.phone.len(), 12, "{}", customer.phone);
        assert!(customer.phone.starts_with("+1"));
        assert_eq!(&customer.phone[5..10], "55501", "{}", customer.phone);
        assert!(phones.insert(&customer.phone), "{} is given twice", customer.phone);
    }
}

#[test]
fn customers_of_a_dealership_have_distinct_names_and_emails() {
    for dealership in dealerships(NOW) {
        let names: BTreeSet<_> = dealership.customers.iter().map(|who| (who.given_name, who.family_name)).collect();
        let emails: BTreeSet<_> = dealership.customers.iter().map(|who| &who.email).collect();
        assert_eq!((names.len(), emails.len()), (120, 120));
    }
}

#[test]
fn some_customers_are_businesses_and_only_they_have_a_company() {
    for dealership in dealerships(NOW) {
        let kinds = count(dealership.customers.iter().map(|who| who.kind.as_str()));
        assert_eq!(kinds.into_iter().collect::<Vec<_>>(), [("business", 7), ("individual", 111), ("unknown", 2)]);
        for who in &dealership.customers {
            assert_eq!(who.company.is_some(), who.kind.as_str() == "business");
            assert_eq!(who.latest_sale_at.is_some(), who.lifetime_value_minor > 0);
            assert!(!who.vehicle_of_interest.model.is_empty());
        }
    }
}

#[test]
fn leads_are_spread_over_all_statuses() {
    for dealership in dealerships(NOW) {
        let statuses = count(dealership.leads.iter().map(|lead| lead.status.as_str()));
        assert_eq!(
            statuses.into_iter().collect::<Vec<_>>(),
            [
                ("appointment_set", 9),
                ("contacted", 13),
                ("duplicate", 2),
                ("invalid", 2),
                ("lost", 7),
                ("negotiating", 7),
                ("new", 16),
                ("sold", 8),
                ("unknown", 2),
                ("working", 14),
            ]
        );
    }
}

#[test]
fn leads_use_every_interest_and_channel_of_the_vocabulary() {
    let dealerships = dealerships(NOW);
    assert_eq!(
        count(leads(&dealerships).map(|lead| lead.interest.as_str())).into_keys().collect::<Vec<_>>(),
        words("buy lease sell service test_drive trade_in unknown")
    );
    assert_eq!(
        count(leads(&dealerships).map(|lead| lead.channel.as_str())).into_keys().collect::<Vec<_>>(),
        words("ai_agent chat email event oem phone referral social third_party unknown walk_in website")
    );
}

#[test]
fn a_lead_references_a_customer_and_a_suitable_vehicle() {
    for dealership in dealerships(NOW) {
        for lead in &dealership.leads {
            assert!(lead.customer < dealership.customers.len());
            let Some(car) = lead.vehicle.map(|index| &dealership.vehicles[index]) else {
                continue;
            };
            let fitting: &[&str] = match lead.status.as_str() {
                "sold" => &["sold"],
                "negotiating" => &["available", "pending", "reserved"],
                _ => &["available"],
            };
            assert!(
                fitting.contains(&car.status.as_str()),
                "{} about a {} car",
                lead.status.as_str(),
                car.status.as_str()
            );
        }
    }
}

#[test]
fn only_lost_leads_have_a_reason_and_no_text_is_empty() {
    for lead in leads(&dealerships(NOW)) {
        assert_eq!(lead.lost_reason.is_some(), lead.status.as_str() == "lost");
        for text in [lead.provider, lead.comments, lead.timeframe.as_str(), lead.owner.name] {
            assert!(!text.is_empty());
        }
        assert!(lead.owner.id.starts_with("emp_0"), "{}", lead.owner.id);
    }
}
