//! How the lists of parts, orders and signals grow with their rows: one page of each on
//! data of several sizes. Frontdesk alone, on SQLite: what is asked is whether a page costs the same however many there are.

use std::process::Command;
use std::time::Duration;

use frontdesk::app::DataBackend;
use frontdesk::data_dir::{self, DataDir};
use frontdesk::net;
use frontdesk_contracts::demo::{BusinessData, business_data};
use frontdesk_engine::model::plan::Step;
use frontdesk_engine::model::table::{Cell, Row, TableSpec};
use frontdesk_engine::model::tool::Item;
use frontdesk_engine::ports::registry::Tenant;
use frontdesk_engine::ports::{Commit, Committed};
use frontdesk_engine::{Fault, Scope, Scopes, TenantId};
use serde::Serialize;
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::call::{Call, Caller, Era};
use crate::database::{Database, Storage};
use crate::load::CallSource;
use crate::measure::{Figures, LoadedServer, WARM_UP};
use crate::process::Server;
use crate::seed::explain;
use crate::{BenchResult, DataSizes, Options};

const SCOPES: &[&str] = &["amcp:parts:read", "amcp:signals:read"];
const TENANT: &str = "dlr_00000";
const CHUNK: usize = 500;
const YEAR_MILLIS: i64 = 365 * 24 * 60 * 60 * 1000;
const SLICE: Duration = Duration::from_secs(2);
const SIZES: &[(usize, DataSizes)] = &[
    (1_000, DataSizes::Default),
    (10_000, DataSizes::Default),
    (100_000, DataSizes::Default),
    (1_000_000, DataSizes::All),
];

/// The tables that grow, each to the same number of rows. Signals count leads, vehicles and appointments.
const TABLES: &[&str] = &["part", "part_order", "lead"];

/// A list, its arguments, and how many items a page of it has.
struct ListCall {
    tool: &'static str,
    arguments: fn() -> Value,
    items: usize,
}

/// Lists of credit applications are not among them: those need a person who has just logged in.
const LISTS: &[ListCall] = &[
    ListCall { tool: "parts.list", arguments: || json!({"limit": 25}), items: 25 },
    ListCall { tool: "parts.search", arguments: || json!({"text": "filter", "limit": 25}), items: 25 },
    ListCall { tool: "parts.list_orders", arguments: || json!({"status": "requested", "limit": 25}), items: 25 },
    ListCall { tool: "signals.list", arguments: || json!({"metric": "lead_volume", "limit": 5}), items: 5 },
];

#[derive(Debug, Clone, Serialize)]
pub struct ListRow {
    pub list: &'static str,
    /// Of each table.
    pub rows: usize,
    pub frontdesk: Figures,
}

pub async fn measure(options: &Options) -> BenchResult<Vec<ListRow>> {
    let mut measured = Vec::new();
    for (rows, sizes) in SIZES {
        if *sizes == DataSizes::All && options.sizes == DataSizes::Default {
            continue;
        }
        options.log(&format!("making {rows} rows in each of {} tables", TABLES.len()));
        let folder = options.work.join("lists");
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        let storage = Database::Sqlite.empty(&folder);
        let client = make(&storage, *rows).await?;
        let server = Server::frontdesk(&options.frontdesk, storage).await?;
        for list in LISTS {
            let token = operator_token(options, &server, &client)?;
            let caller = Caller { dealership: TENANT.to_owned(), place: 0, vehicles: 0, token, port: server.port };
            let mut load = LoadedServer::open(&server, &[caller], 1).await?;
            load.warm_up(ListSource(list), WARM_UP).await?;
            load.run_slice(ListSource(list), SLICE).await?;
            let row = ListRow { list: list.tool, rows: *rows, frontdesk: load.figures()? };
            options.log(&line(&row));
            measured.push(row);
        }
    }
    Ok(measured)
}

pub fn line(ListRow { list, rows, frontdesk }: &ListRow) -> String {
    let Figures { cpu_micros_per_call, p50_micros, p99_micros, resident_mib, .. } = frontdesk;
    format!("| {list} | {rows} | {cpu_micros_per_call:.1} | {p50_micros} | {p99_micros} | {resident_mib:.0} |")
}

