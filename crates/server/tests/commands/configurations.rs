//! `frontdesk config` and `frontdesk serve`: files that are right, files that are not, and certificates.

use std::fs::{self, Permissions};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::http_client::HttpClient;
use frontdesk_testkit::app::process::{CommandOutput, CommandProcess, run_frontdesk};

const ANY_PORT: [(&str, &str); 2] = [("FRONTDESK_LISTEN", "127.0.0.1:0"), ("FRONTDESK_OPERATOR_LISTEN", "127.0.0.1:0")];

/// A configuration with a certificate of one's own, and the two files.
fn with_certificate(folder: &TestFolder) -> (PathBuf, PathBuf) {
    let text = "[tls]\ncertificate = \"desk.pem\"\nkey = \"desk.key\"\n\n\
                [[mount]]\ncontract = \"automotive\"\npath = \"/cars\"\n";
    fs::write(folder.join("desk.toml"), text).unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (certificate, key) = (folder.join("desk.pem"), folder.join("desk.key"));
    fs::write(&certificate, made.cert.pem()).unwrap();
    private(&key, &made.signing_key.serialize_pem());
    (certificate, key)
}

fn private(file: &Path, text: &str) {
    fs::write(file, text).unwrap();
    fs::set_permissions(file, Permissions::from_mode(0o600)).unwrap();
}

fn serve(folder: &TestFolder) -> CommandProcess {
    CommandProcess::new(folder.path(), &["serve", "--config", "desk.toml"], &ANY_PORT)
}

/// Where a desk that logs JSON says that it serves.
fn address(log: &str) -> SocketAddr {
    let said: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let port = said.iter().find_map(|line| line["url"].as_str()?.strip_prefix("https://localhost:"));
    format!("127.0.0.1:{}", port.unwrap()).parse().unwrap()
}

#[tokio::test]
async fn the_minimal_example_serves() {
    let folder = TestFolder::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/minimal.toml");
    let mut desk = CommandProcess::new(folder.path(), &["serve", "--config", example.to_str().unwrap()], &ANY_PORT);
    let address = address(&desk.logged("serving\",\"url\":\"https://localhost:"));
    let mut client = HttpClient::new(address, &folder.join("frontdesk-data/tls/ca.pem"));
    assert!(client.get("/").await.text().contains("/mcp/automotive"));
    assert_eq!(client.request("POST", "/mcp/automotive", &[], "{}").await.status, 401);
    let CommandOutput { code, out, err } = desk.stop();
    assert_eq!((code, out.as_str()), (Some(0), ""));
    // The link with which the first user is made is in a file of the owner, and not logged.
    let file = folder.join("frontdesk-data/setup-link");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let link = fs::read_to_string(&file).unwrap();
    assert!(link.starts_with(&format!("https://localhost:{}/setup/", address.port())), "{link}");
    assert!(err.contains("setup-link") && !err.contains("/setup/"), "{err}");
}

#[tokio::test]
async fn a_certificate_of_ones_own_is_served() {
    let folder = TestFolder::new();
    let (certificate, _) = with_certificate(&folder);
    let mut desk = serve(&folder);
    let address = address(&desk.logged("serving\",\"url\":\"https://localhost:"));
    assert_eq!(HttpClient::new(address, &certificate).get("/").await.status, 200);
    assert!(!folder.join("frontdesk-data/tls").exists());
}

#[test]
fn check_and_serve_explain_a_bad_certificate_alike() {
    let folder = TestFolder::new();
    let (certificate, key) = with_certificate(&folder);
    let explained = |wanted: &str| {
        let checked = run_frontdesk(folder.path(), &["config", "check", "--config", "desk.toml"]);
        let listed = format!("frontdesk: the configuration has a problem:\n  tls: {wanted}\n");
        assert_eq!((checked.code, checked.out.as_str(), checked.err), (Some(1), "", listed));
        let served = serve(&folder).end();
        assert_eq!((served.code, served.out.as_str(), served.err), (Some(1), "", format!("frontdesk: {wanted}\n")));
    };
    fs::set_permissions(&key, Permissions::from_mode(0o644)).unwrap();
    explained(
        "other users can read the private key desk.key (mode 0644); run `chmod 600 desk.key`, and replace \
         the key if someone else may have read it",
    );
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    private(&key, &other.signing_key.serialize_pem());
    explained(
        "the key in desk.key does not belong to the certificate in desk.pem; use the key of the certificate, and put the server's own certificate first in its file",
    );
    private(&key, "secret words");
    explained(
        "desk.key contains no PEM private key; it must contain an unencrypted `-----BEGIN PRIVATE KEY-----` \
         block",
    );
    private(&key, &other.signing_key.serialize_pem());
    fs::write(&certificate, "nothing").unwrap();
    explained(
        "desk.pem contains no PEM certificate; it must contain a `-----BEGIN CERTIFICATE-----` block, the \
         server's own certificate first and its intermediates after it",
    );
    fs::remove_file(&certificate).unwrap();
    explained("desk.pem does not exist; put the PEM file there or correct the path in the configuration");
}

