//! A contract as the engine sees it: its server info, its tools and resources, and its
//! dialect. Everything that is particular to one published text stays behind these types.

use frontdesk_wire::answer::success;
use frontdesk_wire::frame::Id;
use frontdesk_wire::version::{Era, Version};
use serde_json::{Map, Value};

use crate::delivery::DeliveryRules;
use crate::dispatch::DispatchReply;
use crate::import::ImportSpec;
use crate::limits::rate::Budget;
use crate::model::caller::{Scope, Scopes};
use crate::model::fault::Fault;
use crate::model::latency_target::LatencyTarget;
use crate::model::page::Total;
use crate::model::reply::Reply;
use crate::model::schema::Schema;
use crate::model::table::TableSpec;
use crate::model::tool::{Effect, Future, Tool, ToolSpec};
use crate::model::tool_input::ToolInput;
use crate::pipeline::permit::Permitted;

pub struct Contract {
    pub id: &'static str,
    pub server_info: ServerInfo,
    pub tools: Vec<Tool>,
    pub resources: Vec<ResourceTemplate>,
    pub tables: Vec<&'static TableSpec>,
    /// Every scope a token for this contract can carry.
    pub scopes: Vec<Scope>,
    /// What a token gets that asks for none.
    pub default_scope: Scope,
    /// What an ordinary client may hold. A 401 names these, because clients request exactly the scopes it names.
    pub ordinary_scopes: Scopes,
    /// What can be imported: records of which kind, and how.
    pub imports: Vec<ImportSpec>,
    /// Tools that no caller sees: only commands of the operator call them.
    pub operator_tools: Vec<Tool>,
    /// How fast its tools must be, by kind; empty where it does not say.
    pub latency_targets: Vec<LatencyTarget>,
    /// Documents at the root of the server that anybody may read, by path.
    pub documents: Vec<(&'static str, String)>,
    pub dialect: Box<dyn Dialect>,
}

/// How the server introduces itself.
#[derive(Debug, Clone)]
pub struct ServerInfo {
    pub name: &'static str,
    pub title: &'static str,
    pub version: &'static str,
    /// What else `serverInfo` says, by member.
    pub extra: Vec<(&'static str, String)>,
    pub instructions: &'static str,
    /// The capabilities object, as JSON text.
    pub capabilities: String,
}

/// Deviations from the protocol that the clients of a contract rely on. By default none.
#[derive(Debug, Clone, Copy, Default)]
pub struct Compatibility {
    /// The version of an `initialize` that names none. Without a default it must name one.
    pub default_version: Option<Version>,
    /// Whether `initialize` is answered with a random `MCP-Session-Id`, which is stored nowhere.
    pub sends_session_id: bool,
    /// Whether a caller may name its trace in `X-Trace-Id`.
    pub accepts_trace_id: bool,
    /// Whether the answer to a caller without a valid credential has the id of its message. The body is then read for it.
    pub echoes_refused_id: bool,
    /// Whether tools are listed differently to callers of different versions, see `Dialect::describe_tool`.
    pub lists_by_version: bool,
    /// The budget of one client, if not the configured one: for a client that calls on behalf of many.
    pub client_budget: Option<Budget>,
}

/// A readable resource, or a family of them.
#[derive(Debug, Clone)]
pub struct ResourceTemplate {
    /// An RFC 6570 template; one without variables is a single resource.
    pub template: &'static str,
    pub name: &'static str,
    pub title: &'static str,
    pub about: &'static str,
    pub source: ResourceSource,
}

#[derive(Debug, Clone)]
pub enum ResourceSource {
    /// The same answer as this reading tool, its arguments taken from the address. `lists` names the
    /// kind whose rows are enumerated under this template.
    Tool { name: &'static str, lists: Option<&'static TableSpec> },
    /// A fixed document, the same for every caller.
    Document(String),
}

/// How one contract reads arguments and writes answers. Every fault of every stage passes through
/// `failure`, so a contract has one place where its errors are made.
pub trait Dialect: Send + Sync {
    /// Brings arguments that the contract allows to be written in several ways into the one that the tool's schema
    /// knows. What it does not understand stays as it is, for the schema's check to name.
    fn normalize(&self, tool: &ToolSpec, arguments: Map<String, Value>) -> Map<String, Value> {
        let _ = tool;
        arguments
    }
    /// Takes tenant, window and idempotency key out of checked arguments. `header_key` is the header as received.
    fn read(
        &self,
        tool: &ToolSpec,
        arguments: Map<String, Value>,
        header_key: Option<&str>,
    ) -> Result<ToolInput, Fault>;
    fn success(&self, payload: Payload, context: &ReplyContext<'_>) -> Reply;
    fn failure(&self, fault: &Fault, context: &ReplyContext<'_>) -> Reply;
    /// The answer to a dispatched message, once it is accepted or completed. Only contracts whose mounts take dispatched
    /// messages need one.
    fn dispatch_reply(&self, reply: &DispatchReply<'_>) -> Reply {
        let _ = reply;
        Reply::empty(501)
    }
    /// What a caller is told about an id of which `table` has no row: also what it is instead, as far as this caller may
    /// know it. Asked only after the row was looked for in vain.
    fn missing_message<'a>(
        &'a self,
        permitted: &'a Permitted<'a>,
        table: &'static TableSpec,
        id: &'a str,
    ) -> Future<'a, Result<String, Fault>> {
        let _ = (permitted, table, id);
        Box::pin(std::future::ready(Ok(Fault::not_found().message.into_owned())))
    }
    /// The name of the template variable and argument that carries the tenant.
    fn tenant_argument(&self) -> &'static str;
    /// The name of the argument that carries the idempotency key.
    fn key_argument(&self) -> &'static str;
    /// The name of the argument that carries the version an update expects; `If-Match` sets it at a route.
    fn version_argument(&self) -> &'static str {
        "expected_version"
    }
    /// Adds to or takes from what `tools/list` says about a tool.
    fn describe_tool(&self, tool: &ToolSpec, version: Version, described: &mut Map<String, Value>) {
        let _ = (tool, version, described);
    }
    /// What is owed to others when something happens, and how it is sent.
    fn deliveries(&self) -> Option<&dyn DeliveryRules> {
        None
    }
    fn compatibility(&self) -> Compatibility {
        Compatibility::default()
    }
    /// What a tool's structured answer looks like when it is an error, for contracts that say errors
    /// there. It is published beside the tool's own shape, because some clients check errors too.
    fn error_schema(&self) -> Option<Schema> {
        None
    }
}

/// An answer after redaction and paging, still without its envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    One(String),
    Many {
        items: Vec<String>,
        cursor: Option<String>,
        total: Option<Total>,
        /// Said beside the data, where the answer has a place for it.
        note: Option<String>,
    },
}

