//! A record with what every row has: an id, a tenant, times, a version and the fields of vendors.

use frontdesk_engine::model::table::{Row, RowIndex, StoredRow, joined};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Item;
use frontdesk_engine::{Fault, TenantId};
use serde_json::{Map, Value};

use super::field::FieldType;
use super::render::{index, receipt, render};
use super::source::FieldSource;
use super::table::Stored;
use super::vendor::VendorFields;

/// What the defaults of a new record are made from.
#[derive(Debug, Clone, Copy)]
pub struct NewRecord {
    pub now: Millis,
}

impl NewRecord {
    /// A nested record is not new by itself; the derive refuses defaults there that would ask for the time.
    pub(super) const NESTED: NewRecord = NewRecord { now: Millis(0) };
}

#[derive(Debug, Clone, PartialEq)]
pub struct Entity<R> {
    pub id: String,
    pub tenant: TenantId,
    pub created_at: Millis,
    pub updated_at: Millis,
    pub version: i64,
    pub record: R,
    pub vendor: VendorFields,
}

impl<R: Stored> Entity<R> {
    pub fn new(id: String, tenant: TenantId, now: Millis, record: R) -> Entity<R> {
        let vendor = VendorFields::default();
        Entity { id, tenant, created_at: now, updated_at: now, version: 1, record, vendor }
    }

    /// Reads a row that was opened to be changed.
    pub fn restore(tenant: &TenantId, row: &StoredRow) -> Result<Entity<R>, Fault> {
        StoredParts::parse::<R>(row)?.entity(tenant, row.id.clone(), row.version, Millis(row.created_at))
    }

    /// Reads a row of a list, which is a text only: id, version and time are in it.
    pub fn restore_listed(tenant: &TenantId, body: &str) -> Result<Entity<R>, Fault> {
        let body: Map<String, Value> =
            serde_json::from_str(body).map_err(|_| unreadable::<R>("its text is no JSON object"))?;
        let missing = || unreadable::<R>("it has no id, version or time");
        let id = body.get("id").and_then(Value::as_str).ok_or_else(missing)?.to_owned();
        let version = body.get("version").and_then(Value::as_i64).ok_or_else(missing)?;
        let created_at = body.get("created_at").and_then(Millis::read).ok_or_else(missing)?;
        StoredParts { body, personal: Map::new(), secret: Map::new() }.entity(tenant, id, version, created_at)
    }

    /// `tenant_member` is what the contract calls a tenant in its answers.
    pub fn row(&self, tenant_member: &'static str) -> Row {
        let rendered = render(self, tenant_member);
        Row {
            id: self.id.clone(),
            version: self.version,
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
            cells: rendered.cells,
            search_terms: rendered.search_terms,
            body: rendered.body,
            masked: rendered.masked,
            personal: rendered.personal,
            secret: rendered.secret,
        }
    }

    /// The row, and the answer to the call that writes it: the whole record for who may read it, a receipt for others.
    pub fn row_and_answer(&self, tenant_member: &'static str) -> (Row, Item) {
        let row = self.row(tenant_member);
        let answer = Item {
            id: self.id.clone(),
            version: self.version,
            body: "{}".to_owned(),
            masked: Some(receipt(self, tenant_member)),
            personal: Some(joined(&row.body, row.personal.as_deref())),
        };
        (row, answer)
    }
}

/// The columns and search terms of a stored row.
pub(super) fn index_stored<R: Stored>(row: &StoredRow) -> Result<RowIndex, Fault> {
    let record: R = StoredParts::parse::<R>(row)?.record(Millis(row.created_at))?;
    let (cells, search_terms) = index(&record);
    Ok(RowIndex { cells, search_terms })
}

/// The objects of a stored row.
struct StoredParts {
    body: Map<String, Value>,
    personal: Map<String, Value>,
    secret: Map<String, Value>,
}

impl StoredParts {
    fn parse<R: Stored>(row: &StoredRow) -> Result<StoredParts, Fault> {
        let object = |text: Option<&str>| match text {
            // The messages of serde_json quote values, which may be personal data, and causes are logged.
            Some(text) => serde_json::from_str(text).map_err(|_| unreadable::<R>("its text is no JSON object")),
            None => Ok(Map::new()),
        };
        Ok(StoredParts {
            body: object(Some(&row.body))?,
            personal: object(row.personal.as_deref())?,
            secret: object(row.secret.as_deref())?,
        })
    }

    fn entity<R: Stored>(
        &self,
        tenant: &TenantId,
        id: String,
        version: i64,
        created_at: Millis,
    ) -> Result<Entity<R>, Fault> {
        Ok(Entity {
            id,
            tenant: tenant.clone(),
            created_at,
            updated_at: self.body.get("updated_at").and_then(Millis::read).unwrap_or(created_at),
            version,
            record: self.record(created_at)?,
            vendor: VendorFields::from_stored([&self.body, &self.personal]),
        })
    }

    fn record<R: Stored>(&self, created_at: Millis) -> Result<R, Fault> {
        let new = NewRecord { now: created_at };
        R::build(&FieldSource::Stored { objects: &[&self.body, &self.personal, &self.secret], new: &new })
            .map_err(|error| unreadable::<R>(error.0))
    }
}

fn unreadable<R: Stored>(what: &str) -> Fault {
    Fault::internal(format!("a stored {} cannot be read: {what}", R::NOUN))
}
