//! What is refused and what is warned of, in the literal words an operator reads.

use std::path::Path;

use frontdesk::config::load;

use crate::source::{CONTRACTS, MOUNT, from_nothing, pairs, written};

#[test]
fn an_unknown_key_is_refused_with_the_nearest_right_one() {
    for (written, key, right) in [
        ("listn = \"127.0.0.1:1\"\n", "listn", "listen"),
        ("[token]\nlifetime_second = 1\n", "token.lifetime_second", "token.lifetime_seconds"),
        ("[tls]\ncert = \"x\"\n", "tls.cert", "tls.certificate"),
        ("[limits]\nbrust = 1\n", "limits.brust", "limits.burst"),
        ("retain_days = 1\n", "retain_days", "audit.retain_days"),
        ("public-url = \"https://a.example\"\n", "public-url", "public_url"),
        ("listen_address = \"127.0.0.1:1\"\n", "listen_address", "listen"),
    ] {
        assert_eq!(
            problems_of_file(&format!("{written}{MOUNT}"), &[]),
            format!(
                "the configuration has a problem:\n  {key} (FILE): this key does not exist. Did you mean `{right}`?"
            )
        );
    }
}

#[test]
fn an_unknown_table_is_refused_once_with_the_nearest_right_one() {
    for (written, table, right) in [
        ("[tokens]\nlifetime_seconds = 1\ncache_milliseconds = 1\n", "tokens", "[token]"),
        ("[limit]\nburst = 1\n", "limit", "[limits]"),
        ("[[mounts]]\ncontract = \"tomo\"\n", "mounts", "[[mount]]"),
    ] {
        assert_eq!(
            problems_of_file(&format!("{written}{MOUNT}"), &[]),
            format!(
                "the configuration has a problem:\n  {table} (FILE): this table does not exist. Did you mean `{right}`?"
            )
        );
    }
}

#[test]
fn an_unknown_variable_like_no_other_has_no_suggestion() {
    for name in ["FRONTDESK_XYZZY", "FRONTDESK_SENTRY_KEY"] {
        assert_eq!(
            problems(&[(name, "hunter2")]),
            format!(
                "the configuration has a problem:\n  {name} (environment): this variable does not exist. \
                 Unset it. A variable is named after its key: `operator.listen` is `FRONTDESK_OPERATOR_LISTEN`"
            )
        );
    }
}

#[test]
fn an_unknown_variable_is_refused_with_the_nearest_one() {
    for (name, right) in [
        ("FRONTDESK_LISTN", "FRONTDESK_LISTEN"),
        ("FRONTDESK_TLS_CERT", "FRONTDESK_TLS_CERTIFICATE"),
        ("FRONTDESK_CONFG", "FRONTDESK_CONFIG"),
    ] {
        assert_eq!(
            problems(&[(name, "hunter2")]),
            format!(
                "the configuration has a problem:\n  {name} (environment): this variable does not exist. Did you mean `{right}`?"
            )
        );
    }
}

