//! Finds rows of one feed that are about the same record. Only hashes are kept, so that a large feed fits into memory.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::spec::{ImportRules, RowProblem};
use crate::model::table::Cell;
use crate::seal::sha256;

/// The rows of a feed so far.
#[derive(Default)]
pub struct DuplicateRows {
    /// The line of each key.
    seen: HashMap<[u8; 16], u64>,
}

impl DuplicateRows {
    /// Notes a row, or says which earlier one it repeats.
    pub fn add(
        &mut self,
        rules: &dyn ImportRules,
        line: u64,
        arguments: &Map<String, Value>,
    ) -> Result<(), RowProblem> {
        let keys: Vec<(&str, [u8; 16])> =
            rules.keys(arguments).iter().map(|key| (key.field, hash(key.field, &key.cell))).collect();
        for (field, key) in &keys {
            if let Some(earlier) = self.seen.get(key) {
                let reason = format!("line {earlier} has the same {field}; a feed has one row for each record");
                return Err(RowProblem { field: (*field).to_owned(), reason });
            }
        }
        self.seen.extend(keys.into_iter().map(|(_, key)| (key, line)));
        Ok(())
    }
}

fn hash(field: &str, cell: &Cell) -> [u8; 16] {
    let text = match cell {
        Cell::Null => String::new(),
        Cell::Text(text) | Cell::Digest(text) => text.clone(),
        Cell::Integer(number) => number.to_string(),
    };
    let hash = sha256(format!("{field}\0{text}").as_bytes());
    let mut short = [0; 16];
    short.iter_mut().zip(hash).for_each(|(to, from)| *to = from);
    short
}
