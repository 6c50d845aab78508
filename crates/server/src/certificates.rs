//! Which certificate the desk shows, and keeping it fresh while the desk is open: changed files are taken
//! in, and the development certificate is renewed before it ends. What cannot be used replaces nothing.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use frontdesk_engine::model::timestamp::Millis;
use rustls::ServerConfig;
use time::OffsetDateTime;

use crate::config::{Certificate, Config};
use crate::folder;
use crate::net::{self, Created, NetError, Tls};

/// How often it is asked whether the development certificate must be renewed; it is, two weeks before its end.
const RENEWAL_SECONDS: i64 = 3600;

/// A certificate that can be shown.
pub struct Prepared {
    pub tls: ServerConfig,
    /// The development authority's certificate, if that is what vouches for us.
    pub ca_file: Option<PathBuf>,
    created: Created,
    stamps: Stamps,
}

/// Reads what the configuration names, or makes a development certificate where none is good.
pub fn prepare(config: &Config, now: Millis) -> Result<Prepared, NetError> {
    match &config.certificate {
        Certificate::Files { certificate, key } => {
            // Looked at before it is read: a change in between is then seen the next time.
            let stamps = Stamps::of(certificate, key);
            Ok(Prepared { tls: net::load(certificate, key)?, ca_file: None, created: Created::Reused, stamps })
        }
        Certificate::Development => {
            let now = OffsetDateTime::from_unix_timestamp(now.seconds()).unwrap_or(OffsetDateTime::UNIX_EPOCH);
            let names = [config.public_url.host().to_owned()];
            let made = net::ensure(&folder::certificates(&config.data), &names, now)?;
            let stamps = Stamps::of(&made.certificate, &made.key);
            let tls = net::load(&made.certificate, &made.key)?;
            Ok(Prepared { tls, ca_file: Some(made.ca_file), created: made.created, stamps })
        }
    }
}

/// The certificate in use, and what is known of its files.
pub struct Certificates {
    tls: Arc<Tls>,
    stamps: Stamps,
    renewed_at: Millis,
    /// What was last said about files that cannot be used, so that it is said once.
    complaint: Option<String>,
}

impl Certificates {
    pub fn new(prepared: Prepared, now: Millis) -> Certificates {
        let Prepared { tls, stamps, .. } = prepared;
        Certificates { tls: Arc::new(Tls::new(tls)), stamps, renewed_at: now, complaint: None }
    }

    pub fn tls(&self) -> Arc<Tls> {
        Arc::clone(&self.tls)
    }

    /// Shows another certificate from the next handshake on.
    pub fn show(&mut self, prepared: Prepared) {
        self.tls.replace(prepared.tls);
        self.stamps = prepared.stamps;
        self.complaint = None;
    }

    /// Takes in files that have changed since the last look; what there is to say about it, if anything.
    pub fn look(&mut self, config: &Config, now: Millis) -> Option<String> {
        let renewal = match &config.certificate {
            Certificate::Development => now >= self.renewed_at.plus_seconds(RENEWAL_SECONDS),
            Certificate::Files { .. } => false,
        };
        // Files that could not be used are tried each time: a key and its certificate are rarely replaced at once.
        if !renewal && self.complaint.is_none() && self.stamps == self.stamps.again() {
            return None;
        }
        self.renewed_at = now;
        match prepare(config, now) {
            Ok(prepared) if prepared.stamps == self.stamps => {
                self.complaint = None;
                None
            }
            Ok(prepared) => {
                let said = match (&prepared.ca_file, prepared.created) {
                    (Some(ca_file), Created::New) => format!(
                        "the certificate and its authority were renewed; clients must trust the new {}",
                        ca_file.display()
                    ),
                    (Some(_) | None, Created::New | Created::Renewed | Created::Reused) => {
                        "the certificate was replaced".to_owned()
                    }
                };
                self.show(prepared);
                Some(said)
            }
            Err(error) => {
                let said = format!("the new certificate cannot be used, the last good one stays: {error}");
                (self.complaint.replace(said.clone()).as_ref() != Some(&said)).then_some(said)
            }
        }
    }
}

/// What tells a file from the one that had its name before.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamps([(PathBuf, Option<Stamp>); 2]);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    file: u64,
    length: u64,
    changed: (i64, i64),
}

impl Stamps {
    fn of(certificate: &Path, key: &Path) -> Stamps {
        Stamps([certificate, key].map(|path| (path.to_owned(), stamp(path))))
    }

    fn again(&self) -> Stamps {
        Stamps(self.0.clone().map(|(path, _)| {
            let stamp = stamp(&path);
            (path, stamp)
        }))
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let facts = fs::metadata(path).ok()?;
    Some(Stamp { file: facts.ino(), length: facts.size(), changed: (facts.mtime(), facts.mtime_nsec()) })
}
