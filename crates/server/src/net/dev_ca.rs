//! The development CA: certificates for a server that has none. It never replaces a certificate that clients still accept,
//! and its keys never leave their folder.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PKCS_ECDSA_P256_SHA256,
};
use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use time::{Duration, OffsetDateTime};

use super::cert_info::CertInfo;
use super::error::NetError;
use super::files::{self, Exposure, ReadableBy};
use super::tls;

const CA_LIFETIME: Duration = Duration::days(365);
const CERTIFICATE_LIFETIME: Duration = Duration::days(90);
/// A certificate that expires sooner is renewed.
const RENEWAL: Duration = Duration::days(14);
/// Clients whose clocks are slow must accept a new certificate at once.
const CLOCK_SKEW: Duration = Duration::minutes(5);
/// The local names of every machine.
const LOCAL: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Where the certificate is, and whether it is new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DevCertificate {
    /// The CA certificate that clients trust.
    pub ca_file: PathBuf,
    pub certificate: PathBuf,
    pub key: PathBuf,
    pub status: DevCertificateStatus,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DevCertificateStatus {
    /// CA and certificate are the first ones.
    New,
    /// CA and certificate are new, and others were there before: clients must trust the new `ca_file`.
    CaReplaced,
    /// Both existed and are valid.
    Reused,
    /// The certificate is new; the CA is unchanged.
    Renewed,
}

/// Ensures that `folder` contains a certificate for this machine and for `names` that is valid now and for two more weeks.
pub fn ensure(folder: &Path, names: &[String], now: OffsetDateTime) -> Result<DevCertificate, NetError> {
    let names = normalize_names(names)?;
    files::make_folder(folder)?;
    let store = CertStore::new(folder);
    store.refuse_exposed_keys()?;
    let status = match store.state(&names, now)? {
        CertState::Valid => DevCertificateStatus::Reused,
        CertState::RenewCertificate => store.renew_certificate(&names, now)?,
        CertState::RenewCa => store.renew_ca(&names, now)?,
    };
    Ok(DevCertificate { ca_file: store.ca, certificate: store.server, key: store.server_key, status })
}

struct CertStore {
    ca: PathBuf,
    ca_key: PathBuf,
    server: PathBuf,
    server_key: PathBuf,
}

enum CertState {
    Valid,
    RenewCertificate,
    RenewCa,
}

impl CertStore {
    fn new(folder: &Path) -> Self {
        Self {
            ca: folder.join("ca.pem"),
            ca_key: folder.join("ca.key"),
            server: folder.join("server.pem"),
            server_key: folder.join("server.key"),
        }
    }

    fn refuse_exposed_keys(&self) -> Result<(), NetError> {
        for key in [&self.ca_key, &self.server_key] {
            none_if_missing(files::refuse_exposed(key, Exposure::ToGroupOrEveryone))?;
        }
        Ok(())
    }

    fn state(&self, names: &BTreeSet<String>, now: OffsetDateTime) -> Result<CertState, NetError> {
        let Some((ca, ca_info)) = certificate(&self.ca)? else {
            return Ok(CertState::RenewCa);
        };
        // Made while the clock was ahead: no client accepts anything from a CA whose time has not come.
        if ca_info.not_after < now + RENEWAL || ca_info.not_before > now {
            return Ok(CertState::RenewCa);
        }
        let Some((server, server_info)) = certificate(&self.server)? else {
            return Ok(CertState::RenewCertificate);
        };
        let lasts = server_info.not_after >= now + RENEWAL;
        let named = server_info.names == *names;
        // After an interrupted start the key may be missing or belong to another certificate.
        let usable = tls::load(&self.server, &self.server_key).is_ok();
        Ok(if lasts && named && usable && accepts(&ca, &server, now) {
            CertState::Valid
        } else {
            CertState::RenewCertificate
        })
    }

    /// Keeps the CA, so that clients need not change anything. Without its key that is impossible.
    fn renew_certificate(
        &self,
        names: &BTreeSet<String>,
        now: OffsetDateTime,
    ) -> Result<DevCertificateStatus, NetError> {
        let Some((ca, ca_info)) = certificate(&self.ca)? else {
            return self.renew_ca(names, now);
        };
        let Some(ca_key) = none_if_missing(files::read(&self.ca_key))? else {
            return self.renew_ca(names, now);
        };
        let issuer = String::from_utf8(ca_key)
            .ok()
            .and_then(|pem| KeyPair::from_pem(&pem).ok())
            .and_then(|key| Issuer::from_ca_cert_der(&ca, key).ok());
        let Some(issuer) = issuer else {
            return self.renew_ca(names, now);
        };
        let pair = server_pair(names, &issuer, now, ca_info.not_after)?;
        if !accepts(&ca, &pair.der, now) {
            return self.renew_ca(names, now);
        }
        self.write_server(&pair)?;
        Ok(DevCertificateStatus::Renewed)
    }

    fn renew_ca(&self, names: &BTreeSet<String>, now: OffsetDateTime) -> Result<DevCertificateStatus, NetError> {
        let is_first = ![&self.ca, &self.ca_key, &self.server, &self.server_key].into_iter().any(|file| file.exists());
        let key = new_key()?;
        let key_pem = key.serialize_pem();
        let params = ca_params(now);
        let expires = params.not_after;
        let ca = params.self_signed(&key).map_err(not_created)?;
        let pair = server_pair(names, &Issuer::new(params, key), now, expires)?;
        files::replace(&self.ca_key, &key_pem, ReadableBy::Owner)?;
        files::replace(&self.ca, &ca.pem(), ReadableBy::LoopbackAuth)?;
        self.write_server(&pair)?;
        Ok(if is_first { DevCertificateStatus::New } else { DevCertificateStatus::CaReplaced })
    }

    fn write_server(&self, pair: &ServerPair) -> Result<(), NetError> {
        files::replace(&self.server_key, &pair.key_pem, ReadableBy::Owner)?;
        files::replace(&self.server, &pair.pem, ReadableBy::LoopbackAuth)
    }
}

struct ServerPair {
    der: CertificateDer<'static>,
    pem: String,
    key_pem: String,
}

fn server_pair(
    names: &BTreeSet<String>,
    issuer: &Issuer<'_, KeyPair>,
    now: OffsetDateTime,
    ca_expires: OffsetDateTime,
) -> Result<ServerPair, NetError> {
    let key = new_key()?;
    let mut params = CertificateParams::new(Vec::from_iter(names.iter().cloned())).map_err(not_created)?;
    params.distinguished_name = common_name("Frontdesk");
    params.not_before = now - CLOCK_SKEW;
    // A certificate must not outlive its CA.
    params.not_after = (now + CERTIFICATE_LIFETIME).min(ca_expires);
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    // Strict verifiers require it.
    params.use_authority_key_identifier_extension = true;
    let signed = params.signed_by(&key, issuer).map_err(not_created)?;
    Ok(ServerPair { der: signed.der().clone(), pem: signed.pem(), key_pem: key.serialize_pem() })
}

fn ca_params(now: OffsetDateTime) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = common_name("Frontdesk development CA");
    params.not_before = now - CLOCK_SKEW;
    params.not_after = now + CA_LIFETIME;
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn common_name(name: &str) -> DistinguishedName {
    let mut distinguished = DistinguishedName::new();
    distinguished.push(DnType::CommonName, name);
    distinguished
}

fn new_key() -> Result<KeyPair, NetError> {
    KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(not_created)
}

/// The local names and the given ones, normalized and without duplicates.
fn normalize_names(wanted: &[String]) -> Result<BTreeSet<String>, NetError> {
    LOCAL.iter().copied().chain(wanted.iter().map(String::as_str)).map(normalize_name).collect()
}

fn normalize_name(name: &str) -> Result<String, NetError> {
    // An IPv6 host of a URL is in brackets.
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    if let Ok(address) = bare.parse::<IpAddr>() {
        return Ok(address.to_string());
    }
    match ServerName::try_from(bare) {
        Ok(_) => Ok(bare.to_ascii_lowercase()),
        Err(_) => Err(NetError::InvalidName(name.to_owned())),
    }
}

/// The first certificate of a file; none without a file or a usable certificate.
fn certificate(file: &Path) -> Result<Option<(CertificateDer<'static>, CertInfo)>, NetError> {
    let Some(pem) = none_if_missing(files::read(file))? else {
        return Ok(None);
    };
    let Ok(der) = CertificateDer::from_pem_slice(&pem) else {
        return Ok(None);
    };
    Ok(CertInfo::parse(&der).map(|info| (der, info)))
}

/// Whether a client that trusts `ca` accepts `server` now.
fn accepts(ca: &CertificateDer<'static>, server: &CertificateDer<'static>, now: OffsetDateTime) -> bool {
    let mut roots = RootCertStore::empty();
    let (Ok(()), Ok(name), Ok(seconds)) =
        (roots.add(ca.clone()), ServerName::try_from("localhost"), u64::try_from(now.unix_timestamp()))
    else {
        return false;
    };
    let at = UnixTime::since_unix_epoch(std::time::Duration::from_secs(seconds));
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), tls::provider())
        .build()
        .is_ok_and(|verifier| verifier.verify_server_cert(server, &[], &name, &[], at).is_ok())
}

fn none_if_missing<T>(result: Result<T, NetError>) -> Result<Option<T>, NetError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(NetError::FileMissing(_)) => Ok(None),
        Err(other) => Err(other),
    }
}

fn not_created(cause: rcgen::Error) -> NetError {
    NetError::NotCreated(cause.to_string())
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn no_certificate_outlives_its_ca() {
        let folder = std::env::temp_dir().join(format!("frontdesk-dev-ca-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let start = datetime!(2026-11-15 12:00 UTC);
        ensure(&folder, &[], start).unwrap();
        let store = CertStore::new(&folder);
        let end = |file: &Path| certificate(file).unwrap().unwrap().1.not_after;
        assert_eq!(
            (end(&store.ca), end(&store.server)),
            (datetime!(2027-11-15 12:00 UTC), datetime!(2027-02-13 12:00 UTC))
        );
        ensure(&folder, &[], start + Duration::days(300)).unwrap();
        assert_eq!(
            (end(&store.ca), end(&store.server)),
            (datetime!(2027-11-15 12:00 UTC), datetime!(2027-11-15 12:00 UTC))
        );
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
