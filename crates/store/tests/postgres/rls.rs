//! Row-level security: it separates tenants even without `tenant = $1`, and a role or a table that would bypass it is
//! refused at the start.

use std::sync::Arc;

use frontdesk_store::StoreError;

use crate::test_store::{TestStore, open};
use frontdesk_testkit::databases::ROLE;
use frontdesk_testkit::store_suite::boats::{BOAT, add, boat, claim, done, plan};
use frontdesk_testkit::store_suite::{north, south};

const TABLES: [&str; 7] = ["boat", "boat_word", "fd_claim", "fd_outbox", "fd_counter", "fd_audit", "fd_audit_head"];

#[tokio::test]
async fn a_statement_without_a_tenant_sees_and_changes_nothing() {
    let test = with_rows().await;
    for table in TABLES {
        let tenants = match table.starts_with("fd_audit") {
            true => "chain LIKE 'tenant:%'",
            false => "true",
        };
        let count = |role: &str, name: &str| {
            let text = format!(
                "SET ROLE {role}; SET frontdesk.tenant = '{name}'; SELECT count(*) FROM {table} WHERE {tenants}"
            );
            test.database.sql(&text).pop().unwrap()
        };
        let all: u64 = count("postgres", "").parse().unwrap();
        assert!(all >= 2, "{table} has rows of both tenants");
        assert_eq!(count(ROLE, ""), "0", "{table} without a tenant");
        assert_eq!(count(ROLE, "nobody"), "0", "{table} as nobody");
        let one: u64 = count(ROLE, "north").parse().unwrap();
        assert!(one > 0 && one < all, "{table} as north shows {one} of {all}");
    }
    for change in [
        "UPDATE boat SET berths = 0",
        "DELETE FROM boat",
        "DELETE FROM fd_outbox",
        "DELETE FROM fd_audit WHERE chain LIKE 'tenant:%'",
    ] {
        let counted = format!("SET ROLE {ROLE}; WITH gone AS ({change} RETURNING 1) SELECT count(*) FROM gone");
        let changed = test.database.sql(&counted);
        assert_eq!(changed, ["0"], "{change}");
    }
}

#[tokio::test]
async fn a_row_of_another_tenant_cannot_be_written() {
    let test = with_rows().await;
    let forged = format!(
        "SET ROLE {ROLE}; SET frontdesk.tenant = 'north'; \
         INSERT INTO fd_outbox (tenant, seq, event, kind, id, change, at) VALUES ('south', 99, 'e', 'boat', 'b', 'created', 1)"
    );
    assert!(test.database.sql_error(&forged).contains("violates row-level security policy"));
    let chain = format!(
        "SET ROLE {ROLE}; SET frontdesk.tenant = '*'; \
         INSERT INTO fd_audit (chain, seq, at, records, hash) VALUES ('tenant:south', 99, 1, '', '')"
    );
    assert!(test.database.sql_error(&chain).contains("violates row-level security policy"));
}

#[tokio::test]
async fn a_role_that_could_pass_the_wall_is_refused() {
    let test = TestStore::on_own_server().await;
    test.database.sql("CREATE ROLE loose LOGIN BYPASSRLS");
    for (role, why) in [("postgres", "is a superuser"), ("loose", "has BYPASSRLS")] {
        let refused = open(&test.database.url_as(role), &[&BOAT], [7; 32], &test.clock).await.err().unwrap();
        assert_eq!(
            refused.to_string(),
            format!(
                "the PostgreSQL role {role} {why}, so row-level security would not apply to it. \
                 Use a role made with: CREATE ROLE name LOGIN NOSUPERUSER NOBYPASSRLS"
            )
        );
    }
}

#[tokio::test]
async fn a_table_whose_wall_was_opened_is_refused() {
    let test = with_rows().await;
    for (opened, mended, table) in [
        ("ALTER TABLE boat NO FORCE ROW LEVEL SECURITY", "ALTER TABLE boat FORCE ROW LEVEL SECURITY", "boat"),
        (
            "ALTER TABLE fd_claim DISABLE ROW LEVEL SECURITY",
            "ALTER TABLE fd_claim ENABLE ROW LEVEL SECURITY",
            "fd_claim",
        ),
        ("CREATE POLICY door ON boat_word USING (true)", "DROP POLICY door ON boat_word", "boat_word"),
        (
            "ALTER POLICY frontdesk ON fd_outbox USING (true)",
            "ALTER POLICY frontdesk ON fd_outbox USING (tenant = current_setting('frontdesk.tenant', true))",
            "fd_outbox",
        ),
    ] {
        test.database.sql(opened);
        match open(&test.database.url(), &[&BOAT], [7; 32], &test.clock).await {
            Err(StoreError::RlsMissing { table: found }) => assert_eq!(found, table),
            Err(other) => panic!("{opened}: {other}"),
            Ok(_) => panic!("{opened}: it was opened"),
        }
        test.database.sql(mended);
    }
    assert!(open(&test.database.url(), &[&BOAT], [7; 32], &test.clock).await.is_ok());
}

/// Both tenants have a boat, a claim, an event and a record.
async fn with_rows() -> TestStore {
    let test = TestStore::new().await;
    let store = Arc::clone(&test.store);
    for tenant in [north(), south()] {
        add(&*store, &tenant, [boat("b1", 7)]).await;
        let mut commit = plan("more", &tenant, Vec::new());
        commit.claim = Some(claim("k", 1));
        commit.events = vec![frontdesk_testkit::store_suite::boats::event(
            "e1",
            "b1",
            frontdesk_engine::model::plan::Change::Updated,
        )];
        done(&*store, commit).await;
    }
    test
}
