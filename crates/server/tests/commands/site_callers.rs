//! Who comes to a site and how: tokens that it signs, proxies, programs on the same machine, and what they are told.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use crate::sites::{CONTENT, PING, SEARCH, SECRET, Served, json_of, now, signed, signed_with, with_site, write};
use frontdesk_testkit::app::process::run_frontdesk;

const NEW_SECRET: &str = "another secret of the site, just as long as that";

fn claims() -> Value {
    json!({"sub": "7", "scopes": "mcp:read,mcp:call", "iat": now(), "exp": now() + 600})
}

#[tokio::test]
async fn site_token_mounts_name_no_token_endpoint() {
    let served = Served::open("auth = [\"jwt\"]\njwt_secret_env = \"SITE_SECRET\"\n");
    for (token, challenge, message) in [
        (
            None,
            "Bearer scope=\"mcp:call mcp:read\"",
            "An access token is required: send it as `Authorization: Bearer`.",
        ),
        (
            Some("nonsense"),
            "Bearer error=\"invalid_token\", scope=\"mcp:call mcp:read\"",
            "The access token is invalid for this resource or has expired. Request a new one from the site, which signs them.",
        ),
    ] {
        let refused = served.post(CONTENT, token, PING).await;
        assert_eq!((refused.status, refused.header("www-authenticate")), (401, Some(challenge)));
        assert_eq!(json_of(&refused)["error"]["message"], json!(message));
    }
}

#[tokio::test]
async fn the_reason_of_refused_tokens_is_logged_once() {
    let mut served = Served::open("auth = [\"oauth\", \"jwt\"]\njwt_secret_env = \"SITE_SECRET\"\n");
    let forged = signed_with("a secret that somebody else has made up, not the site", &claims());
    let began = Instant::now();
    for _ in 0..40 {
        assert_eq!(served.post(CONTENT, Some(&forged), PING).await.status, 401);
    }
    let why = "the token's signature does not match any of the mount's secrets";
    served.desk.logged(why);
    // One line a second, however many requests: the first and the last second may be short.
    let log = served.desk.logged("unauthenticated\"");
    assert!(log.matches(why).count() as u64 <= began.elapsed().as_secs() + 2, "{log}");
}

