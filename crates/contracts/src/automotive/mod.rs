//! The automotive contract, AutomotiveMCP RFC 0.1: dealerships, their stock, leads, customers and
//! workshop. Everything specific to that specification is in this folder.

pub mod adf;
mod check_vin;
pub mod codes;
pub mod consent;
pub mod customer;
pub mod deal;
pub mod demo;
mod dialect;
pub mod domains;
pub mod erasure;
pub mod fee;
pub mod feeds;
pub mod fni;
mod imports;
pub(crate) mod in_process;
pub mod lead;
pub mod manifest;
pub mod parts;
pub mod resource;
pub mod sample_feed;
pub mod scopes;
pub mod service;
pub mod signal;
pub mod trade_value;
pub mod values;
pub mod vehicle;
pub mod vin;
pub mod vocabulary;

use frontdesk_engine::import::{IMPORT, IMPORT_FEED, ImportSpec};
use frontdesk_engine::model::contract::{ResourceSource, ResourceTemplate, ServerInfo};
use frontdesk_engine::model::contract_entry::ContractCommand;
use frontdesk_engine::model::tool::Tool;
use frontdesk_engine::{Code, Contract};
use serde_json::{Value, json};

use codes::CodeSpec;
pub use dialect::Automotive;
use resource::ResourceParts;
use signal::SignalSettings;

pub const ID: &str = "automotive";

/// What `frontdesk automotive` offers.
pub const COMMANDS: &[ContractCommand] = &[check_vin::CHECK_VIN, sample_feed::SAMPLE_FEED];

/// Every resource, in the order of `tools/list`. The first tool needs no argument, so that a client can try the server
/// with it.
pub fn resources() -> Vec<ResourceParts> {
    let mut resources = vec![
        vehicle::resource(),
        lead::resource(),
        customer::resource(),
        consent::resource(),
        deal::resource(),
        fee::resource(),
        trade_value::resource(),
    ];
    resources.extend(service::resources());
    resources.extend(parts::resources());
    resources.extend(fni::resources());
    resources
}

pub fn contract() -> Contract {
    contract_of(resources())
}

/// The contract with these resources.
pub fn contract_of(resources: Vec<ResourceParts>) -> Contract {
    contract_with(resources, SignalSettings::default())
}

/// As `contract_of`, with what is configured.
pub fn contract_with(resources: Vec<ResourceParts>, settings: SignalSettings) -> Contract {
    let signals = signal::tools(settings);
    let scopes = scopes::of_tools(resources.iter().flat_map(|resource| &resource.tools).chain(&signals));
    let manifest = manifest::content(&resources, &signals, &scopes);
    let document = manifest::document(&manifest);
    let dialect = Automotive::new(&resources);
    let hidden = resources.iter().flat_map(|resource| resource.hidden_tables.iter().copied());
    let tables = resources.iter().map(|resource| resource.table).chain(hidden).chain([&IMPORT, &IMPORT_FEED]).collect();
    let mut templates = vec![ResourceTemplate {
        template: manifest::URI,
        name: "manifest",
        title: "Manifest",
        about: "Which domains this server serves and at which level.",
        source: ResourceSource::Document(document.clone()),
    }];
    let mut tools: Vec<Tool> = Vec::new();
    let mut imports: Vec<ImportSpec> = Vec::new();
    for resource in resources {
        templates.extend(resource.templates);
        tools.extend(resource.tools);
        imports.push(resource.import);
    }
    templates.extend(signal::templates());
    tools.extend(signals);
    tools.extend(imports::tools(&imports));
    tools.push(adf::tool());
    Contract {
        id: ID,
        server_info: server_info(&manifest),
        tools,
        resources: templates,
        tables,
        ordinary_scopes: scopes::ordinary(&scopes),
        scopes,
        default_scope: scopes::default_scope(),
        imports,
        operator_tools: erasure::tools(resource::tenant(), [domains::LEADS.read, domains::LEADS.write]),
        latency_targets: Vec::new(),
        documents: vec![(manifest::PATH, document)],
        dialect: Box::new(dialect),
    }
}

/// Every code that these resources can answer with: the common ones, then their own. Resources may share a code.
pub fn all_codes(resources: &[ResourceParts]) -> Vec<CodeSpec> {
    let mut all = codes::descriptions::COMMON.to_vec();
    let not_found = resources.iter().map(|resource| not_found_code(resources, resource.not_found));
    for code in not_found
        .chain([signal::NOT_FOUND, imports::NOT_FOUND])
        .chain(resources.iter().flat_map(|resource| resource.codes.iter().copied()))
    {
        if !all.iter().any(|known| known.code == code.code) {
            all.push(code);
        }
    }
    all
}

/// What it means that an id does not exist, and which tools find one that does, for all resources with this code.
fn not_found_code(resources: &[ResourceParts], code: Code) -> CodeSpec {
    let sharing = || resources.iter().filter(|resource| resource.not_found == code);
    let nouns: Vec<&str> = sharing().map(|resource| resource.noun).collect();
    let finders: Vec<String> =
        sharing().filter_map(|resource| resource.finder).map(|tool| format!("`{tool}`")).collect();
    // Made for documents only, so the texts are leaked instead of counted.
    CodeSpec {
        code,
        means: format!("No {} with this id exists for this caller.", nouns.join(" or ")).leak(),
        next: format!("Find it with {}.", finders.join(" or ")).leak(),
    }
}

fn server_info(manifest: &Value) -> ServerInfo {
    ServerInfo {
        extra: Vec::new(),
        name: "frontdesk",
        title: "Frontdesk: AutomotiveMCP",
        version: env!("CARGO_PKG_VERSION"),
        instructions: "A car dealership's stock, leads, customers, deals, credit, workshop, parts and figures. Search stock with inventory.search; \
            every list goes on with its next_cursor. Never compute a price yourself: deals.request_quote does. Before \
            service.book_appointment, ask service.check_availability for a start; before parts.create_order, ask \
            parts.check_availability. Figures of the business are in signals.list; never estimate a suppressed one. Money is whole minor units with a \
            currency. Before leads.create, ask the person for consent to be contacted; before you contact somebody, call \
            consent.check. Credit tools (fni.*) need a person's login within the last 5 minutes: on auth.step_up_required, \
            ask them to log in. Send an idempotency_key with every write and repeat it when you retry. \
            Personal data is masked in lists; read one record for the whole of it.",
        capabilities: json!({
            "tools": {"listChanged": false},
            "resources": {"subscribe": false, "listChanged": false},
            "experimental": {"automotive_mcp": manifest},
        })
        .to_string(),
    }
}
