//! People and what they have allowed, on either database.

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::login_records::{LoginAudit, LoginRecord, LoginRecords, RecordChange, RecordKind};
use frontdesk_engine::ports::registry::Changed;
use frontdesk_engine::{Fault, TenantId};

use super::registry_change::RegistryChange;
use super::{BoxFuture, SqlStore, StoreDriver};
use crate::StoreError;
use crate::audit::AuditClass;
use crate::keyring::Keyring;
use crate::sql::session::{SqlRow, SqlSession, StoredValue};

const GET: &str = "SELECT id, owner, ends_with, expires_at, version, sealed FROM fd_login_record WHERE kind = $1";

/// A change whose content is sealed.
pub(crate) enum SealedChange {
    Add(SealedRecord),
    Replace(SealedRecord),
    Remove { kind: &'static str, id: String, version: i64 },
    RemoveOwned { kind: &'static str, owner: String },
}

/// A record with the version that it will have.
pub(crate) struct SealedRecord {
    kind: &'static str,
    id: String,
    owner: String,
    tenant: Option<String>,
    expires_at: Option<i64>,
    version: i64,
    sealed: Vec<u8>,
}

impl<D: StoreDriver> LoginRecords for SqlStore<D> {
    fn login_record<'a>(&'a self, kind: RecordKind, id: &'a str) -> BoxFuture<'a, Result<Option<LoginRecord>, Fault>> {
        Box::pin(async move {
            // PostgreSQL refuses NUL in a text, so no record has such an id.
            if id.contains('\0') {
                return Ok(None);
            }
            let found = read(self, kind, "AND id = $2", vec![id.into()]).await?;
            Ok(found.into_iter().next())
        })
    }

    fn login_records_of<'a>(
        &'a self,
        kind: RecordKind,
        owner: &'a str,
    ) -> BoxFuture<'a, Result<Vec<LoginRecord>, Fault>> {
        Box::pin(async move { Ok(read(self, kind, "AND owner = $2 ORDER BY id", vec![owner.into()]).await?) })
    }

