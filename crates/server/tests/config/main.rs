//! Configuration through its public surface: defaults, precedence, `config show`, the examples and the reference.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod manifests;
mod partners;
mod problems;
mod rest;
mod sites;
mod source;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use frontdesk::config::{
    CertificateConfig, Config, DefaultValue, KEYS, LoadedConfig, LogFormat, MountConfig, Retention, ValueSource,
    example, load, reference, show,
};
use frontdesk_engine::model::contract_entry::{ContractEntry, Requires};
use source::{MOUNT, from_file, from_nothing, pairs, written};

#[test]
fn without_file_and_environment_every_value_has_its_default() {
    let loaded = from_nothing(&[]).unwrap();
    assert_eq!(
        show(&loaded.settings),
        r#"data = "frontdesk-data"                              # default
listen = "127.0.0.1:8443"                            # default
public_url = "https://localhost:8443"                # default
allowed_hosts = ["localhost", "127.0.0.1", "[::1]"]  # default
allowed_origins = ["https://localhost:8443"]         # default
trusted_proxies = []                                 # default
database = ""                                        # default
database_ca = ""                                     # default
master_key = ""                                      # default
tls.certificate = ""                                 # default
tls.key = ""                                         # default
operator.listen = "127.0.0.1:8444"                   # default
token.lifetime_seconds = 300                         # default
token.cache_milliseconds = 1000                      # default
token.operator_days = 30                             # default
login.session_minutes = 30                           # default
login.grant_days = 90                                # default
login.idle_days = 14                                 # default
login.registration = "off"                           # default
login.client_documents = "any"                       # default
limits.body_bytes = 1048576                          # default
limits.import_bytes = 16777216                       # default
limits.body_memory_bytes = 67108864                  # default
limits.page_bytes = 262144                           # default
limits.connections = 4096                            # default
limits.connections_per_address = 256                 # default
limits.streams = 1024                                # default
limits.streams_per_client = 256                      # default
limits.calls_per_minute = 6000                       # default
limits.burst = 1000                                  # default
limits.token_requests_per_minute = 60                # default
limits.tenant_records = 20000000                     # default
limits.tenant_mebibytes = 65536                      # default
limits.client_records = 10000000                     # default
limits.client_mebibytes = 32768                      # default
limits.min_free_mebibytes = 64                       # default
deadlines.call_seconds = 30                          # default
deadlines.drain_seconds = 25                         # default
idempotency.retain_hours = 168                       # default
audit.retain_days = 0                                # default
audit.retain_days_writes = 0                         # default
audit.retain_days_reads = 0                          # default
audit.retain_days_admin = 0                          # default
audit.anchor = ""                                    # default
audit.anchor_minutes = 15                            # default
log.format = "auto"                                  # default
traces.endpoint = ""                                 # default
traces.ca = ""                                       # default
traces.headers_file = ""                             # default
traces.sample = 1.0                                  # default
outbound.allow = []                                  # default
outbound.ca = ""                                     # default
signals.min_group = 5                                # default
mount = [{ contract = "automotive", path = "/mcp/automotive" }, { contract = "tomo", path = "/mcp/tomo" }]  # default
"#
    );
}

