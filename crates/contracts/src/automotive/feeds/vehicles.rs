//! What a vehicle of a feed needs several columns for: certified condition, mileage of new vehicles, pictures. And prices
//! of 0, with which feeds say that there is none.

use serde_json::{Map, Value, json};

use crate::feed::{DerivedField, RowDraft};

pub(super) const CERTIFIED: &str = "certified";
pub(super) const IMAGE: &str = "image";
pub(super) const MORE_IMAGES: &str = "more images";
pub(super) const IMAGES: &str = "images";

/// A new vehicle needs no mileage, and a certified one no other condition.
pub(super) const DERIVED: &[DerivedField] =
    &[DerivedField { field: "mileage", from: &["condition"] }, DerivedField { field: "condition", from: &[CERTIFIED] }];

pub(super) fn finish(draft: &mut RowDraft<'_>) {
    let certified = draft.truth(CERTIFIED);
    if let Some(condition) = certified_condition(draft, certified) {
        draft.arguments.insert("condition".to_owned(), condition.into());
    }
    let is_new = draft.arguments.get("condition").is_some_and(|condition| condition == "new");
    if is_new && !draft.arguments.contains_key("mileage") && !draft.is_wrong("mileage") {
        // Nothing is nothing in every unit.
        let unit = draft.defaults.distance.as_deref().unwrap_or("mi");
        draft.arguments.insert("mileage".to_owned(), json!({"value": 0, "unit": unit}));
    }
    let is_zero =
        |name: &str| draft.arguments.get(name).is_some_and(|money| money.get("amount") == Some(&Value::from(0)));
    let (has_no_price, has_no_msrp) = (is_zero("price"), is_zero("msrp"));
    if has_no_price {
        draft.reject_field("price", "a price of 0 would be offered as one: give the price, or leave the vehicle out");
    }
    if has_no_msrp {
        draft.arguments.remove("msrp");
    }
    if !draft.arguments.contains_key("media") {
        let media = media(draft);
        if !media.is_empty() {
            draft.arguments.insert("media".to_owned(), Value::Array(media));
        }
    }
}

/// The condition that the column for certified vehicles makes of the one that was read.
fn certified_condition(draft: &mut RowDraft<'_>, certified: Option<bool>) -> Option<&'static str> {
    let condition = draft.arguments.get("condition").and_then(Value::as_str);
    match (certified, condition) {
        (Some(true), Some("used" | "certified_pre_owned") | None) if !draft.is_wrong("condition") => {
            Some("certified_pre_owned")
        }
        (Some(true), Some("new" | "demo")) => {
            draft.reject(CERTIFIED, "only a used vehicle can be certified, and the condition says otherwise");
            None
        }
        (Some(false), Some("certified_pre_owned")) => {
            draft.reject(CERTIFIED, "this says that the vehicle is not certified, and the condition that it is");
            None
        }
        (Some(_) | None, _) => None,
    }
}

/// The pictures of all columns for them, in order, each once.
fn media(draft: &mut RowDraft<'_>) -> Vec<Value> {
    let alt = alt(&draft.arguments);
    let mut urls: Vec<String> = Vec::new();
    for name in [IMAGE, MORE_IMAGES, IMAGES] {
        for url in draft.extra(name).map(addresses).unwrap_or_default() {
            if !is_address(&url) {
                draft.reject(name, "addresses of pictures are expected, each beginning with https:// or http://");
                return Vec::new();
            }
            if !urls.contains(&url) {
                urls.push(url);
            }
        }
    }
    let media = urls.into_iter().enumerate();
    media.map(|(order, url)| json!({"url": url, "type": "image", "alt": alt, "order": order})).collect()
}

/// The addresses in a cell. A comma or a semicolon can be part of one, so a new one begins only where it says so.
fn addresses(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for part in text.split_inclusive(['|', ',', ';', ' ', '\n', '\t']) {
        match parts.last_mut() {
            Some(last) if !is_address(part.trim()) && !last.ends_with(['|', ' ', '\n', '\t']) => last.push_str(part),
            _ => parts.push(part.to_owned()),
        }
    }
    let trimmed = parts.iter().map(|part| part.trim_end_matches(['|', ',', ';', ' ', '\n', '\t']).to_owned());
    trimmed.filter(|part| !part.is_empty()).collect()
}

fn is_address(text: &str) -> bool {
    text.starts_with("https://") || text.starts_with("http://")
}

/// What the pictures show: year, make and model, as far as they are known.
fn alt(arguments: &Map<String, Value>) -> String {
    let year = arguments.get("year").and_then(Value::as_i64).map(|year| year.to_string());
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).map(str::to_owned);
    let words: Vec<String> = [year, text("make"), text("model")].into_iter().flatten().collect();
    if words.is_empty() { "Vehicle".to_owned() } else { words.join(" ") }
}
