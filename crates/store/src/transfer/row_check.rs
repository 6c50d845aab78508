//! Checks of an export before any of it is written: each row is opened with the tenant's key, read as what it claims to
//! be, and compared with what Frontdesk writes. What is wrong is said by table and number, never with a value.

use frontdesk_engine::TenantId;
use frontdesk_engine::model::plan::Change;
use frontdesk_engine::model::row_check::object;
use frontdesk_engine::model::table::{RowIndex, SearchTerm, StoredRow, TableSpec};
use frontdesk_engine::ports::Disclosure;
use serde_json::Value;

use super::layout::{self, ImportTable};
use super::{Manifest, StoredValue, validation};
use crate::StoreError;
use crate::idempotency;
use crate::keyring::TenantKeys;
use crate::reindex;
use crate::sql::{self, QueryParam, SealedRow};

/// Where the declared columns of a row begin.
const FIXED_COLUMNS: usize = 8;

/// Reads a whole export and writes nothing.
pub struct ImportCheck {
    tenant: TenantId,
    keys: TenantKeys,
    specs: Vec<&'static TableSpec>,
    tables: Vec<ImportTable>,
    /// For each table the search terms that its rows must have, and those that were received.
    terms: Vec<TermSums>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct TermSums {
    expected: u128,
    received: u128,
}

impl ImportCheck {
    pub fn new(specs: &[&'static TableSpec], manifest: &Manifest) -> Result<ImportCheck, StoreError> {
        let (tables, _) = layout::arrange(specs, manifest)?;
        if !validation::is_valid_manifest(manifest) {
            return Err(StoreError::NotCommitted("the manifest has values that Frontdesk does not write".to_owned()));
        }
        Ok(ImportCheck {
            tenant: manifest.tenant.id.clone(),
            keys: TenantKeys::of(&manifest.key),
            specs: specs.to_vec(),
            terms: vec![TermSums::default(); tables.len()],
            tables,
        })
    }

    /// Takes a row of the table with this number in the manifest.
    pub fn row(&mut self, table: usize, row: Vec<StoredValue>) -> Result<(), StoreError> {
        let unknown = || StoreError::NotCommitted("the rows do not match the manifest".to_owned());
        let received = self.tables.get_mut(table).ok_or_else(unknown)?;
        received.received += 1;
        let number = received.received;
        let name = received.table.name.clone();
        self.checked(table, row).map_err(|why| StoreError::InvalidRow { table: name, number, why })
    }

    /// After the last row.
    pub fn finish(self) -> Result<(), StoreError> {
        for (received, terms) in self.tables.iter().zip(&self.terms) {
            let name = &received.table.name;
            if received.received != received.expected {
                let (expected, received) = (received.expected, received.received);
                return Err(StoreError::Incomplete { table: name.clone(), expected, received });
            }
            if terms.expected != terms.received {
                return Err(StoreError::NotCommitted(format!(
                    "the search terms of table {name} are not those of its rows. Ask the sender for a new export"
                )));
            }
        }
        Ok(())
    }

    fn checked(&mut self, table: usize, row: Vec<StoredValue>) -> Result<(), String> {
        let received = self.tables.get(table).ok_or("its table is not in the manifest")?;
        let row = received.arrange(row).filter(|row| validation::is_valid_row(&received.table, row));
        let row = row.ok_or("a value has another type or form than its column")?;
        let name = received.table.name.as_str();
        match name {
            "fd_audit" => self.check_link(&row),
            "fd_claim" => self.check_claim(&row),
            "fd_outbox" => check_event(&row),
            "fd_counter" | "fd_client" => Ok(()),
            _ => match self.specs.iter().find(|spec| spec.name == name) {
                Some(spec) => self.check_record(table, spec, &row),
                None => self.add_received_term(table, &row),
            },
        }
    }

    fn check_record(&mut self, table: usize, spec: &'static TableSpec, row: &[StoredValue]) -> Result<(), String> {
        let mut stored = sealed_row(row).ok_or("a value has another type than its column")?;
        let tenant = self.tenant.as_str();
        // A file carries no MACs, it is signed as a whole; the import computes them.
        stored.mac = Some(stored.content(tenant, spec).mac(&self.keys));
        let stored = stored.disclose(Some(&self.keys), tenant, spec, Disclosure::ToChange);
        let stored = stored.map_err(|_| "a sealed part does not open with the tenant's key")?;
        object("public", &stored.body)?;
        let parts = [("masked", &stored.masked), ("personal", &stored.personal), ("write-only", &stored.secret)];
        for (part, text) in parts {
            if let Some(text) = text {
                object(part, text)?;
            }
        }
        let Some(check) = spec.check else {
            return Ok(());
        };
        let Some(index) = check(&self.tenant, &stored)? else {
            return Ok(());
        };
        self.check_columns(table, spec, row, &index)?;
        self.add_expected_terms(table, spec, &stored.id, &index.search_terms);
        Ok(())
    }

    /// What a row is found by must be what it says. What an earlier release did not have is computed by the import.
    fn check_columns(
        &self,
        table: usize,
        spec: &'static TableSpec,
        row: &[StoredValue],
        index: &RowIndex,
    ) -> Result<(), String> {
        let received = self.tables.get(table).ok_or("its table is not in the manifest")?;
        for (column, value) in spec.columns.iter().zip(row.iter().skip(FIXED_COLUMNS)) {
            let expected = reindex::stored(sql::column_value(spec, column, &index.cells, &self.keys));
            if *value != expected && !received.lacks(column.name) {
                return Err(format!("its column `{}` is not that of its content", column.name));
            }
        }
        Ok(())
    }

    /// The words follow in the next table of the manifest, if it has them at all.
    fn add_expected_terms(&mut self, table: usize, spec: &TableSpec, id: &str, terms: &[SearchTerm]) {
        let words = format!("{}_word", spec.name);
        let Some(at) = self.tables.iter().position(|table| table.table.name == words) else {
            return;
        };
        if !self.tables.get(table).is_some_and(|received| received.is_searched_alike(spec)) {
            // They are computed again.
            return;
        }
        let mut texts: Vec<String> = Vec::with_capacity(terms.len());
        for term in terms {
            match QueryParam::of_term(term, spec, Some(&self.keys)) {
                QueryParam::Text(text) => texts.push(text.to_owned()),
                QueryParam::Digest(text) => texts.push(text),
                QueryParam::Null | QueryParam::Integer(_) => {}
            }
        }
        texts.sort_unstable();
        texts.dedup();
        let sum = texts.iter().fold(0_u128, |sum, text| sum.wrapping_add(self.keys.term_number(text, id)));
        if let Some(sums) = self.terms.get_mut(at) {
            sums.expected = sums.expected.wrapping_add(sum);
        }
    }

    fn add_received_term(&mut self, table: usize, row: &[StoredValue]) -> Result<(), String> {
        let [StoredValue::Text(word), StoredValue::Text(id)] = row else {
            return Err("a value has another type than its column".to_owned());
        };
        if word.contains('\0') || id.contains('\0') {
            return Err("it has a NUL character".to_owned());
        }
        let words = self.tables.get(table).map(|received| received.table.name.as_str()).unwrap_or_default();
        let spec = words.strip_suffix("_word").and_then(|name| self.specs.iter().find(|spec| spec.name == name));
        let is_checked = spec.is_some_and(|spec| {
            let rows = self.tables.iter().find(|received| received.table.name == spec.name);
            spec.check.is_some() && spec.index.is_some() && rows.is_some_and(|rows| rows.is_searched_alike(spec))
        });
        let number = self.keys.term_number(word, id);
        if let Some(sums) = self.terms.get_mut(table).filter(|_| is_checked) {
            sums.received = sums.received.wrapping_add(number);
        }
        Ok(())
    }

    fn check_claim(&self, row: &[StoredValue]) -> Result<(), String> {
        let [
            StoredValue::Text(client),
            StoredValue::Text(tool),
            StoredValue::Text(key_hash),
            StoredValue::Bytes(meaning),
            StoredValue::Bytes(answer),
            StoredValue::Integer(_),
        ] = row
        else {
            return Err("a value has another type than its column".to_owned());
        };
        let place = idempotency::ClaimPlace { tenant: self.tenant.as_str(), client, tool, key_hash };
        let item = idempotency::open_at(&self.keys, &place, meaning, answer);
        let item = item.ok_or("its answer does not open with the tenant's key")?;
        object("public", &item.body)?;
        for (part, text) in [("masked", &item.masked), ("personal", &item.personal)] {
            if let Some(text) = text {
                object(part, text)?;
            }
        }
        Ok(())
    }

    fn check_link(&self, row: &[StoredValue]) -> Result<(), String> {
        let Some(StoredValue::Text(records)) = row.get(2) else {
            return Err("a value has another type than its column".to_owned());
        };
        for line in records.lines() {
            let record = object("record", line).map_err(|_| "a record of it is not one JSON object")?;
            let is_foreign = |tenant: &Value| tenant.as_str() != Some(self.tenant.as_str());
            if record.get("tenant").is_some_and(is_foreign) {
                return Err("it names another tenant".to_owned());
            }
        }
        Ok(())
    }
}

fn check_event(row: &[StoredValue]) -> Result<(), String> {
    let [_, StoredValue::Text(event), StoredValue::Text(kind), StoredValue::Text(id), StoredValue::Text(change), _] =
        row
    else {
        return Err("a value has another type than its column".to_owned());
    };
    let is_name = |text: &str| (1..=200).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_name(event) || !is_name(kind) || id.is_empty() || id.chars().any(char::is_control) {
        return Err("it is not named as events are".to_owned());
    }
    if Change::parse(change).is_none() {
        return Err("its change is none of created, updated and deleted".to_owned());
    }
    Ok(())
}

fn sealed_row(row: &[StoredValue]) -> Option<SealedRow> {
    let text = |value: &StoredValue| match value {
        StoredValue::Text(text) => Some(text.clone()),
        StoredValue::Null | StoredValue::Integer(_) | StoredValue::Bytes(_) => None,
    };
    let bytes = |value: &StoredValue| match value {
        StoredValue::Bytes(bytes) => Some(bytes.clone()),
        StoredValue::Null | StoredValue::Integer(_) | StoredValue::Text(_) => None,
    };
    let [
        id,
        StoredValue::Integer(version),
        StoredValue::Integer(created_at),
        StoredValue::Integer(updated_at),
        body,
        masked,
        sealed,
        secret,
        ..,
    ] = row
    else {
        return None;
    };
    let found = StoredRow {
        id: text(id).filter(|id| !id.is_empty() && !id.chars().any(char::is_control))?,
        version: *version,
        created_at: *created_at,
        body: text(body)?,
        masked: text(masked),
        personal: None,
        secret: None,
    };
    Some(SealedRow { found, sealed: bytes(sealed), sealed_secret: bytes(secret), updated_at: *updated_at, mac: None })
}
