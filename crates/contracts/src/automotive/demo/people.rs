//! The people of the demo, all made up: customers and the sales teams. It must never use an e-mail address outside
//! example.com, .org and .net, or a telephone number outside 555-01xx.

use time::OffsetDateTime;

use super::catalogue::{CATALOGUE, CarSpec};
use super::rng::DemoRng;
use super::{DealershipSpec, DemoCustomer, DemoEmployee, DemoInterest};
use crate::automotive::customer::CustomerKind;
use crate::automotive::vehicle::BodyStyle;

mod names;

/// A town near a dealership and its telephone area code.
#[derive(Clone, Copy)]
pub(super) struct Town {
    city: &'static str,
    region: &'static str,
    country: &'static str,
    area: &'static str,
}

/// Ten groups of names, twelve customers of each: no name occurs twice in a dealership.
pub(super) fn customers(spec: &DealershipSpec, rng: &mut DemoRng, now: OffsetDateTime) -> Vec<DemoCustomer> {
    let mut people: Vec<(&'static str, &'static str)> = names::FAMILIES
        .iter()
        .flat_map(|(given, family)| {
            // The rotation pairs the same lists differently in each dealership.
            given.iter().zip(family.iter().cycle().skip(spec.rotation))
        })
        .map(|(given, family)| (*given, *family))
        .collect();
    rng.shuffle(&mut people);
    people
        .into_iter()
        .zip(spec.towns.iter().cycle())
        .enumerate()
        .map(|(index, (name, town))| customer(rng, now, index, name, town))
        .collect()
}

fn customer(
    rng: &mut DemoRng,
    now: OffsetDateTime,
    index: usize,
    (given_name, family_name): (&'static str, &'static str),
    town: &Town,
) -> DemoCustomer {
    let company = (index % 17 == 9).then(|| rng.pick(COMPANIES));
    let kind = match company {
        Some(_) => CustomerKind::Business,
        None if index % 50 == 33 => CustomerKind::Unknown,
        None => CustomerKind::Individual,
    };
    let created_days_ago = match rng.within(1..=3) {
        1 => rng.within(1..=30),
        2 => rng.within(31..=365),
        _ => rng.within(366..=1_800),
    };
    // A customer of the last three months has not bought yet.
    let sales = if created_days_ago > 90 && rng.percent(60) { rng.within(1..=3) } else { 0 };
    let lifetime_value_minor = (0..sales).map(|_| rng.within(14_500..=61_000) * 100).sum();
    let latest_sale_at = (sales > 0).then(|| {
        let days = rng.within(20..=created_days_ago - 10);
        rng.moment(now, days, 0..=24)
    });
    DemoCustomer {
        kind,
        company,
        given_name,
        family_name,
        email: email(rng, given_name, family_name),
        phone: phone(rng, town, index),
        city: town.city,
        region: town.region,
        country: town.country,
        lifetime_value_minor,
        vehicle_of_interest: interest(rng),
        created_days_ago,
        // More hours ago than any lead of the same day, so that a customer always precedes their leads.
        created_at: rng.moment(now, created_days_ago, 12..=24),
        latest_sale_at,
    }
}

fn interest(rng: &mut DemoRng) -> DemoInterest {
    let cars: Vec<CarSpec> = CATALOGUE.iter().map(|entry| entry.car).collect();
    let CarSpec(make, model, ..) = rng.choose(&cars).unwrap_or(CarSpec("", "", "", BodyStyle::Unknown, 0));
    DemoInterest { make, model }
}

fn email(rng: &mut DemoRng, given: &str, family: &str) -> String {
    let domain = rng.pick(&["example.com", "example.org", "example.net"]);
    format!("{}.{}@{domain}", plain(given), plain(family))
}

/// A name in ASCII, for an e-mail address.
fn plain(name: &str) -> String {
    name.chars()
        .flat_map(char::to_lowercase)
        .filter_map(|c| match c {
            'á' | 'ä' | 'å' => Some('a'),
            'ç' | 'ć' | 'č' => Some('c'),
            'é' | 'è' => Some('e'),
            'ğ' => Some('g'),
            'í' | 'ı' => Some('i'),
            'ł' => Some('l'),
            'ñ' | 'ń' => Some('n'),
            'ó' | 'ö' | 'ø' => Some('o'),
            'ř' => Some('r'),
            'ş' | 'š' => Some('s'),
            'ú' | 'ü' => Some('u'),
            'ż' => Some('z'),
            ' ' => Some('-'),
            c if c.is_ascii_alphanumeric() || c == '-' => Some(c),
            _ => None,
        })
        .collect()
}

/// Every eight consecutive customers have different area codes and six numbers of their own, so no number is repeated.
fn phone(rng: &mut DemoRng, town: &Town, index: usize) -> String {
    let round = i64::try_from(index / 8).unwrap_or_default();
    let line = round * 6 + rng.within(0..=5);
    format!("+1{}55501{line:02}", town.area)
}

const fn town(city: &'static str, region: &'static str, country: &'static str, area: &'static str) -> Town {
    Town { city, region, country, area }
}

pub(super) const AROUND_LAKESIDE: [Town; 8] = [
    town("Buffalo", "NY", "US", "716"),
    town("Rochester", "NY", "US", "585"),
    town("Syracuse", "NY", "US", "315"),
    town("Albany", "NY", "US", "518"),
    town("Ithaca", "NY", "US", "607"),
    town("Erie", "PA", "US", "814"),
    town("Cleveland", "OH", "US", "216"),
    town("St. Catharines", "ON", "CA", "905"),
];

pub(super) const AROUND_SUMMIT: [Town; 8] = [
    town("Denver", "CO", "US", "303"),
    town("Aurora", "CO", "US", "720"),
    town("Colorado Springs", "CO", "US", "719"),
    town("Fort Collins", "CO", "US", "970"),
    town("Cheyenne", "WY", "US", "307"),
    town("Santa Fe", "NM", "US", "505"),
    town("Salt Lake City", "UT", "US", "801"),
    town("Omaha", "NE", "US", "402"),
];

const fn employee(id: &'static str, name: &'static str) -> DemoEmployee {
    DemoEmployee { id, name }
}

pub(super) const LAKESIDE_TEAM: [DemoEmployee; 6] = [
    employee("emp_01", "Dana Whitfield"),
    employee("emp_02", "Marcus Oyelaran"),
    employee("emp_03", "Priya Raman"),
    employee("emp_04", "Tom Brzezicki"),
    employee("emp_05", "Lucía Ferrer"),
    employee("emp_06", "Kenji Arata"),
];

pub(super) const SUMMIT_TEAM: [DemoEmployee; 6] = [
    employee("emp_01", "Rosalind Achebe"),
    employee("emp_02", "Wyatt Lindqvist"),
    employee("emp_03", "Amara Diallo"),
    employee("emp_04", "Joaquín Beltrán"),
    employee("emp_05", "Hannah Stoltz"),
    employee("emp_06", "Devon Clarke"),
];

const COMPANIES: &[&str] = &[
    "Niagara Gutter & Roof",
    "Two Rivers Catering",
    "Halcyon Home Care",
    "Northgate Plumbing",
    "Blue Heron Landscaping",
    "Cedar Street Bakery",
    "Ridgeway Electric",
    "Harbor Pet Clinic",
];
