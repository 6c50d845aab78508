//! Statements about authenticated tables that use no content of their rows: locks, and which tenants there are. What is
//! done for a tenant that was found like this begins by reading its row or its key, which is verified.

use frontdesk_engine::model::table::TableSpec;

use super::{RegistryKey, RegistryRow, TENANTS};
use crate::StoreError;
use crate::sql::session::SqlReader;

/// Every writer of a tenant, on any node, locks its row first. So the tenant's event number, its audit chain and the
/// rows that a plan requires do not change until the commit. The columns are those of `TENANTS.select`.
pub const LOCK_TENANT: &str = "SELECT tenant, name, sealed_key, profile, tenant_group, erasing_at, version, mac \
    FROM fd_tenant WHERE tenant = $1 FOR NO KEY UPDATE";

/// Until the transaction ends, no other node issues or ends tokens.
pub(crate) const LOCK_TOKENS: &str = "LOCK TABLE fd_token IN SHARE ROW EXCLUSIVE MODE";

pub(crate) const TENANT_NAMES: &str = "SELECT tenant FROM fd_tenant ORDER BY tenant";

/// Only to limit how many there are: a row that is refused counts.
pub(crate) const COUNT_LOGIN_RECORDS: &str = "SELECT count(*) FROM fd_login_record WHERE kind = $1";

/// The tenants whose stored rows were never counted, on SQLite.
pub(crate) const UNCOUNTED_TENANTS: &str = "SELECT tenant FROM fd_tenant WHERE NOT EXISTS (SELECT 1 FROM fd_counter AS own \
    WHERE own.tenant = fd_tenant.tenant AND own.stored_rows IS NOT NULL) ORDER BY tenant";

/// Whether tenant `$1` or audit chain `$2` exists.
pub(crate) const TENANT_OR_CHAIN: &str =
    "SELECT 1 FROM fd_tenant WHERE tenant = $1 UNION ALL SELECT 1 FROM fd_audit_head WHERE chain = $2";

/// The names of the tenants with rows whose value in this column is below `$1`, on SQLite.
pub(crate) fn tenants_with_rows_before(table: &TableSpec, column: &str) -> String {
    format!(
        "SELECT tenant FROM fd_tenant WHERE EXISTS (SELECT 1 FROM {} AS own \
         WHERE own.tenant = fd_tenant.tenant AND own.{column} < $1) ORDER BY tenant",
        table.name
    )
}

/// Whether there is a row for the tenant, also one that is refused.
pub(crate) async fn tenant_exists<R: SqlReader>(reader: &R, tenant: &str) -> Result<bool, StoreError> {
    Ok(!reader.query("SELECT 1 FROM fd_tenant WHERE tenant = $1", &[tenant.into()]).await?.is_empty())
}

/// The first tenant after this name that is not being erased. Rows that are refused are skipped.
pub(crate) async fn next_tenant<R: SqlReader>(
    reader: &R,
    key: &RegistryKey,
    after: &str,
) -> Result<Option<RegistryRow>, StoreError> {
    let text = TENANTS.select("WHERE tenant > $1 AND erasing_at IS NULL ORDER BY tenant LIMIT 1");
    let mut after = after.to_owned();
    loop {
        let found = reader.query(&text, &[after.as_str().into()]).await?;
        let Some(first) = found.first() else {
            return Ok(None);
        };
        after = first.text(0)?.to_owned();
        if let Some(row) = TENANTS.verify(key, found).rows.pop() {
            return Ok(Some(row));
        }
    }
}
