//! What `frontdesk demo` prints: the endpoints, the clients, and commands to paste.

use std::io::{self, Write as _};
use std::path::PathBuf;

use frontdesk_contracts::demo::ExampleCall;
use frontdesk_identity::PlaintextSecret;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::connect::{self, CLIENTS, Installation, LoginKind, NetworkReach, StdioArguments, shell_quoted};

/// Shell variables: each token has its own, so that all commands can be pasted at once and repeated in any order.
const TOKEN: &str = "TOKEN";
const SITE_TOKEN: &str = "SITE_TOKEN";

pub(super) struct DemoBanner {
    pub(super) endpoint: String,
    pub(super) public_url: String,
    pub(super) operator_endpoint: String,
    /// The CA that callers must trust; none for a publicly trusted certificate.
    pub(super) ca_file: Option<PathBuf>,
    pub(super) data: PathBuf,
    pub(super) clients: Vec<BannerClient>,
    /// What the contract calls a tenant's id.
    pub(super) tenant_key: &'static str,
    pub(super) scopes: String,
    pub(super) example: ExampleCall,
    pub(super) site: Option<SiteBanner>,
    pub(super) mounts: Vec<MountBanner>,
    pub(super) reused: bool,
}

/// What is served where, for scripts.
#[derive(Serialize)]
pub(super) struct MountBanner {
    pub(super) contract: &'static str,
    pub(super) endpoint: String,
    /// Where its routes begin; none for a contract without any.
    pub(super) rest: Option<String>,
    pub(super) scopes: Vec<String>,
    #[serde(flatten)]
    pub(super) partner: Option<PartnerBanner>,
}

/// With what a partner's mount is called.
#[derive(Serialize)]
pub(super) struct PartnerBanner {
    pub(super) intent: &'static str,
    pub(super) partner_id: String,
    pub(super) sandbox_bearer: String,
    pub(super) live_bearer: String,
}

/// The demo website, which has its own client and endpoint.
pub(super) struct SiteBanner {
    pub(super) endpoint: String,
    pub(super) client: BannerClient,
    pub(super) scopes: String,
    pub(super) example: ExampleCall,
}

pub(super) struct BannerClient {
    pub(super) id: String,
    /// Known only when it is created.
    pub(super) secret: Option<PlaintextSecret>,
    pub(super) tenant: String,
    pub(super) business: String,
}

impl DemoBanner {
    pub(super) fn print(&self, as_json: bool) -> io::Result<()> {
        let text = if as_json { self.json().to_string() } else { self.text() };
        writeln!(io::stdout().lock(), "{text}")
    }

    fn json(&self) -> Value {
        let clients: Vec<Value> = self
            .clients
            .iter()
            .map(|client| {
                let mut entry = Map::new();
                entry.insert("id".to_owned(), json!(client.id));
                entry.insert("secret".to_owned(), json!(client.secret.as_ref().map(PlaintextSecret::expose)));
                entry.insert(self.tenant_key.to_owned(), json!(client.tenant));
                Value::Object(entry)
            })
            .collect();
        let site = self.site.as_ref().map(|site| {
            json!({
                "endpoint": site.endpoint,
                "id": site.client.id,
                "secret": site.client.secret.as_ref().map(PlaintextSecret::expose),
                "tenant": site.client.tenant,
            })
        });
        json!({
            "endpoint": self.endpoint,
            "token_endpoint": format!("{}/token", self.public_url),
            "operator_endpoint": self.operator_endpoint,
            "ca_file": self.ca_file,
            "data": self.data,
            "reused": self.reused,
            "clients": clients,
            "site": site,
            "mounts": self.mounts,
        })
    }

