//! A contract as the engine sees it: what it says hello with, its tools and resources, and its
//! dialect. Everything that is particular to one published text stays behind these types.

use frontdesk_wire::frame::Id;
use frontdesk_wire::version::{Era, Version};
use serde_json::{Map, Value};

use crate::caller::{Scope, Scopes};
use crate::dispatch::Told;
use crate::fault::Fault;
use crate::reading::Reading;
use crate::reply::Reply;
use crate::schema::Schema;
use crate::table::Kind;
use crate::tool::{Tool, ToolSpec};

pub struct Contract {
    pub id: &'static str,
    pub hello: Hello,
    pub tools: Vec<Tool>,
    pub resources: Vec<Resource>,
    pub kinds: Vec<&'static Kind>,
    /// Every scope a token for this contract can carry.
    pub scopes: Vec<Scope>,
    /// What a token gets that asks for none.
    pub least: Scope,
    /// Documents at the root of the server that anybody may read, by path.
    pub documents: Vec<(&'static str, String)>,
    pub dialect: Box<dyn Dialect>,
}

/// How the server introduces itself.
#[derive(Debug, Clone)]
pub struct Hello {
    pub name: &'static str,
    pub title: &'static str,
    pub version: &'static str,
    /// What else `serverInfo` says, by member.
    pub info: Vec<(&'static str, String)>,
    pub instructions: &'static str,
    /// The capabilities object, as JSON text.
    pub capabilities: String,
}

/// What a contract does beside the protocol, because its clients are used to it. By default nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Manners {
    /// The version that an `initialize` means which names none. Without one it must name its version.
    pub assumed: Option<Version>,
    /// Whether `initialize` is answered with a random `MCP-Session-Id`. Nobody keeps it and nobody asks for it.
    pub names_sessions: bool,
    /// Whether a caller may say in `X-Trace-Id` what its call is to be known by.
    pub takes_traces: bool,
}

/// A readable thing with an address.
#[derive(Debug, Clone)]
pub struct Resource {
    /// An RFC 6570 template; one without variables is a single resource.
    pub template: &'static str,
    pub name: &'static str,
    pub title: &'static str,
    pub about: &'static str,
    pub source: Source,
}

#[derive(Debug, Clone)]
pub enum Source {
    /// The same answer as this reading tool, its arguments taken from the address. `lists` names the
    /// kind whose rows are enumerated under this template.
    Tool { name: &'static str, lists: Option<&'static Kind> },
    /// A fixed document, the same for every caller.
    Document(String),
}

/// How one contract reads arguments and writes answers. Every fault of every stage passes through
/// `failure`, so a contract has one place where its errors are made.
pub trait Dialect: Send + Sync {
    /// Brings arguments that the contract allows to be written in several ways into the one that the tool's schema
    /// knows. What it does not understand stays as it is, for the schema's check to name.
    fn plain(&self, tool: &ToolSpec, arguments: Map<String, Value>) -> Map<String, Value> {
        let _ = tool;
        arguments
    }
    /// Takes tenant, window and idempotency key out of checked arguments.
    fn read(&self, tool: &ToolSpec, arguments: Map<String, Value>, header_key: Option<&str>) -> Result<Reading, Fault>;
    fn success(&self, shaped: Shaped, at: &At<'_>) -> Reply;
    fn failure(&self, fault: &Fault, at: &At<'_>) -> Reply;
    /// What is said of a dispatched message, once it is accepted or answered.
    fn dispatched(&self, told: &Told<'_>) -> Reply {
        told.plainly()
    }
    /// The name of the template variable and argument that carries the tenant.
    fn tenant_argument(&self) -> &'static str;
    /// The name of the argument that carries the idempotency key.
    fn key_argument(&self) -> &'static str;
    fn manners(&self) -> Manners {
        Manners::default()
    }
    /// What a tool's structured answer looks like when it is an error, for contracts that say errors
    /// there. It is published beside the tool's own shape, because some clients check errors too.
    fn error_shape(&self) -> Option<Schema> {
        None
    }
}

/// An answer after redaction and paging, still without its envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shaped {
    One(String),
    Many { items: Vec<String>, cursor: Option<String> },
}

/// What the answer is an answer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'a> {
    Tool(&'a str),
    Resource(&'a str),
    Method,
    /// The request was not understood far enough to say.
    Transport,
}

/// Where an answer is going: everything a dialect may need besides the outcome itself.
#[derive(Debug, Clone, Copy)]
pub struct At<'a> {
    pub era: Option<Era>,
    /// The version the transport named, for answers to what was not understood at all.
    pub named: Option<Version>,
    pub id: Option<&'a Id>,
    pub place: Place<'a>,
    /// Address of the protected resource metadata, for challenges; empty where none are published.
    pub metadata: &'a str,
    pub least: &'a Scope,
    /// What the caller's token carries, once it is known.
    pub granted: Option<&'a Scopes>,
    /// Whether a credential was presented at all.
    pub credential: Presented,
    pub trace: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presented {
    Nothing,
    Something,
}
