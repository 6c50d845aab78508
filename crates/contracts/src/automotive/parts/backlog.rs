//! Which lines of orders wait for a part: a single row per part, changed together with the part and the orders. So stock
//! that comes in goes to who came first, and to nobody twice.

use frontdesk_engine::TenantId;
use frontdesk_engine::model::timestamp::Millis;

use super::order::{MAX_LINES, MAX_QUANTITY, PartOrder};
use super::part::Part;
use crate::Record;
use crate::record::{Entity, Integer, List, Ref, Stored as _};

/// No tool shows it.
#[derive(Debug, Clone, PartialEq, Record)]
#[table("part_backlog", prefix = "pbl", not_found = "parts.not_found", noun = "backlog of a part")]
pub struct PartBacklog {
    /// The part.
    pub part_id: Ref<Part>,
    /// What waits, those who came first before others.
    pub waiting: List<WaitingLine, MAX_WAITING>,
}

/// It bounds the row.
pub const MAX_WAITING: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Record)]
pub struct WaitingLine {
    /// Whose line it is.
    pub order_id: Ref<PartOrder>,
    /// The line's number.
    pub line: Integer<1, MAX_LINES>,
    /// How many it still waits for.
    pub quantity: Integer<0, MAX_QUANTITY>,
}

impl PartBacklog {
    /// Made of the part's id, so that it can be read without a search.
    pub fn id_of(part_id: &str) -> String {
        let part = part_id.split_once('_').map_or(part_id, |(_, own)| own);
        format!("{}_{part}", PartBacklog::ID_PREFIX)
    }

    /// One in which nobody waits yet. Its version is 0: it has no row.
    pub fn empty(tenant: &TenantId, part_id: &str, now: Millis) -> Entity<PartBacklog> {
        let record = PartBacklog { part_id: part_id.into(), waiting: List::default() };
        let entity = Entity::new(PartBacklog::id_of(part_id), tenant.clone(), now, record);
        Entity { version: 0, ..entity }
    }
}
