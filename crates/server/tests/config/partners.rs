//! Mounts with a partner: what can be said, what is shown, and every refusal in the words an operator reads.

use std::fs;
use std::path::Path;
use std::time::Duration;

use frontdesk::config::{KeyFormat, LoadedConfig, PartnerConfig, load, show};
use frontdesk_contracts::ENTRIES;
use frontdesk_contracts::partner::{ErrorStatus, PartnerSource, built_in_intent};
use serde_json::{Value, json};

use crate::source::{pairs, written};

pub(crate) const MOUNT: &str = "[[mount]]\ncontract = \"tomo\"\npath = \"/mcp/hotel\"\ntenant = \"htl\"\n";
pub(crate) const AUTH: &str = "[mount.auth]\nlive_tokens = \"live\"\n";
const BUILT_IN: &str = "travel.book_hotel, marketplace.buy_used_car, auto.book_general_service, \
    mobility.book_intracity_ride, food.order_delivery";

pub(crate) fn partner(changes: &[(&str, &str)]) -> String {
    let mut text = "[mount.partner]\nid = \"acme\"\ncompany = \"Acme\"\n\
        signals = { time = 0.6, taste = 1, budget = 0.5, safety = 0 }\nservice_area = [\"Bengaluru\"]\n\
        pricing_band = \"good\"\ncallback = \"https://tomo.example/api/v1/cpc/mcp_provider/acme\"\n"
        .to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    text
}

pub(crate) fn given(text: &str) -> Result<LoadedConfig, Vec<String>> {
    let file = written(text);
    load(Some(&file), pairs(&[]), ENTRIES).map_err(|errors| {
        let shorten = |problem: String| {
            problem.replace(&format!(" ({})", file.display()), "").replace(env!("CARGO_TARGET_TMPDIR"), "TMP")
        };
        errors.problems.iter().map(|problem| shorten(problem.to_string())).collect()
    })
}

/// The problems of a mount with this intent, which differs from the built-in one.
fn of_intent(name: &str, change: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut intent: Value = serde_json::from_str(built_in_intent("tomo", "travel.book_hotel").unwrap()).unwrap();
    change(&mut intent);
    let text = serde_json::to_string_pretty(&intent).unwrap();
    fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name), text).unwrap();
    given(&format!("{MOUNT}intents = [\"./{name}\"]\n{}{AUTH}", partner(&[]))).err().unwrap_or_default()
}

/// With the numbers of lines taken out, which belong to the file.
fn without_lines(problems: Vec<String>) -> Vec<String> {
    let strip = |problem: String| {
        let (before, after) = problem.split_once(": line ").unwrap();
        let (line, after) = after.split_once(", ").unwrap();
        assert!(line.parse::<usize>().unwrap() > 1, "{problem}");
        format!("{before}: line N, {after}")
    };
    problems.into_iter().map(strip).collect()
}

fn first(loaded: &LoadedConfig) -> &PartnerConfig {
    loaded.config.mounts.first().and_then(|mount| mount.partner.as_deref()).unwrap()
}

#[test]
fn a_partner_is_read_with_its_defaults() {
    let loaded = given(&format!("{MOUNT}intents = [\"travel.book_hotel\"]\n{}{AUTH}", partner(&[]))).unwrap();
    let PartnerConfig {
        tenant, settings, auth, maintenance, completion, stream_time, notification_keys, clock, ..
    } = first(&loaded);
    assert!(notification_keys.is_none() && !clock.plays_stages && clock.complete_after_hours.is_none());
    assert_eq!((tenant.as_str(), *maintenance, *stream_time), ("htl", false, Duration::ZERO));
    assert_eq!((&completion.keys, completion.key_format), (&None, KeyFormat::Text));
    assert_eq!((settings.source, settings.error_status), (PartnerSource::Own, ErrorStatus::Ok));
    assert_eq!((settings.partner_id.as_str(), settings.company.as_str()), ("acme", "Acme"));
    let mut signals = settings.signals.clone();
    signals.sort_by(|one, other| one.0.cmp(&other.0));
    let expected = [("budget", 0.5), ("safety", 0.0), ("taste", 1.0), ("time", 0.6)];
    assert_eq!(signals, expected.map(|(axis, rating)| (axis.to_owned(), rating)));
    assert_eq!(auth.live.tokens.as_deref(), Some(Path::new("live")));
    assert!(auth.sandbox.tokens.is_none() && !auth.pins_certificates());
    assert!(!loaded.config.asks_for_certificates());
}

