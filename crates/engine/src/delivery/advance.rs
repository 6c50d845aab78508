//! Reads events, and stores what is owed because of them together with how far they were read: in one commit, so that
//! neither a crash nor another node loses a delivery or makes it twice.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::notice::DeliveryNotice;
use super::record::{DELIVERY, DELIVERY_CURSOR, DELIVERY_MARK, DeliveryRecord, cursor_id, plain_row};
use super::record_store::{DeliveryStore, DeliveryWrite, unreadable};
use super::rules::{DeliveryRules, FollowUp};
use crate::desk::{Desk, Mount};
use crate::model::caller::{Caller, ClientId, Scopes, TenantId};
use crate::model::fault::{Fault, FaultKind};
use crate::model::plan::{OnConflict, Step};
use crate::ports::{Disclosure, OutboxEvent};
use crate::serve::own_call::{CallOrigin, OwnTool, call_tool};

/// How many events are read at a time.
const BATCH: usize = 64;
/// While nothing is owed, it is stored only after this many events how far they were read: reading them again is harmless.
const MAX_UNSTORED: i64 = 1024;
/// Who makes the calls that follow from events, as records name it.
const CLIENT: &str = "frontdesk";

/// Reads the events of a tenant that this mount has not seen. `seen` is the number of the last one that this process has
/// read, 0 at first; the new one is returned.
pub async fn advance(desk: &Desk, mount: &Mount, tenant: &TenantId, seen: i64) -> Result<i64, Fault> {
    let Some(rules) = mount.contract.dialect.deliveries() else { return Ok(seen) };
    let store = DeliveryStore { desk, mount, tenant };
    let mut seen = seen;
    loop {
        let cursor = Cursor::load(&store, rules).await?;
        seen = seen.max(cursor.seq);
        let events = desk.store.events(tenant, seen, BATCH).await?;
        let Some(last) = events.last().map(|event| event.seq) else { return Ok(seen) };
        let Batch { new, calls } = read(&store, rules, &events).await?;
        let is_stored = !new.is_empty() || calls > 0 || last - cursor.seq >= MAX_UNSTORED;
        if is_stored && cursor.commit(&store, rules, last, new).await? == DeliveryWrite::Conflict {
            // Another node has read them, and may have stopped anywhere: begin with what it has stored.
            return Ok(0);
        }
        seen = last;
        if events.len() < BATCH {
            return Ok(seen);
        }
    }
}

/// What follows from some events.
struct Batch {
    new: Vec<DeliveryRecord>,
    /// Calls that were made.
    calls: usize,
}

async fn read(store: &DeliveryStore<'_>, rules: &dyn DeliveryRules, events: &[OutboxEvent]) -> Result<Batch, Fault> {
    let mut batch = Batch { new: Vec::new(), calls: 0 };
    for event in events {
        let duties = match rules.duties(event, &store.rows()).await {
            Ok(duties) => duties,
            Err(fault) if fault.kind == FaultKind::Internal => {
                // It would fail for ever, and hold up everything behind it.
                let cause = fault.cause.as_deref().unwrap_or_default();
                let notice = DeliveryNotice::EventSkipped { contract: store.contract(), seq: event.seq, cause };
                store.desk.observer.on_delivery(&notice);
                continue;
            }
            Err(fault) => return Err(fault),
        };
        // Before the event counts as read: a crash makes the calls again, under the same keys.
        for follow_up in duties.follow_ups {
            call(store, follow_up).await?;
            batch.calls += 1;
        }
        for content in duties.deliveries {
            let record = DeliveryRecord::new(store.contract(), content, event.seq, store.desk.now());
            let is_first = !batch.new.iter().any(|other| other.id == record.id);
            if is_first && !is_marked(store, &record.id).await? {
                batch.new.push(record);
            }
        }
    }
    Ok(batch)
}

async fn is_marked(store: &DeliveryStore<'_>, id: &str) -> Result<bool, Fault> {
    let row = store.desk.store.get(store.tenant, &DELIVERY_MARK, id, Disclosure::Masked).await?;
    Ok(row.is_some())
}

/// A refusal is final, as it is recorded. What may succeed later is tried again with the event.
async fn call(store: &DeliveryStore<'_>, follow_up: FollowUp) -> Result<(), Fault> {
    let contract = &store.mount.contract;
    let caller = Caller {
        client: ClientId::new(CLIENT),
        subject: CLIENT.into(),
        tenants: vec![store.tenant.clone()],
        scopes: Scopes::new(contract.scopes.iter().cloned()),
        authenticated_at: None,
    };
    let origin = CallOrigin {
        caller: Arc::new(caller),
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        trace: store.desk.new_trace(),
        import_id: None,
    };
    let FollowUp { tool, arguments, idempotency_key } = follow_up;
    let tool = OwnTool::Operator(tool);
    match call_tool(store.desk, store.mount, &origin, tool, arguments, Some(idempotency_key)).await {
        Err(fault) if matches!(fault.kind, FaultKind::Unavailable | FaultKind::KeyInFlight) => Err(fault),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// How far events were read.
struct Cursor {
    id: String,
    seq: i64,
    /// None before the first commit.
    version: Option<i64>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct StoredCursor {
    consumer: String,
    seq: i64,
}

impl Cursor {
    async fn load(store: &DeliveryStore<'_>, rules: &dyn DeliveryRules) -> Result<Cursor, Fault> {
        let id = cursor_id(store.contract(), rules.consumer());
        let row = store.desk.store.get(store.tenant, &DELIVERY_CURSOR, &id, Disclosure::Masked).await?;
        let Some(row) = row else { return Ok(Cursor { id, seq: 0, version: None }) };
        let stored: StoredCursor = serde_json::from_str(&row.body).map_err(|_| unreadable())?;
        Ok(Cursor { id, seq: stored.seq, version: Some(row.version) })
    }

    async fn commit(
        self,
        store: &DeliveryStore<'_>,
        rules: &dyn DeliveryRules,
        seq: i64,
        new: Vec<DeliveryRecord>,
    ) -> Result<DeliveryWrite, Fault> {
        let now = store.desk.now();
        let consumer = rules.consumer().to_owned();
        let body = serde_json::to_string(&StoredCursor { consumer, seq }).map_err(|_| unreadable())?;
        let version = self.version.map_or(1, |version| version.saturating_add(1));
        let row = plain_row(self.id, version, now, body);
        // The cursor first: of two nodes that read the same events, one fails here.
        let raced = || Fault::unavailable("another node has read these events");
        let mut steps = vec![match self.version {
            Some(expect_version) => Step::Update {
                table: &DELIVERY_CURSOR,
                row,
                expect_version,
                on_conflict: OnConflict::Retry,
                on_duplicate: raced(),
            },
            None => Step::Insert { table: &DELIVERY_CURSOR, row, on_duplicate: raced() },
        }];
        let ids = new.iter().map(|record| record.id.clone()).collect();
        for record in new {
            let mark = plain_row(record.id.clone(), 1, now, "{}".to_owned());
            steps.push(Step::Insert { table: &DELIVERY_MARK, row: mark, on_duplicate: raced() });
            let row = record.row(store.contract(), now).ok_or_else(unreadable)?;
            steps.push(Step::Insert { table: &DELIVERY, row, on_duplicate: raced() });
        }
        store.commit(steps, ids, "ok").await
    }
}
