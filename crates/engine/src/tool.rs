//! A tool: its name, its words for people and models, its schemas, what it needs and what it does.

use std::pin::Pin;
use std::sync::Arc;

use crate::caller::Scope;
use crate::fault::{Code, Fault};
use crate::page::Page;
use crate::permit::Permitted;
use crate::plan::Plan;
use crate::schema::Schema;

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

#[derive(Debug)]
pub struct ToolSpec {
    pub name: &'static str,
    pub title: &'static str,
    pub about: &'static str,
    pub input: Schema,
    pub output: Schema,
    pub effect: Effect,
    pub scope: Scope,
    /// With this scope the answer carries personal data in full; without it, or with none named,
    /// it is masked.
    pub discloses: Option<Scope>,
    pub rate: RateKey,
    /// Every code of the contract's own that the tool can fault with.
    pub codes: &'static [Code],
}

pub type ReadTool = for<'a> fn(&'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>>;
pub type WriteTool = for<'a> fn(&'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>>;
/// Makes today's answer from the stored one when a key is replayed.
pub type Replay = for<'a> fn(&'a Permitted<'a>, Item) -> Future<'a, Result<Item, Fault>>;

/// A reading tool that is made for one mount, because it knows the mount's own limits.
pub trait Consult: Send + Sync {
    fn consult<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>>;
}

#[derive(Clone)]
pub enum Run {
    Read(ReadTool),
    /// Reads somebody else's database, through `Permitted::archive`.
    Consult(Arc<dyn Consult>),
    /// A writing tool answers a replayed key with what was stored, unless it has a hook.
    Write {
        plan: WriteTool,
        replay: Option<Replay>,
    },
}

pub struct Tool {
    pub spec: ToolSpec,
    pub run: Run,
}

/// One resource in an answer; see `table::Row` for the three texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub id: String,
    pub body: String,
    pub masked: Option<String>,
    pub personal: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    One(Item),
    Many(Page),
    /// The whole answer as the tool made it, and how many rows it has. Nothing of it is ours to mask or to page.
    Made {
        answer: String,
        rows: usize,
    },
}
