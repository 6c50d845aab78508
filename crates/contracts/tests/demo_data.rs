//! The demo dealerships: counts, uniqueness, vocabulary, determinism.

use std::collections::{BTreeMap, BTreeSet};

use frontdesk_contracts::automotive::demo::{DemoDealership, DemoVehicle, dealerships, indian_dealership};
use frontdesk_contracts::automotive::vin::Vin;
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

fn vehicles(dealerships: &[DemoDealership]) -> impl Iterator<Item = &DemoVehicle> {
    dealerships.iter().flat_map(|dealership| &dealership.vehicles)
}

#[test]
fn there_are_two_dealerships_in_america_and_one_in_india() {
    let dealerships = dealerships(NOW);
    let india = indian_dealership(NOW);
    let summary: Vec<String> = dealerships
        .iter()
        .chain([&india])
        .map(|dealership| {
            format!(
                "{} | {} | {}, {}, {} | {} vehicles, {} customers, {} leads",
                dealership.id,
                dealership.name,
                dealership.city,
                dealership.region,
                dealership.country,
                dealership.vehicles.len(),
                dealership.customers.len(),
                dealership.leads.len()
            )
        })
        .collect();
    assert_eq!(
        summary,
        [
            "dlr_lakeside | Lakeside Motors | Buffalo, NY, US | 300 vehicles, 120 customers, 80 leads",
            "dlr_summit | Summit Auto Gallery | Denver, CO, US | 301 vehicles, 120 customers, 80 leads",
            "dlr_bengaluru | Lakeside Motors Bengaluru | Bengaluru, KA, IN | 40 vehicles, 8 customers, 6 leads",
        ]
    );
}

#[test]
fn at_least_250_vehicles_of_each_are_for_sale() {
    for dealership in dealerships(NOW) {
        let for_sale = dealership.vehicles.iter().filter(|car| car.status.as_str() == "available").count();
        assert!(for_sale >= 250, "{}: {for_sale}", dealership.id);
    }
}

#[test]
fn every_vin_is_valid_and_reads_back_to_its_make_and_year() {
    for car in vehicles(&dealerships(NOW)) {
        let vin = Vin::parse(car.vin.as_str()).unwrap();
        assert!(vin.has_valid_check_digit(), "{vin}");
        assert_eq!((vin.make(), vin.year()), (Some(car.make), Some(car.year)), "{vin}");
    }
}

#[test]
fn vins_and_stock_numbers_are_unique_except_one_shared_vin() {
    let dealerships = dealerships(NOW);
    let vins = |dealership: &DemoDealership| -> BTreeSet<Vin> {
        dealership.vehicles.iter().map(|car| car.vin.clone()).collect()
    };
    for dealership in &dealerships {
        let numbers: BTreeSet<&str> = dealership.vehicles.iter().map(|car| car.stock_number.as_str()).collect();
        assert_eq!(vins(dealership).len(), dealership.vehicles.len());
        assert_eq!(numbers.len(), dealership.vehicles.len());
    }
    let both: Vec<Vin> = vins(&dealerships[0]).intersection(&vins(&dealerships[1])).cloned().collect();
    assert_eq!(both.len(), 1, "{both:?}");
}

#[test]
fn every_vehicle_status_and_condition_of_the_vocabulary_occurs() {
    let dealerships = dealerships(NOW);
    for dealership in &dealerships {
        let statuses = count(dealership.vehicles.iter().map(|car| car.status.as_str()));
        assert_eq!(
            statuses.keys().copied().collect::<Vec<_>>(),
            words("available in_transit on_hold on_order pending reserved sold unavailable unknown wholesale"),
            "{}",
            dealership.id
        );
        let conditions = count(dealership.vehicles.iter().map(|car| car.condition.as_str()));
        assert_eq!(conditions.keys().copied().collect::<Vec<_>>(), ["certified_pre_owned", "demo", "new", "used"]);
    }
}

#[test]
fn vehicles_use_the_vocabulary() {
    let within = |words: &[&str], word: &str| assert!(words.contains(&word), "{word}");
    for car in vehicles(&dealerships(NOW)) {
        within(
            &words("sedan coupe hatchback wagon convertible suv crossover pickup van minivan")[..],
            car.body_style.as_str(),
        );
        within(&words("gasoline diesel electric hybrid plug_in_hybrid flex_fuel hydrogen")[..], car.fuel_type.as_str());
        within(&["automatic", "manual", "cvt", "dual_clutch", "direct_drive"], car.transmission.as_str());
        within(&["fwd", "rwd", "awd", "four_wd"], car.drivetrain.as_str());
        within(&["USD", "CAD"], car.currency);
    }
}

