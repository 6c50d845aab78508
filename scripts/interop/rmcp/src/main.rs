//! The server and rmcp, the official Rust client, over TLS and in both eras of the protocol. It is a package of its own,
//! outside the product's workspace, and must never become a dependency of it.
//!
//!     rmcp-client target/debug/frontdesk

mod checks;
mod desk;

use std::error::Error;
use std::process::ExitCode;

use rmcp::model::{CallToolRequestParams, CallToolResult, ErrorData, ProtocolVersion, ReadResourceRequestParams};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService, ServiceError,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::auth::{AuthClient, ClientCredentialsConfig, OAuthState};
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError};
use serde_json::{Value, json};

use checks::Checks;
use desk::Desk;

type Failure = Box<dyn Error + Send + Sync>;
type Session = RunningService<RoleClient, ()>;

const STOCK: &str = "amcp:inventory:read";
const EVERYTHING: [&str; 11] = [
    STOCK,
    "amcp:consent:read",
    "amcp:consent:write",
    "amcp:deals:read",
    "amcp:deals:write",
    "amcp:inventory:write",
    "amcp:leads:read",
    "amcp:leads:write",
    "amcp:service:read",
    "amcp:service:write",
    "amcp:signals:read",
];
const STOCK_TOOLS: [&str; 3] = ["inventory.get", "inventory.list", "inventory.search"];
const TOOLS: [&str; 53] = [
    "consent.check",
    "consent.create",
    "consent.get",
    "consent.list",
    "consent.update",
    "customers.create",
    "customers.get",
    "customers.list",
    "customers.search",
    "customers.update",
    "deals.cancel_deal",
    "deals.create",
    "deals.get",
    "deals.get_fee",
    "deals.get_trade_value",
    "deals.list",
    "deals.list_fees",
    "deals.list_trade_values",
    "deals.request_quote",
    "deals.request_trade_value",
    "deals.update",
    "inventory.create",
    "inventory.get",
    "inventory.list",
    "inventory.search",
    "inventory.update",
    "leads.create",
    "leads.get",
    "leads.list",
    "leads.search",
    "leads.update",
    "service.book_appointment",
    "service.cancel_appointment",
    "service.check_availability",
    "service.create_repair_order",
    "service.get_advisor",
    "service.get_appointment",
    "service.get_repair_order",
    "service.get_service_code",
    "service.get_workshop",
    "service.list_advisors",
    "service.list_appointments",
    "service.list_repair_orders",
    "service.list_service_codes",
    "service.list_workshops",
    "service.update_appointment",
    "service.update_repair_order",
    "signals.get",
    "signals.list",
    "x_frontdesk.get_import",
    "x_frontdesk.import_adf",
    "x_frontdesk.import_items",
    "x_frontdesk.list_imports",
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Failure> {
    let Some(binary) = std::env::args().nth(1) else {
        eprintln!("usage: rmcp-client BINARY");
        return Ok(ExitCode::from(2));
    };
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        return Err("a cryptographic provider was installed already".into());
    }
    let mut checks = Checks::default();
    let desk = Desk::open(&binary)?;
    for era in [ProtocolVersion::V_2026_07_28, ProtocolVersion::V_2025_11_25] {
        if let Err(error) = calls_succeed(&mut checks, &desk, &era).await {
            checks.fail(&format!("{era}: the calls ran to their end"), &error);
        }
        if let Err(error) = refusals(&mut checks, &desk, &era).await {
            checks.fail(&format!("{era}: the refusals ran to their end"), &error);
        }
        if let Err(error) = site(&mut checks, &desk, &era).await {
            checks.fail(&format!("{era}: the site was read to its end"), &error);
        }
    }
    let ended = desk.close()?;
    checks.equal("the server exits with 0", ended, Some(0));
    Ok(checks.exit_code())
}

