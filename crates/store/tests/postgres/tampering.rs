//! Rows that were changed past the store, on PostgreSQL.

use std::sync::Arc;

use frontdesk_testkit::store_suite::tampering;

use crate::test_store::{self, TestStore};

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
);
