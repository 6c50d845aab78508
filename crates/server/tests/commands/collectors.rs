//! The way to a collector: over TLS, with a key from a file, and changed while the desk runs.

use std::fs::{self, Permissions};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;

use crate::certificates::address;
use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::collector::{CollectorMode, TraceCollector};
use frontdesk_testkit::app::http_client::HttpClient;
use frontdesk_testkit::app::process::{CommandProcess, run_frontdesk};

const TRACES: [&str; 3] =
    ["4bf92f3577b34da6a3ce929d0e0e4736", "0af7651916cd43dd8448eb211c80319c", "11111111111111112222222222222222"];

fn write(folder: &TestFolder, traces: &str) {
    let text = format!(
        "data = \"data\"\nlisten = \"127.0.0.1:0\"\n[operator]\nlisten = \"127.0.0.1:0\"\n{traces}\n\
         [[mount]]\ncontract = \"automotive\"\npath = \"/mcp/automotive\"\n"
    );
    fs::write(folder.join("desk.toml"), text).unwrap();
}

fn private(file: &Path, text: &str) {
    fs::write(file, text).unwrap();
    fs::set_permissions(file, Permissions::from_mode(0o600)).unwrap();
}

fn serve(folder: &TestFolder) -> (CommandProcess, SocketAddr) {
    let mut desk = CommandProcess::new(folder.path(), &["serve", "--config", "desk.toml"], &[]);
    let address = address(&mut desk);
    (desk, address)
}

/// A request for a token that is refused, in this trace. It is a call like any other.
async fn ask(folder: &TestFolder, address: SocketAddr, trace: &str) {
    let mut client = HttpClient::new(address, &folder.join("data/tls/ca.pem"));
    let traceparent = format!("00-{trace}-00f067aa0ba902b7-01");
    let headers = [("content-type", "application/x-www-form-urlencoded"), ("traceparent", traceparent.as_str())];
    let form = "grant_type=client_credentials&client_id=nobody&client_secret=none";
    let answer = client.request("POST", "/token", &headers, form).await;
    assert_eq!((answer.status, answer.header("x-trace-id")), (401, Some(trace)));
}

/// A collector with a certificate of its own, in `NAME.pem`.
fn secured(folder: &TestFolder, name: &str) -> TraceCollector {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    fs::write(folder.join(&format!("{name}.pem")), made.cert.pem()).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let builder = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(rustls::ALL_VERSIONS)
        .unwrap();
    TraceCollector::start_with_tls(
        builder.with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key).unwrap(),
    )
}

#[tokio::test]
async fn spans_go_only_to_a_collector_of_the_configured_ca() {
    let folder = TestFolder::new();
    let (trusted, other) = (secured(&folder, "trusted"), secured(&folder, "other"));
    let to = |collector: &TraceCollector| {
        format!("[traces]\nendpoint = \"https://localhost:{}/otlp/\"\nca = \"trusted.pem\"\n", collector.address.port())
    };
    write(&folder, &to(&trusted));
    let (mut desk, address) = serve(&folder);
    ask(&folder, address, TRACES[0]).await;
    assert_eq!(trusted.trace(TRACES[0]).await[0]["name"], "token");
    assert_eq!(trusted.posts()[0].path, "/otlp/v1/traces");

    write(&folder, &to(&other));
    desk.reload("configuration reloaded\",\"changed\":\"traces.endpoint");
    ask(&folder, address, TRACES[1]).await;
    let said = desk.stop();
    assert_eq!(said.code, Some(0));
    let endpoint = format!("\"error\":\"https://localhost:{}/otlp cannot be reached (", other.address.port());
    assert!(said.err.contains(&endpoint) && said.err.contains("certificate"), "{}", said.err);
    assert!(other.posts().is_empty() && trusted.posts().iter().all(|post| !post.text.contains(TRACES[1])));
}

#[tokio::test]
async fn a_reload_starts_changes_and_stops_traces() {
    let folder = TestFolder::new();
    let collector = TraceCollector::start(CollectorMode::Accept);
    let on = format!("[traces]\nendpoint = \"{}\"\nheaders_file = \"headers\"\n", collector.endpoint());
    write(&folder, "");
    let (mut desk, address) = serve(&folder);
    ask(&folder, address, TRACES[0]).await;

    private(&folder.join("headers"), "# for the collector\nX-Api-Key: first-secret\n\nx-team:  cars \n");
    write(&folder, &on);
    desk.reload("\"changed\":\"traces.endpoint, traces.headers_file\"");
    ask(&folder, address, TRACES[1]).await;
    collector.trace(TRACES[1]).await;
    private(&folder.join("headers"), "X-Api-Key: second-secret\n");
    desk.reload("configuration reloaded: no keys changed");
    ask(&folder, address, TRACES[2]).await;
    collector.trace(TRACES[2]).await;

    let sent: Vec<String> = (collector.posts().iter())
        .flat_map(|post| post.headers.clone())
        .filter(|(name, _)| name.starts_with("x-"))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    assert_eq!(sent, ["x-api-key=first-secret", "x-team=cars", "x-api-key=second-secret"]);
    assert!(collector.spans().iter().all(|span| span["traceId"] != TRACES[0]));

    // A file that cannot be used changes nothing.
    private(&folder.join("headers"), "third-secret\n");
    desk.reload("stays in effect\",\"error\":\"traces.headers_file: line 1 of headers is not a header.");
    write(&folder, "");
    desk.reload("\"changed\":\"traces.endpoint, traces.headers_file\"");
    let before = collector.posts().len();
    ask(&folder, address, TRACES[0]).await;
    let said = desk.stop();
    assert_eq!((said.code, collector.posts().len()), (Some(0), before));
    write(&folder, &on);
    let shown = run_frontdesk(folder.path(), &["config", "show", "--config", "desk.toml"]);
    assert!(shown.out.contains("traces.headers_file = \"headers\""), "{shown:?}");
    assert!(!format!("{}{shown:?}", said.err).contains("secret"), "{}", said.err);
}

#[tokio::test]
async fn spans_of_a_replaced_exporter_are_sent_before_the_end() {
    let folder = TestFolder::new();
    let collector = TraceCollector::start(CollectorMode::Delay);
    write(&folder, &format!("[traces]\nendpoint = \"{}\"\n", collector.endpoint()));
    let (mut desk, address) = serve(&folder);
    ask(&folder, address, TRACES[0]).await;
    write(&folder, "");
    desk.reload("\"changed\":\"traces.endpoint\"");
    assert_eq!(desk.stop().code, Some(0));
    assert_eq!(collector.spans()[0]["traceId"], TRACES[0]);
}
