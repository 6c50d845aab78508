//! Fares against a second calculation, which shares nothing with the first one.

use frontdesk_contracts::record::{FixedDecimal, Integer};
use frontdesk_contracts::tomo::mobility::fare_table::{FareTable, VehicleClass};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::data::{RIDES, fare, insert, surge};
use super::desk::PartnerDesk;
use super::support::{SANDBOX, contract};

/// A quotient rounded half up, by long division of a fraction.
fn rounded(numerator: u128, denominator: u128) -> u128 {
    let (whole, rest) = (numerator / denominator, numerator % denominator);
    if rest * 2 >= denominator { whole + 1 } else { whole }
}

/// The angle between two places as vectors, instead of the haversine formula.
fn straight_metres(from: (f64, f64), to: (f64, f64)) -> f64 {
    let vector = |(lat, lng): (f64, f64)| {
        let (lat, lng) = (lat.to_radians(), lng.to_radians());
        [lat.cos() * lng.cos(), lat.cos() * lng.sin(), lat.sin()]
    };
    let (a, b) = (vector(from), vector(to));
    let cross = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let length = cross.iter().map(|part| part * part).sum::<f64>().sqrt();
    let dot = a.iter().zip(b).map(|(one, other)| one * other).sum::<f64>();
    6_371_000.0 * length.atan2(dot)
}

/// The fare of a way, in fractions of a rupee over one common denominator.
fn expected_fare(straight: u128, table: &FareTable, surge: u128) -> (u128, u128) {
    let number = |value: i64| u128::try_from(value).unwrap();
    let metres = rounded(straight * number(table.road_factor.get()), 100);
    let minutes = (metres * 60).div_ceil(number(table.speed_kmh.get()) * 1_000).max(1);
    let counted = metres.saturating_sub(number(table.included_km.get()) * 100);
    // Over 100,000: rupees, paise a kilometre for metres, paise a minute.
    let metered = number(table.base_fare_inr.get()) * 100_000
        + number(table.per_km_inr.get()) * counted
        + number(table.per_minute_inr.get()) * minutes * 1_000;
    let fare = metered.max(number(table.minimum_fare_inr.get()) * 100_000);
    let subtotal = rounded(fare * surge, 10_000_000);
    (minutes, subtotal + rounded(subtotal * number(table.tax_percent.get()), 100))
}

fn estimated(table: FareTable, multiplier: i64, drop: (f64, f64)) -> Value {
    let rows =
        vec![insert(RIDES, "far_1", table), insert(RIDES, "srg_1", surge("ALL", None, "00:00", "24:00", multiplier))];
    let (desk, _) = PartnerDesk::open(contract(), vec![(RIDES, rows)]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let asked = json!({
        "city": "Bengaluru", "pickup": {"lat": 12.97, "lng": 77.6, "address": "a"},
        "drop": {"lat": drop.0, "lng": drop.1, "address": "b"},
    });
    runtime.block_on(desk.ok(SANDBOX, "get_ride_estimates", asked))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn fares_are_what_a_second_calculation_says(
        base in 0_i64..500, included in 0_i64..100, per_km in 0_i64..5_000, per_minute in 0_i64..500,
        minimum in 0_i64..300, tax in 0_i64..=50, factor in 100_i64..=300, speed in 5_i64..=120,
        multiplier in 100_i64..=500, lat in 12_880_000_i64..13_060_000, lng in 77_500_000_i64..77_700_000,
    ) {
        let drop = (lat as f64 / 1e6, lng as f64 / 1e6);
        let straight = straight_metres((12.97, 77.6), drop);
        prop_assume!(straight > 101.0);
        let table = FareTable {
            included_km: FixedDecimal::scaled(included),
            per_minute_inr: FixedDecimal::scaled(per_minute),
            minimum_fare_inr: Integer::clamped(minimum),
            tax_percent: Integer::clamped(tax),
            road_factor: FixedDecimal::scaled(factor),
            speed_kmh: Integer::clamped(speed),
            max_km: Integer::clamped(300),
            ..fare(VehicleClass::Mini, base, per_km)
        };
        let found = estimated(table.clone(), multiplier, drop);
        let option = &found["options"][0];
        let seen = (option["duration_minutes"].as_u64().unwrap().into(), option["fare_inr"].as_u64().unwrap().into());
        // Two formulas may round the half of a metre differently.
        let surge = u128::try_from(multiplier).unwrap();
        let possible = [straight - 1e-4, straight + 1e-4].map(|metres| expected_fare(metres.round() as u128, &table, surge));
        prop_assert!(possible.contains(&seen), "{seen:?} {possible:?}");
    }
}
