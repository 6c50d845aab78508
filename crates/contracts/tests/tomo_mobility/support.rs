//! The ride business on a desk, and the calls that most tests make.

use std::sync::Arc;

use frontdesk_contracts::partner::{IntentText, partner_contract};
use frontdesk_contracts::record::{Entity, Stored as _};
use frontdesk_contracts::tomo;
use frontdesk_contracts::tomo::booking::Booking;
use frontdesk_contracts::tomo::lifecycle::Advance;
use frontdesk_contracts::tomo::mobility::{advance, trip_status};
use frontdesk_engine::model::plan::{OnConflict, Plan, Step};
use frontdesk_engine::model::schema::{Schema, optional, required};
use frontdesk_engine::model::tool::{
    Effect, Future, Item, Outcome, RateKey, Run, ScopeRule, Sensitivity, Tool, ToolSpec,
};
use frontdesk_engine::{Contract, Fault, Permitted, Scope};
use frontdesk_testkit::MemoryStore;
use serde_json::{Value, json};

use super::data::{RIDES, drop, pickup, seeds};
use super::desk::{Partner, PartnerDesk, settings, settings_with};

pub(crate) const INTENT: &str = "mobility.book_intracity_ride";
pub(crate) const LIVE: Partner = (RIDES, tomo::LIVE);
pub(crate) const SANDBOX: Partner = (RIDES, tomo::SANDBOX);

pub(crate) fn contract() -> Contract {
    with_operator_tools(partner_contract(tomo::ID, &settings(INTENT)).unwrap().unwrap())
}

/// With another file for the intent.
pub(crate) fn contract_of(text: String) -> Contract {
    let intent = IntentText { name: "own.json".to_owned(), text };
    let contract = partner_contract(tomo::ID, &settings_with(intent)).unwrap();
    with_operator_tools(contract.unwrap_or_else(|problems| panic!("{problems:?}")))
}

pub(crate) fn open() -> (PartnerDesk, Arc<MemoryStore>) {
    PartnerDesk::open(contract(), seeds())
}

/// Tools that do with a ride what notifications and shared links do.
fn with_operator_tools(mut contract: Contract) -> Contract {
    let stage = [
        required("booking_ref", Schema::text(64), "The ride."),
        required("stage", Schema::text(40), "What has happened."),
        optional("details", Schema::AnyObject, "What else."),
    ];
    contract.operator_tools.push(tool(
        "test.advance",
        Schema::object(stage),
        Effect::Changes,
        Run::write(plan_advance),
    ));
    let token = [required("token", Schema::text(4_000), "Of the link.")];
    contract.operator_tools.push(tool("test.trip", Schema::object(token), Effect::Reads, Run::read(read_trip)));
    contract
}

fn tool(name: &'static str, input: Schema, effect: Effect, run: Run) -> Tool {
    let spec = ToolSpec {
        name,
        title: "",
        about: "",
        input,
        output: Schema::AnyObject,
        effect,
        scope: ScopeRule::One(Scope::new(tomo::MANAGE)),
        unmask_scope: None,
        sensitivity: Sensitivity::Business,
        max_login_age: None,
        rate: RateKey::Client,
        route: None,
        codes: vec![tomo::codes::NOT_FOUND, tomo::codes::NOT_AVAILABLE, tomo::codes::BOOKING_CLOSED],
    };
    Tool { spec, run }
}

fn plan_advance<'a>(permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
    Box::pin(async move {
        let input = permitted.input();
        let row = permitted.get_to_change(Booking::table(), input.text("booking_ref").unwrap()).await?.unwrap();
        let before: Entity<Booking> = Entity::restore(permitted.tenant(), &row)?;
        let to = Advance {
            stage: input.text("stage").unwrap().to_owned(),
            at: permitted.now(),
            details: input.object("details").cloned().unwrap_or_default(),
        };
        let mut after = before.clone();
        let mut steps = advance(permitted, &mut after, &to).await?;
        let has_changed = after != before;
        if has_changed {
            after.version += 1;
            after.updated_at = permitted.now();
            steps.push(Step::Update {
                table: Booking::table(),
                row: after.row("tenant"),
                expect_version: before.version,
                on_conflict: OnConflict::Retry,
                on_duplicate: Fault::internal("no unique values"),
            });
        }
        let record = &after.record;
        let body = json!({
            "changed": has_changed,
            "total_inr": record.total_inr.get(),
            "net_inr": record.net_inr.map(|net| net.get()),
            "ended_at": record.ended_at.map(|at| at.to_rfc3339()),
        });
        let outcome =
            Item { id: after.id, version: after.version, body: body.to_string(), masked: None, personal: None };
        Ok(Plan { steps, events: Vec::new(), outcome })
    })
}

fn read_trip<'a>(permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
    Box::pin(async move {
        let facts = trip_status(permitted, permitted.input().text("token").unwrap()).await?;
        Ok(Outcome::Raw { answer: facts.to_string(), rows: 1 })
    })
}

/// Something has happened to a ride.
pub(crate) async fn move_to(desk: &PartnerDesk, ride: &Value, stage: &str, details: Value) -> Result<Value, Fault> {
    let arguments = json!({"booking_ref": ride["booking_ref"], "stage": stage, "details": details});
    desk.operate(RIDES, "test.advance", arguments).await
}

pub(crate) fn asked() -> Value {
    json!({"city": "Bengaluru", "pickup": pickup(), "drop": drop()})
}

pub(crate) async fn estimates(desk: &PartnerDesk, partner: Partner) -> Value {
    desk.ok(partner, "get_ride_estimates", asked()).await
}

/// Arguments of a booking.
pub(crate) fn order(estimates: &Value, option_id: &str, key: &str) -> Value {
    json!({
        "idempotency_key": key,
        "result_token": estimates["result_token"],
        "option_id": option_id,
        "rider": {"name": "Asha Menon", "phone": "+919845012345", "email": "asha@example.com"},
    })
}

pub(crate) async fn booked(desk: &PartnerDesk, partner: Partner, option_id: &str, key: &str) -> Value {
    let found = estimates(desk, partner).await;
    desk.ok(partner, "book_ride", order(&found, option_id, key)).await
}

/// Arguments that name the ride only.
pub(crate) fn reference(ride: &Value) -> Value {
    json!({"booking_ref": ride["booking_ref"]})
}

/// Code, message and data of an error.
pub(crate) fn parts(error: &Value) -> (i64, &str, &Value) {
    (error["code"].as_i64().unwrap(), error["message"].as_str().unwrap(), &error["data"])
}

/// The code of a fault of a tool of the operator.
pub(crate) fn fault_code(fault: &Fault) -> String {
    format!("{:?}", fault.kind)
}
