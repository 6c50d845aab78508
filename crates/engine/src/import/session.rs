//! Checking and applying rows, a chunk at a time. A row is matched with the record it is about; what it changes becomes
//! one call. Repeating a chunk changes nothing, so an import that was interrupted is simply run again.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesOrdered;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::time::{Instant, sleep};

use super::job::{ImportCounts, ImportJob, ImportMode, OnBadRows};
use super::job_store::JobStore;
use super::queue::Others;
use super::spec::{ImportKey, ImportRow, ImportSpec, RowChange, RowProblem};
use crate::desk::{Desk, Mount};
use crate::model::caller::{Caller, TenantId};
use crate::model::fault::{Fault, FaultKind, Problem};
use crate::model::page::{Direction, Order, Page, PageKey, Projection, Query, Start, Window};
use crate::model::table::StoredRow;
use crate::model::timestamp::Millis;
use crate::model::tool::{Future, Outcome};
use crate::model::trace::Trace;
use crate::pipeline::permit::one_tenant;
use crate::ports::Disclosure;
use crate::serve::own_call::{CallOrigin, OwnTool, call_tool, check_call};

/// How many rows are applied before progress is reported; fewer beside others, because they take longer.
pub const CHUNK_ROWS: usize = 256;
const CHUNK_ROWS_BESIDE_OTHERS: usize = 64;
/// How many rows are under way at once. They are committed together, so another writer waits for that many, and they are
/// planned on the same processors that answer everybody else: only a few while there are others, and then a pause that is
/// as long as they took.
const PARALLEL: usize = 64;
const PARALLEL_BESIDE_OTHERS: usize = 8;
const MAX_PAUSE: Duration = Duration::from_millis(20);
/// A call that the store could not take is repeated after a pause that doubles, before the import gives up.
const MAX_ATTEMPTS: u32 = 8;
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// One import into one tenant.
pub struct ImportSession<'a> {
    desk: &'a Desk,
    mount: &'a Mount,
    spec: &'a ImportSpec,
    index: usize,
    tenant: TenantId,
    id: Arc<str>,
    origin: CallOrigin,
}

/// What became of a row, or would become of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowVerdict {
    Created,
    Updated,
    Unchanged,
    Rejected(Vec<RowProblem>),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowResult {
    pub line: u64,
    pub verdict: RowVerdict,
    /// The record; none for a row that was rejected or only checked.
    pub id: Option<String>,
}

/// The call that a row needs.
enum RowCall {
    Create,
    Update { id: String, arguments: Map<String, Value> },
    None { id: String },
}

