//! Quotas on SQLite: the suite, counting what an earlier release has stored, and a disk that is nearly full.

use frontdesk_engine::FaultKind;
use frontdesk_engine::ports::{Commit, Committed, Durability, Store as _};
use frontdesk_store::{Backend as _, StorageLimits};
use frontdesk_testkit::store_suite::boats::{boat, claim, done, ended, insert, plan};
use frontdesk_testkit::store_suite::north;

use crate::quotas_suite;
use crate::test_store::TestStore;

#[tokio::test]
async fn a_full_quota_refuses_only_what_adds() {
    quotas_suite::a_full_quota_refuses_only_what_adds(&*TestStore::new().await.store).await;
}

#[tokio::test]
async fn a_client_over_its_quota_is_refused_and_another_is_not() {
    quotas_suite::a_client_is_refused_and_another_is_not(&*TestStore::new().await.store).await;
}

/// What is counted by every change equals what is counted from the rows.
#[tokio::test]
async fn an_earlier_release_is_counted_once_at_its_start() {
    let test = TestStore::new().await;
    let counted = quotas_suite::what_is_deleted_is_counted(&*test.store).await;
    let forget = "UPDATE fd_counter SET stored_rows = NULL, stored_bytes = NULL; \
                  DELETE FROM fd_index WHERE table_name = 'fd_counter'";
    test.raw().execute_batch(forget).unwrap();
    assert_eq!(test.store.usage(&north()).await.unwrap(), None);
    let test = test.reopened();
    assert_eq!(test.store.usage(&north()).await.unwrap().unwrap().tenant, counted);
}

#[tokio::test]
async fn a_nearly_full_disk_takes_nothing_new_and_answers_again() {
    let test = TestStore::new().await;
    let create = |id: &str| Commit {
        claim: Some(claim(id, 1)),
        client: Some(claim(id, 1).client),
        ..plan(id, &north(), vec![insert(boat(id, 7))])
    };
    done(&*test.store, create("b1")).await;
    test.store.set_storage_limits(StorageLimits { min_free_bytes: u64::MAX, ..StorageLimits::default() });
    let Committed::Refused(fault) = test.store.commit(create("b2")).await.unwrap() else { panic!("it was done") };
    let message = "Storage is nearly full, so nothing is added; nothing was changed. Reading and deleting go on. Try again \
                   when the operator has made room.";
    assert_eq!((fault.kind, fault.message.as_ref(), fault.retry_after), (FaultKind::Unavailable, message, Some(60)));
    assert_eq!(ended(&test.store.commit(create("b1")).await), "claimed");
    test.store.append_audit(r#"{"read":"b1"}"#.to_owned(), Durability::Awaited).await.unwrap();
    test.store.set_storage_limits(StorageLimits { min_free_bytes: 1, ..StorageLimits::default() });
    done(&*test.store, create("b2")).await;
}
