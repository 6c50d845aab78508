//! Deliveries in the store. Each change is a commit that expects the version it has read, so that one of several nodes
//! sends a delivery, and one of them reads an event.

use std::net::{IpAddr, Ipv4Addr};

use super::record::{DELIVERY, DUE_AT, DeliveryRecord, ENDPOINT, OPEN, SEQ, STATUS, endpoint_key};
use super::rules::DeliveryOrder;
use super::{DeliveryStatus, TenantRows};
use crate::desk::{Desk, Mount};
use crate::model::caller::TenantId;
use crate::model::fault::Fault;
use crate::model::observation::Observation;
use crate::model::page::{Direction, Filter, Order, Page, Projection, Query, Start, Window};
use crate::model::plan::{OnConflict, Step};
use crate::model::table::Cell;
use crate::model::tool::Item;
use crate::ports::{Commit, Committed, Disclosure};

/// The deliveries of one mount and one tenant.
#[derive(Clone, Copy)]
pub(super) struct DeliveryStore<'a> {
    pub(super) desk: &'a Desk,
    pub(super) mount: &'a Mount,
    pub(super) tenant: &'a TenantId,
}

/// Whether a change was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeliveryWrite {
    Done,
    /// Another node was first.
    Conflict,
}

impl<'a> DeliveryStore<'a> {
    pub(super) fn contract(&self) -> &'static str {
        self.mount.contract.id
    }

    pub(super) fn rows(&self) -> TenantRows<'a> {
        TenantRows::new(self.desk, self.tenant)
    }

    /// Ids of the deliveries to an endpoint that are to be sent by now, those that wait longest first. Of an ordered
    /// endpoint it is the first one, or none while that has to wait.
    pub(super) async fn due(&self, endpoint: &str, order: DeliveryOrder, limit: usize) -> Result<Vec<String>, Fault> {
        let open = Filter::Equals(OPEN, Cell::Text(endpoint_key(self.contract(), endpoint)));
        let is_due = Filter::AtMost(DUE_AT, self.desk.now().0);
        match order {
            DeliveryOrder::Parallel => {
                Ok(self.page(vec![open, is_due], DUE_AT, Projection::Ids, Start::First, limit).await?.rows)
            }
            DeliveryOrder::Ordered => {
                let first = self.page(vec![open], SEQ, Projection::Ids, Start::First, 1).await?.rows;
                let Some(id) = first.first() else { return Ok(Vec::new()) };
                let record = self.get(id).await?;
                Ok(if record.is_some_and(|record| record.state.due_at <= self.desk.now().0) {
                    first
                } else {
                    Vec::new()
                })
            }
        }
    }

    /// When the oldest delivery to an endpoint that has not arrived was made.
    pub(super) async fn oldest_open(&self, endpoint: &str) -> Result<Option<i64>, Fault> {
        let open = Filter::Equals(OPEN, Cell::Text(endpoint_key(self.contract(), endpoint)));
        let first = self.page(vec![open], SEQ, Projection::Ids, Start::First, 1).await?.rows;
        match first.first() {
            Some(id) => Ok(self.get(id).await?.map(|record| record.created_at)),
            None => Ok(None),
        }
    }

    /// Public objects of the deliveries to an endpoint, the newest first.
    pub(super) async fn listed(
        &self,
        endpoint: &str,
        status: Option<DeliveryStatus>,
        projection: Projection,
        limit: usize,
    ) -> Result<Page, Fault> {
        let mut filters = vec![Filter::Equals(ENDPOINT, Cell::Text(endpoint_key(self.contract(), endpoint)))];
        filters.extend(status.map(|status| Filter::Equals(STATUS, Cell::Text(status.as_str().to_owned()))));
        let order = Order { column: SEQ, direction: Direction::Descending };
        self.query(filters, order, projection, Start::First, limit).await
    }

    async fn page(
        &self,
        filters: Vec<Filter>,
        column: &'static str,
        projection: Projection,
        start: Start,
        limit: usize,
    ) -> Result<Page, Fault> {
        self.query(filters, Order { column, direction: Direction::Ascending }, projection, start, limit).await
    }

    async fn query(
        &self,
        filters: Vec<Filter>,
        order: Order,
        projection: Projection,
        start: Start,
        limit: usize,
    ) -> Result<Page, Fault> {
        let window = Window { start, limit, bytes: usize::MAX };
        self.desk.store.page(self.tenant, Query { projection, table: &DELIVERY, filters, order, window }).await
    }

    pub(super) async fn get(&self, id: &str) -> Result<Option<DeliveryRecord>, Fault> {
        let row = self.desk.store.get(self.tenant, &DELIVERY, id, Disclosure::ToChange).await?;
        row.map(|row| DeliveryRecord::from_row(row).ok_or_else(unreadable)).transpose()
    }

    /// Stores a delivery as it has become, if it is still as it was read. Returns the version that it has now.
    pub(super) async fn change(
        &self,
        mut record: DeliveryRecord,
        outcome: &'static str,
    ) -> Result<Option<DeliveryRecord>, Fault> {
        let expect_version = record.version;
        record.version = expect_version.saturating_add(1);
        let row = record.row(self.contract(), self.desk.now()).ok_or_else(unreadable)?;
        let step = Step::Update {
            table: &DELIVERY,
            row,
            expect_version,
            on_conflict: OnConflict::Retry,
            on_duplicate: Fault::internal("a delivery has no unique values"),
        };
        match self.commit(vec![step], vec![record.id.clone()], outcome).await? {
            DeliveryWrite::Done => Ok(Some(record)),
            DeliveryWrite::Conflict => Ok(None),
        }
    }

    /// Commits without events, so that no delivery causes another one.
    pub(super) async fn commit(
        &self,
        steps: Vec<Step>,
        ids: Vec<String>,
        outcome: &'static str,
    ) -> Result<DeliveryWrite, Fault> {
        let answer = Item {
            id: ids.first().cloned().unwrap_or_default(),
            version: 0,
            body: "{}".to_owned(),
            masked: None,
            personal: None,
        };
        let commit = Commit {
            client: None,
            tenant: self.tenant.clone(),
            at: self.desk.now(),
            steps,
            events: Vec::new(),
            claim: None,
            answer,
            audit: self.audit_line(ids, outcome),
        };
        match self.desk.store.commit(commit).await? {
            Committed::Done => Ok(DeliveryWrite::Done),
            Committed::VersionConflict | Committed::Refused(_) | Committed::AlreadyClaimed(_) => {
                Ok(DeliveryWrite::Conflict)
            }
            Committed::Unknown => Err(Fault::unavailable("a delivery was not written in time")),
        }
    }

    fn audit_line(&self, ids: Vec<String>, outcome: &'static str) -> String {
        let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let observation = Observation::new(self.desk.now(), self.desk.new_trace(), self.contract(), address);
        let tenant = Some(self.tenant.clone());
        Observation { method: Some("deliver"), tenant, ids, outcome, ..observation }.to_line()
    }
}

pub(super) fn unreadable() -> Fault {
    Fault::internal("a stored delivery cannot be read")
}
