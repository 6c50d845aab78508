//! Hosts, origins and the public URL, normalized so that they can be compared byte by byte. Credentials, paths, wildcards
//! and the origin `null` are never accepted.

use std::fmt;

use url::{Host, ParseError, Url};

use super::finding::ConfigError;

/// The base URL of the server for clients: always https, never with a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl {
    host: String,
    port: u16,
}

impl PublicUrl {
    pub(super) fn localhost(port: u16) -> Self {
        Self { host: "localhost".to_owned(), port }
    }

    pub(super) fn read(text: &str) -> Result<Self, ConfigError> {
        let advice = "Write https, a host and perhaps a port, such as https://desk.example.com";
        let url = parse_origin(text).map_err(|problem| ConfigError::new(problem, advice))?;
        if url.scheme() != "https" {
            return Err(ConfigError::new(
                format!("{text:?} is not encrypted, and Frontdesk serves https only"),
                advice,
            ));
        }
        Ok(Self { host: host_of(&url), port: url.port().unwrap_or(443) })
    }

    /// In lower case, an IPv6 address in brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The whole URL of `path`, which begins with `/`.
    pub fn at(&self, path: &str) -> String {
        format!("{self}{path}")
    }
}

/// The origin: no trailing slash, no default port.
impl fmt::Display for PublicUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            443 => write!(out, "https://{}", self.host),
            port => write!(out, "https://{}:{port}", self.host),
        }
    }
}

/// An origin as browsers send it.
pub(super) fn origin(text: &str) -> Result<String, ConfigError> {
    let url = parse_origin(text).map_err(|problem| {
        ConfigError::new(
            problem,
            "Write each origin as scheme, host and perhaps a port, such as https://app.example.com",
        )
    })?;
    Ok(url.origin().ascii_serialization())
}

/// A host name or address without scheme and port.
pub(super) fn host(text: &str) -> Result<String, ConfigError> {
    let is_alone = if text.starts_with('[') { text.ends_with(']') } else { !text.contains([':', '/', '?', '#', '@']) };
    match parse_origin(&format!("https://{text}")) {
        Ok(url) if is_alone => Ok(host_of(&url)),
        Ok(_) | Err(_) => Err(ConfigError::new(
            format!("{text:?} is not a host name or address"),
            "Write each host alone, such as desk.example.com; any port is accepted",
        )),
    }
}

fn parse_origin(text: &str) -> Result<Url, String> {
    let url = parse_url(text)?;
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return Err(format!("{text:?} has more than a host and a port"));
    }
    Ok(url)
}

/// An http or https URL without credentials.
pub(super) fn parse_url(text: &str) -> Result<Url, String> {
    if text.contains('@') {
        // Not quoted, because a password may be in it.
        return Err("it holds a user name or password".to_owned());
    }
    let lower = text.to_ascii_lowercase();
    if !lower.starts_with("https://") && !lower.starts_with("http://") {
        return Err(format!("{text:?} does not begin with https://"));
    }
    let no_port = || format!("{text:?} has no valid port");
    let no_host = || format!("{text:?} has no valid host name or address");
    let url = match Url::parse(text) {
        Ok(url) => url,
        Err(ParseError::InvalidPort) => return Err(no_port()),
        Err(_) => return Err(no_host()),
    };
    if url.port() == Some(0) {
        return Err(no_port());
    }
    if has_plain_host(&url, &lower) { Ok(url) } else { Err(no_host()) }
}

/// In lower case, an IPv6 address in brackets.
pub(super) fn host_of(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}

/// The parser follows browsers and converts Unicode names, escapes and short forms of IPv4. A configuration should say what
/// it means, so a host that was converted is refused; so are names with characters that no host has.
fn has_plain_host(url: &Url, text: &str) -> bool {
    let is_unchanged = |host: &str| text.contains(host) && text.bytes().all(|byte| byte.is_ascii_graphic());
    match url.host() {
        Some(Host::Ipv6(_)) => true,
        Some(Host::Ipv4(address)) => is_unchanged(&address.to_string()),
        Some(Host::Domain(name)) => is_unchanged(name) && name.split('.').all(is_label),
        None => false,
    }
}

fn is_label(label: &str) -> bool {
    !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}