/// What the answer is an answer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestTarget<'a> {
    Tool(&'a str),
    Resource(&'a str),
    /// A tool that was called by an address and a verb of its own. The answer is plain JSON under its HTTP status.
    Route {
        tool: &'a str,
        effect: Effect,
    },
    Method,
    /// The request was not understood far enough to say.
    Transport,
}

/// What a reply needs to know besides its payload or fault; filled in as the request is understood.
#[derive(Debug, Clone, Copy)]
pub struct ReplyContext<'a> {
    pub era: Option<Era>,
    /// The version the transport named, for answers to what was not understood at all.
    pub header_version: Option<Version>,
    pub id: Option<&'a Id>,
    pub target: RequestTarget<'a>,
    /// URL of the protected resource metadata, for challenges; empty where none are published.
    pub metadata_url: &'a str,
    /// What a client without a token is told to ask for.
    pub ordinary_scopes: &'a Scopes,
    /// What the caller's token carries, once it is known.
    pub granted_scopes: Option<&'a Scopes>,
    /// Whether a credential was presented at all.
    pub credential: CredentialPresence,
    pub trace_id: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CredentialPresence {
    Absent,
    Present,
}

impl ReplyContext<'_> {
    /// The era of the request. One that was never decided counts as the oldest that has a default.
    pub fn era_or_default(&self) -> Era {
        self.era.unwrap_or(Era::Legacy(Version::V2025_03_26))
    }

    /// A finished result in its JSON-RPC envelope.
    pub fn rpc_result(&self, result: &str) -> Reply {
        match self.id {
            Some(id) => Reply::rpc(success(id, result)),
            None => Reply::empty(202),
        }
    }
}
