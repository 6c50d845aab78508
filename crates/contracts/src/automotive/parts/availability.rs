//! `parts.check_availability`: what can be had of given parts now. A superseded number is answered with the current part.

use frontdesk_engine::model::incoming::Verb;
use frontdesk_engine::model::route::Route;
use frontdesk_engine::model::schema::{Schema, optional, required};
use frontdesk_engine::model::tool::{Effect, Future, Outcome, RateKey, Run, ScopeRule, Sensitivity, Tool, ToolSpec};
use frontdesk_engine::{Fault, Permitted, Scope};
use serde_json::{Value, json};

use super::number::{MAX_LENGTH, PartNumber};
use super::part::{MAX_STOCK, Part, PartAvailability};
use super::supersession::{self, MAX_STEPS, PartChain};
use crate::automotive::domains;
use crate::automotive::resource::tenant;
use crate::automotive::values::Money;
use crate::record::{FieldType as _, Vocabulary as _};

const NAME: &str = "parts.check_availability";
const MAX_PARTS: usize = 20;

pub(super) fn tool() -> Tool {
    Tool {
        spec: ToolSpec {
            name: NAME,
            title: "Check parts",
            about: "Tells what can be had of each part now, at which price. A superseded number is answered with the current \
                    part. Use it before parts.create_order.",
            input: Schema::object([
                required(
                    "part_numbers",
                    Schema::non_empty_list(Schema::text(MAX_LENGTH), MAX_PARTS),
                    "Part numbers; case, dashes and spaces do not matter.",
                ),
                tenant(),
            ]),
            output: output(),
            effect: Effect::Reads,
            scope: ScopeRule::One(Scope::new(domains::PARTS.read)),
            unmask_scope: None,
            sensitivity: Sensitivity::Business,
            rate: RateKey::Client,
            max_login_age: None,
            route: Some(Route::new(Verb::Get, "/parts/check_availability")),
            codes: Vec::new(),
        },
        run: Run::read(check_availability),
    }
}

fn output() -> Schema {
    const TYPE: &[&str] = &["part_availability"];
    let number = || Schema::text(MAX_LENGTH);
    let part = Schema::object([
        required("part_number", number(), "The number as asked."),
        required(
            "availability",
            PartAvailability::input(),
            "Of the current part. unknown: no such number here. superseded: the current part is not here.",
        ),
        optional("part_id", Schema::text(64), "The current part."),
        optional(
            "superseded_by",
            Schema::list(number(), MAX_STEPS.saturating_mul(3)),
            "Numbers that replaced it, the current one last; absent if it is current.",
        ),
        optional("description", Schema::text(200), "What it is."),
        required("quantity_available", Schema::integer(0, MAX_STOCK), "How many can be ordered from stock."),
        optional("quantity_on_order", Schema::integer(0, MAX_STOCK), "How many are on their way."),
        optional("lead_time_days", Schema::integer(0, 3_650), "How long a delivery takes."),
        optional("price", Money::output(), "What one costs."),
        optional("core_charge", Money::output(), "Deposit on each, paid back for the old part."),
    ]);
    Schema::object([
        required("type", Schema::one_of(TYPE), "Always part_availability."),
        required("parts", Schema::list(part, MAX_PARTS), "One for each number, in the order asked."),
    ])
}

fn check_availability<'a>(permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
    Box::pin(async move {
        let asked = permitted.input().arguments.get("part_numbers").and_then(Value::as_array).into_iter().flatten();
        let mut parts = Vec::new();
        for number in asked.filter_map(Value::as_str).map(PartNumber::from) {
            parts.push(match supersession::follow(permitted, &number).await? {
                Some(chain) => answer(&number, &chain),
                None => json!({"part_number": &*number, "availability": PartAvailability::Unknown.as_str(),
                    "quantity_available": 0}),
            });
        }
        let rows = parts.len();
        Ok(Outcome::Raw { answer: json!({"type": "part_availability", "parts": parts}).to_string(), rows })
    })
}

fn answer(asked: &PartNumber, chain: &PartChain) -> Value {
    let successors = chain.parts.iter().skip(1).map(|part| &part.record.part_number).chain(&chain.missing);
    let successors: Vec<&str> = successors.map(|number| &**number).collect();
    let Some(current) = chain.parts.last() else { return Value::Null };
    let part: &Part = &current.record;
    let mut answer = json!({
        "part_number": &**asked,
        "availability": part.availability.as_str(),
        "quantity_available": part.takes(i64::MAX),
    });
    let Some(members) = answer.as_object_mut() else { return answer };
    let mut add = |name: &str, value: Value| members.insert(name.to_owned(), value);
    if !successors.is_empty() {
        add("superseded_by", json!(successors));
    }
    // Nothing is known of a current part that is not here.
    if chain.missing.is_some() {
        return answer;
    }
    add("part_id", json!(current.id));
    add("description", json!(&*part.description));
    add("quantity_on_order", json!(part.quantity_on_order.get()));
    if let Some(days) = part.lead_time_days {
        add("lead_time_days", json!(days.get()));
    }
    add("price", money(&part.price));
    if let Some(charge) = &part.core_charge {
        add("core_charge", money(charge));
    }
    answer
}

fn money(money: &Money) -> Value {
    json!({"amount": money.amount.get(), "currency": &*money.currency})
}
