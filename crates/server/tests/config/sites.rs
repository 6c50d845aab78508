//! Mounts that read a site: what is usual, what can be said, and every mistake in the words an operator reads.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use frontdesk::config::{
    ConfigErrors, Dispatch, Failover, LoadedConfig, OwnTokens, SecretSource, SiteAuth, SiteConfig, load, show,
};
use frontdesk_engine::model::contract_entry::{ContractEntry, MountDefaults, Requires};

use crate::source::{pairs, written};

const ENTRIES: &[ContractEntry] = &[
    ContractEntry::new("automotive"),
    ContractEntry::new("cms").requiring(Requires::SiteDb(MountDefaults {
        base: "/api/v1/mcp",
        server: "content",
        prefix: "cms_",
        scopes: &[("mcp:read", &["ping", "tools/list"]), ("mcp:call", &["tools/call"]), ("mcp:admin", &[])],
        write_tools: "cms.write.*",
    })),
];
const LEAST: &str = "[[mount]]\ncontract = \"cms\"\ndatabase = \"site.sqlite\"\n";

fn given(text: &str, environment: &[(&str, &str)]) -> Result<LoadedConfig, ConfigErrors> {
    load(Some(&written(text)), pairs(environment), ENTRIES)
}

fn site(text: &str) -> SiteConfig {
    let loaded = given(text, &[]).unwrap();
    *loaded.config.mounts.first().and_then(|mount| mount.site.clone()).unwrap()
}

/// The problems one a line, without the file's name.
fn problems(text: &str) -> Vec<String> {
    let file = written(text).display().to_string();
    let error = given(text, &[]).unwrap_err();
    error.problems.iter().map(|problem| problem.to_string().replace(&format!(" ({file})"), "")).collect()
}

#[test]
fn a_database_is_all_that_has_to_be_said() {
    let loaded = given(LEAST, &[]).unwrap();
    let mount = &loaded.config.mounts[0];
    assert_eq!((mount.contract.as_str(), mount.path.as_str()), ("cms", "/api/v1/mcp"));
    let site = mount.site.as_deref().unwrap();
    assert_eq!(site.database, SecretSource::Literal("site.sqlite".to_owned()));
    assert_eq!((site.prefix.as_str(), site.tenant.as_str(), &site.authority), ("cms_", "site", &None));
    assert_eq!(site.auth, SiteAuth::Tokens { own: OwnTokens::Accepted, jwt: None });
    assert_eq!(
        (&site.allow_servers, site.dispatch, site.failover),
        (&vec!["*".to_owned()], Dispatch::Sync, Failover::Sync)
    );
    let [server] = site.servers.as_slice() else { panic!("{:?}", site.servers) };
    assert_eq!((server.handle.as_str(), &server.path), ("content", &None));
    assert_eq!(server.deny_tools, ["cms.write.*"]);
    assert_eq!(server.scopes[1], ("mcp:call".to_owned(), vec!["tools/call".to_owned()]));
    let limits = &server.limits;
    assert_eq!((limits.payload_bytes, limits.result_items, limits.result_bytes), (131_072, 100, 1_048_576));
    assert_eq!((limits.depth, limits.offset, limits.per_minute), (6, 5_000, 30));
    assert_eq!(limits.retain, Duration::from_secs(86_400));
}

