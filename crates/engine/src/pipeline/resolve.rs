//! Stage 4: what the request is about. Handshakes and lists are answered from what is already known;
//! a tool call or a resource becomes a tool and its raw arguments.

pub(crate) mod catalogue;
pub mod listing;
mod uri_template;

use frontdesk_wire::answer::{CacheHint, CacheScope, finished_result, quote};
use frontdesk_wire::frame::Request;
use frontdesk_wire::method::Method;
use frontdesk_wire::version::{Era, negotiate, supported_versions};
use serde_json::{Map, Value};

use crate::model::contract::{Contract, ResourceSource, ServerInfo};
use crate::model::fault::{Fault, FaultKind};
use crate::model::nearest::near_tool;
use crate::model::tool::Tool;
use crate::pipeline::resolve::catalogue::{is_shown, templates};
use crate::serve::CallContext;

pub enum Resolved<'a> {
    /// Already answered: the result as JSON text.
    Ready(String),
    /// A page of `resources/list`, from this cursor on.
    Listing(Option<String>),
    Tool {
        tool: &'a Tool,
        arguments: Map<String, Value>,
    },
}

/// How long a list may be kept by a client. Short, because a token's scopes can change.
const LISTS: CacheHint = CacheHint { ttl_ms: 60_000, scope: CacheScope::Private };

/// Discovery is the same for everybody.
const DISCOVERY: CacheHint = CacheHint { ttl_ms: 3_600_000, scope: CacheScope::Public };

/// The resource that the answer will be about. One that does not exist counts, too, so that every not-found answer looks
/// the same.
pub(crate) fn resource_uri(request: &Request) -> Option<&str> {
    if request.method() == Method::ResourcesRead { request.params.get("uri")?.as_str() } else { None }
}

/// `arguments` are those of the request, which are taken if a tool is called.
pub(crate) fn resolve<'a>(
    context: &CallContext<'_, 'a>,
    request: &Request,
    arguments: Option<Value>,
) -> Result<Resolved<'a>, Fault> {
    let mount = context.record.mount;
    let scopes = &context.caller.scopes;
    let contract = &mount.contract;
    let era = context.record.reply_context().era_or_default();
    match (request.method(), era) {
        (Method::Initialize, Era::Legacy(_)) => initialize(contract, request).map(Resolved::Ready),
        (Method::Ping, Era::Legacy(_)) => Ok(Resolved::Ready("{}".to_owned())),
        (Method::ServerDiscover, _) => {
            Ok(Resolved::Ready(finished_result(&discover(contract), &Era::Modern, Some(DISCOVERY))))
        }
        (Method::ToolsList, _) => {
            no_cursor(request)?;
            let tools = mount.catalogue.tools(mount, scopes, era.version());
            Ok(Resolved::Ready(finished_result(&tools, &era, Some(LISTS))))
        }
        (Method::ResourcesTemplatesList, _) => {
            no_cursor(request)?;
            let templates = templates(mount, scopes);
            Ok(Resolved::Ready(finished_result(&templates, &era, Some(LISTS))))
        }
        (Method::PromptsList, _) if declares(contract, "prompts") => {
            no_cursor(request)?;
            Ok(Resolved::Ready(finished_result("{\"prompts\":[]}", &era, Some(LISTS))))
        }
        (Method::ResourcesList, _) => cursor(request).map(Resolved::Listing),
        (Method::ToolsCall, _) => tool_call(context, request, arguments),
        (Method::ResourcesRead, _) => read_resource(contract, request, era),
        // Of another era, not offered by any contract, or only ever a notification.
        (
            Method::Initialize
            | Method::Ping
            | Method::PromptsList
            | Method::PromptsGet
            | Method::CompletionComplete
            | Method::LoggingSetLevel
            | Method::ResourcesSubscribe
            | Method::ResourcesUnsubscribe
            | Method::SubscriptionsListen
            | Method::TasksCancel
            | Method::TasksGet
            | Method::TasksList
            | Method::NotificationsCancelled
            | Method::NotificationsInitialized
            | Method::NotificationsProgress
            | Method::NotificationsRootsListChanged
            | Method::Unknown,
            _,
        ) => Err(Fault::new(FaultKind::UnknownMethod, "Method not found")),
    }
}

fn initialize(contract: &Contract, request: &Request) -> Result<String, Fault> {
    let version = match (request.params.get("protocolVersion"), contract.dialect.compatibility().default_version) {
        (Some(Value::String(asked)), _) => negotiate(asked),
        (None, Some(assumed)) => assumed,
        (Some(_), _) | (None, None) => {
            return Err(Fault::invalid_argument("/protocolVersion", "required", "it is required, as a string"));
        }
    };
    let info = &contract.server_info;
    Ok(format!(
        "{{\"protocolVersion\":{},\"capabilities\":{},\"serverInfo\":{},\"instructions\":{}}}",
        quote(version.as_str()),
        info.capabilities,
        server_info_json(contract),
        quote(info.instructions),
    ))
}

