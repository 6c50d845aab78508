//! The main table: each call in each era at each concurrency, Frontdesk and the reference in turns, so that whatever
//! else the machine does meanwhile affects both.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::call::{Caller, Era, Kind, RestCall};
use crate::database::Database;
use crate::load::{CallSource, Latencies, Session, run_sessions};
use crate::process::Server;
use crate::seed::{Scale, Seeded, seeded};
use crate::statement_log::check_same_statements;
use crate::{BenchResult, Options, report};

const SCALE: Scale = Scale { vehicles: 100_000, dealerships: 10 };
pub const CONCURRENCIES: &[usize] = &[1, 16, 64];
const SCOPES: &str = "amcp:inventory:read amcp:leads:read amcp:leads:write";
pub const WARM_UP: Duration = Duration::from_millis(300);
const SLICE: Duration = Duration::from_millis(400);
/// Each server answers so many of each read before anything is measured.
pub const RUN_IN_CALLS: u64 = 1_000;
const RUN_IN_CONNECTIONS: usize = 16;
/// Each server gets so many slices, in turns.
const TURNS: usize = 8;
/// Work that a call leaves for later belongs to its cost: reads are recorded within 100 ms.
const SETTLE_TIME: Duration = Duration::from_millis(150);

/// One server under one load.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Figures {
    pub calls: u64,
    pub cpu_micros_per_call: f64,
    /// Of the database's own processes, where it has any.
    pub database_micros_per_call: Option<f64>,
    pub calls_per_second: f64,
    pub p50_micros: u32,
    pub p99_micros: u32,
    pub resident_mib: f64,
}

#[derive(Debug, Clone, Serialize)]
pub struct Row {
    pub database: &'static str,
    pub call: &'static str,
    pub era: &'static str,
    pub concurrency: usize,
    pub frontdesk: Figures,
    pub reference: Figures,
    /// Frontdesk's processor time for a call, divided by the reference's.
    pub cpu_ratio: f64,
}

pub async fn calls(options: &Options, database: Database) -> BenchResult<Vec<Row>> {
    let kinds: Vec<Kind> =
        [Kind::Get, Kind::Search, Kind::Create].into_iter().filter(|kind| options.includes(kind.name())).collect();
    let mut rows = Vec::new();
    if kinds.is_empty() {
        return Ok(rows);
    }
    let pair = Pair::start(options, database, SCALE).await?;
    for kind in kinds {
        for era in [Era::Legacy, Era::Modern] {
            for concurrency in CONCURRENCIES {
                options.log(&format!("{} {} {} at {concurrency}", database.name(), kind.name(), era.name()));
                let row = pair.compare(kind, era, *concurrency).await?;
                options.log(&report::line(&row));
                rows.push(row);
            }
        }
        if matches!(kind, Kind::Get | Kind::Search) {
            for concurrency in CONCURRENCIES {
                options.log(&format!("{} {} rest at {concurrency}", database.name(), kind.name()));
                let row = pair.compare_rest(kind, *concurrency).await?;
                options.log(&report::line(&row));
                rows.push(row);
            }
        }
    }
    Ok(rows)
}

/// Both servers on data of one size, each on a copy of its own.
pub struct Pair {
    database: Database,
    frontdesk: Server,
    reference: Server,
    callers: Vec<Caller>,
}

impl Pair {
    pub async fn start(options: &Options, database: Database, scale: Scale) -> BenchResult<Pair> {
        let Seeded { folder, agents } = seeded(options, database, scale).await?;
        let (desk, bare) = database.copies(&folder, options)?;
        let frontdesk = Server::frontdesk(&options.frontdesk, desk).await?;
        let reference = Server::reference(bare).await?;
        let mut callers = Vec::new();
        for agent in &agents {
            callers.push(Caller {
                dealership: agent.dealership.clone(),
                place: agent.place,
                vehicles: scale.each(),
                token: frontdesk.log_in(agent, SCOPES).await?,
                port: frontdesk.port,
            });
        }
        if let (Some(server), Some(caller)) = (frontdesk.storage.server(), callers.first()) {
            check_same_statements(server, &frontdesk, &reference, caller).await?;
        }
        let pair = Pair { database, frontdesk, reference, callers };
        pair.run_in().await?;
        Ok(pair)
    }

    /// The first calls of a process pay for connections, plans and memory that later ones find. They are not what is
    /// measured, however few of them a busy machine lets through in a slice.
    async fn run_in(&self) -> BenchResult<()> {
        for kind in [Kind::Get, Kind::SearchStatus] {
            for server in [&self.frontdesk, &self.reference] {
                let mut side = LoadedServer::open(server, &self.callers, RUN_IN_CONNECTIONS).await?;
                while side.answered < RUN_IN_CALLS {
                    side.run_slice((kind, Era::Legacy), WARM_UP).await?;
                }
            }
        }
        Ok(())
    }

    pub async fn compare(&self, kind: Kind, era: Era, concurrency: usize) -> BenchResult<Row> {
        let callers = match kind {
            Kind::CreateInOne => self.callers.get(..1).unwrap_or_default(),
            Kind::Get | Kind::Search | Kind::SearchStatus | Kind::Create => self.callers.as_slice(),
        };
        let mut desk = LoadedServer::open(&self.frontdesk, callers, concurrency).await?;
        let mut bare = LoadedServer::open(&self.reference, callers, concurrency).await?;
        let before = (self.leads(kind, &self.frontdesk)?, self.leads(kind, &self.reference)?);
        measure_in_turns(&mut desk, &mut bare, (kind, era), (kind, era)).await?;
        if matches!(kind, Kind::Create | Kind::CreateInOne) {
            check_count(before.0, self.leads(kind, &self.frontdesk)?, desk.answered)?;
            check_count(before.1, self.leads(kind, &self.reference)?, bare.answered)?;
        }
        row((self.database.name(), kind.name(), era), concurrency, desk, bare)
    }

