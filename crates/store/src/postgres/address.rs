//! The address of the database. Its password is never displayed.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// How long sent bytes may stay unacknowledged before the connection is closed.
const TCP_TIMEOUT: Duration = Duration::from_secs(10);
const STATEMENT_TIMEOUT_MS: u32 = 10_000;

/// A checked `postgres://` address.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    config: Arc<Config>,
    encryption: Encryption,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Encryption {
    /// For a server on this machine.
    None,
    /// The server must have a certificate for its name from this certificate authority.
    Verified { authority: Option<PathBuf> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressError {
    /// It does not begin with `postgres://`.
    NotPostgres,
    Unreadable,
    /// It allows an unencrypted connection over a network.
    Unencrypted,
    /// It asks for TLS without full verification.
    Unverified,
    /// It asks for TLS on a Unix socket.
    TlsOnSocket,
}

#[derive(Clone)]
pub(crate) struct ConnectConfig {
    pub(crate) config: Config,
    pub(crate) encryption: Encryption,
}

impl Address {
    /// A connection to another machine must use verified TLS; on this machine `sslmode` decides.
    pub fn parse(text: &str) -> Result<Address, AddressError> {
        if !text.starts_with("postgres://") && !text.starts_with("postgresql://") {
            return Err(AddressError::NotPostgres);
        }
        let (text, mode) = without_mode(text);
        let config = Config::from_str(&text).map_err(|_| AddressError::Unreadable)?;
        if config.get_hosts().is_empty() || config.get_user().is_none() {
            return Err(AddressError::Unreadable);
        }
        let is_local = config.get_hosts().iter().all(is_on_this_machine)
            && config.get_hostaddrs().iter().all(std::net::IpAddr::is_loopback);
        let by_socket = config.get_hosts().iter().any(|host| matches!(host, Host::Unix(_)));
        let encryption = match (mode.as_deref(), is_local) {
            (None | Some("disable" | "allow" | "prefer"), true) => Encryption::None,
            (Some("require" | "verify-full"), _) | (None, false) => Encryption::Verified { authority: None },
            (Some("disable" | "allow" | "prefer"), false) => return Err(AddressError::Unencrypted),
            (Some(_), _) => return Err(AddressError::Unverified),
        };
        match (&encryption, by_socket) {
            (Encryption::Verified { .. }, true) => Err(AddressError::TlsOnSocket),
            (Encryption::Verified { .. } | Encryption::None, _) => Ok(Address { config: Arc::new(config), encryption }),
        }
    }

    /// Whether a certificate authority must be set with `trusting`.
    pub fn needs_authority(&self) -> bool {
        self.encryption == Encryption::Verified { authority: None }
    }

    /// With the PEM file of the certificate authority. Ignored without TLS.
    pub fn trusting(mut self, authority: &Path) -> Address {
        if let Encryption::Verified { authority: named } = &mut self.encryption {
            *named = Some(authority.to_owned());
        }
        self
    }

    /// For migrations, exports and imports.
    pub(crate) fn without_statement_timeout(&self) -> ConnectConfig {
        self.with_timeout(0)
    }

    /// For calls.
    pub(crate) fn with_statement_timeout(&self) -> ConnectConfig {
        self.with_timeout(STATEMENT_TIMEOUT_MS)
    }

    pub(crate) fn with_timeout(&self, milliseconds: u32) -> ConnectConfig {
        let mut config = Config::clone(&self.config);
        let given = config.get_options().unwrap_or_default().to_owned();
        config.options(format!("{given} -c statement_timeout={milliseconds}"));
        config.application_name("frontdesk").ssl_mode(match self.encryption {
            Encryption::None => SslMode::Disable,
            Encryption::Verified { .. } => SslMode::Require,
        });
        config.connect_timeout(CONNECT_TIMEOUT).tcp_user_timeout(TCP_TIMEOUT).keepalives_idle(TCP_TIMEOUT);
        ConnectConfig { config, encryption: self.encryption.clone() }
    }
}

/// The address without its `sslmode`, because tokio-postgres does not know all modes.
fn without_mode(text: &str) -> (String, Option<String>) {
    let Some((address, query)) = text.split_once('?') else {
        return (text.to_owned(), None);
    };
    let mode = query.split('&').filter_map(|pair| pair.strip_prefix("sslmode=")).next_back().map(str::to_owned);
    let rest: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with("sslmode=")).collect();
    if rest.is_empty() { (address.to_owned(), mode) } else { (format!("{address}?{}", rest.join("&")), mode) }
}

fn is_on_this_machine(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
    }
}

