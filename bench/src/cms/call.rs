//! The calls that are made of a site: their arguments, and what a right answer to each contains. The made-up site is
//! the same everywhere, so its ids are known beforehand.

use serde_json::{Value, json};

use super::site::DOCUMENTS;
use crate::call::{Call, Caller, Era};
use crate::load::CallSource;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One page with two template variables.
    Get,
    /// 25 pages by one of the two variables that they are shown with.
    Search,
    SearchFar,
    /// 100 of everything below the largest folder.
    Descendants,
    DescendantsFar,
    /// Everything above the deepest page.
    Ancestors,
}

/// The largest folder of the site: the catalogue.
pub const CATALOGUE: i64 = 2;
/// Its deepest page.
pub const DEEPEST: i64 = 247;
pub const DEPTH: i64 = 6;
/// The largest offset that is allowed.
pub const FAR: u64 = 5_000;
pub const COLOR: &str = "red";

/// A call in the words of an era.
#[derive(Debug, Clone, Copy)]
pub struct SiteCall(pub Kind, pub Era);

impl Kind {
    pub const ALL: &'static [Kind] =
        &[Kind::Get, Kind::Search, Kind::SearchFar, Kind::Descendants, Kind::DescendantsFar, Kind::Ancestors];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Get => "get, 2 variables",
            Kind::Search => "search, 2 variables",
            Kind::SearchFar => "search, from 5,000",
            Kind::Descendants => "descendants, depth 6",
            Kind::DescendantsFar => "descendants, from 5,000",
            Kind::Ancestors => "ancestors",
        }
    }

    fn tool(self) -> &'static str {
        match self {
            Kind::Get => "evo.content.get",
            Kind::Search | Kind::SearchFar => "evo.content.search",
            Kind::Descendants | Kind::DescendantsFar => "evo.content.descendants",
            Kind::Ancestors => "evo.content.ancestors",
        }
    }
}

impl CallSource for SiteCall {
    fn call(self, caller: &Caller, number: u64, random: u64) -> Call {
        let SiteCall(kind, era) = self;
        let (arguments, expected) = arguments(kind, random);
        Call::new("/api/v1/mcp/content", kind.tool(), &arguments, expected, era, caller, number)
    }
}

fn arguments(kind: Kind, random: u64) -> (Value, Vec<(String, usize)>) {
    match kind {
        Kind::Get => {
            let category = usize::try_from(random).unwrap_or_default() % (CATEGORIES - 1);
            let id = category_id(category) + 2;
            let number = category + 1;
            let expected = vec![
                (format!("\"structuredContent\":{{\"item\":{{\"id\":{id},"), 1),
                (format!("\"tvs\":{{\"price\":\"{}\",\"sku\":\"SKU-{number:02}0101\"}}", number * 100 + 11), 1),
            ];
            (json!({"id": id, "with_tvs": ["price", "sku"]}), expected)
        }
        Kind::Search => (search(0), searched(0)),
        Kind::SearchFar => (search(FAR), searched(5_000)),
        Kind::Descendants => (below(0), hundred(category_id(0))),
        // After all categories, each has two pages for its parts and nine below each of them.
        Kind::DescendantsFar => {
            let (category, place) = ((5_000 - CATEGORIES) / 20, (5_000 - CATEGORIES) % 20);
            (below(FAR), hundred(category_id(category) + place))
        }
        Kind::Ancestors => {
            let expected = vec![("\"items\":[{\"id\":4,".to_owned(), 1), ("\"count\":9".to_owned(), 1)];
            (json!({"id": DEEPEST, "limit": 100}), expected)
        }
    }
}

fn search(offset: u64) -> Value {
    json!({
        "tv_filters": [{"tv": "color", "op": "=", "value": COLOR}],
        "with_tvs": ["price", "color"],
        "limit": 25,
        "offset": offset,
    })
}

/// Red are the fourth and the eighth of each nine.
fn searched(offset: usize) -> Vec<(String, usize)> {
    let red = |place: usize| category_id(place / 4) + [5, 9, 15, 19].get(place % 4).copied().unwrap_or_default();
    vec![
        (format!("\"items\":[{{\"id\":{},", red(offset)), 1),
        (format!("{{\"id\":{},\"parent\"", red(offset + 24)), 1),
        (format!("\"color\":\"{COLOR}\""), 25),
        ("\"count\":25".to_owned(), 1),
    ]
}

fn below(offset: u64) -> Value {
    json!({"id": CATALOGUE, "depth": DEPTH, "limit": 100, "offset": offset})
}

fn hundred(first: usize) -> Vec<(String, usize)> {
    vec![(format!("\"items\":[{{\"id\":{first},"), 1), ("\"parent\":".to_owned(), 100), ("\"count\":100".to_owned(), 1)]
}

/// What the small site has before and in between its six categories, and what a category has in all.
const CATEGORIES: usize = 6 + (DOCUMENTS - 260).div_ceil(21);

/// Of the category with this number, from 0.
fn category_id(number: usize) -> usize {
    match number {
        0..6 => 8 + number * 21,
        _ => 261 + (number - 6) * 21,
    }
}