impl<'a> ImportSession<'a> {
    /// `name` is that of the kind of record. The caller needs its scope, and must belong to the tenant.
    pub fn new(
        desk: &'a Desk,
        mount: &'a Mount,
        name: &str,
        caller: Arc<Caller>,
        tenant: &TenantId,
        id: &str,
    ) -> Result<ImportSession<'a>, Fault> {
        let found = mount.contract.imports.iter().enumerate().find(|(_, spec)| spec.name == name);
        let (index, spec) = found.ok_or_else(Fault::not_found)?;
        if !caller.scopes.has(&spec.scope) {
            return Err(Fault::missing_scope(&spec.scope));
        }
        let id: Arc<str> = id.into();
        let origin = CallOrigin {
            caller,
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            trace: desk.new_trace(),
            import_id: Some(Arc::clone(&id)),
        };
        let tenant = one_tenant(&origin.caller, Some(tenant.as_str()))?;
        Ok(ImportSession { desk, mount, spec, index, tenant, id, origin })
    }

    pub fn spec(&self) -> &'a ImportSpec {
        self.spec
    }

    pub(super) fn trace(&self) -> &Trace {
        &self.origin.trace
    }

    /// What applying the rows would do now. Nothing is changed and nothing is recorded.
    pub async fn check(&self, rows: &[ImportRow]) -> Result<Vec<RowResult>, Fault> {
        self.each(rows, Purpose::Check).await
    }

    /// Applies the rows, up to 64 at once. A fault is not that of a row: the import stops, and can be repeated.
    pub async fn apply(&self, rows: &[ImportRow]) -> Result<Vec<RowResult>, Fault> {
        self.each(rows, Purpose::Apply).await
    }

    async fn each(&self, rows: &[ImportRow], purpose: Purpose) -> Result<Vec<RowResult>, Fault> {
        let calls: Vec<Future<'_, _>> = rows.iter().map(|row| self.persist(row, purpose)).collect();
        self.run_paced(calls).await
    }

    /// How many rows to apply now before progress is stored.
    pub(super) fn chunk_rows(&self) -> usize {
        match self.desk.import_queue.others(self.desk.now()) {
            Others::Nobody => CHUNK_ROWS,
            Others::Readers | Others::Writers => CHUNK_ROWS_BESIDE_OTHERS,
        }
    }

    /// Runs calls in their order, as many at once as others let it.
    async fn run_paced<T>(&self, calls: Vec<Future<'_, Result<T, Fault>>>) -> Result<Vec<T>, Fault> {
        let mut results = Vec::with_capacity(calls.len());
        let mut waiting = calls.into_iter();
        let mut running = FuturesOrdered::new();
        loop {
            match self.desk.import_queue.others(self.desk.now()) {
                Others::Nobody => {
                    running.extend(waiting.by_ref().take(PARALLEL.saturating_sub(running.len())));
                    match running.next().await {
                        Some(result) => results.push(result?),
                        None => return Ok(results),
                    }
                }
                Others::Readers | Others::Writers => {
                    // First whatever is under way, because the turn may be waited for.
                    while let Some(result) = running.next().await {
                        results.push(result?);
                    }
                    if waiting.len() == 0 {
                        return Ok(results);
                    }
                    let _turn = self.desk.import_queue.turn().await;
                    let began = Instant::now();
                    running.extend(waiting.by_ref().take(PARALLEL_BESIDE_OTHERS));
                    while let Some(result) = running.next().await {
                        results.push(result?);
                    }
                    sleep(began.elapsed().min(MAX_PAUSE)).await;
                }
            }
        }
    }

    /// Repeats a row while the store cannot take it.
    fn persist<'s>(&'s self, row: &'s ImportRow, purpose: Purpose) -> Future<'s, Result<RowResult, Fault>> {
        Box::pin(async move {
            let mut pause = FIRST_PAUSE;
            let mut attempt = 1;
            loop {
                let outcome = match purpose {
                    Purpose::Check => self.check_row(row).await,
                    Purpose::Apply => self.apply_row(row).await,
                };
                match outcome {
                    Ok(result) => return Ok(result),
                    Err(fault) if is_of_the_row(&fault) => return Ok(rejected(row, fault)),
                    Err(fault) if attempt == MAX_ATTEMPTS || fault.kind == FaultKind::Internal => return Err(fault),
                    Err(_) => {}
                }
                sleep(pause).await;
                pause *= 2;
                attempt += 1;
            }
        })
    }

    async fn check_row(&self, row: &ImportRow) -> Result<RowResult, Fault> {
        let (tool, arguments, verdict, id) = match self.call_of(row).await? {
            RowCall::None { id } => return Ok(result(row, RowVerdict::Unchanged, Some(id))),
            RowCall::Create => (&self.spec.create, row.arguments.clone(), RowVerdict::Created, None),
            RowCall::Update { id, arguments } => {
                (&self.spec.update, with_id(&id, arguments), RowVerdict::Updated, Some(id))
            }
        };
        let arguments = self.with_tenant(arguments);
        check_call(self.desk, self.mount, &self.origin.caller, tool, arguments).await?;
        Ok(result(row, verdict, id))
    }

    async fn apply_row(&self, row: &ImportRow) -> Result<RowResult, Fault> {
        let call = if row.is_new { RowCall::Create } else { self.call_of(row).await? };
        match call {
            RowCall::None { id } => Ok(result(row, RowVerdict::Unchanged, Some(id))),
            RowCall::Update { id, arguments } => self.update(row, id, arguments).await,
            RowCall::Create => match self.create(row).await {
                // Somebody else may have added the record meanwhile.
                Err(fault) if matches!(fault.kind, FaultKind::Domain(_)) && self.is_matched(row) => {
                    match self.call_of(row).await? {
                        RowCall::None { id } => Ok(result(row, RowVerdict::Unchanged, Some(id))),
                        RowCall::Update { id, arguments } => self.update(row, id, arguments).await,
                        RowCall::Create => Err(fault),
                    }
                }
                created => created,
            },
        }
    }

    async fn create(&self, row: &ImportRow) -> Result<RowResult, Fault> {
        // A matched record is found again by its own values; only others need a stored key.
        let own_key = || format!("{}.{}", self.id, row.line);
        let key = (!self.is_matched(row)).then(|| row.key.clone().unwrap_or_else(own_key));
        let id = self.call(OwnTool::ImportCreate(self.index), row.arguments.clone(), key).await?;
        Ok(result(row, RowVerdict::Created, id))
    }

    async fn update(&self, row: &ImportRow, id: String, arguments: Map<String, Value>) -> Result<RowResult, Fault> {
        self.call(OwnTool::ImportUpdate(self.index), with_id(&id, arguments), None).await?;
        Ok(result(row, RowVerdict::Updated, Some(id)))
    }

    async fn call(
        &self,
        tool: OwnTool,
        arguments: Map<String, Value>,
        key: Option<String>,
    ) -> Result<Option<String>, Fault> {
        let outcome = call_tool(self.desk, self.mount, &self.origin, tool, self.with_tenant(arguments), key).await?;
        Ok(match outcome {
            Outcome::One(item) => Some(item.id),
            Outcome::Many(_) | Outcome::Raw { .. } => None,
        })
    }

    fn is_matched(&self, row: &ImportRow) -> bool {
        !self.spec.rules.keys(&row.arguments).is_empty()
    }

    async fn call_of(&self, row: &ImportRow) -> Result<RowCall, Fault> {
        let Some(record) = self.matching(row).await? else {
            return Ok(RowCall::Create);
        };
        let arguments = self.spec.row.check(row.arguments.clone())?;
        Ok(match self.spec.rules.compare(&self.tenant, &record, &arguments)? {
            RowChange::Nothing => RowCall::None { id: record.id },
            RowChange::Update(arguments) => RowCall::Update { id: record.id, arguments },
        })
    }

    /// The record that the row is about.
    async fn matching(&self, row: &ImportRow) -> Result<Option<StoredRow>, Fault> {
        let (store, table) = (&self.desk.store, self.spec.table);
        let mut found: Option<StoredRow> = None;
        for ImportKey { field, column, cell } in self.spec.rules.keys(&row.arguments) {
            let Some(record) = store.find(&self.tenant, table, column, cell).await? else { continue };
            match &found {
                Some(known) if known.id != record.id => {
                    let reason = format!("it matches two records: its {field} is that of another {}", self.spec.noun);
                    return Err(Fault::invalid_argument(&format!("/{field}"), "unique", reason));
                }
                Some(_) => {}
                None => found = Some(record),
            }
        }
        match found {
            Some(record) if self.spec.rules.has_sealed_parts() => {
                store.get(&self.tenant, table, &record.id, Disclosure::ToChange).await
            }
            found => Ok(found),
        }
    }

    /// Ids of records that a complete feed would list, in the order of their ids: a page, and where the next one begins.
    /// None if records of this kind cannot be withdrawn.
    pub async fn listed(&self, after: Option<PageKey>) -> Result<Option<Page>, Fault> {
        let Some((filters, _)) = self.spec.rules.withdrawal() else {
            return Ok(None);
        };
        let query = Query {
            projection: Projection::Ids,
            table: self.spec.table,
            filters,
            order: Order { column: "created_at", direction: Direction::Ascending },
            window: Window {
                start: after.map_or(Start::First, Start::After),
                limit: 1_000,
                bytes: self.desk.settings.page_bytes,
            },
        };
        self.desk.store.page(&self.tenant, query).await.map(Some)
    }

    /// Withdraws records that a feed no longer lists.
    pub async fn withdraw_records(&self, ids: &[String]) -> Result<(), Fault> {
        let Some((_, arguments)) = self.spec.rules.withdrawal() else {
            return Ok(());
        };
        let set_aside = async |id: &String| {
            let arguments = with_id(id, arguments.clone());
            match self.call(OwnTool::ImportUpdate(self.index), arguments, None).await {
                // One that was removed meanwhile is withdrawn already.
                Err(fault) if fault.kind != FaultKind::NotFound => Err(fault),
                Ok(_) | Err(_) => Ok(()),
            }
        };
        let calls: Vec<Future<'_, _>> = ids.iter().map(|id| -> Future<'_, _> { Box::pin(set_aside(id)) }).collect();
        self.run_paced(calls).await.map(drop)
    }

    /// When an earlier run of this import was completed, and what it came to.
    pub async fn earlier(&self) -> Result<Option<(Millis, ImportCounts)>, Fault> {
        let earlier = self.jobs().get(&self.id).await?;
        Ok(earlier.and_then(|job| Some((Millis(job.state.finished_at?), job.state.counts))))
    }

    /// Records that the import was completed by whoever runs this session, and what it came to.
    pub async fn record_completed(&self, counts: ImportCounts) -> Result<(), Fault> {
        let mode = ImportMode { dry_run: false, bad_rows: OnBadRows::Skip, withdraw_percent: None };
        let job = ImportJob::new(self.id.to_string(), self.desk.now(), self.spec.name, mode, &self.origin.caller);
        self.jobs().record_completed(job, counts, self.trace()).await
    }

    fn jobs(&self) -> JobStore<'_> {
        JobStore { desk: self.desk, mount: self.mount, tenant: &self.tenant }
    }

    fn with_tenant(&self, mut arguments: Map<String, Value>) -> Map<String, Value> {
        let name = self.mount.contract.dialect.tenant_argument();
        arguments.entry(name).or_insert_with(|| Value::from(self.tenant.as_str()));
        arguments
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Check,
    Apply,
}

fn with_id(id: &str, mut arguments: Map<String, Value>) -> Map<String, Value> {
    arguments.insert("id".to_owned(), Value::from(id));
    arguments
}

fn result(row: &ImportRow, verdict: RowVerdict, id: Option<String>) -> RowResult {
    RowResult { line: row.line, verdict, id }
}

/// Whether the row is at fault, and not the server or its database.
fn is_of_the_row(fault: &Fault) -> bool {
    let of_the_server = [FaultKind::Internal, FaultKind::OutcomeUnknown];
    !fault.kind.retryable() && !of_the_server.contains(&fault.kind)
}

fn rejected(row: &ImportRow, fault: Fault) -> RowResult {
    let problems = if fault.problems.is_empty() {
        vec![RowProblem { field: String::new(), reason: fault.message.into_owned() }]
    } else {
        let problem = |problem: &Problem| RowProblem { field: problem.pointer.clone(), reason: problem.reason() };
        fault.problems.iter().map(problem).collect()
    };
    result(row, RowVerdict::Rejected(problems), None)
}