#[test]
fn server_settings_replace_limits_and_add_denied_tools() {
    let site = site(
        "[[mount]]\ncontract = \"cms\"\ndatabase = \"site.sqlite\"\ndeny_tools = [\"cms.model.*\"]\n\
         enable_write_tools = true\ndispatch = \"async\"\nfailover = \"fail\"\nallow_servers = [\"content\", \"public-*\"]\n\
         [mount.limits]\nmax_payload_kb = 64\nper_minute = 10\n\
         [[mount.server]]\nhandle = \"content\"\n\
         [[mount.server]]\nhandle = \"public\"\npath = \"/mcp/site\"\ndeny_tools = [\"cms.content.get\"]\n\
         [mount.server.limits]\nper_minute = 20\nidempotency_ttl_seconds = 60\n\
         [mount.server.scope_map]\n\"mcp:read\" = [\"tools/call\", \"notifications/*\"]\n",
    );
    assert_eq!((site.dispatch, site.failover), (Dispatch::Async, Failover::Fail));
    let [content, public] = site.servers.as_slice() else { panic!("{:?}", site.servers) };
    assert_eq!(content.deny_tools, ["cms.model.*"]);
    assert_eq!((content.limits.payload_bytes, content.limits.per_minute), (65_536, 10));
    assert_eq!(public.path.as_deref(), Some("/mcp/site"));
    assert_eq!(public.deny_tools, ["cms.model.*", "cms.content.get"]);
    assert_eq!((public.limits.payload_bytes, public.limits.per_minute), (65_536, 20));
    assert_eq!(public.limits.retain, Duration::from_secs(60));
    let methods = vec!["tools/call".to_owned(), "notifications/*".to_owned()];
    assert_eq!(public.scopes, [("mcp:read".to_owned(), methods)]);
}

#[test]
fn every_mistake_is_said_at_once_with_what_to_do() {
    let text = "[[mount]]\ncontract = \"cms\"\ndatabse = \"x\"\nprefix = \"a-b\"\ntenant = \"a b\"\nauth = [\"none\", \"jwt\"]\n\
                dispatch = \"later\"\nallow_servers = [\"a b\"]\nenable_write_tools = \"no\"\n\
                [mount.limits]\nmax_payload_kb = 0\nper_minuet = 3\nidempotency_ttl_seconds = 59\n\
                [mount.scope_map]\n\"mcp:raed\" = [\"ping\"]\n\"mcp:call\" = [\"tools/*/x\"]\n\
                [[mount.server]]\npath = \"/x\"\n\
                [[mount.server]]\nhandle = \"a/b\"\n";
    assert_eq!(
        problems(text),
        [
            "mount[0].databse: this key does not exist. Did you mean `database`?",
            "mount[0].database: it is missing. Write the path of the site's SQLite file, or a mysql:// or postgres:// URL; \
             `database_env` and `database_file` keep a password out of this file",
            "mount[0].prefix: \"a-b\" is not a table prefix. Use letters, digits and _ only, such as cms_",
            "mount[0].tenant: \"a b\" is not a tenant id. Use 1 to 64 letters, digits, `_` or `-`, such as site",
            "mount[0].auth: \"none\" cannot be combined with other methods. Use \"oauth\", \"jwt\", both, or \"none\" alone",
            "mount[0].allow_servers[0]: it is not a pattern. Write characters without blanks, and * for any characters",
            "mount[0].enable_write_tools: it is neither true nor false. Write true or false without quotes",
            "mount[0].dispatch: \"later\" is not an accepted value. Use sync or async",
            "mount[0].limits.per_minuet: this key does not exist. Did you mean `per_minute`?",
            "mount[0].limits.max_payload_kb: 0 is too small. Use a number from 1 to 65536",
            "mount[0].limits.idempotency_ttl_seconds: 59 is too small. Use a number from 60 to 31536000",
            "mount[0].scope_map.\"mcp:call\": \"tools/*/x\" is neither a method nor a group of them. Write a method such as \
             tools/call, or a group such as notifications/*",
            "mount[0].scope_map.\"mcp:raed\": there is no such scope. Did you mean \"mcp:read\"?",
            "mount[0].server[0].handle: it is missing. Name the last segment of its address, such as content",
            "mount[0].server[1].handle: \"a/b\" is not a handle. Use 1 to 64 letters, digits, - . or _, such as content",
        ]
    );
}

#[test]
fn one_database_has_one_address() {
    for (more, wrong) in [
        (
            "database = \"a\"\ndatabase_env = \"B\"\n",
            "mount[0].database: there are several addresses for one database. Set only one of `database`, `database_env` \
             and `database_file`",
        ),
        ("database = 5\n", "mount[0].database: it is an integer instead of text. Write it in quotes"),
    ] {
        assert_eq!(problems(&format!("[[mount]]\ncontract = \"cms\"\n{more}")), [wrong]);
    }
}