    fn text(&self) -> String {
        let endpoint = &self.endpoint;
        let trust = match &self.ca_file {
            Some(file) => format!("--cacert {} ", shell_quoted(&file.display().to_string())),
            None => String::new(),
        };
        let data = shell_quoted(&self.data.display().to_string());
        let mut lines = vec![
            String::new(),
            format!("  Frontdesk {} is running.", env!("CARGO_PKG_VERSION")),
            if self.reused {
                format!("  The existing data in {} is used.", self.data.display())
            } else {
                format!("  Demo data was created in {}.", self.data.display())
            },
            String::new(),
            format!("  endpoint   {endpoint}"),
            format!("  page       {}/", self.public_url),
            format!("  operator   {}/healthz", self.operator_endpoint),
        ];
        lines.extend(self.site.iter().map(|site| format!("  website    {}", site.endpoint)));
        lines.extend(self.ca_file.iter().map(|file| format!("  CA file    {}", file.display())));
        lines.push(String::new());
        for client in self.clients.iter().chain(self.site.iter().map(|site| &site.client)) {
            lines.push(format!("  {} ({})", client.business, client.tenant));
            lines.push(format!("    client   {}", client.id));
            lines.push(match &client.secret {
                Some(secret) => format!("    secret   {}   (shown once, stored as a hash)", secret.expose()),
                None => format!(
                    "    secret   shown at the first start; start with --new-secrets, or for a new one: frontdesk client rotate {} --data {data}",
                    client.id
                ),
            });
        }
        lines.extend(self.partner_lines());
        lines.extend(self.connect_lines());
        if let Some(client) = self.clients.first() {
            lines.extend([String::new(), "  Paste these one after the other:".to_owned(), String::new()]);
            lines.extend(self.token(TOKEN, &trust, client, endpoint, &self.scopes));
            lines.extend(call(TOKEN, &trust, endpoint, &first_call(1, self.example)));
            lines.extend(call(TOKEN, &trust, endpoint, r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#));
            if let Some(site) = &self.site {
                lines.extend(self.token(SITE_TOKEN, &trust, &site.client, &site.endpoint, &site.scopes));
                lines.extend(call(SITE_TOKEN, &trust, &site.endpoint, &first_call(3, site.example)));
            }
            lines.extend(["  Ctrl-C stops the server.".to_owned(), String::new()]);
        }
        lines.join("\n")
    }

    /// The shortest way to connect, and where the others are.
    fn connect_lines(&self) -> Vec<String> {
        let Some(client) = CLIENTS.iter().find(|client| client.login == LoginKind::Browser) else { return Vec::new() };
        let data = self.data.display().to_string();
        let installation = Installation {
            name: Installation::name_of(None),
            url: self.endpoint.clone(),
            public_url: self.public_url.clone(),
            ca_file: self.ca_file.as_ref().map(|file| file.display().to_string()),
            client_id: String::new(),
            scopes: Vec::new(),
            program: "frontdesk".to_owned(),
            stdio: StdioArguments { flag: "--data", path: data.clone(), contract: None },
            reach: NetworkReach::Local,
        };
        let others: Vec<&str> =
            CLIENTS.iter().filter(|other| other.name != client.name).map(|other| other.name).collect();
        let mut lines = vec![String::new(), format!("  {}:", client.title), String::new()];
        lines.extend(connect::paste(client, &installation).lines().map(str::to_owned));
        lines.extend([
            String::new(),
            "  Any other client: give it the endpoint, or see what to paste into it:".to_owned(),
            format!("  frontdesk connect CLIENT --data {}", shell_quoted(&data)),
            format!("  CLIENT is {}.", others.join(", ")),
        ]);
        lines
    }

    /// The mounts that are called with bearer tokens of their own.
    fn partner_lines(&self) -> Vec<String> {
        let mut mounts = self.mounts.iter().filter_map(|mount| Some((mount, mount.partner.as_ref()?))).peekable();
        let Some((mount, first)) = mounts.peek() else { return Vec::new() };
        let mut lines = vec![
            format!("  Partner {} ({}), by bearer token instead of a client", first.partner_id, mount.contract),
            format!("    sandbox  {}", first.sandbox_bearer),
            format!("    live     {}", first.live_bearer),
        ];
        lines.extend(mounts.map(|(mount, _)| format!("    endpoint {}", mount.endpoint)));
        lines
    }

    fn token(&self, name: &str, trust: &str, client: &BannerClient, endpoint: &str, scopes: &str) -> [String; 4] {
        let secret = client.secret.as_ref().map_or("YOUR_SECRET", PlaintextSecret::expose);
        [
            format!("{name}=$(curl -s {trust}-u {}:{secret} -d resource={endpoint} \\", client.id),
            format!("  -d grant_type=client_credentials -d {} \\", shell_quoted(&format!("scope={scopes}"))),
            format!(
                "  {}/token | sed -n 's/.*\"access_token\":\"\\([^\"]*\\)\".*/\\1/p'); [ \"${name}\" ] || echo no token: check the client id and secret",
                self.public_url
            ),
            String::new(),
        ]
    }
}

/// An answer has no line break at its end, so one is printed after it.
fn call(token: &str, trust: &str, endpoint: &str, message: &str) -> [String; 4] {
    [
        format!("curl -s {trust}-H \"Authorization: Bearer ${token}\" -H 'Content-Type: application/json' \\"),
        format!("  -d '{message}' \\"),
        format!("  {endpoint}; echo"),
        String::new(),
    ]
}

fn first_call(id: u8, ExampleCall { tool, arguments }: ExampleCall) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    )
}
