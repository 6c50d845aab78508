//! Who gets in, and what their scopes open: tokens that the site signs, tokens of this server, and the handshake of an
//! ordinary client.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::process::run_frontdesk;
use serde_json::{Value, json};

use crate::stage::{BASE, CONTENT, ROOMY, SECRET, Stage, calling, fill, message, now, plain, said, signed, token};

const MISSING: &str = "An access token is required: send it as `Authorization: Bearer`.";
const UNKNOWN: &str =
    "The access token is invalid for this resource or has expired. Request a new one from the site, which signs them.";

#[tokio::test]
async fn e_53_every_invalid_token_is_a_plain_401() {
    let stage = Stage::open();
    let now = now();
    let claims = |change: Value| {
        let mut claims = json!({"sub": "anna", "iat": now - 5, "exp": now + 600, "scopes": ["mcp:read"]});
        for (name, value) in change.as_object().unwrap() {
            claims[name] = value.clone();
        }
        claims
    };
    let good = signed(&claims(json!({})), SECRET);
    let (head, signature) = good.rsplit_once('.').unwrap();
    let other = signed(&claims(json!({"sub": "root", "scopes": "*"})), "another secret that is longer than 32 bytes");
    let tokens = [
        String::new(),
        "zebra".to_owned(),
        "a.b.c".to_owned(),
        format!("{head}."),
        head.to_owned(),
        format!("{}.{signature}", other.rsplit_once('.').unwrap().0),
        other.clone(),
        // Signed by nobody, as the header itself says.
        format!("eyJhbGciOiJub25lIn0.{}.", good.split('.').nth(1).unwrap()),
        signed(&claims(json!({"iat": now - 1000, "exp": now - 60})), SECRET),
        signed(&claims(json!({"nbf": now + 300})), SECRET),
        signed(&claims(json!({"iat": now + 300})), SECRET),
        signed(&claims(json!({"exp": null})), SECRET),
        signed(&claims(json!({"sub": ""})), SECRET),
        signed(&claims(json!({"scopes": null})), SECRET),
        signed(&claims(json!({"aud": "https://elsewhere.example"})), SECRET),
    ];
    for token in tokens {
        let words = if token.is_empty() { MISSING } else { UNKNOWN };
        let answer = stage.holder(&token).post(message("ping", json!({}))).await;
        assert_eq!(said(&answer), plain(401, "unauthenticated", words), "{token}");
        assert!(answer.header("www-authenticate").unwrap().starts_with("Bearer "), "{token}");
    }
    assert_eq!(stage.holder(&good).post(message("ping", json!({}))).await.status, 200);
    let elsewhere = [
        stage.holder("").at(&format!("{CONTENT}?access_token={good}")).post(message("ping", json!({}))).await,
        stage.holder("").send("POST", &[("authorization", &format!("Basic {good}"))], message("ping", json!({}))).await,
    ];
    assert_eq!(elsewhere.map(|answer| answer.status), [401, 401]);
}

#[tokio::test]
async fn e_53_an_issuer_that_is_named_must_be_the_tokens_own() {
    let stage = Stage::with(&format!("jwt_issuer = \"https://site.example\"\n{ROOMY}"));
    let now = now();
    for (issuer, status) in [
        (json!("https://site.example"), 200),
        (json!("https://site.example/"), 401),
        (json!(["https://site.example"]), 401),
        (json!(null), 401),
    ] {
        let claims = json!({"sub": "a", "iat": now, "exp": now + 600, "scopes": "mcp:read", "iss": issuer});
        let answer = stage.holder(&signed(&claims, SECRET)).post(message("ping", json!({}))).await;
        assert_eq!(answer.status, status, "{issuer}");
    }
}

const METHODS: [(&str, &str); 12] = [
    ("initialize", "mcp:read"),
    ("ping", "mcp:read"),
    ("tools/list", "mcp:read"),
    ("resources/list", "mcp:read"),
    ("resources/templates/list", "mcp:read"),
    ("prompts/list", "mcp:read"),
    ("notifications/initialized", "mcp:read"),
    ("notifications/cancelled", "mcp:read"),
    ("tools/call", "mcp:call"),
    ("admin/reindex", "mcp:admin"),
    ("resources/subscribe", "mcp:admin"),
    ("foo/bar", "mcp:admin"),
];