async fn calls_succeed(checks: &mut Checks, desk: &Desk, era: &ProtocolVersion) -> Result<(), Failure> {
    let label = |name: &str| format!("{era}: {name}");
    let session = log_in(desk, &ours(desk, &desk.secret), era).await?;
    let info = session.peer_info().ok_or("nothing is known of the server")?;
    checks.equal(&label("it logs in by itself and agrees on the version"), &info.protocol_version, era);
    let name = info.server_info.as_ref().map(|server| server.name.as_str());
    checks.equal(&label("the server says its name"), name, Some("frontdesk"));
    checks.equal(&label("every tool is listed"), names(&session).await?, TOOLS.map(str::to_owned).to_vec());

    let wanted = json!({"make": "Toyota", "sort": "price_asc", "limit": 4});
    let first = call(&session, "inventory.search", wanted.clone()).await?;
    checks.equal(&label("a page is as long as asked for"), items(&first).len(), 4);
    let text =
        first.content.first().and_then(|block| block.as_text()).map(|text| text.text.clone()).unwrap_or_default();
    checks.equal(
        &label("the text says what the structure says"),
        serde_json::from_str::<Value>(&text).ok(),
        first.structured_content.clone(),
    );
    let every = walk(&session, "inventory.list", json!({"limit": 100})).await?;
    let mut all = ids(&every);
    all.dedup();
    checks.equal(
        &label("the stock is whole over all pages, each car once"),
        (every.len() >= 250, all.len()),
        (true, every.len()),
    );
    let toyotas: Vec<Value> = every.iter().filter(|car| car["make"] == "Toyota").cloned().collect();
    let found = walk(&session, "inventory.search", wanted).await?;
    checks.equal(&label("a filtered search finds each match once"), ids(&found), ids(&toyotas));

    let mut uris: Vec<String> = session.list_all_resources().await?.into_iter().map(|resource| resource.uri).collect();
    let listed = uris.len();
    let stock = format!("amcp://{}/inventory/", desk.dealership);
    let uri = uris.iter().find(|uri| uri.starts_with(&stock)).cloned().ok_or("no vehicle is listed")?;
    uris.sort();
    uris.dedup();
    checks.equal(&label("resources are listed once each, over pages"), (listed > 250, uris.len()), (true, listed));
    let read = serde_json::to_value(session.read_resource(ReadResourceRequestParams::new(uri.as_str())).await?)?;
    let read: Value = serde_json::from_str(read["contents"][0]["text"].as_str().unwrap_or_default())?;
    let told = call(&session, "inventory.get", json!({"id": uri.replace(&stock, "")})).await?;
    checks.equal(&label("a resource is what the tool answers"), Some(read), told.structured_content);

    let order = |interest: &str| {
        json!({
            "contact": {"name": "Dana Rivera", "email": "dana.rivera@example.com", "phone": "+15125550123"},
            "interest": interest,
            "consent": {"granted": true, "channels": ["email", "sms"]},
            "idempotency_key": format!("checks-rmcp-{era}"),
        })
    };
    let lead = call(&session, "leads.create", order("buy")).await?.structured_content;
    let again = call(&session, "leads.create", order("buy")).await?.structured_content;
    checks.equal(&label("a repeated create is one lead"), &again, &lead);
    let leads = walk(&session, "leads.list", json!({"limit": 50})).await?;
    let same = leads.iter().filter(|item| Some(&item["id"]) == lead.as_ref().map(|lead| &lead["id"])).count();
    checks.equal(&label("and there is one lead of it"), same, 1);

    let other = ask(&session, "leads.create", order("sell")).await?;
    checks.equal(&label("a tool error arrives whole: conflict"), tool_error(&other), "request.idempotency_conflict");
    let nobody = ask(&session, "inventory.get", json!({"id": "veh_nobody"})).await?;
    checks.equal(&label("a tool error arrives whole: not found"), tool_error(&nobody), "inventory.not_found");
    let unknown = rpc_error(ask(&session, "inventory.burn", json!({})).await)?;
    checks.equal(&label("a JSON-RPC error keeps its code"), unknown.code.0, -32602);
    let data = unknown.data.unwrap_or_default();
    checks.equal(&label("a JSON-RPC error keeps its data"), data["error"]["message"].is_string(), true);
    let missing = ReadResourceRequestParams::new(format!("{stock}veh_nobody"));
    let missing = rpc_error(session.read_resource(missing).await.map_err(Failure::from))?;
    // The code for a missing resource changed with the modern era.
    let code = if *era == ProtocolVersion::V_2026_07_28 { -32602 } else { -32002 };
    checks.equal(&label("an unknown resource is a JSON-RPC error"), missing.code.0, code);
    let data = missing.data.unwrap_or_default();
    checks.equal(&label("and its data says which kind"), &data["error"]["code"], &json!("inventory.not_found"));
    session.cancel().await?;
    Ok(())
}