#[test]
fn the_stock_is_varied() {
    let dealerships = dealerships(NOW);
    for dealership in &dealerships {
        let bodies = count(dealership.vehicles.iter().map(|car| car.body_style.as_str()));
        let fuels = count(dealership.vehicles.iter().map(|car| car.fuel_type.as_str()));
        let models: BTreeSet<_> = dealership.vehicles.iter().map(|car| (car.make, car.model)).collect();
        assert_eq!(bodies.len(), 10, "{bodies:?}");
        assert_eq!(fuels.len(), 7, "{fuels:?}");
        assert!(models.len() >= 50, "{}", models.len());
        for word in ["leather", "sunroof", "tow package"] {
            let hits = dealership.vehicles.iter().filter(|car| car.description.contains(word)).count();
            assert!((10..200).contains(&hits), "{word}: {hits}");
        }
    }
}

#[test]
fn prices_mileages_and_years_are_plausible() {
    for car in vehicles(&dealerships(NOW)) {
        let what = format!("{} {} {} {}", car.condition.as_str(), car.year, car.model, car.mileage);
        assert!((2016..=2024).contains(&car.year), "{what}");
        let dollars = car.price_minor / 100;
        assert!((7_000..=100_000).contains(&dollars), "{what}: {dollars}");
        match car.condition.as_str() {
            "new" => assert!(car.year >= 2023 && car.mileage < 50, "{what}"),
            "demo" => assert!(car.year == 2024 && car.mileage < 6_500, "{what}"),
            "certified_pre_owned" => assert!(car.year >= 2019 && car.mileage < 80_000, "{what}"),
            _ => assert!((1_000..130_000).contains(&car.mileage), "{what}"),
        }
        if let Some(list) = car.msrp_minor {
            assert!(car.price_minor < list + 10_000, "{what}: {dollars} of {list}");
        }
        assert_eq!(car.msrp_minor.is_none(), car.condition.as_str() == "used", "{what}");
    }
}

#[test]
fn one_vehicle_of_each_dealership_is_priced_in_canadian_dollars() {
    for dealership in dealerships(NOW) {
        let currencies = count(dealership.vehicles.iter().map(|car| car.currency));
        assert_eq!(currencies["CAD"], 1);
    }
}

#[test]
fn only_new_cars_are_ordered_and_only_arrived_cars_have_photos() {
    for car in vehicles(&dealerships(NOW)) {
        match car.status.as_str() {
            "on_order" => assert_eq!((car.condition.as_str(), car.media_count), ("new", 0)),
            "in_transit" => assert_eq!(car.media_count, 0),
            _ => assert!(car.media_count >= 2),
        }
    }
}

#[test]
fn times_are_whole_seconds_in_the_order_things_happen() {
    for dealership in dealerships(NOW) {
        for car in &dealership.vehicles {
            assert_eq!((NOW - car.in_stock_at).whole_days(), car.in_stock_days_ago);
            assert_eq!(car.in_stock_at.nanosecond(), 0);
        }
        for who in &dealership.customers {
            assert_eq!((NOW - who.created_at).whole_days(), who.created_days_ago);
            assert!(who.latest_sale_at.is_none_or(|sale| sale > who.created_at && sale < NOW));
        }
        for lead in &dealership.leads {
            let created = dealership.customers[lead.customer].created_at;
            assert!(created <= lead.received_at, "a lead older than its customer");
            assert!(lead.received_at <= lead.updated_at && lead.updated_at < NOW);
            assert_eq!((NOW - lead.received_at).whole_days(), lead.received_days_ago);
            assert_eq!((NOW - lead.updated_at).whole_days(), lead.updated_days_ago);
        }
    }
}

