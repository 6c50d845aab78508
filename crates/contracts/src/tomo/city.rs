//! Names of cities. Several cities of India have an older name that callers and businesses still use.

use frontdesk_engine::model::table::search_terms;

/// Spellings of the same city.
const SAME: [&[&str]; 12] = [
    &["bengaluru", "bangalore"],
    &["mumbai", "bombay"],
    &["chennai", "madras"],
    &["kolkata", "calcutta"],
    &["gurugram", "gurgaon"],
    &["kochi", "cochin"],
    &["thiruvananthapuram", "trivandrum"],
    &["mysuru", "mysore"],
    &["mangaluru", "mangalore"],
    &["pune", "poona"],
    &["vadodara", "baroda"],
    &["puducherry", "pondicherry"],
];

/// Every spelling of a city, as columns of names hold them.
pub(super) fn spellings(city: &str) -> Vec<String> {
    let plain = search_terms(city).join(" ");
    match SAME.iter().find(|names| names.contains(&plain.as_str())) {
        Some(names) => names.iter().map(|name| (*name).to_owned()).collect(),
        None => vec![plain],
    }
}

/// Whether both name the same city.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    spellings(one) == spellings(other)
}

#[cfg(test)]
mod tests {
    use super::is_same;

    #[test]
    fn a_city_is_known_by_both_of_its_names() {
        assert!(is_same("Bangalore", " bengaluru"));
        assert!(is_same("Navi Mumbai", "navi mumbai"));
        assert!(!is_same("Navi Mumbai", "Mumbai"));
    }
}
