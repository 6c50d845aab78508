//! TLS from PEM files: for the listener, and for the one whom we call. TLS 1.2 and 1.3 only, HTTP/1.1 only; it never logs
//! or returns key material.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, InconsistentKeys, RootCertStore, ServerConfig};

use super::error::NetError;
use super::files;

/// The TLS configuration in use. It can be replaced while connections are open: they keep the one they began with.
pub struct Tls {
    current: RwLock<Arc<ServerConfig>>,
}

/// Reads a certificate chain and its key. The key file may be readable by a group, as system key folders have it, but
/// not by everyone.
pub fn load(certificate: &Path, key: &Path) -> Result<ServerConfig, NetError> {
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
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13, &TLS12])
        .map_err(unusable)?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(unusable)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// Everything that keeps these files from being used.
pub fn examine(certificate: &Path, key: &Path) -> Vec<NetError> {
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
        Self { current: RwLock::new(Arc::new(config)) }
    }

    /// Takes effect with the next handshake.
    pub fn replace(&self, config: ServerConfig) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
    }

    pub(super) fn current(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls(***)")
    }
}

/// Named, not taken from the process, so that no other part of the program can change it.
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

/// For calling somebody else: whoever one of the authorities in this PEM text vouches for, and nobody without one. A
/// system's bundle may hold some that are not understood; they vouch for nobody.
pub fn trusting(pem: &[u8]) -> Option<ClientConfig> {
    let mut roots = RootCertStore::empty();
    let found = CertificateDer::pem_slice_iter(pem).filter_map(Result::ok);
    let (understood, _) = roots.add_parsable_certificates(found);
    let builder = ClientConfig::builder_with_provider(provider()).with_protocol_versions(&[&TLS13, &TLS12]).ok()?;
    (understood > 0).then(|| builder.with_root_certificates(roots).with_no_client_auth())
}
