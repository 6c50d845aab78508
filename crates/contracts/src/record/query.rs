//! Records that rules and tools read in lists.

use frontdesk_engine::model::page::{Filter, Projection, Query, Start, Window};
use frontdesk_engine::{Fault, Permitted};

use super::filter::NEWEST;
use super::{Entity, Stored};

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
            found.push(Entity::restore_listed(permitted.tenant(), &body)?);
        }
        match page.next {
            Some(next) => start = Start::After(next),
            None => break,
        }
    }
    Ok(found)
}
