//! Where the database is, and as whom to go there. The password in it is shown to nobody.

use std::fmt;
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

const CONNECT: Duration = Duration::from_secs(3);
/// A server that does not even acknowledge bytes for so long is gone.
const SILENCE: Duration = Duration::from_secs(10);
/// No statement runs longer, whoever waits.
const LONGEST_MILLISECONDS: u32 = 10_000;

/// A checked `postgres://` address.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    config: Arc<Config>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressError {
    /// It does not begin with `postgres://`.
    NotPostgres,
    Unreadable,
    /// It would send rows over a network in clear.
    Unencrypted,
    /// It asks for TLS, which this version does not speak to a database.
    NeedsTls,
}

impl Address {
    pub fn parse(text: &str) -> Result<Address, AddressError> {
        if !text.starts_with("postgres://") && !text.starts_with("postgresql://") {
            return Err(AddressError::NotPostgres);
        }
        let config = Config::from_str(text).map_err(|_| AddressError::Unreadable)?;
        if config.get_hosts().is_empty() || config.get_user().is_none() {
            return Err(AddressError::Unreadable);
        }
        // Only what is known to be content without TLS.
        if !matches!(config.get_ssl_mode(), SslMode::Disable | SslMode::Prefer) {
            return Err(AddressError::NeedsTls);
        }
        let near = config.get_hosts().iter().all(is_on_this_machine)
            && config.get_hostaddrs().iter().all(std::net::IpAddr::is_loopback);
        match near {
            true => Ok(Address { config: Arc::new(config) }),
            false => Err(AddressError::Unencrypted),
        }
    }

    /// For work that may take its time.
    pub(crate) fn patient(&self) -> Config {
        self.with_limit(0)
    }

    /// For work that somebody waits for.
    pub(crate) fn brief(&self) -> Config {
        self.with_limit(LONGEST_MILLISECONDS)
    }

    fn with_limit(&self, milliseconds: u32) -> Config {
        let mut config = Config::clone(&self.config);
        let given = config.get_options().unwrap_or_default().to_owned();
        config.options(format!("{given} -c statement_timeout={milliseconds}"));
        config.application_name("frontdesk").ssl_mode(SslMode::Disable);
        config.connect_timeout(CONNECT).tcp_user_timeout(SILENCE).keepalives_idle(SILENCE);
        config
    }
}

fn is_on_this_machine(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
    }
}

/// As much of the address as anybody may see.
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
        match socket {
            Some(path) => write!(out, "?host={}", path.display()),
            None => Ok(()),
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
    fn a_password_is_never_shown() {
        let address = Address::parse("postgres://desk:hunter2@localhost:5433/cars").unwrap();
        assert_eq!(address.to_string(), "postgres://desk:***@localhost:5433/cars");
        assert_eq!(format!("{address:?}"), "postgres://desk:***@localhost:5433/cars");
        let socket = Address::parse("postgresql://desk@/cars?host=/run/postgresql&password=hunter2").unwrap();
        assert_eq!(socket.to_string(), "postgres://desk:***@/cars?host=/run/postgresql");
    }

    #[test]
    fn nothing_crosses_a_network_in_clear() {
        let refused = |text: &str| Address::parse(text).unwrap_err();
        assert_eq!(refused("postgres://desk@db.example/cars"), AddressError::Unencrypted);
        assert_eq!(refused("postgres://desk@192.0.2.7/cars"), AddressError::Unencrypted);
        assert_eq!(refused("postgres://desk@localhost/cars?hostaddr=192.0.2.7"), AddressError::Unencrypted);
        assert_eq!(refused("postgres://desk@localhost/cars?sslmode=require"), AddressError::NeedsTls);
        assert_eq!(refused("postgres://desk@localhost:port/cars"), AddressError::Unreadable);
        assert_eq!(refused("postgres://"), AddressError::Unreadable);
        assert_eq!(refused("mysql://desk@localhost/cars"), AddressError::NotPostgres);
        assert!(Address::parse("postgres://desk@[::1]/cars").is_ok());
    }
}
