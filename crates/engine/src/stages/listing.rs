//! `resources/list`: every readable address, page by page. Fixed documents first, then the rows of
//! each kind the caller may read, one kind after the other.

use frontdesk_wire::answer::{Cache, CacheScope, quote, sealed_result};
use serde_json::{Map, Value};

use crate::caller::{Caller, TenantId};
use crate::contract::{Contract, Resource, Source};
use crate::cursor::{self, Memory, Place};
use crate::desk::{Desk, Mount};
use crate::fault::{Fault, FaultKind};
use crate::page::{Direction, Key, Order, Page, Query, Start, Wants, Window};
use crate::reply::Reply;
use crate::stages::shape::{At, Wrap};
use crate::stages::template;
use crate::table::Kind;

const PAGE: usize = 100;
const SECTION: &str = "section";

pub async fn list(
    desk: &Desk,
    mount: &Mount,
    caller: &Caller,
    cursor: Option<String>,
    at: &At<'_>,
) -> Result<Reply, Fault> {
    let contract = &mount.contract;
    // A caller of several tenants sees only what belongs to none: a list has no place to name one.
    let tenant = match caller.tenants.as_slice() {
        [only] => Some(only),
        _ => None,
    };
    let sections = sections(contract, caller);
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
            if let Some(address) = template::expand(resource.template, &values) {
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
    let cache = Cache { ttl_ms: 0, scope: CacheScope::Private };
    Ok(at.result(&sealed_result(&result, &at.spoken(), Some(cache))))
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
                Some(tenant) => template::expand(resource.template, &[(name, tenant.as_str())]),
                None => template::expand(resource.template, &[]),
            };
            address.map(|address| entry(&address, resource.name, resource.title))
        })
        .collect()
}

fn sections<'a>(contract: &'a Contract, caller: &Caller) -> Vec<(&'a Resource, &'static Kind)> {
    let readable = contract.resources.iter().filter(|resource| readable(contract, caller, resource));
    readable
        .filter_map(|resource| match &resource.source {
            Source::Tool { lists: Some(kind), .. } => Some((resource, *kind)),
            Source::Tool { lists: None, .. } | Source::Document(_) => None,
        })
        .collect()
}

fn readable(contract: &Contract, caller: &Caller, resource: &Resource) -> bool {
    match &resource.source {
        Source::Document(_) => true,
        Source::Tool { name, .. } => {
            contract.tools.iter().any(|tool| tool.spec.name == *name && caller.scopes.has(&tool.spec.scope))
        }
    }
}

async fn ids(desk: &Desk, tenant: &TenantId, kind: &'static Kind, start: Start, limit: usize) -> Result<Page, Fault> {
    let query = Query {
        wants: Wants::Ids,
        kind,
        filters: Vec::new(),
        order: Order { column: "created_at", direction: Direction::Falling },
        window: Window { start, limit, bytes: desk.settings.page_bytes },
    };
    desk.store.page(tenant, query).await
}

fn place<'a>(mount: &'a Mount, tenant: &'a TenantId) -> Place<'a> {
    Place { contract: mount.contract.id, tenant: tenant.as_str(), tool: "resources/list" }
}

/// Before the first row of a list that falls.
fn before_all() -> Key {
    Key { value: i64::MAX, id: String::from("~") }
}

/// A section is remembered by its template and not by its number, because the sections a caller has
/// depend on its scopes, and a later token may carry others.
fn resume(
    desk: &Desk,
    mount: &Mount,
    tenant: &TenantId,
    sections: &[(&Resource, &'static Kind)],
    cursor: &str,
) -> Result<(usize, Start), Fault> {
    let memory = cursor::open(&desk.keys.cursor, desk.now(), place(mount, tenant), cursor)?;
    let template = memory.filter.get(SECTION).and_then(Value::as_str).unwrap_or_default();
    match sections.iter().position(|(resource, _)| resource.template == template) {
        Some(section) => Ok((section, Start::After(memory.key))),
        None => Err(Fault::new(
            FaultKind::InvalidCursor,
            "This cursor was issued to a token with other scopes. Start again without a cursor.",
        )),
    }
}

fn issue(desk: &Desk, mount: &Mount, tenant: &TenantId, resource: &Resource, key: Key) -> Result<String, Fault> {
    let mut filter = Map::new();
    filter.insert(SECTION.to_owned(), Value::from(resource.template));
    let memory = Memory { filter, key, limit: PAGE };
    cursor::issue(&desk.keys.cursor, desk.random.as_ref(), desk.now(), place(mount, tenant), &memory)
        .ok_or_else(|| Fault::internal("the cursor could not be sealed"))
}
