//! Row-level security: a second wall between tenants behind the `tenant = $1` of every statement. It must
//! stand before anything is read, and the role that connects must not be able to pass it.

use frontdesk_engine::model::table::TableSpec;

use super::live::Live;
use crate::StoreError;

/// A table and what divides its rows.
pub(crate) struct Wall {
    table: String,
    by: By,
}

#[derive(Clone, Copy)]
enum By {
    Tenant,
    /// Audit tables: a tenant's own chain, and the chains of nodes. Whoever checks all of them says so by a
    /// name that no tenant can have, and can only read.
    Chain,
}

/// Who reads every audit chain.
pub(crate) const AUDITOR: &str = "*";

/// A table of the core whose rows belong to tenants.
pub(crate) struct CoreWall {
    table: &'static str,
    by: By,
}

pub(crate) const CORE: &[CoreWall] = &[
    CoreWall { table: "fd_claim", by: By::Tenant },
    CoreWall { table: "fd_outbox", by: By::Tenant },
    CoreWall { table: "fd_counter", by: By::Tenant },
    CoreWall { table: "fd_audit", by: By::Chain },
    CoreWall { table: "fd_audit_head", by: By::Chain },
];

impl CoreWall {
    pub(crate) fn build(&self) -> Vec<String> {
        Wall { table: self.table.to_owned(), by: self.by }.build()
    }
}

pub(crate) fn of(kind: &TableSpec) -> Vec<Wall> {
    let wall = |table| Wall { table, by: By::Tenant };
    vec![wall(kind.name.to_owned()), wall(format!("{}_word", kind.name))]
}

impl Wall {
    /// `FORCE`, because the owner of a table is let through otherwise.
    pub(crate) fn build(&self) -> Vec<String> {
        let table = &self.table;
        let tenant = "current_setting('frontdesk.tenant', true)";
        let mut made = vec![
            format!("ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"),
            format!("ALTER TABLE {table} FORCE ROW LEVEL SECURITY"),
        ];
        match self.by {
            By::Tenant => {
                let own = format!("tenant = {tenant}");
                made.push(format!("CREATE POLICY frontdesk ON {table} USING ({own}) WITH CHECK ({own})"));
            }
            By::Chain => {
                let own = format!("chain = 'tenant:' || {tenant} OR chain LIKE 'node:%'");
                made.push(format!("CREATE POLICY frontdesk ON {table} USING ({own}) WITH CHECK ({own})"));
                made.push(format!(
                    "CREATE POLICY frontdesk_auditor ON {table} FOR SELECT USING ({tenant} = '{AUDITOR}')"
                ));
            }
        }
        made
    }
}

pub(crate) async fn check_role(live: &Live) -> Result<(), StoreError> {
    let text = "SELECT CAST(rolname AS TEXT), rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user";
    for row in live.query(text, &[]).await? {
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

/// Every wall stands, is forced on the owner, and has no door that somebody else has made.
pub(crate) async fn check(live: &Live, kinds: &[&'static TableSpec]) -> Result<(), StoreError> {
    let text = "SELECT c.relrowsecurity AND c.relforcerowsecurity \
                AND EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'frontdesk') \
                AND NOT EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid \
                AND p.polname NOT IN ('frontdesk', 'frontdesk_auditor')) \
                FROM pg_class c WHERE c.oid = to_regclass($1)";
    let mut tables: Vec<String> = CORE.iter().map(|wall| wall.table.to_owned()).collect();
    tables.extend(kinds.iter().flat_map(|kind| of(kind)).map(|wall| wall.table));
    for table in tables {
        let rows = live.query(text, &[&table]).await?;
        let stands = rows.first().map(|row| row.try_get::<_, bool>(0)).transpose()?;
        // Tried, too: nobody has the empty name, so nobody's rows may be seen under it.
        let seen = live.query_as("", &format!("SELECT 1 FROM {table} {}", unseen(&table)), &[]).await?;
        if stands != Some(true) || !seen.is_empty() {
            return Err(StoreError::Unwalled { table });
        }
    }
    Ok(())
}

/// The nodes' chains are for everybody.
fn unseen(table: &str) -> &'static str {
    match table.starts_with("fd_audit") {
        true => "WHERE chain LIKE 'tenant:%' LIMIT 1",
        false => "LIMIT 1",
    }
}
