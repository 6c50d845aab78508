//! What an import costs and what it costs others: creates of vehicles by 64 callers, an import of as many vehicles into the
//! same server, and how long other callers wait for their answers without and with it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use frontdesk_contracts::automotive::sample_feed;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::call::{Call, Caller, Era, Kind};
use crate::database::Database;
use crate::load::{CallSource, Latencies, Session, run_sessions};
use crate::process::Server;
use crate::seed::{Scale, Seeded, seeded};
use crate::{BenchResult, Options};

const SCALE: Scale = Scale { vehicles: 100_000, dealerships: 10 };
/// So many that an import takes some ten seconds.
const ROWS: u32 = 30_000;
const WRITERS: usize = 64;
/// The others: few enough that the machine is not busy with them alone.
const OTHERS: usize = 4;
/// How long others are measured without an import.
const QUIET: Duration = Duration::from_secs(5);
const CREATING: Duration = Duration::from_secs(10);
/// How long others are measured beside an import; one that others hold up is not waited for.
const BESIDE: Duration = Duration::from_secs(15);
/// The vehicles of `sample_feed` from here on are created one by one.
const FIRST_CREATED: u64 = 2_000_000;
const SCOPES: &str = "amcp:inventory:read amcp:inventory:write amcp:leads:read amcp:leads:write";

#[derive(Debug, Clone, Serialize)]
pub struct ImportRow {
    pub database: &'static str,
    /// Vehicles a second that 64 callers create.
    pub creates_per_second: f64,
    /// Rows a second of the whole command, reading and checking included.
    pub rows_per_second: f64,
    /// The same file once more.
    pub unchanged_per_second: f64,
    /// 95 of 100 calls of others were answered within this time, in microseconds: without an import, and with one.
    pub get_p95: (u32, u32),
    pub create_p95: (u32, u32),
    /// Rows a second that were applied beside the creates of others.
    pub rows_beside_creates: f64,
}

pub async fn measure(options: &Options, database: Database) -> BenchResult<ImportRow> {
    let Seeded { folder, agents } = seeded(options, database, SCALE).await?;
    let (desk, _) = database.copies(&folder, options)?;
    let server = Server::frontdesk(&options.frontdesk, desk).await?;
    let mut callers = Vec::new();
    for agent in &agents {
        callers.push(Caller {
            dealership: agent.dealership.clone(),
            place: agent.place,
            vehicles: SCALE.each(),
            token: server.log_in(agent, SCOPES).await?,
            port: server.port,
        });
    }
    let bench = ImportBench { options, server: &server, callers };
    let creates_per_second = bench.creates().await?;
    let first = bench.feed(0)?;
    options.log(&format!("{} import of {ROWS} rows", database.name()));
    let rows_per_second = bench.import(&first).await?;
    let unchanged_per_second = bench.import(&first).await?;
    // Without an import, on the data that there is when the next one begins.
    let get_quiet = bench.p95((Kind::Get, Era::Legacy), QUIET).await?;
    let (get_busy, _) = bench.during_import(1, (Kind::Get, Era::Legacy)).await?;
    let create_quiet = bench.p95((Kind::Create, Era::Legacy), QUIET).await?;
    let (create_busy, rows_beside_creates) = bench.during_import(2, (Kind::Create, Era::Legacy)).await?;
    Ok(ImportRow {
        database: database.name(),
        creates_per_second,
        rows_per_second,
        unchanged_per_second,
        get_p95: (get_quiet, get_busy),
        create_p95: (create_quiet, create_busy),
        rows_beside_creates,
    })
}

struct ImportBench<'a> {
    options: &'a Options,
    server: &'a Server,
    callers: Vec<Caller>,
}

