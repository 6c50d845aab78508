//! Stage 7: from a caller and what it asked to permission for exactly one tenant. `Permitted` can only
//! be made here, and every read of data and every plan starts from one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use frontdesk_wire::json::canonical_object;
use serde_json::{Map, Value};

use crate::cursor::{self, CursorState};
use crate::desk::{Desk, Mount};
use crate::limits::rate::Budget;
use crate::model::caller::{Caller, TenantId};
use crate::model::contract::Contract;
use crate::model::fault::{Fault, FaultKind, Problem};
use crate::model::notice::Notice;
use crate::model::page::{CountQuery, Filter, Page, Query, Start, Total, Window};
use crate::model::plan::Event;
use crate::model::table::{Cell, StoredRow, TableSpec};
use crate::model::timestamp::{Millis, MonotonicMillis};
use crate::model::tool::{Item, RateKey, Sensitivity, ToolSpec};
use crate::model::tool_input::ToolInput;
use crate::ports::http_client::HttpClient;
use crate::ports::site_db::{CallerSiteDb, SiteDb};
use crate::ports::{Claim, Disclosure};
use crate::seal::sha256;

/// Permission for one caller to use one tool on one tenant. Reads go through it, so no tool can name
/// another tenant.
pub struct Permitted<'a> {
    desk: &'a Desk,
    site_db: Option<&'a dyn SiteDb>,
    contract: &'a Contract,
    spec: &'a ToolSpec,
    caller: Arc<Caller>,
    tenant: TenantId,
    input: ToolInput,
    disclosure: Disclosure,
    window: Option<Window>,
    /// Whether a filter searched by personal data.
    personal_filter: AtomicBool,
}

pub fn permit<'a>(
    desk: &'a Desk,
    mount: &'a Mount,
    caller: &Arc<Caller>,
    spec: &'a ToolSpec,
    input: ToolInput,
) -> Result<Permitted<'a>, Fault> {
    if let Some(max_age) = spec.max_login_age
        && !caller.has_login_within(max_age, desk.now())
    {
        return Err(Fault::step_up(max_age));
    }
    let tenant = one_tenant(caller, input.tenant.as_deref()).map_err(|fault| name_tenants(fault, mount, caller))?;
    let mut input = input;
    let window = open_window(desk, mount, &tenant, spec, &mut input)?;
    if let RateKey::Argument { name, per_minute, burst } = spec.rate
        && let Some(subject) = input.text(name)
    {
        let key = [mount.contract.id, tenant.as_str(), spec.name, subject];
        let budget = Budget { per_minute, burst };
        desk.rates.take(&key, budget, desk.monotonic()).map_err(rate_limited)?;
    }
    let disclosure = match &spec.unmask_scope {
        Some(scope) if caller.scopes.has(scope) => Disclosure::Full,
        Some(_) | None => Disclosure::Masked,
    };
    Ok(Permitted {
        desk,
        site_db: mount.site_db.as_deref(),
        contract: &mount.contract,
        spec,
        caller: Arc::clone(caller),
        tenant,
        input,
        disclosure,
        window,
        personal_filter: AtomicBool::new(false),
    })
}

pub(crate) fn rate_limited(seconds: u64) -> Fault {
    Fault::new(FaultKind::RateLimited, "Too many calls; wait before the next one.").retry_after(seconds)
}

/// A caller that must name a tenant is told which ones it may name.
fn name_tenants(fault: Fault, mount: &Mount, caller: &Caller) -> Fault {
    if fault.kind != FaultKind::TenantRequired {
        return fault;
    }
    let ids: Vec<&str> = caller.tenants.iter().map(TenantId::as_str).collect();
    let problem = Problem {
        pointer: format!("/{}", mount.contract.dialect.tenant_argument()),
        keyword: "required",
        expected: format!("one of these is expected: {}", ids.join(", ")),
    };
    Fault { problems: vec![problem], ..fault }
}

/// The tenant is always explicit: the only one of the caller, or the one it names.
pub(crate) fn one_tenant(caller: &Caller, asked: Option<&str>) -> Result<TenantId, Fault> {
    match (asked, caller.tenants.as_slice()) {
        (Some(asked), tenants) => tenants.iter().find(|tenant| tenant.as_str() == asked).cloned().ok_or_else(|| {
            Fault::new(FaultKind::TenantForbidden, "This token does not belong to the tenant that was named.")
        }),
        (None, [only]) => Ok(only.clone()),
        (None, []) => Err(Fault::new(FaultKind::TenantForbidden, "This token belongs to no tenant.")),
        (None, [_, _, ..]) => {
            Err(Fault::new(FaultKind::TenantRequired, "This token belongs to several tenants; name one of them."))
        }
    }
}

