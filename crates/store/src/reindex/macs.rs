//! The MACs of rows that a release without them has written. Like the upgrade of the rows that decide access, this trusts
//! what it finds, so it runs only until the key file says that rows carry MACs. A killed process continues: rows that
//! have a MAC are left alone.

use frontdesk_engine::model::table::TableSpec;

use super::{CHUNK_ROWS, IndexSession, LOG_ROWS, next_tenant, sealed_row, tenant_keys};
use crate::StoreError;
use crate::keyring::{Keyring, TenantKeys};
use crate::sql;

/// Gives every row without a MAC its MAC.
pub(crate) async fn authenticate_rows<S: IndexSession>(
    session: &S,
    keyring: &Keyring,
    tables: &[&'static TableSpec],
) -> Result<(), StoreError> {
    for table in tables {
        let (mut tenant, mut rows, mut logged) = (String::new(), 0, 0);
        while let Some(next) = next_tenant(session, keyring, &tenant).await? {
            tenant = next;
            let keys = tenant_keys(session, keyring, &tenant).await?;
            let mut after = Some(String::new());
            while let Some(last) = after {
                session.begin(&tenant).await?;
                let outcome = authenticate_chunk(session, &keys, table, &tenant, &last).await;
                let (count, next) = session.end(outcome).await?;
                rows += count;
                after = next;
                if rows >= logged + LOG_ROWS {
                    logged = rows;
                    tracing::info!(table = table.name, rows, "row authentication continues");
                }
            }
        }
        if rows > 0 {
            tracing::info!(table = table.name, rows, "rows authenticated");
        }
    }
    Ok(())
}

/// How many rows, and the last id unless these were all.
async fn authenticate_chunk<S: IndexSession>(
    session: &S,
    keys: &TenantKeys,
    table: &TableSpec,
    tenant: &str,
    after: &str,
) -> Result<(usize, Option<String>), StoreError> {
    let limit = i64::try_from(CHUNK_ROWS).unwrap_or(i64::MAX);
    let found = session.query(&sql::rows_without_mac(table), &[tenant.into(), after.into(), limit.into()]).await?;
    let text = sql::set_mac(table);
    let mut last = None;
    for row in &found {
        let row = sealed_row(row)?;
        let mac = row.content(tenant, table).mac(keys);
        session.execute(&text, &[tenant.into(), row.found.id.as_str().into(), mac.as_slice().into()]).await?;
        last = Some(row.found.id);
    }
    Ok((found.len(), last.filter(|_| found.len() == CHUNK_ROWS)))
}
