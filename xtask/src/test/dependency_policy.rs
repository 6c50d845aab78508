//! The licences, bans, duplicates and sources of `deny.toml`, checked with `cargo tree` and `Cargo.lock` where cargo-deny
//! is not installed: compiling cargo-deny takes minutes. It reads the declared licence of a crate; cargo-deny also reads
//! its licence files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::console::{self, Console};
use crate::workspace::Workspace;

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// What `deny.toml` says.
#[derive(Debug, Default, PartialEq)]
struct Policy {
    targets: Vec<String>,
    allowed_licences: Vec<String>,
    /// `name@version`, the version being a prefix: a second version that is accepted.
    skipped_duplicates: Vec<String>,
    banned: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Package {
    name: String,
    version: String,
    licence: String,
}

/// A summary in one line, or everything that the policy refuses.
pub fn check(workspace: &Workspace, console: &mut Console) -> Result<String, String> {
    let read = |name: &str| {
        fs::read_to_string(workspace.root.join(name)).map_err(|cause| format!("cannot read {name}: {cause}"))
    };
    let policy = Policy::parse(&read("deny.toml")?)?;
    let mut tree = console::cargo(
        &["tree", "--locked", "--workspace", "--all-features", "--edges", "normal,build,dev"],
        &workspace.root,
    );
    tree.args(["--prefix", "none", "--no-dedupe", "--format", "{p}|{l}"]);
    for target in &policy.targets {
        tree.args(["--target", target]);
    }
    let packages = packages(&String::from_utf8_lossy(&console.capture(tree)?));
    let problems =
        [problems(&policy, &packages), unknown_sources(&read("Cargo.lock")?), wildcards(workspace)?].concat();
    if problems.is_empty() {
        Ok(format!("{} crates by `cargo tree`; cargo-deny is not installed", packages.len()))
    } else {
        Err(problems.join("\n"))
    }
}

impl Policy {
    fn parse(text: &str) -> Result<Policy, String> {
        let list = |section: &str, key: &str| {
            let values = list(text, section, key);
            if values.is_empty() { Err(format!("deny.toml: no values in `{key}` of [{section}]")) } else { Ok(values) }
        };
        Ok(Policy {
            targets: list("graph", "targets")?,
            allowed_licences: list("licenses", "allow")?,
            skipped_duplicates: list("bans", "skip")?,
            banned: list("bans", "deny")?,
        })
    }
}

/// The first string of each line of a list that has one value a line: a name, or a table that begins with one.
fn list(text: &str, section: &str, key: &str) -> Vec<String> {
    let (heading, opening) = (format!("[{section}]"), format!("{key} = ["));
    text.lines()
        .map(str::trim)
        .skip_while(|line| *line != heading)
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .skip_while(|line| *line != opening)
        .skip(1)
        .take_while(|line| *line != "]")
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split('"').nth(1).map(str::to_owned))
        .collect()
}

/// The crates from the registry, from lines such as `quote v1.0.47|MIT OR Apache-2.0`. Members of the workspace have
/// their path behind the version, and proc macros say so there.
fn packages(tree: &str) -> BTreeSet<Package> {
    let lines = tree.lines().filter_map(|line| line.split_once('|'));
    lines
        .filter(|(package, _)| !package.contains("(/"))
        .filter_map(|(package, licence)| {
            let mut words = package.split(' ');
            let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
            let licence = licence.trim_end_matches(" (*)").to_owned();
            Some(Package { name: name.to_owned(), version: version.to_owned(), licence })
        })
        .collect()
}

fn problems(policy: &Policy, packages: &BTreeSet<Package>) -> Vec<String> {
    let mut problems = Vec::new();
    for Package { name, version, licence } in packages {
        if !is_allowed(licence, &policy.allowed_licences) {
            problems.push(format!("{name} {version}: licence `{licence}` is not allowed by deny.toml"));
        }
        if policy.banned.contains(name) {
            problems.push(format!("{name} {version} is banned by deny.toml"));
        }
    }
    for licence in &policy.allowed_licences {
        if !packages.iter().any(|package| licence_ids(&package.licence).contains(&licence.as_str())) {
            problems.push(format!("deny.toml allows `{licence}`, which no dependency has"));
        }
    }
    let mut versions: BTreeMap<&str, Vec<&Package>> = BTreeMap::new();
    for package in packages {
        versions.entry(&package.name).or_default().push(package);
    }
    for (name, found) in versions {
        let counted: Vec<&str> = found
            .iter()
            .filter(|package| !policy.skipped_duplicates.iter().any(|skip| package.is(skip)))
            .map(|package| package.version.as_str())
            .collect();
        if counted.len() > 1 {
            problems.push(format!("{name} has several versions: {}", counted.join(", ")));
        }
    }
    for skip in &policy.skipped_duplicates {
        if !packages.iter().any(|package| package.is(skip)) {
            problems.push(format!("deny.toml skips `{skip}`, which is not in the tree"));
        }
    }
    problems
}

