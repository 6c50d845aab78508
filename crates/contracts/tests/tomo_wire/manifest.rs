//! The manifest: what it has, that it says the same as `_meta.tomo`, and that YAML and JSON are the same document.

use std::io::Write as _;
use std::process::{Command, Stdio};

use frontdesk_contracts::demo;
use frontdesk_contracts::partner::{
    ManifestFormat, ManifestMount, ManifestSettings, PartnerSettings, PartnerSource, partner_manifest,
};
use frontdesk_contracts::tomo;
use serde_json::{Map, Value, json};

use crate::support::{HOTEL, WireDesk, partner};

fn demo_mounts() -> Vec<PartnerSettings> {
    demo::partner().unwrap().mounts.into_iter().map(|mount| mount.settings).collect()
}

fn manifest_in(format: ManifestFormat, settings: &[PartnerSettings]) -> Result<String, Vec<String>> {
    let paths: Vec<String> = (0..settings.len()).map(|at| format!("/mcp/{at}")).collect();
    let mounts: Vec<ManifestMount<'_>> =
        paths.iter().zip(settings).map(|(path, settings)| ManifestMount { path, settings }).collect();
    Ok(partner_manifest(tomo::ID, &mounts).unwrap()?.render(format))
}

fn manifest(settings: &[PartnerSettings]) -> Result<Value, Vec<String>> {
    Ok(serde_json::from_str(&manifest_in(ManifestFormat::Json, settings)?).unwrap())
}

#[test]
fn t_160_the_manifest_has_its_version_and_the_business() {
    let manifest = manifest(&demo_mounts()).unwrap();
    assert_eq!(manifest["manifest_version"], "v0.1.0");
    assert_eq!(
        manifest["business"],
        json!({
            "name": "Monsoon Mobility Demo",
            "legal_name": "Monsoon Mobility Demo Private Limited",
            "tier": "tier1",
            "partner_id": "demo_partner",
        })
    );
    assert_eq!(manifest["compliance"]["gstin"], "29ZZZCD0000Z1ZJ");
    assert_eq!(manifest["compliance"]["privacy_policy_url"], "https://monsoon.example/privacy");
}

#[test]
fn t_161_the_manifest_says_the_same_as_meta_tomo() {
    let mounts = demo_mounts();
    let manifest = manifest(&mounts).unwrap();
    let intents = manifest["intents"].as_array().unwrap();
    assert_eq!(intents.len(), mounts.len(), "one entry for each mount");
    for (declared, settings) in intents.iter().zip(&mounts) {
        let members: Vec<&str> = declared.as_object().unwrap().keys().map(String::as_str).collect();
        let mut expected = [
            "intent",
            "intent_version",
            "domain",
            "description",
            "pricing",
            "service_area",
            "ttbs_signals",
            "availability",
            "completion_callback",
            "widget_type",
        ];
        expected.sort_unstable();
        assert_eq!(members, expected);
        for tool in WireDesk::of(settings).list() {
            let meta = &tool["_meta"]["tomo"];
            for name in ["intent", "intent_version", "service_area", "ttbs_signals", "completion_callback"] {
                assert_eq!(declared[name], meta[name], "{name}");
            }
            if meta["tool_role"] == "search" {
                assert_eq!(declared["widget_type"], meta["result_widget"]);
            }
        }
        let domain = declared["intent"].as_str().unwrap().split('.').next().unwrap();
        assert_eq!(declared["domain"], domain);
        assert_eq!(declared["availability"], "24x7");
    }
}

#[test]
fn t_162_prices_are_a_range_of_rupees() {
    for declared in manifest(&demo_mounts()).unwrap()["intents"].as_array().unwrap() {
        let pricing = &declared["pricing"];
        let (min, max) = (pricing["min"].as_u64().unwrap(), pricing["max"].as_u64().unwrap());
        assert!(min <= max, "{declared}");
        assert_eq!(pricing["currency"], "INR");
    }
    let wrong =
        |min, max| problems(|manifest| (manifest.min_price_inr, manifest.max_price_inr) = (Some(min), Some(max)));
    assert_eq!(wrong(0, 0), [""; 0]);
    assert_eq!(wrong(5, 4), ["manifest.min_price_inr: 5 is more than max_price_inr, which is 4"]);
}

