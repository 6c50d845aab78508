//! The search form on the page of `frontdesk demo`: a plain GET that is answered with a table. It is a caller like every
//! other, with a client of its own that may read public data of one business; its calls are limited, recorded and checked
//! as theirs are. There is none unless a demo has set one up.

use std::net::IpAddr;
use std::sync::Arc;

use frontdesk_contracts::demo::{ColumnFormat, DemoColumn, DemoForm};
use frontdesk_engine::limits::ip_prefix::ip_prefix;
use frontdesk_engine::limits::rate::Budget;
use frontdesk_engine::model::incoming::{Credential, Incoming, Listening, RequestBody, Verb};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::trace::Trace;
use frontdesk_engine::{Reply, TenantId, serve};
use frontdesk_identity::{new_client, new_secret};
use serde_json::{Map, Value, json};
use tokio::sync::Mutex;
use url::form_urlencoded;

use super::page::{STYLE, escape, guarded_html};
use crate::admin::client_record;
use crate::app::App;
use crate::net::Peer;
use crate::stdio::request_token;

pub(crate) const PATH: &str = "/demo/search";
const PAGE: &str = include_str!("demo_search.html");
/// The name of its client.
const CLIENT: &str = "Demo page";
/// Somebody who tries the form, not a program that reads the stock.
const PER_ADDRESS: Budget = Budget { per_minute: 30, burst: 10 };
/// Of a field; longer ones are cut off.
const MAX_LETTERS: usize = 100;

/// The form, and the token of its caller once somebody has searched.
pub struct DemoSearch {
    form: DemoForm,
    /// The path of the mount.
    endpoint: String,
    caller: Mutex<Option<DemoCaller>>,
}

struct DemoCaller {
    id: String,
    secret: String,
    token: String,
    renew_at: Millis,
}

impl DemoSearch {
    pub fn new(form: DemoForm, endpoint: String) -> DemoSearch {
        DemoSearch { form, endpoint, caller: Mutex::new(None) }
    }

    /// The form for the front page.
    pub(super) fn form_html(&self) -> String {
        self.form_with(&Map::new())
    }

    fn form_with(&self, given: &Map<String, Value>) -> String {
        let fields = self.form.fields.iter().map(|field| {
            let value = given.get(field.argument).and_then(Value::as_str).unwrap_or_default();
            format!(
                "<label>{} <input name=\"{}\" value=\"{}\" placeholder=\"{}\" maxlength=\"{MAX_LETTERS}\"></label>\n",
                escape(field.label),
                escape(field.argument),
                escape(value),
                escape(field.example)
            )
        });
        format!(
            "<form action=\"{PATH}\" method=\"get\">\n{}<button>Search</button>\n</form>",
            fields.collect::<Vec<_>>().concat()
        )
    }

    /// The page with what was found.
    pub(super) async fn answer(&self, app: &App, query: Option<&str>, peer: &Peer, trace: &Trace) -> Reply {
        let given = self.arguments(query);
        let prefix = ip_prefix(peer.address).to_string();
        let taken = app.desk.rates.take(&["demo search", &prefix], PER_ADDRESS, app.desk.monotonic());
        let (status, result) = match taken {
            Err(seconds) => (429, sentence(&format!("Too many searches; try again in {seconds} seconds."))),
            Ok(()) => match self.search(app, &given, peer.address, trace).await {
                Ok(items) if items.is_empty() => (200, sentence("Nothing was found.")),
                Ok(items) => (200, table(self.form.columns, &items)),
                Err(why) => (503, sentence(&why)),
            },
        };
        let page = PAGE
            .replace("{style}", STYLE)
            .replace("{business}", &escape(self.form.business.name))
            .replace("{tool}", &escape(self.form.tool))
            .replace("{form}", &self.form_with(&given))
            .replace("{result}", &result);
        guarded_html(status, page)
    }

    /// What was typed into the fields; everything else of the query is ignored.
    fn arguments(&self, query: Option<&str>) -> Map<String, Value> {
        let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        pairs
            .filter(|(name, value)| {
                self.form.fields.iter().any(|field| field.argument == name) && !value.trim().is_empty()
            })
            .map(|(name, value)| {
                let text: String = value.trim().chars().take(MAX_LETTERS).collect();
                (name.into_owned(), Value::String(text))
            })
            .collect()
    }