#[test]
fn every_problem_is_reported_at_once_with_where_and_what_to_do() {
    let file = r#"
listen = "localhost:8443"
public_url = "http://desk.example.com"
allowed_hosts = ["*", "desk.example.com:443"]
database = "postgres://desk:hunter2@db/desk?sslmode=prefer"
tls = "desk.pem"
[operator]
listen = "0.0.0.0:8444"
[token]
lifetime_seconds = 7200
cache_milliseconds = 0.5
[idempotency]
retain_hours = 23
[log]
format = "xml"
[[mount]]
contract = "tomo"
path = "/mcp"
[[mount]]
contract = "automotiv"
path = "/mcp"
[[mount]]
contrat = "tomo"
path = "mcp"
"#;
    let environment = [("FRONTDESK_LIMITS_BURST", "many"), ("FRONTDESK_LIMITS_BODY_BITES", "1")];
    assert_eq!(
        problems_of_file(file, &environment),
        r#"the configuration has 17 problems:
  allowed_hosts[0] (FILE): "*" is not a host name or address. Write each host alone, such as desk.example.com; any port is accepted
  allowed_hosts[1] (FILE): "desk.example.com:443" is not a host name or address. Write each host alone, such as desk.example.com; any port is accepted
  database (FILE): the database is on another machine, and its rows would cross the network in cleartext. Use sslmode=verify-full and name its CA in `database_ca`
  idempotency.retain_hours (FILE): 23 is too small. Use a number from 24 to 8760
  listen (FILE): "localhost:8443" is not an address and a port. Write an IP address and a port, such as 127.0.0.1:8443 or 0.0.0.0:8443
  log.format (FILE): "xml" is not a log format. Use auto, pretty or json
  mount[2].contrat (FILE): this key does not exist. Did you mean `contract`?
  mount[2].contract (FILE): it is missing. Name the contract and its path; the contracts are: automotive, tomo
  mount[1].contract (FILE): "automotiv" is not a contract of this version. Did you mean `automotive`?
  mount[1].path (FILE): /mcp is mounted already. Give each mount its own path
  operator.listen (FILE): 0.0.0.0 can be reached from other machines. Use a loopback address, such as 127.0.0.1:8444
  public_url (FILE): "http://desk.example.com" is not encrypted, and Frontdesk serves https only. Write https, a host and perhaps a port, such as https://desk.example.com
  tls (FILE): it is text instead of a table. Write its keys under [tls]
  token.cache_milliseconds (FILE): it is a fraction instead of a number. Use a number from 0 to 1000
  token.lifetime_seconds (FILE): 7200 is too large. Use a number from 1 to 3600
  FRONTDESK_LIMITS_BODY_BITES (environment): this variable does not exist. Did you mean `FRONTDESK_LIMITS_BODY_BYTES`?
  limits.burst (FRONTDESK_LIMITS_BURST): "many" is not a number. Use a number from 1 to 1000000"#
    );
}

#[test]
fn a_remote_database_needs_its_certificate_authority() {
    for url in ["postgres://desk@db.example/desk", "postgres://desk@localhost/desk?sslmode=require"] {
        assert_eq!(
            problems(&[("FRONTDESK_DATABASE", url)]),
            "the configuration has a problem:
  database_ca: it is empty, but `database` is reached by TLS, and the CAs of the system are not trusted. Name the PEM file of the CA that issued the certificate of PostgreSQL"
        );
    }
    for (url, wrong) in [
        (
            "postgres://desk@db.example/desk?sslmode=verify-ca",
            "its sslmode does not verify the certificate of the server. Use sslmode=verify-full",
        ),
        (
            "postgres://desk@/desk?host=/run/postgresql&sslmode=require",
            "it asks for TLS on a socket of this machine, where there is none. Leave sslmode out",
        ),
    ] {
        assert_eq!(
            problems(&[("FRONTDESK_DATABASE", url)]),
            format!("the configuration has a problem:\n  database (FRONTDESK_DATABASE): {wrong}")
        );
    }
}

#[test]
fn keys_that_contradict_each_other_are_refused() {
    assert_eq!(
        problems(&[
            ("FRONTDESK_TLS_CERTIFICATE", "desk.pem"),
            ("FRONTDESK_LISTEN", "0.0.0.0:8444"),
            ("FRONTDESK_LIMITS_CONNECTIONS", "100"),
        ]),
        "the configuration has 3 problems:
  operator.listen: 127.0.0.1:8444 is taken by `listen` = 0.0.0.0:8444. Give one of them another port
  tls.key: it is empty, but `tls.certificate` is set. Set both, or neither for the development CA
  limits.connections_per_address: 256 is more than `limits.connections` = 100. Use at most 100, or raise `limits.connections`"
    );
    assert_eq!(
        problems(&[("FRONTDESK_TLS_KEY", "desk.key")]),
        "the configuration has a problem:
  tls.certificate: it is empty, but `tls.key` is set. Set both, or neither for the development CA"
    );
}

#[test]
fn a_broken_key_causes_no_second_complaint() {
    assert_eq!(
        problems(&[("FRONTDESK_LISTEN", "here"), ("FRONTDESK_OPERATOR_LISTEN", "127.0.0.1:8443")]),
        r#"the configuration has a problem:
  listen (FRONTDESK_LISTEN): "here" is not an address and a port. Write an IP address and a port, such as 127.0.0.1:8443 or 0.0.0.0:8443"#
    );
}

