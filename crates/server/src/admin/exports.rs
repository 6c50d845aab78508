//! Exports of records for people: a command writes the file and asks for the records page by page. The audit log says
//! that an export begins before its first record leaves, and how many there were when it has ended.

use frontdesk_engine::import::ImportSpec;
use frontdesk_engine::model::page::{CountQuery, Direction, Order, PageKey, Projection, Query, Start, Window};
use frontdesk_engine::model::schema::{Field, Schema};
use frontdesk_engine::model::table::joined;
use frontdesk_engine::ports::Disclosure;
use frontdesk_engine::{Fault, TenantId};
use serde::{Deserialize, Serialize};

use super::audit_record::records_export_record;
use super::imports::mount_of;
use super::requests::{AdminService, explain};

/// One page has at most this many records and about this many bytes.
const PAGE_ROWS: usize = 500;
const PAGE_BYTES: usize = 4 * 1024 * 1024;
/// Records are counted for the progress bar, no further than this.
const MAX_COUNT: usize = 10_000_000;

/// What is exported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportTask {
    /// The kind of record, in the plural.
    pub resource: String,
    pub tenant: String,
    pub personal: PersonalData,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonalData {
    /// As lists show it.
    Masked,
    Included,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportStep {
    Start,
    /// The records after this place, the oldest first.
    Page(Option<(i64, String)>),
    /// All records were written; how many.
    Finish(u64),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportReply {
    Started {
        tenant: String,
        /// Names of fields; those of nested records are dotted.
        columns: Vec<String>,
        /// The members that answers have besides those of vendors.
        members: Vec<String>,
        rows: u64,
    },
    Page {
        /// Each a JSON object.
        rows: Vec<String>,
        next: Option<(i64, String)>,
    },
    Finished,
}

impl AdminService {
    pub(super) async fn export(&self, task: ExportTask, step: ExportStep) -> Result<ExportReply, String> {
        let app = self.app()?;
        let tenant = self.tenant_or_only(&task.tenant).await?.id;
        self.refuse_erased(std::slice::from_ref(&tenant)).await?;
        let mount = mount_of(&app, &task.resource)?;
        let spec = mount.contract.imports.iter().find(|spec| spec.name == task.resource);
        let spec = spec.ok_or_else(|| format!("there is nothing called `{}`", task.resource))?;
        match step {
            ExportStep::Start => {
                self.record(&task, &tenant, None).await?;
                let query = CountQuery { table: spec.table, filters: Vec::new(), max: MAX_COUNT };
                let rows = self.store.count(&tenant, query).await.map_err(explain)?;
                tracing::info!(tenant = tenant.as_str(), resource = spec.name, "export started");
                Ok(ExportReply::Started {
                    tenant: tenant.as_str().to_owned(),
                    columns: columns(spec.exported.fields()),
                    members: spec.create.spec.output.fields().iter().map(|field| field.name.to_owned()).collect(),
                    rows: u64::try_from(rows).unwrap_or(u64::MAX),
                })
            }
            ExportStep::Page(after) => self.page(&task, spec, &tenant, after).await.map_err(explain),
            ExportStep::Finish(rows) => {
                self.record(&task, &tenant, Some(rows)).await?;
                Ok(ExportReply::Finished)
            }
        }
    }

    async fn record(&self, task: &ExportTask, tenant: &TenantId, rows: Option<u64>) -> Result<(), String> {
        let record = records_export_record(self.clock.now(), task, tenant, rows);
        self.store.record_administration(record).await.map_err(explain)
    }

    async fn page(
        &self,
        task: &ExportTask,
        spec: &ImportSpec,
        tenant: &TenantId,
        after: Option<(i64, String)>,
    ) -> Result<ExportReply, Fault> {
        let projection = match task.personal {
            PersonalData::Masked => Projection::Rows,
            PersonalData::Included => Projection::Ids,
        };
        let start = after.map_or(Start::First, |(value, id)| Start::After(PageKey { value, id }));
        let query = Query {
            projection,
            table: spec.table,
            filters: Vec::new(),
            order: Order { column: "created_at", direction: Direction::Ascending },
            window: Window { start, limit: PAGE_ROWS, bytes: PAGE_BYTES },
        };
        let page = self.store.page(tenant, query).await?;
        let rows = match task.personal {
            PersonalData::Masked => page.rows,
            PersonalData::Included => {
                let mut rows = Vec::with_capacity(page.rows.len());
                for id in &page.rows {
                    // One that was removed meanwhile is no longer there to be exported.
                    if let Some(row) = self.store.get(tenant, spec.table, id, Disclosure::Full).await? {
                        rows.push(joined(&row.body, row.personal.as_deref()));
                    }
                }
                rows
            }
        };
        let now = self.clock.now();
        let rows = rows.into_iter().map(|row| spec.rules.exported(row, now)).collect();
        Ok(ExportReply::Page { rows, next: page.next.map(|key| (key.value, key.id)) })
    }
}

/// The names of all fields, those of nested records dotted. A list is one column.
fn columns(fields: &[Field]) -> Vec<String> {
    let mut names = Vec::new();
    for field in fields {
        match nested(&field.schema) {
            [] => names.push(field.name.to_owned()),
            inner => names.extend(columns(inner).iter().map(|name| format!("{}.{name}", field.name))),
        }
    }
    names
}

fn nested(schema: &Schema) -> &[Field] {
    match schema {
        Schema::Nullable(of) | Schema::Clearable(of) => nested(of),
        Schema::Object(_)
        | Schema::Extended { .. }
        | Schema::Map(_)
        | Schema::AnyObject
        | Schema::List { .. }
        | Schema::Text(_)
        | Schema::Integer { .. }
        | Schema::MinorUnits { .. }
        | Schema::Number { .. }
        | Schema::Boolean
        | Schema::AnyOf { .. } => schema.fields(),
    }
}
