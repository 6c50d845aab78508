//! The tools of imports: one that accepts a feed, one that tells how far an import is, one that lists them. A contract
//! chooses their names and words.

use serde_json::Value;

use super::job::{
    ID_PREFIX, IMPORT, IMPORT_FEED, ImportJob, ImportMode, ImportStatus, OPEN, OnBadRows, RESOURCE, STATUS,
};
use super::spec::{FeedText, ImportSpec};
use crate::model::caller::Scope;
use crate::model::fault::{Code, Fault, FaultKind};
use crate::model::incoming::Verb;
use crate::model::page::{CountQuery, Direction, Filter, Order, Projection, Query};
use crate::model::plan::{Change, Event, Plan, Step};
use crate::model::route::{Route, RouteBody};
use crate::model::schema::{Field, Schema, optional, required};
use crate::model::table::{Cell, Row};
use crate::model::tool::{
    Effect, Future, Item, ListAnswer, Outcome, RateKey, ReadTool, Run, ScopeRule, Sensitivity, Tool, ToolSpec,
    WriteTool,
};
use crate::pipeline::permit::Permitted;

/// How many items a call may carry, and how many characters a feed may have.
const MAX_ITEMS: usize = 10_000;
const MAX_FEED: usize = 64 * 1024 * 1024;
/// How far a list is counted.
const MAX_TOTAL: usize = 10_000;
/// How many imports of a tenant may wait or run at once.
const MAX_OPEN: usize = 10;
/// Media types under which a feed is the whole body.
const FEED_TYPES: &[&str] =
    &["text/csv", "text/tab-separated-values", "text/plain", "application/x-ndjson", "application/jsonl"];

