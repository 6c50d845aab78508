//! The TOMO contract: a partner's bookings for the TOMO orchestrator. Everything specific to that specification is in
//! this folder. Which tools there are is data: an intent file names them, and the shape of the intent has the code.

mod argument;
pub mod backend;
pub mod booking;
mod booking_plan;
pub mod codes;
mod completion;
pub(crate) mod demo;
mod dialect;
pub mod due;
mod ending;
mod erased;
pub mod facts;
pub mod follow_up;
pub mod forbidden;
pub mod intent;
pub mod known_facts;
mod latency;
pub mod lifecycle;
pub mod listing;
pub mod managed;
pub mod manifest;
pub mod mobility;
pub mod order;
pub mod result_token;
pub mod service;
mod settings;
pub mod shape;
pub mod shared_trip;
pub mod signature;

use std::sync::Arc;

use frontdesk_engine::delivery::delivery_tables;
use frontdesk_engine::import::ImportSpec;
use frontdesk_engine::model::contract::ServerInfo;
use frontdesk_engine::model::intern::intern;
use frontdesk_engine::model::schema::{Field, Schema, optional};
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::model::tool::{RateKey, Run, ScopeRule, Sensitivity, Tool, ToolSpec};
use frontdesk_engine::relay::RELAY;
use frontdesk_engine::{Code, Contract, Permitted, Scope, Scopes};
use serde_json::json;

use backend::PartnerBackend;
pub use dialect::Tomo;
use intent::{Intent, IntentTool, Role};
use lifecycle::OwnBookings;

use crate::automotive::erasure;
use crate::partner::{PartnerSettings, PartnerSource, SettingProblem};
use crate::record::Stored as _;

pub const ID: &str = "tomo";

/// What a credential of live operation carries, and what one of the sandbox does.
pub const LIVE: &str = "tomo:live";
pub const SANDBOX: &str = "tomo:sandbox";

/// Imports are the operator's: no partner credential carries it.
pub const MANAGE: &str = "tomo:manage";

/// The argument that names the tenant. Callers never send it: a credential belongs to one.
pub const TENANT: &str = "tenant";

/// What the tools of one intent know.
#[derive(Debug)]
pub struct ToolContext {
    pub intent: Arc<Intent>,
    pub source: PartnerSource,
    /// The company, and where it serves: its own place first.
    pub company: String,
    pub service_area: Vec<String>,
    /// The id under which the caller knows the business.
    pub partner_id: String,
    /// The address of the mount, from outside.
    pub public_url: String,
}

/// The contract of one partner.
pub fn contract(partner: &PartnerSettings) -> Result<Contract, Vec<SettingProblem>> {
    let intents = settings::check(partner)?;
    let dialect = Tomo::new(partner, &intents);
    let own = OwnBookings { partner_id: partner.partner_id.clone(), intents: intents.clone() };
    let backend =
        partner.backend.as_ref().map(|settings| Arc::new(PartnerBackend::new(settings, &partner.keys.backend)));
    let latency_targets = latency::targets(intents.iter().map(Arc::as_ref));
    let mut tools = Vec::new();
    for intent in intents {
        let context = Arc::new(ToolContext {
            intent: Arc::clone(&intent),
            source: partner.source,
            company: partner.company.clone(),
            service_area: partner.service_area.clone(),
            partner_id: partner.partner_id.clone(),
            public_url: partner.public_url.clone(),
        });
        for tool in &intent.tools {
            let run = match &backend {
                Some(backend) => backend::run(&context, backend, tool),
                None => run(&context, tool),
            };
            tools.push(Tool { spec: spec(&intent, tool), run });
        }
    }
    Ok(Contract { latency_targets, ..assembled(tools, own, dialect, server_info(&partner.company)) })
}

/// The contract without a partner: its tables and what can be imported, and no tools.
pub fn without_partner() -> Contract {
    assembled(Vec::new(), OwnBookings::default(), Tomo::default(), server_info("frontdesk"))
}

