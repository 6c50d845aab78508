//! Rows that were changed past the store, on SQLite.

use std::sync::Arc;

use frontdesk_testkit::store_suite::tampering;

use crate::test_store::{self, TestStore};

macro_rules! on_sqlite {
    ($($behaviour:ident),+ $(,)?) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $behaviour() {
            let test = TestStore::new().await;
            let raw = std::sync::Mutex::new(test.raw());
            let execute = |text: &str| raw.lock().unwrap().execute_batch(text).unwrap();
            let subject = test_store::subject_of(Arc::clone(&test.store), Arc::clone(&test.folder));
            tampering::$behaviour(&subject, &execute).await;
        }
    )+};
}

on_sqlite!(
    a_client_inserted_past_the_store_is_refused,
    changed_rows_of_clients_and_tokens_are_refused,
    a_changed_row_of_a_tenant_is_refused,
);
