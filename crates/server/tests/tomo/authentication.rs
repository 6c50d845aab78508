//! Bearer tokens and keys: each way can be switched off, live and sandbox are apart, and secrets stay secret.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::process::run_frontdesk;
use serde_json::{Value, json};

use crate::stage::{BEARERS, KEY, LIST, LIVE, PATH, PartnerServer, SANDBOX, json_of, refusal, secret, secrets, write};

const KEYS: &str = "[mount.auth]\nlive_keys = \"keys\"\nsandbox_tokens = \"sandbox\"\n";

fn invalid(id: Value) -> (u16, Value) {
    let message = "The partner credential is invalid. Send exactly one, and the one that was agreed for this endpoint.";
    (401, error(id, message))
}

fn error(id: Value, message: &str) -> Value {
    let data = json!({"tomo_error_code": "INVALID_AUTH"});
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": message, "data": data}})
}

#[tokio::test]
async fn t_060_bearer_tokens_of_both_modes_are_accepted() {
    let server = PartnerServer::open("", BEARERS);
    for token in [LIVE, SANDBOX] {
        let listed = server.bearer(token, LIST).await;
        assert_eq!(listed.status, 200);
        let tools = json_of(&listed)["result"]["tools"].clone();
        let names: Vec<&str> = tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["search_availability", "get_listing", "create_booking", "modify_booking", "cancel_booking"]);
    }
    let records = server.records();
    assert!(records.contains("\"acme:live\"") && records.contains("\"acme:sandbox\""), "{records}");
}

#[tokio::test]
async fn t_063_a_missing_or_wrong_credential_gets_401_with_the_id() {
    let server = PartnerServer::open("", BEARERS);
    let missing = server.post(&[], LIST).await;
    let message = "A partner credential is required, such as `Authorization: Bearer`.";
    assert_eq!(refusal(&missing), (401, error(json!(7), message)));
    assert_eq!(missing.header("www-authenticate"), Some("Bearer realm=\"tomo\""));
    let text_id = r#"{"jsonrpc":"2.0","id":"a-1","method":"tools/call","params":{"name":"get_listing"}}"#;
    let wrong = format!("Bearer {}x", &LIVE[..LIVE.len() - 1]);
    let twice = format!("Bearer {LIVE}");
    for headers in [
        vec![("authorization", wrong.as_str())],
        vec![("authorization", "Bearer ")],
        vec![("authorization", "Basic YTpi")],
        vec![("authorization", LIVE)],
        vec![("authorization", twice.as_str()), ("authorization", twice.as_str())],
    ] {
        assert_eq!(refusal(&server.post(&headers, text_id).await), invalid(json!("a-1")), "{headers:?}");
    }
    // A header that the mount does not take is no credential.
    assert_eq!(server.post(&[("x-partner-auth", LIVE)], LIST).await.status, 401);
    let headers = [("content-type", "application/json"), ("authorization", twice.as_str())];
    let in_url = format!("{PATH}?access_token={LIVE}");
    assert_eq!(server.http().request("POST", &in_url, &headers, LIST).await.status, 401);
}

#[tokio::test]
async fn t_062_a_key_is_accepted_once_and_alone_where_keys_are_taken() {
    let server = PartnerServer::open("", KEYS);
    assert_eq!(server.post(&[("x-partner-auth", KEY)], LIST).await.status, 200);
    let sandbox = format!("Bearer {SANDBOX}");
    for headers in [
        vec![("x-partner-auth", LIVE)],
        vec![("x-partner-auth", SANDBOX)],
        vec![("x-partner-auth", KEY), ("x-partner-auth", KEY)],
        vec![("x-partner-auth", KEY), ("authorization", sandbox.as_str())],
        vec![("authorization", "Bearer live-key0123456789abcdef0123456789ab")],
    ] {
        assert_eq!(refusal(&server.post(&headers, LIST).await), invalid(json!(7)), "{headers:?}");
    }
    assert_eq!(server.bearer(SANDBOX, LIST).await.status, 200);
}

#[tokio::test]
async fn t_064_no_secret_is_echoed_or_logged() {
    let server = PartnerServer::open("", "[mount.auth]\nlive_tokens = \"live\"\nsandbox_keys = \"keys\"\n");
    let guess = "a-guess-of-somebody-0123456789abcdef";
    let mut said = String::new();
    for headers in [
        vec![("authorization", format!("Bearer {LIVE}"))],
        vec![("authorization", format!("Bearer {guess}"))],
        vec![("x-partner-auth", KEY.to_owned())],
        vec![("x-partner-auth", guess.to_owned())],
        vec![("x-partner-auth", KEY.to_owned()), ("authorization", format!("Bearer {LIVE}"))],
    ] {
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let answer = server.post(&headers, LIST).await;
        said.push_str(&format!("{:?}{}", answer.headers, answer.text()));
    }
    said.push_str(&server.command(&["config", "show", "--config", "desk.toml"]).out);
    said.push_str(&server.records());
    for hidden in [LIVE, KEY, guess] {
        assert!(!said.contains(hidden), "{hidden}");
    }
    assert!(said.contains("acme:live") && said.contains("live_tokens"), "{said}");
}

