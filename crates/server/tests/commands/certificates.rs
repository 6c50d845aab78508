//! A certificate that changes while the desk is open: taken in when it is good, and nothing lost when it is not.

use std::fs::{self, Permissions};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use frontdesk::config::load;
use frontdesk::net::{AddressSource, ConnectionCounters, ConnectionLimits, ResponseBody, bind, ensure};
use frontdesk::net::{CertificateEvent, CertificateWatcher, Shutdown, ShutdownReason, prepare_certificate};
use frontdesk::system::SystemClock;
use frontdesk_engine::ports::Clock as _;
use http::Response;
use rustls::pki_types::UnixTime;
use rustls::time_provider::TimeProvider;
use time::OffsetDateTime;

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::http_client::{HttpClient, HttpConnection, trusting};
use frontdesk_testkit::app::process::CommandProcess;

/// A certificate of an authority of its own: the folder with its files.
fn made(folder: &TestFolder, name: &str) -> PathBuf {
    let now = OffsetDateTime::from_unix_timestamp(SystemClock.now().seconds()).unwrap();
    let path = folder.join(name);
    ensure(&path, &[], now).unwrap();
    path
}

/// Each whole or not at all: the desk may look at any moment.
fn install(from: &Path, files: &[&str], to: &TestFolder) {
    for file in files {
        fs::copy(from.join(file), to.join("copied")).unwrap();
        fs::rename(to.join("copied"), to.join(file)).unwrap();
    }
}

async fn reached(address: SocketAddr, authority: &Path) -> bool {
    HttpClient::new(address, &authority.join("ca.pem")).try_request("GET", "/", &[], "").await.is_ok()
}

async fn soon_reached(address: SocketAddr, authority: &Path) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !reached(address, authority).await {
        assert!(Instant::now() < deadline, "the new certificate was not taken in");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Where a desk that has said so is serving.
pub(crate) fn address(desk: &mut CommandProcess) -> SocketAddr {
    desk.address()
}

#[tokio::test]
async fn new_certificates_load_without_restart_bad_ones_do_not() {
    let folder = TestFolder::new();
    let (first, second) = (made(&folder, "first"), made(&folder, "second"));
    install(&first, &["server.pem", "server.key"], &folder);
    let environment = [
        ("FRONTDESK_DATA", "data"),
        ("FRONTDESK_LISTEN", "127.0.0.1:0"),
        ("FRONTDESK_OPERATOR_LISTEN", "127.0.0.1:0"),
        ("FRONTDESK_TLS_CERTIFICATE", "server.pem"),
        ("FRONTDESK_TLS_KEY", "server.key"),
    ];
    let mut desk = CommandProcess::new(folder.path(), &["serve"], &environment);
    let address = address(&mut desk);
    assert!(reached(address, &first).await && !reached(address, &second).await);
    let mut kept = HttpClient::new(address, &first.join("ca.pem"));
    kept.get("/").await;

    // The certificate alone: its key comes a moment later, as it does when somebody copies both.
    install(&second, &["server.pem"], &folder);
    let log = desk.logged("certificate not replaced; the current one stays in use\",\"error\":");
    assert!(log.contains("server.key"), "{log}");
    assert!(reached(address, &first).await);
    install(&second, &["server.key"], &folder);
    soon_reached(address, &second).await;
    assert!(!reached(address, &first).await);
    desk.logged("certificate replaced");
    // Who is connected stays connected.
    assert_eq!((kept.get("/").await.status, kept.opened), (200, 1));

    fs::write(folder.join("server.pem"), "noise").unwrap();
    let before = Instant::now();
    while desk.logged("serving").matches("certificate not replaced").count() < 2 {
        assert!(before.elapsed() < Duration::from_secs(60));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // Several looks later it has still been said once.
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(reached(address, &second).await);
    let said = desk.stop();
    assert_eq!((said.code, said.err.matches("certificate not replaced").count()), (Some(0), 2), "{}", said.err);
}

#[tokio::test]
async fn the_development_certificate_is_renewed_while_serving() {
    let folder = TestFolder::new();
    let data = folder.join("data").display().to_string();
    let environment = [("FRONTDESK_DATA".to_owned(), data)];
    let config = load(None, environment.into_iter(), frontdesk_contracts::ENTRIES).unwrap().config;
    let now = SystemClock.now();
    // CommandProcess so long ago that less than two weeks of 90 days are left.
    let began = now.plus_seconds(-77 * 24 * 60 * 60);
    let prepared = prepare_certificate(&config, began).unwrap();
    let authority = trusting(prepared.ca_file.as_deref().unwrap(), rustls::ALL_VERSIONS);
    let mut certificates = CertificateWatcher::new(prepared, began);
    let listener = bind(SocketAddr::from(([127, 0, 0, 1], 0)), AddressSource::Flag("--listen")).await.unwrap();
    let (address, shutdown) = (listener.local_addr(), Shutdown::new());
    let service = Arc::new(|_, _| async { Response::new(ResponseBody::full("here")) });
    let serving = tokio::spawn(listener.serve(
        certificates.tls(),
        ConnectionLimits::default(),
        Arc::new(ConnectionCounters::default()),
        service,
        shutdown.clone(),
    ));
    let authority = Arc::new(authority);
    let shown =
        async || HttpConnection::open(address, Arc::clone(&authority), "localhost").await.unwrap().certificate();
    let old = shown().await;
    assert_eq!(certificates.check(&config, began.plus_seconds(3599)), None);
    assert_eq!(certificates.check(&config, began.plus_seconds(2 * 3600)), None);
    assert_eq!(shown().await, old);
    assert_eq!(certificates.check(&config, now), Some(CertificateEvent::Replaced));
    // Another certificate, and clients trust it as they did the one before.
    assert_ne!(shown().await, old);
    assert_eq!(certificates.check(&config, now.plus_seconds(3600)), None);
    shutdown.request(ShutdownReason::Terminate);
    serving.await.unwrap();
}

/// Clients whose clock is ahead of this machine's.
#[derive(Debug)]
struct NextYear;

impl TimeProvider for NextYear {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(Duration::from_secs(u64::try_from(next_year().unix_timestamp()).ok()?)))
    }
}

