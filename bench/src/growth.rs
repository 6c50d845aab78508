//! How the cost of a call grows with the data: the same calls on data of several sizes.

use serde::Serialize;

use crate::call::{Era, Kind};
use crate::database::Database;
use crate::measure::{Pair, Row};
use crate::seed::Scale;
use crate::{BenchResult, DataSizes, Options, report};

const CONCURRENCY: usize = 16;

#[derive(Debug, Clone, Serialize)]
pub struct GrowthRow {
    pub vehicles: usize,
    pub dealerships: usize,
    /// Which of the two grows in this row's series.
    pub series: &'static str,
    #[serde(flatten)]
    pub row: Row,
}

/// More vehicles in ten dealerships, and more dealerships of 100 vehicles.
const SIZES: &[(&str, Scale, DataSizes)] = &[
    ("vehicles", Scale { vehicles: 1_000, dealerships: 10 }, DataSizes::Default),
    ("vehicles", Scale { vehicles: 100_000, dealerships: 10 }, DataSizes::Default),
    ("vehicles", Scale { vehicles: 1_000_000, dealerships: 10 }, DataSizes::All),
    ("dealerships", Scale { vehicles: 100, dealerships: 1 }, DataSizes::Default),
    ("dealerships", Scale { vehicles: 10_000, dealerships: 100 }, DataSizes::Default),
    ("dealerships", Scale { vehicles: 1_000_000, dealerships: 10_000 }, DataSizes::All),
];

pub async fn measure(options: &Options, database: Database) -> BenchResult<Vec<GrowthRow>> {
    let mut grown = Vec::new();
    for (series, scale, sizes) in SIZES {
        if *sizes == DataSizes::All && options.sizes == DataSizes::Default {
            continue;
        }
        let pair = Pair::start(options, database, *scale).await?;
        for kind in [Kind::Get, Kind::SearchStatus, Kind::Create, Kind::CreateInOne] {
            let Scale { vehicles, dealerships } = scale;
            options.log(&format!(
                "{} {} with {vehicles} vehicles, {dealerships} dealerships",
                database.name(),
                kind.name()
            ));
            let row = pair.compare(kind, Era::Legacy, CONCURRENCY).await?;
            // Generating the next size may take long.
            options.log(&report::line(&row));
            grown.push(GrowthRow { vehicles: scale.vehicles, dealerships: scale.dealerships, series, row });
        }
    }
    Ok(grown)
}