#[test]
fn a_partner_is_shown_without_secrets_and_what_is_shown_can_be_read() {
    let auth = "[mount.auth]\nlive_tokens = \"live\"\nsandbox_keys = \"keys\"\nclient_certificates = [\"a.pem\"]\n";
    let mount = format!(
        "{MOUNT}intents = [\"travel.book_hotel\"]\nmaintenance = true\nerror_status = \"equivalent\"\n\
         stream_seconds = 90\nclock = true\ncomplete_after_hours = 12\n"
    );
    let keys = "[mount.notifications]\nkeys = \"signing\"\n";
    let loaded = given(&format!("{mount}{}{auth}{keys}", partner(&[]))).unwrap();
    let shown = show(&loaded.settings);
    let line = shown.lines().find(|line| line.starts_with("mount = ")).unwrap();
    for part in [
        "live_tokens = \"live\"",
        "sandbox_keys = \"keys\"",
        "client_certificates = [\"a.pem\"]",
        "maintenance = true",
        "stream_seconds = 90",
        "clock = true",
        "complete_after_hours = 12",
        "notifications = { keys = \"signing\" }",
        "error_status = \"equivalent\"",
        "intents = [\"travel.book_hotel\"]",
        "source = \"own\"",
        "time = 0.6",
    ] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert_eq!(given(&shown).unwrap().config.mounts, loaded.config.mounts);
    assert!(loaded.config.asks_for_certificates());
}

#[test]
fn every_mistake_of_a_partner_is_said_at_once() {
    let text = "[[mount]]\ncontract = \"tomo\"\ntenent = \"htl\"\nintents = [\"travel.book_hotels\", \"./none.json\"]\n\
        source = \"both\"\nerror_status = 500\nmaintenance = \"no\"\nstream_seconds = 601\n\
        clock = 1\ncomplete_after_hours = 0\n\
        [mount.partner]\ncompny = \"Acme\"\nsignals = { time = \"much\" }\n\
        [mount.auth]\nlive_token = \"x\"\n[mount.notifications]\n";
    let missing = "cannot be read: No such file or directory (os error 2)";
    assert_eq!(
        given(text).unwrap_err(),
        [
            "mount[0].tenent: this key does not exist. Did you mean `tenant`?",
            "mount[0].path: it is missing. Name the path it is served at, such as /mcp/tomo",
            "mount[0].tenant: it is missing. Name the tenant whose goods and times are sold",
            "mount[0].intents[0]: \"travel.book_hotels\" is not an intent that is built in. Did you mean \
             `travel.book_hotel`? A file must end in .json",
            &format!(
                "mount[0].intents[1]: TMP/none.json {missing}. Check the path, which starts at the folder of this file"
            ),
            "mount[0].source: \"both\" is not an accepted value. Use own or dealership",
            "mount[0].error_status: it is an integer instead of text. Write it in quotes",
            "mount[0].maintenance: it is neither true nor false. Write true or false without quotes",
            "mount[0].stream_seconds: 601 is too large. Use a number from 0 to 600",
            "mount[0].notifications: without a file of `keys` every notification would be refused. Name a file with a key of \
             at least 32 characters a line, such as by: openssl rand -hex 32",
            "mount[0].clock: it is neither true nor false. Write true or false without quotes",
            "mount[0].complete_after_hours: 0 is too small. Use a number from 1 to 8760",
            "mount[0].auth.live_token: this key does not exist. Did you mean `live_tokens`?",
            "mount[0].partner.compny: this key does not exist. Did you mean `company`?",
            "mount[0].partner.signals.time: it is text instead of a number. Write a number such as 0.5, without quotes",
        ]
    );
}

#[test]
fn what_the_contract_refuses_stands_at_its_key() {
    let changes = [
        ("id = \"acme\"", "id = \"a b\""),
        ("time = 0.6", "time = 1.6"),
        ("\"Bengaluru\"", "\"12345\""),
        ("\"good\"", "\"cheap\""),
        ("company = \"Acme\"\n", ""),
    ];
    let text = format!("{MOUNT}intents = [\"travel.book_hotel\"]\n{}{AUTH}", partner(&changes));
    let fix = "Correct it under [mount.partner]";
    assert_eq!(
        given(&text).unwrap_err(),
        [
            format!("mount[0].partner.company: the name of the company is required. {fix}"),
            format!("mount[0].partner.id: letters, digits, - and _ are expected. {fix}"),
            format!("mount[0].partner.signals: time must lie between 0.0 and 1.0. {fix}"),
            format!("mount[0].partner.service_area: a pincode has 6 digits. {fix}"),
            format!("mount[0].partner.pricing_band: one of these is expected: ok, good, great. {fix}"),
            format!("mount[0].partner.callback: it is the callback of another partner; it must end with a b. {fix}"),
        ]
    );
}

