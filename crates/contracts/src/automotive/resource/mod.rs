//! What every resource of this contract has in common: its tools, addresses and rules follow from its declaration. A
//! resource is one file with a struct, its filters, its rules and a function that lists its tools (`ResourceApi`).

mod api;
mod identifiers;
mod read;
mod schema;
mod write;

use std::future::{Future, ready};

use frontdesk_engine::import::ImportSpec;
use frontdesk_engine::model::contract::ResourceTemplate;
use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::plan::{Change, Step};
use frontdesk_engine::model::table::{Row, StoredRow, TableSpec};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::{Item, Tool};
use frontdesk_engine::{Code, Fault, Permitted, TenantId};
use serde_json::{Map, Value};

pub use api::ResourceApi;
pub use identifiers::RecordKind;
pub(super) use identifiers::missing_message;
pub use schema::list_schema;
pub(super) use schema::{key, paging, tenant};
pub(super) use write::missing_reference;
pub use write::{ChangeFn, WriteContext};

use super::codes::{self, CodeSpec};
use super::domains::Domain;
use crate::record::import::Imported;
pub use crate::record::import::Withdrawal;
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
/// The tool that accepts a feed. It is also what an applied row is recorded under where callers have no tool for it.
pub(super) const IMPORT_TOOL: &str = "x_frontdesk.import_items";
const EXPECTED_VERSION: &str = "expected_version";

/// A resource and its business rules. Every rule is optional.
pub trait Resource: Stored + Clone {
    const DOMAIN: &'static Domain;
    /// The code of a `unique` value that another record has.
    const DUPLICATE: CodeSpec = codes::descriptions::DUPLICATE;

    /// How a record that a feed no longer lists is withdrawn, if it is.
    const WITHDRAWAL: Option<Withdrawal> = None;

    /// How a text of a unique field is compared when a row of a feed looks for its record.
    fn match_text(field: &str, text: &str) -> String {
        let _ = field;
        text.to_owned()
    }

    /// Whether a row of a feed is recognised by this unique field.
    fn is_matched_by(field: &str) -> bool {
        let _ = field;
        true
    }

    /// A feed lists this record. Adds the arguments that follow from that alone.
    fn on_listed(record: &Self, arguments: &mut Map<String, Value>) {
        let _ = (record, arguments);
    }

    /// Its tools need a person who has logged in at most so many seconds ago (A6-18).
    const MAX_LOGIN_AGE: Option<u32> = None;

    /// How lists of it follow the time; a single record is completed by `derive`.
    const TIMED: Option<TimedAnswers> = None;
    /// Whether `derive` does anything, so that others are answered as they are stored.
    const DERIVES: bool = false;
    /// The fields that only `derive` sets. Exports leave them out, because an empty column would say that there is nothing.
    const NOT_STORED: &'static [&'static str] = &[];

    /// Sets what an answer says about one record and no row stores, because it follows from other rows or the time.
    /// `planned` are the steps that the call itself will take.
    fn derive(
        entity: &mut Entity<Self>,
        permitted: &Permitted<'_>,
        planned: &[Step],
    ) -> impl Future<Output = Result<(), Fault>> + Send {
        let _ = (entity, permitted, planned);
        ready(Ok(()))
    }

    /// What an update is for who follows the events.
    fn change(before: &Self, after: &Self) -> Change {
        let _ = (before, after);
        Change::Updated
    }

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

/// What is said of a resource's imports holds for its files.
impl<R: Resource> Imported for R {
    const WITHDRAWAL: Option<Withdrawal> = R::WITHDRAWAL;

    fn match_text(field: &str, text: &str) -> String {
        R::match_text(field, text)
    }

    fn is_matched_by(field: &str) -> bool {
        R::is_matched_by(field)
    }

    fn on_listed(record: &R, arguments: &mut Map<String, Value>) {
        R::on_listed(record, arguments);
    }

    fn exported(text: String, now: Millis) -> String {
        match R::TIMED {
            Some(timed) => (timed.text)(text, now),
            None => text,
        }
    }
}

/// How answers follow the time at which they are read.
#[derive(Debug, Clone, Copy)]
pub struct TimedAnswers {
    /// Makes the filters of a list mean the same as its answers.
    pub filters: fn(Vec<Filter>, Millis) -> Vec<Filter>,
    /// The stored text of a row as it is answered now.
    pub text: fn(String, Millis) -> String,
}

/// Makes the row and the answer of a stored row.
pub type RenderFn = fn(&TenantId, &StoredRow) -> Result<(Row, Item), Fault>;

/// What a contract collects from its resources.
pub struct ResourceParts {
    pub domain: &'static Domain,
    pub table: &'static TableSpec,
    /// What its rules keep beside it; no tool shows these.
    pub hidden_tables: Vec<&'static TableSpec>,
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
    /// How its records are named, so that what is sent instead of an id is recognised.
    pub kind: RecordKind,
    /// The codes of its own rules.
    pub codes: Vec<CodeSpec>,
    pub import: ImportSpec,
    /// Reads a row and writes it again as a tool would, with the tool's answer: what is sealed, masked, looked up by and
    /// left out of a receipt follows from the fields.
    pub render_row: RenderFn,
}
