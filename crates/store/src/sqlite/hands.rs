//! The statements that nearly every plan needs, prepared once. Finding each by its text, as the others are, and putting
//! it back was a sixteenth of the writer's instructions outside of the log.

use std::collections::HashMap;

use frontdesk_engine::model::table::TableSpec;
use rusqlite::{Connection, Result, Statement};

use super::{Texts, words};
use crate::sql::{self, for_sqlite};

pub(super) struct Hands<'a> {
    connection: &'a Connection,
    find_claim: Option<Statement<'a>>,
    add_claim: Option<Statement<'a>>,
    add_event: Option<Statement<'a>>,
    add_link: Option<Statement<'a>>,
    kinds: HashMap<&'static str, Adding<'a>>,
}

/// What adds a row of a kind, and its words by their number.
#[derive(Default)]
struct Adding<'a> {
    row: Option<Statement<'a>>,
    words: [Option<Statement<'a>>; words::AT_ONCE],
}

impl<'a> Hands<'a> {
    pub(super) fn new(connection: &'a Connection) -> Hands<'a> {
        Hands { connection, find_claim: None, add_claim: None, add_event: None, add_link: None, kinds: HashMap::new() }
    }

    pub(super) fn find_claim(&mut self) -> Result<&mut Statement<'a>> {
        kept(self.connection, &mut self.find_claim, || for_sqlite(sql::FIND_CLAIM))
    }

    pub(super) fn add_claim(&mut self) -> Result<&mut Statement<'a>> {
        kept(self.connection, &mut self.add_claim, || for_sqlite(sql::ADD_CLAIM))
    }

    pub(super) fn add_event(&mut self) -> Result<&mut Statement<'a>> {
        kept(self.connection, &mut self.add_event, || for_sqlite(sql::ADD_EVENT))
    }

    pub(super) fn add_link(&mut self) -> Result<&mut Statement<'a>> {
        let text = "INSERT INTO fd_audit (chain, seq, at, records, hash) VALUES (?1, ?2, ?3, ?4, ?5)";
        kept(self.connection, &mut self.add_link, || text.to_owned())
    }

    pub(super) fn add_row(&mut self, kind: &TableSpec, texts: &Texts) -> Result<&mut Statement<'a>> {
        kept(self.connection, &mut self.kinds.entry(kind.name).or_default().row, || texts.insert.clone())
    }

    /// For so many words of a row, of which none are too many: see `words::AT_ONCE`.
    pub(super) fn add_words(&mut self, kind: &TableSpec, count: usize) -> Result<Option<&mut Statement<'a>>> {
        let slots = self.kinds.entry(kind.name).or_default().words.iter_mut();
        let slot = (1..).zip(slots).find(|(number, _)| *number == count);
        slot.map(|(_, slot)| kept(self.connection, slot, || words::add_words(kind, count))).transpose()
    }
}

fn kept<'s, 'a>(
    connection: &'a Connection,
    slot: &'s mut Option<Statement<'a>>,
    text: impl FnOnce() -> String,
) -> Result<&'s mut Statement<'a>> {
    match slot {
        Some(statement) => Ok(statement),
        None => Ok(slot.insert(connection.prepare(&text())?)),
    }
}
