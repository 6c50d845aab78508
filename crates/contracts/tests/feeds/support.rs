//! Reads a feed of vehicles and shows what came of it.

use std::io::Read;

use frontdesk_contracts::automotive::{self, feeds};
use frontdesk_contracts::feed::{FeedError, FeedMapping, FeedReader, FeedRow, FeedSettings, FeedTarget};
use serde_json::Value;

pub(crate) fn vehicles() -> FeedTarget {
    target("vehicles")
}

/// What rows of this kind become.
pub(crate) fn target(resource: &str) -> FeedTarget {
    let contract = automotive::contract();
    let import = contract.imports.iter().find(|import| import.name == resource).unwrap();
    feeds::target(resource, &import.create.spec.input)
}

pub(crate) fn settings(mapping: &str) -> FeedSettings {
    FeedSettings { format: None, mapping: FeedMapping::from_toml(mapping).unwrap() }
}

/// US dollars and miles unless the feed says otherwise.
pub(crate) fn american() -> FeedSettings {
    settings("[defaults]\ncurrency = \"USD\"\ndistance = \"mi\"")
}

pub(crate) fn read(feed: impl Read, settings: FeedSettings) -> Result<Vec<FeedRow>, FeedError> {
    FeedReader::open(feed, &vehicles(), settings)?.collect()
}

/// One line for each row: that it is right, or all that is wrong; then the error that ended it.
pub(crate) fn report(feed: impl Read, settings: FeedSettings) -> Vec<String> {
    let target = vehicles();
    let reader = match FeedReader::open(feed, &target, settings) {
        Ok(reader) => reader,
        Err(error) => return vec![error.to_string()],
    };
    reader.flat_map(|row| row.map_or_else(|error| vec![error.to_string()], |row| lines(&row))).collect()
}

/// How many rows there are, right or wrong.
pub(crate) fn count_rows(feed: impl Read) -> usize {
    FeedReader::open(feed, &vehicles(), american()).unwrap().map(Result::unwrap).count()
}

fn lines(row: &FeedRow) -> Vec<String> {
    match &row.arguments {
        Ok(_) => vec![format!("{}: right", row.line)],
        Err(problems) => problems.iter().map(|problem| format!("{}: {problem}", row.line)).collect(),
    }
}

/// The arguments of a feed of which all rows are right.
pub(crate) fn arguments(feed: impl Read, settings: FeedSettings) -> Vec<Value> {
    let rows = read(feed, settings).unwrap_or_else(|error| panic!("{error}"));
    rows.into_iter()
        .map(|row| match row.arguments {
            Ok(arguments) => Value::Object(arguments),
            Err(problems) => panic!("line {}: {problems:?}", row.line),
        })
        .collect()
}

/// The columns that every vehicle needs, and two rows that are right.
pub(crate) const HEADER: &str = "vin,stock_number,condition,year,make,model,mileage,price";
pub(crate) const FIRST: &str = "5YJ3E1EAXKF100004,T-1,used,2019,Tesla,Model 3,30100,24999";
pub(crate) const SECOND: &str = "4T1C11AK4NU100002,T-2,used,2022,Toyota,Camry,12000,23500";
