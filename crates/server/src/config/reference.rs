//! The reference and the example with every key, both generated from the table so that neither can be out of date.

use frontdesk_engine::model::contract_entry::ContractEntry;

use super::keys::{ConfigKey, DefaultValue, KEYS};
use super::layers::read_layers;
use super::site::{LIMITS, SERVER, SITE, SiteKey};
use super::{MountConfig, raw};
use crate::app::RESTART_KEYS;

/// The text of `docs/configuration.md`.
pub fn reference() -> String {
    let rows: String = KEYS.iter().map(row).collect();
    let restart: Vec<String> = RESTART_KEYS.iter().map(|key| format!("`{key}`")).collect();
    let site = [("", SITE), (SERVERS, SERVER), (SITE_LIMITS, LIMITS)]
        .map(|(title, keys)| format!("{title}{KEYS_OF_A_SITE}{}", keys.iter().map(site_row).collect::<String>()));
    format!("{INTRODUCTION}{rows}\n{SITES}{}\n{RELOAD}\n{}.\n", site.concat(), restart.join(", "))
}

/// The text of `examples/all-keys.toml`: every key, explained, with its default.
pub fn example(entries: &[ContractEntry]) -> String {
    let layers = read_layers(None, std::iter::empty(), entries);
    let mut raw = raw::resolve(&layers, entries).raw;
    let mut text =
        String::from("# Every key of Frontdesk with its default. A file needs only what differs, and its mounts.\n");
    let mut header = "";
    for key in KEYS {
        let (table, name) = key.split();
        text.push('\n');
        if table != header && !table.is_empty() {
            text.push_str(&format!("[{table}]\n"));
        }
        header = table;
        text.push_str(&comment(key.about));
        text.push_str(&format!("# {}: {}\n", key.env, key.value_type.describe()));
        if name == "mount" {
            let mounts = raw.mounts.take().unwrap_or_default();
            text.extend(mounts.iter().map(mounted));
        } else {
            text.push_str(&format!("{name} = {}\n", key.value_type.value(&mut raw)));
        }
    }
    text
}

const INTRODUCTION: &str = "\
# Configuration

<!-- Generated from the table of keys in crates/server/src/config/keys.rs by a test; edit there. -->

`frontdesk serve --config frontdesk.toml` reads one TOML file; without `--config` the variable `FRONTDESK_CONFIG` may name
it. Every key can also be set by the variable beside it. The environment outranks the file, and the file outranks the
default. In a variable, entries of a list are separated by commas.

`frontdesk config check` reports all problems at once, with what to do about them; `frontdesk config show` prints
every key with its value in effect and its source. A name that is not in this table is refused, in the
file and in the environment. [all-keys.toml](../examples/all-keys.toml) has every key with its default.

| key | variable | takes | default | meaning |
|---|---|---|---|---|
";

const SITES: &str = "\
## A mount that reads a site

A contract that serves a foreign database, such as a CMS site, has more keys in its `[[mount]]` table. They can be set in
a file only. docs/guides/emcp.md shows the way from the database of a site to a first call.

";

const SERVERS: &str = "\nEach `[[mount.server]]`:\n\n";
const SITE_LIMITS: &str = "\n`[mount.limits]` and `[mount.server.limits]`:\n\n";
const KEYS_OF_A_SITE: &str = "| key | takes | default | meaning |\n|---|---|---|---|\n";

const RELOAD: &str = "\
## While the server runs

On SIGHUP a running server reloads its file. An invalid file changes nothing, and the log says why; a valid one takes
effect completely with the next call, and the log names the keys that changed. The environment is that of the start.
Changes of these keys need a restart, which the log reports:";

fn row(key: &ConfigKey) -> String {
    let default = match key.default {
        DefaultValue::Text("") => "empty".to_owned(),
        DefaultValue::Text(text) => format!("`{text}`"),
        DefaultValue::Derived(words) => words.to_owned(),
    };
    format!("| `{}` | `{}` | {} | {default} | {} |\n", key.path, key.env, key.value_type.describe(), key.about)
}

fn site_row(SiteKey { name, takes, default, about }: &SiteKey) -> String {
    format!("| `{name}` | {takes} | {default} | {about} |\n")
}

fn mounted(MountConfig { contract, path, .. }: &MountConfig) -> String {
    format!("[[mount]]\ncontract = \"{contract}\"\npath = \"{path}\"\n")
}

/// A comment whose lines end before the 100th column.
fn comment(about: &str) -> String {
    let mut text = String::from("#");
    let mut column = 1;
    for word in about.split_whitespace() {
        if column + 1 + word.chars().count() > 99 {
            text.push_str("\n#");
            column = 1;
        }
        text.push(' ');
        text.push_str(word);
        column += 1 + word.chars().count();
    }
    text.push('\n');
    text
}
