//! Reports completions as a partner does: signed, until they are accepted; with one defect at most.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use http_body_util::Full;
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::partner::{Defect, OwedCompletion, PARTNER_ID};

pub(crate) const CPC_KEY: &str = "whsec_new_0123456789";
pub(crate) const OLD_KEY: &str = "whsec_old_0123456789";

pub(crate) struct Sender {
    pub(crate) port: u16,
    /// Written by the simulation when it begins.
    pub(crate) ca_file: PathBuf,
    pub(crate) defect: Defect,
}

impl Sender {
    pub(crate) async fn report(&self, completion: &OwedCompletion) {
        let body = self.body(completion, 810);
        self.deliver(&body).await;
        if self.defect == Defect::OtherBody {
            self.deliver(&self.body(completion, 811)).await;
        }
    }

    fn body(&self, completion: &OwedCompletion, amount: i64) -> Value {
        let OwedCompletion { booking_ref, request_id, status } = completion;
        let mut body = json!({
            "intent": "demo.book_table", "intent_version": "v2.0.1", "external_id": booking_ref, "amount_inr": amount,
            "closed_at": "2026-01-31T09:30:00+05:30", "request_id": request_id, "status": status, "currency": "INR",
            "notes": "",
        });
        match self.defect {
            Defect::ExtraMember => body["partner"] = json!(PARTNER_ID),
            Defect::FractionalAmount => body["amount_inr"] = json!(810.5),
            Defect::OtherStatus => body["status"] = json!("done"),
            Defect::OtherRequest => body["request_id"] = json!("req_of_nobody"),
            _ => {}
        }
        body
    }

    /// Until it is accepted, a few times at most.
    async fn deliver(&self, body: &Value) {
        let first = now();
        for _ in 0..5 {
            let at = if self.defect == Defect::SameStamp { first } else { now() };
            let at = match self.defect {
                Defect::Seconds => at / 1000,
                Defect::Outdated => at - 301_000,
                _ => at,
            };
            let status = self.post(&at.to_string(), &body.to_string()).await;
            if status == Some(201) || self.defect == Defect::GivesUp {
                return;
            }
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }

    /// The status; none if there is no receiver.
    async fn post(&self, timestamp: &str, body: &str) -> Option<u16> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(&self.ca_file).ok()?).ok()?;
        let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .ok()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let stream = TcpStream::connect(("127.0.0.1", self.port)).await.ok()?;
        let name = ServerName::try_from("localhost").ok()?;
        let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.ok()?;
        let (mut client, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.ok()?;
        tokio::spawn(connection);
        let key = match self.defect {
            Defect::OtherKey => "whsec_of_somebody_else",
            Defect::OldKey => OLD_KEY,
            _ => CPC_KEY,
        };
        let path = if self.defect == Defect::OtherPath { "somebody" } else { PARTNER_ID };
        let media = if self.defect == Defect::OtherMedia { "text/plain" } else { "application/json" };
        let request = http::Request::post(format!("/api/v1/cpc/mcp_provider/{path}"))
            .header("host", "localhost")
            .header("content-type", media)
            .header("x-tomo-timestamp", timestamp)
            .header("x-tomo-signature", signature(key, timestamp, body))
            .body(Full::new(Bytes::from(body.to_owned())))
            .ok()?;
        Some(client.send_request(request).await.ok()?.status().as_u16())
    }
}

fn signature(key: &str, timestamp: &str, body: &str) -> String {
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(key.as_bytes()).unwrap();
    mac.update(format!("{timestamp}.{body}").as_bytes());
    let hex: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}

#[expect(clippy::disallowed_methods, reason = "a partner has a clock of its own")]
fn now() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}
