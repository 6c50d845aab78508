//! How long the demo takes to start and how much memory it needs: the first time, and started again.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde::Serialize;

use crate::call::Caller;
use crate::database::{Database, Storage};
use crate::load::{Session, client_config};
use crate::{BenchResult, Options};

/// The median of so many starts is reported.
const TIMES: usize = 7;

#[derive(Debug, Clone, Serialize)]
pub struct Start {
    pub database: &'static str,
    pub what: &'static str,
    /// From the start of the process to a finished TLS handshake with it.
    pub millis: f64,
    pub resident_mib: f64,
}

pub async fn measure(options: &Options, database: Database) -> BenchResult<Vec<Start>> {
    let mut first = Vec::new();
    let mut again = Vec::new();
    let storage = database.empty(&options.work.join("demo"));
    for _ in 0..TIMES {
        storage.clear()?;
        first.push(demo(options, database, &storage, "demo, first start").await?);
        again.push(demo(options, database, &storage, "demo, started again").await?);
    }
    Ok([first, again].into_iter().filter_map(middle).collect())
}

fn middle(mut starts: Vec<Start>) -> Option<Start> {
    starts.sort_by(|one, other| one.millis.total_cmp(&other.millis));
    starts.into_iter().nth(TIMES / 2)
}

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn demo(options: &Options, database: Database, storage: &Storage, what: &'static str) -> BenchResult<Start> {
    let data = &storage.folder;
    let began = Instant::now();
    let mut process = Running(
        Command::new(&options.frontdesk)
            .args(["demo", "--json", "--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .env_clear()
            .envs(storage.url().map(|url| ("FRONTDESK_DATABASE", url)))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?,
    );
    let mut line = String::new();
    BufReader::new(process.0.stdout.take().ok_or("the demo has no output")?).read_line(&mut line)?;
    let banner: serde_json::Value = serde_json::from_str(&line)?;
    let endpoint = banner.get("endpoint").and_then(|endpoint| endpoint.as_str()).ok_or("no endpoint")?;
    let port = endpoint.split(':').nth(2).and_then(|rest| rest.split('/').next()).ok_or("no port")?.parse()?;
    let trust = client_config(&frontdesk::data_dir::tls_dir(data).join("ca.pem"))?;
    let caller = Caller { dealership: String::new(), place: 0, vehicles: 0, token: String::new(), port };
    Session::open(&trust, caller).await?;
    let millis = began.elapsed().as_secs_f64() * 1000.0;
    let status = fs::read_to_string(format!("/proc/{}/status", process.0.id()))?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    let kib: f64 = resident.trim().trim_end_matches(" kB").parse()?;
    Ok(Start { database: database.name(), what, millis, resident_mib: kib / 1024.0 })
}
