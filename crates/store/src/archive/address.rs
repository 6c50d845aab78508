//! Where a site's database is. Rows travel in clear only within this machine, and no password is ever shown.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use mysql_async::{Opts, OptsBuilder, SslOpts};

use super::error::ArchiveError;
use crate::postgres::{Address, AddressError};

pub(crate) enum Place {
    Sqlite(PathBuf),
    Mysql(Box<Opts>),
    Postgres(Address),
}

pub(crate) fn parse(url: &str, authority: Option<&Path>) -> Result<Place, ArchiveError> {
    match url.split_once("://") {
        None if is_path(url) => Ok(Place::Sqlite(PathBuf::from(url))),
        None => wrong(
            "it is neither the path of a file, which begins with / or ./, nor does it begin with sqlite://, mysql://, \
             mariadb:// or postgres://",
        ),
        Some(("sqlite", path)) if path.starts_with('/') => Ok(Place::Sqlite(PathBuf::from(path))),
        Some(("sqlite", _)) => {
            wrong("write `sqlite://` and the whole path of the file, as in sqlite:///srv/site/database.sqlite")
        }
        Some(("mysql" | "mariadb", rest)) => mysql(&format!("mysql://{rest}"), authority),
        Some(("postgres" | "postgresql", _)) => postgres(url, authority),
        Some(_) => wrong("it begins with none of sqlite://, mysql://, mariadb:// and postgres://"),
    }
}

/// The address as anybody may see it. What cannot be told from a password is not shown.
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
    let (place, more) = rest.split_once('?').map_or((rest, ""), |(place, _)| (place, "?…"));
    let (user, host) = place.rsplit_once('@').map_or((None, place), |(user, host)| (Some(user), host));
    // An `@` behind the `?` may belong to a password with a `?` in it, and so may what stands where a port should.
    let server = host.split('/').next().unwrap_or_default();
    let behind_brackets = server.strip_prefix('[').and_then(|server| server.split_once(']')).map(|(_, behind)| behind);
    let port = behind_brackets.unwrap_or(server).split_once(':').map(|(_, port)| port);
    let is_odd = port.is_some_and(|port| !port.bytes().all(|digit| digit.is_ascii_digit()));
    if is_odd || rest.split_once('?').is_some_and(|(_, query)| query.contains('@')) {
        return format!("{scheme}://{HIDDEN}");
    }
    match user {
        None => format!("{scheme}://{host}{more}"),
        Some(user) => {
            let user = user.split_once(':').map_or(user.to_owned(), |(user, _)| format!("{user}:{HIDDEN}"));
            format!("{scheme}://{user}@{host}{more}")
        }
    }
}

const HIDDEN: &str = "***";

/// Whether a text without a scheme is the path of a file, and not an address that was miswritten.
fn is_path(text: &str) -> bool {
    let is_plain = |name: &str| !name.is_empty() && !name.contains(['@', ':', ';', '=', ' ']);
    ["/", "./", "../"].iter().any(|begin| text.starts_with(begin)) || (!text.contains('/') && is_plain(text))
}

fn mysql(url: &str, authority: Option<&Path>) -> Result<Place, ArchiveError> {
    let Ok(options) = Opts::from_url(url) else {
        return wrong("write it as mysql://user:password@host:3306/database, with % escapes in user and password");
    };
    if options.db_name().is_none_or(str::is_empty) {
        return wrong("it names no database. Write it as mysql://user:password@host:3306/database");
    }
    let host = options.ip_or_hostname();
    let is_loopback = host.trim_matches(['[', ']']).parse().is_ok_and(|address: IpAddr| address.is_loopback());
    let is_near = options.socket().is_some() || is_loopback || host == "localhost";
    let encryption = match (authority, is_near && options.ssl_opts().is_none()) {
        (Some(authority), _) => Some(trusting(authority)),
        (None, true) => None,
        (None, false) => {
            return wrong(
                "to a server on another machine rows travel by TLS only. Name the PEM file of the authority that issued \
                 its certificate as `database_ca`",
            );
        }
    };
    // The socket that a server names is not the one that was asked for.
    let options = OptsBuilder::from_opts(options).prefer_socket(false).ssl_opts(encryption).stmt_cache_size(0);
    Ok(Place::Mysql(Box::new(options.into())))
}

/// The one authority, and nothing that the address itself says about trust.
fn trusting(authority: &Path) -> SslOpts {
    SslOpts::default().with_root_certs(vec![authority.to_owned().into()]).with_disable_built_in_roots(true)
}

fn postgres(url: &str, authority: Option<&Path>) -> Result<Place, ArchiveError> {
    let address = match Address::parse(url) {
        Ok(address) => address,
        Err(AddressError::NotPostgres | AddressError::Unreadable) => {
            return wrong("write it as postgres://user:password@host:5432/database");
        }
        Err(AddressError::Unencrypted | AddressError::Unverified) => {
            return wrong(
                "a server on another machine needs sslmode=verify-full and the PEM file of its authority as `database_ca`",
            );
        }
        Err(AddressError::TlsOnSocket) => return wrong("there is no TLS on a socket; leave sslmode out"),
    };
    match authority {
        Some(authority) => Ok(Place::Postgres(address.trusting(authority))),
        None if address.needs_authority() => {
            wrong("name the PEM file of the authority that issued the server's certificate as `database_ca`")
        }
        None => Ok(Place::Postgres(address)),
    }
}

fn wrong(why: &str) -> Result<Place, ArchiveError> {
    Err(ArchiveError::Address(why.to_owned()))
}