#[test]
fn only_site_tokens_need_a_secret() {
    for (more, wrong) in [
        (
            "auth = [\"jwt\"]\n",
            "mount[0].jwt_secret_file: it is missing, but `auth` names \"jwt\". Name a file with the secret the site signs \
             with, or use `jwt_secret_env`",
        ),
        (
            "auth = [\"jwt\"]\njwt_secret_env = \"A\"\njwt_secret_file = \"b\"\n",
            "mount[0].jwt_secret_file: there are two sources for one secret. Set `jwt_secret_env` or `jwt_secret_file`, not \
             both",
        ),
        (
            "auth = [\"jwt\"]\njwt_secret_env = \"A\"\njwt_lifetime_seconds = 2592001\n",
            "mount[0].jwt_lifetime_seconds: 2592001 is too large. Use a number from 1 to 2592000",
        ),
        (
            "jwt_issuer = \"site\"\n",
            "mount[0].jwt_issuer: it is set, but `auth` does not name \"jwt\". Add \"jwt\" to `auth`, or leave it out",
        ),
        (
            "auth = [\"basic\"]\n",
            "mount[0].auth[0]: \"basic\" is not an authentication method. Use \"oauth\", \"jwt\", both, or \"none\" alone",
        ),
        (
            "auth = []\n",
            "mount[0].auth: an empty list would refuse every call. Use \"oauth\", \"jwt\", both, or \"none\" alone",
        ),
    ] {
        assert_eq!(problems(&format!("{LEAST}{more}")), [wrong]);
    }
}

#[test]
fn nobody_without_a_token_comes_from_another_machine() {
    let text = format!("listen = \"0.0.0.0:8443\"\n{LEAST}auth = [\"none\"]\n");
    assert_eq!(
        problems(&text),
        [
            "mount[0].auth: without tokens it may be reached from this machine only, but `listen` is 0.0.0.0:8443. Use a \
          loopback address such as 127.0.0.1:8443 for `listen`, or \"oauth\" or \"jwt\" for `auth`"
        ]
    );
    assert_eq!(site(&format!("{LEAST}auth = [\"none\"]\n")).auth, SiteAuth::None);
    let warned = |url: &str| {
        let text = format!("public_url = \"https://{url}\"\n{LEAST}auth = [\"none\"]\n");
        given(&text, &[]).unwrap().warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        warned("desk.example"),
        [
            "mount[0].auth: it needs no tokens, but `public_url` names desk.example, so there seems to be a proxy before it. Requests through a proxy are refused here. Use \"oauth\" or \"jwt\" for callers from other machines"
        ]
    );
    assert_eq!(warned("localhost:8443"), [""; 0]);
}

#[test]
fn two_servers_never_share_an_address() {
    let plain = "[[mount]]\ncontract = \"automotive\"\npath = \"/api/v1/mcp/content\"\n";
    assert_eq!(
        problems(&format!("{plain}{LEAST}")),
        ["mount[1].server[0].handle: /api/v1/mcp/content is mounted already. Give each mount its own path"]
    );
    assert_eq!(
        problems(&format!("{LEAST}{LEAST}")),
        [
            "mount[1].path: /api/v1/mcp is mounted already. Give each mount its own path",
            "mount[1].tenant: mount[0] has a server content of the tenant site already. Give each site a `tenant` of its \
             own, under which its callers, tasks and records are stored"
        ]
    );
    let second = LEAST.replace("site.sqlite", "other.sqlite") + "path = \"/two\"\n";
    assert_eq!(
        problems(&format!("{LEAST}{second}")),
        [
            "mount[1].tenant: mount[0] has a server content of the tenant site already. Give each site a `tenant` of its \
          own, under which its callers, tasks and records are stored"
        ]
    );
    given(&format!("{LEAST}{second}tenant = \"two\"\n"), &[]).unwrap();
    let extra = format!("{LEAST}[[mount.server]]\nhandle = \"content\"\npath = \"/token\"\n");
    assert_eq!(
        problems(&extra),
        ["mount[0].server[0].path: Frontdesk itself answers at /token. Choose another path, such as /mcp/cms"]
    );
}

