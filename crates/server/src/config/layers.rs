//! Reads the defaults, the file and the environment, in that order, and reports unknown names. After a problem the rest is
//! still read.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use frontdesk_engine::model::contract_entry::ContractEntry;
use frontdesk_engine::model::nearest::{near, nearest};
use toml::{Table, Value};

use super::env::{FILE, PREFIX};
use super::finding::{ConfigError, Finding};
use super::key::{ConfigKey, DefaultValue};
use super::keys::KEYS;
use super::raw::RawConfig;
use super::show::ValueSource;
use super::value_type::{RawValue, type_name};

pub(super) struct Layers {
    pub(super) raw: RawConfig,
    pub(super) sources: BTreeMap<&'static str, ValueSource>,
    pub(super) problems: Vec<Finding>,
    /// Keys with a problem; `raw` has their defaults.
    pub(super) invalid: BTreeSet<&'static str>,
    pub(super) file: Option<PathBuf>,
}

/// What values are read with, besides their own text.
pub(super) struct Env<'a> {
    /// The contracts that can be mounted.
    pub(super) entries: &'a [ContractEntry],
    /// Environment variables that a file can name.
    pub(super) variables: BTreeMap<String, String>,
    /// The folder of the file, from which relative paths of intents start.
    pub(super) folder: PathBuf,
}

pub(super) fn read_layers(
    file: Option<&Path>,
    environment: impl Iterator<Item = (String, String)>,
    entries: &[ContractEntry],
) -> Layers {
    // A map, so that the last value of a name counts and the order of problems is stable.
    let (mut variables, others): (BTreeMap<String, String>, BTreeMap<String, String>) =
        environment.partition(|(name, _)| name.starts_with(PREFIX));
    let named_file = variables.remove(FILE).filter(|path| !path.is_empty()).map(PathBuf::from);
    let file = file.map(Path::to_path_buf).or(named_file);
    let folder = file.as_deref().and_then(Path::parent).unwrap_or(Path::new("")).to_owned();
    let env = Env { entries, variables: others, folder };
    let mut layers = Layers {
        raw: RawConfig::blank(),
        sources: BTreeMap::new(),
        problems: Vec::new(),
        invalid: BTreeSet::new(),
        file,
    };
    layers.defaults(&env);
    if let Some(path) = layers.file.clone() {
        layers.file(&path, &env);
    }
    layers.environment(&variables, &env);
    layers
}

impl Layers {
    fn defaults(&mut self, env: &Env<'_>) {
        for key in KEYS {
            match key.default {
                DefaultValue::Text(text) => {
                    self.accept(key, RawValue::Text(text), ValueSource::Default, "default", env)
                }
                DefaultValue::Derived(_) => {
                    self.sources.insert(key.path, ValueSource::Default);
                }
            }
        }
    }

    fn file(&mut self, path: &Path, env: &Env<'_>) {
        let place = path.display().to_string();
        let table = std::fs::read_to_string(path)
            .map_err(|error| {
                if error.kind() == ErrorKind::InvalidData {
                    ConfigError::new("the file is not valid UTF-8", "Save it as UTF-8, or name another file")
                } else {
                    ConfigError::new(format!("the file cannot be read: {error}"), "Check the path and who may read it")
                }
            })
            .and_then(|text| text.parse::<Table>().map_err(|error| not_toml(&text, &error)));
        match table {
            Ok(table) => self.table("", &table, &place, env),
            Err(error) => {
                // Any key may be in it, so checks across keys make no sense.
                self.invalid.extend(KEYS.iter().map(|key| key.path));
                self.problem(error.at_key(&place, ""));
            }
        }
    }