#[tokio::test]
async fn a_reload_swaps_credentials_and_several_lines_are_accepted() {
    let mut server = PartnerServer::open("", BEARERS);
    let next = "next-token-0123456789abcdef0123456789";
    secret(&server.folder, "live", &format!("{LIVE}\n{next}"));
    server.reload("", BEARERS, "partner credentials changed and were reloaded");
    assert_eq!((server.bearer(LIVE, LIST).await.status, server.bearer(next, LIST).await.status), (200, 200));
    secret(&server.folder, "live", next);
    server.reload("", BEARERS, "partner credentials changed and were reloaded");
    assert_eq!((server.bearer(LIVE, LIST).await.status, server.bearer(next, LIST).await.status), (401, 200));
}

#[test]
fn unusable_secret_files_are_refused_without_their_content() {
    let folder = TestFolder::new();
    secrets(&folder);
    secret(&folder, "live", "0123456789abcdef0123456789abcde");
    secret(&folder, "sandbox", &format!("{SANDBOX}\n{SANDBOX} {SANDBOX}"));
    fs::set_permissions(folder.join("keys"), fs::Permissions::from_mode(0o644)).unwrap();
    write(
        &folder,
        "",
        "[mount.auth]\nlive_tokens = \"live\"\nsandbox_tokens = \"sandbox\"\nlive_keys = \"keys\"\nsandbox_keys = \"none\"\n\
         client_certificates = [\"live\"]\n",
    );
    let make = "Make a new secret, such as by: openssl rand -hex 32";
    for command in ["check", "serve"] {
        let arguments = if command == "check" { vec!["config", "check"] } else { vec!["serve"] };
        let refused = run_frontdesk(folder.path(), &[arguments, vec!["--config", "desk.toml"]].concat());
        assert_eq!(refused.code, Some(1), "{refused:?}");
        for problem in [
            format!("mount[1].auth.live_tokens: line 1 of live has fewer than 32 characters. {make}"),
            format!(
                "mount[1].auth.sandbox_tokens: line 2 of sandbox has a character that cannot be sent in the header. {make}"
            ),
            "mount[1].auth.live_keys: keys can be read by everyone on this machine. Run: chmod o= keys".to_owned(),
            "mount[1].auth.sandbox_keys: none cannot be read: No such file or directory".to_owned(),
            "mount[1].auth.client_certificates: ".to_owned(),
        ] {
            assert!(refused.err.contains(&problem), "{problem}: {}", refused.err);
        }
        assert!(!refused.err.contains("0123456789abcdef"), "{}", refused.err);
    }
}

#[test]
fn the_sandbox_cannot_have_a_credential_of_live_operation() {
    let folder = TestFolder::new();
    secrets(&folder);
    secret(&folder, "sandbox", LIVE);
    write(&folder, "", BEARERS);
    let refused = run_frontdesk(folder.path(), &["config", "check", "--config", "desk.toml"]);
    assert_eq!(
        (refused.code, refused.err.trim()),
        (
            Some(1),
            "frontdesk: the configuration has a problem:\n  mount[1].auth.sandbox_tokens: it has a credential that is also one \
             of live operation. Give the sandbox a credential of its own"
        )
    );
}

#[tokio::test]
async fn no_oauth_client_can_call_and_there_is_no_metadata() {
    let server = PartnerServer::open("", BEARERS);
    let client = ["client", "add", "--json", "--name", "a", "--tenant", "htl", "--data", "data", "--scope"];
    let refused = server.command(&[&client[..], &["tomo:live"]].concat());
    assert!(refused.err.starts_with("frontdesk: there is no scope `tomo:live`; there are: amcp:"), "{refused:?}");
    let added = server.command(&[&client[..], &["amcp:inventory:read"]].concat());
    let added: Value = serde_json::from_str(&added.out).unwrap_or_else(|_| panic!("{added:?}"));
    let (id, secret) = (added["id"].as_str().unwrap(), added["secret"].as_str().unwrap());
    let port = server.address.port();
    let form = |path: &str, scope: &str| {
        format!(
            "grant_type=client_credentials&client_id={id}&client_secret={secret}&scope={scope}&resource=https%3A%2F%2Flocalhost%3A{port}{path}"
        )
    };
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    let refused = server.http().request("POST", "/token", &headers, form(PATH, "tomo%3Alive")).await;
    assert_eq!((refused.status, &json_of(&refused)["error"]), (400, &json!("invalid_target")));
    let other = form("/mcp/automotive", "amcp%3Ainventory%3Aread");
    let granted = json_of(&server.http().request("POST", "/token", &headers, other).await);
    let token = granted["access_token"].as_str().unwrap_or_else(|| panic!("{granted}"));
    assert_eq!(refusal(&server.bearer(token, LIST).await), invalid(json!(7)));
    let metadata = server.http().get(&format!("/.well-known/oauth-protected-resource{PATH}")).await;
    assert_eq!(metadata.status, 404);
    // Nor is a partner's token one of this server.
    let bearer = format!("Bearer {LIVE}");
    let headers = [("content-type", "application/json"), ("authorization", bearer.as_str())];
    assert_eq!(server.http().request("POST", "/mcp/automotive", &headers, LIST).await.status, 401);
}
