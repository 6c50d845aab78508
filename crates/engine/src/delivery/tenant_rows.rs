//! What rules of deliveries may read: rows of one tenant, without personal data.

use crate::desk::Desk;
use crate::model::caller::TenantId;
use crate::model::fault::Fault;
use crate::model::page::{Page, Query};
use crate::model::table::{Cell, StoredRow, TableSpec};
use crate::ports::Disclosure;

pub struct TenantRows<'a> {
    pub(super) desk: &'a Desk,
    pub(super) tenant: &'a TenantId,
}

impl<'a> TenantRows<'a> {
    pub fn new(desk: &'a Desk, tenant: &'a TenantId) -> TenantRows<'a> {
        TenantRows { desk, tenant }
    }

    pub fn tenant(&self) -> &TenantId {
        self.tenant
    }

    pub async fn get(&self, table: &'static TableSpec, id: &str) -> Result<Option<StoredRow>, Fault> {
        self.desk.store.get(self.tenant, table, id, Disclosure::Masked).await
    }

    pub async fn find(
        &self,
        table: &'static TableSpec,
        column: &'static str,
        value: Cell,
    ) -> Result<Option<StoredRow>, Fault> {
        self.desk.store.find(self.tenant, table, column, value).await
    }

    pub async fn page(&self, query: Query) -> Result<Page, Fault> {
        self.desk.store.page(self.tenant, query).await
    }
}
