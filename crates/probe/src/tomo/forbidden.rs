//! Fields that rank for money (§11), wherever they stand: three names are published, and their like is meant.

use serde_json::Value;

/// A name that has one of these as a word is forbidden …
const WORDS: [&str; 19] = [
    "paid",
    "sponsor",
    "sponsored",
    "sponsorship",
    "promoted",
    "ad",
    "ads",
    "advert",
    "adverts",
    "advertised",
    "advertising",
    "advertisement",
    "boost",
    "boosted",
    "bid",
    "bids",
    "bidding",
    "placement",
    "cpm",
];
/// … unless it is one of these, which say what was paid and by when.
const HARMLESS: [&str; 8] =
    ["paid_at", "paid_until", "is_paid", "amount_paid", "amount_paid_inr", "paid_amount", "paid_amount_inr", "prepaid"];
const PUBLISHED: [&str; 3] = ["paid_placement_score", "ad_bid", "sponsored_rank"];

/// The first forbidden name, by its place. Texts that are JSON are looked into.
pub(super) fn find(value: &Value) -> Option<String> {
    look(value, String::new(), 0)
}

fn look(value: &Value, place: String, depth: usize) -> Option<String> {
    if let Some(members) = value.as_object() {
        return members.iter().find_map(|(name, value)| {
            let below = format!("{place}/{name}");
            if is_forbidden(name) { Some(below) } else { look(value, below, depth) }
        });
    }
    if let Some(items) = value.as_array() {
        return items.iter().enumerate().find_map(|(at, item)| look(item, format!("{place}/{at}"), depth));
    }
    let text = value.as_str().filter(|text| depth < 3 && text.starts_with(['{', '[']))?;
    look(&serde_json::from_str(text).ok()?, place, depth + 1)
}

fn is_forbidden(name: &str) -> bool {
    let snake = snake_case(name);
    let squeezed: String = snake.chars().filter(|letter| *letter != '_').collect();
    let is_published = PUBLISHED.iter().any(|known| squeezed.contains(&known.replace('_', "")));
    is_published || (!HARMLESS.contains(&snake.as_str()) && snake.split('_').any(|word| WORDS.contains(&word)))
}

/// Lower case with underscores, from any way of writing a name.
fn snake_case(name: &str) -> String {
    let mut out = String::new();
    let mut previous: Option<char> = None;
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let after_small = previous.is_some_and(|previous| previous.is_lowercase() || previous.is_numeric());
        let before_small = letters.peek().is_some_and(|next| next.is_lowercase());
        if letter.is_uppercase() && previous.is_some() && (after_small || before_small) {
            out.push('_');
        }
        if letter.is_alphanumeric() {
            out.extend(letter.to_lowercase());
        } else {
            out.push('_');
        }
        previous = Some(letter);
    }
    out.split('_').filter(|word| !word.is_empty()).collect::<Vec<&str>>().join("_")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::find;

    #[test]
    fn names_are_found_in_every_spelling_and_depth() {
        for name in
            ["paid_placement_score", "adBid", "Sponsored-Rank", "PAIDPLACEMENTSCORE", "isPromoted", "x.ads", "CPM"]
        {
            let answer = json!({"content": [{"text": json!({"listings": [{name: 1}]}).to_string()}]});
            assert_eq!(find(&answer), Some(format!("/content/0/text/listings/0/{name}")));
        }
        for name in ["address", "adults", "paid_at", "amountPaid", "forbidden", "badge", "loading", "prepaid"] {
            assert_eq!(find(&json!({name: 1})), None, "{name}");
        }
    }
}
