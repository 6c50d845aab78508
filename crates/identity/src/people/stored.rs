//! A stored record together with its content, and how it is found and changed.

use std::sync::Arc;

use frontdesk_engine::model::fault::Fault;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::login_records::{LoginRecord, LoginRecordKind, LoginRecords, RecordChange};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The content of one kind of record.
pub(crate) trait RecordContent: Serialize + DeserializeOwned {
    const KIND: LoginRecordKind;
}

#[derive(Debug, Clone)]
pub(crate) struct StoredRecord<T> {
    pub(crate) record: LoginRecord,
    pub(crate) content: T,
}

impl<T: RecordContent> StoredRecord<T> {
    fn read(record: LoginRecord) -> Result<StoredRecord<T>, Fault> {
        let content = serde_json::from_str(&record.content)
            .map_err(|_| Fault::internal(format!("a record of the kind {} cannot be read", T::KIND.as_str())))?;
        Ok(StoredRecord { record, content })
    }

    pub(crate) fn id(&self) -> &str {
        &self.record.id
    }

    pub(crate) fn is_expired(&self, now: Millis) -> bool {
        self.record.expires_at.is_some_and(|at| at <= now)
    }

    /// The step that stores this content, unless somebody else has changed the record since it was read.
    pub(crate) fn replace(&self, content: &T) -> RecordChange {
        RecordChange::Replace(LoginRecord { content: text(content), ..self.record.clone() })
    }

    /// The same with another expiry.
    pub(crate) fn replace_until(&self, content: &T, expires_at: Option<Millis>) -> RecordChange {
        RecordChange::Replace(LoginRecord { content: text(content), expires_at, ..self.record.clone() })
    }

    pub(crate) fn remove(&self) -> RecordChange {
        RecordChange::Remove { kind: T::KIND, id: self.record.id.clone(), version: self.record.version }
    }
}

/// A new record of no tenant that does not expire.
pub(crate) fn new_record<T: RecordContent>(
    id: impl Into<String>,
    owner: impl Into<String>,
    content: &T,
) -> LoginRecord {
    LoginRecord {
        kind: T::KIND,
        id: id.into(),
        owner: owner.into(),
        tenant: None,
        expires_at: None,
        version: 1,
        content: text(content),
    }
}

/// Removes all records of an owner.
pub(crate) fn remove_owned<T: RecordContent>(owner: &str) -> RecordChange {
    RecordChange::RemoveOwned { kind: T::KIND, owner: owner.to_owned() }
}

/// Serialization of plain structs cannot fail; if it did, the record could not be read again.
fn text(content: &impl Serialize) -> String {
    serde_json::to_string(content).unwrap_or_default()
}

pub(crate) async fn find<T: RecordContent>(
    records: &Arc<dyn LoginRecords>,
    id: &str,
) -> Result<Option<StoredRecord<T>>, Fault> {
    records.login_record(T::KIND, id).await?.map(StoredRecord::read).transpose()
}

/// One that has not expired.
pub(crate) async fn find_valid<T: RecordContent>(
    records: &Arc<dyn LoginRecords>,
    id: &str,
    now: Millis,
) -> Result<Option<StoredRecord<T>>, Fault> {
    Ok(find::<T>(records, id).await?.filter(|stored| !stored.is_expired(now)))
}

pub(crate) async fn find_owned<T: RecordContent>(
    records: &Arc<dyn LoginRecords>,
    owner: &str,
) -> Result<Vec<StoredRecord<T>>, Fault> {
    records.login_records_of(T::KIND, owner).await?.into_iter().map(StoredRecord::read).collect()
}

pub(crate) async fn find_all<T: RecordContent>(
    records: &Arc<dyn LoginRecords>,
    limit: u32,
) -> Result<Vec<StoredRecord<T>>, Fault> {
    records.login_records(T::KIND, limit).await?.into_iter().map(StoredRecord::read).collect()
}
