//! Fields that no answer and no schema may have (T-130): whatever ranks a business for money. TOMO names three and means
//! their like; names are compared by their words, in whatever way they are written.

use serde_json::Value;

/// Words that make a name forbidden wherever they stand.
const WORDS: [&str; 19] = [
    "ad",
    "ads",
    "advert",
    "adverts",
    "advertised",
    "advertisement",
    "advertising",
    "bid",
    "bids",
    "bidding",
    "boost",
    "boosted",
    "cpm",
    "paid",
    "placement",
    "promoted",
    "sponsor",
    "sponsored",
    "sponsorship",
];

/// Names with such a word that mean something else.
const ALLOWED: [&str; 8] =
    ["amount_paid", "amount_paid_inr", "is_paid", "paid_amount", "paid_amount_inr", "paid_at", "paid_until", "prepaid"];

/// Whether a field of this name is forbidden.
pub fn is_forbidden(name: &str) -> bool {
    let words = words(name);
    let joined = words.join("_");
    let squeezed = words.concat();
    if ALLOWED.contains(&joined.as_str()) {
        return false;
    }
    words.iter().any(|word| WORDS.contains(&word.as_str()))
        // Written in one piece, only the three names of the specification are known.
        || ["paidplacementscore", "adbid", "sponsoredrank"].iter().any(|known| squeezed.contains(known))
}

/// The first forbidden name in a value, by its JSON Pointer. A text that is itself JSON is looked into.
pub fn find(value: &Value) -> Option<String> {
    find_below(value, &mut String::new())
}

fn find_below(value: &Value, pointer: &mut String) -> Option<String> {
    let length = pointer.len();
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                pointer.push('/');
                pointer.push_str(name);
                if is_forbidden(name) {
                    return Some(pointer.clone());
                }
                if let Some(found) = find_below(value, pointer) {
                    return Some(found);
                }
                pointer.truncate(length);
            }
            None
        }
        Value::Array(items) => items.iter().enumerate().find_map(|(place, item)| {
            pointer.push_str(&format!("/{place}"));
            let found = find_below(item, pointer);
            pointer.truncate(length);
            found
        }),
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
            serde_json::from_str::<Value>(text).ok().and_then(|value| find_below(&value, pointer))
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// The words of a name: camel case, dashes, dots and spaces all separate, and letters are lower case.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut before = ' ';
    let letters: Vec<char> = name.chars().collect();
    for (place, letter) in letters.iter().copied().enumerate() {
        let next = letters.get(place + 1).copied().unwrap_or(' ');
        let begins_word =
            letter.is_uppercase() && (before.is_lowercase() || before.is_numeric() || next.is_lowercase());
        if !letter.is_alphanumeric() || begins_word {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{find, is_forbidden};

    #[test]
    fn t_130_forbidden_names_are_found_in_every_spelling() {
        for name in [
            "paid_placement_score",
            "paidPlacementScore",
            "PaidPlacementScore",
            "paid-placement-score",
            "ad_bid",
            "adBid",
            "AD_BID",
            "sponsored_rank",
            "sponsored",
            "isSponsored",
            "promoted",
            "boost_level",
            "ad",
            "listing.ads",
            "cpm",
            "bid_inr",
            "PAIDPLACEMENTSCORE",
            "adbid",
        ] {
            assert!(is_forbidden(name), "{name}");
        }
        for name in
            ["address", "paid_at", "amountPaid", "made", "badge", "forbidden", "bidet", "adults", "loading", "prepaid"]
        {
            assert!(!is_forbidden(name), "{name}");
        }
    }

    #[test]
    fn t_130_texts_that_are_json_are_looked_into() {
        let answer = json!({"content": [{"type": "text", "text": "{\"listings\":[{\"adBid\":1}]}"}]});
        assert_eq!(find(&answer).as_deref(), Some("/content/0/text/listings/0/adBid"));
        assert_eq!(find(&json!({"listings": [{"price_inr": 1}]})), None);
    }
}