    async fn search(
        &self,
        app: &App,
        given: &Map<String, Value>,
        address: IpAddr,
        trace: &Trace,
    ) -> Result<Vec<Value>, String> {
        let mount = app.mounts.find(&self.endpoint).ok_or("The demo's contract is not mounted.")?;
        let mut arguments: Map<String, Value> = serde_json::from_str(self.form.arguments).unwrap_or_default();
        arguments.extend(given.clone());
        let params = json!({"name": self.form.tool, "arguments": arguments});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let incoming = Incoming {
            verb: Verb::Post,
            credential: Credential::Bearer(self.token(app).await?),
            protocol_version: None,
            method_header: None,
            route: None,
            name_header: None,
            idempotency_key: None,
            listening: Listening::No,
            import_id: None,
            transport_fault: None,
            address,
            trace: trace.clone(),
            body: RequestBody::from_bytes(message.to_string().into_bytes()),
        };
        let reply = serve(&app.desk, mount, incoming).await;
        let body: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        match body.pointer("/result/structuredContent/items") {
            Some(Value::Array(items)) => Ok(items.clone()),
            Some(_) | None => Err("The search failed; try again in a minute.".to_owned()),
        }
    }

    /// The token of the caller. The first search makes its client, or gives it a new secret: the old one is not stored.
    async fn token(&self, app: &App) -> Result<String, String> {
        let mut caller = self.caller.lock().await;
        let now = app.desk.now();
        let (id, secret) = match &*caller {
            Some(caller) if now < caller.renew_at => return Ok(caller.token.clone()),
            Some(caller) => (caller.id.clone(), caller.secret.clone()),
            None => self.client(app).await?,
        };
        let granted = match request_token(app, &self.endpoint, &id, &secret).await {
            Ok(granted) => granted,
            Err(_) => {
                // Somebody may have revoked the client; the next search makes another one.
                *caller = None;
                return Err("The search is not possible right now; try again in a minute.".to_owned());
            }
        };
        let renew_at = now.plus_seconds(granted.expires_in / 2);
        let token = granted.access_token;
        *caller = Some(DemoCaller { id, secret, token: token.clone(), renew_at });
        Ok(token)
    }

    async fn client(&self, app: &App) -> Result<(String, String), String> {
        let failed = |_| "The search is not possible right now; try again in a minute.".to_owned();
        let store = &app.backend.store;
        let known = store.clients().await.map_err(failed)?;
        let random: &Arc<_> = &app.backend.random;
        if let Some(client) = known.iter().find(|client| client.name == CLIENT && client.revoked_at.is_none()) {
            let (secret, hash) = new_secret(random.as_ref());
            let record = client_record(app.desk.now(), "client.rotate", &client.id);
            store.rotate_client(&client.id, hash, record).await.map_err(failed)?;
            return Ok((client.id.as_str().to_owned(), secret.expose().to_owned()));
        }
        let tenant = TenantId::parse(self.form.business.id).ok_or("The demo has no such business.")?;
        let clock = app.backend.clock.as_ref();
        let (client, secret) =
            new_client(CLIENT.to_owned(), vec![tenant], self.form.scopes.clone(), clock, random.as_ref());
        let id = client.id.as_str().to_owned();
        let record = client_record(client.created_at, "client.add", &client.id);
        store.add_client(client, record).await.map_err(failed)?;
        Ok((id, secret.expose().to_owned()))
    }
}

fn sentence(text: &str) -> String {
    format!("<p>{}</p>", escape(text))
}

fn table(columns: &[DemoColumn], items: &[Value]) -> String {
    let head: Vec<String> = columns.iter().map(|column| format!("<th>{}</th>", escape(column.label))).collect();
    let rows = items.iter().map(|item| {
        let cells = columns.iter().map(|column| format!("<td>{}</td>", escape(&cell(column, item))));
        format!("<tr>{}</tr>\n", cells.collect::<Vec<_>>().concat())
    });
    format!(
        "<table><thead><tr>{}</tr></thead>\n<tbody>{}</tbody></table>",
        head.concat(),
        rows.collect::<Vec<_>>().concat()
    )
}

fn cell(column: &DemoColumn, item: &Value) -> String {
    let words = column.fields.iter().filter_map(|field| item.get(field)).map(|value| match column.format {
        ColumnFormat::Text => plain(value),
        ColumnFormat::Money => money(value),
        ColumnFormat::Measure => {
            [value.get("value"), value.get("unit")].into_iter().flatten().map(plain).collect::<Vec<_>>().join(" ")
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The demo's currencies have two decimals.
fn money(value: &Value) -> String {
    let amount = value.get("amount").and_then(Value::as_i64).unwrap_or_default();
    let currency = value.get("currency").and_then(Value::as_str).unwrap_or_default();
    format!("{}.{:02} {currency}", amount / 100, amount % 100)
}