#[derive(Clone, Copy)]
struct ListSource(&'static ListCall);

impl CallSource for ListSource {
    fn call(self, caller: &Caller, number: u64, _: u64) -> Call {
        let ListSource(ListCall { tool, arguments, items }) = self;
        let expected = vec![(format!("\"dealership_id\":\"{TENANT}\""), *items)];
        Call::new("/mcp/automotive", tool, &arguments(), expected, Era::Modern, caller, number)
    }
}

/// As an operator issues one for a tool that can only send a header.
fn operator_token(options: &Options, server: &Server, client: &str) -> BenchResult<String> {
    let mut command = Command::new(&options.frontdesk);
    command.args(["token", "issue", "--json", "--client", client]).arg("--data").arg(&server.storage.folder);
    for scope in SCOPES {
        command.args(["--scope", scope]);
    }
    let issued = command.output()?;
    let view: Value = serde_json::from_slice(&issued.stdout)?;
    let token = view.get("token").and_then(Value::as_str);
    Ok(token.ok_or_else(|| String::from_utf8_lossy(&issued.stderr).into_owned())?.to_owned())
}

/// One dealership with so many rows of each table; returns the id of its client.
async fn make(storage: &Storage, rows: usize) -> BenchResult<String> {
    let data = storage.folder.as_path();
    let backend = DataBackend::open(DataDir::lock(data)?, &storage.config()?).await?;
    let now = backend.clock.now();
    net::ensure(&data_dir::tls_dir(data), &[], OffsetDateTime::from_unix_timestamp(now.seconds())?)?;
    let mut count = 0;
    let mut new_id = |prefix: &str| {
        count += 1;
        format!("{prefix}_{count:026}")
    };
    let made: Vec<BusinessData> = business_data(now, &mut new_id).collect();
    let tenant = TenantId::parse(TENANT).ok_or("the dealership's id is not one")?;
    backend
        .store
        .add_tenant(Tenant::new(tenant.clone(), "Dealership".to_owned()), "{}".to_owned())
        .await
        .map_err(explain)?;
    for table in TABLES {
        let templates = templates(&made, table)?;
        for first in (0..rows).step_by(CHUNK) {
            let steps = (first..rows.min(first + CHUNK))
                .filter_map(|number| generated(&templates, now.0, number, rows))
                .collect();
            let answer =
                Item { id: TENANT.to_owned(), version: 0, body: "{}".to_owned(), masked: None, personal: None };
            let commit = Commit {
                client: None,
                tenant: tenant.clone(),
                at: now,
                steps,
                events: Vec::new(),
                claim: None,
                answer,
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
    let scopes = Scopes::new(SCOPES.iter().copied().map(Scope::new));
    let (client, _) = frontdesk_identity::new_client(
        "Reader".to_owned(),
        vec![tenant],
        scopes,
        backend.clock.as_ref(),
        backend.random.as_ref(),
    );
    let id = client.id.as_str().to_owned();
    backend.store.add_client(client, "{}".to_owned()).await.map_err(explain)?;
    Ok(id)
}

struct Template {
    table: &'static TableSpec,
    row: Row,
    dealership: String,
}

fn templates(made: &[BusinessData], name: &str) -> BenchResult<Vec<Template>> {
    let steps = made.iter().flat_map(|business| &business.steps);
    let found: Vec<Template> = steps
        .filter_map(|step| match step {
            Step::Insert { table, row, .. } if table.name == name => {
                let body: Value = serde_json::from_str(&row.body).ok()?;
                let dealership = body.get("dealership_id")?.as_str()?.to_owned();
                Some(Template { table, row: row.clone(), dealership })
            }
            _ => None,
        })
        .collect();
    if found.is_empty() { Err(format!("the demo has no row of {name}").into()) } else { Ok(found) }
}

/// The template under another id, with unique values of its own. All of them are spread over a year.
fn generated(templates: &[Template], now: i64, number: usize, rows: usize) -> Option<Step> {
    let Template { table, row, dealership } = templates.get(number % templates.len())?;
    let prefix = row.id.split('_').next()?;
    let id = format!("{prefix}_{number:026}");
    let mut body = row.body.replace(&row.id, &id).replace(dealership.as_str(), TENANT);
    let mut cells = row.cells.clone();
    for (name, cell) in &mut cells {
        if let (true, Cell::Text(text)) = (table.unique.contains(name), &*cell) {
            let own = format!("{text}{number:07}");
            body = body.replace(&format!("\"{text}\""), &format!("\"{own}\""));
            *cell = Cell::Text(own);
        }
    }
    let created_at = now - YEAR_MILLIS / i64::try_from(rows).ok()? * i64::try_from(number).ok()?;
    let row = Row { id, body, cells, created_at, updated_at: created_at, ..row.clone() };
    Some(Step::Insert { table, row, on_duplicate: Fault::internal("a generated row is there already") })
}
