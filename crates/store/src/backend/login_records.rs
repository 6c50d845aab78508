//! People and what they have allowed, on either database. The rows decide access, so they carry MACs.

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::login_records::{LoginAudit, LoginRecord, LoginRecordKind, LoginRecords, RecordChange};
use frontdesk_engine::ports::registry::Changed;
use frontdesk_engine::{Fault, TenantId};

use super::registry_change::RegistryChange;
use super::{BoxFuture, SqlStore, StoreDriver};
use crate::StoreError;
use crate::audit::AuditClass;
use crate::audit::row_versions::{RegistryVersion, registry_key_text};
use crate::sql::registry_rows::{Assignment, COUNT_LOGIN_RECORDS, LOGIN_RECORDS, RegistryKey, RegistryRow};
use crate::sql::session::{SqlSession, StoredValue};

impl<D: StoreDriver> LoginRecords for SqlStore<D> {
    fn login_record<'a>(
        &'a self,
        kind: LoginRecordKind,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<LoginRecord>, Fault>> {
        Box::pin(async move {
            let found = find(self, kind, "AND id = $2", id.into()).await?;
            Ok(found.into_iter().next())
        })
    }

    fn login_records_of<'a>(
        &'a self,
        kind: LoginRecordKind,
        owner: &'a str,
    ) -> BoxFuture<'a, Result<Vec<LoginRecord>, Fault>> {
        Box::pin(async move { Ok(find(self, kind, "AND owner = $2 ORDER BY id", owner.into()).await?) })
    }

    fn login_records(&self, kind: LoginRecordKind, limit: u32) -> BoxFuture<'_, Result<Vec<LoginRecord>, Fault>> {
        Box::pin(async move { Ok(find(self, kind, "ORDER BY id LIMIT $2", i64::from(limit).into()).await?) })
    }

    fn count_login_records(&self, kind: LoginRecordKind) -> BoxFuture<'_, Result<u64, Fault>> {
        Box::pin(async move {
            let rows = self.driver.read(COUNT_LOGIN_RECORDS, &[kind.as_str().into()]).await?;
            let count = rows.first().map(|row| row.integer(0)).transpose()?.unwrap_or_default();
            Ok(u64::try_from(count).unwrap_or_default())
        })
    }

    fn change_login_records(
        &self,
        changes: Vec<RecordChange>,
        now: Millis,
        audit: LoginAudit,
    ) -> BoxFuture<'_, Result<Changed, Fault>> {
        Box::pin(async move {
            let (class, record) = match audit {
                LoginAudit::Administration(record) => (Some(AuditClass::Administration), record),
                LoginAudit::Access(record) => (Some(AuditClass::Reads), record),
                LoginAudit::None => (None, String::new()),
            };
            match self.driver.change(RegistryChange::LoginRecords { changes, now, class }, record).await {
                // Rolled back, with everything before it.
                Err(StoreError::RecordConflict) => Ok(Changed::Nothing),
                other => Ok(other?),
            }
        })
    }
}

async fn find<D: StoreDriver>(
    store: &SqlStore<D>,
    kind: LoginRecordKind,
    rest: &str,
    value: StoredValue,
) -> Result<Vec<LoginRecord>, StoreError> {
    // PostgreSQL refuses NUL in a text, so nothing is stored under one.
    if matches!(&value, StoredValue::Text(text) if text.contains('\0')) {
        return Ok(Vec::new());
    }
    let rest = format!("WHERE kind = $1 {rest}");
    let rows = store.driver.find(&LOGIN_RECORDS, &rest, &[kind.as_str().into(), value]).await?;
    rows.iter().map(|row| read(kind, row)).collect()
}

fn read(kind: LoginRecordKind, row: &RegistryRow) -> Result<LoginRecord, StoreError> {
    Ok(LoginRecord {
        kind,
        id: row.text("id")?.to_owned(),
        owner: row.text("owner")?.to_owned(),
        tenant: row.optional_text("ends_with")?.and_then(TenantId::parse),
        expires_at: row.optional_integer("expires_at")?.map(Millis),
        version: row.version(),
        content: row.text("content")?.to_owned(),
    })
}

