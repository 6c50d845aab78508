//! The address of a site's database. Rows are sent in clear text only within this machine, and no password is ever
//! shown.

use std::path::{Path, PathBuf};

use super::error::SiteDbError;
use crate::postgres::{Address, AddressError};

pub(super) enum SiteAddress {
    Sqlite(PathBuf),
    /// The URL with the scheme `mysql`, which its driver checks.
    Mysql(String),
    Postgres(Address),
}

pub(super) fn parse(url: &str, ca_file: Option<&Path>) -> Result<SiteAddress, SiteDbError> {
    match url.split_once("://") {
        None if is_path(url) => Ok(SiteAddress::Sqlite(PathBuf::from(url))),
        None => invalid(
            "it is neither the path of a file, which begins with / or ./, nor does it begin with sqlite://, mysql://, \
             mariadb:// or postgres://",
        ),
        Some(("sqlite", path)) if path.starts_with('/') => Ok(SiteAddress::Sqlite(PathBuf::from(path))),
        Some(("sqlite", _)) => {
            invalid("write `sqlite://` and the absolute path of the file, as in sqlite:///srv/site/database.sqlite")
        }
        Some(("mysql" | "mariadb", rest)) => Ok(SiteAddress::Mysql(format!("mysql://{rest}"))),
        Some(("postgres" | "postgresql", _)) => parse_postgres(url, ca_file),
        Some(_) => invalid("it begins with none of sqlite://, mysql://, mariadb:// and postgres://"),
    }
}

pub(super) fn invalid<T>(reason: &str) -> Result<T, SiteDbError> {
    Err(SiteDbError::Address(reason.to_owned()))
}

fn parse_postgres(url: &str, ca_file: Option<&Path>) -> Result<SiteAddress, SiteDbError> {
    let address = match Address::parse(url) {
        Ok(address) => address,
        Err(AddressError::NotPostgres | AddressError::Unreadable) => {
            return invalid("write it as postgres://user:password@host:5432/database");
        }
        Err(AddressError::Unencrypted | AddressError::Unverified) => {
            return invalid(
                "a server on another machine needs sslmode=verify-full and the PEM file of its certificate authority \
                 as `database_ca`",
            );
        }
        Err(AddressError::TlsOnSocket) => return invalid("there is no TLS on a Unix socket; leave sslmode out"),
    };
    match ca_file {
        Some(ca_file) => Ok(SiteAddress::Postgres(address.trusting(ca_file))),
        None if address.needs_authority() => {
            invalid("name the PEM file of the server's certificate authority as `database_ca`")
        }
        None => Ok(SiteAddress::Postgres(address)),
    }
}

/// The address for logs and messages. Where the password cannot be told from the rest, the rest is hidden too.
pub fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return if is_path(url) { url.to_owned() } else { HIDDEN.to_owned() };
    };
    if scheme == "sqlite" && rest.starts_with('/') {
        return url.to_owned();
    }
    if !["mysql", "mariadb", "postgres", "postgresql"].contains(&scheme) {
        return HIDDEN.to_owned();
    }
    let (location, query) = rest.split_once('?').map_or((rest, ""), |(location, _)| (location, "?…"));
    let (user, host) = location.rsplit_once('@').map_or((None, location), |(user, host)| (Some(user), host));
    // An `@` after the `?` may belong to a password with a `?` in it, and so may what stands in place of a port.
    let server = host.split('/').next().unwrap_or_default();
    let after_brackets = server.strip_prefix('[').and_then(|server| server.split_once(']')).map(|(_, after)| after);
    let port = after_brackets.unwrap_or(server).split_once(':').map(|(_, port)| port);
    let is_ambiguous = port.is_some_and(|port| !port.bytes().all(|digit| digit.is_ascii_digit()));
    if is_ambiguous || rest.split_once('?').is_some_and(|(_, query)| query.contains('@')) {
        return format!("{scheme}://{HIDDEN}");
    }
    match user {
        None => format!("{scheme}://{host}{query}"),
        Some(user) => {
            let user = user.split_once(':').map_or(user.to_owned(), |(user, _)| format!("{user}:{HIDDEN}"));
            format!("{scheme}://{user}@{host}{query}")
        }
    }
}

const HIDDEN: &str = "***";

/// Whether a text without a scheme is the path of a file, and not a mistyped address.
fn is_path(text: &str) -> bool {
    let is_file_name = |name: &str| !name.is_empty() && !name.contains(['@', ':', ';', '=', ' ']);
    ["/", "./", "../"].iter().any(|begin| text.starts_with(begin)) || (!text.contains('/') && is_file_name(text))
}
