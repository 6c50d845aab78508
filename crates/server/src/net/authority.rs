//! The development certificate authority: certificates for a desk that has none of its own. It never replaces a
//! certificate that clients still accept, and its keys never leave their folder.

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

use super::certificate::{Facts, facts};
use super::error::NetError;
use super::files::{self, Audience, Exposure};
use super::tls;

const AUTHORITY_LIFE: Duration = Duration::days(365);
const SERVER_LIFE: Duration = Duration::days(90);
/// A certificate with less than this left is replaced at the next start.
const RENEWAL: Duration = Duration::days(14);
/// Clients whose clocks are a little behind must accept a new certificate at once.
const CLOCK_SKEW: Duration = Duration::minutes(5);
/// The names by which this machine calls itself.
const LOCAL: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Where the certificate is, and whether it is new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DevCertificate {
    /// What clients trust.
    pub ca_file: PathBuf,
    pub certificate: PathBuf,
    pub key: PathBuf,
    pub created: Created,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Created {
    /// Authority and certificate are new: clients must trust the new `ca_file`.
    New,
    /// Everything was there and good.
    Reused,
    /// The certificate is new, the authority is the one that clients trust already.
    Renewed,
}

/// Makes sure that `folder` holds a certificate for this machine and for `names` that stays good for two weeks.
pub fn ensure(folder: &Path, names: &[String], now: OffsetDateTime) -> Result<DevCertificate, NetError> {
    let names = all_names(names)?;
    files::make_folder(folder)?;
    let shelf = Shelf::new(folder);
    shelf.refuse_exposed_keys()?;
    let created = match shelf.judge(&names, now)? {
        State::Good => Created::Reused,
        State::ServerStale => shelf.renew(&names, now)?,
        State::AuthorityStale => shelf.start_anew(&names, now)?,
    };
    Ok(DevCertificate { ca_file: shelf.ca, certificate: shelf.server, key: shelf.server_key, created })
}

struct Shelf {
    ca: PathBuf,
    ca_key: PathBuf,
    server: PathBuf,
    server_key: PathBuf,
}

enum State {
    Good,
    ServerStale,
    AuthorityStale,
}

impl Shelf {
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
            absent_is_none(files::refuse_exposed(key, Exposure::ToGroupOrEveryone))?;
        }
        Ok(())
    }

    fn judge(&self, names: &BTreeSet<String>, now: OffsetDateTime) -> Result<State, NetError> {
        let Some((ca, ca_facts)) = certificate(&self.ca)? else {
            return Ok(State::AuthorityStale);
        };
        if ca_facts.not_after < now + RENEWAL {
            return Ok(State::AuthorityStale);
        }
        let Some((server, server_facts)) = certificate(&self.server)? else {
            return Ok(State::ServerStale);
        };
        let lasts = server_facts.not_after >= now + RENEWAL;
        let named = server_facts.names == *names;
        // The key may be missing or belong to another certificate when a start was interrupted.
        let whole = tls::load(&self.server, &self.server_key).is_ok();
        Ok(if lasts && named && whole && accepts(&ca, &server, now) { State::Good } else { State::ServerStale })
    }

    /// Keeps the authority, so that clients need not be told. Without its key, or with a wrong one, that is impossible.
    fn renew(&self, names: &BTreeSet<String>, now: OffsetDateTime) -> Result<Created, NetError> {
        let Some((ca, ca_facts)) = certificate(&self.ca)? else {
            return self.start_anew(names, now);
        };
        let Some(ca_key) = absent_is_none(files::read(&self.ca_key))? else {
            return self.start_anew(names, now);
        };
        let issuer = String::from_utf8(ca_key)
            .ok()
            .and_then(|pem| KeyPair::from_pem(&pem).ok())
            .and_then(|key| Issuer::from_ca_cert_der(&ca, key).ok());
        let Some(issuer) = issuer else {
            return self.start_anew(names, now);
        };
        let pair = server_pair(names, &issuer, now, ca_facts.not_after)?;
        if !accepts(&ca, &pair.der, now) {
            return self.start_anew(names, now);
        }
        self.keep_server(&pair)?;
        Ok(Created::Renewed)
    }

    fn start_anew(&self, names: &BTreeSet<String>, now: OffsetDateTime) -> Result<Created, NetError> {
        let key = new_key()?;
        let key_pem = key.serialize_pem();
        let params = authority_params(now);
        let ends = params.not_after;
        let ca = params.self_signed(&key).map_err(not_made)?;
        let pair = server_pair(names, &Issuer::new(params, key), now, ends)?;
        files::replace(&self.ca_key, &key_pem, Audience::Owner)?;
        files::replace(&self.ca, &ca.pem(), Audience::Everyone)?;
        self.keep_server(&pair)?;
        Ok(Created::New)
    }

    fn keep_server(&self, pair: &ServerPair) -> Result<(), NetError> {
        files::replace(&self.server_key, &pair.key_pem, Audience::Owner)?;
        files::replace(&self.server, &pair.pem, Audience::Everyone)
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
    authority_ends: OffsetDateTime,
) -> Result<ServerPair, NetError> {
    let key = new_key()?;
    let mut params = CertificateParams::new(Vec::from_iter(names.iter().cloned())).map_err(not_made)?;
    params.distinguished_name = common_name("Frontdesk");
    params.not_before = now - CLOCK_SKEW;
    // A certificate that outlives its authority only looks good.
    params.not_after = (now + SERVER_LIFE).min(authority_ends);
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    // Strict verifiers refuse a certificate without it.
    params.use_authority_key_identifier_extension = true;
    let signed = params.signed_by(&key, issuer).map_err(not_made)?;
    Ok(ServerPair { der: signed.der().clone(), pem: signed.pem(), key_pem: key.serialize_pem() })
}

