//! Which contract answers at which path. The names of contracts come in from outside: none is known here.

use frontdesk_engine::nearest::nearest;
use toml::Value;

use super::finding::Wrong;

/// One contract at one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    pub contract: String,
    /// Begins with `/`, does not end with it, and needs no escaping in a URL.
    pub path: String,
}

impl Mount {
    pub(super) fn usual(contract: &str) -> Self {
        Self { contract: contract.to_owned(), path: format!("/mcp/{contract}") }
    }
}

/// Reads `contract=path,contract=path`, the spelling of the environment.
pub(super) fn from_text(text: &str, contracts: &[&str]) -> Result<Vec<Mount>, Vec<Wrong>> {
    let mut mounts = Vec::new();
    for (index, part) in text.split(',').map(str::trim).filter(|part| !part.is_empty()).enumerate() {
        let (contract, path) = part
            .split_once('=')
            .ok_or_else(|| vec![Wrong::new(format!("{part:?} is not a contract and a path"), advice(contracts))])?;
        mounts.push((index, Mount { contract: contract.trim().to_owned(), path: path.trim().to_owned() }));
    }
    check(mounts, Vec::new(), contracts)
}

/// Reads the `[[mount]]` tables of a file.
pub(super) fn from_toml(value: &Value, contracts: &[&str]) -> Result<Vec<Mount>, Vec<Wrong>> {
    let tables = value.as_array().ok_or_else(|| {
        vec![Wrong::new(format!("it is {} instead of a list of tables", super::kind::named(value)), HEADER)]
    })?;
    let mut wrongs = Vec::new();
    let mut mounts = Vec::new();
    for (index, table) in tables.iter().enumerate() {
        let Some(table) = table.as_table() else {
            wrongs.push(Wrong::new("it is not a table", HEADER).at(format!("[{index}]")));
            continue;
        };
        for name in table.keys().filter(|name| !FIELDS.contains(&name.as_str())) {
            let right = nearest(name, FIELDS.into_iter()).unwrap_or_default();
            wrongs.push(
                Wrong::new("this key does not exist", format!("Did you mean `{right}`?"))
                    .at(format!("[{index}].{name}")),
            );
        }
        let mut field = |name: &str| match table.get(name).map(Value::as_str) {
            Some(Some(text)) => Some(text.to_owned()),
            Some(None) => {
                wrongs.push(Wrong::new("it is not text", "Write it in quotes").at(format!("[{index}].{name}")));
                None
            }
            None => {
                let next = format!("Name the contract and its path; the contracts are: {}", contracts.join(", "));
                wrongs.push(Wrong::new("it is missing", next).at(format!("[{index}].{name}")));
                None
            }
        };
        if let (Some(contract), Some(path)) = (field("contract"), field("path")) {
            mounts.push((index, Mount { contract, path }));
        }
    }
    check(mounts, wrongs, contracts)
}

/// What to write so that something is mounted.
pub(super) fn advice(contracts: &[&str]) -> String {
    let contract = contracts.first().copied().unwrap_or("NAME");
    format!(
        "Write [[mount]] with contract = \"{contract}\" and path = \"/mcp/{contract}\", or FRONTDESK_MOUNT={contract}=/mcp/{contract}"
    )
}

const FIELDS: [&str; 2] = ["contract", "path"];
const HEADER: &str = "Write each mount under its own [[mount]] header";
/// Paths that every Frontdesk answers itself.
const TAKEN: [&str; 4] = ["/token", "/revoke", "/authorize", "/.well-known"];

fn check(mounts: Vec<(usize, Mount)>, mut wrongs: Vec<Wrong>, contracts: &[&str]) -> Result<Vec<Mount>, Vec<Wrong>> {
    for (index, Mount { contract, path }) in &mounts {
        if !contracts.contains(&contract.as_str()) {
            let right = nearest(contract, contracts.iter().copied()).unwrap_or_default();
            let wrong = format!("{contract:?} is not a contract of this version");
            wrongs.push(Wrong::new(wrong, format!("Did you mean `{right}`?")).at(format!("[{index}].contract")));
        }
        if !plain(path) {
            let wrong = format!("{path:?} is not a path that can be mounted");
            let next = "Begin with /, and join letters, digits, - . _ ~ by single slashes";
            wrongs.push(Wrong::new(wrong, next).at(format!("[{index}].path")));
        } else if TAKEN.iter().any(|taken| path == taken || path.starts_with(&format!("{taken}/"))) {
            let wrong = format!("Frontdesk itself answers at {path}");
            wrongs.push(
                Wrong::new(wrong, format!("Choose another path, such as /mcp/{contract}"))
                    .at(format!("[{index}].path")),
            );
        } else if mounts.iter().any(|(other, mount)| other < index && mount.path == *path) {
            let wrong = format!("{path} is mounted already");
            wrongs.push(Wrong::new(wrong, "Give each mount its own path").at(format!("[{index}].path")));
        }
    }
    if mounts.is_empty() && wrongs.is_empty() {
        wrongs.push(Wrong::new("nothing is mounted", advice(contracts)));
    }
    if wrongs.is_empty() { Ok(mounts.into_iter().map(|(_, mount)| mount).collect()) } else { Err(wrongs) }
}

fn plain(path: &str) -> bool {
    let segment = |segment: &str| {
        !matches!(segment, "" | "." | "..")
            && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
    };
    path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(segment))
}
