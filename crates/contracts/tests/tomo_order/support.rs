//! Orders of the made-up restaurants, and a tool of the operator that moves them.

use std::sync::Arc;

use frontdesk_contracts::partner::PartnerSource;
use frontdesk_contracts::record::{Entity, Stored as _};
use frontdesk_contracts::tomo;
use frontdesk_contracts::tomo::booking::Booking;
use frontdesk_contracts::tomo::intent::{Intent, built_in, parse};
use frontdesk_contracts::tomo::lifecycle::Advance;
use frontdesk_contracts::tomo::order;
use frontdesk_engine::model::plan::{OnConflict, Plan, Step};
use frontdesk_engine::model::schema::{Schema, required};
use frontdesk_engine::model::tool::{
    Effect, Future, Item, RateKey, Run, ScopeRule, Sensitivity, Tool, ToolSpec, WriteTool,
};
use frontdesk_engine::{Contract, Fault, Permitted, Scope, TenantId};
use frontdesk_testkit::MemoryStore;
use serde_json::{Value, json};

use super::data::{KITCHENS, seeds};
use super::desk::{Partner, PartnerDesk, contract_of, settings};

pub(crate) const INTENT: &str = "food.order_delivery";
pub(crate) const LIVE: Partner = (KITCHENS, tomo::LIVE);
pub(crate) const SANDBOX: Partner = (KITCHENS, tomo::SANDBOX);

pub(crate) fn intent() -> Intent {
    parse(built_in(INTENT).unwrap()).unwrap_or_else(|errors| panic!("{errors:?}"))
}

pub(crate) fn contract() -> Contract {
    with_mover(contract_of(&settings(INTENT, PartnerSource::Own)))
}

/// The contract with a tool that moves orders as notifications do.
pub(crate) fn with_mover(mut contract: Contract) -> Contract {
    contract.operator_tools.push(mover());
    contract
}

pub(crate) fn open() -> (PartnerDesk, Arc<MemoryStore>) {
    PartnerDesk::in_memory(contract(), seeds())
}

/// Close to the restaurant that is always open.
pub(crate) fn here() -> Value {
    json!({"city": "Bengaluru", "pincode": "560001", "lat": 12.9752, "lng": 77.6057})
}

pub(crate) fn cart(restaurant_id: &str, items: Value) -> Value {
    json!({"restaurant_id": restaurant_id, "items": items, "location": here()})
}

/// The arguments of an order from an answer to compute_cart_total.
pub(crate) fn order_of(cart: &Value, key: &str) -> Value {
    json!({
        "idempotency_key": key,
        "result_token": cart["result_token"],
        "customer": {"name": "Asha Menon", "phone": "+919845012345", "email": "asha@example.com"},
        "delivery_address": {"line1": "14 Lantern Street", "line2": "Flat 3B", "city": "Bengaluru",
            "pincode": "560001", "lat": 12.9752, "lng": 77.6057},
        "notes": "Ring twice.",
    })
}

/// Two dosas, ordered.
pub(crate) async fn ordered(desk: &PartnerDesk, partner: Partner, key: &str) -> Value {
    ordered_dish(desk, partner, "dsh_dosa", 2, key).await
}

pub(crate) async fn ordered_dish(desk: &PartnerDesk, partner: Partner, dish: &str, quantity: i64, key: &str) -> Value {
    let items = json!([{"dish_id": dish, "quantity": quantity}]);
    let total = desk.ok(partner, "compute_cart_total", cart("rst_tiffin", items)).await;
    desk.ok(partner, "place_order", order_of(&total, key)).await
}

/// Moves an order as a notification does.
pub(crate) async fn move_order(desk: &PartnerDesk, order: &Value, stage: &str, details: Value) -> Result<(), Fault> {
    let arguments = json!({"booking_ref": order["booking_ref"], "stage": stage, "details": details});
    desk.operate(KITCHENS, MOVE, arguments).await.map(drop)
}

/// The stored booking of a test that looks into the store.
pub(crate) fn stored(store: &MemoryStore, order: &Value) -> Booking {
    let id = order["booking_ref"].as_str().unwrap();
    let row = store.row(KITCHENS, Booking::table(), id).unwrap();
    let stored = frontdesk_engine::model::table::StoredRow {
        id: row.id,
        version: row.version,
        created_at: row.created_at,
        body: row.body,
        masked: row.masked,
        personal: row.personal,
        secret: row.secret,
    };
    let entity: Entity<Booking> = Entity::restore(&TenantId::parse(KITCHENS).unwrap(), &stored).unwrap();
    entity.record
}

const MOVE: &str = "move_order_for_tests";

fn mover() -> Tool {
    let input = Schema::object([
        required("booking_ref", Schema::text(64), "The order."),
        required("stage", Schema::text(40), "Where to."),
        required("details", Schema::AnyObject, "What else is said."),
        frontdesk_engine::model::schema::optional("tenant", Schema::text(64), "The business."),
    ]);
    let spec = ToolSpec {
        name: MOVE,
        title: "",
        about: "",
        input,
        output: Schema::AnyObject,
        effect: Effect::Changes,
        scope: ScopeRule::One(Scope::new(tomo::MANAGE)),
        unmask_scope: None,
        sensitivity: Sensitivity::Business,
        max_login_age: None,
        rate: RateKey::Client,
        route: None,
        codes: Vec::new(),
    };
    Tool { spec, run: Run::write(MoveOrder) }
}

struct MoveOrder;

impl WriteTool for MoveOrder {
    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
        Box::pin(async move {
            let input = permitted.input();
            let id = input.text("booking_ref").unwrap();
            let row = permitted.get_to_change(Booking::table(), id).await?.unwrap();
            let before: Entity<Booking> = Entity::restore(permitted.tenant(), &row)?;
            let mut after = before.clone();
            let to = Advance {
                stage: input.text("stage").unwrap().to_owned(),
                at: permitted.now(),
                details: input.object("details").unwrap().clone(),
            };
            let mut steps = order::advance(permitted, &mut after, &to).await?;
            after.version += 1;
            steps.push(Step::Update {
                table: Booking::table(),
                row: after.row("tenant"),
                expect_version: before.version,
                on_conflict: OnConflict::Retry,
                on_duplicate: Fault::internal("a booking has no unique values"),
            });
            let outcome = Item {
                id: after.id.clone(),
                version: after.version,
                body: "{}".to_owned(),
                masked: None,
                personal: None,
            };
            Ok(Plan { steps, events: Vec::new(), outcome })
        })
    }
}
