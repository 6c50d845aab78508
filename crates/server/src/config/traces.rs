//! Where traces are exported to, and which ratio of them. Without TLS only on this machine.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use ::http::Uri;

use super::finding::ConfigError;
use super::url::{Scheme, parse_origin, spell};

/// Whether spans are exported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TracesConfig {
    Off,
    Otlp(Collector),
}

/// A collector for OTLP over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collector {
    pub endpoint: CollectorUrl,
    pub channel: CollectorChannel,
    /// A file with headers to send, such as an API key.
    pub headers: Option<PathBuf>,
    pub sample: SampleRatio,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CollectorChannel {
    /// On this machine.
    Clear,
    /// To a server with a certificate of one of these CAs.
    Encrypted { ca: PathBuf },
}

/// The base URL of a collector.
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
            return Err(ConfigError::new("its path has invalid characters", NEXT));
        }
        if scheme == Scheme::Http && !is_loopback(&host) {
            return Err(ConfigError::new(
                "spans would leave this machine in cleartext",
                "Use https, or send them to a collector on this machine such as http://127.0.0.1:4318",
            ));
        }
        // The same path must be valid for the HTTP client.
        let target = Uri::try_from(format!("{path}/v1/traces"));
        let target = target.map_err(|_| ConfigError::new("its path has invalid characters", NEXT))?;
        Ok(CollectorUrl { scheme, host, port: port.unwrap_or(scheme.port()), path: path.to_owned(), target })
    }

    /// How to connect; none if that needs a CA and there is none.
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

    /// As in the `Host` header.
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

/// A ratio from 0 to 1, in millionths, so that it can be compared exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleRatio(u32);

const WHOLE: u32 = 1_000_000;

impl SampleRatio {
    pub(super) const NONE: SampleRatio = SampleRatio(0);

    pub(super) fn read(given: f64) -> Option<SampleRatio> {
        // Rounding cannot leave the range.
        (0.0..=1.0).contains(&given).then(|| SampleRatio((given * f64::from(WHOLE)).round() as u32))
    }

    pub(super) fn value(self) -> f64 {
        f64::from(self.0) / f64::from(WHOLE)
    }

    /// Whether a uniformly distributed number is within the ratio.
    pub fn includes(self, number: u64) -> bool {
        (u128::from(number) * u128::from(WHOLE)) >> 64 < u128::from(self.0)
    }
}