#[test]
fn t_033_the_callback_of_another_partner_is_refused() {
    let text = format!(
        "{MOUNT}intents = [\"travel.book_hotel\"]\n{}{AUTH}",
        partner(&[("mcp_provider/acme", "mcp_provider/another")])
    );
    assert_eq!(
        given(&text).unwrap_err(),
        ["mount[0].partner.callback: it is the callback of another partner; it must end with acme. \
          Correct it under [mount.partner]"]
    );
}

#[test]
fn t_034_a_partial_toolset_is_refused_with_file_and_line() {
    let problems = of_intent("partial.json", |intent| {
        intent["tools"].as_array_mut().unwrap().retain(|tool| tool["name"] != "modify_booking");
    });
    assert_eq!(
        without_lines(problems),
        [format!(
            "mount[0].intents: TMP/partial.json: line N, /tools: an intent of the listing shape must have the tool \
             modify_booking, too. Correct it, or name an intent that is built in: {BUILT_IN}"
        )]
    );
}

#[test]
fn t_028_t_021_t_130_bad_roles_texts_and_fields_are_refused() {
    let with = |name: &str, change: &dyn Fn(&mut Value)| without_lines(of_intent(name, |intent| change(intent)));
    let role = with("role.json", &|intent| intent["tools"][0]["role"] = json!("find"));
    assert!(
        role[0]
            .starts_with("mount[0].intents: TMP/role.json: line N, /tools/0/role: one of these is expected: search, "),
        "{role:?}"
    );
    let long = with("long.json", &|intent| intent["tools"][0]["description"] = json!("a".repeat(141)));
    assert!(
        long[0].starts_with(
            "mount[0].intents: TMP/long.json: line N, /tools/0/description: it has 141 characters; at most 140 are allowed."
        ),
        "{long:?}"
    );
    let forbidden = with("forbidden.json", &|intent| {
        intent["tools"][0]["output"]["properties"]["sponsoredRank"] = json!({"type": "integer"});
    });
    assert!(
        forbidden[0]
            .starts_with("mount[0].intents: TMP/forbidden.json: line N, /tools/0/output/properties/sponsoredRank: "),
        "{forbidden:?}"
    );
}

#[test]
fn intents_with_tools_of_the_same_name_cannot_share_a_mount() {
    let intents = "intents = [\"travel.book_hotel\", \"marketplace.buy_used_car\"]\n";
    let problems = given(&format!("{MOUNT}{intents}{}{AUTH}", partner(&[]))).unwrap_err();
    assert_eq!(
        problems,
        [
            format!(
                "mount[0].intents: travel.book_hotel and marketplace.buy_used_car both have the tool \
                 search_availability: give each a mount of its own. Correct it, or name an intent that is built in: \
                 {BUILT_IN}"
            ),
            "mount[0].source: marketplace.buy_used_car sells the stock of a dealership; its source must be dealership. \
             Correct it in the [[mount]] table"
                .to_owned(),
        ]
    );
}

#[test]
fn a_partner_without_credentials_or_a_file_is_refused() {
    let text = format!("{MOUNT}intents = [\"travel.book_hotel\"]\n{}", partner(&[]));
    assert_eq!(
        given(&text).unwrap_err(),
        [
            "mount[0].auth: without any credential every call would be refused. Name a file of secrets as `live_tokens` or \
          `sandbox_tokens` under [mount.auth]"
        ]
    );
    let error = load(None, pairs(&[("FRONTDESK_MOUNT", "tomo=/mcp/tomo")]), ENTRIES).unwrap_err();
    assert_eq!(
        error.problems[0].to_string(),
        "mount[0] (FRONTDESK_MOUNT): tomo needs a partner, and a path does not say who it is. Write it into a file, as \
         [[mount]] with `contract`, `tenant` and [mount.partner]"
    );
}

#[test]
fn the_example_of_a_partner_can_be_loaded() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tomo.toml");
    let loaded = load(Some(&file), pairs(&[]), ENTRIES).unwrap();
    let paths: Vec<&str> = loaded.config.mounts.iter().map(|mount| mount.path.as_str()).collect();
    assert_eq!(paths, ["/mcp/hotel", "/mcp/workshop"]);
    assert!(loaded.config.asks_for_certificates());
}
