//! The manifest: which domains this server serves, at which level, and which scopes exist. The same document is
//! published in three places, because the specification names none.

use frontdesk_engine::Scope;
use frontdesk_engine::model::tool::{Effect, Tool};
use serde_json::{Map, Value, json};

use super::domains;
use super::resource::ResourceParts;

pub const SPEC_VERSION: &str = "0.1";

/// Readable without a token.
pub const PATH: &str = "/.well-known/automotive-mcp.json";

/// Readable as a resource.
pub const URI: &str = "amcp://manifest";

/// The document: an object with one member, named after the specification.
pub fn document(content: &Value) -> String {
    json!({ "automotive_mcp": content }).to_string()
}

/// The value of that member, also published under the same name in the capabilities.
///
/// A domain whose records can only be read is at level 1, one with tools that change them at level 2; level 3 would
/// promise subscriptions. Customers belong to the domain of leads and have no entry of their own. Level 2 asks for the
/// action tools that a domain requires: signals are computed and require none, so with all reads they are at level 2.
pub fn content(resources: &[ResourceParts], signals: &[Tool], scopes: &[Scope]) -> Value {
    let mut domains = Map::new();
    for resource in resources {
        let writes = resource.tools.iter().any(|tool| tool.spec.effect != Effect::Reads);
        let level = domains.entry(resource.domain.name).or_insert_with(|| json!({"level": 1}));
        if writes {
            *level = json!({"level": 2});
        }
    }
    if !signals.is_empty() {
        domains.insert(domains::SIGNALS.name.to_owned(), json!({"level": 2}));
    }
    let scopes: Vec<&str> = scopes.iter().map(Scope::as_str).collect();
    json!({
        "spec_version": SPEC_VERSION,
        "server": {"name": "Frontdesk", "vendor": "Frontdesk"},
        "domains": domains,
        "auth": {"type": "oauth2.1", "scopes": scopes},
    })
}
