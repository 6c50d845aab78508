//! A tool: its name, its words for people and models, its schemas, what it needs and what it does.

use std::pin::Pin;
use std::sync::Arc;

use crate::model::caller::Scope;
use crate::model::fault::{Code, Fault};
use crate::model::page::{Page, Total};
use crate::model::plan::Plan;
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
    pub unmask_scope: Option<Scope>,
    /// What that scope reveals.
    pub sensitivity: Sensitivity,
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

    /// The answer to a repeated idempotency key, made from the stored one.
    fn replay<'a>(&'a self, permitted: &'a Permitted<'a>, stored: Item) -> Future<'a, Result<Item, Fault>> {
        let _ = permitted;
        Box::pin(std::future::ready(Ok(stored)))
    }
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
}

impl Run {
    pub fn read(tool: impl ReadTool + 'static) -> Run {
        Run::Read(Arc::new(tool))
    }

    pub fn write(tool: impl WriteTool + 'static) -> Run {
        Run::Write(Arc::new(tool))
    }
}

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
