//! `frontdesk demo`: a complete server with made-up businesses, in one command.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use frontdesk_cms_fixture::{CmsSite, ScriptDialect};
use frontdesk_contracts::ENTRIES;
use frontdesk_contracts::demo::{
    Business, BusinessData, DemoInfo, DemoPartner, DemoSite, business_data, info, partner as demo_partner,
    partner_data, registration, site as demo_site,
};
use frontdesk_engine::desk::{Mount, new_id};
use frontdesk_engine::model::idempotency_key::IdempotencyKey;
use frontdesk_engine::model::tool::Item;
use frontdesk_engine::ports::registry::{Changed, Client, Tenant};
use frontdesk_engine::ports::{Claim, Clock as _, Commit, Committed};
use frontdesk_engine::{ClientId, Scopes, TenantId};
use frontdesk_identity::{PlaintextSecret, new_client, new_secret};
use frontdesk_store::make_sample;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::task::spawn_blocking;

use super::demo_banner::{BannerClient, DemoBanner, MountBanner, PartnerBanner, SiteBanner};
use super::demo_partner::{PartnerAccess, access, make_tokens, with_partner};
use super::demo_user::demo_user;
use super::serve::{ListenSources, run_started, start};
use super::{CliError, StoreGuard, run_server, with_flags};
use crate::admin::{client_record, tenant_record, tenant_update_record};
use crate::app::{App, OnSighup};
use crate::config::{LoadedConfig, MountConfig, PublicUrl, ValueSource, load};
use crate::data_dir::{DataDir, require_data};
use crate::http::DemoSearch;
use crate::net::AddressSource;
use crate::system::{SystemClock, SystemRandom};

/// The name under which the demo data is committed.
const SEEDING: &str = "demo";
/// The demo's website, in the data folder.
const REGISTRATION: &str = "FRONTDESK_LOGIN_REGISTRATION";
const SITE_FILE: &str = "demo-site.sqlite";

const LISTEN: ListenSources =
    ListenSources { public: AddressSource::Flag("--listen"), admin: AddressSource::Flag("--operator-listen") };

