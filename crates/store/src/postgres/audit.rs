//! Reading the audit chains on PostgreSQL.

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::seal::SealKey;
use frontdesk_engine::seal::installation_key::InstallationPublicKey;

use super::Address;
use super::connection::{PgConnection, refs};
use super::rls::AUDITOR;
use super::sql_texts::BEGIN_SNAPSHOT;
use super::values::read_rows;
use crate::StoreError;
use crate::audit::anchor::{self, AnchorVerifier};
use crate::audit::reader::VerifyKeys;
use crate::audit::{AnchorReport, AnchorStart, AuditReport, AuditSelection, ComparedTable, KEY_PURPOSE, reader};
use crate::installation;
use crate::reindex::IndexSession as _;
use crate::sql::session::{SqlReader, SqlRow, StoredValue};

/// Reads the chains of a database that may be in use by servers.
pub struct PostgresAudit {
    session: AuditorSession,
    master: SealKey,
    key: SealKey,
}

impl PostgresAudit {
    pub async fn open(address: &Address, master: &SealKey) -> Result<PostgresAudit, StoreError> {
        let connection = PgConnection::connect(&address.without_statement_timeout()).await?;
        let found = connection.query("SELECT 1 WHERE to_regclass('fd_audit') IS NOT NULL", &[]).await?;
        if found.is_empty() {
            return Err(StoreError::NoData);
        }
        let key = master.derive(KEY_PURPOSE);
        Ok(PostgresAudit { session: AuditorSession(connection), master: master.clone(), key })
    }

    /// Whether the tenant exists, or its records still do.
    pub async fn knows(&self, tenant: &str) -> Result<bool, StoreError> {
        reader::knows_tenant(&self.session, tenant).await
    }

    /// With the rows of these tables.
    pub async fn verify(&self, tables: &[ComparedTable]) -> Result<AuditReport, StoreError> {
        self.require_summary().await?;
        let connection = &self.session.0;
        connection.batch_execute(BEGIN_SNAPSHOT).await?;
        let keys = VerifyKeys { master: &self.master, audit: &self.key, tables };
        let report = reader::verify(connection, &keys).await;
        connection.batch_execute("ROLLBACK").await?;
        report
    }

    /// The next anchor; `None` if nothing has changed since the one before.
    pub async fn anchor(&self, start: &AnchorStart, at: Millis) -> Result<Option<String>, StoreError> {
        self.require_summary().await?;
        let connection = &self.session.0;
        connection.batch_execute(BEGIN_SNAPSHOT).await?;
        let composed = async {
            let installation = installation::find(connection, &self.master).await?;
            let key = installation.ok_or(StoreError::NoInstallation)?.key;
            anchor::compose(connection, &self.key, &key, start, at).await
        };
        let line = composed.await;
        connection.batch_execute("ROLLBACK").await?;
        line
    }

    pub async fn verify_anchors(
        &self,
        public_key: InstallationPublicKey,
        lines: impl Iterator<Item = std::io::Result<String>>,
    ) -> Result<AnchorReport, StoreError> {
        self.require_summary().await?;
        let connection = &self.session.0;
        connection.batch_execute(BEGIN_SNAPSHOT).await?;
        let compared = async {
            connection.set_tenant(AUDITOR).await?;
            AnchorVerifier::new(connection, &self.key, public_key).await?.check_all(connection, lines).await
        };
        let report = compared.await;
        connection.batch_execute("ROLLBACK").await?;
        report
    }

    async fn require_summary(&self) -> Result<(), StoreError> {
        let text = "SELECT 1 WHERE to_regclass('fd_audit_summary') IS NOT NULL";
        let found = self.session.0.query(text, &[]).await?;
        if found.is_empty() { Err(StoreError::NotInitialized) } else { Ok(()) }
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
