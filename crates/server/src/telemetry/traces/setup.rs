//! Builds the exporter that the configuration describes: its files are read and checked here. The content of the headers
//! file is never repeated in an error.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::http::{HeaderMap, HeaderName, HeaderValue};

use super::otlp_client::{OtlpClient, Transport};
use crate::config::{CollectorChannel, SampleRatio, TracesConfig};
use crate::net;

/// A client that has not connected yet, and how many traces it gets.
pub struct ExporterSetup {
    pub(super) client: OtlpClient,
    pub(super) sample: SampleRatio,
}

/// None if traces are off. Returns all errors at once.
pub fn prepare(traces: &TracesConfig) -> Result<Option<ExporterSetup>, Vec<TracesError>> {
    let TracesConfig::Otlp(collector) = traces else {
        return Ok(None);
    };
    let transport = match &collector.channel {
        CollectorChannel::Clear => Ok(Transport::Loopback),
        CollectorChannel::Encrypted { ca } => tls_transport(ca),
    };
    let headers = collector.headers.as_deref().map_or_else(|| Ok(HeaderMap::new()), read_headers);
    match (transport, headers) {
        (Ok(transport), Ok(headers)) => {
            let client = OtlpClient { endpoint: collector.endpoint.clone(), transport, headers, connection: None };
            Ok(Some(ExporterSetup { client, sample: collector.sample }))
        }
        (transport, headers) => Err(transport.err().into_iter().chain(headers.err()).collect()),
    }
}

#[derive(Debug)]
pub enum TracesError {
    Unreadable { key: &'static str, file: PathBuf, cause: io::Error },
    NoAuthority(PathBuf),
    Exposed { file: PathBuf, mode: u32 },
    NotAHeader { file: PathBuf, line: usize },
    OwnHeader { file: PathBuf, line: usize },
}

impl fmt::Display for TracesError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { key, file, cause } => write!(
                out,
                "{key}: {} cannot be read ({cause}). Correct the path, or make it readable for the user that runs Frontdesk",
                file.display()
            ),
            Self::NoAuthority(file) => write!(
                out,
                "traces.ca: {} contains no CA certificate. Name a PEM file with a `-----BEGIN CERTIFICATE-----` block",
                file.display()
            ),
            Self::Exposed { file, mode } => write!(
                out,
                "traces.headers_file: other users can read {file} (mode {mode:04o}). Run `chmod 600 {file}`, and replace \
                 what is secret in it if someone else may have read it",
                file = file.display()
            ),
            Self::NotAHeader { file, line } => write!(
                out,
                "traces.headers_file: line {line} of {} is not a header. Write each as `Name: value`",
                file.display()
            ),
            Self::OwnHeader { file, line } => write!(
                out,
                "traces.headers_file: line {line} of {} is a header that Frontdesk sends itself. Remove it",
                file.display()
            ),
        }
    }
}

impl std::error::Error for TracesError {}

/// All errors, one a line.
pub fn listed(errors: &[TracesError]) -> String {
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

fn tls_transport(ca: &Path) -> Result<Transport, TracesError> {
    let pem = fs::read(ca).map_err(|cause| unreadable("traces.ca", ca, cause))?;
    match net::client_config(&pem) {
        Some(config) => Ok(Transport::Tls(Arc::new(config))),
        None => Err(TracesError::NoAuthority(ca.to_owned())),
    }
}

fn read_headers(file: &Path) -> Result<HeaderMap, TracesError> {
    let failed = |cause| unreadable("traces.headers_file", file, cause);
    let mode = fs::metadata(file).map_err(failed)?.permissions().mode() & 0o7777;
    if mode & 0o007 != 0 {
        return Err(TracesError::Exposed { file: file.to_owned(), mode });
    }
    let text = fs::read_to_string(file).map_err(failed)?;
    let mut headers = HeaderMap::new();
    for (line, text) in (1..).zip(text.lines().map(str::trim)) {
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let Some((name, mut value)) = header(text) else {
            return Err(TracesError::NotAHeader { file: file.to_owned(), line });
        };
        if OWN_HEADERS.contains(&name.as_str()) {
            return Err(TracesError::OwnHeader { file: file.to_owned(), line });
        }
        value.set_sensitive(true);
        headers.append(name, value);
    }
    Ok(headers)
}

/// Headers that the client sets itself.
const OWN_HEADERS: [&str; 7] =
    ["connection", "content-encoding", "content-length", "content-type", "host", "transfer-encoding", "user-agent"];

fn header(line: &str) -> Option<(HeaderName, HeaderValue)> {
    let (name, value) = line.split_once(':')?;
    Some((HeaderName::from_bytes(name.trim().as_bytes()).ok()?, HeaderValue::from_str(value.trim()).ok()?))
}

fn unreadable(key: &'static str, file: &Path, cause: io::Error) -> TracesError {
    TracesError::Unreadable { key, file: file.to_owned(), cause }
}
