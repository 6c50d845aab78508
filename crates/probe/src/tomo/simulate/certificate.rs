//! The certificate of the receiver: one from files, or one of an authority that is made for this run and forgotten.

use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use super::super::target::read_file;

/// Where the certificate comes from.
pub(super) enum ReceiverCertificate {
    Files {
        certificate: String,
        key: String,
    },
    /// Made here; the authority is written to this file.
    SelfMade {
        ca_file: String,
    },
}

pub(super) fn tls_config(from: &ReceiverCertificate, address: SocketAddr) -> Result<Arc<ServerConfig>, String> {
    let (chain, key) = match from {
        ReceiverCertificate::Files { certificate, key } => {
            let pem = read_file(certificate)?;
            let chain: Vec<CertificateDer<'static>> =
                CertificateDer::pem_slice_iter(&pem).filter_map(Result::ok).collect();
            let key = PrivateKeyDer::from_pem_slice(&read_file(key)?)
                .map_err(|_| "the file of --receive-key contains no key in PEM".to_owned())?;
            (chain, key)
        }
        ReceiverCertificate::SelfMade { ca_file } => self_made(ca_file, address)?,
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| format!("the certificate of --receive cannot be used: {error}"))?;
    Ok(Arc::new(config))
}

fn self_made(
    ca_file: &str,
    address: SocketAddr,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), String> {
    let failed = |error: rcgen::Error| format!("no certificate could be made ({error})");
    let mut authority = CertificateParams::new(Vec::new()).map_err(failed)?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().map_err(failed)?).map_err(failed)?;
    let key = KeyPair::generate().map_err(failed)?;
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned(), address.ip().to_string()];
    let leaf = CertificateParams::new(names).and_then(|params| params.signed_by(&key, &authority)).map_err(failed)?;
    fs::write(ca_file, authority.pem()).map_err(|error| format!("{ca_file} cannot be written ({error})"))?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    Ok((vec![leaf.der().clone()], key))
}
