//! Reads a [`SiteConfig`] from a `[[mount]]` table, and reports all its problems at once.

use std::path::PathBuf;

use frontdesk_engine::TenantId;
use frontdesk_engine::model::contract_entry::MountDefaults;
use toml::{Table, Value};

use super::super::fields::Fields;
use super::super::finding::ConfigError;
use super::auth::{self, Lookup, SecretSource};
use super::keys::SITE;
use super::{Dispatch, Failover, SiteConfig, server};

const DEFAULT_CONNECTIONS: u32 = 4;
const DEFAULT_STATEMENT_SECONDS: u32 = 5;

/// The base path and the site, or all problems. `at` is the position of the table in the list of mounts.
pub(in super::super) fn read(
    table: &Table,
    at: &str,
    defaults: &MountDefaults,
    variables: Lookup<'_>,
) -> Result<(String, SiteConfig), Vec<ConfigError>> {
    let mut fields = Fields::of(table, at, SITE);
    let path = fields.text("path").unwrap_or_else(|| defaults.base.to_owned());
    let database = database(&mut fields, variables);
    let authority = fields.text("database_ca").map(PathBuf::from);
    let prefix = prefix(&mut fields, defaults);
    let connections = fields.number("connections", 1, 100).unwrap_or(DEFAULT_CONNECTIONS);
    let statement_seconds = fields.number("statement_seconds", 1, 300).unwrap_or(DEFAULT_STATEMENT_SECONDS);
    let tenant = tenant(&mut fields);
    let auth = auth::read(&mut fields, variables);
    let allow_servers = fields.patterns("allow_servers").unwrap_or_else(|| vec!["*".to_owned()]);
    let mut denied = fields.patterns("deny_tools").unwrap_or_default();
    if let Writing::Denied = writing(&mut fields) {
        denied.push(defaults.write_tools.to_owned());
    }
    let dispatch = fields.one_of("dispatch", &[("sync", Dispatch::Sync), ("async", Dispatch::Async)]);
    let failover = fields.one_of("failover", &[("sync", Failover::Sync), ("fail", Failover::Fail)]);
    let servers = server::read(&mut fields, defaults, &denied);
    match (database, tenant, auth) {
        (Some(database), Some(tenant), Some(auth)) if fields.errors.is_empty() => Ok((
            path,
            SiteConfig {
                database,
                authority,
                prefix,
                connections,
                statement_seconds,
                tenant,
                auth,
                allow_servers,
                dispatch: dispatch.unwrap_or(Dispatch::Sync),
                failover: failover.unwrap_or(Failover::Sync),
                servers,
            },
        )),
        _ => Err(fields.errors),
    }
}

fn database(fields: &mut Fields<'_>, variables: Lookup<'_>) -> Option<SecretSource> {
    let given = [fields.text("database"), fields.text("database_env"), fields.text("database_file")];
    match given {
        [Some(url), None, None] => Some(SecretSource::Literal(url)),
        [None, Some(name), None] => Some(auth::from_variable(name, variables)),
        [None, None, Some(file)] => Some(SecretSource::File(PathBuf::from(file))),
        [None, None, None] => {
            // Reported already if it is not text.
            if !["database", "database_env", "database_file"].iter().any(|name| fields.has(name)) {
                let advice = "Write the path of the site's SQLite file, or a mysql:// or postgres:// URL; `database_env` and \
                            `database_file` keep a password out of this file";
                fields.error("database", "it is missing", advice);
            }
            None
        }
        [_, _, _] => {
            let advice = "Set only one of `database`, `database_env` and `database_file`";
            fields.error("database", "there are several addresses for one database", advice);
            None
        }
    }
}

/// An empty prefix is valid: some sites have none.
fn prefix(fields: &mut Fields<'_>, defaults: &MountDefaults) -> String {
    let given = match fields.value("prefix") {
        Some(Value::String(text)) if text.is_empty() => String::new(),
        Some(_) => fields.text("prefix").unwrap_or_default(),
        None => defaults.prefix.to_owned(),
    };
    if !given.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        let advice = format!("Use letters, digits and _ only, such as {}", defaults.prefix);
        fields.error("prefix", format!("{given:?} is not a table prefix"), advice);
    }
    given
}

fn tenant(fields: &mut Fields<'_>) -> Option<TenantId> {
    let name = fields.text("tenant").unwrap_or_else(|| "site".to_owned());
    let tenant = TenantId::parse(&name);
    if tenant.is_none() {
        let advice = "Use 1 to 64 letters, digits, `_` or `-`, such as site";
        fields.error("tenant", format!("{name:?} is not a tenant id"), advice);
    }
    tenant
}

enum Writing {
    Allowed,
    Denied,
}

fn writing(fields: &mut Fields<'_>) -> Writing {
    match fields.flag("enable_write_tools") {
        Some(true) => Writing::Allowed,
        Some(false) | None => Writing::Denied,
    }
}
