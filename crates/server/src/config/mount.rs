//! Which contract is served at which path. The names of contracts are parameters: none is known here.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use frontdesk_engine::model::contract_entry::{ContractEntry, Requires};
use frontdesk_engine::model::nearest::nearest;
use toml::{Table, Value};

use super::finding::ConfigError;
use super::layers::Env;
use super::partner::{self, PartnerConfig};
use super::raw::LOCAL;
use super::site::{self, SiteAuth, SiteConfig};

/// One contract at one path.
#[derive(Debug, Clone, PartialEq)]
pub struct MountConfig {
    pub contract: String,
    /// Begins with `/`, does not end with it, and needs no escaping in a URL. For a site: the parent of its servers.
    pub path: String,
    /// The prefix of its REST routes; none for a contract without them, or where they are switched off.
    pub rest: Option<String>,
    /// The site, for a contract that reads a foreign database.
    pub site: Option<Box<SiteConfig>>,
    /// The business as its partner knows it, for a contract that requires one.
    pub partner: Option<Box<PartnerConfig>>,
}

impl MountConfig {
    /// A contract that needs nothing but a path.
    pub fn new(contract: impl Into<String>, path: impl Into<String>) -> MountConfig {
        MountConfig { contract: contract.into(), path: path.into(), rest: None, site: None, partner: None }
    }

    /// The default mount of a contract that needs nothing but a path.
    pub(super) fn default_for(entry: &ContractEntry) -> Option<MountConfig> {
        let contract = entry.name;
        match entry.requires {
            Requires::Nothing => {
                let rest = entry.rest.map(str::to_owned);
                Some(MountConfig { rest, ..MountConfig::new(contract, format!("/mcp/{contract}")) })
            }
            Requires::SiteDb(_) | Requires::Partner => None,
        }
    }

    /// A site with the defaults of its contract, besides what this table sets.
    pub fn for_site(entry: &ContractEntry, table: &Table) -> Option<MountConfig> {
        let Requires::SiteDb(defaults) = entry.requires else {
            return None;
        };
        let (path, site) = site::read(table, "", &defaults, &|_| None).ok()?;
        Some(MountConfig { site: Some(Box::new(site)), ..MountConfig::new(entry.name, path) })
    }

    /// A partner at a path.
    pub fn for_partner(entry: &ContractEntry, path: &str, partner: PartnerConfig) -> MountConfig {
        MountConfig { partner: Some(Box::new(partner)), ..MountConfig::new(entry.name, path) }
    }

    /// The path of the first endpoint.
    pub fn endpoint(&self) -> String {
        match self.site.as_ref().and_then(|site| site.servers.first()) {
            Some(server) => format!("{}/{}", self.path, server.handle),
            None => self.path.clone(),
        }
    }

    /// Whether callers on this machine need no token.
    pub fn needs_no_token(&self) -> bool {
        self.site.as_ref().is_some_and(|site| site.auth == SiteAuth::None)
    }

    /// The tenant and handle of each server.
    fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        let sites = self.site.iter();
        sites.flat_map(|site| site.servers.iter().map(|server| (site.tenant.as_str(), server.handle.as_str())))
    }

    /// Every path it answers at, with the key that sets it.
    fn addresses(&self) -> Vec<(String, String)> {
        let Some(site) = &self.site else {
            return vec![(self.path.clone(), "path".to_owned())];
        };
        let mut addresses = vec![(self.path.clone(), "path".to_owned())];
        for (number, server) in site.servers.iter().enumerate() {
            addresses.push((format!("{}/{}", self.path, server.handle), format!("server[{number}].handle")));
            addresses.extend(server.path.iter().map(|path| (path.clone(), format!("server[{number}].path"))));
        }
        addresses
    }
}

