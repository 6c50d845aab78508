//! `frontdesk demo`: made-up businesses, whole, with one command.

use std::process::ExitCode;

use frontdesk_cms_fixture::{CmsSite, ScriptDialect};
use frontdesk_contracts::demo::{Business, BusinessData, DemoInfo, DemoSite, business_data, info, site as pottery};
use frontdesk_engine::desk::new_id;
use frontdesk_engine::model::tool::Item;
use frontdesk_engine::ports::registry::{Changed, Client, Tenant};
use frontdesk_engine::ports::{Claim, Clock as _, Commit, Committed};
use frontdesk_engine::{ClientId, Scopes, TenantId};
use frontdesk_identity::{PlaintextSecret, new_client, new_secret};
use frontdesk_store::make_sample;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::task::spawn_blocking;

use super::serve::{keep_open, open};
use super::{Failure, Held, run_desk, settings};
use crate::card::{Card, DemoClient, SiteCard};
use crate::cli;
use crate::config::{Loaded, Mount, Origin};
use crate::folder::{Folder, must_have_data};
use crate::house::House;
use crate::net::Setting;
use crate::operator::{client_record, tenant_record};
use crate::ports::{SystemClock, SystemRandom};
use crate::run::Hangup;

const SEEDING: &str = "demo";
/// The demo's website, in the data folder.
const SITE_FILE: &str = "demo-site.sqlite";

pub(super) fn demo(command: cli::Demo) -> Result<ExitCode, Failure> {
    // Any free port for the operator: two demos on one machine must not get in each other's way.
    let mut flags = vec![("FRONTDESK_OPERATOR_LISTEN", "127.0.0.1:0".to_owned())];
    flags.extend(command.data.map(|data| ("FRONTDESK_DATA", data.display().to_string())));
    flags.extend(command.listen.map(|listen| ("FRONTDESK_LISTEN", listen.to_string())));
    let loaded = settings(None, flags)?;
    // Whoever says what is mounted has not asked for a site.
    let site = pottery().filter(|_| mounts_are_ours(&loaded));
    let (loaded, file) = match &site {
        Some(site) => (with_site(loaded, site)?, Some(SITE_FILE)),
        None => (loaded, None),
    };
    let held = Held::default();
    run_desk(&held, async {
        let furnish = move |folder: &Folder| match file {
            Some(file) => make_sample(&folder.path().join(file), || CmsSite::demo().script(ScriptDialect::Sqlite)),
            None => Ok(()),
        };
        // Where nothing is yet, the businesses' data will be wanted: it is made while the desk opens.
        let is_new = must_have_data(&loaded.config.data, &loaded.config.database).is_err();
        let ahead = is_new.then(make_contents);
        let opened = open(&loaded, Setting::Flag("--listen"), &held, furnish).await?;
        let house = &opened.house;
        let demo = info();
        let known = house.vaults.store.clients().await.map_err(explain)?;
        let reused = seed(house, &demo, &known, ahead).await?;
        let secrets = match command.new_secrets {
            true => Secrets::New,
            false => Secrets::Kept,
        };
        let clients = clients(house, &demo, &known, secrets).await?;
        let site = match &site {
            Some(site) => Some(site_card(house, &loaded, site, &known, secrets).await?),
            None => None,
        };
        let card = Card {
            endpoint: house.mounts.get(0).map(|(_, mount)| mount.resource.clone()).unwrap_or_default(),
            public_url: house.config.public_url.to_string(),
            operator_endpoint: format!("https://{}", opened.bound.operator.local_addr()),
            // Whole paths: what is pasted must work in another terminal, wherever that one is.
            ca_file: opened.ca_file.as_deref().map(std::path::absolute).transpose()?,
            data: std::path::absolute(&house.config.data)?,
            clients,
            tenant_key: demo.tenant_key,
            scopes: demo.scopes.to_string(),
            example: demo.example,
            site,
            reused,
        };
        card.print(command.json)?;
        keep_open(opened, Hangup::Ends).await
    })
}

/// What the businesses have, from a thread of its own and as soon as each is made.
fn make_contents() -> Receiver<BusinessData> {
    let (give, made) = channel(1);
    spawn_blocking(move || {
        let (now, random) = (SystemClock.now(), SystemRandom::default());
        // Nobody is there any more if the desk could not be opened; the rest need not be made then.
        business_data(now, &mut |prefix| new_id(prefix, now, &random))
            .try_for_each(|contents| give.blocking_send(contents))
    });
    made
}

/// Commits the demo data once; says whether it was there already. A client is made after its business and stays known
/// for good, while the claim is forgotten one day: it guards the moment between the two.
async fn seed(
    house: &House,
    demo: &DemoInfo,
    known: &[Client],
    ahead: Option<Receiver<BusinessData>>,
) -> Result<bool, Failure> {
    let is_missing = |business: &&Business| !known.iter().any(|client| client.name == agent_of(business.name));
    let missing: Vec<Business> = demo.businesses.iter().filter(is_missing).copied().collect();
    if missing.is_empty() {
        return Ok(true);
    }
    for business in &missing {
        let Some(tenant) = TenantId::parse(business.id) else {
            continue;
        };
        let registered = Tenant { id: tenant.clone(), name: business.name.to_owned() };
        let record = tenant_record(house.desk.now(), &tenant);
        house.vaults.store.add_tenant(registered, record).await.map_err(explain)?;
    }
    let mut reused = true;
    let mut made = ahead.unwrap_or_else(make_contents);
    // While one is written the next is made.
    while let Some(contents) = made.recv().await {
        let Some(commit) = missing.contains(&contents.business).then(|| commit(house, contents)).flatten() else {
            continue;
        };
        match house.vaults.store.commit(commit).await.map_err(explain)? {
            Committed::Done => reused = false,
            Committed::AlreadyClaimed(_) => {}
            Committed::Refused(fault) => return Err(fault.message.into_owned().into()),
            Committed::VersionConflict | Committed::Unknown => {
                return Err("the demo data could not be written in time; start again".into());
            }
        }
    }
    Ok(reused)
}