/// Opens the cursor, if there is one. A cursor alone continues the list it came from; beside filters
/// it must have come from the same ones.
fn open_window(
    desk: &Desk,
    mount: &Mount,
    tenant: &TenantId,
    spec: &ToolSpec,
    input: &mut ToolInput,
) -> Result<Option<Window>, Fault> {
    let Some(asked) = &input.window else {
        return Ok(None);
    };
    let mut limit = asked.limit.unwrap_or(asked.default_limit);
    let start = match &asked.cursor {
        None => Start::First,
        Some(cursor) => {
            let scope = cursor_scope(mount.contract.id, tenant, spec);
            let state = cursor::open(&desk.keys.cursor, desk.now(), scope, cursor)?;
            if !input.arguments.is_empty() && input.arguments != state.filter {
                return Err(Fault::new(
                    FaultKind::InvalidCursor,
                    "This cursor was issued for other filters. Repeat the same filters, or start again without a cursor.",
                ));
            }
            if asked.limit.is_none() {
                limit = state.limit;
            }
            input.arguments = state.filter;
            Start::After(state.key)
        }
    };
    Ok(Some(Window { start, limit, bytes: desk.settings.page_bytes }))
}

fn cursor_scope<'a>(contract: &'a str, tenant: &'a TenantId, spec: &ToolSpec) -> cursor::CursorScope<'a> {
    cursor::CursorScope { contract, tenant: tenant.as_str(), tool: spec.name }
}

