//! Row-level security: it separates tenants even if a statement's `tenant = $1` were wrong. It must be in place before
//! anything is read, and the role that connects must not be able to bypass it.

use frontdesk_engine::model::table::TableSpec;

use super::connection::PgConnection;
use crate::StoreError;

/// The policy of one table.
pub(crate) struct RlsPolicy {
    table: String,
    scope: PolicyScope,
}

/// Which rows a transaction sees.
#[derive(Clone, Copy)]
enum PolicyScope {
    /// Those of its tenant.
    Tenant,
    /// Audit tables: the tenant's chain and the chains of nodes, of reads and of administration. The auditor, whose name no tenant can have, may read
    /// all chains.
    Chain,
}

pub(crate) use crate::audit::reader::AUDITOR;

const CURRENT_TENANT: &str = "current_setting('frontdesk.tenant', true)";

const CORE_TABLES: [(&str, PolicyScope); 5] = [
    ("fd_claim", PolicyScope::Tenant),
    ("fd_outbox", PolicyScope::Tenant),
    ("fd_counter", PolicyScope::Tenant),
    ("fd_audit", PolicyScope::Chain),
    ("fd_audit_head", PolicyScope::Chain),
];

/// The policies of the core's own tables.
pub(crate) fn core_policies() -> impl Iterator<Item = RlsPolicy> {
    CORE_TABLES.into_iter().map(|(table, scope)| RlsPolicy { table: table.to_owned(), scope })
}

/// The policies of a declared table and of its search terms.
pub(crate) fn table_policies(table: &TableSpec) -> [RlsPolicy; 2] {
    let policy = |table| RlsPolicy { table, scope: PolicyScope::Tenant };
    [policy(table.name.to_owned()), policy(format!("{}_word", table.name))]
}

impl RlsPolicy {
    /// With `FORCE`, because otherwise the owner of a table bypasses its policies.
    pub(crate) fn statements(&self) -> Vec<String> {
        let (table, own) = (&self.table, self.own_rows());
        let mut statements = vec![
            format!("ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"),
            format!("ALTER TABLE {table} FORCE ROW LEVEL SECURITY"),
            format!("CREATE POLICY frontdesk ON {table} USING ({own}) WITH CHECK ({own})"),
        ];
        match self.scope {
            PolicyScope::Tenant => {}
            PolicyScope::Chain => statements.push(format!(
                "CREATE POLICY frontdesk_auditor ON {table} FOR SELECT USING ({CURRENT_TENANT} = '{AUDITOR}')"
            )),
        }
        statements
    }

    /// The statement that gives a policy of an earlier release the rows it has now.
    fn alteration(&self) -> String {
        let (table, own) = (&self.table, self.own_rows());
        format!("ALTER POLICY frontdesk ON {table} USING ({own}) WITH CHECK ({own})")
    }

    fn own_rows(&self) -> String {
        match self.scope {
            PolicyScope::Tenant => format!("tenant = {CURRENT_TENANT}"),
            PolicyScope::Chain => {
                format!("chain = 'tenant:' || {CURRENT_TENANT} OR chain LIKE 'node:%' OR chain LIKE 'admin:%'")
            }
        }
    }
}

/// Before schema 3, the chains of administration did not exist, and no policy let a node see them.
pub(crate) fn policies_for_administration() -> impl Iterator<Item = String> {
    let has_chains = |policy: &RlsPolicy| matches!(policy.scope, PolicyScope::Chain);
    core_policies().filter(has_chains).map(|policy| policy.alteration())
}

pub(crate) async fn check_role(connection: &PgConnection) -> Result<(), StoreError> {
    let text = "SELECT CAST(rolname AS TEXT), rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user";
    for row in connection.query(text, &[]).await? {
        let role: String = row.try_get(0)?;
        if row.try_get(1)? {
            return Err(StoreError::Role { role, why: "is a superuser" });
        }
        if row.try_get(2)? {
            return Err(StoreError::Role { role, why: "has BYPASSRLS" });
        }
    }
    Ok(())
}

/// Every table has its policy, which also applies to its owner, and no other policy.
pub(crate) async fn check_policies(connection: &PgConnection, tables: &[&'static TableSpec]) -> Result<(), StoreError> {
    let text = "SELECT c.relrowsecurity AND c.relforcerowsecurity \
                AND EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'frontdesk') \
                AND NOT EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid \
                AND p.polname NOT IN ('frontdesk', 'frontdesk_auditor')) \
                FROM pg_class c WHERE c.oid = to_regclass($1)";
    for RlsPolicy { table, scope } in core_policies().chain(tables.iter().flat_map(|table| table_policies(table))) {
        let rows = connection.query(text, &[&table]).await?;
        let is_defined = rows.first().map(|row| row.try_get::<_, bool>(0)).transpose()? == Some(true);
        // Also checked by trying: no tenant has the empty name, so no rows of tenants may be visible under it.
        let rows_of_tenants = match scope {
            PolicyScope::Tenant => "",
            PolicyScope::Chain => "WHERE chain LIKE 'tenant:%' ",
        };
        let visible = format!("SELECT 1 FROM {table} {rows_of_tenants}LIMIT 1");
        if !is_defined || !connection.query_as_tenant("", &visible, &[]).await?.is_empty() {
            return Err(StoreError::RlsMissing { table });
        }
    }
    Ok(())
}