#[test]
fn a_file_must_say_what_it_mounts() {
    let advice = r#"Write [[mount]] with contract = "automotive" and path = "/mcp/automotive", or FRONTDESK_MOUNT=automotive=/mcp/automotive"#;
    for (file, key) in [("", "mount"), ("mount = []\n", "mount (FILE)")] {
        assert_eq!(
            problems_of_file(file, &[]),
            format!("the configuration has a problem:\n  {key}: nothing is mounted. {advice}")
        );
    }
}

#[test]
fn reserved_and_escaped_paths_cannot_be_mounted() {
    for (path, wrong) in [
        ("/token", "Frontdesk itself answers at /token. Choose another path, such as /mcp/tomo"),
        ("/.well-known/x", "Frontdesk itself answers at /.well-known/x. Choose another path, such as /mcp/tomo"),
        (
            "/",
            r#""/" is not a path that can be mounted. Begin with /, and join letters, digits, - . _ ~ by single slashes"#,
        ),
        (
            "/a/../b",
            r#""/a/../b" is not a path that can be mounted. Begin with /, and join letters, digits, - . _ ~ by single slashes"#,
        ),
        (
            "/a b",
            r#""/a b" is not a path that can be mounted. Begin with /, and join letters, digits, - . _ ~ by single slashes"#,
        ),
    ] {
        assert_eq!(
            problems(&[("FRONTDESK_MOUNT", &format!("tomo={path}"))]),
            format!("the configuration has a problem:\n  mount[0].path (FRONTDESK_MOUNT): {wrong}")
        );
    }
}