/// Every method with every set of scopes, in each way of writing them.
#[tokio::test]
async fn e_67_each_method_opens_to_its_scope_and_to_no_other() {
    let stage = Stage::open();
    let sets: [(Value, &[&str]); 9] = [
        (json!([]), &[]),
        (json!(""), &[]),
        (json!(["mcp:read"]), &["mcp:read"]),
        (json!(["mcp:call"]), &["mcp:call"]),
        (json!("mcp:admin"), &["mcp:admin"]),
        (json!("mcp:read, mcp:call"), &["mcp:read", "mcp:call"]),
        (json!(["mcp:call", "zebra", "mcp:read"]), &["mcp:read", "mcp:call"]),
        (json!(["*"]), &["mcp:read", "mcp:call", "mcp:admin"]),
        (json!("mcp:reader,MCP:CALL,mcp:*"), &[]),
    ];
    for (scopes, open) in sets {
        let mut caller = stage.caller("caller", scopes.clone());
        for (method, needed) in METHODS {
            let params = match method {
                "tools/call" => json!({"name": "evo.content.get", "arguments": {"id": 1}}),
                _ => json!({}),
            };
            let body = match method.starts_with("notifications/") {
                true => json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string(),
                false => message(method, params),
            };
            let answer = caller.post(&body).await;
            let wanted = match (open.contains(&needed), method.starts_with("notifications/")) {
                (true, true) => 202,
                (true, false) => 200,
                (false, _) => 403,
            };
            assert_eq!(answer.status, wanted, "{method} with {scopes}: {}", answer.text());
            if wanted == 403 {
                let words = format!("The token does not carry the scope this needs: {needed}.");
                assert_eq!(said(&answer), plain(403, "scope_denied", &words));
            }
        }
    }
}

#[tokio::test]
async fn e_67_a_map_of_ones_own_replaces_the_usual_one_for_its_server() {
    let stage = Stage::with(
        "[mount.limits]\nper_minute = 1000\n[[mount.server]]\nhandle = \"content\"\n\
         [[mount.server]]\nhandle = \"own\"\n[mount.server.scope_map]\n\"mcp:read\" = [\"tools/call\", \"prompts/*\"]\n\
         \"mcp:call\" = [\"ping\"]\n",
    );
    for (method, scope) in
        [("tools/call", "mcp:read"), ("prompts/list", "mcp:read"), ("ping", "mcp:call"), ("tools/list", "mcp:admin")]
    {
        for given in ["mcp:read", "mcp:call", "mcp:admin"] {
            let mut caller = stage.caller("caller", json!([given])).at(&format!("{BASE}/own"));
            let params = json!({"name": "evo.content.get", "arguments": {"id": 1}});
            let answer = caller.post(message(method, params)).await;
            assert_eq!(
                answer.status,
                if given == scope { 200 } else { 403 },
                "{method} with {given}: {}",
                answer.text()
            );
        }
    }
    let other = stage.caller("caller", json!(["mcp:read"])).post(message("ping", json!({}))).await;
    assert_eq!(other.status, 200, "the server beside it keeps the usual map");
}

/// What every client does first, with the two scopes an ordinary one has.
#[tokio::test]
async fn e_67_an_ordinary_client_initializes_and_calls_tools() {
    let stage = Stage::open();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut agent = stage.agent();
        let params =
            json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let hello = agent.post(message("initialize", params)).await;
        assert_eq!(hello.json()["result"]["protocolVersion"], json!(version));
        let session = hello.header("mcp-session-id").unwrap().to_owned();
        assert_eq!(session.len(), 36, "{session}");
        let headers = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", version)];
        let noted = agent.send("POST", &headers, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        assert_eq!((noted.status, noted.text()), (202, ""));
        for method in ["tools/list", "resources/list", "prompts/list", "ping"] {
            assert_eq!(agent.send("POST", &headers, message(method, json!({}))).await.status, 200, "{method}");
        }
        let called = agent.send("POST", &headers, calling("evo.content.get", json!({"id": 5}))).await;
        let title = &called.json()["result"]["structuredContent"]["item"]["pagetitle"];
        assert_eq!(*title, json!("Contact's \"page\" 100%_real"));
        assert_eq!(called.header("mcp-session-id"), None);
        let ended = agent.send("DELETE", &headers, "").await;
        assert_eq!((ended.status, ended.text()), (204, ""));
        // It was never a session: it means nothing before, during or after.
        let again = agent.send("POST", &headers, message("ping", json!({}))).await;
        assert_eq!(again.status, 200);
        let made_up = agent.send("POST", &[("mcp-session-id", "nobody's")], message("ping", json!({}))).await;
        assert_eq!(made_up.status, 200);
    }
    let mut sessions = Vec::new();
    for _ in 0..3 {
        let hello = stage.agent().post(message("initialize", json!({}))).await;
        sessions.push(hello.header("mcp-session-id").unwrap().to_owned());
    }
    sessions.sort();
    sessions.dedup();
    assert_eq!(sessions.len(), 3);
}