impl ImportBench<'_> {
    async fn sessions(&self, count: usize) -> BenchResult<Vec<Session>> {
        let mut sessions = Vec::new();
        for caller in self.callers.iter().cycle().take(count) {
            sessions.push(Session::open(&self.server.trust, caller.clone()).await?);
        }
        Ok(sessions)
    }

    async fn p95(&self, source: impl CallSource, during: Duration) -> BenchResult<u32> {
        let mut latencies = Latencies::default();
        run_sessions(self.sessions(OTHERS).await?, source, during, &mut latencies).await?;
        Ok(p95(latencies))
    }

    /// All into one dealership, as an import does.
    async fn creates(&self) -> BenchResult<f64> {
        let mut sessions = Vec::new();
        for caller in self.callers.iter().take(1).cycle().take(WRITERS) {
            sessions.push(Session::open(&self.server.trust, caller.clone()).await?);
        }
        let mut latencies = Latencies::default();
        let began = Instant::now();
        run_sessions(sessions, CreateVehicle, CREATING, &mut latencies).await?;
        Ok(latencies.micros.len() as f64 / began.elapsed().as_secs_f64())
    }

    /// A file with vehicles that no other file has.
    fn feed(&self, number: u32) -> BenchResult<PathBuf> {
        let file = self.options.work.join(format!("feed-{number}.csv"));
        let rows: String = (number * ROWS..(number + 1) * ROWS).map(sample_feed::row).collect();
        fs::write(&file, format!("{}{rows}", sample_feed::HEADER))?;
        Ok(file)
    }

    fn command(&self, file: &Path) -> Command {
        let tenant = self.callers.first().map(|caller| caller.dealership.clone()).unwrap_or_default();
        let mut command = Command::new(&self.options.frontdesk);
        command.env_clear().envs(self.server.storage.variables()).args(["import", "vehicles"]).arg(file);
        command.args(["--tenant", &tenant, "--data"]).arg(&self.server.storage.folder).kill_on_drop(true);
        command
    }

    async fn import(&self, file: &Path) -> BenchResult<f64> {
        let began = Instant::now();
        let output = self.command(file).output().await?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        Ok(f64::from(ROWS) / began.elapsed().as_secs_f64())
    }

    /// What others wait while an import runs, and how many rows it applies a second. It is ended when the time is over, and
    /// how far it came is what a run after it finds done.
    async fn during_import(&self, number: u32, source: impl CallSource) -> BenchResult<(u32, f64)> {
        let file = self.feed(number)?;
        let mut command = self.command(&file);
        let began = Instant::now();
        let mut import = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let mut latencies = Latencies::default();
        let mut sessions = self.sessions(OTHERS).await?;
        while began.elapsed() < BESIDE && import.try_wait()?.is_none() {
            let mut slice = Latencies::default();
            sessions = run_sessions(sessions, source, Duration::from_millis(250), &mut slice).await?;
            latencies.micros.extend(slice.micros);
        }
        let took = began.elapsed();
        import.kill().await?;
        let output = self.command(&file).args(["--dry-run", "--json"]).output().await?;
        let report: Value = serde_json::from_slice(&output.stdout)?;
        let done = report.pointer("/counts/unchanged").and_then(Value::as_f64).ok_or("no count of rows")?;
        Ok((p95(latencies), done / took.as_secs_f64()))
    }
}

fn p95(mut latencies: Latencies) -> u32 {
    latencies.micros.sort_unstable();
    let place = latencies.micros.len() * 95 / 100;
    latencies.micros.get(place).copied().unwrap_or_default()
}

/// A new vehicle, as `inventory.create` takes it.
#[derive(Debug, Clone, Copy)]
struct CreateVehicle;

impl CallSource for CreateVehicle {
    fn call(self, caller: &Caller, number: u64, _: u64) -> Call {
        let row = sample_feed::row(u32::try_from(FIRST_CREATED + number).unwrap_or(u32::MAX));
        let cells: Vec<&str> = row.split(',').collect();
        let cell = |index: usize| cells.get(index).copied().unwrap_or_default();
        let whole = |index: usize| cell(index).trim_matches('"').parse::<i64>().unwrap_or_default();
        let equipment: Vec<Value> =
            ["Heated seats", "Backup camera", "Bluetooth"].map(|name| json!({"name": name})).into();
        let medium = |place: i64| json!({"url": format!("https://img.example/{number}/{place}.jpg"), "type": "image", "alt": cell(5), "order": place});
        let arguments = json!({
            "vin": cell(0), "stock_number": cell(1), "condition": "used", "year": whole(3), "make": cell(4),
            "model": cell(5), "trim": cell(6), "body_style": cell(7), "doors": whole(8),
            "mileage": {"value": whole(9), "unit": "mi"}, "exterior_color": cell(10), "engine": cell(11),
            "transmission": cell(12), "drivetrain": cell(13), "fuel_type": cell(14),
            "price": {"amount": 2_000_000, "currency": "USD"}, "msrp": {"amount": 3_000_000, "currency": "USD"},
            "options": equipment, "media": [medium(0), medium(1)],
            "description": format!("{} {} {} {}. Inspected, one owner.", cell(3), cell(4), cell(5), cell(6)),
            "idempotency_key": format!("bench-{number}"), "dealership_id": caller.dealership,
        });
        let expected = vec![("\"type\":\"vehicle\"".to_owned(), 1)];
        Call::new("/mcp/automotive", "inventory.create", &arguments, expected, Era::Legacy, caller, number)
    }
}
