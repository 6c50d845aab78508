//! What the client refuses, and how it treats peers that misbehave.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::http_client::{DocumentRequest, HttpClient as _, HttpError, HttpRequest, HttpResponse};
use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::receiver::{HttpsReceiver, ReceiverAnswer};

use super::{OutboundClient, Resolver};
use crate::config::{IpNetwork, OutboundConfig};

const LOOPBACK: &[&str] = &["127.0.0.0/8"];

/// Answers each look-up with the next list; the last one stays.
struct Scripted(Mutex<Vec<Vec<&'static str>>>);

impl Resolver for Scripted {
    fn resolve<'a>(&'a self, _: &'a str) -> Future<'a, io::Result<Vec<IpAddr>>> {
        let mut lists = self.0.lock().unwrap();
        let list = if lists.len() > 1 { lists.remove(0) } else { lists.first().cloned().unwrap_or_default() };
        Box::pin(std::future::ready(Ok(list.into_iter().map(|address| address.parse().unwrap()).collect())))
    }
}

fn config(allow: &[&str], ca: Option<PathBuf>) -> OutboundConfig {
    OutboundConfig { allow: allow.iter().map(|range| IpNetwork::parse(range).unwrap()).collect(), ca }
}

fn client(allow: &[&str], ca: PathBuf) -> OutboundClient {
    OutboundClient::open(&config(allow, Some(ca))).unwrap()
}

fn resolving(allow: &[&str], lists: Vec<Vec<&'static str>>) -> OutboundClient {
    OutboundClient::with_resolver(&config(allow, None), Arc::new(Scripted(Mutex::new(lists)))).unwrap()
}

fn request(url: &str) -> HttpRequest {
    HttpRequest {
        url: url.to_owned(),
        headers: vec![("content-type", "application/json".to_owned())],
        body: Bytes::from_static(b"{\"a\":1}"),
        timeout: Duration::from_secs(30),
        max_response: 1024,
    }
}

fn document(url: &str) -> DocumentRequest {
    DocumentRequest {
        url: url.to_owned(),
        accept: "application/json",
        timeout: Duration::from_secs(30),
        max_response: 1024,
    }
}

struct Stage {
    _folder: TestFolder,
    receiver: HttpsReceiver,
    ca: PathBuf,
}

impl Stage {
    fn new() -> Stage {
        let folder = TestFolder::new();
        let ca = folder.join("ca.pem");
        Stage { receiver: HttpsReceiver::start(&ca), ca, _folder: folder }
    }

    fn url(&self) -> String {
        format!("https://localhost:{}/hook?a=1", self.receiver.address.port())
    }
}

#[tokio::test]
async fn a_request_arrives_as_it_was_made() {
    let stage = Stage::new();
    let response = client(LOOPBACK, stage.ca.clone()).post(request(&stage.url())).await.unwrap();
    assert_eq!(
        response,
        HttpResponse {
            status: 201,
            body: Bytes::from_static(b"{}"),
            content_type: response.content_type.clone(),
            max_age: None
        }
    );
    let received = stage.receiver.requests().remove(0);
    assert_eq!((received.method.as_str(), received.path.as_str()), ("POST", "/hook?a=1"));
    assert_eq!(received.body, "{\"a\":1}");
    let port = stage.receiver.address.port();
    assert_eq!(received.header("host"), Some(format!("localhost:{port}").as_str()));
    assert_eq!(received.header("content-type"), Some("application/json"));
}

/// Refused before anything is connected to: the receiver would answer all of them.
#[tokio::test]
async fn o27_requests_go_to_public_https_addresses_only() {
    let stage = Stage::new();
    let port = stage.receiver.address.port();
    let guarded = client(&[], stage.ca.clone());
    for host in [
        "localhost",
        "127.0.0.1",
        "127.1",
        "0x7f.1",
        "2130706433",
        "0177.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
        "[::]",
        "169.254.169.254",
        "[::ffff:a9fe:a9fe]",
        "10.0.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "[fe80::1]",
        "[fd00::1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "①②⑦.0.0.1",
    ] {
        let url = format!("https://{host}:{port}/");
        assert_eq!(guarded.post(request(&url)).await, Err(HttpError::Refused), "{host}");
        assert_eq!(guarded.get(document(&url)).await, Err(HttpError::Refused), "{host}");
    }
    let open = client(LOOPBACK, stage.ca.clone());
    for url in [
        format!("http://localhost:{port}/"),
        format!("https://user@localhost:{port}/"),
        format!("https://user:password@localhost:{port}/"),
        format!("https://localhost:{port}/#fragment"),
        "file:///etc/passwd".to_owned(),
        "gopher://localhost/".to_owned(),
        "https://".to_owned(),
        "localhost".to_owned(),
    ] {
        assert_eq!(open.post(request(&url)).await, Err(HttpError::Refused), "{url}");
        assert_eq!(open.get(document(&url)).await, Err(HttpError::Refused), "{url}");
    }
    assert_eq!(stage.receiver.connections(), 0);
}

/// A name that answers differently the second time: each connection uses exactly what was checked for it.
#[tokio::test]
async fn o27_a_name_is_resolved_once_for_each_connection() {
    let private = resolving(&[], vec![vec!["127.0.0.1"]]);
    assert_eq!(private.post(request("https://rebind.example/")).await, Err(HttpError::Refused));
    let mixed = resolving(&[], vec![vec!["93.184.216.34", "10.0.0.1"]]);
    assert_eq!(mixed.post(request("https://rebind.example/")).await, Err(HttpError::Refused), "one of two is private");
    assert_eq!(mixed.get(document("https://rebind.example/")).await, Err(HttpError::Refused), "one of two is private");
    let stage = Stage::new();
    let lists = vec![vec!["127.0.0.1"], vec!["10.0.0.1"], vec!["127.0.0.1"]];
    let trusting = config(LOOPBACK, Some(stage.ca.clone()));
    let rebinding = OutboundClient::with_resolver(&trusting, Arc::new(Scripted(Mutex::new(lists)))).unwrap();
    stage.receiver.script([ReceiverAnswer::Close]);
    assert_eq!(rebinding.post(request(&stage.url())).await, Err(HttpError::Broken), "the one that was checked");
    assert_eq!(rebinding.post(request(&stage.url())).await, Err(HttpError::Refused), "checked again");
    assert_eq!(rebinding.post(request(&stage.url())).await.map(|answer| answer.status), Ok(201));
    assert_eq!(stage.receiver.connections(), 2);
    let nobody = resolving(&[], vec![vec![]]);
    assert_eq!(nobody.post(request("https://nobody.example/")).await, Err(HttpError::Unreachable));
}

#[tokio::test]
async fn o27_a_redirect_is_not_followed() {
    let stage = Stage::new();
    let other = Stage::new();
    stage.receiver.script([ReceiverAnswer::Redirect(other.url())]);
    let answer = client(LOOPBACK, stage.ca.clone()).post(request(&stage.url())).await.unwrap();
    assert_eq!(answer.status, 307);
    assert_eq!((stage.receiver.requests().len(), other.receiver.connections()), (1, 0));
}

#[tokio::test]
async fn a_certificate_of_another_authority_or_name_is_refused() {
    let (stage, other) = (Stage::new(), Stage::new());
    let untrusting = client(LOOPBACK, other.ca.clone());
    assert_eq!(untrusting.post(request(&stage.url())).await, Err(HttpError::Unreachable));
    let public = OutboundClient::open(&config(LOOPBACK, None)).unwrap();
    assert_eq!(public.post(request(&stage.url())).await, Err(HttpError::Unreachable));
    // Trusted, but for another name.
    let folder = config(LOOPBACK, Some(stage.ca.clone()));
    let named =
        OutboundClient::with_resolver(&folder, Arc::new(Scripted(Mutex::new(vec![vec!["127.0.0.1"]])))).unwrap();
    let url = format!("https://elsewhere.example:{}/", stage.receiver.address.port());
    assert_eq!(named.post(request(&url)).await, Err(HttpError::Unreachable));
    assert_eq!(stage.receiver.requests().len(), 0);
}

#[tokio::test]
async fn slow_huge_and_broken_peers_end_in_time() {
    let stage = Stage::new();
    let client = client(LOOPBACK, stage.ca.clone());
    stage.receiver.script([ReceiverAnswer::Hang]);
    let short = HttpRequest { timeout: Duration::from_millis(300), ..request(&stage.url()) };
    assert_eq!(client.post(short).await, Err(HttpError::TimedOut));
    stage.receiver.script([ReceiverAnswer::Huge(1025)]);
    assert_eq!(client.post(request(&stage.url())).await, Err(HttpError::TooLarge));
    stage.receiver.script([ReceiverAnswer::Huge(1024)]);
    assert_eq!(client.post(request(&stage.url())).await.map(|answer| answer.body.len()), Ok(1024));
    stage.receiver.script([ReceiverAnswer::Close]);
    assert_eq!(client.post(request(&stage.url())).await, Err(HttpError::Broken));
    let closed: SocketAddr = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = request(&format!("https://127.0.0.1:{}/", closed.port()));
    assert_eq!(client.post(nobody).await, Err(HttpError::Unreachable));
    // Connected to, and no handshake follows.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://127.0.0.1:{}/", silent.local_addr().unwrap().port());
    let short = HttpRequest { timeout: Duration::from_millis(300), ..request(&url) };
    assert_eq!(client.post(short).await, Err(HttpError::Unreachable));
}

#[tokio::test]
async fn a_connection_is_used_again_and_replaced_when_it_is_closed() {
    let stage = Stage::new();
    let client = client(LOOPBACK, stage.ca.clone());
    for _ in 0..20 {
        client.post(request(&stage.url())).await.unwrap();
    }
    assert_eq!((stage.receiver.requests().len(), stage.receiver.connections()), (20, 1));
    stage.receiver.script([ReceiverAnswer::Close]);
    assert_eq!(client.post(request(&stage.url())).await, Err(HttpError::Broken));
    assert_eq!(client.post(request(&stage.url())).await.unwrap().status, 201);
    assert_eq!(stage.receiver.connections(), 2);
}

#[test]
fn a_file_without_a_certificate_is_no_authority() {
    let folder = TestFolder::new();
    let file = folder.join("ca.pem");
    std::fs::write(&file, "nothing").unwrap();
    assert!(OutboundClient::open(&config(&[], Some(file))).is_err());
}