/// What a contract says about its import tools.
pub struct ImportToolTexts {
    pub submit: (&'static str, &'static str, &'static str),
    pub get: (&'static str, &'static str, &'static str),
    pub list: (&'static str, &'static str, &'static str),
    pub not_found: Code,
    /// From the bytes of a feed to its text.
    pub decode: fn(&[u8]) -> Result<String, Fault>,
    /// The arguments that every tool of the contract has: the tenant, the idempotency key, and those of a page.
    pub tenant: Field,
    pub key: Field,
    pub page: Vec<Field>,
    /// From the schema of one to that of a page.
    pub page_of: fn(Schema) -> Schema,
}

/// The tools for these kinds of records.
pub fn import_tools(imports: &[ImportSpec], texts: ImportToolTexts) -> Vec<Tool> {
    // Rows are applied later, when the login of whoever sent them is no longer recent: such records come from the operator,
    // and that they came is not for callers without a login.
    let pushed = || imports.iter().filter(|spec| spec.create.spec.max_login_age.is_none());
    let scopes: Vec<(&'static str, Scope)> = pushed().map(|spec| (spec.name, spec.scope.clone())).collect();
    // Made once per contract, so the list is leaked instead of counted.
    let names: &'static [&'static str] = pushed().map(|spec| spec.name).collect::<Vec<_>>().leak();
    let mut any: Vec<Scope> = Vec::new();
    for (_, scope) in &scopes {
        if !any.contains(scope) {
            any.push(scope.clone());
        }
    }
    let output = output(texts.tenant.name);
    let spec = |(name, title, about): (&'static str, &'static str, &'static str), effect: Effect| ToolSpec {
        name,
        title,
        about,
        input: Schema::object([]),
        output: output.clone(),
        effect,
        scope: ScopeRule::AnyOf(any.clone()),
        unmask_scope: None,
        sensitivity: Sensitivity::Business,
        max_login_age: None,
        rate: RateKey::Client,
        route: None,
        codes: Vec::new(),
    };
    let body = RouteBody::Text { argument: "feed", media_types: FEED_TYPES, decode: texts.decode };
    let submit = Tool {
        spec: ToolSpec {
            input: submit_input(names, texts.key, texts.tenant.clone()),
            scope: ScopeRule::ByArgument { name: RESOURCE, scopes: scopes.clone() },
            route: Some(Route {
                variable: RESOURCE,
                body,
                success: Some(202),
                ..Route::new(Verb::Post, "/imports/{id}")
            }),
            ..spec(texts.submit, Effect::Adds)
        },
        run: Run::write(SubmitImport { tenant_argument: texts.tenant.name }),
    };
    let id = required("id", Schema::text(64), "The import's id, as it was answered.");
    let get = Tool {
        spec: ToolSpec {
            input: Schema::object([id, texts.tenant.clone()]),
            route: Some(Route::new(Verb::Get, "/imports/{id}")),
            codes: vec![texts.not_found],
            ..spec(texts.get, Effect::Reads)
        },
        run: Run::read(GetImport { scopes: scopes.clone() }),
    };
    let filters = [
        optional(RESOURCE, Schema::one_of(names), "Only imports of this kind."),
        optional(STATUS, Schema::one_of(ImportStatus::WORDS), "Only imports with this status."),
    ];
    let list = Tool {
        spec: ToolSpec {
            input: Schema::object(filters.into_iter().chain(texts.page).chain([texts.tenant])),
            output: (texts.page_of)(output.clone()),
            route: Some(Route::new(Verb::Get, "/imports")),
            ..spec(texts.list, Effect::Reads)
        },
        run: Run::read(ListImports { scopes }),
    };
    vec![submit, get, list]
}

fn submit_input(names: &'static [&'static str], key: Field, tenant: Field) -> Schema {
    Schema::object([
        required(RESOURCE, Schema::one_of(names), "What the rows are."),
        optional(
            "items",
            Schema::non_empty_list(Schema::AnyObject, MAX_ITEMS),
            "The rows, each an object with the arguments of a create. Send these or feed.",
        ),
        optional("feed", Schema::text(MAX_FEED), "The text of a CSV or JSON file instead of items."),
        optional("dry_run", Schema::Boolean, "true: only say what would be done."),
        optional(
            "bad_rows",
            Schema::one_of(OnBadRows::WORDS),
            "What happens if a row is wrong: refuse applies nothing (the default), skip applies the others.",
        ),
        optional(
            "withdraw_percent",
            Schema::integer(0, 100),
            "Withdraw what the rows do not list, unless it is more than this share of all. Without it nothing is withdrawn.",
        ),
        key,
        tenant,
    ])
}

/// In answers a state can always be unknown: later versions may have more of them.
const STATUSES: &[&str] = &["queued", "checking", "applying", "completed", "rejected", "failed", "unknown"];

fn output(tenant: &'static str) -> Schema {
    const TYPE: &[&str] = &["import"];
    let count = |name, about| required(name, Schema::integer(0, i64::from(u32::MAX)), about);
    let problem = Schema::object([
        required("line", Schema::integer(0, i64::from(u32::MAX)), "The line of the file, or the number of the item."),
        optional("field", Schema::text(200), "The column or argument; absent for the row as a whole."),
        required("reason", Schema::text(4000), "What would be right."),
    ]);
    Schema::object([
        required("id", Schema::text(64), "Its id."),
        required("type", Schema::one_of(TYPE), "Always import."),
        required(tenant, Schema::text(64), "The tenant it belongs to."),
        required(RESOURCE, Schema::text(64), "What the rows are."),
        required(STATUS, Schema::one_of(STATUSES), "How far it is; rejected: a row was wrong and nothing was applied."),
        required("dry_run", Schema::Boolean, "Whether rows were only checked."),
        count("rows", "How many rows have been looked at."),
        count("created", "How many records were added."),
        count("updated", "How many records were changed."),
        count("unchanged", "How many records were as the row says."),
        count("rejected", "How many rows were wrong."),
        count("withdrawn", "How many records were withdrawn because no row is about them."),
        required("problems", Schema::list(problem, 200), "The first wrong rows and why."),
        optional("reason", Schema::text(4000), "Why it ended without being completed."),
        required("version", Schema::integer(1, i64::from(u32::MAX)), "Its version."),
        required("created_at", timestamp(), "When it was accepted."),
        required("updated_at", timestamp(), "When its status or its counts last changed."),
        optional("finished_at", timestamp(), "When it ended."),
    ])
}

fn timestamp() -> Schema {
    Schema::Text(crate::model::schema::TextFormat::Timestamp)
}

/// Accepts a feed: it is stored before the caller is answered, and run by the worker.
struct SubmitImport {
    tenant_argument: &'static str,
}

impl WriteTool for SubmitImport {
    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
        Box::pin(async move {
            let arguments = &permitted.input().arguments;
            let feed = match (arguments.get("items"), arguments.get("feed")) {
                (Some(Value::Array(items)), None) => FeedText::Items(items.clone()),
                (None, Some(Value::String(text))) => FeedText::Text(text.clone()),
                _ => {
                    return Err(Fault::invalid_argument("", "oneOf", "either items or feed is required, and not both"));
                }
            };
            let text = |name: &str| arguments.get(name).and_then(Value::as_str);
            let mode = ImportMode {
                dry_run: arguments.get("dry_run") == Some(&Value::Bool(true)),
                bad_rows: if text("bad_rows") == Some("skip") { OnBadRows::Skip } else { OnBadRows::Refuse },
                withdraw_percent: permitted
                    .input()
                    .integer("withdraw_percent")
                    .and_then(|share| u8::try_from(share).ok()),
            };
            check_room(permitted).await?;
            let (now, id) = (permitted.now(), permitted.new_id(ID_PREFIX));
            let job = ImportJob::new(id.clone(), now, text(RESOURCE).unwrap_or_default(), mode, permitted.caller());
            let tenant = (self.tenant_argument, permitted.tenant());
            let unwritable = || Fault::internal("an import cannot be written");
            let row = job.row(permitted.contract(), tenant, now).ok_or_else(unwritable)?;
            let body = row.body.clone();
            let feed = Row {
                cells: Vec::new(),
                body: "{}".to_owned(),
                secret: Some(serde_json::to_string(&feed).map_err(|_| unwritable())?),
                ..row.clone()
            };
            let taken = || Fault::internal("two imports have one id");
            let steps = vec![
                Step::Insert { table: &IMPORT, row, on_duplicate: taken() },
                Step::Insert { table: &IMPORT_FEED, row: feed, on_duplicate: taken() },
            ];
            let events = vec![Event { kind: IMPORT.name, id: id.clone(), change: Change::Created }];
            Ok(Plan { steps, events, outcome: Item { id, version: 1, body, masked: None, personal: None } })
        })
    }

    fn committed(&self, permitted: &Permitted<'_>, _: &Item) {
        permitted.desk().import_queue.push(permitted.tenant());
    }
}

async fn check_room(permitted: &Permitted<'_>) -> Result<(), Fault> {
    let open = vec![Filter::Equals(OPEN, Cell::Text(permitted.contract().to_owned()))];
    let query = CountQuery { table: &IMPORT, filters: open, max: MAX_OPEN };
    if permitted.desk().store.count(permitted.tenant(), query).await? < MAX_OPEN {
        return Ok(());
    }
    let message = format!("{MAX_OPEN} imports are waiting already. Send this one when some have ended.");
    Err(Fault::new(FaultKind::QueueFull, message).retry_after(30))
}

/// Reads the status of one import, of a kind that the caller may write.
struct GetImport {
    scopes: Vec<(&'static str, Scope)>,
}

impl ReadTool for GetImport {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let id = permitted.input().text("id").unwrap_or_default();
            let missing = || Fault::new(FaultKind::NotFound, "No import with this id exists here.");
            let row = permitted.get(&IMPORT, id).await?.ok_or_else(missing)?;
            let state: Value = serde_json::from_str(&row.body).unwrap_or_default();
            let resource = state.get(RESOURCE).and_then(Value::as_str).unwrap_or_default();
            if !allowed(&self.scopes, permitted).contains(&resource) {
                return Err(missing());
            }
            Ok(Outcome::One(Item { id: row.id, version: row.version, body: row.body, masked: None, personal: None }))
        })
    }
}

