//! A tool: its name, its words for people and models, its schemas, what it needs and what it does.

use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::model::caller::{Scope, Scopes};
use crate::model::fault::{Code, Fault};
use crate::model::page::{Page, Total};
use crate::model::plan::Plan;
use crate::model::relay::RelayTool;
use crate::model::route::Route;
use crate::model::schema::Schema;
use crate::pipeline::permit::Permitted;

pub type Future<'a, T> = Pin<Box<dyn std::future::Future<Output = T> + Send + 'a>>;

/// What calling the tool can do to the world; becomes the tool's annotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Reads,
    Adds,
    Changes,
}

/// Whose budget a call is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateKey {
    Client,
    /// Beside the client's budget, one per value of this argument within the tenant.
    Argument {
        name: &'static str,
        per_minute: u32,
        burst: u32,
    },
}

/// What an answer holds back from a caller without the unmask scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sensitivity {
    /// Personal data: who sees it is recorded before the answer leaves.
    Personal,
    /// What only readers may see, but concerns nobody in person.
    Business,
}

/// The scope that a call needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScopeRule {
    One(Scope),
    /// Any of these; the tool decides what it shows with which.
    AnyOf(Vec<Scope>),
    /// Depends on the word that this argument has.
    ByArgument {
        name: &'static str,
        scopes: Vec<(&'static str, Scope)>,
    },
}

impl ScopeRule {
    /// Every scope with which some call is possible.
    pub fn all(&self) -> impl Iterator<Item = &Scope> {
        let (plain, named) = match self {
            ScopeRule::One(scope) => (std::slice::from_ref(scope), [].as_slice()),
            ScopeRule::AnyOf(scopes) => (scopes.as_slice(), [].as_slice()),
            ScopeRule::ByArgument { scopes, .. } => ([].as_slice(), scopes.as_slice()),
        };
        plain.iter().chain(named.iter().map(|(_, scope)| scope))
    }

    /// Whether some call is possible with these scopes.
    pub fn allows_some(&self, granted: &Scopes) -> bool {
        self.all().any(|scope| granted.has(scope))
    }

    /// The scope that this call needs and the caller lacks. A word that the argument cannot have is refused later, by
    /// its schema; until then any of the scopes will do.
    pub fn missing(&self, arguments: &Map<String, Value>, granted: &Scopes) -> Option<&Scope> {
        let named = match self {
            ScopeRule::One(_) | ScopeRule::AnyOf(_) => None,
            ScopeRule::ByArgument { name, scopes } => {
                let word = arguments.get(*name).and_then(Value::as_str);
                scopes.iter().find(|(known, _)| word == Some(*known)).map(|(_, scope)| scope)
            }
        };
        match named {
            Some(scope) => (!granted.has(scope)).then_some(scope),
            None => self.all().next().filter(|_| !self.allows_some(granted)),
        }
    }
}

#[derive(Debug, Clone)]
pub struct ToolSpec {
    pub name: &'static str,
    pub title: &'static str,
    pub about: &'static str,
    pub input: Schema,
    pub output: Schema,
    pub effect: Effect,
    pub scope: ScopeRule,
    /// With this scope the answer carries personal data in full; without it, or with none named,
    /// it is masked.
    pub unmask_scope: Option<Scope>,
    /// What that scope reveals.
    pub sensitivity: Sensitivity,
    /// It needs a person who has logged in at most so many seconds ago.
    pub max_login_age: Option<u32>,
    pub rate: RateKey,
    /// Where it can be called without a message, if it can.
    pub route: Option<Route>,
    /// Every code of the contract's own that the tool can fault with.
    pub codes: Vec<Code>,
}

/// A tool that reads and answers. A plain function is one.
pub trait ReadTool: Send + Sync {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>>;
}

/// A tool that decides on a plan, which the engine then commits. A plain function is one.
pub trait WriteTool: Send + Sync {
    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>>;

    /// Called once when its plan has been committed; not again when the answer is replayed.
    fn committed(&self, permitted: &Permitted<'_>, answer: &Item) {
        let _ = (permitted, answer);
    }

