//! The manifest: which domains this server serves, how far, and what a token must carry. One text,
//! published in three places, because the published specification names none.

use serde_json::{Value, json};

use super::scopes;

pub const SPEC_VERSION: &str = "0.1";

/// Where anybody can read it without a token.
pub const PATH: &str = "/.well-known/automotive-mcp.json";

/// Where it can be read as a resource.
pub const ADDRESS: &str = "amcp://manifest";

/// The document: one member, named after the specification.
pub fn document() -> String {
    json!({ "automotive_mcp": content() }).to_string()
}

/// What stands inside that member, and under the same name in the capabilities.
///
/// Inventory stays at level 1: level 2 would promise tools that change stock, and there are none.
/// Leads reach level 2 with `leads.create` and `leads.update`; level 3 would promise subscriptions.
/// Customers belong to the domain of leads and have no entry of their own.
pub fn content() -> Value {
    json!({
        "spec_version": SPEC_VERSION,
        "server": {"name": "Frontdesk", "vendor": "Frontdesk"},
        "domains": {"inventory": {"level": 1}, "leads": {"level": 2}},
        "auth": {"type": "oauth2.1", "scopes": scopes::ALL},
    })
}
