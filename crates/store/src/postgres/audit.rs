//! Reading the audit chains on PostgreSQL.

use frontdesk_engine::seal::SealKey;

use super::Address;
use super::connection::{PgConnection, refs};
use super::rls::AUDITOR;
use super::sql_texts::{BEGIN_SNAPSHOT, SET_TENANT};
use super::values::read_rows;
use crate::StoreError;
use crate::audit::{AuditReport, AuditSelection, KEY_PURPOSE, reader};
use crate::sql::session::{SqlReader, SqlRow, StoredValue};

/// Reads the chains of a database that may be in use by servers.
pub struct PostgresAudit {
    session: AuditorSession,
    key: SealKey,
}

impl PostgresAudit {
    pub async fn open(address: &Address, master: &SealKey) -> Result<PostgresAudit, StoreError> {
        let connection = PgConnection::connect(&address.without_statement_timeout()).await?;
        let found = connection.query("SELECT 1 WHERE to_regclass('fd_audit') IS NOT NULL", &[]).await?;
        if found.is_empty() {
            return Err(StoreError::NoData);
        }
        Ok(PostgresAudit { session: AuditorSession(connection), key: master.derive(KEY_PURPOSE) })
    }

    /// Whether the tenant exists, or its records still do.
    pub async fn knows(&self, tenant: &str) -> Result<bool, StoreError> {
        reader::knows_tenant(&self.session, tenant).await
    }

    pub async fn verify(&self) -> Result<AuditReport, StoreError> {
        let connection = &self.session.0;
        connection.batch_execute(BEGIN_SNAPSHOT).await?;
        let report = match connection.query(SET_TENANT, &[&AUDITOR]).await {
            Ok(_) => reader::verify(connection, &self.key).await,
            Err(error) => Err(error.into()),
        };
        connection.batch_execute("ROLLBACK").await?;
        report
    }

    /// Hands every selected record to `take`, a line of JSON each, with its chain and link number.
    pub async fn export(
        &self,
        selection: &AuditSelection,
        take: impl FnMut(&str, i64, &str) -> std::io::Result<()>,
    ) -> Result<u64, StoreError> {
        reader::export(&self.session, selection, take).await
    }
}

/// Runs each query in a transaction of its own that may read all audit chains.
struct AuditorSession(PgConnection);

impl SqlReader for AuditorSession {
    async fn query(&self, text: &str, params: &[StoredValue]) -> Result<Vec<SqlRow>, StoreError> {
        read_rows(&self.0.query_as_tenant(AUDITOR, text, &refs(params)).await?)
    }
}