    /// One level of a file: `prefix` is empty at the top.
    fn table(&mut self, prefix: &str, table: &Table, place: &str, env: &Env<'_>) {
        for (name, value) in table {
            let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
            if let Some(key) = KEYS.iter().find(|key| key.path == path) {
                self.accept(key, RawValue::Toml(value), ValueSource::File, place, env);
            } else if prefix.is_empty() && tables().any(|table| table == path) {
                match value {
                    Value::Table(inner) => self.table(&path, inner, place, env),
                    Value::String(_)
                    | Value::Integer(_)
                    | Value::Float(_)
                    | Value::Boolean(_)
                    | Value::Datetime(_)
                    | Value::Array(_) => {
                        let problem = format!("it is {} instead of a table", type_name(value));
                        self.problem(
                            ConfigError::new(problem, format!("Write its keys under [{path}]")).at_key(&path, place),
                        );
                    }
                }
            } else {
                self.problem(unknown(&path, value, prefix).at_key(&path, place));
            }
        }
    }

    fn environment(&mut self, variables: &BTreeMap<String, String>, env: &Env<'_>) {
        for (name, value) in variables {
            let Some(key) = KEYS.iter().find(|key| key.env == name) else {
                let error = ConfigError::new("this variable does not exist", suggest_variable(name));
                self.problem(error.at_key(name, "environment"));
                continue;
            };
            if value.contains(char::REPLACEMENT_CHARACTER) {
                let error = ConfigError::new("it is not valid UTF-8", "Write it in Unicode");
                self.reject(key, vec![error], name);
            } else {
                self.accept(key, RawValue::Text(value), ValueSource::Environment, name, env);
            }
        }
    }

    fn accept(&mut self, key: &'static ConfigKey, raw: RawValue<'_>, source: ValueSource, place: &str, env: &Env<'_>) {
        match key.value_type.accept(&mut self.raw, raw, env) {
            Ok(()) => {
                self.sources.insert(key.path, source);
            }
            Err(errors) => self.reject(key, errors, place),
        }
    }

    fn reject(&mut self, key: &'static ConfigKey, errors: Vec<ConfigError>, place: &str) {
        self.invalid.insert(key.path);
        self.problems.extend(errors.into_iter().map(|error| error.at_key(key.path, place)));
    }

    fn problem(&mut self, finding: Finding) {
        self.problems.push(finding);
    }
}

/// Names the line without quoting it, because it may contain a secret.
fn not_toml(text: &str, error: &toml::de::Error) -> ConfigError {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let message = error.message().replace('\n', ", ");
    ConfigError::new(format!("line {line} is not TOML: {message}"), "Fix that line")
}

/// The common prefix is left out of the comparison.
fn suggest_variable(variable: &str) -> String {
    let rest = |name| str::strip_prefix(name, PREFIX).unwrap_or(name);
    match near(rest(variable), KEYS.iter().map(|key| key.env).chain([FILE]).map(rest)) {
        Some(right) => format!("Did you mean `{PREFIX}{right}`?"),
        None => {
            "Unset it. A variable is named after its key: `operator.listen` is `FRONTDESK_OPERATOR_LISTEN`".to_owned()
        }
    }
}

/// The names of the tables that hold keys.
fn tables() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|key| key.split().0).filter(|table| !table.is_empty())
}

/// A table is compared with tables and a list of tables with lists of tables, so that the suggestion has the same form.
fn unknown(path: &str, value: &Value, prefix: &str) -> ConfigError {
    let list_of_tables = value.as_array().is_some_and(|list| list.iter().any(Value::is_table));
    let (what, right) = if value.is_table() && prefix.is_empty() {
        ("table", nearest(path, tables().chain(["mount"])).map(bracketed))
    } else if list_of_tables {
        ("table", Some(bracketed("mount")))
    } else {
        ("key", nearest(path, KEYS.iter().map(|key| key.path)).map(str::to_owned))
    };
    ConfigError::new(format!("this {what} does not exist"), format!("Did you mean `{}`?", right.unwrap_or_default()))
}

fn bracketed(table: &str) -> String {
    if table == "mount" { format!("[[{table}]]") } else { format!("[{table}]") }
}
