//! The lists of tools and templates, made once per set of scopes and then served as bytes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use frontdesk_wire::version::Version;
use serde_json::{Value, json};

use crate::desk::Mount;
use crate::model::caller::Scopes;
use crate::model::contract::{Contract, ResourceSource};
use crate::model::schema::Schema;
use crate::model::tool::{Effect, ToolSpec};
use crate::pipeline::resolve::uri_template;

/// There are few sets of scopes in use; a caller who invents more does not grow the cache.
const MOST_SETS: usize = 256;

#[derive(Default)]
pub(crate) struct Catalogue {
    /// Rendered at the first request: it takes longer than everything else of opening a mount.
    /// By version, of which there is only one where all versions see the same.
    tools: [OnceLock<Vec<(String, usize)>>; Version::ALL.len()],
    texts: Mutex<HashMap<(Scopes, Version), Arc<str>>>,
}

impl Catalogue {
    /// The tools these scopes can call, and no others. A mount with a policy shows all that is
    /// not denied.
    pub(crate) fn tools(&self, mount: &Mount, scopes: &Scopes, version: Version) -> Arc<str> {
        let by_version = mount.contract.dialect.compatibility().lists_by_version;
        let version = if by_version { version } else { Version::NEWEST_LEGACY };
        let key = (scopes.clone(), version);
        if let Ok(texts) = self.texts.lock()
            && let Some(text) = texts.get(&key)
        {
            return Arc::clone(text);
        }
        let callable = |position: &usize| {
            mount.contract.tools.get(*position).is_some_and(|tool| is_shown(mount, scopes, &tool.spec))
        };
        let place = Version::ALL.iter().position(|known| *known == version).unwrap_or_default();
        let rendered = self.tools.get(place).map(|tools| tools.get_or_init(|| described(&mount.contract, version)));
        let visible = rendered.into_iter().flatten().filter(|(_, position)| callable(position));
        let tools: Vec<&str> = visible.map(|(text, _)| text.as_str()).collect();
        let text: Arc<str> = format!("{{\"tools\":[{}]}}", tools.join(",")).into();
        if let Ok(mut texts) = self.texts.lock()
            && texts.len() < MOST_SETS
        {
            texts.insert(key, Arc::clone(&text));
        }
        text
    }
}

pub(super) fn is_shown(mount: &Mount, scopes: &Scopes, spec: &ToolSpec) -> bool {
    match &mount.policy {
        Some(policy) => !policy.denies_tool(spec.name),
        None => spec.scope.allows_some(scopes),
    }
}

/// The templates of the tools that are shown.
pub(crate) fn templates(mount: &Mount, scopes: &Scopes) -> String {
    let contract = &mount.contract;
    let visible = contract.resources.iter().filter(|resource| match &resource.source {
        ResourceSource::Tool { name, .. } => {
            !uri_template::is_fixed(resource.template)
                && contract.tools.iter().any(|tool| tool.spec.name == *name && is_shown(mount, scopes, &tool.spec))
        }
        ResourceSource::Document(_) => false,
    });
    let templates: Vec<String> = visible
        .map(|resource| {
            json!({
                "uriTemplate": resource.template,
                "name": resource.name,
                "title": resource.title,
                "description": resource.about,
                "mimeType": "application/json",
            })
            .to_string()
        })
        .collect();
    format!("{{\"resourceTemplates\":[{}]}}", templates.join(","))
}

/// The answer is the tool's own shape or the contract's error, and never both.
fn output(spec: &ToolSpec, error: Option<Schema>) -> Value {
    match error {
        Some(error) => json!({"type": "object", "oneOf": [spec.output.to_json(), error.to_json()]}),
        None => spec.output.to_json(),
    }
}

/// Every tool with its place in the contract.
fn described(contract: &Contract, version: Version) -> Vec<(String, usize)> {
    let tools = contract.tools.iter().zip(0..);
    tools.map(|(tool, position)| (describe(contract, &tool.spec, version), position)).collect()
}

fn describe(contract: &Contract, spec: &ToolSpec, version: Version) -> String {
    let (read_only, destructive) = match spec.effect {
        Effect::Reads => (true, false),
        Effect::Adds => (false, false),
        Effect::Changes => (false, true),
    };
    let mut described = json!({
        "name": spec.name,
        "title": spec.title,
        "description": spec.about,
        "inputSchema": spec.input.to_json(),
        "outputSchema": output(spec, contract.dialect.error_schema()),
        "annotations": {
            "title": spec.title,
            "readOnlyHint": read_only,
            "destructiveHint": destructive,
            "idempotentHint": read_only,
            "openWorldHint": false,
        },
    });
    if let Some(described) = described.as_object_mut() {
        contract.dialect.describe_tool(spec, version, described);
    }
    described.to_string()
}
