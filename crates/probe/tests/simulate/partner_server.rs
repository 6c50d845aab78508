//! The small partner over real TLS, in a thread of its own, and the simulation run against it.

use std::convert::Infallible;
use std::fs;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use frontdesk_probe::{COMMANDS, ProbeInput, ProbeReport};
use http::Response;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body, Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::partner::{Defect, LIVE, Partner, Request, SANDBOX, Sent};
use crate::sender::{CPC_KEY, OLD_KEY, Sender};

pub(crate) struct PartnerServer {
    pub(crate) partner: Arc<Mutex<Partner>>,
    port: u16,
    receiver_port: u16,
    folder: PathBuf,
    /// Ends the thread when it is dropped.
    _runtime: tokio::runtime::Runtime,
}

#[derive(Clone)]
struct Serving {
    partner: Arc<Mutex<Partner>>,
    defect: Defect,
    sender: Arc<Sender>,
}

impl PartnerServer {
    pub(crate) fn start(defect: Defect) -> PartnerServer {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let (config, ca) = certificate();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        // Free until the simulation takes it.
        let receiver_port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = std::env::temp_dir().join(format!("frontdesk-simulate-{}-{port}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for (name, text) in [
            ("ca.pem", ca.as_str()),
            ("live", LIVE),
            ("sandbox", SANDBOX),
            ("cpc-keys", &format!("{CPC_KEY}\n{OLD_KEY}\n")),
            ("intent.json", include_str!("intent.json")),
        ] {
            fs::write(folder.join(name), text).unwrap();
        }
        let partner = Arc::new(Mutex::new(Partner::default()));
        let sender = Arc::new(Sender { port: receiver_port, ca_file: folder.join("cpc-ca.pem"), defect });
        let serving = Serving { partner: Arc::clone(&partner), defect, sender };
        runtime.spawn(accept(listener, TlsAcceptor::from(config), serving));
        PartnerServer { partner, port, receiver_port, folder, _runtime: runtime }
    }

    fn file(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// With everything that it needs, without waiting, and with these options.
    pub(crate) fn simulate(&self, options: &[(&'static str, &str)]) -> Result<ProbeReport, String> {
        let url = format!("https://localhost:{}/mcp", self.port);
        let usual = [
            ("url", url),
            ("ca", self.file("ca.pem")),
            ("bearer-file", self.file("live")),
            ("sandbox-bearer-file", self.file("sandbox")),
            ("intent", self.file("intent.json")),
            ("minutes", "0".to_owned()),
            ("speed", "100".to_owned()),
            ("sessions", "3".to_owned()),
        ];
        let mut input = ProbeInput::default();
        for (name, value) in &usual {
            if !options.iter().any(|(other, _)| other == name) {
                input.add(name, value.clone());
            }
        }
        for (name, value) in options {
            input.add(name, (*value).to_owned());
        }
        let command = COMMANDS.iter().find(|command| command.contract == "tomo" && command.name == "simulate").unwrap();
        (command.run)(&input)
    }

    /// The same, and takes completions.
    pub(crate) fn simulate_and_receive(&self, options: &[(&'static str, &str)]) -> ProbeReport {
        let (address, ca, keys) =
            (format!("127.0.0.1:{}", self.receiver_port), self.file("cpc-ca.pem"), self.file("cpc-keys"));
        let receiving =
            [("receive", address.as_str()), ("receive-ca", &ca), ("cpc-key-file", &keys), ("completion-seconds", "2")];
        let all: Vec<(&'static str, &str)> = options.iter().copied().chain(receiving).collect();
        self.simulate(&all).unwrap()
    }
}

impl Drop for PartnerServer {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn certificate() -> (Arc<ServerConfig>, String) {
    let mut ca = CertificateParams::new(Vec::new()).unwrap();
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca = CertifiedIssuer::self_signed(ca, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, &ca).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], key)
        .unwrap();
    (Arc::new(config), ca.pem())
}

async fn accept(listener: TcpListener, tls: TlsAcceptor, serving: Serving) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { return };
        let (tls, serving) = (tls.clone(), serving.clone());
        tokio::spawn(async move {
            let Ok(stream) = tls.accept(stream).await else { return };
            let service = service_fn(|request| respond(request, serving.clone()));
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

type Answer = Response<BoxBody<Bytes, Infallible>>;

async fn respond(request: http::Request<Incoming>, serving: Serving) -> Result<Answer, Infallible> {
    let header = |name: &str| request.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
    let token = header("authorization").and_then(|value| value.strip_prefix("Bearer ").map(str::to_owned));
    // A caller may break off in the middle.
    let Ok(body) = request.into_body().collect().await else {
        return Ok(Response::new(Full::new(Bytes::new()).boxed()));
    };
    let request = Request { token, message: serde_json::from_slice(&body.to_bytes()).unwrap() };
    let (sent, owed) = {
        let mut partner = serving.partner.lock().unwrap();
        let sent = partner.answer(serving.defect, &request);
        (sent, std::mem::take(&mut partner.owed))
    };
    for completion in owed {
        let sender = Arc::clone(&serving.sender);
        tokio::spawn(async move { sender.report(&completion).await });
    }
    Ok(response(sent))
}

fn response(sent: Sent) -> Answer {
    let mut response = Response::builder().status(sent.status);
    for (name, value) in sent.headers {
        response = response.header(name, value);
    }
    let Some((before, after)) = sent.events else {
        let body = Full::new(Bytes::from(sent.message.to_string())).boxed();
        return response.header("content-type", "application/json").body(body).unwrap();
    };
    let events = before.iter().chain([&sent.message]).chain(&after);
    let text: String = events.map(|event| format!("data: {event}\n\n")).collect();
    let response = response.header("content-type", "text/event-stream");
    let body = EventBody { text: Some(Bytes::from(text)), stays_open: sent.stays_open };
    response.body(body.boxed()).unwrap()
}

/// Events, and after them the end or nothing.
struct EventBody {
    text: Option<Bytes>,
    stays_open: bool,
}

impl Body for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.text.take() {
            Some(text) => Poll::Ready(Some(Ok(Frame::data(text)))),
            // Nobody wakes it: it is dropped with its connection.
            None if self.stays_open => Poll::Pending,
            None => Poll::Ready(None),
        }
    }
}
