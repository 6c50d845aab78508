//! Every figure of `signals.list`, computed from raw records in the plainest way there is, to compare with.

use frontdesk_engine::model::timestamp::Millis;
use serde_json::Value;

const DAY: i64 = 24 * 60 * 60 * 1000;

/// Everything that lists answer, newest first.
pub struct Records {
    pub leads: Vec<Value>,
    pub vehicles: Vec<Value>,
    pub visits: Vec<Value>,
}

impl Records {
    /// The size and the value of a figure, in the plainest way there is.
    pub fn figure(&self, item: &Value, start: i64, end: i64, now: i64) -> (u64, Option<i64>) {
        let within = |at: &Value| at.is_string() && (start..end).contains(&millis(at));
        let word = item.get("dimension_value");
        let in_group = |record: &Value| match item.get("dimension").and_then(Value::as_str) {
            None => true,
            Some("source") => record.pointer("/source/channel").or(record.get("channel")) == word,
            Some(field) => record.get(field) == word,
        };
        let is = |record: &Value, words: &[&str]| words.contains(&text(&record["status"]));
        match text(&item["metric"]) {
            "lead_volume" => {
                let count = self.leads.iter().filter(|lead| in_group(lead) && within(&lead["created_at"])).count();
                (count as u64, Some(count as i64))
            }
            "lead_response_time" => {
                let of_period = self.leads.iter().filter(|lead| in_group(lead) && within(&lead["created_at"]));
                let mut minutes: Vec<i64> = of_period.filter_map(|lead| lead["response_minutes"].as_i64()).collect();
                minutes.sort_unstable();
                (minutes.len() as u64, minutes.get(minutes.len().saturating_sub(1) / 2).copied())
            }
            "appointment_show_rate" => {
                let of_period: Vec<&Value> =
                    self.visits.iter().filter(|visit| in_group(visit) && within(&visit["start"])).collect();
                let kept =
                    of_period.iter().filter(|visit| is(visit, &["checked_in", "in_progress", "completed"])).count();
                let missed = of_period.iter().filter(|visit| is(visit, &["no_show"])).count();
                let rate = kept as f64 * 10_000.0 / (kept + missed) as f64;
                ((kept + missed) as u64, Some(rate.round() as i64))
            }
            metric @ ("inventory_turn" | "days_supply") => {
                let until = end.min(now);
                let sold_at = |unit: &Value| unit.get("sold_at").map(millis);
                let stock = |at: i64| {
                    let here = |unit: &&Value| {
                        let sold_later = is(unit, &["sold"]) && sold_at(unit).is_some_and(|sold| sold >= at);
                        let is_here = is(unit, &["available", "pending", "reserved", "on_hold"]) || sold_later;
                        in_group(unit) && millis(&unit["in_stock_at"]) < at && is_here
                    };
                    self.vehicles.iter().filter(here).count() as f64
                };
                let is_sold =
                    |unit: &&Value| in_group(unit) && sold_at(unit).is_some_and(|at| (start..until).contains(&at));
                let sold = self.vehicles.iter().filter(is_sold).count() as f64;
                let days = (until - start) as f64 / DAY as f64;
                let size = (sold + stock(until)) as u64;
                let value = if metric == "inventory_turn" {
                    let average = (stock(start) + stock(until)) / 2.0;
                    (average > 0.0).then(|| (sold * 365.0 / days * 100.0 / average).round() as i64)
                } else {
                    (sold > 0.0).then(|| (stock(until) * days / sold).round() as i64)
                };
                (size, value)
            }
            _ => {
                let price = |unit: &Value| unit["price"]["amount"].as_i64().unwrap();
                let median = |mut prices: Vec<i64>| {
                    prices.sort_unstable();
                    prices[(prices.len() - 1) / 2]
                };
                // Newest first, as the list gives them.
                let newest = self.vehicles.iter().find(|unit| is(unit, &["available"])).unwrap();
                let currency = &newest["price"]["currency"];
                let is_usual = |unit: &&Value| is(unit, &["available"]) && unit["price"]["currency"] == *currency;
                let available: Vec<&Value> = self.vehicles.iter().filter(is_usual).collect();
                let own: Vec<i64> = available.iter().filter(|unit| in_group(unit)).map(|unit| price(unit)).collect();
                let size = own.len() as u64;
                let usual = median(available.iter().map(|unit| price(unit)).collect());
                (size, Some((median(own) as f64 * 10_000.0 / usual as f64).round() as i64))
            }
        }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn millis(time: &Value) -> i64 {
    Millis::parse(text(time)).unwrap().0
}