/// Parses `contract=path,contract=path`, the form in the environment.
pub(super) fn parse_text(text: &str, entries: &[ContractEntry]) -> Result<Vec<MountConfig>, Vec<ConfigError>> {
    let (mut mounts, mut errors) = (Vec::new(), Vec::new());
    for (index, part) in text.split(',').map(str::trim).filter(|part| !part.is_empty()).enumerate() {
        let (contract, path) = part.split_once('=').ok_or_else(|| {
            vec![ConfigError::new(format!("{part:?} is not a contract and a path"), how_to_mount(entries))]
        })?;
        let (contract, path) = (contract.trim().to_owned(), path.trim().to_owned());
        match entries.iter().find(|entry| entry.name == contract).map(|entry| entry.requires) {
            Some(Requires::SiteDb(_)) => {
                let problem = format!("{contract} reads a database, and a path does not say which");
                let advice = "Write it into a file, as [[mount]] with `contract` and `database`";
                errors.push(ConfigError::new(problem, advice).at(format!("[{index}]")));
            }
            Some(Requires::Partner) => {
                let problem = format!("{contract} needs a partner, and a path does not say who it is");
                let advice = "Write it into a file, as [[mount]] with `contract`, `tenant` and [mount.partner]";
                errors.push(ConfigError::new(problem, advice).at(format!("[{index}]")));
            }
            Some(Requires::Nothing) | None => mounts.push((index, MountConfig::new(contract, path))),
        }
    }
    check(mounts, errors, entries)
}

/// Reads the `[[mount]]` tables of a file.
pub(super) fn parse_toml(value: &Value, env: &Env<'_>) -> Result<Vec<MountConfig>, Vec<ConfigError>> {
    let tables = value.as_array().ok_or_else(|| {
        vec![ConfigError::new(
            format!("it is {} instead of a list of tables", super::value_type::type_name(value)),
            HEADER,
        )]
    })?;
    let mut errors = Vec::new();
    let mut mounts = Vec::new();
    for (index, table) in tables.iter().enumerate() {
        let Some(table) = table.as_table() else {
            errors.push(ConfigError::new("it is not a table", HEADER).at(format!("[{index}]")));
            continue;
        };
        let named = table.get("contract").and_then(Value::as_str).unwrap_or_default();
        let requires = env.entries.iter().find(|entry| entry.name == named).map(|entry| entry.requires);
        let read = match requires {
            Some(Requires::SiteDb(defaults)) => {
                let variables = |name: &str| env.variables.get(name).cloned();
                site::read(table, &format!("[{index}]"), &defaults, &variables).map(|(path, site)| {
                    Some(MountConfig { site: Some(Box::new(site)), ..MountConfig::new(named, path) })
                })
            }
            Some(Requires::Partner) => {
                partner::read(table, &format!("[{index}]"), named, &env.folder).map(|(path, partner)| {
                    Some(MountConfig { partner: Some(Box::new(partner)), ..MountConfig::new(named, path) })
                })
            }
            Some(Requires::Nothing) | None => plain_mount(index, table, env.entries),
        };
        match read {
            Ok(mount) => mounts.extend(mount.map(|mount| (index, mount))),
            Err(found) => errors.extend(found),
        }
    }
    check(mounts, errors, env.entries)
}

/// How to mount something.
pub(super) fn how_to_mount(entries: &[ContractEntry]) -> String {
    let contract = entries.first().map_or("NAME", |entry| entry.name);
    format!(
        "Write [[mount]] with contract = \"{contract}\" and path = \"/mcp/{contract}\", or FRONTDESK_MOUNT={contract}=/mcp/{contract}"
    )
}

/// Problems of a mount together with other keys.
pub(super) fn cross_checks(
    index: usize,
    mount: &MountConfig,
    listen: SocketAddr,
    report: &mut dyn FnMut(&[&str], ConfigError),
) {
    let Some(site) = &mount.site else {
        return;
    };
    if site.auth == SiteAuth::None && !listen.ip().is_loopback() {
        let problem = format!("without tokens it may be reached from this machine only, but `listen` is {listen}");
        let advice = "Use a loopback address such as 127.0.0.1:8443 for `listen`, or \"oauth\" or \"jwt\" for `auth`";
        report(&["mount", "listen"], ConfigError::new(problem, advice).at(format!("[{index}].auth")));
    }
}

