//! The manifest: which domains this server serves, at which level, and which scopes exist. The same document is
//! published in three places, because the specification names none.

use serde_json::{Value, json};

use super::scopes;

pub const SPEC_VERSION: &str = "0.1";

/// Readable without a token.
pub const PATH: &str = "/.well-known/automotive-mcp.json";

/// Readable as a resource.
pub const URI: &str = "amcp://manifest";

/// The document: an object with one member, named after the specification.
pub fn document() -> String {
    json!({ "automotive_mcp": content() }).to_string()
}

/// The value of that member, also published under the same name in the capabilities.
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
