//! The certificate in use: changed files are reloaded while the server runs, and the development certificate is renewed
//! before it expires. An unusable certificate replaces nothing.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use frontdesk_engine::model::timestamp::Millis;
use rustls::ServerConfig;
use time::OffsetDateTime;

use super::cert_info::CertInfo;
use super::dev_ca::{DevCertificateStatus, ensure};
use super::error::NetError;
use super::tls::{ClientCertificates, Tls, certificates, load_for};
use crate::config::{CertificateConfig, Config};
use crate::data_dir;

/// How often the development certificate is checked; it is renewed two weeks before it expires.
const RENEWAL_CHECK_SECONDS: i64 = 3600;

/// A certificate that is ready for use.
pub struct LoadedCertificate {
    pub tls: ServerConfig,
    /// The certificate of the development CA, if the certificate comes from it.
    pub ca_file: Option<PathBuf>,
    status: DevCertificateStatus,
    /// Clients refuse it before.
    valid_from: Millis,
    stamps: FileStamps,
}

impl LoadedCertificate {
    /// What callers must know at a start or a reload.
    pub fn event(&self) -> Option<CertificateEvent> {
        match (self.status, &self.ca_file) {
            (DevCertificateStatus::CaReplaced, Some(ca_file)) => {
                Some(CertificateEvent::CaRenewed { ca_file: ca_file.clone() })
            }
            (
                DevCertificateStatus::CaReplaced
                | DevCertificateStatus::New
                | DevCertificateStatus::Renewed
                | DevCertificateStatus::Reused,
                Some(_) | None,
            ) => None,
        }
    }
}

/// Loads the configured files, or a development certificate, which is created or renewed if necessary.
pub fn prepare_certificate(config: &Config, now: Millis) -> Result<LoadedCertificate, NetError> {
    let clients =
        if config.asks_for_certificates() { ClientCertificates::Requested } else { ClientCertificates::Ignored };
    match &config.certificate {
        CertificateConfig::Files { certificate, key } => {
            // Before the files are read, so that a change in between is noticed by the next check.
            let stamps = FileStamps::read(certificate, key);
            Ok(LoadedCertificate {
                tls: load_for(certificate, key, clients)?,
                valid_from: valid_from(certificate)?,
                ca_file: None,
                status: DevCertificateStatus::Reused,
                stamps,
            })
        }
        CertificateConfig::Development => {
            let now = OffsetDateTime::from_unix_timestamp(now.seconds()).unwrap_or(OffsetDateTime::UNIX_EPOCH);
            let names = [config.public_url.host().to_owned()];
            let made = ensure(&data_dir::tls_dir(&config.data), &names, now)?;
            let stamps = FileStamps::read(&made.certificate, &made.key);
            let tls = load_for(&made.certificate, &made.key, clients)?;
            let valid_from = valid_from(&made.certificate)?;
            Ok(LoadedCertificate { tls, ca_file: Some(made.ca_file), status: made.status, valid_from, stamps })
        }
    }
}

fn valid_from(certificate: &Path) -> Result<Millis, NetError> {
    let chain = certificates(certificate)?;
    let info = chain.first().and_then(|own| CertInfo::parse(own));
    Ok(Millis(info.map_or(0, |info| info.not_before.unix_timestamp().saturating_mul(1000))))
}

/// From when on the certificate in use is valid. Clones share it.
#[derive(Debug, Clone)]
pub struct CertificateValidity(Arc<AtomicI64>);

impl CertificateValidity {
    pub fn has_begun(&self, now: Millis) -> bool {
        self.0.load(Ordering::Relaxed) <= now.0
    }
}

/// The certificate in use, and the state of its files.
pub struct CertificateWatcher {
    tls: Arc<Tls>,
    validity: CertificateValidity,
    stamps: FileStamps,
    checked_at: Millis,
    /// The last error, so that it is logged once.
    last_error: Option<String>,
}