#[test]
fn the_indian_dealership_sells_used_cars_in_rupees() {
    let dealership = indian_dealership(NOW);
    let makes = count(dealership.vehicles.iter().map(|car| car.make));
    let makes: Vec<_> = makes.into_iter().collect();
    assert_eq!(
        makes,
        [("Honda", 4), ("Hyundai", 6), ("Kia", 4), ("Mahindra", 6), ("Maruti Suzuki", 8), ("Tata", 6), ("Toyota", 6)]
    );
    let statuses: Vec<_> = count(dealership.vehicles.iter().map(|car| car.status.as_str())).into_iter().collect();
    assert_eq!(statuses, [("available", 38), ("reserved", 1), ("sold", 1)]);
    let vins: BTreeSet<&str> = dealership.vehicles.iter().map(|car| car.vin.as_str()).collect();
    assert_eq!(vins.len(), 40);
    for car in &dealership.vehicles {
        let what = format!("{} {} {} {}", car.vin, car.year, car.make, car.model);
        assert_eq!(Vin::parse(car.vin.as_str()).unwrap().year(), Some(car.year), "{what}");
        assert!(car.vin.as_str().starts_with('M'), "{what}");
        assert!((2018..=2024).contains(&car.year), "{what}");
        assert!((6_000..60_000).contains(&car.mileage), "{what}: {} km", car.mileage);
        assert_eq!(car.currency, "INR", "{what}");
        let rupees = car.price_minor / 100;
        assert!((400_000..2_500_000).contains(&rupees) && car.price_minor % 100 == 0, "{what}: {rupees}");
        assert!(["used", "certified_pre_owned"].contains(&car.condition.as_str()), "{what}");
        assert_eq!((NOW - car.in_stock_at).whole_days(), car.in_stock_days_ago, "{what}");
        assert_eq!(car.in_stock_at.nanosecond(), 0, "{what}");
        assert!(car.media_count >= 2, "{what}");
    }
    let first = &dealership.vehicles[0];
    assert_eq!((first.vin.as_str(), first.price_minor), ("MA3EWDE19RS310000", 73_160_000));
    assert_eq!(
        first.description,
        "Certified, inspected 2024 Maruti Suzuki Swift VXi in Pearl White with rear view camera, automatic climate \
         control, electric sunroof. Insured, with its service history and two keys."
    );
}

#[test]
fn the_people_of_the_indian_dealership_are_made_up_and_fit_its_cars() {
    let dealership = indian_dealership(NOW);
    let mut phones = BTreeSet::new();
    for who in &dealership.customers {
        assert!(who.email.ends_with("@example.com"), "{}", who.email);
        // A number in India does not begin with 0 after its country code.
        assert!(who.phone.starts_with("+910") && who.phone.len() == 13, "{}", who.phone);
        assert!(phones.insert(&who.phone));
        assert_eq!((NOW - who.created_at).whole_days(), who.created_days_ago);
        assert_eq!(who.latest_sale_at.is_some(), who.lifetime_value_minor > 0);
    }
    for lead in &dealership.leads {
        let who = &dealership.customers[lead.customer];
        assert!(who.created_at <= lead.received_at && lead.received_at <= lead.updated_at && lead.updated_at < NOW);
        let Some(car) = lead.vehicle.map(|place| &dealership.vehicles[place]) else { continue };
        let wish = &who.vehicle_of_interest;
        assert_eq!((wish.make, wish.model), (car.make, car.model));
        let fitting = match lead.status.as_str() {
            "sold" => "sold",
            "negotiating" => "reserved",
            _ => "available",
        };
        assert_eq!(car.status.as_str(), fitting);
        assert!(car.in_stock_at < lead.updated_at, "nobody asks for a car that is not there");
    }
}

#[test]
fn another_now_changes_only_the_times() {
    let later = NOW + time::Duration::days(400);
    let (now, then) = (dealerships(NOW), dealerships(later));
    let first = &now[0].vehicles[0];
    let mut same = then[0].vehicles[0].clone();
    assert_eq!(same.in_stock_at - first.in_stock_at, time::Duration::days(400));
    same.in_stock_at = first.in_stock_at;
    assert_eq!(&same, first);
}

#[test]
fn the_first_vehicle_has_a_readable_description() {
    let dealerships = dealerships(NOW);
    let car = &dealerships[0].vehicles[0];
    assert_eq!(
        car.description,
        "Brand-new 2023 Toyota RAV4 XLE in Magnetic Gray with a blind spot monitor, a power sunroof and premium audio. \
         Comfortable on long trips and easy to park."
    );
}

/// Fails if the demo data changes for all users; update it only on purpose.
#[test]
fn the_same_now_gives_the_same_data_on_every_machine() {
    let text = format!("{:?}", dealerships(NOW));
    assert_eq!(fnv1a(text.as_bytes()), 6_994_295_658_834_315_351);
}

/// Written here because the hashes of the standard library may change with the compiler.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