async fn refusals(checks: &mut Checks, desk: &Desk, era: &ProtocolVersion) -> Result<(), Failure> {
    let label = |name: &str| format!("{era}: {name}");
    let stranger = connect(desk, "fdt_wrong", era).await.err();
    checks.equal(&label("a wrong token is refused with 401"), status(stranger), Some(401));
    let refused = log_in(desk, &ours(desk, "fds_wrong"), era).await.err();
    let refused = refused.map(|error| chain(&*error)).unwrap_or_default();
    checks.equal(&label("a wrong secret is refused as such"), refused.contains("invalid_client"), true);

    let weak = connect(desk, &desk.token(STOCK).await?, era).await?;
    checks.equal(
        &label("a weaker token lists fewer tools"),
        names(&weak).await?,
        STOCK_TOOLS.map(str::to_owned).to_vec(),
    );
    let forbidden = ask(&weak, "leads.list", json!({})).await.err();
    checks.equal(&label("a missing scope is refused with 403"), status(forbidden), Some(403));
    let still = call(&weak, "inventory.list", json!({"limit": 1})).await?;
    checks.equal(&label("and the connection lives on"), items(&still).len(), 1);
    weak.cancel().await?;
    Ok(())
}

/// The demo's website: another contract at another endpoint, with a client of its own.
async fn site(checks: &mut Checks, desk: &Desk, era: &ProtocolVersion) -> Result<(), Failure> {
    let label = |name: &str| format!("{era}, site: {name}");
    let credentials = Credentials {
        endpoint: &desk.site.endpoint,
        client: &desk.site.client,
        secret: &desk.site.secret,
        scopes: &["mcp:read", "mcp:call"],
    };
    let session = log_in(desk, &credentials, era).await?;
    let name = session.peer_info().and_then(|info| info.server_info.as_ref().map(|server| server.name.clone()));
    checks.equal(&label("the server says its name"), name.as_deref(), Some("eMCP Content Server"));
    checks.equal(&label("fourteen tools are listed"), names(&session).await?.len(), 14);
    let found = call(&session, "evo.content.search", json!({"limit": 3, "with_tvs": ["price"]})).await?;
    checks.equal(&label("a search is as long as asked for"), items(&found).len(), 3);
    let first = items(&found).first().cloned().unwrap_or_default();
    let page = call(&session, "evo.content.get", json!({"id": first["id"], "with_tvs": ["price"]})).await?;
    checks.equal(
        &label("a page is what the search showed"),
        page.structured_content.map(|page| page["item"].clone()),
        Some(first),
    );
    let wrong = rpc_error(ask(&session, "evo.content.get", json!({"id": 0})).await)?;
    let place = wrong.data.unwrap_or_default()["errors"][0]["pointer"].clone();
    checks.equal(&label("a wrong argument is named"), (wrong.code.0, place), (-32602, json!("/id")));
    let unknown = rpc_error(ask(&session, "evo.content.burn", json!({})).await)?;
    checks.equal(&label("an unknown tool is not found"), unknown.code.0, -32601);
    session.cancel().await?;
    Ok(())
}

/// What is needed to log in.
struct Credentials<'a> {
    endpoint: &'a str,
    client: &'a str,
    secret: &'a str,
    scopes: &'a [&'a str],
}

fn ours<'a>(desk: &'a Desk, secret: &'a str) -> Credentials<'a> {
    Credentials { endpoint: &desk.endpoint, client: &desk.client, secret, scopes: &EVERYTHING }
}

/// With rmcp's own client credentials flow, from the endpoint alone.
async fn log_in(desk: &Desk, credentials: &Credentials<'_>, era: &ProtocolVersion) -> Result<Session, Failure> {
    let mut state = OAuthState::new(credentials.endpoint, Some(desk.http.clone())).await?;
    state
        .authenticate_client_credentials(ClientCredentialsConfig::ClientSecret {
            client_id: credentials.client.to_owned(),
            client_secret: credentials.secret.to_owned(),
            scopes: credentials.scopes.iter().map(|scope| (*scope).to_owned()).collect(),
            resource: Some(credentials.endpoint.to_owned()),
        })
        .await?;
    let manager = state.into_authorization_manager().ok_or("it did not log in")?;
    let client = AuthClient::new(desk.http.clone(), manager);
    let config = StreamableHttpClientTransportConfig::with_uri(credentials.endpoint);
    Ok(().serve_with_lifecycle(StreamableHttpClientTransport::with_client(client, config), lifecycle(era)).await?)
}

