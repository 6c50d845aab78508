//! Rows that were changed past the store, on SQLite.

use std::sync::Arc;
use std::time::Duration;

use frontdesk_engine::dispatch::TASK;
use frontdesk_engine::ports::{Disclosure, Store as _};
use frontdesk_engine::seal::SealKey;
use frontdesk_store::{SqliteOptions, SqliteStore, StoreError, UnauthenticatedRows};
use frontdesk_testkit::TestRandom;
use frontdesk_testkit::store_suite::boats::{BOAT, add, boat};
use frontdesk_testkit::store_suite::{north, tampering};

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
    a_changed_row_is_never_shown,
    a_row_mixed_from_two_versions_is_never_shown,
);

fn open_with(test: &TestStore, rows: UnauthenticatedRows) -> Result<SqliteStore, StoreError> {
    let options = SqliteOptions {
        path: test.folder.database(),
        master: SealKey::from_bytes([7; 32]),
        random: Arc::new(TestRandom::distinct()),
        clock: Arc::clone(&test.clock) as Arc<_>,
        tables: vec![&BOAT, &TASK],
        commit_wait: Duration::from_secs(30),
    };
    SqliteStore::open_with(options, rows)
}

#[tokio::test]
async fn rows_of_an_earlier_release_get_their_macs_once() {
    let test = TestStore::new().await;
    let rows: Vec<_> = (0..300).map(|number| boat(&format!("b{number:03}"), number)).collect();
    add(&*test.store, &north(), rows).await;
    let strip = "UPDATE boat SET mac = NULL; ALTER TABLE fd_tenant DROP COLUMN version; \
                 ALTER TABLE fd_tenant DROP COLUMN mac; ALTER TABLE fd_client DROP COLUMN version; \
                 ALTER TABLE fd_client DROP COLUMN mac; ALTER TABLE fd_token DROP COLUMN version; \
                 ALTER TABLE fd_token DROP COLUMN mac; DROP TABLE fd_installation; DROP TABLE fd_audit_roster; \
                 DROP TABLE fd_audit_summary; DROP TABLE fd_login_record; \
                 ALTER TABLE fd_counter DROP COLUMN stored_rows; ALTER TABLE fd_counter DROP COLUMN stored_bytes; \
                 ALTER TABLE fd_counter DROP COLUMN client_usage; PRAGMA user_version = 4";
    test.raw().execute_batch(strip).unwrap();
    let refused = open_with(&test, UnauthenticatedRows::Refuse).err().unwrap();
    assert!(matches!(refused, StoreError::MacsRemoved), "{refused}");
    let store = open_with(&test, UnauthenticatedRows::Adopt).unwrap();
    for id in ["b000", "b255", "b256", "b299"] {
        assert!(store.get(&north(), &BOAT, id, Disclosure::Full).await.unwrap().is_some(), "{id}");
    }
    drop(store);
    // Later nobody has them computed again.
    test.raw().execute_batch("UPDATE boat SET mac = NULL WHERE id = 'b001'").unwrap();
    let store = open_with(&test, UnauthenticatedRows::Refuse).unwrap();
    assert!(store.get(&north(), &BOAT, "b001", Disclosure::Full).await.is_err());
    assert!(store.get(&north(), &BOAT, "b000", Disclosure::Full).await.unwrap().is_some());
}
