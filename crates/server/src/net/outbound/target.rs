//! The address of a request, taken apart.

use http::Uri;
use rustls::pki_types::ServerName;
use url::{Host, Url};

/// An `https` URL without user, password and fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) host: TargetHost,
    pub(super) port: u16,
    /// Path and query, as they are sent.
    pub(super) path: Uri,
    /// Host and port, as the Host header has them.
    pub(super) authority: String,
    pub(super) server_name: ServerName<'static>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum TargetHost {
    Name(String),
    Address(std::net::IpAddr),
}

impl Target {
    /// None for anything that must not be requested. The parser writes every spelling of an IPv4 address, such as
    /// `0x7f.1`, as the address that it means.
    pub(super) fn parse(url: &str) -> Option<Target> {
        let url = Url::parse(url).ok()?;
        let is_plain = url.scheme() == "https"
            && url.username().is_empty()
            && url.password().is_none()
            && url.fragment().is_none();
        let host = match url.host().filter(|_| is_plain)? {
            Host::Domain(name) => TargetHost::Name(name.trim_end_matches('.').to_owned()),
            Host::Ipv4(address) => TargetHost::Address(address.into()),
            Host::Ipv6(address) => TargetHost::Address(address.into()),
        };
        let server_name = match &host {
            TargetHost::Name(name) => ServerName::try_from(name.clone()).ok()?,
            TargetHost::Address(address) => ServerName::from(*address),
        };
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        let path = format!("{}{query}", url.path()).parse().ok()?;
        let authority = match url.port() {
            Some(port) => format!("{}:{port}", url.host_str()?),
            None => url.host_str()?.to_owned(),
        };
        Some(Target { host, port: url.port_or_known_default()?, path, authority, server_name })
    }
}