#[tokio::test]
async fn a_secret_is_changed_by_giving_both_for_a_while() {
    let folder_line = "auth = [\"jwt\"]\njwt_secret_file = \"secret.txt\"\njwt_lifetime_seconds = 900\n";
    let folder = with_site();
    let file = folder.join("secret.txt");
    fs::write(&file, format!("{SECRET}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let mut served = Served::of(folder, folder_line);
    let tokens = [signed(&claims()), signed_with(NEW_SECRET, &claims())];
    let mut statuses = Vec::new();
    for secrets in [None, Some(format!("{SECRET}\n{NEW_SECRET}\n")), Some(format!("{NEW_SECRET}\r\n"))] {
        if let Some(secrets) = secrets {
            fs::write(&file, secrets).unwrap();
            served.desk.reload("JWT secret changed and was reloaded\",\"mount\":0");
        }
        for token in &tokens {
            statuses.push(served.post(CONTENT, Some(token), PING).await.status);
        }
    }
    assert_eq!(statuses, [200, 401, 200, 200, 401, 200]);
    let mut long = claims();
    long["exp"] = json!(now() + 901);
    assert_eq!(served.post(CONTENT, Some(&signed_with(NEW_SECRET, &long)), PING).await.status, 401);
}

#[tokio::test]
async fn what_a_proxy_passes_on_is_not_from_this_machine() {
    let served = Served::open("auth = [\"none\"]\n");
    for (name, value) in [
        ("forwarded", "for=192.0.2.7"),
        ("via", "1.1 proxy"),
        ("x-forwarded-for", "192.0.2.7"),
        ("x-forwarded-proto", "https"),
    ] {
        for path in [CONTENT, "/api/v1/mcp/content/dispatch"] {
            let headers = [("content-type", "application/json"), (name, value)];
            let refused = served.http().request("POST", path, &headers, PING).await;
            assert_eq!(refused.status, 403, "{name} {path}");
            let message =
                "Only direct callers on this machine are served here, not through a proxy; others need tokens.";
            assert_eq!(json_of(&refused)["error"]["message"], json!(message));
        }
    }
    assert_eq!(served.post(CONTENT, None, PING).await.status, 200);
}

#[tokio::test]
async fn the_front_page_shows_no_denied_servers_or_tools() {
    let served = Served::open(
        "auth = [\"none\"]\nallow_servers = [\"content\"]\ndeny_tools = [\"evo.model.*\"]\n\
         [[mount.server]]\nhandle = \"content\"\n[[mount.server]]\nhandle = \"shut\"\n",
    );
    let page = served.http().get("/").await;
    let page = page.text();
    assert!(page.contains("/api/v1/mcp/content") && page.contains("evo.content.search"), "{page}");
    assert!(!page.contains("/api/v1/mcp/shut") && !page.contains("evo.model."), "{page}");
}

#[tokio::test]
async fn dispatch_takes_only_post_and_known_servers() {
    let served = Served::open("auth = [\"none\"]\n");
    let refused = served.http().request("GET", "/api/v1/mcp/content/dispatch", &[], "").await;
    assert_eq!((refused.status, refused.header("allow")), (405, Some("POST")));
    let message = r#"{"jsonrpc":"2.0","id":"mine","method":"ping"}"#;
    let unknown = served.post("/api/v1/mcp/nowhere/dispatch", None, message).await;
    assert_eq!((unknown.status, &json_of(&unknown)["id"]), (404, &json!("mine")));
}

#[tokio::test]
async fn two_sites_know_nothing_of_each_others_keys() {
    let folder = with_site();
    fs::copy(folder.join("site.sqlite"), folder.join("other.sqlite")).unwrap();
    let other = rusqlite::Connection::open(folder.join("other.sqlite")).unwrap();
    other.execute("UPDATE evo_site_content SET pagetitle = 'Elsewhere'", []).unwrap();
    drop(other);
    let served = Served::of(
        folder,
        "auth = [\"none\"]\n[[mount]]\ncontract = \"emcp\"\npath = \"/two\"\ntenant = \"two\"\n\
         database = \"other.sqlite\"\nauth = [\"none\"]\n",
    );
    let dispatch = async |path: &str| {
        let headers = [("content-type", "application/json"), ("idempotency-key", "k1")];
        let answer = served.http().request("POST", path, &headers, SEARCH).await;
        let answer = json_of(&answer);
        let items = answer["result"]["response"]["result"]["structuredContent"]["items"].clone();
        (answer["reused"].clone(), items[0]["pagetitle"].clone())
    };
    assert_eq!(dispatch("/api/v1/mcp/content/dispatch").await, (json!(false), json!("Welcome")));
    assert_eq!(dispatch("/two/content/dispatch").await, (json!(false), json!("Elsewhere")));
}

#[test]
fn a_program_needs_no_token_for_a_site_that_asks_for_none() {
    let folder = with_site();
    write(&folder, "auth = [\"none\"]\n[mount.limits]\nmax_payload_kb = 2048\n");
    let arguments = ["client", "add", "--new-tenant", "--name", "a", "--tenant", "site", "--scope", "mcp:read"];
    assert_eq!(run_frontdesk(folder.path(), &[arguments.as_slice(), &["--data", "data"]].concat()).code, Some(0));
    let mut program = Command::new(env!("CARGO_BIN_EXE_frontdesk"))
        .args(["stdio", "--config", "desk.toml", "--contract", "emcp"])
        .current_dir(folder.path())
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // More than the desk takes otherwise, and less than the site does.
    let large = format!("{PING}{}\n", " ".repeat(1_500_000));
    program.stdin.take().unwrap().write_all(large.as_bytes()).unwrap();
    let output = program.wait_with_output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(out, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n", "{}", String::from_utf8_lossy(&output.stderr));
}
