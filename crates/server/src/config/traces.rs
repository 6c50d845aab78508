//! Where traces are exported to, and which ratio of them. Without TLS only on this machine.

use std::fmt;
use std::path::PathBuf;

use ::http::Uri;
use url::{Host, Url};

use super::finding::ConfigError;
use super::url::{host_of, parse_url};

/// Whether spans are exported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TracesConfig {
    Off,
    Otlp(Box<Collector>),
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
    url: Url,
    /// The path that spans are posted to.
    target: Uri,
}

const NEXT: &str = "Write the base of the collector's URL, such as http://127.0.0.1:4318 or https://otel.example.com";

impl CollectorUrl {
    pub(super) fn read(text: &str) -> Result<CollectorUrl, ConfigError> {
        let url = parse_url(text).map_err(|problem| ConfigError::new(problem, NEXT))?;
        let path = url.path().trim_end_matches('/');
        // The parser escapes what it does not allow in a path; such a path is refused.
        let is_plain = url.query().is_none() && url.fragment().is_none() && text.contains(path);
        let target = Uri::try_from(format!("{path}/v1/traces")).ok().filter(|_| is_plain);
        let target = target.ok_or_else(|| ConfigError::new("its path has invalid characters", NEXT))?;
        if url.scheme() == "http" && !is_loopback(&url) {
            return Err(ConfigError::new(
                "spans would leave this machine in cleartext",
                "Use https, or send them to a collector on this machine such as http://127.0.0.1:4318",
            ));
        }
        Ok(CollectorUrl { url, target })
    }

    /// How to connect; none if that needs a CA and there is none.
    pub(super) fn channel(&self, ca: Option<PathBuf>) -> Option<CollectorChannel> {
        if self.url.scheme() == "http" {
            return Some(CollectorChannel::Clear);
        }
        ca.map(|ca| CollectorChannel::Encrypted { ca })
    }

    /// An IPv6 address without its brackets.
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
    }

    pub fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or(443)
    }

    /// As in the `Host` header.
    pub fn authority(&self) -> String {
        format!("{}:{}", host_of(&self.url), self.port())
    }

    /// The path that spans are posted to.
    pub fn target(&self) -> &Uri {
        &self.target
    }
}

impl fmt::Display for CollectorUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.url.as_str().trim_end_matches('/'))
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
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
