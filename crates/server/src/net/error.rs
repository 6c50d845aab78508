//! Errors of listening and of certificates; every message says what happened and what to do. The content of a key file is
//! never quoted.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug)]
pub enum NetError {
    /// Another process listens on the address.
    PortTaken(SocketAddr, AddressSource),
    /// The operating system keeps the port for privileged processes.
    PortForbidden(SocketAddr, AddressSource),
    /// The address belongs to no interface of this machine.
    AddressNotLocal(SocketAddr, AddressSource),
    /// Listening failed for another reason.
    ListenFailed { address: SocketAddr, setting: AddressSource, cause: io::Error },
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
    /// The key does not belong to the certificate.
    KeyMismatch { certificate: PathBuf, key: PathBuf },
    /// The pair is well formed but cannot be used for TLS.
    Unusable { certificate: PathBuf, key: PathBuf, cause: String },
    /// A private key can be read by other users.
    KeyExposed { file: PathBuf, mode: u32 },
    /// A name that cannot be in a certificate.
    InvalidName(String),
    /// The certificate could not be created.
    NotCreated(String),
}

impl fmt::Display for NetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PortTaken(address, setting) => write!(
                f,
                "port {port} is taken: another program listens on {address}; stop it, choose another port with \
                 `{other}`, or let the system choose a free one with `{free}`",
                port = address.port(),
                other = setting.with_value(format_args!("{}:PORT", Host(*address))),
                free = setting.with_value(format_args!("{}:0", Host(*address))),
            ),
            Self::PortForbidden(address, setting) => write!(
                f,
                "port {port} needs privileges that this user lacks; choose a port above 1023 with `{other}`",
                port = address.port(),
                other = setting.with_value(format_args!("{}:8443", Host(*address))),
            ),
            Self::AddressNotLocal(address, setting) => write!(
                f,
                "{ip} is not an address of this machine; use `{this}` for this machine only or `{all}` for all its \
                 interfaces",
                ip = address.ip(),
                this = setting.with_value(format_args!("127.0.0.1:{}", address.port())),
                all = setting.with_value(format_args!("0.0.0.0:{}", address.port())),
            ),
            Self::ListenFailed { address, setting, cause } => write!(
                f,
                "cannot listen on {address} ({cause}); choose another address with `{}`",
                setting.with_value(format_args!("ADDR:PORT"))
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
                 runs Frontdesk, or name another folder with `--data DIR`",
                file.display()
            ),
            Self::NoCertificate(file) => write!(
                f,
                "{} contains no PEM certificate; it must contain a `-----BEGIN CERTIFICATE-----` block, the server's own \
                 certificate first and its intermediates after it",
                file.display()
            ),
            Self::NoKey(file) => write!(
                f,
                "{} contains no PEM private key; it must contain an unencrypted `-----BEGIN PRIVATE KEY-----` block",
                file.display()
            ),
            Self::KeyMismatch { certificate, key } => write!(
                f,
                "the key in {} does not belong to the certificate in {}; use the key of the \
                 certificate, and put the server's own certificate first in its file",
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
            Self::InvalidName(name) => write!(
                f,
                "`{name}` cannot be in a certificate; use a host name such as `desk.example.com` or an IP address \
                 as the host of the public URL"
            ),
            Self::NotCreated(cause) => write!(
                f,
                "the development certificate could not be created ({cause}); provide a certificate and name its \
                 files in the configuration"
            ),
        }
    }
}

impl std::error::Error for NetError {}

/// Where an address was configured, so that the message names what to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressSource {
    Flag(&'static str),
    Key(&'static str),
}

impl AddressSource {
    fn with_value(self, value: fmt::Arguments<'_>) -> String {
        match self {
            AddressSource::Flag(flag) => format!("{flag} {value}"),
            AddressSource::Key(key) => format!("{key} = \"{value}\""),
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
