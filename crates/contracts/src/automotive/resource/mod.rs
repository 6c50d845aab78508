//! What every resource of this contract has in common: its tools, addresses and rules follow from its declaration. A
//! resource is one file with a struct, its filters, its rules and a function that lists its tools (`ResourceApi`).

mod api;
mod read;
mod schema;
mod write;

use std::future::{Future, ready};

use frontdesk_engine::model::contract::ResourceTemplate;
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::model::tool::Tool;
use frontdesk_engine::{Code, Fault};

pub use api::ResourceApi;
pub use schema::list_schema;
pub use write::WriteContext;

use super::codes::{self, CodeSpec};
use super::domains::Domain;
use crate::record::{Entity, FieldSpec, Stored};

/// The arguments that the dialect takes out of every call.
pub const TENANT: &str = "dealership_id";
pub(super) const CURSOR: &str = "cursor";
pub(super) const LIMIT: &str = "limit";
pub(super) const KEY: &str = "idempotency_key";
/// Asks a list how many there are on all pages, and is the member that says it.
pub(super) const TOTAL: &str = "x_frontdesk_total";
/// The member that says that there are more than were counted.
pub(super) const TOTAL_CAPPED: &str = "x_frontdesk_total_capped";
/// A vehicle is about 400 tokens of a model, which has to read the whole page.
pub(super) const DEFAULT_LIMIT: usize = 10;
/// How far a list is counted.
const MAX_TOTAL: usize = 10_000;
const MAX_LIMIT: i64 = 100;
const EXPECTED_VERSION: &str = "expected_version";

/// A resource and its business rules. Every rule is optional.
pub trait Resource: Stored + Clone {
    const DOMAIN: &'static Domain;
    /// The code of a `unique` value that another record has.
    const DUPLICATE: CodeSpec = codes::descriptions::DUPLICATE;

    /// Checks a new record, and fills in what follows from the arguments.
    fn on_create(entity: &mut Entity<Self>, context: &WriteContext<'_>) -> Result<(), Fault> {
        let _ = (entity, context);
        Ok(())
    }

    /// Checks a change, and fills in what follows from it. `after` has the named fields replaced.
    fn on_update(before: &Entity<Self>, after: &mut Entity<Self>, context: &WriteContext<'_>) -> Result<(), Fault> {
        let _ = (before, after, context);
        Ok(())
    }

    /// What needs other rows: reads them, and changes them in the same plan. There is no `before` of a new record.
    fn cascade(
        before: Option<&Entity<Self>>,
        after: &mut Entity<Self>,
        context: &mut WriteContext<'_>,
    ) -> impl Future<Output = Result<(), Fault>> + Send {
        let _ = (before, after, context);
        ready(Ok(()))
    }
}

/// What a contract collects from its resources.
pub struct ResourceParts {
    pub domain: &'static Domain,
    pub table: &'static TableSpec,
    pub fields: &'static [FieldSpec],
    pub id_prefix: &'static str,
    /// The segment of its addresses.
    pub collection: &'static str,
    pub tools: Vec<Tool>,
    pub templates: Vec<ResourceTemplate>,
    /// What one is called in messages, and the tool that finds ids.
    pub noun: &'static str,
    pub finder: Option<&'static str>,
    pub not_found: Code,
    /// The codes of its own rules.
    pub codes: Vec<CodeSpec>,
}