/// With a token from elsewhere.
async fn connect(desk: &Desk, token: &str, era: &ProtocolVersion) -> Result<Session, Failure> {
    let config = StreamableHttpClientTransportConfig::with_uri(desk.endpoint.as_str()).auth_header(token);
    let transport = StreamableHttpClientTransport::with_client(desk.http.clone(), config);
    Ok(().serve_with_lifecycle(transport, lifecycle(era)).await?)
}

fn lifecycle(era: &ProtocolVersion) -> ClientLifecycleMode {
    if *era == ProtocolVersion::V_2026_07_28 {
        ClientLifecycleMode::Discover { preferred_versions: vec![era.clone()] }
    } else {
        ClientLifecycleMode::Initialize
    }
}

async fn names(session: &Session) -> Result<Vec<String>, Failure> {
    let mut names: Vec<String> =
        session.list_all_tools().await?.into_iter().map(|tool| tool.name.into_owned()).collect();
    names.sort();
    Ok(names)
}

async fn ask(session: &Session, tool: &'static str, arguments: Value) -> Result<CallToolResult, Failure> {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    Ok(session.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await?)
}

/// The answer of a call that must succeed.
async fn call(session: &Session, tool: &'static str, arguments: Value) -> Result<CallToolResult, Failure> {
    let answer = ask(session, tool, arguments).await?;
    match answer.is_error {
        Some(true) => Err(format!("{tool} answered {:?}", answer.structured_content).into()),
        Some(false) | None => Ok(answer),
    }
}

/// Every item, page by page.
async fn walk(session: &Session, tool: &'static str, mut arguments: Value) -> Result<Vec<Value>, Failure> {
    let mut all = Vec::new();
    loop {
        let page = call(session, tool, arguments.clone()).await?;
        all.extend(items(&page));
        match page.structured_content.as_ref().and_then(|page| page.get("next_cursor")) {
            Some(cursor) => arguments["cursor"] = cursor.clone(),
            None => return Ok(all),
        }
    }
}

fn items(page: &CallToolResult) -> Vec<Value> {
    let page = page.structured_content.as_ref();
    page.and_then(|page| page["items"].as_array()).cloned().unwrap_or_default()
}

fn ids(items: &[Value]) -> Vec<String> {
    let mut ids: Vec<String> = items.iter().map(|item| item["id"].to_string()).collect();
    ids.sort();
    ids
}

/// The code of an error that is whole: marked as one, and the same in structure and text.
fn tool_error(answer: &CallToolResult) -> String {
    let told = answer.structured_content.clone().unwrap_or_default();
    let text = answer.content.first().and_then(|block| block.as_text()).map(|text| text.text.clone());
    let same = text.and_then(|text| serde_json::from_str::<Value>(&text).ok()) == Some(told.clone());
    match (answer.is_error, same, told["error"]["code"].as_str()) {
        (Some(true), true, Some(code)) => code.to_owned(),
        _ => format!("{answer:?}"),
    }
}

fn rpc_error<T>(asked: Result<T, Failure>) -> Result<ErrorData, Failure> {
    match asked {
        Ok(_) => Err("there was no error".into()),
        Err(error) => match error.downcast::<ServiceError>() {
            Ok(service) => match *service {
                ServiceError::McpError(data) => Ok(data),
                other => Err(other.into()),
            },
            Err(error) => Err(error),
        },
    }
}

/// What HTTP said, as far as the library still knows it.
fn status(error: Option<Failure>) -> Option<u16> {
    let error = error?;
    let transport = match (error.downcast_ref::<ServiceError>(), error.downcast_ref::<ClientInitializeError>()) {
        (Some(ServiceError::TransportSend(transport)), _) => transport,
        (_, Some(ClientInitializeError::TransportError { error: transport, .. })) => transport,
        _ => return None,
    };
    match transport.error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::AuthRequired(challenge)) => names_metadata(&challenge.www_authenticate_header, 401),
        Some(StreamableHttpError::InsufficientScope(challenge)) => {
            names_metadata(&challenge.www_authenticate_header, 403)
        }
        _ => None,
    }
}

/// A challenge without its metadata would leave the client nowhere to go.
fn names_metadata(challenge: &str, status: u16) -> Option<u16> {
    challenge.contains("resource_metadata=").then_some(status)
}

fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text += &format!(": {cause}");
        next = cause.source();
    }
    text
}