    /// Frontdesk at a route beside the reference's message.
    async fn compare_rest(&self, kind: Kind, concurrency: usize) -> BenchResult<Row> {
        let mut desk = LoadedServer::open(&self.frontdesk, &self.callers, concurrency).await?;
        let mut bare = LoadedServer::open(&self.reference, &self.callers, concurrency).await?;
        measure_in_turns(&mut desk, &mut bare, RestCall(kind), (kind, Era::Legacy)).await?;
        Ok(Row { era: "rest", ..row((self.database.name(), kind.name(), Era::Legacy), concurrency, desk, bare)? })
    }

    fn leads(&self, kind: Kind, server: &Server) -> BenchResult<u64> {
        match kind {
            Kind::Create | Kind::CreateInOne => server.storage.leads(),
            Kind::Get | Kind::Search | Kind::SearchStatus => Ok(0),
        }
    }
}

/// Measures both servers in turns, after a warm-up that is not counted.
pub async fn measure_in_turns(
    desk: &mut LoadedServer<'_>,
    bare: &mut LoadedServer<'_>,
    source: impl CallSource,
    bare_source: impl CallSource,
) -> BenchResult<()> {
    desk.warm_up(source, WARM_UP).await?;
    bare.warm_up(bare_source, WARM_UP).await?;
    for _ in 0..TURNS {
        desk.run_slice(source, SLICE).await?;
        bare.run_slice(bare_source, SLICE).await?;
    }
    Ok(())
}

/// What was measured, under the names of the database, the call and the era.
pub fn row(
    (database, call, era): (&'static str, &'static str, Era),
    concurrency: usize,
    desk: LoadedServer<'_>,
    bare: LoadedServer<'_>,
) -> BenchResult<Row> {
    let (frontdesk, reference) = (desk.figures()?, bare.figures()?);
    let cpu_ratio = frontdesk.cpu_micros_per_call / reference.cpu_micros_per_call;
    Ok(Row { database, call, era: era.name(), concurrency, frontdesk, reference, cpu_ratio })
}

/// There must be as many new rows as creates were answered.
pub fn check_count(before: u64, after: u64, answered: u64) -> BenchResult<()> {
    if after == before + answered {
        return Ok(());
    }
    Err(format!("{answered} creates were answered, but {} rows are new", after - before).into())
}

/// One server with its sessions, and what was measured of it so far.
pub struct LoadedServer<'a> {
    server: &'a Server,
    sessions: Vec<Session>,
    latencies: Latencies,
    cpu: u64,
    database: Option<u64>,
    time: Duration,
    /// All calls that were answered, the warm-up's too.
    pub answered: u64,
}

impl<'a> LoadedServer<'a> {
    pub async fn open(server: &'a Server, callers: &[Caller], concurrency: usize) -> BenchResult<LoadedServer<'a>> {
        let mut sessions = Vec::new();
        for caller in callers.iter().cycle().take(concurrency) {
            let caller = Caller { port: server.port, ..caller.clone() };
            sessions.push(Session::open(&server.trust, caller).await?);
        }
        Ok(LoadedServer {
            server,
            sessions,
            latencies: Latencies::default(),
            cpu: 0,
            database: None,
            time: Duration::ZERO,
            answered: 0,
        })
    }

    pub async fn run_slice(&mut self, source: impl CallSource, during: Duration) -> BenchResult<()> {
        let calls = self.latencies.micros.len();
        let database = self.server.storage.backend_micros()?;
        let cpu = self.server.cpu_micros()?;
        let began = Instant::now();
        let sessions = std::mem::take(&mut self.sessions);
        self.sessions = run_sessions(sessions, source, during, &mut self.latencies).await?;
        self.time += began.elapsed();
        tokio::time::sleep(SETTLE_TIME).await;
        self.cpu += self.server.cpu_micros()? - cpu;
        if let (Some(before), Some(after)) = (database, self.server.storage.backend_micros()?) {
            *self.database.get_or_insert(0) += after.saturating_sub(before);
        }
        self.answered += (self.latencies.micros.len() - calls) as u64;
        Ok(())
    }

    /// Calls that are not measured.
    pub async fn warm_up(&mut self, source: impl CallSource, during: Duration) -> BenchResult<()> {
        self.run_slice(source, during).await?;
        self.reset();
        Ok(())
    }

    fn reset(&mut self) {
        (self.latencies, self.cpu, self.database, self.time) = (Latencies::default(), 0, None, Duration::ZERO);
    }

    pub fn figures(mut self) -> BenchResult<Figures> {
        self.latencies.micros.sort_unstable();
        let calls = self.latencies.micros.len();
        let at = |share: f64| {
            let place = (calls as f64 * share) as usize;
            self.latencies.micros.get(place.min(calls.saturating_sub(1))).copied().unwrap_or_default()
        };
        Ok(Figures {
            calls: calls as u64,
            cpu_micros_per_call: self.cpu as f64 / calls.max(1) as f64,
            database_micros_per_call: self.database.map(|micros| micros as f64 / calls.max(1) as f64),
            calls_per_second: calls as f64 / self.time.as_secs_f64(),
            p50_micros: at(0.50),
            p99_micros: at(0.99),
            resident_mib: self.server.resident_kib()? as f64 / 1024.0,
        })
    }
}
