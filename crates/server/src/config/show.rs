//! `config show`: every key with its value and where the value came from, written as TOML so that it can be used as a file.
//! A secret in a value shows as `***`.

use std::collections::BTreeMap;
use std::fmt;

use super::draft::Draft;
use super::keys::KEYS;

/// Where a value came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Default,
    File,
    Environment,
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Default => "default",
            Self::File => "file",
            Self::Environment => "environment",
        })
    }
}

/// One key as it is in effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    pub key: &'static str,
    /// As TOML.
    pub value: String,
    pub origin: Origin,
}

/// One line a key, `key = value  # origin`.
pub fn show(settings: &[Setting]) -> String {
    let lines: Vec<String> = settings.iter().map(|Setting { key, value, .. }| format!("{key} = {value}")).collect();
    let width =
        lines.iter().map(|line| line.chars().count()).filter(|width| *width <= WIDEST).max().unwrap_or_default();
    lines.iter().zip(settings).map(|(line, setting)| format!("{line:width$}  # {}\n", setting.origin)).collect()
}

pub(super) fn settings(draft: &Draft, origins: &BTreeMap<&'static str, Origin>) -> Vec<Setting> {
    let mut draft = draft.clone();
    KEYS.iter()
        .map(|key| Setting {
            key: key.path,
            value: key.kind.value(&mut draft).to_string(),
            origin: origins.get(key.path).copied().unwrap_or(Origin::Default),
        })
        .collect()
}

/// A longer line does not push every other comment to the right.
const WIDEST: usize = 60;