/// Warnings about a mount together with other keys.
pub(super) fn warnings(index: usize, mount: &MountConfig, host: &str, report: &mut dyn FnMut(&[&str], ConfigError)) {
    if mount.needs_no_token() && !LOCAL.contains(&host) {
        let problem =
            format!("it needs no tokens, but `public_url` names {host}, so there seems to be a proxy before it");
        let advice =
            "Requests through a proxy are refused here. Use \"oauth\" or \"jwt\" for callers from other machines";
        report(&["mount", "public_url"], ConfigError::new(problem, advice).at(format!("[{index}].auth")));
    }
    if mount.partner.as_ref().is_some_and(|partner| partner.completion.keys.is_none()) {
        let problem = "without a key nobody is told about orders that have ended; they are kept until there is one";
        let advice = "Write the key that was agreed for them into a file, and name it here";
        report(&["mount"], ConfigError::new(problem, advice).at(format!("[{index}].completion.keys")));
    }
}

/// As `config show` writes it.
pub(super) fn shown(MountConfig { contract, path, rest, site, partner }: &MountConfig) -> Table {
    let mut table = Table::from_iter([
        ("contract".to_owned(), Value::String(contract.clone())),
        ("path".to_owned(), Value::String(path.clone())),
    ]);
    table.extend(rest.iter().map(|rest| ("rest".to_owned(), Value::String(rest.clone()))));
    table.extend(site.iter().flat_map(|site| site::shown(site)));
    table.extend(partner.iter().flat_map(|partner| partner::shown(partner)));
    table
}

const FIELDS: [&str; 3] = ["contract", "path", "rest"];
const HEADER: &str = "Write each mount under its own [[mount]] header";
/// Paths that the server answers itself.
const TAKEN: [&str; 4] = ["/token", "/revoke", "/authorize", "/.well-known"];

/// A mount without a site.
fn plain_mount(
    index: usize,
    table: &Table,
    entries: &[ContractEntry],
) -> Result<Option<MountConfig>, Vec<ConfigError>> {
    let mut errors = Vec::new();
    for name in table.keys().filter(|name| !FIELDS.contains(&name.as_str())) {
        let right = nearest(name, FIELDS.into_iter()).unwrap_or_default();
        errors.push(
            ConfigError::new("this key does not exist", format!("Did you mean `{right}`?"))
                .at(format!("[{index}].{name}")),
        );
    }
    let mut field = |name: &str| match table.get(name).map(Value::as_str) {
        Some(Some(text)) => Some(text.to_owned()),
        Some(None) => {
            errors.push(ConfigError::new("it is not text", "Write it in quotes").at(format!("[{index}].{name}")));
            None
        }
        None => {
            let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
            let advice = format!("Name the contract and its path; the contracts are: {}", names.join(", "));
            errors.push(ConfigError::new("it is missing", advice).at(format!("[{index}].{name}")));
            None
        }
    };
    let rest = if table.contains_key("rest") { field("rest") } else { None };
    let mount = match (field("contract"), field("path")) {
        (Some(contract), Some(path)) => Some(MountConfig { rest, ..MountConfig::new(contract, path) }),
        (Some(_) | None, _) => None,
    };
    if errors.is_empty() { Ok(mount) } else { Err(errors) }
}

