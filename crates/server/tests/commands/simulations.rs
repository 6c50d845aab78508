//! `tomo simulate`, the real binary, against our own server: all intents of the demo, and completions that are refused at
//! first and come again.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::process::{CommandOutput, CommandProcess, run_frontdesk};
use serde_json::Value;

fn secret(folder: &TestFolder, name: &str, text: &str) {
    fs::write(folder.join(name), text).unwrap();
    fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn t_002_t_004_tomo_works_a_day_with_every_intent_of_the_demo() {
    let folder = TestFolder::new();
    let arguments = ["demo", "--json", "--listen", "127.0.0.1:0", "--data", "data"];
    let mut demo = CommandProcess::new(folder.path(), &arguments, &[]);
    let banner: Value = serde_json::from_str(&demo.printed("\n")).unwrap();
    let mounts: Vec<&Value> =
        banner["mounts"].as_array().unwrap().iter().filter(|mount| mount["contract"] == "tomo").collect();
    assert_eq!(mounts.len(), 5);
    for mount in mounts {
        secret(&folder, "live", mount["live_bearer"].as_str().unwrap());
        secret(&folder, "sandbox", mount["sandbox_bearer"].as_str().unwrap());
        let (url, ca) = (mount["endpoint"].as_str().unwrap(), banner["ca_file"].as_str().unwrap());
        let arguments = [
            &["tomo", "simulate", url, "--ca", ca, "--bearer-file", "live", "--sandbox-bearer-file", "sandbox"][..],
            &["--minutes", "0", "--sessions", "3", "--tracks", "1", "--json"],
        ];
        let CommandOutput { code, out, err } = run_frontdesk(folder.path(), &arguments.concat());
        assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
        let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let statuses: Vec<&str> = lines.iter().filter_map(|line| line["status"].as_str()).collect();
        // Completions go to TOMO, which the demo does not reach.
        let expected = [vec!["passed"; 7], vec!["not_checked"], vec!["passed"]].concat();
        assert_eq!(statuses, expected, "{url}: {out}");
    }
}

#[test]
fn t_140_t_149_tomo_takes_the_completions_of_every_shape() {
    const CALLBACK: &str = "/api/v1/cpc/mcp_provider/acme";
    let folder = TestFolder::new();
    let arguments = ["demo", "--json", "--listen", "127.0.0.1:0", "--data", "data"];
    let mut demo = CommandProcess::new(folder.path(), &arguments, &[]);
    demo.printed("\n");
    demo.stop();
    let (live, sandbox) = ("live-token-0123456789abcdef0123456789", "sandbox-token-0123456789abcdef012345");
    for (name, text) in [("live", live), ("sandbox", sandbox), ("cpc-keys", "whsec_0123456789abcdef0123456789")] {
        secret(&folder, name, text);
    }
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    fs::write(folder.join("receiver.pem"), made.cert.pem()).unwrap();
    fs::write(folder.join("receiver.key"), made.signing_key.serialize_pem()).unwrap();
    // Free until the simulation takes it.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let businesses = [
        ("htl_monsoon", "travel.book_hotel", "own"),
        ("dlr_bengaluru", "marketplace.buy_used_car", "dealership"),
        ("dlr_bengaluru", "auto.book_general_service", "dealership"),
        ("rid_monsoon", "mobility.book_intracity_ride", "own"),
        ("fod_monsoon", "food.order_delivery", "own"),
    ];
    let mount = |(tenant, intent, source): (&str, &str, &str)| {
        format!(
            "[[mount]]\ncontract = \"tomo\"\npath = \"/mcp/{intent}\"\ntenant = \"{tenant}\"\nintents = [\"{intent}\"]\n\
             source = \"{source}\"\n[mount.partner]\nid = \"acme\"\ncompany = \"Acme\"\n\
             signals = {{ time = 0.6, taste = 0.8, budget = 0.5, safety = 0.7 }}\nservice_area = [\"Bengaluru\"]\n\
             pricing_band = \"good\"\ncallback = \"https://localhost:{port}{CALLBACK}\"\n\
             [mount.auth]\nlive_tokens = \"live\"\nsandbox_tokens = \"sandbox\"\n[mount.completion]\nkeys = \"cpc-keys\"\n"
        )
    };
    let text = format!(
        "data = \"data\"\nlisten = \"127.0.0.1:0\"\n[operator]\nlisten = \"127.0.0.1:0\"\n\
         [outbound]\nallow = [\"127.0.0.0/8\"]\nca = \"receiver.pem\"\n\
         [[mount]]\ncontract = \"automotive\"\npath = \"/mcp/automotive\"\n{}",
        businesses.map(mount).concat()
    );
    fs::write(folder.join("desk.toml"), text).unwrap();
    let mut desk = CommandProcess::new(folder.path(), &["serve", "--config", "desk.toml"], &[]);
    let address = desk.address();
    for (_, intent, _) in businesses {
        let (url, receive) =
            (format!("https://localhost:{}/mcp/{intent}", address.port()), format!("127.0.0.1:{port}"));
        let arguments = [
            &["tomo", "simulate", &url, "--ca", "data/tls/ca.pem", "--bearer-file", "live"][..],
            &["--sandbox-bearer-file", "sandbox", "--minutes", "0", "--sessions", "2", "--tracks", "1"],
            &["--receive", &receive, "--receive-cert", "receiver.pem", "--receive-key", "receiver.key"],
            &["--cpc-key-file", "cpc-keys", "--fail-first", "1"],
        ];
        let CommandOutput { code, out, err } = run_frontdesk(folder.path(), &arguments.concat());
        assert_eq!((code, err.as_str()), (Some(0), ""), "{intent}: {out}");
        assert!(out.ends_with("\n9 passed, 0 failed, 0 not checked\n"), "{intent}: {out}");
    }
}