fn assembled(tools: Vec<Tool>, own: OwnBookings, dialect: Tomo, server_info: ServerInfo) -> Contract {
    Contract {
        id: ID,
        server_info,
        tools,
        resources: Vec::new(),
        tables: tables(),
        scopes: [LIVE, SANDBOX, MANAGE].map(Scope::new).to_vec(),
        default_scope: Scope::new(SANDBOX),
        ordinary_scopes: Scopes::new([Scope::new(SANDBOX)]),
        imports: imports(),
        operator_tools: operator_tools(own),
        latency_targets: Vec::new(),
        documents: Vec::new(),
        dialect: Box::new(dialect),
    }
}

fn operator_tools(own: OwnBookings) -> Vec<Tool> {
    let mut tools = erasure::tools(tenant(), [MANAGE, MANAGE]);
    tools.push(due::tool(own.clone()));
    tools.push(shared_trip::tool());
    tools.push(lifecycle::tool(own));
    tools
}

/// The argument of tools that are called here alone.
fn tenant() -> Field {
    optional(TENANT, Schema::text(64), "The business.")
}

fn tables() -> Vec<&'static TableSpec> {
    let mut tables = vec![booking::Booking::table(), &RELAY];
    tables.extend(listing::tables());
    tables.extend(service::tables());
    tables.extend(mobility::tables());
    tables.extend(order::tables());
    tables.extend(delivery_tables());
    tables
}

fn imports() -> Vec<ImportSpec> {
    let mut imports = listing::imports();
    imports.extend(service::imports());
    imports.extend(mobility::imports());
    imports.extend(order::imports());
    imports
}

fn run(context: &Arc<ToolContext>, tool: &IntentTool) -> Run {
    match context.intent.shape {
        shape::Shape::Listing => listing::run(context, tool),
        shape::Shape::Service => service::run(context, tool),
        shape::Shape::Mobility => mobility::run(context, tool),
        shape::Shape::Order => order::run(context, tool),
    }
}

fn spec(intent: &Intent, tool: &IntentTool) -> ToolSpec {
    ToolSpec {
        name: intern(&tool.name),
        title: intern(&tool.name.replace('_', " ")),
        about: intern(&tool.description),
        input: tool.input.clone(),
        output: tool.output.clone(),
        effect: tool.role.effect(),
        scope: ScopeRule::AnyOf(vec![Scope::new(LIVE), Scope::new(SANDBOX)]),
        unmask_scope: None,
        sensitivity: Sensitivity::Business,
        max_login_age: None,
        rate: rate(tool.role),
        route: None,
        codes: intent.error_codes.iter().map(|code| Code(intern(code))).collect(),
    }
}

/// Twice what TOMO says it sends at most for one user session (§8), and room for its retries.
fn rate(role: Role) -> RateKey {
    let per_session = |per_minute, burst| RateKey::Argument { name: "user_session_id", per_minute, burst };
    match role {
        Role::Search => per_session(120, 10),
        Role::GetDetail | Role::Utility => per_session(600, 30),
        Role::Create | Role::Modify | Role::Cancel | Role::Rate => per_session(60, 20),
        // TOMO tracks an order every five seconds at most (§6, §8). One in four is served, so that a look is not too early
        // because the network has held up the one before it.
        Role::Track => RateKey::Argument { name: "booking_ref", per_minute: 15, burst: 1 },
    }
}

fn server_info(company: &str) -> ServerInfo {
    ServerInfo {
        name: intern(company),
        title: intern(company),
        version: env!("CARGO_PKG_VERSION"),
        extra: Vec::new(),
        instructions: "Bookings of this business, for the TOMO orchestrator. Search first, then book what the search \
            returned with its result_token before expires_at. Send an idempotency_key with every booking and repeat it \
            when you retry.",
        // `listChanged` is left out: nothing is sent yet when the list changes.
        capabilities: json!({"tools": {}}).to_string(),
    }
}

/// Whether the caller's bookings are only for trying out.
pub fn is_sandbox(permitted: &Permitted<'_>) -> bool {
    permitted.caller().scopes.has(&Scope::new(SANDBOX))
}