#[test]
fn a_public_url_is_https_and_host_and_port_only() {
    for (url, wrong) in [
        ("desk.example.com", r#""desk.example.com" does not begin with https://"#),
        ("https://user:hunter2@desk.example.com", "it holds a user name or password"),
        ("https://desk.example.com/mcp", r#""https://desk.example.com/mcp" has more than a host and a port"#),
        ("https://desk.example.com:0", r#""https://desk.example.com:0" has no valid port"#),
        ("https://desk.example.com:+443", r#""https://desk.example.com:+443" has no valid port"#),
        ("https://1.2.3", r#""https://1.2.3" has no valid host name or address"#),
        ("https://[::g]", r#""https://[::g]" has no valid host name or address"#),
        ("https://desk..com", r#""https://desk..com" has no valid host name or address"#),
        ("https://", r#""https://" has no valid host name or address"#),
    ] {
        let next = "Write https, a host and perhaps a port, such as https://desk.example.com";
        assert_eq!(
            problems(&[("FRONTDESK_PUBLIC_URL", url)]),
            format!("the configuration has a problem:\n  public_url (FRONTDESK_PUBLIC_URL): {wrong}. {next}")
        );
    }
}

#[test]
fn the_origin_null_and_wildcards_are_refused() {
    for origin in ["null", "*", "https://*.example.com"] {
        assert!(from_nothing(&[("FRONTDESK_ALLOWED_ORIGINS", origin)]).is_err(), "{origin}");
    }
}

#[test]
fn a_value_that_is_not_unicode_is_refused() {
    assert_eq!(
        problems(&[("FRONTDESK_DATA", "\u{fffd}")]),
        "the configuration has a problem:\n  data (FRONTDESK_DATA): it is not valid UTF-8. Write it in Unicode"
    );
}

#[test]
fn a_missing_or_invalid_file_is_reported_with_the_rest() {
    let missing =
        load(Some(Path::new("no/such.toml")), pairs(&[("FRONTDESK_LIMITS_BURST", "0")]), CONTRACTS).unwrap_err();
    assert_eq!(
        missing.to_string(),
        "the configuration has 2 problems:
  no/such.toml: the file cannot be read: No such file or directory (os error 2). Check the path and who may read it
  limits.burst (FRONTDESK_LIMITS_BURST): 0 is too small. Use a number from 1 to 1000000"
    );
    assert_eq!(
        problems_of_file("data = \"x\"\nlisten = \n", &[]),
        "the configuration has a problem:
  FILE: line 2 is not TOML: string values must be quoted, expected literal string. Fix that line"
    );
}

#[test]
fn what_is_allowed_but_unwise_is_a_warning() {
    let loaded = from_nothing(&[
        ("FRONTDESK_TOKEN_LIFETIME_SECONDS", "901"),
        ("FRONTDESK_LISTEN", "0.0.0.0:8443"),
        ("FRONTDESK_ALLOWED_HOSTS", "desk.example.com"),
    ])
    .unwrap();
    let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "token.lifetime_seconds: a stolen token can be used for up to 901 seconds. Prefer 900 or less",
            "public_url: other machines can reach 0.0.0.0:8443, but clients will be told to use localhost. Set it to the URL that clients use",
            "allowed_hosts: localhost is missing, so requests to `public_url` will be refused. Add \"localhost\"",
        ]
    );
    assert_eq!(from_nothing(&[("FRONTDESK_TOKEN_LIFETIME_SECONDS", "900")]).unwrap().warnings, []);
}

#[test]
fn traces_leave_this_machine_encrypted_or_not_at_all() {
    for endpoint in ["http://otel.example.com:4318", "http://10.0.0.7:4318", "http://[2001:db8::1]"] {
        assert_eq!(
            problems(&[("FRONTDESK_TRACES_ENDPOINT", endpoint)]),
            "the configuration has a problem:\n  traces.endpoint (FRONTDESK_TRACES_ENDPOINT): spans would leave this \
             machine in cleartext. Use https, or send them to a collector on this machine such as http://127.0.0.1:4318"
        );
    }
    assert_eq!(
        problems(&[("FRONTDESK_TRACES_ENDPOINT", "https://otel.example.com")]),
        "the configuration has a problem:\n  traces.ca: it is empty, but `traces.endpoint` is https. Name the PEM file of the CA that issued the certificate of the collector; public CAs are often in /etc/ssl/certs/ca-certificates.crt"
    );
    for (endpoint, read) in [
        ("http://127.0.0.1:4318", "http://127.0.0.1:4318"),
        ("http://LOCALHOST/", "http://localhost"),
        ("http://[::1]:4318/otlp/", "http://[::1]:4318/otlp"),
        ("", ""),
    ] {
        let loaded = from_nothing(&[("FRONTDESK_TRACES_ENDPOINT", endpoint)]).unwrap();
        let shown = loaded.settings.iter().find(|setting| setting.key == "traces.endpoint").unwrap();
        assert_eq!(shown.value, format!("{read:?}"));
    }
}

#[test]
fn invalid_trace_settings_are_explained_without_passwords() {
    let endpoint = |given: &str| problems(&[("FRONTDESK_TRACES_ENDPOINT", given)]);
    let next = "Write the base of the collector's URL, such as http://127.0.0.1:4318 or https://otel.example.com";
    for (given, wrong) in [
        ("127.0.0.1:4318", "\"127.0.0.1:4318\" does not begin with https://"),
        ("https://desk:hunter2@otel.example.com/", "it holds a user name or password"),
        ("http://127.0.0.1/v1?key=hunter2", "its path has invalid characters"),
        ("http://127.0.0.1/<otlp>", "its path has invalid characters"),
        ("http://127.0.0.1:port/", "\"http://127.0.0.1:port/\" has no valid port"),
    ] {
        assert_eq!(
            endpoint(given),
            format!("the configuration has a problem:\n  traces.endpoint (FRONTDESK_TRACES_ENDPOINT): {wrong}. {next}")
        );
    }
    for (given, wrong) in [
        ("1.5", "1.5 is not between 0.0 and 1.0"),
        ("-0.1", "-0.1 is not between 0.0 and 1.0"),
        ("all", "\"all\" is not a number"),
    ] {
        assert_eq!(
            problems(&[("FRONTDESK_TRACES_SAMPLE", given)]),
            format!(
                "the configuration has a problem:\n  traces.sample (FRONTDESK_TRACES_SAMPLE): {wrong}. Use a number from \
                 0.0 to 1.0, such as 0.1 for one call in ten"
            )
        );
    }
}

fn problems(environment: &[(&str, &str)]) -> String {
    from_nothing(environment).unwrap_err().to_string()
}

/// The problems of a file with `text`, with FILE for its path.
fn problems_of_file(text: &str, environment: &[(&str, &str)]) -> String {
    let file = written(text);
    let error = load(Some(&file), pairs(environment), CONTRACTS).unwrap_err();
    error.to_string().replace(file.to_str().unwrap(), "FILE")
}