fn columns(record: &LoginRecord) -> Vec<Assignment> {
    vec![
        ("kind", record.kind.as_str().into()),
        ("id", record.id.as_str().into()),
        ("owner", record.owner.as_str().into()),
        ("ends_with", record.tenant.as_ref().map(TenantId::as_str).into()),
        ("expires_at", record.expires_at.map(|at| at.0).into()),
        ("content", record.content.as_str().into()),
    ]
}

/// The rows that these changes will write and remove, for their audit record.
pub(super) async fn versions<S: SqlSession>(
    session: &S,
    key: &RegistryKey,
    changes: &[RecordChange],
) -> Result<Vec<RegistryVersion>, StoreError> {
    let mut rows = Vec::new();
    for change in changes {
        let (kind, id, version) = match change {
            RecordChange::Add(record) => (record.kind, &record.id, Some(1)),
            RecordChange::Replace(record) => (record.kind, &record.id, Some(record.version + 1)),
            RecordChange::Remove { kind, id, .. } => (*kind, id, None),
            RecordChange::RemoveOwned { kind, owner } => {
                let params = [kind.as_str().into(), owner.as_str().into()];
                for row in LOGIN_RECORDS.find(session, key, "WHERE kind = $1 AND owner = $2", &params).await? {
                    rows.push((LOGIN_RECORDS.name, registry_key_text(&[kind.as_str(), row.text("id")?]), None));
                }
                continue;
            }
        };
        rows.push((LOGIN_RECORDS.name, registry_key_text(&[kind.as_str(), id]), version));
    }
    Ok(rows)
}

/// Makes all changes in the open transaction, or fails.
pub(super) async fn apply<S: SqlSession>(
    session: &S,
    key: &RegistryKey,
    changes: &[RecordChange],
    now: Millis,
) -> Result<(), StoreError> {
    LOGIN_RECORDS.delete_unlocked(session, "expires_at <= $1", &[now.0.into()]).await?;
    for change in changes {
        let changed = match change {
            RecordChange::Add(record) => LOGIN_RECORDS.insert(session, key, columns(record)).await?,
            RecordChange::Replace(record) => {
                let row = locked(session, key, record.kind, &record.id, record.version).await?;
                LOGIN_RECORDS.update(session, key, row, columns(record)).await?
            }
            RecordChange::Remove { kind, id, version } => {
                locked(session, key, *kind, id, *version).await?;
                let params = [kind.as_str().into(), id.as_str().into(), (*version).into()];
                LOGIN_RECORDS.delete(session, "kind = $1 AND id = $2 AND version = $3", &params).await?
            }
            RecordChange::RemoveOwned { kind, owner } => {
                let params = [kind.as_str().into(), owner.as_str().into()];
                LOGIN_RECORDS.delete(session, "kind = $1 AND owner = $2", &params).await?.max(1)
            }
        };
        if changed == 0 {
            return Err(StoreError::RecordConflict);
        }
    }
    Ok(())
}

/// The row, if it still has this version. No other node changes it until the transaction ends.
async fn locked<S: SqlSession>(
    session: &S,
    key: &RegistryKey,
    kind: LoginRecordKind,
    id: &str,
    version: i64,
) -> Result<RegistryRow, StoreError> {
    let rest = format!("WHERE kind = $1 AND id = $2{}", S::FOR_UPDATE);
    let found = LOGIN_RECORDS.find(session, key, &rest, &[kind.as_str().into(), id.into()]).await?;
    found.into_iter().find(|row| row.version() == version).ok_or(StoreError::RecordConflict)
}

/// Everything that ends with a tenant, so that a new one with the same id does not get its people.
pub(super) async fn end_with_tenant<S: SqlSession>(session: &S, tenant: &str) -> Result<(), StoreError> {
    LOGIN_RECORDS.delete(session, "ends_with = $1", &[tenant.into()]).await?;
    Ok(())
}
