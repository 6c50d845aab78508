//! Whether a call costs the same however much data there is: the same calls on data of several sizes.

use serde::Serialize;

use crate::call::{Era, Kind};
use crate::database::Database;
use crate::measure::{Pair, Row};
use crate::seed::Scale;
use crate::{Extent, Outcome, Wish, report};

const CONCURRENCY: usize = 16;

#[derive(Debug, Clone, Serialize)]
pub struct Grown {
    pub vehicles: usize,
    pub dealerships: usize,
    /// Which of the two grows in this row's series.
    pub series: &'static str,
    #[serde(flatten)]
    pub row: Row,
}

/// More vehicles in ten dealerships, and more dealerships of 100 vehicles.
const SIZES: &[(&str, Scale, Extent)] = &[
    ("vehicles", Scale { vehicles: 1_000, dealerships: 10 }, Extent::Usual),
    ("vehicles", Scale { vehicles: 100_000, dealerships: 10 }, Extent::Usual),
    ("vehicles", Scale { vehicles: 1_000_000, dealerships: 10 }, Extent::Long),
    ("dealerships", Scale { vehicles: 100, dealerships: 1 }, Extent::Usual),
    ("dealerships", Scale { vehicles: 10_000, dealerships: 100 }, Extent::Usual),
    ("dealerships", Scale { vehicles: 1_000_000, dealerships: 10_000 }, Extent::Long),
];

pub async fn measure(wish: &Wish, database: Database) -> Outcome<Vec<Grown>> {
    let mut grown = Vec::new();
    for (series, scale, extent) in SIZES {
        if *extent == Extent::Long && wish.extent == Extent::Usual {
            continue;
        }
        let pair = Pair::start(wish, database, *scale).await?;
        for kind in [Kind::Get, Kind::SearchStatus, Kind::Create, Kind::CreateInOne] {
            let Scale { vehicles, dealerships } = scale;
            wish.say(&format!(
                "{} {} with {vehicles} vehicles, {dealerships} dealerships",
                database.name(),
                kind.name()
            ));
            let row = pair.compare(kind, Era::Legacy, CONCURRENCY).await?;
            // Making the next size may take long, and whoever waits can read this meanwhile.
            wish.say(&report::line(&row));
            grown.push(Grown { vehicles: scale.vehicles, dealerships: scale.dealerships, series, row });
        }
    }
    Ok(grown)
}
