//! A site as `config show` writes it: every key with the value in effect, secrets as `***`.

use toml::{Table, Value};

use super::{Dispatch, Failover, OwnTokens, SecretSource, SiteAuth, SiteConfig, SiteLimits, SiteServer};

/// The keys that a site has besides `contract` and `path`.
pub(in super::super) fn shown(site: &SiteConfig) -> Table {
    let SiteConfig {
        database,
        authority,
        prefix,
        connections,
        statement_seconds,
        tenant,
        auth,
        allow_servers,
        dispatch,
        failover,
        servers,
    } = site;
    let mut table = Table::new();
    let mut put = |name: &str, value: Value| {
        table.insert(name.to_owned(), value);
    };
    match database {
        SecretSource::Literal(url) => put("database", text(&frontdesk_store::site_db::without_password(url))),
        SecretSource::File(file) => put("database_file", text(&file.display().to_string())),
        SecretSource::Variable { name, .. } => put("database_env", text(name)),
    }
    if let Some(authority) = authority {
        put("database_ca", text(&authority.display().to_string()));
    }
    put("prefix", text(prefix));
    put("connections", Value::Integer((*connections).into()));
    put("statement_seconds", Value::Integer((*statement_seconds).into()));
    put("tenant", text(tenant.as_str()));
    match auth {
        SiteAuth::None => put("auth", texts(["none"])),
        SiteAuth::Tokens { own, jwt } => {
            let own = match own {
                OwnTokens::Accepted => Some("oauth"),
                OwnTokens::Rejected => None,
            };
            put("auth", texts(own.into_iter().chain(jwt.as_ref().map(|_| "jwt"))));
            if let Some(jwt) = jwt {
                match &jwt.secret {
                    // It cannot be set in the file.
                    SecretSource::Literal(_) => put("jwt_secret", text("***")),
                    SecretSource::File(file) => put("jwt_secret_file", text(&file.display().to_string())),
                    SecretSource::Variable { name, .. } => put("jwt_secret_env", text(name)),
                }
                put("jwt_issuer", text(jwt.issuer.as_deref().unwrap_or_default()));
                put("jwt_audience", text(jwt.audience.as_deref().unwrap_or_default()));
                put("jwt_lifetime_seconds", Value::Integer(jwt.lifetime_seconds.into()));
            }
        }
    }
    put("allow_servers", texts(allow_servers.iter().map(String::as_str)));
    put(
        "dispatch",
        text(match dispatch {
            Dispatch::Sync => "sync",
            Dispatch::Async => "async",
        }),
    );
    put(
        "failover",
        text(match failover {
            Failover::Sync => "sync",
            Failover::Fail => "fail",
        }),
    );
    put("server", Value::Array(servers.iter().map(|server| Value::Table(of_server(server))).collect()));
    table
}

fn of_server(SiteServer { handle, path, limits, deny_tools, scopes, default_scope: _ }: &SiteServer) -> Table {
    let scopes = scopes.iter().map(|(scope, methods)| (scope.clone(), texts(methods.iter().map(String::as_str))));
    let mut table = Table::from_iter([("handle".to_owned(), text(handle))]);
    table.extend(path.as_ref().map(|path| ("path".to_owned(), text(path))));
    table.insert("limits".to_owned(), Value::Table(of_limits(limits)));
    table.insert("deny_tools".to_owned(), texts(deny_tools.iter().map(String::as_str)));
    table.insert("scope_map".to_owned(), Value::Table(scopes.collect()));
    table
}

fn of_limits(limits: &SiteLimits) -> Table {
    let SiteLimits { payload_bytes, result_items, result_bytes, depth, offset, per_minute, retain } = limits;
    let number = |name: &str, value: u64| (name.to_owned(), Value::Integer(i64::try_from(value).unwrap_or(i64::MAX)));
    Table::from_iter([
        number("max_payload_kb", (*payload_bytes / 1024) as u64),
        number("max_result_items", (*result_items).into()),
        number("max_result_bytes", *result_bytes as u64),
        number("max_depth", (*depth).into()),
        number("max_offset", (*offset).into()),
        number("per_minute", (*per_minute).into()),
        number("idempotency_ttl_seconds", retain.as_secs()),
    ])
}

fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}

fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Value {
    Value::Array(texts.into_iter().map(text).collect())
}