/// Without the password.
impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let config = &self.config;
        let password = if config.get_password().is_some() { ":***" } else { "" };
        write!(out, "postgres://{}{password}@", config.get_user().unwrap_or_default())?;
        let mut socket = None;
        if let Some(host) = config.get_hosts().first() {
            match host {
                Host::Tcp(name) => write!(out, "{name}")?,
                Host::Unix(path) => socket = Some(path),
            }
        }
        if let (Some(port), None) = (config.get_ports().first(), socket) {
            write!(out, ":{port}")?;
        }
        write!(out, "/{}", config.get_dbname().unwrap_or_default())?;
        match (socket, &self.encryption) {
            (Some(path), _) => write!(out, "?host={}", path.display()),
            (None, Encryption::Verified { .. }) => write!(out, "?sslmode=verify-full"),
            (None, Encryption::None) => Ok(()),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_is_never_displayed() {
        let address = Address::parse("postgres://desk:hunter2@localhost:5433/cars").unwrap();
        assert_eq!(address.to_string(), "postgres://desk:***@localhost:5433/cars");
        assert_eq!(format!("{address:?}"), "postgres://desk:***@localhost:5433/cars");
        let socket = Address::parse("postgresql://desk@/cars?host=/run/postgresql&password=hunter2").unwrap();
        assert_eq!(socket.to_string(), "postgres://desk:***@/cars?host=/run/postgresql");
    }

    #[test]
    fn remote_connections_need_verified_tls() {
        let refused = |text: &str| Address::parse(text).unwrap_err();
        for mode in ["disable", "allow", "prefer"] {
            assert_eq!(refused(&format!("postgres://desk@db.example/cars?sslmode={mode}")), AddressError::Unencrypted);
            assert_eq!(refused(&format!("postgres://desk@192.0.2.7/cars?sslmode={mode}")), AddressError::Unencrypted);
            let elsewhere = format!("postgres://desk@localhost/cars?sslmode={mode}&hostaddr=192.0.2.7");
            assert_eq!(refused(&elsewhere), AddressError::Unencrypted);
        }
        assert_eq!(refused("postgres://desk@db.example/cars?sslmode=verify-ca"), AddressError::Unverified);
        assert_eq!(refused("postgres://desk@db.example/cars?sslmode=full"), AddressError::Unverified);
        assert_eq!(refused("postgres://desk@/cars?host=/run&sslmode=require"), AddressError::TlsOnSocket);
        assert_eq!(refused("postgres://desk@localhost:port/cars"), AddressError::Unreadable);
        assert_eq!(refused("postgres://"), AddressError::Unreadable);
        assert_eq!(refused("mysql://desk@localhost/cars"), AddressError::NotPostgres);
    }

    #[test]
    fn only_a_server_on_this_machine_goes_without_tls() {
        let shown = |text: &str| Address::parse(text).unwrap();
        for near in ["postgres://desk@[::1]/cars", "postgres://desk@localhost/cars?sslmode=prefer"] {
            assert!(!shown(near).needs_authority(), "{near}");
        }
        for far in ["", "?sslmode=require", "?sslmode=verify-full", "?connect_timeout=2&sslmode=require"] {
            let address = shown(&format!("postgres://desk:hunter2@db.example/cars{far}"));
            assert!(address.needs_authority(), "{far}");
            assert_eq!(address.to_string(), "postgres://desk:***@db.example:5432/cars?sslmode=verify-full");
            assert!(!address.trusting(Path::new("ca.pem")).needs_authority());
        }
        assert!(shown("postgres://desk@localhost/cars?sslmode=require").needs_authority());
    }
}
