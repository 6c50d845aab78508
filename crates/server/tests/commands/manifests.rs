//! `tomo manifest`, the real binary: from the demo and from a configuration, without a server.

use std::fs;
use std::path::Path;

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::process::{CommandOutput, run_frontdesk};
use serde_json::Value;

fn example() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tomo.toml").display().to_string()
}

#[test]
fn t_160_the_demo_has_a_complete_manifest() {
    let folder = TestFolder::new();
    let CommandOutput { code, out, err } = run_frontdesk(folder.path(), &["tomo", "manifest", "--demo"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let begins = "manifest_version: \"v0.1.0\"\nbusiness:\n  name: \"Monsoon Mobility Demo\"\n  \
                  legal_name: \"Monsoon Mobility Demo Private Limited\"\n  tier: \"tier1\"\n  \
                  partner_id: \"demo_partner\"\ncompliance:\n  gstin: \"29ZZZCD0000Z1ZJ\"\n";
    assert!(out.starts_with(begins), "{out}");
    assert!(fs::read_dir(folder.path()).unwrap().next().is_none(), "nothing is written");
}

#[test]
fn a_manifest_is_written_into_a_file() {
    let folder = TestFolder::new();
    let (config, example) = (["tomo", "manifest", "--config"], example());
    let mount = ["--mount", "/mcp/hotel", "--format", "json", "--output", "manifest.json"];
    let arguments = [&config[..], &[example.as_str()], &mount[..]].concat();
    let CommandOutput { code, out, err } = run_frontdesk(folder.path(), &arguments);
    assert_eq!((code, out.as_str(), err.as_str()), (Some(0), "The manifest is in manifest.json.\n", ""));
    let written = fs::read_to_string(folder.path().join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(manifest["business"]["partner_id"], "hotel_example");
    assert_eq!(manifest["intents"].as_array().unwrap().len(), 1, "the other mount is another partner's");
}

#[test]
fn what_keeps_a_manifest_from_being_written_is_said() {
    let folder = TestFolder::new();
    let example = example();
    let manifest = |arguments: &[&str]| {
        let CommandOutput { code, err, .. } =
            run_frontdesk(folder.path(), &[&["tomo", "manifest"], arguments].concat());
        assert_eq!(code, Some(1));
        err
    };
    assert_eq!(manifest(&[]), "frontdesk: the configuration has no mount of the contract tomo\n");
    assert_eq!(
        manifest(&["--config", &example]),
        "frontdesk: the configuration has 2 partners (hotel_example, workshop_example): name a mount of one of them with \
         --mount\n"
    );
    assert_eq!(
        manifest(&["--config", &example, "--mount", "/mcp"]),
        "frontdesk: the contract tomo has no mount at /mcp\n"
    );
    let missing = manifest(&["--config", &example, "--mount", "/mcp/workshop"]);
    assert!(
        missing.starts_with(
            "frontdesk: the manifest is not complete:\n  legal_name is missing: set it under [mount.manifest]\n"
        ),
        "{missing}"
    );
}
