//! A server to be called: the binary on a folder of its own, trusted by its CA file and nothing else.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::Failure;

pub struct Desk {
    process: Child,
    folder: PathBuf,
    pub endpoint: String,
    token_endpoint: String,
    pub client: String,
    pub secret: String,
    pub dealership: String,
    /// The demo's website, which another client reads.
    pub site: Site,
    pub http: reqwest::Client,
}

pub struct Site {
    pub endpoint: String,
    pub client: String,
    pub secret: String,
}

impl Desk {
    pub fn open(binary: &str) -> Result<Desk, Failure> {
        let folder = std::env::temp_dir().join(format!("frontdesk-rmcp-{}", std::process::id()));
        std::fs::create_dir(&folder)?;
        let log = std::fs::File::create(folder.join("log"))?;
        let mut process = Command::new(binary)
            .args(["demo", "--json", "--listen", "127.0.0.1:0", "--data"])
            .arg(folder.join("data"))
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()?;
        let output = process.stdout.take().ok_or("the server has no output")?;
        let mut line = String::new();
        if BufReader::new(output).read_line(&mut line)? == 0 {
            return Err("the server did not start".into());
        }
        let banner: Value = serde_json::from_str(&line)?;
        let text = |place: &str| banner.pointer(place).and_then(Value::as_str).map(str::to_owned).ok_or(line.clone());
        let authority = reqwest::Certificate::from_pem(&std::fs::read(text("/ca_file")?)?)?;
        let http = reqwest::Client::builder().tls_certs_only([authority]).https_only(true).build()?;
        Ok(Desk {
            endpoint: text("/endpoint")?,
            token_endpoint: text("/token_endpoint")?,
            client: text("/clients/0/id")?,
            secret: text("/clients/0/secret")?,
            dealership: text("/clients/0/dealership_id")?,
            site: Site { endpoint: text("/site/endpoint")?, client: text("/site/id")?, secret: text("/site/secret")? },
            process,
            folder,
            http,
        })
    }

    pub async fn token(&self, scope: &str) -> Result<String, Failure> {
        let form = format!("grant_type=client_credentials&scope={}", scope.replace(':', "%3A").replace(' ', "+"));
        let request = self.http.post(&self.token_endpoint).basic_auth(&self.client, Some(&self.secret));
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(form);
        let answer: Value = serde_json::from_str(&request.send().await?.text().await?)?;
        Ok(answer["access_token"].as_str().ok_or_else(|| answer.to_string())?.to_owned())
    }

    /// Its exit code after SIGTERM.
    pub fn close(mut self) -> Result<Option<i32>, Failure> {
        Command::new("kill").arg(self.process.id().to_string()).status()?;
        let code = self.process.wait()?.code();
        std::fs::remove_dir_all(&self.folder)?;
        Ok(code)
    }
}

/// A client that stops early leaves no server behind.
impl Drop for Desk {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
