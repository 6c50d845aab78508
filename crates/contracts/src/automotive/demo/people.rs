//! The people of the demo: customers and the sales team, all invented.
//! It must never use an address outside example.com, .org and .net, or a line outside 555-01xx.

use time::OffsetDateTime;

use super::catalogue::{CATALOGUE, Car};
use super::seed::Seed;
use super::{DemoCustomer, DemoEmployee, DemoInterest, Site};

mod names;

/// A town near a dealership and its telephone area.
#[derive(Clone, Copy)]
pub(super) struct Place {
    city: &'static str,
    region: &'static str,
    country: &'static str,
    area: &'static str,
}

/// Ten families of names, twelve customers of each: no name twice in a dealership.
pub(super) fn customers(site: &Site, seed: &mut Seed, now: OffsetDateTime) -> Vec<DemoCustomer> {
    let mut people: Vec<(&'static str, &'static str)> = names::FAMILIES
        .iter()
        .flat_map(|(given, family)| {
            // Each house pairs the same lists in its own way.
            given.iter().zip(family.iter().cycle().skip(site.turn))
        })
        .map(|(given, family)| (*given, *family))
        .collect();
    seed.shuffle(&mut people);
    people
        .into_iter()
        .zip(site.places.iter().cycle())
        .enumerate()
        .map(|(index, (name, place))| customer(seed, now, index, name, place))
        .collect()
}

fn customer(
    seed: &mut Seed,
    now: OffsetDateTime,
    index: usize,
    (given_name, family_name): (&'static str, &'static str),
    place: &Place,
) -> DemoCustomer {
    let company = (index % 17 == 9).then(|| seed.pick(COMPANIES));
    let kind = match company {
        Some(_) => "business",
        None if index % 50 == 33 => "unknown",
        None => "individual",
    };
    let created_days_ago = match seed.within(1..=3) {
        1 => seed.within(1..=30),
        2 => seed.within(31..=365),
        _ => seed.within(366..=1_800),
    };
    // Who came within the last three months has not bought yet.
    let sales = if created_days_ago > 90 && seed.percent(60) { seed.within(1..=3) } else { 0 };
    let lifetime_value_minor = (0..sales).map(|_| seed.within(14_500..=61_000) * 100).sum();
    let latest_sale_at = (sales > 0).then(|| {
        let days = seed.within(20..=created_days_ago - 10);
        seed.moment(now, days, 0..=24)
    });
    DemoCustomer {
        kind,
        company,
        given_name,
        family_name,
        email: email(seed, given_name, family_name),
        phone: phone(seed, place, index),
        city: place.city,
        region: place.region,
        country: place.country,
        lifetime_value_minor,
        vehicle_of_interest: interest(seed),
        created_days_ago,
        // Late hours count back from the day's end: a customer always precedes a lead of the same day.
        created_at: seed.moment(now, created_days_ago, 12..=24),
        latest_sale_at,
    }
}

fn interest(seed: &mut Seed) -> DemoInterest {
    let cars: Vec<Car> = CATALOGUE.iter().map(|template| template.car).collect();
    let Car(make, model, ..) = seed.choose(&cars).unwrap_or(Car("", "", "", "", 0));
    DemoInterest { make, model }
}

fn email(seed: &mut Seed, given: &str, family: &str) -> String {
    let domain = seed.pick(&["example.com", "example.org", "example.net"]);
    format!("{}.{}@{domain}", plain(given), plain(family))
}

/// A name in the letters that every mail system takes.
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

/// Eight areas take turns and each round of eight has six lines of its own, so no line is given twice.
fn phone(seed: &mut Seed, place: &Place, index: usize) -> String {
    let round = i64::try_from(index / 8).unwrap_or_default();
    let line = round * 6 + seed.within(0..=5);
    format!("+1{}55501{line:02}", place.area)
}

const fn place(city: &'static str, region: &'static str, country: &'static str, area: &'static str) -> Place {
    Place { city, region, country, area }
}

pub(super) const AROUND_LAKESIDE: [Place; 8] = [
    place("Buffalo", "NY", "US", "716"),
    place("Rochester", "NY", "US", "585"),
    place("Syracuse", "NY", "US", "315"),
    place("Albany", "NY", "US", "518"),
    place("Ithaca", "NY", "US", "607"),
    place("Erie", "PA", "US", "814"),
    place("Cleveland", "OH", "US", "216"),
    place("St. Catharines", "ON", "CA", "905"),
];

pub(super) const AROUND_SUMMIT: [Place; 8] = [
    place("Denver", "CO", "US", "303"),
    place("Aurora", "CO", "US", "720"),
    place("Colorado Springs", "CO", "US", "719"),
    place("Fort Collins", "CO", "US", "970"),
    place("Cheyenne", "WY", "US", "307"),
    place("Santa Fe", "NM", "US", "505"),
    place("Salt Lake City", "UT", "US", "801"),
    place("Omaha", "NE", "US", "402"),
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