#[test]
fn the_password_of_a_database_is_not_shown() {
    let url = "postgres://desk:hunter2@localhost:5433/cars";
    let loaded = from_nothing(&[("FRONTDESK_DATABASE", url)]).unwrap();
    let line = show(&loaded.settings).lines().find(|line| line.starts_with("database")).unwrap().to_owned();
    assert!(line.starts_with(r#"database = "postgres://desk:***@localhost:5433/cars""#), "{line}");
    assert!(!format!("{:?}", loaded.config).contains("hunter2"));
    for wrong in
        ["postgres://desk:hunter2@db.example/cars", "mysql://desk:hunter2@localhost/cars", "postgres:// hunter2"]
    {
        let problem = from_nothing(&[("FRONTDESK_DATABASE", wrong)]).unwrap_err().to_string();
        assert!(!problem.contains("hunter2"), "{problem}");
    }
}

#[test]
fn defaults_become_typed_values() {
    let Config { certificate, token, deadlines, idempotency, audit, log, mounts, limits, .. } =
        from_nothing(&[]).unwrap().config;
    assert_eq!(certificate, CertificateConfig::Development);
    assert_eq!((token.lifetime, token.cache), (Duration::from_secs(300), Duration::from_secs(1)));
    assert_eq!((deadlines.call, deadlines.drain), (Duration::from_secs(30), Duration::from_secs(25)));
    assert_eq!(idempotency.retain, Duration::from_secs(7 * 24 * 3600));
    assert_eq!([audit.writes, audit.reads, audit.administration], [Retention::Forever; 3]);
    assert_eq!(log.format, LogFormat::Auto);
    assert_eq!((limits.body_bytes, limits.page_bytes), (1_048_576, 262_144));
    assert_eq!((limits.connections, limits.connections_per_address), (4096, 256));
    assert_eq!((limits.calls_per_minute, limits.burst, limits.token_requests_per_minute), (6000, 1000, 60));
    assert_eq!(mounts, [mount("automotive", "/mcp/automotive"), mount("tomo", "/mcp/tomo")]);
}

#[test]
fn environment_wins_over_file_and_file_over_default() {
    let file = "listen = \"127.0.0.1:9000\"\n[limits]\nburst = 7\n[token]\nlifetime_seconds = 60\n";
    let loaded = from_file(&format!("{file}{MOUNT}"), &[("FRONTDESK_LISTEN", "127.0.0.1:9001")]).unwrap();
    assert_eq!(loaded.config.listen.to_string(), "127.0.0.1:9001");
    assert_eq!(loaded.config.limits.burst, 7);
    assert_eq!(loaded.config.token.cache, Duration::from_secs(1));
    assert_eq!(origin(&loaded, "listen"), ValueSource::Environment);
    assert_eq!(origin(&loaded, "limits.burst"), ValueSource::File);
    assert_eq!(origin(&loaded, "token.cache_milliseconds"), ValueSource::Default);
    assert_eq!(loaded.config.public_url.to_string(), "https://localhost:9001");
}

#[test]
fn the_later_of_two_equal_variables_counts() {
    let loaded = from_nothing(&[("FRONTDESK_DATA", "one"), ("FRONTDESK_DATA", "two")]).unwrap();
    assert_eq!(loaded.config.data, Path::new("two"));
}

#[test]
fn the_environment_sets_lists_mounts_and_tables() {
    let loaded = from_nothing(&[
        ("FRONTDESK_ALLOWED_HOSTS", "Desk.example.com, localhost"),
        ("FRONTDESK_ALLOWED_ORIGINS", "https://app.example.com:443/,http://localhost:6274"),
        ("FRONTDESK_MOUNT", "tomo=/shop, automotive=/cars"),
        ("FRONTDESK_TLS_CERTIFICATE", "desk.pem"),
        ("FRONTDESK_TLS_KEY", "desk.key"),
        ("FRONTDESK_AUDIT_RETAIN_DAYS", "400"),
        ("FRONTDESK_AUDIT_RETAIN_DAYS_READS", "30"),
        ("FRONTDESK_AUDIT_RETAIN_DAYS_ADMIN", "0"),
        ("HOME", "/root"),
    ])
    .unwrap();
    assert_eq!(loaded.config.allowed_hosts, ["desk.example.com", "localhost"]);
    assert_eq!(loaded.config.allowed_origins, ["https://app.example.com", "http://localhost:6274"]);
    assert_eq!(loaded.config.mounts, [mount("tomo", "/shop"), mount("automotive", "/cars")]);
    // A class without a key of its own is stored as long as the others.
    let audit = loaded.config.audit;
    assert_eq!(
        [audit.writes, audit.reads, audit.administration],
        [Retention::Days(400), Retention::Days(30), Retention::Forever]
    );
    assert_eq!(
        loaded.config.certificate,
        CertificateConfig::Files { certificate: PathBuf::from("desk.pem"), key: PathBuf::from("desk.key") }
    );
}

#[test]
fn the_public_url_gives_the_allowed_host_and_origin() {
    let config = from_nothing(&[("FRONTDESK_PUBLIC_URL", "https://Desk.Example.com:443/")]).unwrap().config;
    assert_eq!(config.public_url.to_string(), "https://desk.example.com");
    assert_eq!(config.public_url.at("/mcp/tomo"), "https://desk.example.com/mcp/tomo");
    assert_eq!(config.allowed_hosts, ["desk.example.com", "localhost", "127.0.0.1", "[::1]"]);
    assert_eq!(config.allowed_origins, ["https://desk.example.com"]);
}

#[test]
fn what_nobody_set_follows_the_port_that_the_system_chose() {
    let loaded = from_nothing(&[("FRONTDESK_LISTEN", "127.0.0.1:0")]).unwrap();
    let config = loaded.bound_to("127.0.0.1:40123".parse().unwrap());
    assert_eq!(config.listen.to_string(), "127.0.0.1:40123");
    assert_eq!(config.public_url.to_string(), "https://localhost:40123");
    assert_eq!(config.allowed_origins, ["https://localhost:40123"]);
    assert_eq!(config.mounts, loaded.config.mounts);

    let said = [("FRONTDESK_LISTEN", "127.0.0.1:0"), ("FRONTDESK_PUBLIC_URL", "https://desk.example.com")];
    let config = from_nothing(&said).unwrap().bound_to("127.0.0.1:40123".parse().unwrap());
    assert_eq!(config.public_url.to_string(), "https://desk.example.com");
}

#[test]
fn the_variable_frontdesk_config_names_the_file() {
    let file = written("data = \"named\"\n");
    let path = file.to_str().unwrap();
    let loaded = from_nothing(&[("FRONTDESK_CONFIG", path), ("FRONTDESK_MOUNT", "tomo=/t")]).unwrap();
    assert_eq!(loaded.config.data, Path::new("named"));
    assert_eq!(loaded.file, Some(file));
}

#[test]
fn what_config_show_prints_is_a_file_with_the_same_meaning() {
    let loaded =
        from_nothing(&[("FRONTDESK_PUBLIC_URL", "https://desk.example.com"), ("FRONTDESK_DATA", "a \"b\"")]).unwrap();
    let again = from_file(&show(&loaded.settings), &[]).unwrap();
    assert_eq!(again.config, loaded.config);
    assert!(again.settings.iter().all(|setting| setting.source == ValueSource::File));
}

#[test]
fn every_example_loads_without_a_warning() {
    let mut names = Vec::new();
    for entry in fs::read_dir(project("examples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let loaded = load(Some(&path), pairs(&[]), frontdesk_contracts::ENTRIES)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert_eq!(loaded.warnings, [], "{}", path.display());
            names.push(path.file_name().unwrap().to_str().unwrap().to_owned());
        }
    }
    for name in ["all-keys.toml", "minimal.toml", "production.toml", "site.toml"] {
        assert!(names.iter().any(|found| found == name), "examples/{name} is missing");
    }
}

#[test]
fn the_example_with_every_key_means_the_defaults() {
    let text = example(&[ContractEntry::new("automotive"), ContractEntry::new("tomo").requiring(Requires::Partner)]);
    up_to_date("examples/all-keys.toml", &text);
    let loaded =
        load(Some(&project("examples/all-keys.toml")), pairs(&[]), &[ContractEntry::new("automotive")]).unwrap();
    assert!(loaded.settings.iter().all(|setting| setting.source == ValueSource::File));
    assert_eq!(loaded.config, load(None, pairs(&[]), &[ContractEntry::new("automotive")]).unwrap().config);
}

#[test]
fn the_reference_is_made_from_the_table() {
    up_to_date("docs/configuration.md", &reference());
}

#[test]
fn the_guide_of_clients_is_made_from_the_clients() {
    let guide =
        frontdesk::connect::guide("automotive", &["amcp:inventory:read", "amcp:leads:read", "amcp:leads:write"]);
    up_to_date("docs/guides/clients.md", &guide);
}

#[test]
fn every_variable_has_the_name_of_its_key_and_help() {
    for key in KEYS {
        assert_eq!(key.env, format!("FRONTDESK_{}", key.path.to_uppercase().replace('.', "_")));
        assert!(key.about.ends_with('.') && !key.about.contains('|'), "{}", key.path);
        assert!(!matches!(key.default, DefaultValue::Derived("")), "{}", key.path);
    }
}

/// A stale text is written anew before the test fails, so that the second run passes and the change can be reviewed.
fn up_to_date(path: &str, text: &str) {
    let file = project(path);
    if fs::read_to_string(&file).unwrap_or_default() != text {
        fs::write(&file, text).unwrap();
        assert_eq!("stale", "up to date", "{path} was out of date and has been written anew; review and commit it");
    }
}

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn mount(contract: &str, path: &str) -> MountConfig {
    MountConfig::new(contract, path)
}

fn origin(loaded: &LoadedConfig, key: &str) -> ValueSource {
    loaded.settings.iter().find(|setting| setting.key == key).unwrap().source
}