    /// The answer to a repeated idempotency key, made from the stored one.
    fn replay<'a>(&'a self, permitted: &'a Permitted<'a>, stored: Item) -> Future<'a, Result<Item, Fault>> {
        let _ = permitted;
        Box::pin(std::future::ready(Ok(stored)))
    }
}

/// A tool whose work is calls of other tools. Each of them is checked, committed and recorded by itself, for the same
/// caller; one that fails does not undo the others.
pub trait CompoundTool: Send + Sync {
    fn calls(&self, permitted: &Permitted<'_>) -> Result<Vec<ToolCall>, Fault>;

    /// The answer, from what became of the calls in their order.
    fn answer(&self, permitted: &Permitted<'_>, results: Vec<Result<Outcome, Fault>>) -> Result<Outcome, Fault>;
}

/// A call that a compound tool makes.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// A tool that callers see.
    pub tool: &'static str,
    pub arguments: Map<String, Value>,
    /// Makes a repetition safe.
    pub key: Option<String>,
}

/// A tool that says how something stands that goes on by itself. It only reads; the engine asks again while a caller
/// listens, and decides how long that may take.
pub trait WatchTool: Send + Sync {
    fn observe<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<WatchReport, Fault>>;
}

/// How something stands now.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchReport {
    /// The answer, if this is the last look.
    pub outcome: Outcome,
    pub progress: Progress,
    pub state: WatchState,
}

/// How far it has come, for a caller who listens. It never becomes less.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    pub done: u32,
    pub total: u32,
    /// For people; never personal data.
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchState {
    /// It can still change.
    Open,
    /// Nothing more will happen.
    Ended,
}

impl<F> ReadTool for F
where
    F: for<'a> Fn(&'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> + Send + Sync,
{
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        self(permitted)
    }
}

impl<F> WriteTool for F
where
    F: for<'a> Fn(&'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> + Send + Sync,
{
    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
        self(permitted)
    }
}

#[derive(Clone)]
pub enum Run {
    Read(Arc<dyn ReadTool>),
    Write(Arc<dyn WriteTool>),
    Compound(Arc<dyn CompoundTool>),
    Watch(Arc<dyn WatchTool>),
    Relay(Arc<dyn RelayTool>),
}

impl Run {
    pub fn read(tool: impl ReadTool + 'static) -> Run {
        Run::Read(Arc::new(tool))
    }

    pub fn write(tool: impl WriteTool + 'static) -> Run {
        Run::Write(Arc::new(tool))
    }

    pub fn compound(tool: impl CompoundTool + 'static) -> Run {
        Run::Compound(Arc::new(tool))
    }

    pub fn watch(tool: impl WatchTool + 'static) -> Run {
        Run::Watch(Arc::new(tool))
    }

    pub fn relay(tool: impl RelayTool + 'static) -> Run {
        Run::Relay(Arc::new(tool))
    }
}

#[derive(Clone)]
pub struct Tool {
    pub spec: ToolSpec,
    pub run: Run,
}

/// One resource in an answer; see `table::Row` for the three texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub id: String,
    /// The version of its row. 0 means unknown: the answer has no row, or was stored by a release that did not keep it.
    pub version: i64,
    pub body: String,
    pub masked: Option<String>,
    pub personal: Option<String>,
}

/// A page of a list, and what is said about the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListAnswer {
    pub page: Page,
    /// How many there are on all pages, if that was asked for.
    pub total: Option<Total>,
    /// For a person or a model, beside the data: why a list is empty, for one. Never personal data.
    pub note: Option<String>,
}

impl From<Page> for Box<ListAnswer> {
    fn from(page: Page) -> Box<ListAnswer> {
        Box::new(ListAnswer { page, total: None, note: None })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    One(Item),
    /// Boxed, because an outcome is part of the future of every call.
    Many(Box<ListAnswer>),
    /// The whole answer as the tool made it, and how many rows it has. Nothing of it is ours to mask or to page.
    Raw {
        answer: String,
        rows: usize,
    },
}