#[tokio::test]
async fn e_67_own_tokens_and_site_tokens_open_the_same_mount() {
    let both = "auth = [\"oauth\", \"jwt\"]\njwt_secret_env = \"SITE_SECRET\"\n";
    let folder = TestFolder::new();
    fill(&folder, "");
    let mount = format!("[[mount]]\ncontract = \"emcp\"\ndatabase = \"site.sqlite\"\n{both}{ROOMY}");
    let stage = Stage::serving(folder, &mount);
    let added = stage.command(&[
        "client", "add", "--json", "--name", "a", "--tenant", "site", "--scope", "mcp:read", "--scope", "mcp:call",
    ]);
    let added: Value = serde_json::from_str(&added.out).unwrap_or_else(|_| panic!("{added:?}"));
    let (id, secret) = (added["id"].as_str().unwrap(), added["secret"].as_str().unwrap());
    let form =
        format!("grant_type=client_credentials&client_id={id}&client_secret={secret}&scope=mcp%3Aread+mcp%3Acall");
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    let granted = stage.http().request("POST", "/token", &headers, form).await;
    let own = granted.json()["access_token"].as_str().unwrap_or_else(|| panic!("{}", granted.text())).to_owned();
    for token in [own, token("anna", json!("mcp:read,mcp:call"))] {
        let mut caller = stage.holder(&token);
        assert_eq!(caller.ids("evo.content.children", json!({"id": 248})).await, "249 250 251 252 253 254");
    }
}

/// A token for one of the sites would open the other.
#[test]
fn two_sites_with_one_secret_and_no_audience_are_refused() {
    let folder = TestFolder::new();
    fill(&folder, "");
    for (file, secret) in
        [("one", SECRET), ("rotated", &format!("{}\n{SECRET}\n", "x".repeat(40))), ("own", &"y".repeat(40))]
    {
        fs::write(folder.join(file), secret).unwrap();
        fs::set_permissions(folder.join(file), fs::Permissions::from_mode(0o600)).unwrap();
    }
    let mount = |name: &str, more: &str| {
        format!(
            "[[mount]]\ncontract = \"emcp\"\npath = \"/{name}\"\ntenant = \"{name}\"\ndatabase = \"site.sqlite\"\n\
             auth = [\"jwt\"]\n{more}"
        )
    };
    let first = mount("first", "jwt_secret_file = \"one\"\njwt_issuer = \"https://first.example\"\n");
    for (second, is_refused) in [
        ("jwt_secret_file = \"one\"\n", true),
        ("jwt_secret_file = \"rotated\"\n", true),
        ("jwt_secret_file = \"one\"\njwt_issuer = \"https://first.example\"\n", true),
        ("jwt_secret_file = \"one\"\njwt_issuer = \"https://second.example\"\n", false),
        ("jwt_secret_file = \"one\"\njwt_audience = \"second\"\n", false),
        ("jwt_secret_file = \"own\"\n", false),
    ] {
        let text = format!("data = \"data\"\nlisten = \"127.0.0.1:0\"\n{first}{}", mount("second", second));
        fs::write(folder.join("desk.toml"), text).unwrap();
        let checked = run_frontdesk(folder.path(), &["config", "check", "--config", "desk.toml"]);
        let expected = "mount[1].jwt_audience: mount[0] has the same secret, so a token for one site would open the other. \
            Set `jwt_audience` in one of them, or use two secrets";
        assert_eq!(checked.code != Some(0), is_refused, "{second}: {checked:?}");
        assert_eq!(format!("{}{}", checked.out, checked.err).contains(expected), is_refused, "{second}: {checked:?}");
    }
}