fn authority_params(now: OffsetDateTime) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = common_name("Frontdesk development CA");
    params.not_before = now - CLOCK_SKEW;
    params.not_after = now + AUTHORITY_LIFE;
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
    KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(not_made)
}

/// The local names and the wanted ones, each once, as certificates write them.
fn all_names(wanted: &[String]) -> Result<BTreeSet<String>, NetError> {
    LOCAL.iter().copied().chain(wanted.iter().map(String::as_str)).map(clean_name).collect()
}

fn clean_name(name: &str) -> Result<String, NetError> {
    // The host of a URL has brackets around an IPv6 address.
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    if let Ok(address) = bare.parse::<IpAddr>() {
        return Ok(address.to_string());
    }
    match ServerName::try_from(bare) {
        Ok(_) => Ok(bare.to_ascii_lowercase()),
        Err(_) => Err(NetError::BadName(name.to_owned())),
    }
}

/// The first certificate of a file; none when there is no file or nothing usable in it.
fn certificate(file: &Path) -> Result<Option<(CertificateDer<'static>, Facts)>, NetError> {
    let Some(pem) = absent_is_none(files::read(file))? else {
        return Ok(None);
    };
    let Ok(der) = CertificateDer::from_pem_slice(&pem) else {
        return Ok(None);
    };
    Ok(facts(&der).map(|facts| (der, facts)))
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

fn absent_is_none<T>(result: Result<T, NetError>) -> Result<Option<T>, NetError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(NetError::FileMissing(_)) => Ok(None),
        Err(other) => Err(other),
    }
}

fn not_made(cause: rcgen::Error) -> NetError {
    NetError::NotMade(cause.to_string())
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn no_certificate_outlives_its_authority() {
        let folder = std::env::temp_dir().join(format!("frontdesk-authority-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let start = datetime!(2026-11-15 12:00 UTC);
        ensure(&folder, &[], start).unwrap();
        let shelf = Shelf::new(&folder);
        let end = |file: &Path| certificate(file).unwrap().unwrap().1.not_after;
        assert_eq!(
            (end(&shelf.ca), end(&shelf.server)),
            (datetime!(2027-11-15 12:00 UTC), datetime!(2027-02-13 12:00 UTC))
        );
        ensure(&folder, &[], start + Duration::days(300)).unwrap();
        assert_eq!(
            (end(&shelf.ca), end(&shelf.server)),
            (datetime!(2027-11-15 12:00 UTC), datetime!(2027-11-15 12:00 UTC))
        );
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
