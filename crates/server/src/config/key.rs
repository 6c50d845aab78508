//! What is known about one key of the configuration.

use super::value_type::ValueType;

/// A key of the configuration.
pub struct ConfigKey {
    /// In a file: `table.name`.
    pub path: &'static str,
    /// In the environment.
    pub env: &'static str,
    pub default: DefaultValue,
    /// Its description for operators.
    pub about: &'static str,
    pub(super) value_type: ValueType,
}

/// The value of a key that is not set.
pub enum DefaultValue {
    /// As in the environment.
    Text(&'static str),
    /// Depends on other keys, as the text describes.
    Derived(&'static str),
}

impl ConfigKey {
    /// The table and the name in it; the table is empty for keys at the top.
    pub fn split(&self) -> (&'static str, &'static str) {
        self.path.split_once('.').unwrap_or(("", self.path))
    }
}