struct ListImports {
    scopes: Vec<(&'static str, Scope)>,
}

impl ReadTool for ListImports {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let wanted = permitted.input().text(RESOURCE);
            let resources = allowed(&self.scopes, permitted).into_iter();
            let resources = resources.filter(|name| wanted.is_none_or(|wanted| wanted == *name));
            let cells = resources.map(|name| Cell::Text(name.to_owned())).collect();
            let mut filters = vec![Filter::AnyOf(RESOURCE, cells)];
            filters
                .extend(permitted.input().text(STATUS).map(|word| Filter::Equals(STATUS, Cell::Text(word.to_owned()))));
            let query = Query {
                projection: Projection::Rows,
                table: &IMPORT,
                filters,
                order: Order { column: "created_at", direction: Direction::Descending },
                window: permitted.window(),
            };
            let filters = query.filters.clone();
            let page = permitted.page(query).await?;
            let total = permitted.total(&IMPORT, || Ok(filters), &page, MAX_TOTAL).await?;
            Ok(Outcome::Many(Box::new(ListAnswer { page, total, note: None })))
        })
    }
}

/// The kinds that the caller may write.
fn allowed(scopes: &[(&'static str, Scope)], permitted: &Permitted<'_>) -> Vec<&'static str> {
    scopes.iter().filter(|(_, scope)| permitted.caller().scopes.has(scope)).map(|(name, _)| *name).collect()
}
