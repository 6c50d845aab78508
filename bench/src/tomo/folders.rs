//! The folders of the two servers: a business of hotels and one of rides, made anew for each run through the store's own
//! commit, and the mounts through which partners sell what they have.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use frontdesk::app::DataBackend;
use frontdesk::config::DatabaseConfig;
use frontdesk::data_dir::{self, DataDir};
use frontdesk::net;
use frontdesk_contracts::record::{Entity, Stored};
use frontdesk_contracts::tomo::TENANT as TENANT_MEMBER;
use frontdesk_engine::model::plan::Step;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Item;
use frontdesk_engine::ports::registry::Tenant;
use frontdesk_engine::ports::{Commit, Committed};
use frontdesk_engine::{Fault, TenantId};
use rusqlite::{Connection, params};
use time::OffsetDateTime;

use super::{hotels, rides};
use crate::cms::SiteSource;
use crate::database::{Storage, copy_folder};
use crate::seed::explain;
use crate::{BenchResult, Options};

/// One partner may make 60,000 calls a minute, which a bench reaches; so several sell what a business has, and each stays
/// below that.
const PARTNERS: usize = 32;
const CHUNK: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Business {
    Hotels,
    Rides,
}

impl Business {
    const ALL: [Business; 2] = [Business::Hotels, Business::Rides];

    pub fn tenant(self) -> &'static str {
        match self {
            Business::Hotels => hotels::TENANT,
            Business::Rides => rides::TENANT,
        }
    }

    fn intent(self) -> &'static str {
        match self {
            Business::Hotels => hotels::INTENT,
            Business::Rides => rides::INTENT,
        }
    }
}

pub fn path(business: Business, caller: usize) -> String {
    format!("/mcp/tomo/{}", partner(business, caller))
}

/// Of servers that nobody reaches from outside.
pub fn bearer(business: Business, caller: usize) -> String {
    format!("token-of-{}-0123456789abcdef0123456789", partner(business, caller))
}

fn partner(business: Business, caller: usize) -> String {
    let prefix = match business {
        Business::Hotels => "hotels",
        Business::Rides => "rides",
    };
    format!("{prefix}{:02}", caller % PARTNERS)
}

/// A folder for each of the two servers.
pub async fn create(options: &Options) -> BenchResult<(Storage, Storage)> {
    options.log(&format!("making {} hotels and {} rides on sqlite", hotels::HOTELS, rides::RIDES));
    let folder = options.work.join("tomo");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let [seeded, desk, bare] = ["seeded", "frontdesk", "reference"].map(|name| folder.join(name));
    let unsealed = fill(&seeded).await?;
    copy_folder(&seeded, &desk)?;
    copy_folder(&seeded, &bare)?;
    configure(&desk)?;
    unseal(&bare, &unsealed)?;
    Ok((Storage::with_partner(desk), Storage::with_partner(bare)))
}

fn configure(folder: &Path) -> BenchResult<()> {
    let mut config = String::new();
    for (business, number) in Business::ALL.iter().flat_map(|business| (0..PARTNERS).map(|number| (*business, number)))
    {
        let (partner, path) = (partner(business, number), path(business, number));
        let (tenant, intent) = (business.tenant(), business.intent());
        let tokens = folder.join(&partner);
        fs::write(&tokens, bearer(business, number))?;
        fs::set_permissions(&tokens, fs::Permissions::from_mode(0o600))?;
        let tokens = fs::canonicalize(tokens)?;
        config.push_str(&format!(
            "[[mount]]\ncontract = \"tomo\"\npath = \"{path}\"\ntenant = \"{tenant}\"\nintents = [\"{intent}\"]\n\
             [mount.partner]\nid = \"{partner}\"\ncompany = \"Bench\"\n\
             signals = {{ time = 0.6, taste = 0.8, budget = 0.5, safety = 0.7 }}\nservice_area = [\"Delhi\"]\n\
             pricing_band = \"good\"\ncallback = \"https://tomo.example/api/v1/cpc/mcp_provider/{partner}\"\n\
             [mount.auth]\nlive_tokens = {tokens:?}\n\n"
        ));
    }
    Ok(fs::write(folder.join(SiteSource::CONFIG), config)?)
}

