//! TLS configurations from PEM files, for the listeners and for the client of the trace collector. TLS 1.2 and 1.3 only,
//! HTTP/1.1 only; key material is never logged or returned.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use arc_swap::ArcSwap;
use frontdesk_engine::seal::sha256;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, InconsistentKeys, RootCertStore, ServerConfig};

use super::any_certificate::AnyCertificate;
use super::error::NetError;
use super::files;

/// The TLS configuration in use. It can be replaced; open connections keep theirs.
pub struct Tls {
    current: ArcSwap<ServerConfig>,
}

/// Whether clients are asked for a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientCertificates {
    Ignored,
    /// Any certificate is taken whose key the client has, and none is required: who presents it is decided later.
    Requested,
}

/// Reads a certificate chain and its key, for clients without certificates.
pub fn load(certificate: &Path, key: &Path) -> Result<ServerConfig, NetError> {
    load_for(certificate, key, ClientCertificates::Ignored)
}

/// Reads a certificate chain and its key. The key file may be readable by its group, as in system key folders, but not by
/// everyone.
pub fn load_for(certificate: &Path, key: &Path, clients: ClientCertificates) -> Result<ServerConfig, NetError> {
    files::refuse_exposed(key, files::Exposure::ToEveryone)?;
    let chain = certificates(certificate)?;
    let private = private_key(key)?;
    let unusable = |error: rustls::Error| {
        let (certificate, key) = (certificate.to_owned(), key.to_owned());
        if error == rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) {
            NetError::KeyMismatch { certificate, key }
        } else {
            NetError::Unusable { certificate, key, cause: error.to_string() }
        }
    };
    let builder =
        ServerConfig::builder_with_provider(provider()).with_protocol_versions(&[&TLS13, &TLS12]).map_err(unusable)?;
    let builder = match clients {
        ClientCertificates::Ignored => builder.with_no_client_auth(),
        ClientCertificates::Requested => builder.with_client_cert_verifier(Arc::new(AnyCertificate::new())),
    };
    let mut config = builder.with_single_cert(chain, private).map_err(unusable)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// Everything that prevents these files from being used.
pub fn check(certificate: &Path, key: &Path) -> Vec<NetError> {
    match (private_key(key), certificates(certificate)) {
        (Ok(_), Ok(_)) => load(certificate, key).err().into_iter().collect(),
        (private, chain) => private.err().into_iter().chain(chain.err()).collect(),
    }
}

fn private_key(key: &Path) -> Result<PrivateKeyDer<'static>, NetError> {
    files::refuse_exposed(key, files::Exposure::ToEveryone)?;
    let pem = files::read(key)?;
    PrivateKeyDer::from_pem_slice(&pem).map_err(|_| NetError::NoKey(key.to_owned()))
}

impl Tls {
    pub fn new(config: ServerConfig) -> Self {
        Self { current: ArcSwap::from_pointee(config) }
    }

    /// Takes effect with the next handshake.
    pub fn replace(&self, config: ServerConfig) {
        self.current.store(Arc::new(config));
    }

    pub(super) fn current(&self) -> Arc<ServerConfig> {
        self.current.load_full()
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls(***)")
    }
}

/// Explicit, so that no other part of the program can change it.
pub(super) fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

pub(super) fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, NetError> {
    let pem = files::read(file)?;
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    match chain {
        Ok(chain) if !chain.is_empty() => Ok(chain),
        Ok(_) | Err(_) => Err(NetError::NoCertificate(file.to_owned())),
    }
}

/// The SHA-256 of every certificate of a PEM file.
pub fn certificate_digests(file: &Path) -> Result<Vec<[u8; 32]>, NetError> {
    Ok(certificates(file)?.iter().map(|certificate| sha256(certificate)).collect())
}

/// The configuration of a client that trusts the CAs in this PEM text and no others; none if it contains no CA. Certificates
/// that cannot be parsed are ignored, because a system's bundle may contain some.
pub fn client_config(pem: &[u8]) -> Option<ClientConfig> {
    let mut roots = RootCertStore::empty();
    let found = CertificateDer::pem_slice_iter(pem).filter_map(Result::ok);
    let (parsed, _) = roots.add_parsable_certificates(found);
    let builder = ClientConfig::builder_with_provider(provider()).with_protocol_versions(&[&TLS13, &TLS12]).ok()?;
    (parsed > 0).then(|| builder.with_root_certificates(roots).with_no_client_auth())
}

/// What the other side of an outgoing request must present: a certificate of the CAs in this file, or of a public CA.
pub(super) fn outbound_config(ca: Option<&Path>) -> Result<ClientConfig, NetError> {
    let mut roots = RootCertStore::empty();
    match ca {
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(file) => {
            if roots.add_parsable_certificates(certificates(file)?).0 == 0 {
                return Err(NetError::NoCertificate(file.to_owned()));
            }
        }
    }
    let builder = ClientConfig::builder_with_provider(provider());
    let versions = builder.with_protocol_versions(&[&TLS13, &TLS12]);
    let mut config = versions
        .map_err(|error| NetError::NotCreated(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