fn check(
    mounts: Vec<(usize, MountConfig)>,
    mut errors: Vec<ConfigError>,
    entries: &[ContractEntry],
) -> Result<Vec<MountConfig>, Vec<ConfigError>> {
    let mut taken = BTreeSet::new();
    let mut kept = BTreeMap::new();
    for (index, mount) in &mounts {
        let contract = &mount.contract;
        if !entries.iter().any(|entry| entry.name == contract) {
            let right = nearest(contract, entries.iter().map(|entry| entry.name)).unwrap_or_default();
            let problem = format!("{contract:?} is not a contract of this version");
            errors
                .push(ConfigError::new(problem, format!("Did you mean `{right}`?")).at(format!("[{index}].contract")));
        }
        for (path, key) in mount.addresses() {
            let at = format!("[{index}].{key}");
            if !plain(&path) {
                let problem = format!("{path:?} is not a path that can be mounted");
                let advice = "Begin with /, and join letters, digits, - . _ ~ by single slashes";
                errors.push(ConfigError::new(problem, advice).at(at));
                // The paths below it are invalid for the same reason.
                break;
            } else if TAKEN.iter().any(|taken| path == *taken || path.starts_with(&format!("{taken}/"))) {
                let problem = format!("Frontdesk itself answers at {path}");
                errors.push(ConfigError::new(problem, format!("Choose another path, such as /mcp/{contract}")).at(at));
                break;
            } else if !taken.insert(path.clone()) {
                errors.push(
                    ConfigError::new(format!("{path} is mounted already"), "Give each mount its own path").at(at),
                );
                break;
            }
        }
        for (tenant, handle) in mount.names() {
            if let Some(other) = kept.insert((tenant, handle), *index)
                && other != *index
            {
                let problem = format!("mount[{other}] has a server {handle} of the tenant {tenant} already");
                let advice =
                    "Give each site a `tenant` of its own, under which its callers, tasks and records are stored";
                errors.push(ConfigError::new(problem, advice).at(format!("[{index}].tenant")));
                break;
            }
        }
    }
    let mounts = with_rest_prefixes(mounts, entries);
    errors.extend(check_rest_prefixes(&mounts));
    if mounts.is_empty() && errors.is_empty() {
        errors.push(ConfigError::new("nothing is mounted", how_to_mount(entries)));
    }
    if errors.is_empty() { Ok(mounts.into_iter().map(|(_, mount)| mount).collect()) } else { Err(errors) }
}

/// The first mount of a contract has the contract's own prefix, and any other one below its path. An empty text
/// switches the routes off.
fn with_rest_prefixes(mounts: Vec<(usize, MountConfig)>, entries: &[ContractEntry]) -> Vec<(usize, MountConfig)> {
    let mut seen = BTreeSet::new();
    let fill = |(index, mount): (usize, MountConfig)| {
        let entry = entries.iter().find(|entry| entry.name == mount.contract);
        let default = entry.and_then(|entry| entry.rest).map(|prefix| {
            if seen.insert(mount.contract.clone()) { prefix.to_owned() } else { format!("{}{prefix}", mount.path) }
        });
        let rest = match mount.rest {
            Some(rest) => Some(rest).filter(|rest| !rest.is_empty()),
            None => default,
        };
        (index, MountConfig { rest, ..mount })
    };
    mounts.into_iter().map(fill).collect()
}

/// Everything below a prefix belongs to its mount.
fn check_rest_prefixes(mounts: &[(usize, MountConfig)]) -> Vec<ConfigError> {
    let mut errors = Vec::new();
    for (index, mount) in mounts {
        let Some(prefix) = &mount.rest else { continue };
        let at = format!("[{index}].rest");
        let is_below = |path: &str| path == prefix || path.starts_with(&format!("{prefix}/"));
        let addresses = mounts.iter().flat_map(|(_, other)| other.addresses()).map(|(path, _)| path);
        let others = mounts.iter().filter(|(other, _)| other != index).filter_map(|(_, other)| other.rest.clone());
        if !plain(prefix) {
            let problem = format!("{prefix:?} is not a path that can be mounted");
            let advice = "Begin with /, and join letters, digits, - . _ ~ by single slashes";
            errors.push(ConfigError::new(problem, advice).at(at));
        } else if let Some(taken) = addresses.chain(others).chain(TAKEN.map(str::to_owned)).find(|path| is_below(path))
        {
            let problem = format!("{taken} is below {prefix}, where the routes of this mount are");
            errors.push(ConfigError::new(problem, "Give the routes a prefix of their own, such as /v1").at(at));
        }
    }
    errors
}

fn plain(path: &str) -> bool {
    let segment = |segment: &str| {
        !matches!(segment, "" | "." | "..")
            && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
    };
    path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(segment))
}