/// Serve made-up data, ready to be called with curl.
#[derive(Debug, Args)]
#[command(
    long_about = "Creates a data folder with a certificate authority, a certificate, demo data with a client for each demo \
        tenant, a small website with a client of its own, and a partner with credentials for live operation and for its \
        sandbox; serves it over HTTPS, and prints everything that is needed to call it.\n\n\
        A second start reuses the folder. Secrets are shown on the first start only, since they are stored as hashes; \
        --new-secrets makes and shows new ones. Ctrl-C finishes running calls and stops.",
    after_help = "\
Examples:
  frontdesk demo
  frontdesk demo --data /tmp/desk --listen 127.0.0.1:0   any free port
  frontdesk demo --new-secrets                           the old ones were lost
  frontdesk demo --json                                  for scripts"
)]
pub(super) struct DemoArgs {
    /// The folder for everything the demo creates [default: frontdesk-data]
    #[arg(long, value_name = "DIR")]
    pub(super) data: Option<PathBuf>,
    /// Where to serve; port 0 picks a free one [default: 127.0.0.1:8443]
    #[arg(long, value_name = "ADDR:PORT", value_parser = crate::config::parse_address)]
    pub(super) listen: Option<SocketAddr>,
    /// Where health checks and metrics are served, on this machine only [default: 127.0.0.1 and a free port]
    #[arg(long, value_name = "ADDR:PORT", value_parser = crate::config::parse_address)]
    pub(super) operator_listen: Option<SocketAddr>,
    /// Give the demo's clients new secrets and show them; the old ones stop working
    #[arg(long)]
    new_secrets: bool,
    /// Print endpoints and clients as one line of JSON
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn run(args: DemoArgs) -> Result<ExitCode, CliError> {
    // Any free port for the admin listener, so that two demos can run on one machine.
    let operator = args.operator_listen.map_or("127.0.0.1:0".to_owned(), |listen| listen.to_string());
    let mut flags = vec![("FRONTDESK_OPERATOR_LISTEN", operator)];
    flags.extend(args.data.map(|data| ("FRONTDESK_DATA", data.display().to_string())));
    flags.extend(args.listen.map(|listen| ("FRONTDESK_LISTEN", listen.to_string())));
    // Clients that know no other way may register themselves; the environment, which comes later, may say otherwise.
    let defaults = [(REGISTRATION.to_owned(), "on".to_owned())];
    let loaded = load(None, defaults.into_iter().chain(with_flags(flags)), ENTRIES)?;
    // A site and a partner are added only if nobody has configured the mounts.
    let is_default = has_default_mounts(&loaded);
    let (site, partner) = (demo_site().filter(|_| is_default), demo_partner().filter(|_| is_default));
    let (mut loaded, file) = match &site {
        Some(site) => (with_site(loaded, site)?, Some(SITE_FILE)),
        None => (loaded, None),
    };
    if let Some(partner) = &partner {
        loaded = with_partner(loaded, partner)?;
    }
    let guard = StoreGuard::default();
    run_server(&guard, async {
        let seed_files = move |data_dir: &DataDir| {
            let Some(file) = file else { return Ok(()) };
            make_sample(&data_dir.path().join(file), || CmsSite::demo().script(ScriptDialect::Sqlite))
                .map_err(|error| error.to_string())?;
            make_tokens(data_dir.path(), &SystemRandom)
        };
        // In a new folder the demo data will be needed: it is generated while the server starts.
        let is_new = require_data(&loaded.config.data, &loaded.config.master_key, &loaded.config.database).is_err();
        let generated = is_new.then(generate_data);
        let started = start(&loaded, LISTEN, &guard, seed_files).await?;
        let app = started.app.load_full();
        let demo = info();
        let known = app.backend.store.clients().await.map_err(explain)?;
        let reused = seed(&app, missing(&app, &demo, partner.as_ref(), &known).await?, generated).await?;
        let secrets = if args.new_secrets { Secrets::New } else { Secrets::Kept };
        let clients = clients(&app, &demo, &known, secrets).await?;
        let site = match &site {
            Some(site) => Some(site_banner(&app, &loaded, site, &known, secrets).await?),
            None => None,
        };
        let user = demo_user(&app, secrets).await?;
        let partner = match &partner {
            Some(partner) => access(&app.config.data, partner)?,
            None => Vec::new(),
        };
        // The form searches the contract of the demo's data, where that is mounted.
        let searched = app
            .mounts
            .iter()
            .find(|(_, mount)| mount.contract.tools.iter().any(|tool| tool.spec.name == demo.form.tool));
        if let Some((path, _)) = searched {
            let _ = app.demo_search.set(DemoSearch::new(demo.form, path.clone()));
        }
        let banner = DemoBanner {
            endpoint: app.mounts.get(0).map(|(_, mount)| mount.resource.clone()).unwrap_or_default(),
            public_url: app.config.public_url.to_string(),
            operator_endpoint: format!("https://{}", started.listeners.admin.local_addr()),
            // Absolute paths, so that what is pasted works in any working directory.
            ca_file: started.ca_file.as_deref().map(std::path::absolute).transpose()?,
            data: std::path::absolute(&app.config.data)?,
            clients,
            user,
            tenant_key: demo.tenant_key,
            scopes: demo.scopes.to_string(),
            example: demo.example,
            site,
            mounts: app
                .mounts
                .iter()
                .map(|(path, mount)| {
                    let access = partner.iter().find(|access| access.path == *path);
                    mount_banner(mount, &app.config.public_url, access)
                })
                .collect(),
            reused,
        };
        banner.print(args.json)?;
        drop(app);
        run_started(started, OnSighup::Exit).await
    })
}

fn mount_banner(mount: &Mount, public_url: &PublicUrl, access: Option<&PartnerAccess>) -> MountBanner {
    MountBanner {
        contract: mount.contract.id,
        endpoint: mount.resource.clone(),
        rest: mount.prefix.as_deref().map(|prefix| public_url.at(prefix)),
        scopes: mount.contract.scopes.iter().map(|scope| scope.as_str().to_owned()).collect(),
        partner: access.map(|access| PartnerBanner {
            intent: access.intent,
            partner_id: access.partner_id.clone(),
            sandbox_bearer: access.sandbox_bearer.clone(),
            live_bearer: access.live_bearer.clone(),
        }),
    }
}

/// Generates the data of the businesses on a thread of its own and hands over each when it is complete.
fn generate_data() -> Receiver<BusinessData> {
    let (sender, receiver) = channel(1);
    spawn_blocking(move || {
        let (now, random) = (SystemClock.now(), SystemRandom);
        // The receiver is gone if the server could not start; then the rest is not generated.
        let mut next_id = |prefix: &str| new_id(prefix, now, &random);
        business_data(now, &mut next_id)
            .chain(partner_data(now, &mut |prefix: &str| new_id(prefix, now, &random)))
            .try_for_each(|contents| sender.blocking_send(contents))
    });
    receiver
}

/// The businesses whose data must be written. A client is added after its business and stays, while the idempotency claim
/// expires: it covers the time between the two. A business of the partner's has no client; it gets its name afterwards.
async fn missing(
    app: &App,
    demo: &DemoInfo,
    partner: Option<&DemoPartner>,
    known: &[Client],
) -> Result<Vec<Business>, CliError> {
    let tenants = app.backend.store.tenants().await.map_err(explain)?;
    let has_client = |business: &Business| known.iter().any(|client| client.name == agent_of(business.name));
    let has_name = |business: &Business| {
        tenants.iter().any(|tenant| tenant.id.as_str() == business.id && tenant.name == business.name)
    };
    let of_contract = demo.businesses.iter().filter(|business| !has_client(business));
    let of_partner = partner.iter().flat_map(|partner| &partner.businesses).filter(|business| !has_name(business));
    Ok(of_contract.chain(of_partner).copied().collect())
}

/// Commits the data of these businesses once; returns whether it existed already.
async fn seed(app: &App, missing: Vec<Business>, generated: Option<Receiver<BusinessData>>) -> Result<bool, CliError> {
    if missing.is_empty() {
        return Ok(true);
    }
    let mut unnamed = Vec::new();
    for business in &missing {
        let Some(id) = TenantId::parse(business.id) else {
            continue;
        };
        let mut tenant = Tenant::new(id.clone(), business.name);
        registration(business).apply(&mut tenant);
        let record = tenant_record(app.desk.now(), &id);
        // One that a mount names has been created at the start.
        if app.backend.store.add_tenant(tenant, record).await.map_err(explain)? == Changed::Nothing {
            unnamed.push((id, business));
        }
    }
    let mut reused = true;
    let mut generated = generated.unwrap_or_else(generate_data);
    // The next one is generated while this one is written.
    while let Some(contents) = generated.recv().await {
        let Some(commit) = missing.contains(&contents.business).then(|| commit(app, contents)).flatten() else {
            continue;
        };
        match app.backend.store.commit(commit).await.map_err(explain)? {
            Committed::Done => reused = false,
            Committed::AlreadyClaimed(_) => {}
            Committed::Refused(fault) => return Err(fault.message.into_owned().into()),
            Committed::VersionConflict | Committed::Unknown => {
                return Err("the demo data could not be written in time; start again".into());
            }
        }
    }
    for (id, business) in unnamed {
        let record = tenant_update_record(app.desk.now(), &id, &["name"]);
        app.backend.store.update_tenant(&id, registration(business), record).await.map_err(explain)?;
    }
    Ok(reused)
}

/// All data of a business, committed once under the idempotency key of the demo.
fn commit(app: &App, contents: BusinessData) -> Option<Commit> {
    let BusinessData { business, steps, events } = contents;
    let at = app.desk.now();
    let audit = serde_json::json!({"at": at.to_rfc3339(), "operator": SEEDING, "tenant": business.id, "outcome": "ok"});
    Some(Commit {
        client: None,
        tenant: TenantId::parse(business.id)?,
        at,
        steps,
        events: events.into_iter().map(|event| (app.desk.new_id("evt"), event)).collect(),
        claim: Some(Claim {
            client: ClientId::new(SEEDING),
            tool: SEEDING,
            key: IdempotencyKey::parse(SEEDING)?,
            request_hash: [0; 32],
        }),
        answer: Item { id: business.id.to_owned(), version: 0, body: "{}".to_owned(), masked: None, personal: None },
        audit: audit.to_string(),
    })
}

/// What happens to the secrets of existing clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Secrets {
    Kept,
    New,
}

