//! The prefix of a mount's REST routes.

use frontdesk_engine::model::contract_entry::ContractEntry;

use super::{load, pairs, written};

const ENTRIES: &[ContractEntry] = &[ContractEntry::new("shop").with_rest("/v1"), ContractEntry::new("other")];

fn prefixes(file: &str) -> Result<Vec<Option<String>>, String> {
    let loaded = load(Some(&written(file)), pairs(&[]), ENTRIES);
    loaded
        .map(|loaded| loaded.config.mounts.into_iter().map(|mount| mount.rest).collect())
        .map_err(|error| error.to_string())
}

fn mount(contract: &str, path: &str, rest: &str) -> String {
    format!("[[mount]]\ncontract = \"{contract}\"\npath = \"{path}\"\n{rest}\n")
}

#[test]
fn the_first_mount_of_a_contract_has_its_prefix() {
    let file = mount("other", "/o", "") + &mount("shop", "/a", "") + &mount("shop", "/b", "");
    assert_eq!(prefixes(&file).unwrap(), [None, Some("/v1".to_owned()), Some("/b/v1".to_owned())]);
    let file = mount("shop", "/a", "rest = \"/api\"") + &mount("shop", "/b", "rest = \"\"");
    assert_eq!(prefixes(&file).unwrap(), [Some("/api".to_owned()), None]);
}

#[test]
fn nothing_else_is_below_a_prefix() {
    for (file, wrong) in [
        (
            mount("shop", "/v1/shop", ""),
            "mount[0].rest (FILE): /v1/shop is below /v1, where the routes of this mount are",
        ),
        (
            mount("shop", "/a", "rest = \"/a\""),
            "mount[0].rest (FILE): /a is below /a, where the routes of this mount are",
        ),
        (
            mount("shop", "/a", "rest = \"/r\"") + &mount("shop", "/b", "rest = \"/r/x\""),
            "mount[0].rest (FILE): /r/x is below /r, where the routes of this mount are",
        ),
        (
            mount("shop", "/a", "rest = \"/.well-known\""),
            "mount[0].rest (FILE): /.well-known is below /.well-known, where the routes of this mount are",
        ),
        (mount("shop", "/a", "rest = \"v1\""), "mount[0].rest (FILE): \"v1\" is not a path that can be mounted"),
    ] {
        let problems = prefixes(&file).unwrap_err();
        assert!(problems.contains(&wrong.replace("FILE", "")[..wrong.find(" (").unwrap()]), "{problems}");
        assert!(problems.contains(wrong.split(": ").nth(1).unwrap()), "{problems}");
    }
}
