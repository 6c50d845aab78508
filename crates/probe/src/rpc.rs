//! JSON-RPC over one HTTPS connection, as TOMO sends it, and what can be said about each answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use frontdesk_wire::json;
use http::header::{ACCEPT, AUTHORIZATION, HeaderName, RETRY_AFTER};
use http::{HeaderMap, HeaderValue};
use rustls::ClientConfig;
use serde_json::{Map, Value};

use crate::https::{Endpoint, HttpAnswer, HttpsClient, StreamEnd, StreamReading};
use crate::report::shown;

const PARTNER_KEY: HeaderName = HeaderName::from_static("x-partner-auth");
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Who the caller says to be.
#[derive(Clone)]
pub(crate) enum ProbeCredential {
    Nothing,
    Bearer(HeaderValue),
    PartnerKey(HeaderValue),
}

impl ProbeCredential {
    /// None for a text that no header can have.
    pub(crate) fn bearer(token: &str) -> Option<ProbeCredential> {
        let mut value = HeaderValue::try_from(format!("Bearer {token}")).ok()?;
        value.set_sensitive(true);
        Some(ProbeCredential::Bearer(value))
    }

    pub(crate) fn partner_key(key: &str) -> Option<ProbeCredential> {
        let mut value = HeaderValue::try_from(key).ok()?;
        value.set_sensitive(true);
        Some(ProbeCredential::PartnerKey(value))
    }
}

/// Whether the request says which media types it takes. The simulation of §10 does not.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AcceptHeader {
    Sent,
    Missing,
}

/// A JSON-RPC answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RpcOutcome {
    Result(Value),
    Error(RpcError),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
    /// `data.tomo_error_code`.
    pub(crate) tomo_code: Option<String>,
    /// `data.tomo_field`.
    pub(crate) tomo_field: Option<String>,
}

impl RpcError {
    /// For a line of the report.
    pub(crate) fn shown(&self) -> String {
        let code = self.tomo_code.as_deref().map_or("without data.tomo_error_code".to_owned(), shown);
        format!("error {} {code}: {}", self.code, shown(self.message.trim_end_matches('.')))
    }
}

/// What came back for one message.
pub(crate) struct Exchange {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<String>,
    pub(crate) took: Duration,
    /// Everything that was sent back, for what must appear nowhere.
    pub(crate) raw: Vec<Vec<u8>>,
    pub(crate) headers: HeaderMap,
    /// How many messages came after the answer.
    pub(crate) trailing: usize,
    pub(crate) stream: StreamEnd,
    /// Or why it is no answer to the message.
    pub(crate) outcome: Result<RpcOutcome, String>,
}

impl Exchange {
    /// The result, or a line about what came instead.
    pub(crate) fn result(&self) -> Result<&Value, String> {
        match &self.outcome {
            Ok(RpcOutcome::Result(result)) => Ok(result),
            Ok(RpcOutcome::Error(error)) => Err(format!("HTTP {}, {}", self.status, error.shown())),
            Err(problem) => Err(format!("HTTP {}, {problem}", self.status)),
        }
    }

    /// The error, or a line about what came instead.
    pub(crate) fn error(&self) -> Result<&RpcError, String> {
        match &self.outcome {
            Ok(RpcOutcome::Error(error)) => Ok(error),
            Ok(RpcOutcome::Result(_)) => Err(format!("HTTP {}, a result", self.status)),
            Err(problem) => Err(format!("HTTP {}, {problem}", self.status)),
        }
    }
}

pub(crate) struct RpcClient {
    pub(crate) https: HttpsClient,
    pub(crate) credential: ProbeCredential,
    session: Option<HeaderValue>,
    next_id: u64,
    until: Instant,
}

impl RpcClient {
    pub(crate) fn new(
        endpoint: Endpoint,
        tls: Arc<ClientConfig>,
        credential: ProbeCredential,
        until: Instant,
    ) -> RpcClient {
        RpcClient { https: HttpsClient::new(endpoint, tls), credential, session: None, next_id: 1, until }
    }

    /// Sends a message with the credential. The error is why there was no answer at all.
    pub(crate) async fn send(&mut self, method: &str, params: Option<Value>) -> Result<Exchange, String> {
        let credential = self.credential.clone();
        self.send_as(&credential, AcceptHeader::Sent, method, params).await
    }

    pub(crate) async fn send_as(
        &mut self,
        credential: &ProbeCredential,
        accept: AcceptHeader,
        method: &str,
        params: Option<Value>,
    ) -> Result<Exchange, String> {
        self.exchange(credential, accept, StreamReading::ToTheAnswer, method, params).await
    }

