//! The TOMO contract: a partner's bookings for the TOMO orchestrator. Everything specific to that specification is in
//! this folder. Which tools there are is data: an intent file names them, and the shape of the intent has the code.

mod argument;
pub mod booking;
pub mod codes;
pub(crate) mod demo;
mod dialect;
mod erased;
pub mod facts;
pub mod forbidden;
pub mod intent;
pub mod known_facts;
pub mod listing;
pub mod managed;
pub mod result_token;
pub mod service;
mod settings;
pub mod shape;

use std::sync::Arc;

use frontdesk_engine::import::ImportSpec;
use frontdesk_engine::model::contract::ServerInfo;
use frontdesk_engine::model::intern::intern;
use frontdesk_engine::model::schema::{Field, Schema, optional};
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::model::tool::{RateKey, Run, ScopeRule, Sensitivity, Tool, ToolSpec};
use frontdesk_engine::{Code, Contract, Permitted, Scope, Scopes};
use serde_json::json;

pub use dialect::Tomo;
use intent::{Intent, IntentTool, Role};

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
}

/// The contract of one partner.
pub fn contract(partner: &PartnerSettings) -> Result<Contract, Vec<SettingProblem>> {
    let intents = settings::check(partner)?;
    let dialect = Tomo::new(partner, &intents);
    let mut tools = Vec::new();
    for intent in intents {
        let context = Arc::new(ToolContext {
            intent: Arc::clone(&intent),
            source: partner.source,
            company: partner.company.clone(),
            service_area: partner.service_area.clone(),
        });
        for tool in &intent.tools {
            tools.push(Tool { spec: spec(&intent, tool), run: run(&context, tool) });
        }
    }
    Ok(assembled(tools, dialect, server_info(&partner.company)))
}

/// The contract without a partner: its tables and what can be imported, and no tools.
pub fn without_partner() -> Contract {
    assembled(Vec::new(), Tomo::default(), server_info("frontdesk"))
}

fn assembled(tools: Vec<Tool>, dialect: Tomo, server_info: ServerInfo) -> Contract {
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
        operator_tools: erasure::tools(tenant(), [MANAGE, MANAGE]),
        documents: Vec::new(),
        dialect: Box::new(dialect),
    }
}

/// The argument of tools that are called here alone.
fn tenant() -> Field {
    optional(TENANT, Schema::text(64), "The business.")
}

fn tables() -> Vec<&'static TableSpec> {
    let mut tables = vec![booking::Booking::table()];
    tables.extend(listing::tables());
    tables.extend(service::tables());
    tables
}

fn imports() -> Vec<ImportSpec> {
    let mut imports = listing::imports();
    imports.extend(service::imports());
    imports
}

fn run(context: &Arc<ToolContext>, tool: &IntentTool) -> Run {
    match context.intent.shape {
        shape::Shape::Listing => listing::run(context, tool),
        shape::Shape::Service => service::run(context, tool),
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
        // One in five seconds for each order (§6, §8); the order is known only to the tool.
        Role::Track => RateKey::Client,
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
