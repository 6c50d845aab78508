//! Hosts, origins and the public URL, read into their one normal spelling so that a comparison of bytes is enough later.
//! Nothing here may accept credentials, paths, wildcards or the origin `null`.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

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
        let next = "Write https, a host and perhaps a port, such as https://desk.example.com";
        let (scheme, host, port) = parse_origin(text).map_err(|wrong| ConfigError::new(wrong, next))?;
        match scheme {
            Scheme::Https => Ok(Self { host, port: port.unwrap_or(scheme.port()) }),
            Scheme::Http => {
                Err(ConfigError::new(format!("{text:?} is not encrypted, and Frontdesk serves https only"), next))
            }
        }
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
        out.write_str(&spell(Scheme::Https, &self.host, Some(self.port)))
    }
}

/// An origin as browsers send it.
pub(super) fn origin(text: &str) -> Result<String, ConfigError> {
    let (scheme, host, port) = parse_origin(text).map_err(|wrong| {
        ConfigError::new(wrong, "Write each origin as scheme, host and perhaps a port, such as https://app.example.com")
    })?;
    Ok(spell(scheme, &host, port))
}

/// A host name or address without scheme and port.
pub(super) fn host(text: &str) -> Result<String, ConfigError> {
    parse_host(&text.to_lowercase()).map_err(|wrong| {
        ConfigError::new(wrong, "Write each host alone, such as desk.example.com; any port is accepted")
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    Http,
    Https,
}

impl Scheme {
    pub(super) fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

pub(super) fn spell(scheme: Scheme, host: &str, port: Option<u16>) -> String {
    let name = match scheme {
        Scheme::Http => "http",
        Scheme::Https => "https",
    };
    match port {
        Some(port) if port != scheme.port() => format!("{name}://{host}:{port}"),
        Some(_) | None => format!("{name}://{host}"),
    }
}

pub(super) fn parse_origin(text: &str) -> Result<(Scheme, String, Option<u16>), String> {
    let lower = text.to_lowercase();
    let (scheme, rest) = if let Some(rest) = lower.strip_prefix("https://") {
        (Scheme::Https, rest)
    } else if let Some(rest) = lower.strip_prefix("http://") {
        (Scheme::Http, rest)
    } else {
        return Err(format!("{text:?} does not begin with https://"));
    };
    if rest.contains('@') {
        // Not quoted, because what stands before the @ may be a password.
        return Err("it holds a user name or password".to_owned());
    }
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    if rest.contains(['/', '?', '#']) {
        return Err(format!("{text:?} has more than a host and a port"));
    }
    let (name, port) = match rest.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => {
            (name, Some(number(port).ok_or(format!("{text:?} has no valid port"))?))
        }
        Some(_) | None => (rest, None),
    };
    Ok((scheme, parse_host(name)?, port))
}

fn number(port: &str) -> Option<u16> {
    let digits = port.bytes().all(|byte| byte.is_ascii_digit());
    port.parse().ok().filter(|port| digits && *port != 0)
}

fn parse_host(name: &str) -> Result<String, String> {
    if let Some(address) = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let address: Ipv6Addr = address.parse().map_err(|_| format!("{name:?} is not an IPv6 address"))?;
        return Ok(format!("[{address}]"));
    }
    let last = name.rsplit('.').next().unwrap_or(name);
    if !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()) {
        let address: Ipv4Addr = name.parse().map_err(|_| format!("{name:?} is not an IPv4 address"))?;
        return Ok(address.to_string());
    }
    let labels = name.split('.').all(|label| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    });
    if labels { Ok(name.to_owned()) } else { Err(format!("{name:?} is not a host name")) }
}
