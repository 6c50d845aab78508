//! Where spans are sent and how many of them. In clear only within this machine; nothing here reads a file.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use ::http::Uri;

use super::finding::ConfigError;
use super::url::{Scheme, parse_origin, spell};

/// What becomes of the spans of calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TracesConfig {
    Off,
    Otlp(Collector),
}

/// Who takes spans, by OTLP over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collector {
    pub endpoint: CollectorUrl,
    pub channel: CollectorChannel,
    /// A file with headers to send, such as a key.
    pub headers: Option<PathBuf>,
    pub sample: SampleRatio,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CollectorChannel {
    /// Within this machine.
    Clear,
    /// To whoever one of these authorities vouches for.
    Encrypted { ca: PathBuf },
}

/// The base of a collector's URLs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectorUrl {
    scheme: Scheme,
    host: String,
    port: u16,
    /// Empty, or beginning and not ending with a slash.
    path: String,
    /// Where spans are posted to.
    target: Uri,
}

const NEXT: &str = "Write the base of the collector's URL, such as http://127.0.0.1:4318 or https://otel.example.com";

impl CollectorUrl {
    pub(super) fn read(text: &str) -> Result<CollectorUrl, ConfigError> {
        let origin = text.find("://").and_then(|scheme| {
            let rest = text.get(scheme + 3..)?;
            text.get(..scheme + 3 + rest.find('/')?)
        });
        let path = origin.and_then(|origin| text.get(origin.len()..)).unwrap_or_default().trim_end_matches('/');
        let (scheme, host, port) =
            parse_origin(origin.unwrap_or(text)).map_err(|wrong| ConfigError::new(wrong, NEXT))?;
        if path.contains(['?', '#', '@']) || !path.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ConfigError::new("its path has characters that do not belong there", NEXT));
        }
        if scheme == Scheme::Http && !is_loopback(&host) {
            return Err(ConfigError::new(
                "spans would leave this machine in clear",
                "Use https, or send them to a collector on this machine such as http://127.0.0.1:4318",
            ));
        }
        // What is read here as a path must be one to whoever sends the request too.
        let target = Uri::try_from(format!("{path}/v1/traces"));
        let target = target.map_err(|_| ConfigError::new("its path has characters that do not belong there", NEXT))?;
        Ok(CollectorUrl { scheme, host, port: port.unwrap_or(scheme.port()), path: path.to_owned(), target })
    }

    /// How spans get there, unless what that takes was not said.
    pub(super) fn channel(&self, ca: Option<PathBuf>) -> Option<CollectorChannel> {
        match (self.scheme, ca) {
            (Scheme::Http, _) => Some(CollectorChannel::Clear),
            (Scheme::Https, Some(ca)) => Some(CollectorChannel::Encrypted { ca }),
            (Scheme::Https, None) => None,
        }
    }

    /// An IPv6 address without its brackets.
    pub fn host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// As the `Host` header has it.
    pub fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Where spans are posted to.
    pub fn target(&self) -> &Uri {
        &self.target
    }
}

impl fmt::Display for CollectorUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", spell(self.scheme, &self.host, Some(self.port)), self.path)
    }
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// A part of a whole, in millionths, so that it can be compared exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleRatio(u32);

const WHOLE: u32 = 1_000_000;

impl SampleRatio {
    pub(super) const NONE: SampleRatio = SampleRatio(0);

    pub(super) fn read(given: f64) -> Option<SampleRatio> {
        // Between nothing and the whole no rounding can leave the range.
        (0.0..=1.0).contains(&given).then(|| SampleRatio((given * f64::from(WHOLE)).round() as u32))
    }

    pub(super) fn value(self) -> f64 {
        f64::from(self.0) / f64::from(WHOLE)
    }

    /// Whether this number is within the part, if all numbers are equally likely.
    pub fn takes(self, number: u64) -> bool {
        (u128::from(number) * u128::from(WHOLE)) >> 64 < u128::from(self.0)
    }
}
