//! The installation's signing key: nodes that start together have one.

use frontdesk_engine::seal::SealKey;
use frontdesk_store::transfer::DataLocation;
use frontdesk_store::{Address, StoreError, installation_key};

use crate::test_store::{TestStore, open};
use frontdesk_testkit::store_suite::boats::BOAT;

async fn public_key(test: &TestStore, master: u8) -> Result<String, StoreError> {
    let location = DataLocation::Postgres(Address::parse(&test.database.url()).unwrap());
    let key = installation_key(&location, &SealKey::from_bytes([master; 32])).await?;
    Ok(key.public_key().to_string())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_start_together_have_one_signing_key() {
    let test = TestStore::new().await;
    let first = public_key(&test, 7).await.unwrap();
    assert!(matches!(public_key(&test, 8).await, Err(StoreError::WrongKey)));
    let (url, clock, tables) = (test.database.url(), &test.clock, &[&BOAT][..]);
    let opened = futures_util::future::join_all((0..4).map(|_| open(&url, tables, [7; 32], clock))).await;
    assert!(opened.iter().all(Result::is_ok));
    assert_eq!(public_key(&test, 7).await.unwrap(), first);
    drop(opened);
    // As after a deletion: one of them makes it again.
    test.database.sql("DELETE FROM fd_installation");
    let opened = futures_util::future::join_all((0..4).map(|_| open(&url, tables, [7; 32], clock))).await;
    assert!(opened.iter().all(Result::is_ok));
    assert_ne!(public_key(&test, 7).await.unwrap(), first);
    assert_eq!(test.database.sql("SELECT state FROM fd_installation"), ["recreated"]);
}