/// What the rows of a table have sealed, by id.
struct Unsealed {
    table: &'static str,
    id: String,
    personal: String,
}

async fn fill(folder: &Path) -> BenchResult<Vec<Unsealed>> {
    let backend = DataBackend::open(DataDir::lock(folder)?, &DatabaseConfig::Embedded).await?;
    let now = backend.clock.now();
    net::ensure(&data_dir::tls_dir(folder), &[], OffsetDateTime::from_unix_timestamp(now.seconds())?)?;
    let mut unsealed = Vec::new();
    for business in Business::ALL {
        let tenant = TenantId::parse(business.tenant()).ok_or("a tenant's id is not one")?;
        let mut registered = Tenant::new(tenant.clone(), "Bench");
        registered.profile = serde_json::from_str(r#"{"currency":"INR"}"#)?;
        backend.store.add_tenant(registered, "{}".to_owned()).await.map_err(explain)?;
        let mut new = NewRows { tenant: tenant.clone(), now, steps: Vec::new(), unsealed: Vec::new() };
        match business {
            Business::Hotels => hotels::add(&mut new)?,
            Business::Rides => rides::add(&mut new),
        }
        unsealed.append(&mut new.unsealed);
        let mut steps = new.steps.into_iter().peekable();
        while steps.peek().is_some() {
            let commit = Commit {
                client: None,
                tenant: tenant.clone(),
                at: now,
                steps: steps.by_ref().take(CHUNK).collect(),
                events: Vec::new(),
                claim: None,
                answer: Item {
                    id: tenant.as_str().to_owned(),
                    version: 0,
                    body: "{}".to_owned(),
                    masked: None,
                    personal: None,
                },
                audit: "{}".to_owned(),
            };
            match backend.store.commit(commit).await.map_err(explain)? {
                Committed::Done => {}
                Committed::Refused(fault) => return Err(explain(fault)),
                Committed::AlreadyClaimed(_) | Committed::VersionConflict | Committed::Unknown => {
                    return Err("generated rows could not be written".into());
                }
            }
        }
    }
    Ok(unsealed)
}

/// The reference has no keys: what is sealed in Frontdesk's rows is plain in its own, in the same column.
fn unseal(folder: &Path, unsealed: &[Unsealed]) -> BenchResult<()> {
    let mut connection = Connection::open(data_dir::database_file(folder))?;
    let transaction = connection.transaction()?;
    for Unsealed { table, id, personal } in unsealed {
        let sql = format!("UPDATE {table} SET sealed = ?1 WHERE id = ?2 AND tenant = ?3");
        let changed =
            transaction.prepare_cached(&sql)?.execute(params![personal.as_bytes(), id, Business::Rides.tenant()])?;
        if changed != 1 {
            return Err(format!("{id} is not there to be unsealed").into());
        }
    }
    Ok(transaction.commit()?)
}

/// The rows of a business, before they are committed.
pub struct NewRows {
    tenant: TenantId,
    pub now: Millis,
    steps: Vec<Step>,
    unsealed: Vec<Unsealed>,
}

impl NewRows {
    pub fn add<R: Stored>(&mut self, record: R) {
        let id = format!("{}_{:026}", R::ID_PREFIX, self.steps.len());
        self.add_as(id, record);
    }

    pub fn add_as<R: Stored>(&mut self, id: String, record: R) {
        let row = Entity::new(id, self.tenant.clone(), self.now, record).row(TENANT_MEMBER);
        if let Some(personal) = &row.personal {
            self.unsealed.push(Unsealed { table: R::TABLE_NAME, id: row.id.clone(), personal: personal.clone() });
        }
        let on_duplicate = Fault::internal("a generated row is there already");
        self.steps.push(Step::Insert { table: R::table(), row, on_duplicate });
    }
}
