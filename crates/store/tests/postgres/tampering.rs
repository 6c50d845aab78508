//! Rows that were changed past the store, on PostgreSQL.

use std::sync::Arc;

use frontdesk_testkit::store_suite::boats::BOAT;
use frontdesk_testkit::store_suite::tampering;

use crate::test_store::{self, TestStore, open};

macro_rules! on_postgres {
    ($($behaviour:ident),+ $(,)?) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $behaviour() {
            let test = TestStore::new().await;
            let execute = |text: &str| drop(test.database.sql(text));
            let subject = test_store::subject_of(Arc::clone(&test.store), Arc::clone(&test.database));
            tampering::$behaviour(&subject, &execute).await;
        }
    )+};
}

on_postgres!(
    a_client_inserted_past_the_store_is_refused,
    changed_rows_of_clients_and_tokens_are_refused,
    a_changed_row_of_a_tenant_is_refused,
    a_changed_row_is_never_shown,
    a_row_mixed_from_two_versions_is_never_shown,
);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trigger_or_a_rule_stops_the_start() {
    let test = TestStore::new().await;
    let undo = "CREATE FUNCTION undo() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.revoked_at = NULL; RETURN NEW; END'; \
                CREATE TRIGGER undo BEFORE UPDATE ON fd_client FOR EACH ROW EXECUTE FUNCTION undo()";
    let rule = "CREATE RULE undo AS ON UPDATE TO boat DO INSTEAD NOTHING";
    for (make, remove, what) in [
        (
            undo,
            "DROP TRIGGER undo ON fd_client",
            "the trigger undo of table fd_client in the database is not as Frontdesk makes it",
        ),
        (rule, "DROP RULE undo ON boat", "the rule undo of table boat in the database is not as Frontdesk makes it"),
    ] {
        test.database.sql(make);
        let refused = open(&test.database.url(), &[&BOAT], [7; 32], &test.clock).await.err().unwrap().to_string();
        assert!(refused.starts_with(what), "{refused}");
        test.database.sql(remove);
        open(&test.database.url(), &[&BOAT], [7; 32], &test.clock).await.unwrap();
    }
}
