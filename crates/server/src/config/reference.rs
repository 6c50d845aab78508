//! The reference and the example with every key, both generated from the table so that neither can be out of date.

use frontdesk_contracts::partner;
use frontdesk_engine::model::contract_entry::{ContractEntry, Requires};

use super::fields::MountKey;
use super::key::{ConfigKey, DefaultValue};
use super::keys::KEYS;
use super::layers::read_layers;
use super::partner::{AUTH, COMPLETION, MANIFEST, NOTIFICATIONS, PARTNER, PARTNER_MOUNT};
use super::site::{LIMITS, SERVER, SITE};
use super::{MountConfig, raw};
use crate::app::RESTART_KEYS;

/// The text of `docs/configuration.md`.
pub fn reference() -> String {
    let rows: String = KEYS.iter().map(row).collect();
    let restart: Vec<String> = RESTART_KEYS.iter().map(|key| format!("`{key}`")).collect();
    let tables = |tables: &[(&str, &[MountKey])]| -> String {
        let table = |(title, keys): &(&str, &[MountKey])| {
            format!("{title}{KEYS_OF_A_MOUNT}{}", keys.iter().map(mount_row).collect::<String>())
        };
        tables.iter().map(table).collect()
    };
    let site = tables(&[("", SITE), (SERVERS, SERVER), (SITE_LIMITS, LIMITS)]);
    let partner = tables(&[
        ("", PARTNER_MOUNT),
        (PARTNER_TABLE, PARTNER),
        (AUTH_TABLE, AUTH),
        (NOTIFICATIONS_TABLE, NOTIFICATIONS),
        (COMPLETION_TABLE, COMPLETION),
        (MANIFEST_TABLE, MANIFEST),
    ]);
    let guide = partner::GUIDE;
    format!(
        "{INTRODUCTION}{rows}\n{SITES}{site}\n{PARTNERS} {guide} is the guide.\n\n{partner}\n{PARTNER_CHECKS}\n{RELOAD}\n{}.\n",
        restart.join(", ")
    )
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
            let partners = entries.iter().filter(|entry| matches!(entry.requires, Requires::Partner));
            text.extend(partners.map(partner_mount));
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
const KEYS_OF_A_MOUNT: &str = "| key | takes | default | meaning |\n|---|---|---|---|\n";

const PARTNERS: &str = "\
## A mount with a partner

A contract by which one party calls many businesses has more keys in its `[[mount]]` table: what the business says of
itself, and the credentials with which that party calls. They can be set in a file only.";

const PARTNER_TABLE: &str = "\n`[mount.partner]`:\n\n";
const COMPLETION_TABLE: &str = "\n`[mount.completion]`:\n\n";
const AUTH_TABLE: &str =
    "\n`[mount.auth]`, of which at least one key must be set; a way to authenticate that is left out is off:\n\n";

const MANIFEST_TABLE: &str = "\n`[mount.manifest]`, from which the command `manifest` of the contract is written. A mount is served without it:\n\n";
const NOTIFICATIONS_TABLE: &str = "\n`[mount.notifications]`:\n\n";

const PARTNER_CHECKS: &str = "\
A file of tokens or keys has one secret of at least 32 characters a line; with several lines each of them is accepted,
so that a secret can be replaced without an interruption: add the new one, reload, let the caller change, remove the old
one, reload. The file must not be readable by everyone. Such a mount accepts no OAuth token, and no token is issued for it.

While any mount pins a certificate, the TLS listener asks every client for one and requires it of nobody. A certificate
counts only where it is pinned, by the SHA-256 of its DER form, and only for a request that has no other credential.
Its issuer and its dates are not checked: remove it here to end its use.

The contract counts in one currency, and the `tenant` must have it in its profile: `frontdesk tenant update ID --currency`.
A tenant that does not exist is created with it at the start. The start refuses another currency, and so does
`frontdesk config check` if there is data: it asks the running server, or else opens the database as a start would.

The keys of notifications are secrets in the same sense, and are replaced in the same way.

`frontdesk maintenance on` closes a mount while the server runs.
";

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

fn mount_row(MountKey { name, takes, default, about }: &MountKey) -> String {
    format!("| `{name}` | {takes} | {default} | {about} |\n")
}

fn mounted(MountConfig { contract, path, .. }: &MountConfig) -> String {
    format!("[[mount]]\ncontract = \"{contract}\"\npath = \"{path}\"\n")
}

/// Nobody has a default partner, so its keys are comments.
fn partner_mount(entry: &ContractEntry) -> String {
    let mut text = format!("\n{}# [[mount]]\n# contract = \"{}\"\n", comment(PARTNER_EXAMPLE), entry.name);
    let tables = [
        ("", PARTNER_MOUNT),
        ("# [mount.partner]\n", PARTNER),
        ("# [mount.auth]\n", AUTH),
        ("# [mount.notifications]\n", NOTIFICATIONS),
        ("# [mount.manifest]\n", MANIFEST),
        ("# [mount.completion]\n", COMPLETION),
    ];
    for (header, keys) in tables {
        text.push_str(header);
        for MountKey { name, takes, default, .. } in
            keys.iter().filter(|key| key.takes != "table" && key.name != "contract")
        {
            let default = if default.is_empty() { String::new() } else { format!(", by default {default}") };
            text.push_str(&format!("# {name} = …  # {takes}{default}\n"));
        }
    }
    text
}

const PARTNER_EXAMPLE: &str = "The keys of a mount with a partner; docs/configuration.md explains them, and a file beside this one is an example.";

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
