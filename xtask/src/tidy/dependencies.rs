//! Which crate may depend on which. A crate boundary exists where a dependency must be impossible, and these lists
//! enforce it; dev-dependencies may cross them, because tests are not shipped.

use super::Finding;
use super::tree::{File, Tree};

/// Folder under `crates/`, and the members of this workspace that its manifest may name.
const MAY_DEPEND_ON: &[(&str, &[&str])] = &[
    ("wire", &[]),
    ("engine", &["frontdesk-wire"]),
    // Runs in the compiler only.
    ("derive", &[]),
    ("contracts", &["frontdesk-derive", "frontdesk-engine", "frontdesk-wire"]),
    ("store", &["frontdesk-engine"]),
    ("identity", &["frontdesk-engine", "frontdesk-wire"]),
    ("probe", &["frontdesk-wire"]),
    (
        "server",
        &[
            "frontdesk-wire",
            "frontdesk-engine",
            "frontdesk-contracts",
            "frontdesk-store",
            "frontdesk-identity",
            "frontdesk-cms-fixture",
            "frontdesk-probe",
        ],
    ),
    // A made-up CMS site for tests, benches and the demo: SQL text only.
    ("cms-fixture", &[]),
    // For the MCP conformance suite only; nothing may depend on it.
    (
        "conformance-fixture",
        &["frontdesk", "frontdesk-wire", "frontdesk-engine", "frontdesk-contracts", "frontdesk-identity"],
    ),
    // For tests and the bench only: it is a dev-dependency of the others.
    ("testkit", &["frontdesk-wire", "frontdesk-engine", "frontdesk-store", "frontdesk-cms-fixture"]),
];

/// What would let the engine open a database or a connection by itself.
const NOT_IN_ENGINE: &[&str] = &[
    "rusqlite",
    "tokio-postgres",
    "mysql_async",
    "sqlx",
    "hyper",
    "hyper-util",
    "http",
    "http-body-util",
    "axum",
    "reqwest",
    "rustls",
    "tokio-rustls",
];

pub fn point_one_way(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in manifests(tree) {
        let folder = file.in_crate().map_or("", |(folder, _)| folder);
        let Some((_, allowed)) = MAY_DEPEND_ON.iter().find(|(name, _)| *name == folder) else {
            let message = "a new crate: decide in xtask/src/tidy/dependencies.rs what it may depend on";
            findings.push(Finding::in_file(&file.path, message));
            continue;
        };
        for (number, name) in dependencies(&file.text) {
            let member = name == "frontdesk" || name.starts_with("frontdesk-");
            if member && !allowed.contains(&name.as_str()) {
                findings.push(Finding::at(&file.path, number, format!("`{folder}` must not depend on `{name}`")));
            }
        }
    }
    findings
}

pub fn engine_reaches_no_sql_or_http(tree: &Tree) -> Vec<Finding> {
    let Some(file) = tree.file("crates/engine/Cargo.toml") else {
        return Vec::new();
    };
    dependencies(&file.text)
        .into_iter()
        .filter(|(_, name)| NOT_IN_ENGINE.contains(&name.as_str()))
        .map(|(number, name)| {
            let message = format!("`{name}`: the engine reaches databases and networks through its ports only");
            Finding::at(&file.path, number, message)
        })
        .collect()
}

fn manifests(tree: &Tree) -> impl Iterator<Item = &File> {
    tree.inside("crates/", "/Cargo.toml").filter(|file| file.in_crate().is_some_and(|(_, rest)| rest == "Cargo.toml"))
}

/// The names in every dependency table but the one for tests, each with its line. A renamed package gives both names.
fn dependencies(manifest: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut inside = false;
    for (index, line) in manifest.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if let Some(header) = line.strip_prefix('[') {
            let parts: Vec<&str> = header.trim_end_matches(']').split('.').map(bare).collect();
            let table = parts.iter().position(|part| matches!(*part, "dependencies" | "build-dependencies"));
            inside = table.is_some();
            // `[dependencies.name]` names its crate in the header.
            if let Some(name) = table.and_then(|at| parts.get(at + 1)) {
                found.push((index + 1, (*name).to_owned()));
            }
        } else if let Some((key, value)) = line.split_once('=').filter(|_| inside) {
            found.push((index + 1, bare(key.split('.').next().unwrap_or_default()).to_owned()));
            let package =
                if bare(key) == "package" { Some(value) } else { value.split_once("package").map(|(_, rest)| rest) };
            if let Some(name) = package.and_then(|rest| rest.split('"').nth(1)) {
                found.push((index + 1, name.to_owned()));
            }
        }
    }
    found
}

fn bare(word: &str) -> &str {
    word.trim().trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(findings: Vec<Finding>) -> Vec<String> {
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_dependency_against_the_arrow_is_found_however_it_is_spelled() {
        for manifest in [
            "[dependencies]\nfrontdesk-store.workspace = true",
            "[dependencies]\nfrontdesk-store = { path = \"../store\" }",
            "[dependencies]\nother = { package = \"frontdesk-store\", path = \"../store\" }",
            "[package]\n[dependencies.frontdesk-store]\npath = \"../store\"",
            "[dependencies.other]\npackage = \"frontdesk-store\"",
            "\n[target.'cfg(unix)'.dependencies]\nfrontdesk-store.workspace = true",
            "[build-dependencies]\nfrontdesk-store.workspace = true",
        ] {
            let tree = Tree::of(&[("crates/contracts/Cargo.toml", manifest)]);
            let found = point_one_way(&tree);
            assert_eq!(found.len(), 1, "{manifest}");
            assert_eq!(found[0].message, "`contracts` must not depend on `frontdesk-store`");
        }
    }

    #[test]
    fn the_arrows_of_the_design_and_dev_dependencies_are_allowed() {
        let tree = Tree::of(&[
            (
                "crates/contracts/Cargo.toml",
                "[dependencies]\nfrontdesk-engine.workspace = true\nserde.workspace = true",
            ),
            ("crates/engine/Cargo.toml", "[dev-dependencies]\nfrontdesk-store.workspace = true"),
            ("crates/server/Cargo.toml", "[dependencies]\nfrontdesk-identity.workspace = true"),
        ]);
        assert_eq!(point_one_way(&tree), []);
    }

    #[test]
    fn a_crate_that_nobody_placed_is_found() {
        let tree = Tree::of(&[("crates/extra/Cargo.toml", "[package]")]);
        assert_eq!(
            messages(point_one_way(&tree)),
            ["crates/extra/Cargo.toml: a new crate: decide in xtask/src/tidy/dependencies.rs what it may depend on"]
        );
    }

    #[test]
    fn a_database_or_http_crate_in_the_engine_is_found() {
        let tree = Tree::of(&[(
            "crates/engine/Cargo.toml",
            "[dependencies]\nserde = \"1\"\nhyper.workspace = true\nrusqlite = \"0.41\"\n[dev-dependencies]\nhttp = \"1\"",
        )]);
        assert_eq!(
            messages(engine_reaches_no_sql_or_http(&tree)),
            [
                "crates/engine/Cargo.toml:3: `hyper`: the engine reaches databases and networks through its ports only",
                "crates/engine/Cargo.toml:4: `rusqlite`: the engine reaches databases and networks through its ports only",
            ]
        );
    }
}
