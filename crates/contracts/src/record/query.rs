//! Records that rules and tools read in lists.

use frontdesk_engine::model::page::{Filter, Projection, Query, Start, Window};
use frontdesk_engine::model::table::StoredRow;
use frontdesk_engine::{Fault, Permitted};
use serde_json::Value;

use super::field::FieldType as _;
use super::filter::NEWEST;
use super::{Entity, Stored, Timestamp};

/// The newest records that pass these filters, `max` at most. A list has no personal data, so they must have none.
pub async fn list_records<R: Stored>(
    permitted: &Permitted<'_>,
    filters: Vec<Filter>,
    max: usize,
) -> Result<Vec<Entity<R>>, Fault> {
    let mut found = Vec::new();
    let mut start = Start::First;
    while found.len() < max {
        let page = permitted
            .page(Query {
                projection: Projection::Rows,
                table: R::table(),
                filters: filters.clone(),
                order: NEWEST,
                window: Window { start, limit: max.saturating_sub(found.len()), bytes: permitted.window().bytes },
            })
            .await?;
        for body in page.rows {
            found.push(Entity::restore(permitted.tenant(), &listed_row(body)?)?);
        }
        match page.next {
            Some(next) => start = Start::After(next),
            None => break,
        }
    }
    Ok(found)
}

/// A list answers with texts only; id, version and time are in them.
pub fn listed_row(body: String) -> Result<StoredRow, Fault> {
    let unreadable = || Fault::internal("a listed row has no id, version or time");
    let value: Value = serde_json::from_str(&body).map_err(|_| unreadable())?;
    let created_at = value.get("created_at").and_then(Timestamp::read).ok_or_else(unreadable)?;
    Ok(StoredRow {
        id: value.get("id").and_then(Value::as_str).ok_or_else(unreadable)?.to_owned(),
        version: value.get("version").and_then(Value::as_i64).ok_or_else(unreadable)?,
        created_at: created_at.0,
        body,
        masked: None,
        personal: None,
        secret: None,
    })
}
