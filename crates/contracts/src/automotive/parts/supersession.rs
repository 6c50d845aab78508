//! Which part supersedes which. A chain is followed to its last part; it has no cycle and a bounded length, because a
//! feed that would make one is refused.

use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::table::Cell;
use frontdesk_engine::{Fault, Permitted};

use super::number::PartNumber;
use super::part::Part;
use crate::Record;
use crate::automotive::resource::WriteContext;
use crate::record::{Entity, Ref, Stored as _};

/// The longest chain, counted in steps from one part to the next.
pub const MAX_STEPS: usize = 20;
/// How many parts of one generation are looked at when the length of a chain is checked.
const MAX_BRANCHES: usize = 100;

/// The successor of a part number: a row with an id that is made of the number, because a feed may name a successor that
/// it lists later or never. So two rows that are applied at once cannot supersede each other. No tool shows it.
#[derive(Debug, Clone, PartialEq, Record)]
#[table("part_link", prefix = "pln", not_found = "parts.not_found", noun = "link between parts")]
pub struct PartLink {
    /// The number that is superseded.
    pub part_number: PartNumber,
    /// The number that supersedes it; none any more if absent.
    pub superseded_by: Option<PartNumber>,
}

impl PartLink {
    pub fn id_of(key: &str) -> String {
        format!("{}_{key}", PartLink::ID_PREFIX)
    }
}

/// A part and those that supersede it.
pub(super) struct PartChain {
    /// The part that was asked for, then its successors, as far as they are in the catalogue. Never empty.
    pub(super) parts: Vec<Entity<Part>>,
    /// The successor of the last one, if the catalogue does not have it.
    pub(super) missing: Option<PartNumber>,
}

/// Follows a number to the current part; nothing if the catalogue does not have the number itself.
pub(super) async fn follow(permitted: &Permitted<'_>, number: &PartNumber) -> Result<Option<PartChain>, Fault> {
    let mut chain = PartChain { parts: Vec::new(), missing: None };
    let mut next = Some(number.clone());
    while let Some(number) = next.take() {
        let row = permitted.find(Part::table(), "part_number", Cell::Text(number.key())).await?;
        let Some(row) = row else {
            chain.missing = Some(number);
            break;
        };
        let part: Entity<Part> = Entity::restore(permitted.tenant(), &row)?;
        next = part.record.superseded_by.clone();
        chain.parts.push(part);
        // Twice the limit, because two rows that are applied at once may each keep to it.
        if chain.parts.len() > MAX_STEPS.saturating_mul(2).saturating_add(1) {
            return Err(Fault::internal("a chain of superseded parts is too long"));
        }
    }
    Ok((!chain.parts.is_empty()).then_some(chain))
}

/// Records the successor of a part that is written, unless that would make a cycle or too long a chain.
pub(super) async fn link(before: Option<&Part>, after: &Part, context: &mut WriteContext<'_>) -> Result<(), Fault> {
    let old = before.and_then(|before| before.superseded_by.as_ref());
    let new = after.superseded_by.as_ref();
    if old.map(PartNumber::key) == new.map(PartNumber::key) {
        return Ok(());
    }
    let own_key = after.part_number.key();
    if let Some(next) = new {
        let steps = check_successors(&own_key, next, context).await?;
        check_length(&own_key, steps, context).await?;
    }
    let id = PartLink::id_of(&own_key);
    let record = PartLink { part_number: after.part_number.clone(), superseded_by: new.cloned() };
    let link = match context.load(&Ref::<PartLink>::from(id.as_str())).await? {
        Some(stored) => Entity { record, ..stored },
        None => {
            let tenant = context.permitted().tenant().clone();
            Entity { version: 0, ..Entity::new(id, tenant, context.now(), record) }
        }
    };
    context.write_hidden(link);
    Ok(())
}

/// How many steps the chain has from the part on. Everything it depends on must stay as it was read.
async fn check_successors(own_key: &str, next: &PartNumber, context: &mut WriteContext<'_>) -> Result<usize, Fault> {
    let mut key = next.key();
    for steps in 1..=MAX_STEPS {
        if key == own_key {
            return Err(refused("the parts would supersede each other in a circle"));
        }
        let id = PartLink::id_of(&key);
        let Some(link) = context.load(&Ref::<PartLink>::from(id.as_str())).await? else {
            context.require_absent::<PartLink>(id);
            return Ok(steps);
        };
        context.require_unchanged(&link);
        match link.record.superseded_by {
            Some(following) => key = following.key(),
            None => return Ok(steps),
        }
    }
    Err(too_long())
}

/// The parts that it supersedes itself count, too.
async fn check_length(own_key: &str, steps: usize, context: &WriteContext<'_>) -> Result<(), Fault> {
    let mut keys = vec![own_key.to_owned()];
    for _ in steps..=MAX_STEPS {
        let cells = keys.into_iter().map(Cell::Text).collect();
        let earlier: Vec<Entity<Part>> =
            context.list(vec![Filter::AnyOf("superseded_by", cells)], MAX_BRANCHES).await?;
        if earlier.is_empty() {
            return Ok(());
        }
        keys = earlier.iter().map(|part| part.record.part_number.key()).collect();
    }
    Err(too_long())
}

fn too_long() -> Fault {
    refused(&format!("a chain of parts that supersede each other has at most {MAX_STEPS} steps"))
}

fn refused(expected: &str) -> Fault {
    Fault::invalid_argument("/superseded_by", "not", expected)
}
