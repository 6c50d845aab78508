//! `resources/list`: every readable address, page by page. Fixed documents first, then the rows of
//! each kind the caller may read, one kind after the other.

use frontdesk_wire::answer::{CacheHint, CacheScope, finished_result, quote};
use serde_json::{Map, Value};

use crate::cursor::{self, CursorScope, CursorState};
use crate::desk::{Desk, Mount};
use crate::model::caller::{Caller, TenantId};
use crate::model::contract::{Contract, ResourceSource, ResourceTemplate};
use crate::model::fault::{Fault, FaultKind};
use crate::model::page::{Direction, Order, Page, PageKey, Projection, Query, Start, Window};
use crate::model::reply::Reply;
use crate::model::table::TableSpec;
use crate::model::timestamp::Millis;
use crate::pipeline::record::CallRecord;
use crate::pipeline::resolve::uri_template;
use crate::serve::CallContext;

const PAGE: usize = 100;
const SECTION: &str = "section";

pub(crate) async fn list(context: &CallContext<'_, '_>, cursor: Option<String>) -> Result<Reply, Fault> {
    let CallRecord { desk, mount, .. } = *context.record;
    let caller = context.caller.as_ref();
    let contract = &mount.contract;
    // A caller of several tenants sees only what belongs to none: a list has no place to name one.
    let tenant = match caller.tenants.as_slice() {
        [only] => Some(only),
        _ => None,
    };
    let sections = sections(contract, caller, desk.now());
    let mut entries = Vec::new();
    let (mut section, mut start) = match (&cursor, tenant) {
        (None, _) => {
            entries.extend(fixed(contract, caller, tenant));
            (0, Start::First)
        }
        (Some(cursor), Some(tenant)) => resume(desk, mount, tenant, &sections, cursor)?,
        (Some(_), None) => {
            return Err(Fault::new(FaultKind::InvalidCursor, "This list has one page and issues no cursors."));
        }
    };
    let mut next = None;
    while let (Some(tenant), Some((resource, kind))) = (tenant, sections.get(section)) {
        let room = PAGE.saturating_sub(entries.len());
        let page = ids(desk, tenant, kind, start, room.max(1)).await?;
        if room == 0 {
            // A full page has a next one only if there is something to put on it.
            if !page.rows.is_empty() {
                next = Some((*resource, before_all()));
                break;
            }
            section += 1;
            start = Start::First;
            continue;
        }
        let name = contract.dialect.tenant_argument();
        for id in &page.rows {
            let values = [(name, tenant.as_str()), ("id", id.as_str())];
            if let Some(address) = uri_template::expand(resource.template, &values) {
                entries.push(entry(&address, id, resource.title));
            }
        }
        if let Some(key) = page.next {
            next = Some((*resource, key));
            break;
        }
        section += 1;
        start = Start::First;
    }
    let cursor = match (next, tenant) {
        (Some((resource, key)), Some(tenant)) => Some(issue(desk, mount, tenant, resource, key)?),
        (Some(_), None) | (None, _) => None,
    };
    let more = cursor.map(|cursor| format!(",\"nextCursor\":{}", quote(&cursor))).unwrap_or_default();
    let result = format!("{{\"resources\":[{}]{more}}}", entries.join(","));
    let cache = CacheHint { ttl_ms: 0, scope: CacheScope::Private };
    let reply_context = context.record.reply_context();
    Ok(reply_context.rpc_result(&finished_result(&result, &reply_context.era_or_default(), Some(cache))))
}

fn entry(address: &str, name: &str, title: &str) -> String {
    format!(
        "{{\"uri\":{},\"name\":{},\"title\":{},\"mimeType\":\"application/json\"}}",
        quote(address),
        quote(name),
        quote(title),
    )
}

