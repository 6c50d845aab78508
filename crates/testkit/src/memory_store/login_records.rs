//! People and what they have allowed, in memory.

use std::collections::BTreeMap;

use frontdesk_engine::Fault;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::Durability;
use frontdesk_engine::ports::login_records::{LoginAudit, LoginRecord, LoginRecordKind, LoginRecords, RecordChange};
use frontdesk_engine::ports::registry::Changed;

use super::MemoryStore;

type Records = BTreeMap<(LoginRecordKind, String), LoginRecord>;

impl LoginRecords for MemoryStore {
    fn login_record<'a>(
        &'a self,
        kind: LoginRecordKind,
        id: &'a str,
    ) -> Future<'a, Result<Option<LoginRecord>, Fault>> {
        Box::pin(self.registry("login_record", move |state| state.login_records.get(&(kind, id.to_owned())).cloned()))
    }

    fn login_records_of<'a>(
        &'a self,
        kind: LoginRecordKind,
        owner: &'a str,
    ) -> Future<'a, Result<Vec<LoginRecord>, Fault>> {
        Box::pin(self.registry("login_records_of", move |state| {
            let of_kind = state.login_records.values().filter(|record| record.kind == kind);
            of_kind.filter(|record| record.owner == owner).cloned().collect()
        }))
    }

    fn login_records(&self, kind: LoginRecordKind, limit: u32) -> Future<'_, Result<Vec<LoginRecord>, Fault>> {
        Box::pin(self.registry("login_records", move |state| {
            let of_kind = state.login_records.values().filter(|record| record.kind == kind);
            of_kind.take(limit as usize).cloned().collect()
        }))
    }

    fn count_login_records(&self, kind: LoginRecordKind) -> Future<'_, Result<u64, Fault>> {
        Box::pin(self.registry("count_login_records", move |state| {
            state.login_records.values().filter(|record| record.kind == kind).count() as u64
        }))
    }

    fn change_login_records(
        &self,
        changes: Vec<RecordChange>,
        now: Millis,
        audit: LoginAudit,
    ) -> Future<'_, Result<Changed, Fault>> {
        Box::pin(self.registry("change_login_records", move |state| {
            let mut records = state.login_records.clone();
            records.retain(|_, record| record.expires_at.is_none_or(|at| at > now));
            if !changes.into_iter().all(|change| apply(&mut records, change)) {
                return Changed::Nothing;
            }
            state.login_records = records;
            match audit {
                LoginAudit::Administration(record) => state.administration.push(record),
                LoginAudit::Access(record) => state.records.push((record, Durability::Awaited)),
                LoginAudit::None => {}
            }
            Changed::Done
        }))
    }
}

fn apply(records: &mut Records, change: RecordChange) -> bool {
    match change {
        RecordChange::Add(record) => {
            let key = (record.kind, record.id.clone());
            !records.contains_key(&key) && records.insert(key, LoginRecord { version: 1, ..record }).is_none()
        }
        RecordChange::Replace(record) => {
            let stored = records.get_mut(&(record.kind, record.id.clone()));
            stored.filter(|stored| stored.version == record.version).is_some_and(|stored| {
                *stored = LoginRecord { version: record.version + 1, ..record };
                true
            })
        }
        RecordChange::Remove { kind, id, version } => {
            let key = (kind, id);
            records.get(&key).is_some_and(|stored| stored.version == version) && records.remove(&key).is_some()
        }
        RecordChange::RemoveOwned { kind, owner } => {
            records.retain(|_, record| record.kind != kind || record.owner != owner);
            true
        }
    }
}
