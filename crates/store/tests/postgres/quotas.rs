//! Quotas on PostgreSQL.

use crate::quotas_suite;
use crate::test_store::TestStore;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn quotas_hold_on_postgres_too() {
    quotas_suite::a_full_quota_refuses_only_what_adds(&*TestStore::new().await.store).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_has_its_own_quota_on_postgres() {
    quotas_suite::a_client_is_refused_and_another_is_not(&*TestStore::new().await.store).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_deleted_on_postgres_is_counted() {
    quotas_suite::what_is_deleted_is_counted(&*TestStore::new().await.store).await;
}