fn next_year() -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(SystemClock.now().seconds()).unwrap() + time::Duration::days(365)
}

async fn readiness(operator: SocketAddr, ca_file: &Path) -> (u16, String) {
    let mut config = trusting(ca_file, rustls::ALL_VERSIONS);
    config.time_provider = Arc::new(NextYear);
    let mut connection = HttpConnection::open(operator, Arc::new(config), "localhost").await.unwrap();
    connection.send(b"GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    let answer = connection.receive().await.unwrap();
    (answer.status, answer.text().to_owned())
}

#[tokio::test]
async fn a_desk_whose_certificate_is_not_valid_yet_is_not_ready() {
    let folder = TestFolder::new();
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = |not_before: OffsetDateTime| {
        let mut params = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
        params.not_before = not_before;
        params.not_after = next_year() + time::Duration::days(30);
        params.self_signed(&key).unwrap().pem()
    };
    fs::write(folder.join("server.pem"), certificate(next_year() - time::Duration::DAY)).unwrap();
    fs::write(folder.join("server.key"), key.serialize_pem()).unwrap();
    fs::set_permissions(folder.join("server.key"), Permissions::from_mode(0o600)).unwrap();
    let environment = [
        ("FRONTDESK_DATA", "data"),
        ("FRONTDESK_LISTEN", "127.0.0.1:0"),
        ("FRONTDESK_OPERATOR_LISTEN", "127.0.0.1:0"),
        ("FRONTDESK_TLS_CERTIFICATE", "server.pem"),
        ("FRONTDESK_TLS_KEY", "server.key"),
    ];
    let mut desk = CommandProcess::new(folder.path(), &["serve"], &environment);
    let log = desk.logged("\"operator\":\"");
    let operator = log.split("\"operator\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let operator: SocketAddr = operator.parse().unwrap();
    let refused = "the certificate is not valid yet; replace it, or correct the clock\n".to_owned();
    assert_eq!(readiness(operator, &folder.join("server.pem")).await, (503, refused));

    fs::write(folder.join("copied"), certificate(next_year() - time::Duration::days(366))).unwrap();
    fs::rename(folder.join("copied"), folder.join("server.pem")).unwrap();
    desk.logged("certificate replaced");
    assert_eq!(readiness(operator, &folder.join("server.pem")).await, (200, "ready\n".to_owned()));
}

/// Whoever has trusted the old one must know.
#[test]
fn a_new_development_ca_in_an_old_folder_is_logged() {
    let folder = TestFolder::new();
    let environment =
        [("FRONTDESK_DATA", "data"), ("FRONTDESK_LISTEN", "127.0.0.1:0"), ("FRONTDESK_OPERATOR_LISTEN", "127.0.0.1:0")];
    let warning = r#""level":"warn","message":"development CA renewed; clients must trust the new CA file","ca_file":"data/tls/ca.pem""#;
    for _ in 0..2 {
        let mut desk = CommandProcess::new(folder.path(), &["serve"], &environment);
        desk.logged("serving");
        let said = desk.stop();
        assert!(!said.err.contains("development CA"), "{}", said.err);
    }
    fs::remove_file(folder.join("data/tls/ca.pem")).unwrap();
    let mut desk = CommandProcess::new(folder.path(), &["serve"], &environment);
    desk.logged("serving");
    let said = desk.stop();
    assert_eq!(said.err.matches(warning).count(), 1, "{}", said.err);
}