    /// As [`send`](RpcClient::send), but a stream is read to its end.
    pub(crate) async fn send_to_the_end(&mut self, method: &str, params: Option<Value>) -> Result<Exchange, String> {
        let credential = self.credential.clone();
        self.exchange(&credential, AcceptHeader::Sent, StreamReading::ToItsEnd, method, params).await
    }

    /// Sends a message and loses the connection before the answer has come, or while it comes.
    pub(crate) async fn send_and_cut(&mut self, method: &str, params: Value, after: Duration) {
        let (_, body) = self.message(method, Some(params));
        let headers = self.headers(&self.credential, AcceptHeader::Sent);
        self.https.post_and_cut(&headers, &body, after).await;
    }

    fn message(&mut self, method: &str, params: Option<Value>) -> (u64, Bytes) {
        let id = self.next_id;
        self.next_id += 1;
        let mut message = Map::from_iter([
            ("jsonrpc".to_owned(), Value::from("2.0")),
            ("id".to_owned(), Value::from(id)),
            ("method".to_owned(), Value::from(method)),
        ]);
        message.extend(params.map(|params| ("params".to_owned(), params)));
        (id, Bytes::from(Value::Object(message).to_string()))
    }

    async fn exchange(
        &mut self,
        credential: &ProbeCredential,
        accept: AcceptHeader,
        reading: StreamReading,
        method: &str,
        params: Option<Value>,
    ) -> Result<Exchange, String> {
        if Instant::now() >= self.until {
            return Err("the time for the whole check is over".to_owned());
        }
        let (id, body) = self.message(method, params);
        let headers = self.headers(credential, accept);
        let ends = |message: &[u8]| {
            json::parse_answer(message).is_ok_and(|message| message.get("id") == Some(&Value::from(id)))
        };
        let answer = self.https.post(&headers, &body, self.until, reading, ends).await?;
        if let Some(session) = answer.headers.get(SESSION).filter(|_| method == "initialize") {
            self.session = Some(session.clone());
        }
        Ok(exchange(answer, id))
    }

    fn headers(&self, credential: &ProbeCredential, accept: AcceptHeader) -> HeaderMap {
        let mut headers = HeaderMap::new();
        match accept {
            AcceptHeader::Sent => {
                headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
            }
            AcceptHeader::Missing => {}
        }
        match credential {
            ProbeCredential::Nothing => {}
            ProbeCredential::Bearer(value) => {
                headers.insert(AUTHORIZATION, value.clone());
            }
            ProbeCredential::PartnerKey(value) => {
                headers.insert(PARTNER_KEY, value.clone());
            }
        }
        headers.extend(self.session.clone().map(|session| (SESSION, session)));
        headers
    }
}

fn exchange(answer: HttpAnswer, id: u64) -> Exchange {
    let outcome = match answer.messages.last() {
        Some(message) => outcome(message, id),
        None => Err("an empty stream".to_owned()),
    };
    let retry_after =
        answer.headers.get(RETRY_AFTER).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let HttpAnswer { status, headers, messages, trailing, stream, took } = answer;
    Exchange { status, retry_after, took, raw: messages, headers, trailing, stream, outcome }
}

fn outcome(message: &[u8], id: u64) -> Result<RpcOutcome, String> {
    if message.is_empty() {
        return Err("an empty body".to_owned());
    }
    let message = json::parse_answer(message).map_err(|_| "a body that is not strict JSON".to_owned())?;
    if message.get("jsonrpc") != Some(&Value::from("2.0")) {
        return Err("a message without \"jsonrpc\": \"2.0\"".to_owned());
    }
    if message.get("id") != Some(&Value::from(id)) {
        return Err("a message with another id than the request".to_owned());
    }
    match (message.get("result"), message.get("error")) {
        (Some(result), None) => Ok(RpcOutcome::Result(result.clone())),
        (None, Some(error)) => {
            let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
            let data = error.get("data");
            Ok(RpcOutcome::Error(RpcError {
                code: error.get("code").and_then(Value::as_i64).ok_or("an error without a number as its code")?,
                message: text(error.get("message")).ok_or("an error without a message")?,
                tomo_code: text(data.and_then(|data| data.get("tomo_error_code"))),
                tomo_field: text(data.and_then(|data| data.get("tomo_field"))),
            }))
        }
        (Some(_), Some(_)) | (None, None) => Err("a message that has not one of result and error".to_owned()),
    }
}
