//! The sites that a configuration mounts: their databases are opened and their secrets read before anything is served
//! from them. Errors of all sites are reported together.

mod auth;

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use frontdesk_contracts as contracts;
use frontdesk_engine::Scopes;
use frontdesk_engine::ports::site_db::SiteDb;
use frontdesk_engine::ports::{Clock, Identity};
use frontdesk_engine::seal::sha256;
use frontdesk_identity::{JwtSettings, JwtVerifier, SigningSecret};
use frontdesk_store::site_db::{SiteDbError, SiteDbSettings, open, open_lazily};

use crate::config::{Config, JwtConfig, MountConfig, SiteAuth, SiteConfig};
pub(super) use auth::{LoopbackAuth, TokenAuth};

/// One entry for each mount, in the order of the configuration; none for a mount that reads no site.
#[derive(Default)]
pub(super) struct Sites(Vec<Option<OpenSite>>);

/// A site whose database is open.
pub(super) struct OpenSite {
    pub(super) site_db: Arc<dyn SiteDb>,
    /// Verifies tokens that the site signs.
    pub(super) jwt: Option<Arc<dyn Identity>>,
    location: SiteDbLocation,
    /// A hash of the secrets, to notice that they have changed.
    fingerprint: Option<[u8; 32]>,
}

/// Which database it is.
#[derive(PartialEq, Eq)]
struct SiteDbLocation {
    url: String,
    prefix: String,
    authority: Option<PathBuf>,
}

/// What happens to a site whose database does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDatabaseDown {
    /// It is mounted, and its calls are answered as unavailable until the database answers.
    Retry,
    /// It is an error.
    Fail,
}

/// Everything that prevents the sites of a configuration from being served, each with its key.
#[derive(Debug)]
pub struct SiteErrors(pub Vec<String>);

impl fmt::Display for SiteErrors {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for SiteErrors {}

/// What changed or failed while sites were opened, without preventing them from being served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteNotice {
    /// The index of the mount in the configuration.
    pub mount: usize,
    pub kind: SiteNoticeKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SiteNoticeKind {
    /// The database does not answer; calls are answered as unavailable until it does.
    DatabaseDown {
        error: String,
    },
    /// The database could not be opened again; the open connection stays in use.
    DatabaseKept {
        error: String,
    },
    DatabaseChanged,
    SecretChanged,
    /// Those of a partner.
    CredentialsChanged,
}

impl SiteNotice {
    pub(super) fn credentials_changed(mount: usize) -> SiteNotice {
        SiteNotice { mount, kind: SiteNoticeKind::CredentialsChanged }
    }

    pub fn log(&self) {
        let mount = self.mount;
        match &self.kind {
            SiteNoticeKind::DatabaseDown { error } => {
                tracing::warn!(
                    mount,
                    error,
                    "site database unavailable; calls are answered as unavailable until it answers"
                );
            }
            SiteNoticeKind::DatabaseKept { error } => {
                tracing::warn!(mount, error, "site database not reopened; the open connection stays in use");
            }
            SiteNoticeKind::DatabaseChanged => tracing::info!(mount, "site database changed and was reopened"),
            SiteNoticeKind::SecretChanged => tracing::info!(mount, "JWT secret changed and was reloaded"),
            SiteNoticeKind::CredentialsChanged => {
                tracing::info!(mount, "partner credentials changed and were reloaded");
            }
        }
    }
}

impl fmt::Display for SiteNotice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mount = self.mount;
        match &self.kind {
            SiteNoticeKind::DatabaseDown { error } => write!(
                out,
                "mount[{mount}].database: {error}. Calls to this mount are answered as unavailable until it answers"
            ),
            SiteNoticeKind::DatabaseKept { error } => {
                write!(out, "mount[{mount}].database: {error}. The open connection stays in use")
            }
            SiteNoticeKind::DatabaseChanged => write!(out, "mount[{mount}].database: the database has changed"),
            SiteNoticeKind::SecretChanged => write!(out, "mount[{mount}].jwt_secret: the secret has changed"),
            SiteNoticeKind::CredentialsChanged => write!(out, "mount[{mount}].auth: the credentials have changed"),
        }
    }
}

impl Sites {
    /// Opens the sites, and returns what is worth a log line. A database that was open before is opened again, because its
    /// tables may have changed; if that fails, the old connection stays.
    pub(super) async fn open(
        config: &Config,
        clock: &Arc<dyn Clock>,
        on_down: OnDatabaseDown,
        before: &Sites,
    ) -> Result<(Sites, Vec<SiteNotice>), SiteErrors> {
        let (mut sites, mut errors, mut notices) = (Vec::new(), Vec::new(), Vec::new());
        for (index, mount) in config.mounts.iter().enumerate() {
            let Some(site) = &mount.site else {
                sites.push(None);
                continue;
            };
            let jwt = jwt_identity(mount, site, clock).map_err(|why| errors.push(format!("mount[{index}].{why}")));
            if let Some(why) = site.authority.as_deref().and_then(unreadable) {
                errors.push(format!("mount[{index}].database_ca: {why}"));
                continue;
            }
            let opened = open_database(site, on_down, before).await;
            match opened {
                Ok((location, site_db, notice)) => {
                    notices.extend(notice.map(|kind| SiteNotice { mount: index, kind }));
                    let known = before.get(index);
                    if known.is_some_and(|known| known.location != location) {
                        notices.push(SiteNotice { mount: index, kind: SiteNoticeKind::DatabaseChanged });
                    }
                    sites.push(jwt.ok().map(|jwt| {
                        let (jwt, fingerprint) = jwt.unzip();
                        if fingerprint.is_some() && known.is_some_and(|known| known.fingerprint != fingerprint) {
                            notices.push(SiteNotice { mount: index, kind: SiteNoticeKind::SecretChanged });
                        }
                        OpenSite { site_db, jwt, location, fingerprint }
                    }));
                }
                Err(why) => errors.push(format!("mount[{index}].database: {why}")),
            }
        }
        errors.extend(shared_secrets(config));
        if errors.is_empty() { Ok((Sites(sites), notices)) } else { Err(SiteErrors(errors)) }
    }

