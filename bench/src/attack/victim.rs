//! The server that is attacked: a process on a new data folder with the demo's two dealerships, and what the system says it
//! has used. It is killed when its value is dropped.

use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use frontdesk_testkit::app::http_client::{HttpConnection, HttpResponse, trusting};
use rustls::ClientConfig;
use serde_json::Value;
use tokio::net::{TcpSocket, TcpStream};

use super::AttackOptions;
use crate::BenchResult;
use crate::process::{cpu_of, resident_of};

pub const PATH: &str = "/mcp/automotive";
/// No budget in the way, for attacks on something else.
pub const UNHURRIED: &[(&str, &str)] = &[
    ("FRONTDESK_LIMITS_CALLS_PER_MINUTE", "10000000"),
    ("FRONTDESK_LIMITS_BURST", "1000000"),
    ("FRONTDESK_TOKEN_LIFETIME_SECONDS", "3600"),
];

pub struct Victim {
    process: Child,
    folder: PathBuf,
    pub address: SocketAddr,
    pub tls: Arc<ClientConfig>,
    clients: Vec<Value>,
}

/// How callers reach it; a copy for every task.
#[derive(Clone)]
pub struct Route {
    pub address: SocketAddr,
    pub tls: Arc<ClientConfig>,
}

/// A client of one of the demo's dealerships.
#[derive(Clone)]
pub struct AttackClient {
    pub id: String,
    pub secret: String,
    pub dealership: String,
}

impl Victim {
    pub fn start(options: &AttackOptions, settings: &[(&str, &str)]) -> BenchResult<Victim> {
        let folder = options.work.join("victim");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        let mut process = Command::new(&options.frontdesk)
            .args(["demo", "--json", "--listen", "127.0.0.1:0", "--data"])
            .arg(folder.join("data"))
            .env_clear()
            .env("FRONTDESK_TOKEN_LIFETIME_SECONDS", "3600")
            .envs(settings.iter().copied())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(folder.join("log"))?)
            .spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        let banner: Value = serde_json::from_str(&line).map_err(|_| "the server did not start")?;
        let endpoint = banner["endpoint"].as_str().unwrap_or_default();
        let port = endpoint.strip_prefix("https://localhost:").and_then(|rest| rest.split('/').next());
        let address = format!("127.0.0.1:{}", port.ok_or("an endpoint without a port")?).parse()?;
        let ca_file = frontdesk::data_dir::tls_dir(&folder.join("data")).join("ca.pem");
        let tls = Arc::new(trusting(&ca_file, rustls::ALL_VERSIONS));
        let clients = banner["clients"].as_array().cloned().unwrap_or_default();
        Ok(Victim { process, folder, address, tls, clients })
    }

    pub fn route(&self) -> Route {
        Route { address: self.address, tls: Arc::clone(&self.tls) }
    }

    /// The client of the first or the second dealership.
    pub fn client(&self, place: usize) -> AttackClient {
        let text = |name: &str| {
            let client = self.clients.get(place);
            client.and_then(|client| client[name].as_str()).unwrap_or_default().to_owned()
        };
        AttackClient { id: text("id"), secret: text("secret"), dealership: text("dealership_id") }
    }

    pub async fn token(&self, place: usize) -> BenchResult<String> {
        let response = self.route().request_token(&self.client(place), None).await?;
        let token = response.json()["access_token"].as_str().map(str::to_owned);
        token.ok_or_else(|| format!("no token: {}", response.text()).into())
    }

    pub fn cpu_micros(&self) -> BenchResult<u64> {
        cpu_of(&fs::read_to_string(format!("/proc/{}/stat", self.process.id()))?)
    }

    pub fn resident_mib(&self) -> BenchResult<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        Ok(resident_of(&status)? / 1024)
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Route {
    pub async fn open(&self) -> io::Result<HttpConnection> {
        HttpConnection::open(self.address, Arc::clone(&self.tls), "localhost").await
    }

    /// A socket from 127.0.0.x.
    pub async fn socket_from(&self, last: u8) -> io::Result<TcpStream> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from(([127, 0, 0, last], 0)))?;
        let socket = socket.connect(self.address).await?;
        socket.set_nodelay(true)?;
        Ok(socket)
    }

    pub async fn open_from(&self, last: u8) -> io::Result<HttpConnection> {
        HttpConnection::over(self.socket_from(last).await?, Arc::clone(&self.tls), "localhost").await
    }

    /// With another secret than the client's, if one is given.
    pub async fn request_token(&self, client: &AttackClient, secret: Option<&str>) -> io::Result<HttpResponse> {
        let mut connection = self.open().await?;
        let secret = secret.unwrap_or(&client.secret);
        let (id, scope) = (&client.id, "amcp%3Ainventory%3Aread+amcp%3Aleads%3Aread");
        let form = format!("grant_type=client_credentials&client_id={id}&client_secret={secret}&scope={scope}");
        let head = format!(
            "POST /token HTTP/1.1\r\nhost: localhost:{}\r\ncontent-type: application/x-www-form-urlencoded\r\n\
             content-length: {}\r\n\r\n{form}",
            self.address.port(),
            form.len()
        );
        connection.send(head.as_bytes()).await?;
        connection.receive().await
    }
}

/// The head of a message of so many bytes.
pub fn head(token: &str, length: usize) -> String {
    format!(
        "POST {PATH} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    )
}

/// A whole message.
pub fn message(token: &str, body: &str) -> Vec<u8> {
    (head(token, body.len()) + body).into_bytes()
}

/// Lets this process, and the servers that it starts, have so many sockets.
pub fn allow_files(most: usize) -> BenchResult<()> {
    let (process, limit) = (std::process::id().to_string(), format!("--nofile={most}:"));
    let set = Command::new("prlimit").args(["--pid", &process, &limit]).status()?;
    if set.success() { Ok(()) } else { Err(format!("{most} open files are needed; raise `ulimit -Hn`").into()) }
}
