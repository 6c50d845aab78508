//! Collects what the defaults, the file and the environment say, in that order, and every name in them that is not ours.
//! It stops at nothing: a problem is noted and the rest is read.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use frontdesk_engine::nearest::{near, nearest};
use frontdesk_engine::offer::Offer;
use toml::{Table, Value};

use super::draft::Draft;
use super::environment::{FILE, PREFIX};
use super::finding::{Finding, Wrong};
use super::keys::{Fallback, KEYS, Key};
use super::kind::{Raw, named};
use super::show::Origin;

pub(super) struct Gathered {
    pub(super) draft: Draft,
    pub(super) origins: BTreeMap<&'static str, Origin>,
    pub(super) problems: Vec<Finding>,
    /// Keys with a problem, whose value in the draft is not what was meant.
    pub(super) broken: BTreeSet<&'static str>,
    pub(super) file: Option<PathBuf>,
}

/// What comes from neither the file nor variables of ours.
pub(super) struct Outside<'a> {
    /// What can be mounted.
    pub(super) offers: &'a [Offer],
    /// Variables with names that a file chooses.
    pub(super) variables: BTreeMap<String, String>,
}

pub(super) fn gather(
    file: Option<&Path>,
    environment: impl Iterator<Item = (String, String)>,
    offers: &[Offer],
) -> Gathered {
    // A map, so that the last of a name counts and problems come in a stable order.
    let (mut variables, others): (BTreeMap<String, String>, BTreeMap<String, String>) =
        environment.partition(|(name, _)| name.starts_with(PREFIX));
    let outside = Outside { offers, variables: others };
    let named_file = variables.remove(FILE).filter(|path| !path.is_empty()).map(PathBuf::from);
    let mut gathered = Gathered {
        draft: Draft::blank(),
        origins: BTreeMap::new(),
        problems: Vec::new(),
        broken: BTreeSet::new(),
        file: file.map(Path::to_path_buf).or(named_file),
    };
    gathered.defaults(&outside);
    if let Some(path) = gathered.file.clone() {
        gathered.file(&path, &outside);
    }
    gathered.environment(&variables, &outside);
    gathered
}

impl Gathered {
    fn defaults(&mut self, outside: &Outside<'_>) {
        for key in KEYS {
            match key.default {
                Fallback::Text(text) => self.accept(key, Raw::Text(text), Origin::Default, "default", outside),
                Fallback::Derived(_) => {
                    self.origins.insert(key.path, Origin::Default);
                }
            }
        }
    }

    fn file(&mut self, path: &Path, outside: &Outside<'_>) {
        let place = path.display().to_string();
        let table = std::fs::read_to_string(path)
            .map_err(|error| match error.kind() == ErrorKind::InvalidData {
                true => Wrong::new("the file is no text in UTF-8", "Save it as one, or name another file"),
                false => Wrong::new(format!("the file cannot be read: {error}"), "Check the path and who may read it"),
            })
            .and_then(|text| text.parse::<Table>().map_err(|error| not_toml(&text, &error)));
        match table {
            Ok(table) => self.table("", &table, &place, outside),
            Err(wrong) => {
                // Any key may be in it, so no key can be judged by the others.
                self.broken.extend(KEYS.iter().map(|key| key.path));
                self.problem(wrong.found(&place, ""));
            }
        }
    }

    /// One level of a file: `prefix` is empty at the top.
    fn table(&mut self, prefix: &str, table: &Table, place: &str, outside: &Outside<'_>) {
        for (name, value) in table {
            let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
            if let Some(key) = KEYS.iter().find(|key| key.path == path) {
                self.accept(key, Raw::Toml(value), Origin::File, place, outside);
            } else if prefix.is_empty() && tables().any(|table| table == path) {
                match value {
                    Value::Table(inner) => self.table(&path, inner, place, outside),
                    Value::String(_)
                    | Value::Integer(_)
                    | Value::Float(_)
                    | Value::Boolean(_)
                    | Value::Datetime(_)
                    | Value::Array(_) => {
                        let wrong = format!("it is {} instead of a table", named(value));
                        self.problem(Wrong::new(wrong, format!("Write its keys under [{path}]")).found(&path, place));
                    }
                }
            } else {
                self.problem(unknown(&path, value, prefix).found(&path, place));
            }
        }
    }

    fn environment(&mut self, variables: &BTreeMap<String, String>, outside: &Outside<'_>) {
        for (name, value) in variables {
            let Some(key) = KEYS.iter().find(|key| key.env == name) else {
                let wrong = Wrong::new("this variable does not exist", meant(name));
                self.problem(wrong.found(name, "environment"));
                continue;
            };
            if value.contains(char::REPLACEMENT_CHARACTER) {
                let wrong = Wrong::new("it is not valid UTF-8", "Write it in Unicode");
                self.refuse(key, vec![wrong], name);
            } else {
                self.accept(key, Raw::Text(value), Origin::Environment, name, outside);
            }
        }
    }

    fn accept(&mut self, key: &'static Key, raw: Raw<'_>, origin: Origin, place: &str, outside: &Outside<'_>) {
        match key.kind.accept(&mut self.draft, raw, outside) {
            Ok(()) => {
                self.origins.insert(key.path, origin);
            }
            Err(wrongs) => self.refuse(key, wrongs, place),
        }
    }

    fn refuse(&mut self, key: &'static Key, wrongs: Vec<Wrong>, place: &str) {
        self.broken.insert(key.path);
        self.problems.extend(wrongs.into_iter().map(|wrong| wrong.found(key.path, place)));
    }

    fn problem(&mut self, finding: Finding) {
        self.problems.push(finding);
    }
}

/// Says where without showing the line, which may hold something secret.
fn not_toml(text: &str, error: &toml::de::Error) -> Wrong {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let message = error.message().replace('\n', ", ");
    Wrong::new(format!("line {line} is not TOML: {message}"), "Mend that line")
}

/// What all names begin with says nothing about which of them is near.
fn meant(variable: &str) -> String {
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

/// A table is compared with tables and a list of tables with lists of tables, so that the advice fits what was written.
fn unknown(path: &str, value: &Value, prefix: &str) -> Wrong {
    let list_of_tables = value.as_array().is_some_and(|list| list.iter().any(Value::is_table));
    let (what, right) = if value.is_table() && prefix.is_empty() {
        ("table", nearest(path, tables().chain(["mount"])).map(bracketed))
    } else if list_of_tables {
        ("table", Some(bracketed("mount")))
    } else {
        ("key", nearest(path, KEYS.iter().map(|key| key.path)).map(str::to_owned))
    };
    Wrong::new(format!("this {what} does not exist"), format!("Did you mean `{}`?", right.unwrap_or_default()))
}

fn bracketed(table: &str) -> String {
    if table == "mount" { format!("[[{table}]]") } else { format!("[{table}]") }
}
