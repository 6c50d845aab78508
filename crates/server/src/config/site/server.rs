//! The handles under which a site answers, each with the limits, tools and scopes of the mount or its own.

use std::time::Duration;

use frontdesk_engine::model::contract_entry::MountDefaults;
use frontdesk_engine::model::nearest::nearest;
use toml::Value;

use super::super::fields::Fields;
use super::keys::{LIMITS, SERVER};
use super::{SiteLimits, SiteServer};

type ScopeMap = Vec<(String, Vec<String>)>;

/// All servers of the mount; a mount without any has the default one.
pub(super) fn read(mount: &mut Fields<'_>, defaults: &MountDefaults, denied: &[String]) -> Vec<SiteServer> {
    let common = limits(mount, DEFAULT_LIMITS);
    let scopes = scope_map(mount, defaults).unwrap_or_else(|| usual_map(defaults));
    // The last scope of the contract.
    let default_scope = defaults.scopes.last().map(|(scope, _)| (*scope).to_owned()).unwrap_or_default();
    let Some(listed) = mount.value("server") else {
        let handle = defaults.server.to_owned();
        return vec![SiteServer {
            handle,
            path: None,
            limits: common,
            deny_tools: denied.to_vec(),
            scopes,
            default_scope,
        }];
    };
    let tables = listed.as_array().map(|list| list.iter().map(Value::as_table).collect::<Option<Vec<_>>>());
    let Some(Some(tables)) = tables else {
        mount.error("server", "it is not a list of tables", "Write each server under its own [[mount.server]] header");
        return Vec::new();
    };
    let mut servers: Vec<SiteServer> = Vec::new();
    for (index, table) in tables.into_iter().enumerate() {
        let mut fields = Fields::of(table, mount.path_of(&format!("server[{index}]")), SERVER);
        let limits = limits(&mut fields, common.clone());
        let scopes = scope_map(&mut fields, defaults).unwrap_or_else(|| scopes.clone());
        let mut deny_tools = denied.to_vec();
        deny_tools.extend(fields.patterns("deny_tools").unwrap_or_default());
        let path = fields.text("path");
        match fields.text("handle") {
            Some(handle) if !is_handle(&handle) => {
                let advice = "Use 1 to 64 letters, digits, - . or _, such as content";
                fields.error("handle", format!("{handle:?} is not a handle"), advice);
            }
            Some(handle) if servers.iter().any(|server| server.handle == handle) => {
                fields.error("handle", format!("there is a server {handle} already"), "Give each its own handle");
            }
            Some(handle) => {
                servers.push(SiteServer {
                    handle,
                    path,
                    limits,
                    deny_tools,
                    scopes,
                    default_scope: default_scope.clone(),
                });
            }
            None if fields.has("handle") => {}
            None => {
                let advice = format!("Name the last segment of its address, such as {}", defaults.server);
                fields.error("handle", "it is missing", advice);
            }
        }
        mount.merge(fields);
    }
    if servers.is_empty() && mount.errors.is_empty() {
        let advice = format!("Leave the key out for one server `{}`, or name some", defaults.server);
        mount.error("server", "an empty list would serve nothing", advice);
    }
    servers
}

const DEFAULT_LIMITS: SiteLimits = SiteLimits {
    payload_bytes: 128 * KILO,
    result_items: 100,
    result_bytes: 1024 * KILO,
    depth: 6,
    offset: 5_000,
    per_minute: 30,
    retain: Duration::from_secs(86_400),
};
const KILO: usize = 1024;

/// The limits of the table, and those of its parent for keys that are not set.
fn limits(parent: &mut Fields<'_>, before: SiteLimits) -> SiteLimits {
    let Some(mut fields) = parent.table("limits", LIMITS) else {
        return before;
    };
    let payload = fields.number("max_payload_kb", 1, 65_536).map(|kilo| kilo as usize * KILO);
    let result_bytes = fields.number("max_result_bytes", 1, 16_777_216).map(|bytes| bytes as usize);
    let retain = fields.number("idempotency_ttl_seconds", 60, 31_536_000);
    let limits = SiteLimits {
        payload_bytes: payload.unwrap_or(before.payload_bytes),
        result_items: fields.number("max_result_items", 1, 1_000).unwrap_or(before.result_items),
        result_bytes: result_bytes.unwrap_or(before.result_bytes),
        depth: fields.number("max_depth", 1, 100).unwrap_or(before.depth),
        offset: fields.number("max_offset", 0, 1_000_000).unwrap_or(before.offset),
        per_minute: fields.number("per_minute", 1, 1_000_000).unwrap_or(before.per_minute),
        retain: retain.map_or(before.retain, |seconds| Duration::from_secs(seconds.into())),
    };
    parent.merge(fields);
    limits
}

fn usual_map(defaults: &MountDefaults) -> ScopeMap {
    let texts = |methods: &[&str]| methods.iter().map(|method| (*method).to_owned()).collect();
    defaults.scopes.iter().map(|(scope, methods)| ((*scope).to_owned(), texts(methods))).collect()
}

fn scope_map(parent: &mut Fields<'_>, defaults: &MountDefaults) -> Option<ScopeMap> {
    let mut fields = parent.free_table("scope_map")?;
    let mut map: ScopeMap = Vec::new();
    for scope in fields.names() {
        if !defaults.scopes.iter().any(|(known, _)| *known == scope) {
            let right = nearest(scope, defaults.scopes.iter().map(|(known, _)| *known)).unwrap_or_default();
            fields.error(scope, "there is no such scope", format!("Did you mean \"{right}\"?"));
            continue;
        }
        let Some(methods) = fields.texts(scope) else {
            continue;
        };
        for method in &methods {
            if !is_method(method) {
                let advice = "Write a method such as tools/call, or a group such as notifications/*";
                fields.error(scope, format!("{method:?} is neither a method nor a group of them"), advice);
            } else if map.iter().any(|(_, others)| others.contains(method)) {
                fields.error(scope, format!("{method} is listed under another scope already"), "Name it once");
            }
        }
        map.push((scope.to_owned(), methods));
    }
    let is_right = fields.errors.is_empty();
    parent.merge(fields);
    is_right.then_some(map)
}

fn is_method(text: &str) -> bool {
    let name = text.strip_suffix("/*").unwrap_or(text);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._/".contains(&byte))
}

fn is_handle(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && !matches!(text, "." | "..")
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
}
