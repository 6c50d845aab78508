//! Generated dealerships: the demo's vehicles over and over under new ids, through the store's own commit. Made once
//! for each size and kept.

use std::fs;
use std::path::PathBuf;

use frontdesk::app::DataBackend;
use frontdesk::config;
use frontdesk::data_dir::{self, DataDir};
use frontdesk::net;
use frontdesk_contracts::automotive::vehicle::Vehicle;
use frontdesk_contracts::demo::{BusinessData, business_data, info};
use frontdesk_contracts::record::Stored;
use frontdesk_engine::model::plan::Step;
use frontdesk_engine::model::table::{Cell, Row, SearchTerm};
use frontdesk_engine::model::tool::Item;
use frontdesk_engine::ports::registry::Tenant;
use frontdesk_engine::ports::{Commit, Committed};
use frontdesk_engine::{Fault, TenantId};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::database::{Database, Storage};
use crate::{BenchResult, Options};

/// The make that is searched for; an eighth of the vehicles or so.
pub const MAKE: &str = "Toyota";
/// Raised when the generated data changes, so that old data is not measured by mistake.
const EDITION: u32 = 1;
const CHUNK: usize = 500;
/// Dealerships that have an agent. More would measure the token cache.
const AGENTS: usize = 10;
/// The words that a vehicle is found by, besides its numbers: its description's would be most of the database.
const WORDS: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    pub vehicles: usize,
    pub dealerships: usize,
}

/// Somebody who may call, as kept beside the data.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Agent {
    pub dealership: String,
    pub place: usize,
    pub client: String,
    pub secret: String,
}

pub struct Seeded {
    pub folder: PathBuf,
    pub agents: Vec<Agent>,
}

impl Scale {
    pub fn each(self) -> usize {
        self.vehicles / self.dealerships.max(1)
    }
}

pub fn vehicle_id(dealership: usize, number: usize) -> String {
    format!("veh_{dealership:013}{number:013}")
}

/// Seeded data of this size, from an earlier run if there is any.
pub async fn seeded(options: &Options, database: Database, scale: Scale) -> BenchResult<Seeded> {
    let name = format!("seed-{EDITION}-{}-{}-{}", database.name(), scale.vehicles, scale.dealerships);
    let folder = options.work.join(&name);
    let list = folder.join("agents.json");
    if !list.exists() {
        let Scale { vehicles, dealerships } = scale;
        options.log(&format!("making {vehicles} vehicles in {dealerships} dealerships on {}", database.name()));
        let unfinished = options.work.join(format!("{name}.unfinished"));
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished)?;
        }
        let place = database.empty(&unfinished);
        let agents = make(options, &place, scale).await?;
        place.keep();
        fs::write(unfinished.join("agents.json"), serde_json::to_vec(&agents)?)?;
        fs::rename(&unfinished, &folder)?;
    }
    if database == Database::Sqlite {
        // A file that an older version has made becomes this one's, also for the bare server, which changes nothing.
        drop(DataBackend::open(DataDir::lock(&folder)?, &config::DatabaseConfig::Embedded).await?);
    }
    let agents = serde_json::from_slice(&fs::read(list)?)?;
    Ok(Seeded { folder, agents })
}

