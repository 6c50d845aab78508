//! Servers as processes of their own, and what the system says they have used. A server is killed when its value is dropped.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::ClientConfig;

use crate::BenchResult;
use crate::call::Caller;
use crate::database::Storage;
use crate::load::{Session, client_config};
use crate::seed::Agent;

/// Linux counts processor time in hundredths of a second towards programs, whatever it counts inside.
const TICK_MICROS: u64 = 10_000;
const TIMEOUT: Duration = Duration::from_secs(60);

pub struct Server {
    child: Child,
    pub port: u16,
    pub storage: Storage,
    /// From the start of the process to its first answer.
    pub started_after: Duration,
    pub trust: Arc<ClientConfig>,
}

impl Server {
    /// Frontdesk on a folder with data, rate limits raised, its log written to a file.
    pub async fn frontdesk(binary: &Path, storage: Storage) -> BenchResult<Server> {
        let port = free_port()?;
        let data = &storage.folder;
        let child = Command::new(binary)
            .arg("serve")
            .env_clear()
            .envs(storage.variables())
            .env("FRONTDESK_DATA", data)
            .env("FRONTDESK_LISTEN", format!("127.0.0.1:{port}"))
            .env("FRONTDESK_OPERATOR_LISTEN", "127.0.0.1:0")
            .env("FRONTDESK_LIMITS_CALLS_PER_MINUTE", "10000000")
            .env("FRONTDESK_LIMITS_BURST", "1000000")
            .env("FRONTDESK_LIMITS_TOKEN_REQUESTS_PER_MINUTE", "100000")
            .env("FRONTDESK_TOKEN_LIFETIME_SECONDS", "3600")
            .stdout(Stdio::null())
            .stderr(File::create(data.join("log"))?)
            .spawn()?;
        Server::wait_until_ready(child, port, storage).await
    }

    pub async fn reference(storage: Storage) -> BenchResult<Server> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("reference")
            .args(storage.reference())
            .arg("--certificates")
            .arg(frontdesk::data_dir::tls_dir(&storage.folder))
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("the reference has no output")?).read_line(&mut line)?;
        Server::wait_until_ready(child, line.trim().parse()?, storage).await
    }

    async fn wait_until_ready(child: Child, port: u16, storage: Storage) -> BenchResult<Server> {
        let began = Instant::now();
        let ca_file = frontdesk::data_dir::tls_dir(&storage.folder).join("ca.pem");
        let mut server =
            Server { child, port, storage, started_after: Duration::ZERO, trust: client_config(&ca_file)? };
        while !server.answers().await {
            if let Some(status) = server.child.try_wait()? {
                return Err(format!(
                    "a server ended with {status}; see {}",
                    server.storage.folder.join("log").display()
                )
                .into());
            }
            if began.elapsed() > TIMEOUT {
                return Err("a server did not answer within a minute".into());
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        server.started_after = began.elapsed();
        Ok(server)
    }

    async fn answers(&self) -> bool {
        Session::open(&self.trust, self.caller(String::new())).await.is_ok()
    }

    fn caller(&self, token: String) -> Caller {
        Caller { dealership: String::new(), place: 0, vehicles: 0, token, port: self.port }
    }

    /// Gets a token for the agent, as any client would.
    pub async fn log_in(&self, agent: &Agent, scopes: &str) -> BenchResult<String> {
        let mut session = Session::open(&self.trust, self.caller(String::new())).await?;
        let basic = STANDARD.encode(format!("{}:{}", agent.client, agent.secret));
        let form = format!("grant_type=client_credentials&scope={}", scopes.replace(' ', "%20"));
        let request = format!(
            "POST /token HTTP/1.1\r\nhost: localhost:{}\r\nauthorization: Basic {basic}\r\n\
             content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{form}",
            self.port,
            form.len(),
        );
        let answer: serde_json::Value = serde_json::from_slice(session.exchange(request.as_bytes()).await?)?;
        let token = answer.get("access_token").and_then(|token| token.as_str());
        Ok(token.ok_or_else(|| format!("no token: {answer}"))?.to_owned())
    }

    /// User and system time of all its threads so far, in microseconds.
    pub fn cpu_micros(&self) -> BenchResult<u64> {
        cpu_of(&fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?)
    }

    pub fn resident_kib(&self) -> BenchResult<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        resident_of(&status)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The resident memory of a process in KiB.
pub fn resident_of(status: &str) -> BenchResult<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

/// The name in parentheses may hold spaces, so fields are counted from behind it.
pub fn cpu_of(stat: &str) -> BenchResult<u64> {
    let (_, fields) = stat.rsplit_once(") ").ok_or("not a stat line")?;
    let mut fields = fields.split(' ').skip(11);
    let mut next = || fields.next().ok_or("too few fields");
    let ticks = next()?.parse::<u64>()? + next()?.parse::<u64>()?;
    Ok(ticks * TICK_MICROS)
}

fn free_port() -> BenchResult<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_and_system_time_are_added() {
        let stat = "4242 (front desk) S 1 4242 4242 0 -1 4194560 900 0 0 0 150 25 0 0 20 0 7 0 1234 1 2";
        assert_eq!(cpu_of(stat).unwrap(), 1_750_000);
    }
}
