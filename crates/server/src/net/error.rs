//! What can go wrong before the desk is open; every message says what happened and what to do next.
//! It never quotes the content of a key file.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug)]
pub enum NetError {
    /// Another process listens on the address.
    PortTaken(SocketAddr, Setting),
    /// The operating system keeps the port for privileged processes.
    PortForbidden(SocketAddr, Setting),
    /// The address belongs to no interface of this machine.
    AddressNotHere(SocketAddr, Setting),
    /// Listening failed for a reason that has no better name.
    NoListener { address: SocketAddr, setting: Setting, cause: io::Error },
    /// A certificate or key file is not there.
    FileMissing(PathBuf),
    /// A certificate or key file is there and cannot be read.
    FileUnreadable { file: PathBuf, cause: io::Error },
    /// A file or folder cannot be written.
    FileUnwritable { file: PathBuf, cause: io::Error },
    /// The file holds no certificate in PEM form.
    NoCertificate(PathBuf),
    /// The file holds no private key in PEM form.
    NoKey(PathBuf),
    /// The key is not the one the certificate was made for.
    KeyMismatch { certificate: PathBuf, key: PathBuf },
    /// The pair is well formed but cannot be used for TLS.
    Unusable { certificate: PathBuf, key: PathBuf, cause: String },
    /// A private key can be read by other users.
    KeyExposed { file: PathBuf, mode: u32 },
    /// A name that cannot stand in a certificate.
    BadName(String),
    /// The certificate could not be made.
    NotMade(String),
}

impl fmt::Display for NetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PortTaken(address, setting) => write!(
                f,
                "port {port} is taken: another program listens on {address}; stop it, choose another port with \
                 `{other}`, or let the system pick a free one with `{free}`",
                port = address.port(),
                other = setting.saying(format_args!("{}:PORT", Host(*address))),
                free = setting.saying(format_args!("{}:0", Host(*address))),
            ),
            Self::PortForbidden(address, setting) => write!(
                f,
                "port {port} needs privileges that this user lacks; choose a port above 1023 with `{other}`",
                port = address.port(),
                other = setting.saying(format_args!("{}:8443", Host(*address))),
            ),
            Self::AddressNotHere(address, setting) => write!(
                f,
                "{ip} is not an address of this machine; use `{this}` for this machine only or `{all}` for all its \
                 interfaces",
                ip = address.ip(),
                this = setting.saying(format_args!("127.0.0.1:{}", address.port())),
                all = setting.saying(format_args!("0.0.0.0:{}", address.port())),
            ),
            Self::NoListener { address, setting, cause } => write!(
                f,
                "cannot listen on {address} ({cause}); choose another address with `{}`",
                setting.saying(format_args!("ADDR:PORT"))
            ),
            Self::FileMissing(file) => write!(
                f,
                "{} does not exist; put the PEM file there or correct the path in the configuration",
                file.display()
            ),
            Self::FileUnreadable { file, cause } => write!(
                f,
                "{} cannot be read ({cause}); make it readable for the user that runs Frontdesk",
                file.display()
            ),
            Self::FileUnwritable { file, cause } => write!(
                f,
                "{} cannot be written ({cause}); check the free space and that the folder belongs to the user that \
                 runs Frontdesk, or choose another folder with `--data DIR`",
                file.display()
            ),
            Self::NoCertificate(file) => write!(
                f,
                "{} holds no PEM certificate; it must contain a `-----BEGIN CERTIFICATE-----` block, the server's own \
                 certificate first and its intermediates after it",
                file.display()
            ),
            Self::NoKey(file) => write!(
                f,
                "{} holds no PEM private key; it must contain an unencrypted `-----BEGIN PRIVATE KEY-----` block",
                file.display()
            ),
            Self::KeyMismatch { certificate, key } => write!(
                f,
                "the key in {} does not belong to the certificate in {}; use the key that the certificate was made \
                 for, and put the server's own certificate first in its file",
                key.display(),
                certificate.display()
            ),
            Self::Unusable { certificate, key, cause } => write!(
                f,
                "the certificate in {} and the key in {} cannot be used ({cause}); use an ECDSA, Ed25519 or RSA key \
                 and an X.509 version 3 certificate",
                certificate.display(),
                key.display()
            ),
            Self::KeyExposed { file, mode } => write!(
                f,
                "other users can read the private key {file} (mode {mode:04o}); run `chmod 600 {file}`, and replace \
                 the key if someone else may have read it",
                file = file.display(),
            ),
            Self::BadName(name) => write!(
                f,
                "`{name}` cannot stand in a certificate; use a host name such as `desk.example.com` or an IP address \
                 as the host of the public URL"
            ),
            Self::NotMade(cause) => write!(
                f,
                "the development certificate could not be made ({cause}); bring your own certificate and name its \
                 files in the configuration"
            ),
        }
    }
}

impl std::error::Error for NetError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NoListener { cause, .. }
            | Self::FileUnreadable { cause, .. }
            | Self::FileUnwritable { cause, .. } => Some(cause),
            Self::PortTaken(..)
            | Self::PortForbidden(..)
            | Self::AddressNotHere(..)
            | Self::FileMissing(_)
            | Self::NoCertificate(_)
            | Self::NoKey(_)
            | Self::KeyMismatch { .. }
            | Self::Unusable { .. }
            | Self::KeyExposed { .. }
            | Self::BadName(_)
            | Self::NotMade(_) => None,
        }
    }
}

/// Where the person at the command line says an address, so that advice names what they can really change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    Flag(&'static str),
    Key(&'static str),
}

impl Setting {
    fn saying(self, value: fmt::Arguments<'_>) -> String {
        match self {
            Setting::Flag(flag) => format!("{flag} {value}"),
            Setting::Key(key) => format!("{key} = \"{value}\""),
        }
    }
}

/// The address as it is typed before `:PORT`: IPv6 needs its brackets there.
struct Host(SocketAddr);

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            SocketAddr::V4(address) => write!(f, "{}", address.ip()),
            SocketAddr::V6(address) => write!(f, "[{}]", address.ip()),
        }
    }
}
