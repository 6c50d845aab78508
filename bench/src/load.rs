//! The load generator: keep-alive connections over TLS, one call after the other on each, every answer checked. A wrong
//! answer ends the run, because wrong answers may be faster than right ones.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::BenchResult;
use crate::call::{Call, Caller};

/// Different for every call of a run, so that no key is ever repeated.
static NUMBER: AtomicU64 = AtomicU64::new(1);

/// Makes the calls of a load.
pub trait CallSource: Copy + Send + 'static {
    /// `number` is different for every call of a run: it is the message's id and makes keys unique.
    fn call(self, caller: &Caller, number: u64, random: u64) -> Call;
}

/// One open connection and its caller.
pub struct Session {
    stream: TlsStream<TcpStream>,
    buffer: Vec<u8>,
    caller: Caller,
    random: u64,
}

/// The latencies of the calls that were made.
#[derive(Debug, Default)]
pub struct Latencies {
    /// Of each call, in microseconds.
    pub micros: Vec<u32>,
}

pub fn client_config(ca_file: &Path) -> BenchResult<Arc<ClientConfig>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(ca_file)?)?;
    let mut config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

impl Session {
    pub async fn open(trust: &Arc<ClientConfig>, caller: Caller) -> BenchResult<Session> {
        let socket = TcpStream::connect(("127.0.0.1", caller.port)).await?;
        socket.set_nodelay(true)?;
        let name = ServerName::try_from("localhost")?;
        let stream = TlsConnector::from(Arc::clone(trust)).connect(name, socket).await?;
        let random = u64::try_from(Instant::now().elapsed().as_nanos()).unwrap_or_default()
            ^ NUMBER.fetch_add(0x9e37, Ordering::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Ok(Session { stream, buffer: Vec::with_capacity(256 * 1024), caller, random: random | 1 })
    }

    /// Sends a request and gives the answer's body.
    pub async fn exchange(&mut self, request: &[u8]) -> BenchResult<&[u8]> {
        self.stream.write_all(request).await?;
        self.stream.flush().await?;
        self.buffer.clear();
        let mut whole = None;
        loop {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return Err("the server closed the connection".into());
            }
            if whole.is_none() {
                whole = message_length(&self.buffer)?;
            }
            if let Some((head, length)) = whole
                && self.buffer.len() >= head + length
            {
                return self.buffer.get(head..head + length).ok_or_else(|| "an answer without a body".into());
            }
        }
    }

    async fn call(&mut self, source: impl CallSource) -> BenchResult<u32> {
        // Xorshift: cheap, and nothing here needs more.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let call = source.call(&self.caller, number, self.random >> 16);
        let began = Instant::now();
        let answer = self.exchange(&call.request).await?;
        let took = began.elapsed();
        check(answer, &call.expected)?;
        Ok(u32::try_from(took.as_micros()).unwrap_or(u32::MAX))
    }
}

/// Where the body of an answer begins and how long it is, once the head has arrived.
fn message_length(bytes: &[u8]) -> BenchResult<Option<(usize, usize)>> {
    let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
        return Ok(None);
    };
    let head = std::str::from_utf8(bytes.get(..end).unwrap_or_default())?.to_ascii_lowercase();
    if !head.starts_with("http/1.1 200") {
        return Err(format!("not answered with 200: {head}").into());
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length = length.ok_or("an answer without a length")?.trim().parse()?;
    Ok(Some((end + 4, length)))
}

/// Every expected text must be in the answer exactly so many times.
pub fn check(answer: &[u8], expected: &[(String, usize)]) -> BenchResult<()> {
    let answer = std::str::from_utf8(answer)?;
    for (text, times) in expected {
        let found = answer.matches(text.as_str()).count();
        if found != *times {
            let shown: String = answer.chars().take(600).collect();
            return Err(format!("`{text}` was found {found} times and not {times} times in: {shown}").into());
        }
    }
    Ok(())
}

/// All sessions call at once, each as fast as it is answered, until the time is over.
pub async fn run_sessions(
    sessions: Vec<Session>,
    source: impl CallSource,
    during: Duration,
    latencies: &mut Latencies,
) -> BenchResult<Vec<Session>> {
    let until = Instant::now() + during;
    let mut tasks = JoinSet::new();
    for mut session in sessions {
        tasks.spawn(async move {
            let mut micros = Vec::with_capacity(4096);
            while Instant::now() < until {
                micros.push(session.call(source).await?);
            }
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>((session, micros))
        });
    }
    let mut back = Vec::new();
    while let Some(ended) = tasks.join_next().await {
        let (session, micros) = ended??;
        latencies.micros.extend(micros);
        back.push(session);
    }
    Ok(back)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_with_too_few_or_too_many_is_wrong() {
        let expected = [("\"id\"".to_owned(), 2)];
        assert!(check(br#"{"id":1,"other":{"id":2}}"#, &expected).is_ok());
        assert!(check(br#"{"id":1}"#, &expected).is_err());
        assert!(check(br#"{"id":1,"a":{"id":2},"b":{"id":3}}"#, &expected).is_err());
    }

    #[test]
    fn an_answer_that_is_not_200_is_wrong() {
        assert!(message_length(b"HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\n\r\n").is_err());
        assert!(message_length(b"HTTP/1.1 200 OK\r\ncontent-").unwrap().is_none());
        assert_eq!(message_length(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{}").unwrap(), Some((38, 7)));
    }
}