#[test]
fn check_accepts_a_file_and_show_names_value_sources() {
    let folder = TestFolder::new();
    let text = "listen = \"127.0.0.1:9443\"\n[[mount]]\ncontract = \"automotive\"\npath = \"/cars\"\n";
    fs::write(folder.join("desk.toml"), text).unwrap();
    let checked = run_frontdesk(folder.path(), &["config", "check", "--config", "desk.toml"]);
    assert_eq!(
        checked,
        CommandOutput { code: Some(0), out: "The configuration is valid.\n".to_owned(), err: String::new() }
    );
    let environment = [("FRONTDESK_LIMITS_BURST", "7")];
    let shown = CommandProcess::new(folder.path(), &["config", "show", "--config", "desk.toml"], &environment).end();
    assert_eq!((shown.code, shown.err.as_str()), (Some(0), ""));
    for (key, origin) in [
        ("listen = \"127.0.0.1:9443\" ", "# file"),
        ("limits.burst = 7 ", "# environment"),
        ("data = \"frontdesk-data\" ", "# default"),
    ] {
        let line = shown.out.lines().find(|line| line.starts_with(key));
        assert!(line.is_some_and(|line| line.ends_with(origin)), "{key}: {}", shown.out);
    }
    fs::write(folder.join("shown.toml"), &shown.out).unwrap();
    assert_eq!(run_frontdesk(folder.path(), &["config", "check", "--config", "shown.toml"]).code, Some(0));
}

#[test]
fn one_check_finds_what_is_wrong_with_values_files_and_folder() {
    let folder = TestFolder::new();
    let text = "lisen = \"127.0.0.1:9443\"\ndata = \"data\"\n[tls]\ncertificate = \"desk.pem\"\nkey = \"desk.key\"\n\
                [traces]\nendpoint = \"https://localhost:4318\"\nca = \"ca.pem\"\nheaders_file = \"headers\"\n\
                [[mount]]\ncontract = \"automotive\"\npath = \"/cars\"\n";
    fs::write(folder.join("desk.toml"), text).unwrap();
    private(&folder.join("desk.key"), "nothing");
    fs::write(folder.join("ca.pem"), "nothing").unwrap();
    fs::write(folder.join("headers"), "x-api-key: hunter2\n").unwrap();
    fs::set_permissions(folder.join("headers"), Permissions::from_mode(0o644)).unwrap();
    fs::create_dir(folder.join("data")).unwrap();
    fs::set_permissions(folder.join("data"), Permissions::from_mode(0o755)).unwrap();
    private(&folder.join("data/master.key"), "nothing");
    let check = || run_frontdesk(folder.path(), &["config", "check", "--config", "desk.toml"]);
    let said = check();
    assert_eq!((said.code, said.out.as_str()), (Some(1), ""));
    assert_eq!(
        said.err,
        "frontdesk: the configuration has 7 problems:
  lisen (desk.toml): this key does not exist. Did you mean `listen`?
  tls: desk.key contains no PEM private key; it must contain an unencrypted `-----BEGIN PRIVATE KEY-----` block
  tls: desk.pem does not exist; put the PEM file there or correct the path in the configuration
  data: data is accessible to other users, and it contains the master key. Run: chmod 700 data
  data: data/master.key is not a master key (64 hexadecimal digits). Restore the file that was created with this data folder.
  traces.ca: ca.pem contains no CA certificate. Name a PEM file with a `-----BEGIN CERTIFICATE-----` block
  traces.headers_file: other users can read headers (mode 0644). Run `chmod 600 headers`, and replace what is secret in it if someone else may have read it
"
    );
    fs::remove_dir_all(folder.join("data")).unwrap();
    fs::write(folder.join("data"), "a file").unwrap();
    assert!(check().err.contains("\n  data: cannot use data: Not a directory"), "{}", check().err);
}