/// Whatever has an address without knowing an id.
fn fixed(contract: &Contract, caller: &Caller, tenant: Option<&TenantId>) -> Vec<String> {
    let name = contract.dialect.tenant_argument();
    let visible = contract.resources.iter().filter(|resource| readable(contract, caller, resource));
    visible
        .filter_map(|resource| {
            let address = match tenant {
                Some(tenant) => uri_template::expand(resource.template, &[(name, tenant.as_str())]),
                None => uri_template::expand(resource.template, &[]),
            };
            address.map(|address| entry(&address, resource.name, resource.title))
        })
        .collect()
}

/// The kinds whose rows are listed. Even the ids of what needs a recent login are shown only after one.
fn sections<'a>(
    contract: &'a Contract,
    caller: &Caller,
    now: Millis,
) -> Vec<(&'a ResourceTemplate, &'static TableSpec)> {
    let readable = contract.resources.iter().filter(|resource| readable(contract, caller, resource));
    readable
        .filter_map(|resource| match &resource.source {
            ResourceSource::Tool { lists: Some(kind), name } => {
                let tool = contract.tools.iter().find(|tool| tool.spec.name == *name);
                let max_age = tool.and_then(|tool| tool.spec.max_login_age);
                max_age.is_none_or(|max_age| caller.has_login_within(max_age, now)).then_some((resource, *kind))
            }
            ResourceSource::Tool { lists: None, .. } | ResourceSource::Document(_) => None,
        })
        .collect()
}

fn readable(contract: &Contract, caller: &Caller, resource: &ResourceTemplate) -> bool {
    match &resource.source {
        ResourceSource::Document(_) => true,
        ResourceSource::Tool { name, .. } => {
            contract.tools.iter().any(|tool| tool.spec.name == *name && tool.spec.scope.allows_some(&caller.scopes))
        }
    }
}

async fn ids(
    desk: &Desk,
    tenant: &TenantId,
    kind: &'static TableSpec,
    start: Start,
    limit: usize,
) -> Result<Page, Fault> {
    let query = Query {
        projection: Projection::Ids,
        table: kind,
        filters: Vec::new(),
        order: Order { column: "created_at", direction: Direction::Descending },
        window: Window { start, limit, bytes: desk.settings.page_bytes },
    };
    desk.store.page(tenant, query).await
}

fn cursor_scope<'a>(mount: &'a Mount, tenant: &'a TenantId) -> CursorScope<'a> {
    CursorScope { contract: mount.contract.id, tenant: tenant.as_str(), tool: "resources/list" }
}

/// Before the first row of a list that falls.
fn before_all() -> PageKey {
    PageKey { value: i64::MAX, id: String::from("~") }
}

/// A section is remembered by its template and not by its number, because the sections a caller has
/// depend on its scopes, and a later token may carry others.
fn resume(
    desk: &Desk,
    mount: &Mount,
    tenant: &TenantId,
    sections: &[(&ResourceTemplate, &'static TableSpec)],
    cursor: &str,
) -> Result<(usize, Start), Fault> {
    let state = cursor::open(&desk.keys.cursor, desk.now(), cursor_scope(mount, tenant), cursor)?;
    let template = state.filter.get(SECTION).and_then(Value::as_str).unwrap_or_default();
    match sections.iter().position(|(resource, _)| resource.template == template) {
        Some(section) => Ok((section, Start::After(state.key))),
        None => Err(Fault::new(
            FaultKind::InvalidCursor,
            "This cursor was issued to a token with other scopes. Start again without a cursor.",
        )),
    }
}

fn issue(
    desk: &Desk,
    mount: &Mount,
    tenant: &TenantId,
    resource: &ResourceTemplate,
    key: PageKey,
) -> Result<String, Fault> {
    let mut filter = Map::new();
    filter.insert(SECTION.to_owned(), Value::from(resource.template));
    let state = CursorState { filter, key, limit: PAGE };
    cursor::issue(&desk.keys.cursor, desk.random.as_ref(), desk.now(), cursor_scope(mount, tenant), &state)
        .ok_or_else(|| Fault::internal("the cursor could not be sealed"))
}
