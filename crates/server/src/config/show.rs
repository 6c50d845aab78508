//! `config show`: every key with its value and the source of the value, written as TOML so that it can be used as a file.
//! A secret in a value shows as `***`.

use std::collections::BTreeMap;
use std::fmt;

use super::keys::KEYS;
use super::raw::RawConfig;

/// The source of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueSource {
    Default,
    File,
    Environment,
}

impl fmt::Display for ValueSource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Default => "default",
            Self::File => "file",
            Self::Environment => "environment",
        })
    }
}

/// One key with its value in effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownSetting {
    pub key: &'static str,
    /// As TOML.
    pub value: String,
    pub source: ValueSource,
}

/// One line a key, `key = value  # origin`.
pub fn show(settings: &[ShownSetting]) -> String {
    let lines: Vec<String> =
        settings.iter().map(|ShownSetting { key, value, .. }| format!("{key} = {value}")).collect();
    let width =
        lines.iter().map(|line| line.chars().count()).filter(|width| *width <= WIDEST).max().unwrap_or_default();
    lines.iter().zip(settings).map(|(line, setting)| format!("{line:width$}  # {}\n", setting.source)).collect()
}

pub(super) fn settings(raw: &RawConfig, sources: &BTreeMap<&'static str, ValueSource>) -> Vec<ShownSetting> {
    let mut raw = raw.clone();
    KEYS.iter()
        .map(|key| ShownSetting {
            key: key.path,
            value: key.value_type.value(&mut raw).to_string(),
            source: sources.get(key.path).copied().unwrap_or(ValueSource::Default),
        })
        .collect()
}

/// A longer line does not move every other comment to the right.
const WIDEST: usize = 60;