/// A client for each business. Its secret is shown only when it is created.
async fn clients(
    app: &App,
    demo: &DemoInfo,
    known: &[Client],
    secrets: Secrets,
) -> Result<Vec<BannerClient>, CliError> {
    let mut clients = Vec::new();
    for business in &demo.businesses {
        let Some(tenant) = TenantId::parse(business.id) else {
            continue;
        };
        clients.push(client(app, business.name, tenant, &demo.scopes, known, secrets).await?);
    }
    Ok(clients)
}

async fn client(
    app: &App,
    business: &str,
    tenant: TenantId,
    scopes: &Scopes,
    known: &[Client],
    secrets: Secrets,
) -> Result<BannerClient, CliError> {
    let (name, id_of_tenant) = (agent_of(business), tenant.as_str().to_owned());
    let existing = known.iter().find(|client| client.name == name && client.revoked_at.is_none());
    let (id, secret) = match existing {
        Some(client) => {
            let secret = match secrets {
                Secrets::Kept => None,
                Secrets::New => Some(rotate(app, client).await?),
            };
            (client.id.as_str().to_owned(), secret)
        }
        None => {
            let backend = &app.backend;
            let (client, secret) =
                new_client(name, vec![tenant], scopes.clone(), backend.clock.as_ref(), backend.random.as_ref());
            let id = client.id.as_str().to_owned();
            let record = client_record(client.created_at, "client.add", &client.id);
            backend.store.add_client(client, record).await.map_err(explain)?;
            (id, Some(secret))
        }
    };
    Ok(BannerClient { id, secret, tenant: id_of_tenant, business: business.to_owned() })
}