#[test]
fn a_site_is_not_mounted_by_a_path_alone() {
    let error = load(None, pairs(&[("FRONTDESK_MOUNT", "cms=/site")]), ENTRIES).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the configuration has a problem:\n  mount[0] (FRONTDESK_MOUNT): cms reads a database, and a path does not say \
         which. Write it into a file, as [[mount]] with `contract` and `database`"
    );
    let usual = load(None, pairs(&[]), ENTRIES).unwrap().config.mounts;
    assert_eq!(usual.iter().map(|mount| mount.contract.as_str()).collect::<Vec<_>>(), ["automotive"]);
}

#[test]
fn secrets_come_from_a_variable_or_a_file_and_are_never_shown() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("site-secret");
    fs::write(&file, "hunter2hunter2hunter2hunter2hunter2\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let text = format!(
        "[[mount]]\ncontract = \"cms\"\ndatabase_env = \"CMS_URL\"\nauth = [\"jwt\", \"oauth\"]\njwt_secret_file = {file:?}\n"
    );
    let loaded = given(&text, &[("CMS_URL", "mysql://desk:hunter2@localhost/site")]).unwrap();
    let site = loaded.config.mounts[0].site.as_deref().unwrap();
    assert_eq!(site.database.reveal().unwrap().as_str(), "mysql://desk:hunter2@localhost/site");
    let SiteAuth::Tokens { own: OwnTokens::Accepted, jwt: Some(jwt) } = &site.auth else { panic!("{:?}", site.auth) };
    assert_eq!(jwt.secret.reveal().unwrap().as_str(), "hunter2hunter2hunter2hunter2hunter2");
    let shown = format!("{}{:?}", show(&loaded.settings), loaded.config);
    assert!(!shown.contains("hunter2") && shown.contains("database_env = \"CMS_URL\""), "{shown}");

    let given = given(&LEAST.replace("site.sqlite", "mysql://desk:hunter2@localhost/site"), &[]).unwrap();
    let shown = format!("{}{:?}", show(&given.settings), given.config);
    assert!(!shown.contains("hunter2") && shown.contains("database = \"mysql://desk:***@localhost/site\""), "{shown}");
}

#[test]
fn a_missing_secret_is_reported_when_the_site_is_opened() {
    let loaded = given("[[mount]]\ncontract = \"cms\"\ndatabase_env = \"NO_SUCH_URL\"\n", &[]).unwrap();
    let site = loaded.config.mounts[0].site.as_deref().unwrap();
    assert_eq!(
        site.database.reveal().unwrap_err(),
        "the variable NO_SUCH_URL is not set. Set it where the server is started"
    );
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("open-secret");
    fs::write(&file, "x").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let name = file.display();
    assert_eq!(
        SecretSource::File(file.clone()).reveal().unwrap_err(),
        format!("{name} can be read by everyone on this machine. Run: chmod o= {name}")
    );
    let gone = SecretSource::File("no/such/secret".into()).reveal().unwrap_err();
    assert!(gone.starts_with("no/such/secret cannot be read: "), "{gone}");
}

#[test]
fn what_is_shown_can_be_used_as_a_file() {
    let text = format!("{LEAST}[[mount.server]]\nhandle = \"content\"\npath = \"/mcp/site\"\n");
    let loaded = given(&text, &[]).unwrap();
    let again = given(&show(&loaded.settings), &[]).unwrap();
    let (before, after) = (&loaded.config.mounts[0], &again.config.mounts[0]);
    assert_eq!(before.path, after.path);
    let limits = |mount: &frontdesk::config::MountConfig| mount.site.as_deref().unwrap().servers[0].limits.clone();
    assert_eq!(limits(before), limits(after));
}
