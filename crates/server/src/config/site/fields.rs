//! Taking values out of a TOML table by name, and writing down every one that does not fit.

use frontdesk_engine::nearest::nearest;
use toml::{Table, Value};

use super::super::finding::ConfigError;
use super::super::value_type::type_name;
use super::keys::SiteKey;

const HEADER: &str = "Write its keys under a header of its own";

/// A table on the way to becoming settings.
pub(super) struct Fields<'a> {
    table: &'a Table,
    /// Where the table is inside the list of mounts, such as `[0].limits`.
    at: String,
    pub(super) errors: Vec<ConfigError>,
}

impl<'a> Fields<'a> {
    pub(super) fn of(table: &'a Table, at: impl Into<String>, keys: &[SiteKey]) -> Fields<'a> {
        let mut fields = Fields { table, at: at.into(), errors: Vec::new() };
        for name in table.keys().filter(|name| !keys.iter().any(|key| key.name == name.as_str())) {
            let right = nearest(name, keys.iter().map(|key| key.name)).unwrap_or_default();
            fields.wrong(name, "this key does not exist", format!("Did you mean `{right}`?"));
        }
        fields
    }

    pub(super) fn wrong(&mut self, name: &str, wrong: impl Into<String>, next: impl Into<String>) {
        self.errors.push(ConfigError::new(wrong, next).at(self.place(name)));
    }

    /// Where a value of this table is.
    pub(super) fn place(&self, name: &str) -> String {
        match name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-[]".contains(letter)) {
            true => format!("{}.{name}", self.at),
            false => format!("{}.{name:?}", self.at),
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.table.contains_key(name)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.table.keys().map(String::as_str)
    }

    pub(super) fn value(&self, name: &str) -> Option<&'a Value> {
        self.table.get(name)
    }

    /// Empty text is as good as none.
    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        let value = self.table.get(name)?;
        match value.as_str() {
            Some(text) => Some(text.to_owned()).filter(|text| !text.is_empty()),
            None => {
                self.wrong(name, format!("it is {} instead of text", type_name(value)), "Write it in quotes");
                None
            }
        }
    }

    /// One of these words, each with what it means.
    pub(super) fn word<T: Copy>(&mut self, name: &str, words: &[(&str, T)]) -> Option<T> {
        let given = self.text(name)?;
        let meant = words.iter().find(|(word, _)| *word == given).map(|(_, meaning)| *meaning);
        if meant.is_none() {
            let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.wrong(name, format!("{given:?} is not one of its words"), format!("Use {}", all.join(" or ")));
        }
        meant
    }

    pub(super) fn texts(&mut self, name: &str) -> Option<Vec<String>> {
        let next = "Write it in brackets, such as [\"…\"]";
        let value = self.table.get(name)?;
        match value.as_array() {
            Some(values) => {
                let texts: Option<Vec<String>> = values.iter().map(|value| value.as_str().map(str::to_owned)).collect();
                if texts.is_none() {
                    self.wrong(name, "not all of it is text", "Write each entry in quotes");
                }
                texts
            }
            None => {
                self.wrong(name, format!("it is {} instead of a list", type_name(value)), next);
                None
            }
        }
    }

    /// Patterns, in which `*` stands for any letters.
    pub(super) fn patterns(&mut self, name: &str) -> Option<Vec<String>> {
        let patterns = self.texts(name)?;
        let plain = |pattern: &String| !pattern.is_empty() && pattern.bytes().all(|byte| byte.is_ascii_graphic());
        if let Some(at) = patterns.iter().position(|pattern| !plain(pattern)) {
            let next = "Write letters without blanks, and * for any letters";
            self.wrong(&format!("{name}[{at}]"), "it is no pattern", next);
            return None;
        }
        Some(patterns)
    }

    pub(super) fn number(&mut self, name: &str, min: u32, max: u32) -> Option<u32> {
        let next = format!("Use a number from {min} to {max}");
        let value = self.table.get(name)?;
        let given = match value.as_integer() {
            Some(number) => number,
            None => {
                self.wrong(name, format!("it is {} instead of a number", type_name(value)), next);
                return None;
            }
        };
        let fitting = u32::try_from(given).ok().filter(|given| (min..=max).contains(given));
        if fitting.is_none() {
            let wrong = if given < i64::from(min) { "too small" } else { "too large" };
            self.wrong(name, format!("{given} is {wrong}"), next);
        }
        fitting
    }

    pub(super) fn table(&mut self, name: &str, keys: &[SiteKey]) -> Option<Fields<'a>> {
        let value = self.table.get(name)?;
        match value.as_table() {
            Some(table) => Some(Fields::of(table, self.place(name), keys)),
            None => {
                self.wrong(name, format!("it is {} instead of a table", type_name(value)), HEADER);
                None
            }
        }
    }

    /// A table whose keys anybody may choose.
    pub(super) fn free_table(&mut self, name: &str) -> Option<Fields<'a>> {
        let value = self.table.get(name)?;
        match value.as_table() {
            Some(table) => Some(Fields { table, at: self.place(name), errors: Vec::new() }),
            None => {
                self.wrong(name, format!("it is {} instead of a table", type_name(value)), HEADER);
                None
            }
        }
    }

    pub(super) fn merge(&mut self, other: Fields<'_>) {
        self.errors.extend(other.errors);
    }
}
