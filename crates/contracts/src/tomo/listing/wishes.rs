//! What somebody who searches rooms would like: which hotels and rooms fit, and in which order they are shown.

use std::cmp::Ordering;

use serde_json::{Map, Value};

/// What somebody would like, beside what they need.
pub(super) struct Wishes {
    wished: Map<String, Value>,
}

impl Wishes {
    pub(super) fn read(preferences: Option<&Value>) -> Wishes {
        Wishes { wished: preferences.and_then(Value::as_object).cloned().unwrap_or_default() }
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.wished.get(name).and_then(Value::as_f64)
    }

    pub(super) fn hotel(&self, facts: &Value) -> bool {
        let fact = |name: &str| facts.get(name).and_then(Value::as_f64).unwrap_or(0.0);
        let amenities = self.wished.get("amenities").and_then(Value::as_array).into_iter().flatten();
        let has = facts.get("amenities").and_then(Value::as_array);
        let wants_refund = self.wished.get("free_cancellation").and_then(Value::as_bool) == Some(true);
        let whole = |tier: &Value| tier.get("refund_percent").and_then(Value::as_i64) == Some(100);
        let tiers = facts.get("cancellation_policy").and_then(Value::as_array).into_iter().flatten();
        self.number("min_star_rating").is_none_or(|least| fact("star_rating") >= least)
            && self.number("min_guest_rating").is_none_or(|least| fact("guest_rating") >= least)
            && amenities.clone().all(|amenity| has.is_some_and(|has| has.contains(amenity)))
            && (!wants_refund || tiers.clone().any(whole))
    }

    pub(super) fn room(&self, facts: &Value) -> bool {
        let fact = |name: &str| facts.get(name).and_then(Value::as_f64).unwrap_or(0.0);
        let is_as = |name: &str| self.wished.get(name).is_none_or(|wished| facts.get(name) == Some(wished));
        self.number("max_price_per_night_inr").is_none_or(|most| fact("price_per_night_inr") <= most)
            && is_as("meal_plan")
            && is_as("bed_type")
    }

    /// Cheapest first, or best rated first; the code of the listing decides between equals.
    pub(super) fn compare(&self, one: &Value, other: &Value) -> Ordering {
        let number = |facts: &Value, name: &str| facts.get(name).and_then(Value::as_f64).unwrap_or(0.0);
        let code = |facts: &Value| facts.get("listing_code").and_then(Value::as_str).unwrap_or_default().to_owned();
        let by_price = number(one, "total_inr").total_cmp(&number(other, "total_inr"));
        let by_rating = number(other, "guest_rating").total_cmp(&number(one, "guest_rating"));
        let first = match self.wished.get("sort_by").and_then(Value::as_str) {
            Some("rating") => by_rating.then(by_price),
            Some(_) | None => by_price.then(by_rating),
        };
        first.then_with(|| code(one).cmp(&code(other)))
    }
}