/// All that a business has, once: under the seeding's own claim.
fn commit(house: &House, contents: BusinessData) -> Option<Commit> {
    let BusinessData { business, steps, events } = contents;
    let at = house.desk.now();
    let audit = serde_json::json!({"at": at.to_rfc3339(), "operator": SEEDING, "tenant": business.id, "outcome": "ok"});
    Some(Commit {
        tenant: TenantId::parse(business.id)?,
        at,
        steps,
        events: events.into_iter().map(|event| (house.desk.new_id("evt"), event)).collect(),
        claim: Some(Claim {
            client: ClientId::new(SEEDING),
            tool: SEEDING,
            key: SEEDING.to_owned(),
            request_hash: [0; 32],
        }),
        answer: Item { id: business.id.to_owned(), body: "{}".to_owned(), masked: None, personal: None },
        audit: audit.to_string(),
    })
}

/// What becomes of the secrets of clients that are there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Secrets {
    Kept,
    New,
}

/// A client for each business: made and shown once, later only named.
async fn clients(
    house: &House,
    demo: &DemoInfo,
    known: &[Client],
    secrets: Secrets,
) -> Result<Vec<DemoClient>, Failure> {
    let mut clients = Vec::new();
    for business in &demo.businesses {
        let Some(tenant) = TenantId::parse(business.id) else {
            continue;
        };
        clients.push(client(house, business.name, tenant, &demo.scopes, known, secrets).await?);
    }
    Ok(clients)
}

async fn client(
    house: &House,
    business: &str,
    tenant: TenantId,
    scopes: &Scopes,
    known: &[Client],
    secrets: Secrets,
) -> Result<DemoClient, Failure> {
    let (name, id_of_tenant) = (agent_of(business), tenant.as_str().to_owned());
    let existing = known.iter().find(|client| client.name == name && client.revoked_at.is_none());
    let (id, secret) = match existing {
        Some(client) => {
            let secret = match secrets {
                Secrets::Kept => None,
                Secrets::New => Some(rotate(house, client).await?),
            };
            (client.id.as_str().to_owned(), secret)
        }
        None => {
            let vaults = &house.vaults;
            let (client, secret) =
                new_client(name, vec![tenant], scopes.clone(), vaults.clock.as_ref(), vaults.random.as_ref());
            let id = client.id.as_str().to_owned();
            let record = client_record(client.created_at, "client.add", &client.id);
            vaults.store.add_client(client, record).await.map_err(explain)?;
            (id, Some(secret))
        }
    };
    Ok(DemoClient { id, secret, tenant: id_of_tenant, business: business.to_owned() })
}

fn mounts_are_ours(loaded: &Loaded) -> bool {
    loaded.origins.iter().any(|setting| setting.key == "mount" && setting.origin == Origin::Default)
}

/// The configuration with the site beside what is mounted anyway.
fn with_site(loaded: Loaded, site: &DemoSite) -> Result<Loaded, Failure> {
    // Whole, because a path that begins with a folder's name is no address of a site's database.
    let data =
        std::path::absolute(&loaded.config.data).map_err(|error| format!("the data folder has no path: {error}"))?;
    let file = data.join(SITE_FILE).display().to_string();
    let table = toml::Table::from_iter([("database".to_owned(), toml::Value::String(file))]);
    let mount = Mount::reading(site.offer, &table).ok_or("the demo's site cannot be mounted")?;
    Ok(loaded.and(mount))
}

async fn site_card(
    house: &House,
    loaded: &Loaded,
    site: &DemoSite,
    known: &[Client],
    secrets: Secrets,
) -> Result<SiteCard, Failure> {
    let mount = loaded.config.mounts.last().ok_or("the demo's site is not mounted")?;
    let tenant = mount.site.as_ref().map(|site| site.tenant.clone()).ok_or("the demo's site is not mounted")?;
    Ok(SiteCard {
        endpoint: house.config.public_url.at(&mount.endpoint()),
        client: client(house, site.business, tenant, &site.scopes, known, secrets).await?,
        scopes: site.scopes.to_string(),
        example: site.example,
    })
}

async fn rotate(house: &House, client: &Client) -> Result<PlaintextSecret, Failure> {
    let (secret, hash) = new_secret(house.vaults.random.as_ref());
    let record = client_record(house.desk.now(), "client.rotate", &client.id);
    match house.vaults.store.rotate_client(&client.id, hash, record).await.map_err(explain)? {
        Changed::Done => Ok(secret),
        // A secret that was not kept must not be shown.
        Changed::Nothing => {
            let id = client.id.as_str();
            Err(format!("client {id} was revoked or removed meanwhile and has no new secret; start again").into())
        }
    }
}

fn agent_of(business: &str) -> String {
    format!("Demo agent of {business}")
}

fn explain(fault: frontdesk_engine::Fault) -> Failure {
    fault.cause.unwrap_or_else(|| fault.message.into_owned()).into()
}