fn has_default_mounts(loaded: &LoadedConfig) -> bool {
    loaded.settings.iter().any(|setting| setting.key == "mount" && setting.source == ValueSource::Default)
}

/// The configuration with the demo site mounted in addition.
fn with_site(loaded: LoadedConfig, site: &DemoSite) -> Result<LoadedConfig, CliError> {
    // Absolute, because a relative path is not accepted as the address of a site's database.
    let data =
        std::path::absolute(&loaded.config.data).map_err(|error| format!("the data folder has no path: {error}"))?;
    let file = data.join(SITE_FILE).display().to_string();
    let table = toml::Table::from_iter([("database".to_owned(), toml::Value::String(file))]);
    let mount = MountConfig::for_site(site.entry, &table).ok_or("the demo's site cannot be mounted")?;
    Ok(loaded.with_mount(mount))
}

async fn site_banner(
    app: &App,
    loaded: &LoadedConfig,
    site: &DemoSite,
    known: &[Client],
    secrets: Secrets,
) -> Result<SiteBanner, CliError> {
    let mut sites = loaded.config.mounts.iter().filter_map(|mount| Some((mount, mount.site.as_ref()?)));
    let (mount, config) = sites.next().ok_or("the demo's site is not mounted")?;
    let tenant = config.tenant.clone();
    Ok(SiteBanner {
        endpoint: app.config.public_url.at(&mount.endpoint()),
        client: client(app, site.business, tenant, &site.scopes, known, secrets).await?,
        scopes: site.scopes.to_string(),
        example: site.example,
    })
}

async fn rotate(app: &App, client: &Client) -> Result<PlaintextSecret, CliError> {
    let (secret, hash) = new_secret(app.backend.random.as_ref());
    let record = client_record(app.desk.now(), "client.rotate", &client.id);
    match app.backend.store.rotate_client(&client.id, hash, record).await.map_err(explain)? {
        Changed::Done => Ok(secret),
        // A secret that was not stored must not be shown.
        Changed::Nothing => {
            let id = client.id.as_str();
            Err(format!("client {id} was revoked or removed meanwhile and got no new secret; start again").into())
        }
    }
}

fn agent_of(business: &str) -> String {
    format!("Demo agent of {business}")
}

fn explain(fault: frontdesk_engine::Fault) -> CliError {
    fault.cause.unwrap_or_else(|| fault.message.into_owned()).into()
}
