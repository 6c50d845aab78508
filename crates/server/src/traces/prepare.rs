//! From what the configuration says about traces to a way that can be used: its files are read and checked here. What a
//! file with headers holds is never repeated.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::http::{HeaderMap, HeaderName, HeaderValue};

use super::post::{Post, Secured};
use crate::config::{self, Channel, Ratio};
use crate::net;

/// A way to a collector, not used yet.
pub struct Prepared {
    pub(super) post: Post,
    pub(super) sample: Ratio,
}

/// Everything of it that can be wrong, at once.
pub fn prepare(traces: &config::Traces) -> Result<Option<Prepared>, Vec<TracesError>> {
    let config::Traces::Sent(collector) = traces else {
        return Ok(None);
    };
    let secured = match &collector.channel {
        Channel::Clear => Ok(Secured::ByThisMachine),
        Channel::Encrypted { ca } => trusting(ca),
    };
    let headers = collector.headers.as_deref().map_or_else(|| Ok(HeaderMap::new()), read_headers);
    match (secured, headers) {
        (Ok(secured), Ok(headers)) => {
            let post = Post { endpoint: collector.endpoint.clone(), secured, headers, kept: None };
            Ok(Some(Prepared { post, sample: collector.sample }))
        }
        (secured, headers) => Err(secured.err().into_iter().chain(headers.err()).collect()),
    }
}

#[derive(Debug)]
pub enum TracesError {
    Unreadable { key: &'static str, file: PathBuf, cause: io::Error },
    NoAuthority(PathBuf),
    Exposed { file: PathBuf, mode: u32 },
    NotAHeader { file: PathBuf, line: usize },
    OurHeader { file: PathBuf, line: usize },
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
                "traces.ca: {} holds no certificate authority. Name a PEM file with a `-----BEGIN CERTIFICATE-----` block",
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
                "traces.headers_file: line {line} of {} is no header. Write each as `Name: value`",
                file.display()
            ),
            Self::OurHeader { file, line } => write!(
                out,
                "traces.headers_file: line {line} of {} is a header that Frontdesk sends itself. Take it out",
                file.display()
            ),
        }
    }
}

impl std::error::Error for TracesError {}

/// Several of them as one text, a line each.
pub fn listed(errors: &[TracesError]) -> String {
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

fn trusting(ca: &Path) -> Result<Secured, TracesError> {
    let pem = fs::read(ca).map_err(|cause| unreadable("traces.ca", ca, cause))?;
    match net::trusting(&pem) {
        Some(config) => Ok(Secured::ByTls(Arc::new(config))),
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
    for (line, said) in (1..).zip(text.lines().map(str::trim)) {
        if said.is_empty() || said.starts_with('#') {
            continue;
        }
        let Some((name, mut value)) = header(said) else {
            return Err(TracesError::NotAHeader { file: file.to_owned(), line });
        };
        if OURS.contains(&name.as_str()) {
            return Err(TracesError::OurHeader { file: file.to_owned(), line });
        }
        value.set_sensitive(true);
        headers.append(name, value);
    }
    Ok(headers)
}

/// Those that say where the message goes and where it ends.
const OURS: [&str; 7] =
    ["connection", "content-encoding", "content-length", "content-type", "host", "transfer-encoding", "user-agent"];

fn header(line: &str) -> Option<(HeaderName, HeaderValue)> {
    let (name, value) = line.split_once(':')?;
    Some((HeaderName::from_bytes(name.trim().as_bytes()).ok()?, HeaderValue::from_str(value.trim()).ok()?))
}

fn unreadable(key: &'static str, file: &Path, cause: io::Error) -> TracesError {
    TracesError::Unreadable { key, file: file.to_owned(), cause }
}