    pub(super) fn get(&self, mount: usize) -> Option<&OpenSite> {
        self.0.get(mount)?.as_ref()
    }
}

/// Sites that accept each other's tokens: they are signed with one secret, and neither audience nor issuer tells them
/// apart. A token that was issued for one site would open the other.
fn shared_secrets(config: &Config) -> Vec<String> {
    let mut errors = Vec::new();
    let mut seen: Vec<(usize, &JwtConfig, Vec<String>)> = Vec::new();
    for (index, mount) in config.mounts.iter().enumerate() {
        let Some(SiteAuth::Tokens { jwt: Some(jwt), .. }) = mount.site.as_deref().map(|site| &site.auth) else {
            continue;
        };
        // A secret that cannot be read is reported where it is needed.
        let secrets: Vec<String> = jwt.secret.reveal().map(|text| secret_lines(&text)).unwrap_or_default();
        let is_same = |(_, other, known): &&(usize, &JwtConfig, Vec<String>)| {
            let is_told_apart = jwt.audience.is_some()
                || other.audience.is_some()
                || (jwt.issuer.is_some() && other.issuer.is_some() && jwt.issuer != other.issuer);
            !is_told_apart && secrets.iter().any(|secret| known.contains(secret))
        };
        if let Some((first, ..)) = seen.iter().find(is_same) {
            errors.push(format!(
                "mount[{index}].jwt_audience: mount[{first}] has the same secret, so a token for one site would open the \
                 other. Set `jwt_audience` in one of them, or use two secrets"
            ));
        }
        seen.push((index, jwt, secrets));
    }
    errors
}

fn secret_lines(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| line.trim_end_matches('\r')).filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

/// Why a file cannot be read. A database that does not answer would otherwise hide it until it does.
fn unreadable(file: &Path) -> Option<String> {
    let error = File::open(file).err()?;
    Some(format!("{} cannot be read: {error}. Correct the path, or make it readable for Frontdesk", file.display()))
}

type OpenDatabase = (SiteDbLocation, Arc<dyn SiteDb>, Option<SiteNoticeKind>);

async fn open_database(site: &SiteConfig, on_down: OnDatabaseDown, before: &Sites) -> Result<OpenDatabase, String> {
    let url = site.database.reveal()?;
    let location =
        SiteDbLocation { url: url.to_string(), prefix: site.prefix.clone(), authority: site.authority.clone() };
    let known = before.0.iter().flatten().find(|known| known.location == location);
    let settings = SiteDbSettings {
        ca_file: location.authority.clone(),
        connections: site.connections as usize,
        deadline: Duration::from_secs(site.statement_seconds.into()),
        ..SiteDbSettings::new(&location.url, &location.prefix)
    };
    match (open(&settings).await, known) {
        (Ok(site_db), _) => Ok((location, site_db, None)),
        (Err(error), Some(known)) => {
            Ok((location, Arc::clone(&known.site_db), Some(SiteNoticeKind::DatabaseKept { error: error.to_string() })))
        }
        (Err(error @ SiteDbError::Down(_)), None) if on_down == OnDatabaseDown::Retry => {
            let notice = SiteNoticeKind::DatabaseDown { error: error.to_string() };
            Ok((location, open_lazily(settings), Some(notice)))
        }
        (Err(error), None) => Err(error.to_string()),
    }
}

/// Verifies signed tokens; with a hash of the secrets.
type JwtIdentity = (Arc<dyn Identity>, [u8; 32]);

fn jwt_identity(mount: &MountConfig, site: &SiteConfig, clock: &Arc<dyn Clock>) -> Result<Option<JwtIdentity>, String> {
    let SiteAuth::Tokens { jwt: Some(JwtConfig { secret, issuer, audience, lifetime_seconds }), .. } = &site.auth
    else {
        return Ok(None);
    };
    let text = secret.reveal().map_err(|why| format!("jwt_secret: {why}"))?;
    let refused = |error| format!("jwt_secret: {error}");
    let lines = secret_lines(&text).into_iter();
    let secrets = lines.map(|line| SigningSecret::new(line.into_bytes())).collect::<Result<_, _>>();
    let secrets = secrets.map_err(refused)?;
    let scopes = contracts::by_id(&mount.contract).map(|contract| contract.scopes).unwrap_or_default();
    let settings = JwtSettings {
        issuer: issuer.clone(),
        audience: audience.clone(),
        max_lifetime_seconds: *lifetime_seconds,
        ..JwtSettings::new(secrets, site.tenant.clone(), Scopes::new(scopes))
    };
    let verifier = JwtVerifier::new(settings, Arc::clone(clock)).map_err(refused)?;
    Ok(Some((Arc::new(verifier), sha256(text.as_bytes()))))
}