impl Permitted<'_> {
    pub fn tenant(&self) -> &TenantId {
        &self.tenant
    }

    pub fn caller(&self) -> &Arc<Caller> {
        &self.caller
    }

    /// The contract's id.
    pub(crate) fn contract(&self) -> &'static str {
        self.contract.id
    }

    pub(crate) fn desk(&self) -> &Desk {
        self.desk
    }

    pub fn input(&self) -> &ToolInput {
        &self.input
    }

    pub fn disclosure(&self) -> Disclosure {
        self.disclosure
    }

    /// Whether the caller sees personal data in this answer.
    pub(crate) fn reveals_personal_data(&self, item: &Item) -> bool {
        let is_whole = self.disclosure == Disclosure::Full && item.personal.is_some();
        is_whole && self.spec.sensitivity == Sensitivity::Personal
    }

    /// Whether a person has logged in for the caller at most so many seconds ago; `None` asks for no login.
    pub fn has_login_within(&self, max_age: Option<u32>) -> bool {
        max_age.is_none_or(|max_age| self.caller.has_login_within(max_age, self.desk.now()))
    }

    pub fn now(&self) -> Millis {
        self.desk.now()
    }

    /// For caches, which no set clock may lengthen or end.
    pub fn monotonic(&self) -> MonotonicMillis {
        self.desk.monotonic()
    }

    /// A new id: the prefix, the time and 80 random bits, so that ids sort by age.
    pub fn new_id(&self, prefix: &str) -> String {
        self.desk.new_id(prefix)
    }

    /// The window onto a list. A tool without one in its schema gets a single row.
    pub fn window(&self) -> Window {
        self.window.clone().unwrap_or(Window { start: Start::First, limit: 1, bytes: self.desk.settings.page_bytes })
    }

    pub async fn get(&self, table: &'static TableSpec, id: &str) -> Result<Option<StoredRow>, Fault> {
        self.desk.store.get(&self.tenant, table, id, self.disclosure).await
    }

    /// As `get`, with personal data and write-only values whatever the caller may see: for a tool that changes a row it
    /// need not show.
    pub async fn get_to_change(&self, table: &'static TableSpec, id: &str) -> Result<Option<StoredRow>, Fault> {
        self.desk.store.get(&self.tenant, table, id, Disclosure::ToChange).await
    }

    /// What the caller is told about an id of which this table has no row.
    pub async fn missing_message(&self, table: &'static TableSpec, id: &str) -> Result<String, Fault> {
        self.contract.dialect.missing_message(self, table, id).await
    }

    pub async fn find(
        &self,
        table: &'static TableSpec,
        column: &'static str,
        value: Cell,
    ) -> Result<Option<StoredRow>, Fault> {
        self.desk.store.find(&self.tenant, table, column, value).await
    }

    pub async fn page(&self, query: Query) -> Result<Page, Fault> {
        if query.filters.iter().any(Filter::is_personal) {
            self.personal_filter.store(true, Ordering::Relaxed);
        }
        self.desk.store.page(&self.tenant, query).await
    }

    /// How many rows pass these filters, counted to `max` at most.
    pub async fn count(&self, table: &'static TableSpec, filters: Vec<Filter>, max: usize) -> Result<usize, Fault> {
        self.desk.store.count(&self.tenant, CountQuery { table, filters, max }).await
    }

    /// How many rows pass these filters, if the caller asked for it. They are counted to `max` at most, and not at all if
    /// `page` has all of them.
    pub async fn total(
        &self,
        table: &'static TableSpec,
        filters: impl FnOnce() -> Result<Vec<Filter>, Fault>,
        page: &Page,
        max: usize,
    ) -> Result<Option<Total>, Fault> {
        if !self.input.window.as_ref().is_some_and(|window| window.with_total) {
            return Ok(None);
        }
        if page.next.is_none() && self.window().start == Start::First {
            return Ok(Some(Total::Exactly(page.rows.len())));
        }
        let query = CountQuery { table, filters: filters()?, max: max.saturating_add(1) };
        let found = self.desk.store.count(&self.tenant, query).await?;
        Ok(Some(if found > max { Total::MoreThan(max) } else { Total::Exactly(found) }))
    }

    /// The same permission with other arguments: for a tool that plans or reads with the help of another one. `limit` is
    /// the largest number of rows of a page.
    pub fn with_arguments(&self, arguments: Map<String, Value>, limit: usize) -> Permitted<'_> {
        let input = ToolInput { arguments, tenant: None, window: None, idempotency_key: None };
        let window = Window { start: Start::First, limit, bytes: self.desk.settings.page_bytes };
        Permitted {
            desk: self.desk,
            site_db: self.site_db,
            contract: self.contract,
            spec: self.spec,
            caller: Arc::clone(&self.caller),
            tenant: self.tenant.clone(),
            input,
            disclosure: self.disclosure,
            window: Some(window),
            personal_filter: AtomicBool::new(false),
        }
    }

    /// Seals what a later call of the same tenant brings back, for one purpose. The holder cannot read or change it.
    pub fn seal(&self, purpose: &str, content: &[u8]) -> Result<String, Fault> {
        let associated = [self.contract.id, self.tenant.as_str(), "token", purpose];
        let sealed = self.desk.keys.cursor.seal(self.desk.random.as_ref(), &associated, content);
        sealed
            .map(|sealed| URL_SAFE_NO_PAD.encode(sealed))
            .ok_or_else(|| Fault::internal("a token could not be sealed"))
    }

    /// What was sealed for this purpose; none for anything else.
    pub fn open(&self, purpose: &str, sealed: &str) -> Option<Vec<u8>> {
        let associated = [self.contract.id, self.tenant.as_str(), "token", purpose];
        self.desk.keys.cursor.open(&associated, &URL_SAFE_NO_PAD.decode(sealed).ok()?)
    }

    /// How other servers are called.
    pub fn http_client(&self) -> &dyn HttpClient {
        self.desk.http_client.as_ref()
    }

    /// The database that the mount reads, with the caller's share of its connections.
    pub fn site_db(&self) -> Result<CallerSiteDb<'_>, Fault> {
        let site_db = self.site_db.ok_or_else(|| Fault::internal("this mount has no site database"))?;
        Ok(CallerSiteDb { site_db, caller: self.caller.client.as_str() })
    }

    pub(crate) fn personal_filter(&self) -> bool {
        self.personal_filter.load(Ordering::Relaxed)
    }

    /// Seals where a page ended.
    pub(crate) fn cursor(&self, key: crate::model::page::PageKey) -> Option<String> {
        let state = CursorState { filter: self.input.arguments.clone(), key, limit: self.window().limit };
        let scope = cursor_scope(self.contract.id, &self.tenant, self.spec);
        let random = self.desk.random.as_ref();
        cursor::issue(&self.desk.keys.cursor, random, self.desk.now(), scope, &state)
    }

    pub(crate) fn claim(&self) -> Option<Claim> {
        let key = self.input.idempotency_key.clone()?;
        let (client, request_hash) = (self.caller.client.clone(), self.request_hash());
        Some(Claim { client, tool: self.spec.name, key, request_hash })
    }

    /// What two requests have in common if they ask for the same.
    pub fn request_hash(&self) -> [u8; 32] {
        let mut request = self.contract.id.as_bytes().to_vec();
        // A contract's name has no zero in it, so no two pairs read the same.
        request.push(0);
        request.extend(canonical_object(&self.input.arguments));
        sha256(&request)
    }

    /// The name of the tool.
    pub(crate) fn tool(&self) -> &'static str {
        self.spec.name
    }

    /// Tells the operator about something that is no call.
    pub fn notify(&self, notice: &Notice<'_>) {
        self.desk.observer.on_notice(notice);
    }

    pub(crate) fn with_event_ids(&self, events: Vec<Event>) -> Vec<(String, Event)> {
        events.into_iter().map(|event| (self.desk.new_id("evt"), event)).collect()
    }
}
