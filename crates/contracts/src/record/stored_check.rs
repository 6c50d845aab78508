//! Whether a row that comes from another server is one that the tools of its resource write.

use frontdesk_engine::TenantId;
use frontdesk_engine::model::row_check::{object, require_same};
use frontdesk_engine::model::table::{RowIndex, StoredRow};
use serde_json::{Map, Value};

use super::entity::Entity;
use super::field::FieldSpec;
use super::table::Stored;

/// Any name will do: the row may have the contract's own.
const TENANT: &str = "tenant";

/// As `CheckFn` says. The row is read into its record, written again and compared, and every value is checked against
/// the schema of its field.
pub(super) fn check_stored<R: Stored>(tenant: &TenantId, row: &StoredRow) -> Result<Option<RowIndex>, String> {
    let parts = [("public", Some(&row.body)), ("personal", row.personal.as_ref()), ("write-only", row.secret.as_ref())];
    for (part, text) in parts.into_iter().filter_map(|(part, text)| text.map(|text| (part, text))) {
        check_values(R::FIELDS, &object(part, text)?)?;
    }
    if object("public", &row.body)?.get("type").and_then(Value::as_str) != Some(R::TABLE_NAME) {
        return Err("it is of another type".to_owned());
    }
    let entity: Entity<R> = Entity::restore(tenant, row).map_err(|fault| {
        let cause = fault.cause.as_deref().and_then(|cause| cause.rsplit_once(": ")).map(|(_, field)| field.to_owned());
        format!("it lacks a member, or has one of another type: {}", cause.unwrap_or_default())
    })?;
    let written = entity.row(TENANT);
    require_same(tenant, row, &written)?;
    Ok(Some(RowIndex { cells: written.cells, search_terms: written.search_terms }))
}

fn check_values(fields: &'static [FieldSpec], members: &Map<String, Value>) -> Result<(), String> {
    for field in fields {
        if let Some(value) = members.get(field.name) {
            // As it was sent, or as it is after an erasure.
            let fits = [field.input, field.output].into_iter().any(|schema| schema().accepts(&mut value.clone()));
            if !fits {
                return Err(format!("its member `{}` has a value that its schema does not allow", field.name));
            }
        }
    }
    Ok(())
}
