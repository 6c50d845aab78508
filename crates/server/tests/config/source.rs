//! Configurations to load: from a file, from variables, from nothing.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use frontdesk::config::{ConfigErrors, LoadedConfig, load};
use frontdesk_engine::model::contract_entry::ContractEntry;

pub(crate) const CONTRACTS: &[ContractEntry] = &[ContractEntry::new("automotive"), ContractEntry::new("tomo")];
pub(crate) const MOUNT: &str = "[[mount]]\ncontract = \"automotive\"\npath = \"/mcp/automotive\"\n";

pub(crate) fn pairs(pairs: &[(&str, &str)]) -> impl Iterator<Item = (String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
}

pub(crate) fn from_nothing(environment: &[(&str, &str)]) -> Result<LoadedConfig, ConfigErrors> {
    load(None, pairs(environment), CONTRACTS)
}

pub(crate) fn from_file(text: &str, environment: &[(&str, &str)]) -> Result<LoadedConfig, ConfigErrors> {
    load(Some(&written(text)), pairs(environment), CONTRACTS)
}

/// A file with `text`, named after it so that tests that run at once do not share one.
pub(crate) fn written(text: &str) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("config-{:x}.toml", hasher.finish()));
    fs::write(&file, text).unwrap();
    file
}