/// What is refused when the settings are read, as `key: reason`.
fn problems(change: impl FnOnce(&mut ManifestSettings)) -> Vec<String> {
    let mut settings = partner(HOTEL, PartnerSource::Own);
    change(&mut settings.manifest);
    let problems = tomo::contract(&settings).err().unwrap_or_default();
    problems.iter().map(|problem| format!("{}: {}", problem.key, problem.reason)).collect()
}

#[test]
fn every_value_of_a_manifest_has_its_form() {
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        problems(|manifest| manifest.tier = text("tier3")),
        ["manifest.tier: one of these is expected: tier1, tier2"]
    );
    assert_eq!(
        problems(|manifest| manifest.gstin = text("29ZZZCD0000Z1ZK")),
        ["manifest.gstin: the last character of the GSTIN does not match; for the others it is J"]
    );
    for url in ["http://a.example/", "https://", "https:///privacy", "https://me@a.example/", "https://a.example/ x"] {
        assert_eq!(
            problems(|manifest| manifest.privacy_policy_url = text(url)),
            ["manifest.privacy_policy_url: an https URL with a host and without a password is expected"],
            "{url}"
        );
    }
    let hours = ["24x7", "09:00-21:00", "18:00-02:00", "00:00-24:00", "Mon-Fri 09:00-18:00, Sat 10:00-14:00"];
    for hours in hours {
        assert_eq!(problems(|manifest| manifest.availability = text(hours)), [""; 0], "{hours}");
    }
    for hours in ["always", "9-21", "24:00-10:00", "09:00-09:00", "Monday 09:00-18:00", "09:00-18:60", "24x7, Sat"] {
        assert_eq!(problems(|manifest| manifest.availability = text(hours)).len(), 1, "{hours}");
    }
    assert_eq!(
        problems(|manifest| manifest.description = text("one\ntwo")),
        ["manifest.description: one line of at most 500 characters is expected"]
    );
    let licence =
        |kind: &str, number: &str| problems(|manifest| manifest.licences = vec![(kind.to_owned(), number.to_owned())]);
    assert_eq!(licence("fssai", "10012345678901"), [""; 0]);
    for number in ["1001234567890", "30012345678901", "1001234567890a", ""] {
        assert_eq!(
            licence("fssai", number),
            ["manifest.licences: a number of FSSAI has 14 digits and begins with 1 or 2"]
        );
    }
    assert_eq!(licence("rera", "PRM/KA/RERA/1251/446/AG/170901/000001"), [""; 0]);
    assert_eq!(
        licence("rera", "<b>1234</b>"),
        ["manifest.licences: rera: 4 to 64 letters, digits, / - . ( ) and spaces are expected, with a digit"]
    );
    assert_eq!(
        licence("Trade licence", "1234"),
        ["manifest.licences: \"Trade licence\" is no kind of licence: lower case letters and _ are expected"]
    );
}

#[test]
fn what_is_missing_for_a_manifest_is_all_named_and_served_without() {
    let settings = partner(HOTEL, PartnerSource::Own);
    assert_eq!(problems(|_| {}), [""; 0], "it can be served");
    assert_eq!(
        manifest(&[settings]).unwrap_err(),
        [
            "legal_name is missing: set it under [mount.manifest]",
            "tier is missing: set it under [mount.manifest]",
            "gstin is missing: set it under [mount.manifest]",
            "privacy_policy_url is missing: set it under [mount.manifest]",
            "/mcp/0: description is missing under [mount.manifest]",
            "/mcp/0: min_price_inr is missing under [mount.manifest]",
            "/mcp/0: max_price_inr is missing under [mount.manifest]",
            "/mcp/0: availability is missing under [mount.manifest]",
        ]
    );
}

#[test]
fn mounts_of_one_partner_say_what_the_business_is_once() {
    let mut mounts = demo_mounts();
    for mount in mounts.iter_mut().skip(1) {
        (mount.manifest.legal_name, mount.manifest.gstin) = (None, None);
    }
    assert_eq!(manifest(&mounts), manifest(&demo_mounts()), "one mount is enough");
    mounts[1].manifest.legal_name = Some("Another Private Limited".to_owned());
    mounts[2].intents = mounts[0].intents.clone();
    assert_eq!(
        manifest(&mounts).unwrap_err(),
        [
            "the mounts of the partner do not agree on legal_name: one manifest has one",
            "/mcp/2: travel.book_hotel is served by another mount, too",
        ]
    );
}

