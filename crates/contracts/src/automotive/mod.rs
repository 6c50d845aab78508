//! The automotive contract, AutomotiveMCP RFC 0.1: dealerships, their stock, their leads and their
//! customers. Everything specific to that specification is in this folder.

mod check_vin;
pub mod codes;
pub mod customer;
pub mod demo;
mod dialect;
mod json;
pub mod lead;
pub mod manifest;
pub mod mask;
mod resources;
mod schemas;
pub mod scopes;
mod tools;
pub mod values;
pub mod vehicle;
pub mod vin;
pub mod vocabulary;

use frontdesk_engine::Contract;
use frontdesk_engine::model::contract::ServerInfo;
use frontdesk_engine::model::contract_entry::ContractCommand;
use serde_json::json;

pub use dialect::Automotive;

pub const ID: &str = "automotive";

/// What `frontdesk automotive` offers.
pub const COMMANDS: &[ContractCommand] = &[check_vin::CHECK_VIN];

pub fn contract() -> Contract {
    Contract {
        id: ID,
        server_info: server_info(),
        tools: tools::all(),
        resources: resources::all(),
        tables: vec![&vehicle::TABLE, &lead::TABLE, &customer::TABLE],
        scopes: scopes::all(),
        default_scope: scopes::default_scope(),
        documents: vec![(manifest::PATH, manifest::document())],
        dialect: Box::new(Automotive),
    }
}

fn server_info() -> ServerInfo {
    ServerInfo {
        extra: Vec::new(),
        name: "frontdesk",
        title: "Frontdesk: AutomotiveMCP",
        version: env!("CARGO_PKG_VERSION"),
        instructions: "A car dealership's stock, leads and customers. Search stock with inventory.search; every list goes \
            on with its next_cursor. Money is whole minor units with a currency. Before leads.create, ask the person \
            for consent to be contacted. Send an idempotency_key with every write and repeat it when you retry. \
            Personal data is masked in lists; read one record for the whole of it.",
        capabilities: json!({
            "tools": {"listChanged": false},
            "resources": {"subscribe": false, "listChanged": false},
            "experimental": {"automotive_mcp": manifest::content()},
        })
        .to_string(),
    }
}
