//! Finds the lead with which the same person came before.

use frontdesk_engine::Fault;
use frontdesk_engine::model::page::{Filter, Projection, Query, Start, Window};
use serde_json::Value;

use super::{Lead, LeadStatus};
use crate::automotive::resource::WriteContext;
use crate::automotive::values::Contact;
use crate::record::filter::NEWEST;
use crate::record::{Cell, FieldValue, Ref, Stored, Vocabulary};

/// The same person is recognised by e-mail address or number for so long.
const DUPLICATE_SECONDS: i64 = 30 * 24 * 60 * 60;

/// The newest lead with the same e-mail address or number, or the one that it repeats itself. It is only named: two people
/// can share an address, so nothing is merged and the new lead stays open.
pub(super) async fn earlier_lead(contact: &Contact, context: &WriteContext<'_>) -> Result<Option<Ref<Lead>>, Fault> {
    let cells = |value: Option<&dyn FieldValue>| {
        let mut cells = Vec::new();
        value.into_iter().for_each(|value| value.cells(&mut cells));
        cells
    };
    let email = cells(contact.email.as_ref().map(|email| email as &dyn FieldValue));
    let phone = cells(contact.phone.as_ref().map(|phone| phone as &dyn FieldValue));
    let addresses = email.into_iter().map(|cell| ("email", cell)).chain(phone.into_iter().map(|cell| ("phone", cell)));
    let finished = [LeadStatus::Duplicate.as_str(), LeadStatus::Invalid.as_str()];
    let counted = LeadStatus::WORDS.iter().filter(|word| !finished.contains(word));
    let counted: Vec<Cell> = counted.map(|word| Cell::Text((*word).to_owned())).collect();
    let since = context.now().plus_seconds(-DUPLICATE_SECONDS).0;
    for (column, cell) in addresses {
        let query = Query {
            projection: Projection::Rows,
            table: Lead::table(),
            filters: vec![
                Filter::Equals(column, cell),
                Filter::AtLeast("received_at", since),
                Filter::AnyOf("status", counted.clone()),
            ],
            order: NEWEST,
            window: Window { start: Start::First, limit: 1, bytes: usize::MAX },
        };
        let page = context.permitted().page(query).await?;
        if let Some(row) = page.rows.first() {
            let row: Value = serde_json::from_str(row).map_err(|_| Fault::internal("a stored lead is no JSON"))?;
            let first = row.get("duplicate_of").or(row.get("id")).and_then(Value::as_str);
            return Ok(first.map(Ref::from));
        }
    }
    Ok(None)
}
