//! The small server over real TLS, in a thread of its own, and the doctor run against it.

use std::convert::Infallible;
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use frontdesk_probe::{COMMANDS, ProbeInput, ProbeReport};
use http::Response;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::desk::{Defect, Desk, Request, TOKEN};

pub(crate) struct FakeServer {
    pub(crate) address: SocketAddr,
    pub(crate) desk: Arc<Mutex<Desk>>,
    folder: PathBuf,
    /// Ends the thread when it is dropped.
    _runtime: tokio::runtime::Runtime,
}

impl FakeServer {
    pub(crate) fn start(defect: Defect) -> FakeServer {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (config, ca) = certificate();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let desk = Arc::new(Mutex::new(Desk::default()));
        let folder = std::env::temp_dir().join(format!("frontdesk-doctor-{}-{}", std::process::id(), address.port()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("ca.pem"), ca).unwrap();
        fs::write(folder.join("token"), format!("{TOKEN}\n")).unwrap();
        fs::write(folder.join("intent.json"), include_str!("intent.json")).unwrap();
        runtime.spawn(accept(listener, TlsAcceptor::from(config), Arc::clone(&desk), defect));
        FakeServer { address, desk, folder, _runtime: runtime }
    }

    pub(crate) fn file(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// The doctor with everything that it needs, and these options.
    pub(crate) fn examine(&self) -> ProbeReport {
        let url = format!("https://localhost:{}/mcp", self.address.port());
        let (ca, token, intent) = (self.file("ca.pem"), self.file("token"), self.file("intent.json"));
        doctor(&[("url", &url), ("ca", &ca), ("bearer-file", &token), ("intent", &intent), ("rounds", "2")]).unwrap()
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

pub(crate) fn doctor(arguments: &[(&'static str, &str)]) -> Result<ProbeReport, String> {
    let mut input = ProbeInput::default();
    for (name, value) in arguments {
        input.add(name, (*value).to_owned());
    }
    let command = COMMANDS.iter().find(|command| command.contract == "tomo" && command.name == "doctor").unwrap();
    (command.run)(&input)
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

async fn accept(listener: TcpListener, tls: TlsAcceptor, desk: Arc<Mutex<Desk>>, defect: Defect) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { return };
        let (tls, desk) = (tls.clone(), Arc::clone(&desk));
        tokio::spawn(async move {
            let Ok(stream) = tls.accept(stream).await else { return };
            let service = service_fn(|request| respond(request, Arc::clone(&desk), defect));
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn respond(
    request: http::Request<Incoming>,
    desk: Arc<Mutex<Desk>>,
    defect: Defect,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let header = |name: &str| request.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
    let token = header("authorization").and_then(|value| value.strip_prefix("Bearer ").map(str::to_owned));
    let accepts = header("accept").is_some();
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let request = Request { token, accepts, message: serde_json::from_slice(&body).unwrap() };
    let sent = desk.lock().unwrap().answer(defect, &request);
    let is_stream = defect == Defect::Streams && sent.status == 200;
    let body = if is_stream {
        let message = String::from_utf8(sent.body).unwrap();
        let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#;
        format!("data: {progress}\n\nevent: message\ndata: {message}\n\n").into_bytes()
    } else {
        sent.body
    };
    let kind = if is_stream { "text/event-stream" } else { "application/json" };
    let mut response = Response::builder().status(sent.status).header("content-type", kind);
    for (name, value) in sent.headers {
        response = response.header(name, value);
    }
    Ok(response.body(Full::new(Bytes::from(body))).unwrap())
}