impl CertificateWatcher {
    pub fn new(certificate: LoadedCertificate, now: Millis) -> CertificateWatcher {
        let LoadedCertificate { tls, stamps, valid_from, .. } = certificate;
        let validity = CertificateValidity(Arc::new(AtomicI64::new(valid_from.0)));
        CertificateWatcher { tls: Arc::new(Tls::new(tls)), validity, stamps, checked_at: now, last_error: None }
    }

    pub fn validity(&self) -> CertificateValidity {
        self.validity.clone()
    }

    pub fn tls(&self) -> Arc<Tls> {
        Arc::clone(&self.tls)
    }

    /// Uses another certificate from the next handshake on.
    pub fn replace(&mut self, certificate: LoadedCertificate) {
        self.tls.replace(certificate.tls);
        self.validity.0.store(certificate.valid_from.0, Ordering::Relaxed);
        self.stamps = certificate.stamps;
        self.last_error = None;
    }

    /// Reloads files that have changed since the last check.
    pub fn check(&mut self, config: &Config, now: Millis) -> Option<CertificateEvent> {
        let renewal = match &config.certificate {
            CertificateConfig::Development => now >= self.checked_at.plus_seconds(RENEWAL_CHECK_SECONDS),
            CertificateConfig::Files { .. } => false,
        };
        // Unusable files are tried each time: a key and its certificate are rarely replaced at the same moment.
        if !renewal && self.last_error.is_none() && self.stamps == self.stamps.read_again() {
            return None;
        }
        self.checked_at = now;
        match prepare_certificate(config, now) {
            Ok(certificate) if certificate.stamps == self.stamps => {
                self.last_error = None;
                None
            }
            Ok(certificate) => {
                let event = match (&certificate.ca_file, certificate.status) {
                    (Some(ca_file), DevCertificateStatus::New | DevCertificateStatus::CaReplaced) => {
                        CertificateEvent::CaRenewed { ca_file: ca_file.clone() }
                    }
                    (
                        Some(_) | None,
                        DevCertificateStatus::New
                        | DevCertificateStatus::CaReplaced
                        | DevCertificateStatus::Renewed
                        | DevCertificateStatus::Reused,
                    ) => CertificateEvent::Replaced,
                };
                self.replace(certificate);
                Some(event)
            }
            Err(error) => {
                let error = error.to_string();
                let is_new = self.last_error.replace(error.clone()).as_ref() != Some(&error);
                is_new.then_some(CertificateEvent::Rejected { error })
            }
        }
    }
}

/// What a check of the certificate files has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CertificateEvent {
    Replaced,
    /// The development CA is new, too.
    CaRenewed {
        ca_file: PathBuf,
    },
    /// The files are unusable.
    Rejected {
        error: String,
    },
}

impl CertificateEvent {
    pub fn log(&self) {
        match self {
            CertificateEvent::Replaced => tracing::info!("certificate replaced"),
            CertificateEvent::CaRenewed { ca_file } => {
                tracing::warn!(ca_file = %ca_file.display(), "development CA renewed; clients must trust the new CA file");
            }
            CertificateEvent::Rejected { error } => {
                tracing::error!(error, "certificate not replaced; the current one stays in use");
            }
        }
    }
}

/// Identifies the versions of certificate and key file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FileStamps([(PathBuf, Option<FileStamp>); 2]);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    file: u64,
    length: u64,
    changed: (i64, i64),
}

impl FileStamps {
    fn read(certificate: &Path, key: &Path) -> FileStamps {
        FileStamps([certificate, key].map(|path| (path.to_owned(), stamp(path))))
    }

    fn read_again(&self) -> FileStamps {
        FileStamps(self.0.clone().map(|(path, _)| {
            let stamp = stamp(&path);
            (path, stamp)
        }))
    }
}

fn stamp(path: &Path) -> Option<FileStamp> {
    let metadata = fs::metadata(path).ok()?;
    Some(FileStamp {
        file: metadata.ino(),
        length: metadata.size(),
        changed: (metadata.mtime(), metadata.mtime_nsec()),
    })
}
