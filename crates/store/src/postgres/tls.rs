//! TLS to the server: its certificate must be issued by the configured certificate authority for the configured name.
//! The system's own certificate authorities are not trusted.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use frontdesk_engine::seal::sha256;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{CertificateError, ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client;

/// Opens connections that trust one certificate authority.
#[derive(Clone)]
pub(crate) struct PgTlsConnector {
    config: Arc<ClientConfig>,
    authority: PathBuf,
}

/// Why the connection was refused, and what to do about it.
#[derive(Debug)]
pub(crate) struct TlsError(pub(crate) String);

impl fmt::Display for TlsError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl Error for TlsError {}

impl PgTlsConnector {
    /// Reads the certificates of the authority. The file is read for every connection, so changing it needs no restart.
    pub(crate) fn trusting(authority: &Path) -> Result<PgTlsConnector, TlsError> {
        let refused = |why: String| {
            TlsError(format!(
                "{why}. Set `database_ca` to the PEM file of the authority that issued the server's certificate"
            ))
        };
        let file = authority.display();
        let pem = std::fs::read(authority).map_err(|error| refused(format!("{file} cannot be read: {error}")))?;
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(&pem) {
            let certificate = certificate.map_err(|_| refused(format!("{file} is damaged")))?;
            roots.add(certificate).map_err(|_| refused(format!("{file} holds a certificate that cannot be used")))?;
        }
        if roots.is_empty() {
            return Err(refused(format!("there is no certificate in {file}")));
        }
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| TlsError(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(PgTlsConnector { config: Arc::new(config), authority: authority.to_owned() })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for PgTlsConnector {
    type Stream = EncryptedStream<S>;
    type TlsConnect = Handshake;
    type Error = TlsError;

    fn make_tls_connect(&mut self, host: &str) -> Result<Handshake, TlsError> {
        let name = ServerName::try_from(host.to_owned());
        let name = name.map_err(|_| TlsError(format!("{host} is no name that a certificate could be for")))?;
        Ok(Handshake { connector: self.clone(), name, host: host.to_owned() })
    }
}

pub(crate) struct Handshake {
    connector: PgTlsConnector,
    name: ServerName<'static>,
    host: String,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Handshake {
    type Stream = EncryptedStream<S>;
    type Error = TlsError;
    type Future = Pin<Box<dyn Future<Output = Result<EncryptedStream<S>, TlsError>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let Handshake { connector: PgTlsConnector { config, authority }, name, host } = self;
            match TlsConnector::from(config).connect(name, stream).await {
                Ok(stream) => Ok(EncryptedStream(stream)),
                Err(error) => Err(explain(&error, &host, &authority)),
            }
        })
    }
}

fn explain(error: &io::Error, host: &str, authority: &Path) -> TlsError {
    let cause = error.get_ref().and_then(|error| error.downcast_ref::<rustls::Error>());
    let Some(rustls::Error::InvalidCertificate(wrong)) = cause else {
        return TlsError(format!("the handshake failed: {error}"));
    };
    TlsError(if is_unknown_issuer(wrong) {
        format!(
            "the certificate of {host} is not from the authority in {}. \
             Set `database_ca` to the certificate of the authority that issued it",
            authority.display()
        )
    } else if is_wrong_name(wrong) {
        format!(
            "the certificate is not for {host}. Name the server in `database` as its certificate does, \
             or have one issued for {host}"
        )
    } else if is_expired(wrong) {
        format!("the certificate of {host} has expired. Have a new one issued and reload PostgreSQL")
    } else {
        format!("the certificate of {host} cannot be accepted: {wrong}. Have one issued that can")
    })
}

fn is_unknown_issuer(wrong: &CertificateError) -> bool {
    matches!(wrong, CertificateError::UnknownIssuer | CertificateError::BadSignature)
}

fn is_wrong_name(wrong: &CertificateError) -> bool {
    matches!(wrong, CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. })
}

fn is_expired(wrong: &CertificateError) -> bool {
    matches!(wrong, CertificateError::Expired | CertificateError::ExpiredContext { .. })
}

pub(crate) struct EncryptedStream<S>(client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for EncryptedStream<S> {
    /// Channel binding ties the password login to this certificate, so that it cannot be relayed.
    fn channel_binding(&self) -> ChannelBinding {
        let (_, session) = self.0.get_ref();
        match session.peer_certificates().and_then(<[_]>::first).filter(|leaf| is_signed_with_sha256(leaf)) {
            Some(leaf) => ChannelBinding::tls_server_end_point(sha256(leaf).to_vec()),
            // The signature determines the hash; others are not supported.
            None => ChannelBinding::none(),
        }
    }
}

/// `ecdsa-with-SHA256` and `sha256WithRSAEncryption`.
const SHA256_SIGNATURES: [&[u8]; 2] =
    [&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02], &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b]];

/// A certificate is a sequence of what is signed, how, and the signature.
fn is_signed_with_sha256(certificate: &[u8]) -> bool {
    let algorithm = || {
        let (certificate, _) = element(certificate)?;
        let (_, after_signed) = element(certificate)?;
        let (algorithm, _) = element(after_signed)?;
        Some(element(algorithm)?.0)
    };
    algorithm().is_some_and(|name| SHA256_SIGNATURES.contains(&name))
}

/// The content of the first DER element, and what follows it.
fn element(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let ([_, first], rest) = bytes.split_first_chunk::<2>()?;
    let (length, rest) = match first.checked_sub(0x80) {
        None => (usize::from(*first), rest),
        Some(count @ 1..=4) => {
            let (digits, rest) = rest.split_at_checked(usize::from(count))?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
        Some(_) => return None,
    };
    rest.split_at_checked(length)
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for EncryptedStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, into)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for EncryptedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