    fn login_records(&self, kind: RecordKind, limit: u32) -> BoxFuture<'_, Result<Vec<LoginRecord>, Fault>> {
        Box::pin(async move { Ok(read(self, kind, "ORDER BY id LIMIT $2", vec![i64::from(limit).into()]).await?) })
    }

    fn count_login_records(&self, kind: RecordKind) -> BoxFuture<'_, Result<u64, Fault>> {
        Box::pin(async move {
            let text = "SELECT count(*) FROM fd_login_record WHERE kind = $1";
            let rows = self.driver.read(text, &[kind.as_str().into()]).await?;
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
            let keyring = self.driver.keyring();
            let changes: Option<Vec<SealedChange>> = changes.into_iter().map(|change| seal(keyring, change)).collect();
            let changes = changes.ok_or(StoreError::WrongKey)?;
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

async fn read<D: StoreDriver>(
    store: &SqlStore<D>,
    kind: RecordKind,
    rest: &str,
    params: Vec<StoredValue>,
) -> Result<Vec<LoginRecord>, StoreError> {
    let mut all = vec![kind.as_str().into()];
    all.extend(params);
    let rows = store.driver.read(&format!("{GET} {rest}"), &all).await?;
    rows.iter().map(|row| open(store.driver.keyring(), kind, row)).collect()
}

/// Fails for a row that this server has not written.
fn open(keyring: &Keyring, kind: RecordKind, row: &SqlRow) -> Result<LoginRecord, StoreError> {
    let (id, owner, tenant) = (row.text(0)?, row.text(1)?, row.optional_text(2)?);
    let (expires_at, version) = (row.optional_integer(3)?, row.integer(4)?);
    let content = keyring
        .open_login_record(&associated_data(kind.as_str(), id, owner, tenant, expires_at, version), row.bytes(5)?)
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .ok_or(StoreError::WrongKey)?;
    Ok(LoginRecord {
        kind,
        id: id.to_owned(),
        owner: owner.to_owned(),
        tenant: tenant.and_then(TenantId::parse),
        expires_at: expires_at.map(Millis),
        version,
        content,
    })
}

fn seal(keyring: &Keyring, change: RecordChange) -> Option<SealedChange> {
    Some(match change {
        RecordChange::Add(record) => SealedChange::Add(seal_record(keyring, record, 1)?),
        RecordChange::Replace(record) => {
            let version = record.version + 1;
            SealedChange::Replace(seal_record(keyring, record, version)?)
        }
        RecordChange::Remove { kind, id, version } => SealedChange::Remove { kind: kind.as_str(), id, version },
        RecordChange::RemoveOwned { kind, owner } => SealedChange::RemoveOwned { kind: kind.as_str(), owner },
    })
}

fn seal_record(keyring: &Keyring, record: LoginRecord, version: i64) -> Option<SealedRecord> {
    let LoginRecord { kind, id, owner, tenant, expires_at, content, .. } = record;
    let tenant = tenant.map(|tenant| tenant.as_str().to_owned());
    let expires_at = expires_at.map(|at| at.0);
    let data = associated_data(kind.as_str(), &id, &owner, tenant.as_deref(), expires_at, version);
    let sealed = keyring.seal_login_record(&data, content.as_bytes())?;
    Some(SealedRecord { kind: kind.as_str(), id, owner, tenant, expires_at, version, sealed })
}

/// Everything else that a row says, so that none of it can be changed without the key.
fn associated_data(
    kind: &str,
    id: &str,
    owner: &str,
    tenant: Option<&str>,
    expires_at: Option<i64>,
    version: i64,
) -> [String; 6] {
    let number = |number: Option<i64>| number.map(|number| number.to_string()).unwrap_or_default();
    // No tenant is called like this.
    let tenant = tenant.unwrap_or_default();
    [kind.to_owned(), id.to_owned(), owner.to_owned(), tenant.to_owned(), number(expires_at), version.to_string()]
}

/// Makes all changes in the open transaction, or fails.
pub(super) async fn apply<S: SqlSession>(
    session: &S,
    changes: &[SealedChange],
    now: Millis,
) -> Result<u64, StoreError> {
    // Those that another node is deleting at the same time are left to it.
    let expired = format!(
        "DELETE FROM fd_login_record WHERE (kind, id) IN \
         (SELECT kind, id FROM fd_login_record WHERE expires_at <= $1{})",
        S::SKIP_LOCKED
    );
    session.execute(&expired, &[now.0.into()]).await?;
    for change in changes {
        let changed = match change {
            SealedChange::Add(record) => {
                let text = "INSERT INTO fd_login_record (kind, id, owner, ends_with, expires_at, version, sealed) \
                            VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING";
                session.execute(text, &record.values()).await?
            }
            SealedChange::Replace(record) => {
                let text = "UPDATE fd_login_record SET owner = $3, ends_with = $4, expires_at = $5, version = $6, \
                            sealed = $7 WHERE kind = $1 AND id = $2 AND version = $8";
                let mut values = record.values().to_vec();
                values.push((record.version - 1).into());
                session.execute(text, &values).await?
            }
            SealedChange::Remove { kind, id, version } => {
                let text = "DELETE FROM fd_login_record WHERE kind = $1 AND id = $2 AND version = $3";
                session.execute(text, &[(*kind).into(), id.as_str().into(), (*version).into()]).await?
            }
            SealedChange::RemoveOwned { kind, owner } => {
                let text = "DELETE FROM fd_login_record WHERE kind = $1 AND owner = $2";
                session.execute(text, &[(*kind).into(), owner.as_str().into()]).await?.max(1)
            }
        };
        if changed == 0 {
            return Err(StoreError::RecordConflict);
        }
    }
    Ok(1)
}

/// Everything that ends with a tenant, so that a new one with the same id does not get its people.
pub(super) async fn end_with_tenant<S: SqlSession>(session: &S, tenant: &str) -> Result<(), StoreError> {
    session.execute("DELETE FROM fd_login_record WHERE ends_with = $1", &[tenant.into()]).await?;
    Ok(())
}

impl SealedRecord {
    fn values(&self) -> [StoredValue; 7] {
        [
            self.kind.into(),
            self.id.as_str().into(),
            self.owner.as_str().into(),
            self.tenant.as_deref().into(),
            self.expires_at.into(),
            self.version.into(),
            self.sealed.as_slice().into(),
        ]
    }
}
