//! `frontdesk connect`: what it prints for this installation. That it works as printed is shown by `cargo xtask test connect`.

use serde_json::{Value, json};

use frontdesk::connect::CLIENTS;
use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::process::{CommandProcess, run_frontdesk, run_script};
use frontdesk_testkit::app::{DemoTenant, TestApp};

#[test]
fn every_client_is_told_url_ca_file_and_id_of_the_running_server() {
    let desk = TestApp::start();
    let (id, secret, _) = desk.credentials(DemoTenant::Lakeside);
    let (url, ca_file) = (desk.banner["endpoint"].as_str().unwrap(), desk.ca_file().display().to_string());
    for client in CLIENTS {
        let (code, paste, notes) = desk.command(&["connect", client.name, "--client", &id]);
        assert_eq!(code, Some(0), "{notes}");
        assert!(notes.lines().all(|line| line.starts_with("# ")), "{notes}");
        let both = format!("{paste}{notes}");
        assert!(!both.contains(&secret), "{both}");
        for place in ["{url}", "{ca_", "{client_id}", "{scopes}", "{issuer}", "{name}", "{data_flag}", "_note}"] {
            assert!(!both.contains(place), "{}: {place} is left: {both}", client.name);
        }
        match client.name {
            "claude-desktop" => {
                let entry: Value = serde_json::from_str(&paste).unwrap();
                let entry = &entry["mcpServers"]["frontdesk"];
                assert_eq!(entry["args"], json!(["stdio", "--data", desk.data()]));
                assert_eq!(entry["env"], json!({"FRONTDESK_CLIENT_ID": id, "FRONTDESK_CLIENT_SECRET": "YOUR_SECRET"}));
            }
            "cursor" | "vscode" | "chatgpt" => assert!(paste.contains(url), "{paste}"),
            "claude-code" => assert_eq!(
                paste,
                format!(
                    "export NODE_EXTRA_CA_CERTS={ca_file}\nclaude mcp add --transport http frontdesk {url}\nclaude mcp list\n"
                )
            ),
            _ => assert!(paste.contains(url) && both.contains(&ca_file) && paste.contains(&id), "{both}"),
        }
    }
}

#[test]
fn connect_names_contract_and_client_that_were_asked_for() {
    let desk = TestApp::start();
    let site = &desk.banner["site"];
    let (code, paste, _) = desk.command(&["connect", "curl", "--contract", "emcp"]);
    assert_eq!(code, Some(0));
    assert!(
        paste.contains(site["endpoint"].as_str().unwrap()) && paste.contains(site["id"].as_str().unwrap()),
        "{paste}"
    );
    let (_, paste, _) = desk.command(&["connect", "cursor", "--contract", "emcp"]);
    assert!(paste.contains(r#""frontdesk-emcp": { "url":"#), "{paste}");
    let (_, paste, _) = desk.command(&["connect", "claude-desktop", "--contract", "emcp"]);
    assert!(paste.contains(r#""--contract", "emcp"]"#), "{paste}");
    // Without one that was asked for, it is one that can call this contract.
    let (_, paste, _) = desk.command(&["connect", "python"]);
    let demo = desk.banner["clients"].as_array().unwrap();
    assert!(demo.iter().any(|client| paste.contains(client["id"].as_str().unwrap())), "{paste}");
    let (summit, ..) = desk.credentials(DemoTenant::Summit);
    let (_, paste, _) = desk.command(&["connect", "python", "--client", &summit]);
    assert!(paste.contains(&summit), "{paste}");

    let (code, out, err) = desk.command(&["connect", "python", "--client", "cli_nobody"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert_eq!(err, "frontdesk: there is no active client cli_nobody; see `frontdesk client list`\n");
    let (code, _, err) = desk.command(&["connect", "curl", "--contract", "tomo"]);
    assert_eq!(code, Some(1));
    assert_eq!(err, "frontdesk: no client can be connected to that contract here; there are: automotive, emcp\n");
}

/// Without a server the configuration says where it will be; a file is named as such, and a public server needs no CA file.
#[test]
fn connect_without_a_server_reads_the_configuration() {
    let folder = TestFolder::new();
    std::fs::write(
        folder.join("it's.toml"),
        "public_url = \"https://desk.example.com\"\ndata = \"data\"\n[tls]\ncertificate = \"c.pem\"\nkey = \"k.pem\"\n\
         [[mount]]\ncontract = \"automotive\"\npath = \"/mcp/automotive\"\n",
    )
    .unwrap();
    let connect = |client: &str| run_frontdesk(folder.path(), &["connect", client, "--config", "it's.toml"]);
    let code = connect("claude-code");
    assert_eq!(
        (code.code, code.out.as_str()),
        (
            Some(0),
            "claude mcp add --transport http frontdesk https://desk.example.com/mcp/automotive\nclaude mcp list\n"
        ),
        "{}",
        code.err
    );
    assert!(!code.err.contains("NODE_EXTRA_CA_CERTS"), "{}", code.err);
    let chatgpt = connect("chatgpt");
    assert_eq!(chatgpt.out, "https://desk.example.com/mcp/automotive\n");
    assert!(!chatgpt.err.contains("not reachable"), "{}", chatgpt.err);
    // A client id needs data.
    let refused = connect("curl");
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("there is no Frontdesk data in data"), "{}", refused.err);
    let arguments =
        ["client", "add", "--name", "a", "--tenant", "a", "--new-tenant", "--scope", "amcp:inventory:read", "--json"];
    let added = run_frontdesk(folder.path(), &[&arguments[..], &["--config", "it's.toml"]].concat());
    let added: Value = serde_json::from_str(&added.out).unwrap_or_else(|_| panic!("{}", added.err));
    let desktop = connect("claude-desktop");
    let entry: Value = serde_json::from_str(&desktop.out).unwrap();
    let entry = &entry["mcpServers"]["frontdesk"];
    assert_eq!(entry["args"], json!(["stdio", "--config", folder.join("it's.toml")]));
    assert_eq!(entry["env"]["FRONTDESK_CLIENT_ID"], added["id"]);
    let curl = connect("curl").out;
    assert!(!curl.contains("--cacert") && curl.contains("-d 'scope=amcp:consent:read "), "{curl}");
}

/// Blanks and quotes in a path are quoted for the shell.
#[test]
fn a_pasted_script_works_from_a_folder_with_a_quote_in_its_name() {
    let folder = TestFolder::new();
    let arguments = ["demo", "--json", "--listen", "127.0.0.1:0", "--data", "it's a desk"];
    let mut demo = CommandProcess::new(folder.path(), &arguments, &[]);
    let card: Value = serde_json::from_str(&demo.printed("\n")).unwrap();
    let pasted = run_frontdesk(folder.path(), &["connect", "curl", "--data", "it's a desk"]);
    assert_eq!(pasted.code, Some(0), "{}", pasted.err);
    let secret = card["clients"][0]["secret"].as_str().unwrap();
    let script = format!("export FRONTDESK_CLIENT_SECRET={secret}\n{}", pasted.out);
    let answer = run_script(TestFolder::new().path(), &script);
    assert!(answer.out.contains("\"name\":\"inventory.search\""), "{answer:?}");
}