fn discover(contract: &Contract) -> String {
    format!(
        "{{\"supportedVersions\":{},\"capabilities\":{},\"instructions\":{},\"_meta\":{{\"io.modelcontextprotocol/serverInfo\":{}}}}}",
        supported_versions(),
        contract.server_info.capabilities,
        quote(contract.server_info.instructions),
        server_info_json(contract),
    )
}

fn server_info_json(contract: &Contract) -> String {
    let ServerInfo { name, title, version, extra: info, .. } = &contract.server_info;
    let mut text = format!("{{\"name\":{},\"title\":{},\"version\":{}", quote(name), quote(title), quote(version));
    for (member, value) in info {
        text.push_str(&format!(",{}:{}", quote(member), quote(value)));
    }
    text.push('}');
    text
}

/// Whether the contract says that it has this, even if there is none of it.
fn declares(contract: &Contract, capability: &str) -> bool {
    serde_json::from_str::<Value>(&contract.server_info.capabilities).is_ok_and(|all| all.get(capability).is_some())
}

/// Names under which callers send arguments that MCP calls `arguments`. Other unknown members are ignored, as MCP wants.
const OTHER_NAMES: [&str; 6] = ["args", "argument", "input", "kwargs", "parameters", "params"];

fn tool_call<'a>(
    context: &CallContext<'_, 'a>,
    request: &Request,
    given: Option<Value>,
) -> Result<Resolved<'a>, Fault> {
    let Some(name) = request.params.get("name").and_then(Value::as_str) else {
        return Err(Fault::invalid_argument("/name", "required", "the tool's name is required, as a string"));
    };
    let Some(tool) = find(&context.record.mount.contract, name) else {
        return Err(unknown_tool(context, name));
    };
    let arguments = match given {
        Some(Value::Object(arguments)) => arguments,
        None | Some(Value::Null) => match OTHER_NAMES.iter().find(|name| request.params.contains_key(**name)) {
            Some(name) => {
                let expected = format!("the tool's arguments are expected here, not under {name}");
                return Err(Fault::invalid_argument("/arguments", "required", expected));
            }
            None => Map::new(),
        },
        Some(_) => return Err(Fault::invalid_argument("/arguments", "type", "an object is expected")),
    };
    Ok(Resolved::Tool { tool, arguments })
}

/// Names the nearest of the tools that the caller sees. What was sent is not repeated.
fn unknown_tool(context: &CallContext<'_, '_>, name: &str) -> Fault {
    let mount = context.record.mount;
    let shown = mount.contract.tools.iter().filter(|tool| is_shown(mount, &context.caller.scopes, &tool.spec));
    let message = match near_tool(name, shown.map(|tool| tool.spec.name)) {
        Some(right) => {
            format!("There is no tool of this name; did you mean {right}? `tools/list` names those there are.")
        }
        None => "There is no tool of this name; `tools/list` names those there are.".to_owned(),
    };
    Fault::new(FaultKind::UnknownTool, message)
}

fn find<'a>(contract: &'a Contract, name: &str) -> Option<&'a Tool> {
    contract.tools.iter().find(|tool| tool.spec.name == name)
}

fn read_resource<'a>(contract: &'a Contract, request: &Request, era: Era) -> Result<Resolved<'a>, Fault> {
    let Some(address) = request.params.get("uri").and_then(Value::as_str) else {
        return Err(Fault::invalid_argument("/uri", "required", "the resource's URI is required, as a string"));
    };
    for resource in &contract.resources {
        let Some(arguments) = uri_template::bind(resource.template, address) else {
            continue;
        };
        match &resource.source {
            ResourceSource::Document(text) => {
                let contents = format!(
                    "{{\"contents\":[{{\"uri\":{},\"mimeType\":\"application/json\",\"text\":{}}}]}}",
                    quote(address),
                    quote(text),
                );
                return Ok(Resolved::Ready(finished_result(&contents, &era, Some(DISCOVERY))));
            }
            ResourceSource::Tool { name, .. } => {
                if let Some(tool) = find(contract, name) {
                    return Ok(Resolved::Tool { tool, arguments: uri_template::typed(arguments, &tool.spec.input) });
                }
            }
        }
    }
    // The same fault as for an id that does not exist, so that addresses tell nothing.
    Err(Fault::not_found())
}

fn cursor(request: &Request) -> Result<Option<String>, Fault> {
    match request.params.get("cursor") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(cursor)) => Ok(Some(cursor.clone())),
        Some(_) => Err(Fault::invalid_argument("/cursor", "type", "a string is expected")),
    }
}

/// These lists have one page, so no cursor was ever issued for them.
fn no_cursor(request: &Request) -> Result<(), Fault> {
    match cursor(request)? {
        None => Ok(()),
        Some(_) => Err(Fault::new(FaultKind::InvalidCursor, "This list has one page and issues no cursors.")),
    }
}