impl Package {
    /// Whether a `name@version` means this one; `1.2` means every `1.2.x`.
    fn is(&self, spec: &str) -> bool {
        let (name, version) = spec.split_once('@').unwrap_or((spec, ""));
        let rest = self.version.strip_prefix(version);
        self.name == name && rest.is_some_and(|rest| version.is_empty() || rest.is_empty() || rest.starts_with('.'))
    }
}

/// Whether an SPDX expression can be met with allowed licences. `/` is the old way to write `OR`; an exception (`WITH`)
/// makes another licence of the one before it. An expression that cannot be read is not allowed.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    any_of(&mut rest, allowed) == Some(true) && rest.is_empty()
}

fn any_of(words: &mut &[&str], allowed: &[String]) -> Option<bool> {
    let mut held = all_of(words, allowed)?;
    while let Some((&"OR", rest)) = words.split_first() {
        *words = rest;
        held |= all_of(words, allowed)?;
    }
    Some(held)
}

fn all_of(words: &mut &[&str], allowed: &[String]) -> Option<bool> {
    let mut held = one_of(words, allowed)?;
    while let Some((&"AND", rest)) = words.split_first() {
        *words = rest;
        held &= one_of(words, allowed)?;
    }
    Some(held)
}

fn one_of(words: &mut &[&str], allowed: &[String]) -> Option<bool> {
    let (first, rest) = words.split_first()?;
    *words = rest;
    match (*first, *words) {
        ("(", _) => {
            let held = any_of(words, allowed)?;
            let (_, rest) = words.split_first().filter(|(word, _)| **word == ")")?;
            *words = rest;
            Some(held)
        }
        (licence, ["WITH", exception, rest @ ..]) => {
            *words = rest;
            Some(allowed.contains(&format!("{licence} WITH {exception}")))
        }
        (licence, _) => Some(allowed.iter().any(|one| one == licence)),
    }
}

fn licence_ids(expression: &str) -> Vec<&str> {
    expression.split([' ', '/', '(', ')']).filter(|word| !matches!(*word, "" | "OR" | "AND" | "WITH")).collect()
}

fn unknown_sources(lock: &str) -> Vec<String> {
    let sources = lock.lines().filter_map(|line| line.strip_prefix("source = \""));
    let unknown: BTreeSet<&str> =
        sources.map(|source| source.trim_end_matches('"')).filter(|source| *source != REGISTRY).collect();
    unknown.into_iter().map(|source| format!("Cargo.lock: unknown source {source}")).collect()
}

/// Dependencies without a version.
fn wildcards(workspace: &Workspace) -> Result<Vec<String>, String> {
    let folder = workspace.root.join("crates");
    let entries = fs::read_dir(&folder).map_err(|cause| format!("cannot read {}: {cause}", folder.display()))?;
    let mut manifests: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path().join("Cargo.toml"))).collect();
    manifests.extend(["Cargo.toml", "bench/Cargo.toml", "xtask/Cargo.toml"].map(|name| workspace.root.join(name)));
    let mut found = Vec::new();
    for manifest in manifests {
        let text = fs::read_to_string(&manifest).unwrap_or_default();
        found.extend(
            text.lines().filter(|line| is_wildcard(line)).map(|line| format!("{}: {line}", manifest.display())),
        );
    }
    Ok(found)
}

fn is_wildcard(line: &str) -> bool {
    line.split('#').next().unwrap_or_default().replace(' ', "").contains("=\"*\"")
}

#[cfg(test)]
#[path = "dependency_policy_tests.rs"]
mod dependency_policy_tests;
