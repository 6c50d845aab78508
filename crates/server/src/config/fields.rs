//! Reads values of a `[[mount]]` table by name, and collects the errors.

use frontdesk_engine::model::nearest::nearest;
use toml::{Table, Value};

use super::finding::ConfigError;
use super::value_type::type_name;

/// One key of a `[[mount]]` table, or of a table in it.
pub(super) struct MountKey {
    pub(super) name: &'static str,
    pub(super) takes: &'static str,
    pub(super) default: &'static str,
    /// Its description for operators.
    pub(super) about: &'static str,
}

pub(super) const fn key(
    name: &'static str,
    takes: &'static str,
    default: &'static str,
    about: &'static str,
) -> MountKey {
    MountKey { name, takes, default, about }
}

const HEADER: &str = "Write its keys under a header of its own";

/// A table that is being read.
pub(super) struct Fields<'a> {
    table: &'a Table,
    /// The position of the table in the list of mounts, such as `[0].limits`.
    at: String,
    pub(super) errors: Vec<ConfigError>,
}

impl<'a> Fields<'a> {
    pub(super) fn of(table: &'a Table, at: impl Into<String>, keys: &[MountKey]) -> Fields<'a> {
        let mut fields = Fields { table, at: at.into(), errors: Vec::new() };
        for name in table.keys().filter(|name| !keys.iter().any(|key| key.name == name.as_str())) {
            let right = nearest(name, keys.iter().map(|key| key.name)).unwrap_or_default();
            fields.error(name, "this key does not exist", format!("Did you mean `{right}`?"));
        }
        fields
    }

    pub(super) fn error(&mut self, name: &str, problem: impl Into<String>, advice: impl Into<String>) {
        self.errors.push(ConfigError::new(problem, advice).at(self.path_of(name)));
    }

    /// The position of a value of this table.
    pub(super) fn path_of(&self, name: &str) -> String {
        if name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-[]".contains(letter)) {
            format!("{}.{name}", self.at)
        } else {
            format!("{}.{name:?}", self.at)
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

    /// None for empty text.
    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        let value = self.table.get(name)?;
        match value.as_str() {
            Some(text) => Some(text.to_owned()).filter(|text| !text.is_empty()),
            None => {
                self.error(name, format!("it is {} instead of text", type_name(value)), "Write it in quotes");
                None
            }
        }
    }

    /// One of these words, with their values.
    pub(super) fn one_of<T: Copy>(&mut self, name: &str, words: &[(&str, T)]) -> Option<T> {
        let given = self.text(name)?;
        let meant = words.iter().find(|(word, _)| *word == given).map(|(_, meaning)| *meaning);
        if meant.is_none() {
            let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.error(name, format!("{given:?} is not an accepted value"), format!("Use {}", all.join(" or ")));
        }
        meant
    }

    pub(super) fn texts(&mut self, name: &str) -> Option<Vec<String>> {
        let advice = "Write it in brackets, such as [\"…\"]";
        let value = self.table.get(name)?;
        match value.as_array() {
            Some(values) => {
                let texts: Option<Vec<String>> = values.iter().map(|value| value.as_str().map(str::to_owned)).collect();
                if texts.is_none() {
                    self.error(name, "not all of it is text", "Write each entry in quotes");
                }
                texts
            }
            None => {
                self.error(name, format!("it is {} instead of a list", type_name(value)), advice);
                None
            }
        }
    }

    pub(super) fn flag(&mut self, name: &str) -> Option<bool> {
        let given = self.table.get(name)?.as_bool();
        if given.is_none() {
            self.error(name, "it is neither true nor false", "Write true or false without quotes");
        }
        given
    }

    /// A whole number or one with a point.
    pub(super) fn decimal(&mut self, name: &str) -> Option<f64> {
        let value = self.table.get(name)?;
        // Whole numbers that are meant here are small.
        let whole = || value.as_integer().and_then(|number| i32::try_from(number).ok()).map(f64::from);
        let given = value.as_float().or_else(whole);
        if given.is_none() {
            let problem = format!("it is {} instead of a number", type_name(value));
            self.error(name, problem, "Write a number such as 0.5, without quotes");
        }
        given
    }

    /// Patterns, in which `*` stands for any characters.
    pub(super) fn patterns(&mut self, name: &str) -> Option<Vec<String>> {
        let patterns = self.texts(name)?;
        let plain = |pattern: &String| !pattern.is_empty() && pattern.bytes().all(|byte| byte.is_ascii_graphic());
        if let Some(at) = patterns.iter().position(|pattern| !plain(pattern)) {
            let advice = "Write characters without blanks, and * for any characters";
            self.error(&format!("{name}[{at}]"), "it is not a pattern", advice);
            return None;
        }
        Some(patterns)
    }

    pub(super) fn number(&mut self, name: &str, min: u32, max: u32) -> Option<u32> {
        let advice = format!("Use a number from {min} to {max}");
        let value = self.table.get(name)?;
        let given = match value.as_integer() {
            Some(number) => number,
            None => {
                self.error(name, format!("it is {} instead of a number", type_name(value)), advice);
                return None;
            }
        };
        let fitting = u32::try_from(given).ok().filter(|given| (min..=max).contains(given));
        if fitting.is_none() {
            let problem = if given < i64::from(min) { "too small" } else { "too large" };
            self.error(name, format!("{given} is {problem}"), advice);
        }
        fitting
    }

    pub(super) fn table(&mut self, name: &str, keys: &[MountKey]) -> Option<Fields<'a>> {
        let value = self.table.get(name)?;
        match value.as_table() {
            Some(table) => Some(Fields::of(table, self.path_of(name), keys)),
            None => {
                self.error(name, format!("it is {} instead of a table", type_name(value)), HEADER);
                None
            }
        }
    }

    /// A table with arbitrary keys.
    pub(super) fn free_table(&mut self, name: &str) -> Option<Fields<'a>> {
        let value = self.table.get(name)?;
        match value.as_table() {
            Some(table) => Some(Fields { table, at: self.path_of(name), errors: Vec::new() }),
            None => {
                self.error(name, format!("it is {} instead of a table", type_name(value)), HEADER);
                None
            }
        }
    }

    pub(super) fn merge(&mut self, other: Fields<'_>) {
        self.errors.extend(other.errors);
    }
}
