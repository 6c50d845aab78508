//! The sites that a configuration mounts: their databases opened and their secrets read, before anything is served
//! from them. Whatever is wrong is said for all of them at once.

mod judge;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use frontdesk_contracts as contracts;
use frontdesk_engine::Scopes;
use frontdesk_engine::ports::registry::Tenant;
use frontdesk_engine::ports::site_db::SiteDb;
use frontdesk_engine::ports::{Clock, Identity};
use frontdesk_engine::seal::sha256;
use frontdesk_identity::{JwtSettings, JwtVerifier, SigningSecret};
use frontdesk_store::site_db::{SiteDbError, SiteDbSettings, open, open_lazily};

use crate::config::{Auth, Config, Jwt, Mount, Site};
use crate::house::Vaults;
use crate::operator::tenant_record;
pub(crate) use judge::{Everyone, Members};

/// One place for each mount, in the order of the configuration; empty for a mount that reads no site.
#[derive(Default)]
pub struct Sites(Vec<Option<Opened>>);

/// A site that can be served.
pub(crate) struct Opened {
    pub(crate) archive: Arc<dyn SiteDb>,
    /// Who judges tokens that the site signs.
    pub(crate) jwt: Option<Arc<dyn Identity>>,
    place: Place,
    /// By which it is seen whether the secrets have changed.
    fingerprint: Option<[u8; 32]>,
}

/// What an archive was opened with.
#[derive(PartialEq, Eq)]
struct Place {
    url: String,
    prefix: String,
    authority: Option<PathBuf>,
}

/// What becomes of a site whose database does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfDown {
    /// It is mounted, and its calls are answered as unavailable until the database is back.
    Waits,
    /// It is a mistake like any other.
    Refused,
}

/// Everything that keeps the sites of a configuration from being served, each with its key.
#[derive(Debug)]
pub struct SiteErrors(pub Vec<String>);

impl fmt::Display for SiteErrors {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for SiteErrors {}

impl Sites {
    /// Opens what is mounted, and says what there is to say about it. What was open before is looked at again, because
    /// its tables may have changed; if it cannot be read now, it stays as it was. What is not as it was before is said.
    pub async fn open(
        config: &Config,
        clock: &Arc<dyn Clock>,
        if_down: IfDown,
        before: &Sites,
    ) -> Result<(Sites, Vec<String>), SiteErrors> {
        let (mut sites, mut errors, mut said) = (Vec::new(), Vec::new(), Vec::new());
        for (index, mount) in config.mounts.iter().enumerate() {
            let Some(site) = &mount.site else {
                sites.push(None);
                continue;
            };
            let jwt = judge(mount, site, clock).map_err(|why| errors.push(format!("mount[{index}].{why}")));
            let archive = archive(site, if_down, before).await;
            match archive {
                Ok((place, archive, notice)) => {
                    said.extend(notice.map(|notice| format!("mount[{index}].database: {notice}")));
                    let known = before.get(index);
                    if known.is_some_and(|known| known.place != place) {
                        said.push(format!(
                            "mount[{index}].database: it is another one than before, or was opened anew"
                        ));
                    }
                    sites.push(jwt.ok().map(|judged| {
                        let (jwt, fingerprint) = judged.unzip();
                        if fingerprint.is_some() && known.is_some_and(|known| known.fingerprint != fingerprint) {
                            said.push(format!("mount[{index}].jwt_secret: it was read anew and has changed"));
                        }
                        Opened { archive, jwt, place, fingerprint }
                    }));
                }
                Err(why) => errors.push(format!("mount[{index}].database: {why}")),
            }
        }
        match errors.is_empty() {
            true => Ok((Sites(sites), said)),
            false => Err(SiteErrors(errors)),
        }
    }

    pub(crate) fn get(&self, mount: usize) -> Option<&Opened> {
        self.0.get(mount)?.as_ref()
    }
}

/// Makes the tenants under which sites are kept, where they are missing.
pub async fn register(config: &Config, vaults: &Vaults) -> Result<(), String> {
    let mut missing: Vec<&Site> = config.mounts.iter().filter_map(|mount| mount.site.as_deref()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let explain = |fault: frontdesk_engine::Fault| fault.cause.unwrap_or_else(|| fault.message.into_owned());
    let known = vaults.store.tenants().await.map_err(explain)?;
    missing.retain(|site| !known.iter().any(|tenant| tenant.id == site.tenant));
    for site in missing {
        let tenant = Tenant { id: site.tenant.clone(), name: site.tenant.as_str().to_owned() };
        let record = tenant_record(vaults.clock.now(), &site.tenant);
        vaults.store.add_tenant(tenant, record).await.map_err(explain)?;
    }
    Ok(())
}

type Archived = (Place, Arc<dyn SiteDb>, Option<String>);

async fn archive(site: &Site, if_down: IfDown, before: &Sites) -> Result<Archived, String> {
    let url = site.database.reveal()?;
    let place = Place { url, prefix: site.prefix.clone(), authority: site.authority.clone() };
    let known = before.0.iter().flatten().find(|known| known.place == place);
    let settings =
        SiteDbSettings { ca_file: place.authority.clone(), ..SiteDbSettings::new(&place.url, &place.prefix) };
    match (open(&settings).await, known) {
        (Ok(archive), _) => Ok((place, archive, None)),
        (Err(error), Some(known)) => {
            Ok((place, Arc::clone(&known.archive), Some(format!("{error}. The mount stays as it was"))))
        }
        (Err(error @ SiteDbError::Down(_)), None) if if_down == IfDown::Waits => {
            let notice = format!("{error}. Until it answers, calls to this mount are answered as unavailable");
            Ok((place, open_lazily(settings), Some(notice)))
        }
        (Err(error), None) => Err(error.to_string()),
    }
}

/// Who judges signed tokens, and what the secrets are known by.
type Judging = (Arc<dyn Identity>, [u8; 32]);

fn judge(mount: &Mount, site: &Site, clock: &Arc<dyn Clock>) -> Result<Option<Judging>, String> {
    let Auth::Tokens { jwt: Some(Jwt { secret, issuer, audience, lifetime_seconds }), .. } = &site.auth else {
        return Ok(None);
    };
    let text = secret.reveal().map_err(|why| format!("jwt_secret: {why}"))?;
    let refused = |error| format!("jwt_secret: {error}");
    let lines = text.lines().map(|line| line.trim_end_matches('\r')).filter(|line| !line.is_empty());
    let secrets = lines.map(|line| SigningSecret::new(line.as_bytes().to_vec())).collect::<Result<_, _>>();
    let secrets = secrets.map_err(refused)?;
    let scopes = contracts::by_id(&mount.contract).map(|contract| contract.scopes).unwrap_or_default();
    let settings = JwtSettings {
        issuer: issuer.clone(),
        audience: audience.clone(),
        max_lifetime_seconds: *lifetime_seconds,
        ..JwtSettings::new(secrets, site.tenant.clone(), Scopes::new(scopes))
    };
    let judge = JwtVerifier::new(settings, Arc::clone(clock)).map_err(refused)?;
    Ok(Some((Arc::new(judge), sha256(text.as_bytes()))))
}