async fn make(options: &Options, empty: &Storage, scale: Scale) -> BenchResult<Vec<Agent>> {
    let data = empty.folder.as_path();
    if let Some(parent) = data.parent() {
        fs::create_dir_all(parent)?;
    }
    let backend = DataBackend::open(DataDir::lock(data)?, &empty.config()?).await?;
    let now = backend.clock.now();
    net::ensure(&data_dir::tls_dir(data), &[], OffsetDateTime::from_unix_timestamp(now.seconds())?)?;
    let mut count = 0;
    let mut new_id = |prefix: &str| {
        count += 1;
        format!("{prefix}_{count:026}")
    };
    let made: Vec<BusinessData> = business_data(now, &mut new_id).collect();
    let templates = templates(made.iter().flat_map(|contents| &contents.steps));
    let mut agents = Vec::new();
    let step = scale.dealerships.div_ceil(AGENTS);
    for place in 0..scale.dealerships {
        if place % step == 0 {
            options.log(&format!("  {} of {} vehicles", place * scale.each(), scale.vehicles));
        }
        let dealership = format!("dlr_{place:05}");
        let tenant = TenantId::parse(&dealership).ok_or("a dealership's id is not one")?;
        let registered = Tenant::new(tenant.clone(), format!("Dealership {place}"));
        backend.store.add_tenant(registered, "{}".to_owned()).await.map_err(explain)?;
        for first in (0..scale.each()).step_by(CHUNK) {
            let numbers = first..scale.each().min(first + CHUNK);
            let steps = numbers.filter_map(|number| generated(&templates, &dealership, place, number)).collect();
            let commit = Commit {
                client: None,
                tenant: tenant.clone(),
                at: now,
                steps,
                events: Vec::new(),
                claim: None,
                answer: Item {
                    id: dealership.clone(),
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
                    return Err("generated vehicles could not be written".into());
                }
            }
        }
        if place % step == 0 {
            let name = format!("Agent of {dealership}");
            let (client, secret) = frontdesk_identity::new_client(
                name,
                vec![tenant],
                info().scopes,
                backend.clock.as_ref(),
                backend.random.as_ref(),
            );
            let id = client.id.as_str().to_owned();
            backend.store.add_client(client, "{}".to_owned()).await.map_err(explain)?;
            agents.push(Agent { dealership, place, client: id, secret: secret.expose().to_owned() });
        }
    }
    Ok(agents)
}

/// A demo vehicle and the texts in it that must become another's.
struct Template {
    row: Row,
    dealership: String,
    vin: String,
    stock_number: String,
}

fn templates<'a>(steps: impl Iterator<Item = &'a Step>) -> Vec<Template> {
    let mut found = Vec::new();
    for step in steps {
        if let Step::Insert { table: kind, row, .. } = step
            && kind.name == "vehicle"
        {
            let body: serde_json::Value = serde_json::from_str(&row.body).unwrap_or_default();
            let text = |name: &str| body.get(name).and_then(|value| value.as_str()).unwrap_or_default().to_owned();
            found.push(Template {
                row: row.clone(),
                dealership: text("dealership_id"),
                vin: text("vin"),
                stock_number: text("stock_number"),
            });
        }
    }
    found
}

fn generated(templates: &[Template], dealership: &str, place: usize, number: usize) -> Option<Step> {
    let template = templates.get(number % templates.len().max(1))?;
    let mut row = template.row.clone();
    let vin = format!("{}{number:07}", template.vin.get(..10)?);
    let stock_number = format!("S{number:07}");
    row.id = vehicle_id(place, number);
    row.body = row
        .body
        .replace(&template.row.id, &row.id)
        .replace(&template.dealership, dealership)
        .replace(&template.vin, &vin)
        .replace(&template.stock_number, &stock_number);
    row.created_at -= i64::try_from(number).unwrap_or_default() * 1000;
    row.search_terms.truncate(WORDS);
    row.search_terms.push(SearchTerm::Plain(vin.to_lowercase()));
    row.search_terms.push(SearchTerm::Plain(stock_number.to_lowercase()));
    for (name, cell) in &mut row.cells {
        match *name {
            "vin" => *cell = Cell::Text(vin.clone()),
            // Null for one that is sold.
            "live_vin" if *cell != Cell::Null => *cell = Cell::Text(vin.clone()),
            "stock_number" => *cell = Cell::Text(stock_number.clone()),
            _ => {}
        }
    }
    let taken = Fault::internal("a generated vehicle is there already");
    Some(Step::Insert { table: Vehicle::table(), row, on_duplicate: taken })
}

pub fn explain(fault: Fault) -> Box<dyn std::error::Error + Send + Sync> {
    fault.cause.unwrap_or_else(|| fault.message.into_owned()).into()
}