#[test]
fn food_needs_its_licence() {
    let mut mounts = demo_mounts();
    mounts.truncate(1);
    mounts[0].intents[0].text = mounts[0].intents[0].text.replace("travel.book_hotel", "food.book_hotel");
    mounts[0].manifest.licences.clear();
    assert_eq!(
        manifest(&mounts).unwrap_err(),
        ["/mcp/0: the domain food needs the licence fssai: licences = { fssai = \"…\" } under [mount.manifest]"]
    );
    mounts[0].manifest.licences = vec![("fssai".to_owned(), "10000000000000".to_owned())];
    assert_eq!(
        manifest(&mounts).unwrap()["compliance"]["licences"],
        json!([{"domain": "food", "kind": "fssai", "number": "10000000000000"}])
    );
}

/// Names that a careless writer of YAML would break on.
fn awkward_mounts() -> Vec<PartnerSettings> {
    let mut mounts = demo_mounts();
    for mount in &mut mounts {
        mount.company = "No: \"Yes\" \\ #1 - दिल्ली's".to_owned();
        mount.service_area = ["560001", "no", "- x", "{a: b}", "&x *y", "'"].map(str::to_owned).to_vec();
        mount.signals.iter_mut().for_each(|(_, rating)| *rating = 1.0);
        mount.manifest.description = Some("~: | > % @ `".to_owned());
    }
    mounts
}

#[test]
fn yaml_and_json_are_the_same_document() {
    let mounts = awkward_mounts();
    let yaml = manifest_in(ManifestFormat::Yaml, &mounts).unwrap();
    let mut lines: Vec<&str> = yaml.lines().collect();
    lines.reverse();
    assert_eq!(block(&mut lines, 0), manifest(&mounts).unwrap(), "{yaml}");
    assert!(lines.is_empty());
}

/// A reader of its own for the few forms that a manifest may have: it panics at any other.
fn block(lines: &mut Vec<&str>, depth: usize) -> Value {
    let indent = "  ".repeat(depth);
    let mine = |line: &str| line.strip_prefix(&indent).filter(|rest| !rest.starts_with(' ')).map(str::to_owned);
    let first = mine(lines.last().unwrap()).unwrap();
    if first.starts_with("- ") {
        let mut items = Vec::new();
        while let Some(rest) = lines.last().and_then(|line| mine(line)) {
            let inner = rest.strip_prefix("- ").unwrap();
            if inner.starts_with('"') {
                lines.pop();
                items.push(serde_json::from_str(inner).unwrap());
            } else {
                // The first member of a map stands behind the dash: read it as if the dash were a blank.
                let line: &'static str = Box::leak(format!("{indent}  {inner}").into_boxed_str());
                *lines.last_mut().unwrap() = line;
                items.push(block(lines, depth + 1));
            }
        }
        return Value::Array(items);
    }
    let mut members = Map::new();
    while let Some(rest) = lines.last().and_then(|line| mine(line)).filter(|rest| !rest.starts_with("- ")) {
        lines.pop();
        let (name, value) = rest.split_once(':').unwrap();
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{name}");
        let value = match value.strip_prefix(' ') {
            Some(scalar) => serde_json::from_str(scalar).unwrap(),
            None => block(lines, depth + 1),
        };
        assert!(members.insert(name.to_owned(), value).is_none(), "{name} twice");
    }
    Value::Object(members)
}

/// Where Python has a YAML reader, it agrees.
#[test]
fn another_reader_of_yaml_sees_the_same() {
    let script = "import json, sys\ntry:\n  import yaml\nexcept ImportError:\n  sys.exit(3)\n\
                  json.dump(yaml.safe_load(sys.stdin.buffer.read()), sys.stdout)";
    let child = Command::new("python3").args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else { return };
    let mounts = awkward_mounts();
    let yaml = manifest_in(ManifestFormat::Yaml, &mounts).unwrap();
    let _ = child.stdin.take().unwrap().write_all(yaml.as_bytes());
    let output = child.wait_with_output().unwrap();
    if output.status.code() == Some(3) {
        return;
    }
    let read: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(read, manifest(&mounts).unwrap());
}