/// Also those that are only read when a database answers.
#[test]
fn one_check_finds_every_file_that_is_missing() {
    let folder = TestFolder::new();
    let text = "[tls]\ncertificate = \"desk.pem\"\nkey = \"desk.key\"\n\
                [traces]\nendpoint = \"https://localhost:4318\"\nca = \"ca.pem\"\nheaders_file = \"headers\"\n\
                [[mount]]\ncontract = \"emcp\"\ndatabase = \"/none/site.sqlite\"\n\
                [[mount]]\ncontract = \"emcp\"\npath = \"/two\"\ntenant = \"two\"\n\
                database = \"mysql://site:secret@db.invalid/site\"\ndatabase_ca = \"site-ca.pem\"\n\
                auth = [\"jwt\"]\njwt_secret_file = \"jwt\"\n";
    fs::write(folder.join("desk.toml"), text).unwrap();
    let said = run_frontdesk(folder.path(), &["config", "check", "--config", "desk.toml"]);
    assert_eq!((said.code, said.out.as_str()), (Some(1), ""));
    for missing in [
        "tls: desk.key ",
        "tls: desk.pem ",
        "traces.ca: ca.pem ",
        "traces.headers_file: headers ",
        "mount[0].database: cannot read the site's database: /none/site.sqlite ",
        "mount[1].database_ca: site-ca.pem cannot be read: No such file or directory (os error 2). Correct the path, ",
        "mount[1].jwt_secret: jwt ",
    ] {
        assert!(said.err.contains(&format!("\n  {missing}")), "{missing}: {}", said.err);
    }
}

#[test]
fn a_check_leaves_no_trace_and_does_not_mind_a_server() {
    let folder = TestFolder::new();
    let text = "data = \"new/data\"\n[[mount]]\ncontract = \"automotive\"\npath = \"/cars\"\n";
    fs::write(folder.join("desk.toml"), text).unwrap();
    let check = || run_frontdesk(folder.path(), &["config", "check", "--config", "desk.toml"]);
    let fine = CommandOutput { code: Some(0), out: "The configuration is valid.\n".to_owned(), err: String::new() };
    assert_eq!(check(), fine);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let mut desk = serve(&folder);
    desk.logged("serving\",\"url\":\"https://localhost:");
    let files = || fs::read_dir(folder.join("new/data")).unwrap().count();
    let before = files();
    assert_eq!((check(), files()), (fine, before));
}

#[test]
fn an_unknown_key_is_refused_with_the_nearest_name() {
    let folder = TestFolder::new();
    let text =
        "lisen = \"127.0.0.1:9443\"\n[limits]\nbrust = 7\n[[mount]]\ncontract = \"automotive\"\npath = \"/cars\"\n";
    fs::write(folder.join("desk.toml"), text).unwrap();
    for arguments in [&["config", "check"][..], &["config", "show"], &["serve"]] {
        let said = CommandProcess::new(
            folder.path(),
            &[arguments, &["--config", "desk.toml"]].concat(),
            &[("FRONTDESK_LISTN", "127.0.0.1:0")],
        )
        .end();
        assert_eq!((said.code, said.out.as_str()), (Some(1), ""));
        for part in ["lisen", "`listen`", "brust", "`limits.burst`", "FRONTDESK_LISTN", "FRONTDESK_LISTEN"] {
            assert!(said.err.contains(part), "no {part}: {}", said.err);
        }
    }
    let missing = run_frontdesk(folder.path(), &["serve", "--config", "nowhere.toml"]);
    assert_eq!(missing.code, Some(1));
    assert!(missing.err.contains("nowhere.toml"), "{missing:?}");
}

#[test]
fn a_file_that_is_no_text_is_said_to_be_none() {
    let folder = TestFolder::new();
    fs::write(folder.join("desk.toml"), b"data = \"d\xe9pot\"\n").unwrap();
    let said = run_frontdesk(folder.path(), &["config", "check", "--config", "desk.toml"]);
    assert_eq!(
        (said.code, said.err.as_str()),
        (
            Some(1),
            "frontdesk: the configuration has a problem:\n  \
             desk.toml: the file is not valid UTF-8. Save it as UTF-8, or name another file\n"
        )
    );
}
