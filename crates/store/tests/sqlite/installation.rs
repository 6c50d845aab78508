//! The installation's signing key: made once, opened by the master key alone.

use frontdesk_engine::seal::SealKey;
use frontdesk_store::transfer::DataLocation;
use frontdesk_store::{StoreError, installation_key};

use crate::test_store::TestStore;

async fn public_key(test: &TestStore, master: u8) -> Result<String, StoreError> {
    let location = DataLocation::Sqlite(test.folder.database());
    let key = installation_key(&location, &SealKey::from_bytes([master; 32])).await?;
    Ok(key.public_key().to_string())
}

#[tokio::test]
async fn the_signing_key_stays_and_needs_the_master_key() {
    let test = TestStore::new().await;
    let first = public_key(&test, 7).await.unwrap();
    assert!(first.starts_with("fdpub_") && first.len() == 49, "{first}");
    assert!(matches!(public_key(&test, 8).await, Err(StoreError::WrongKey)));
    let test = test.reopened();
    assert_eq!(public_key(&test, 7).await.unwrap(), first);
    let other = TestStore::new().await;
    test.raw().execute("DELETE FROM fd_installation", []).unwrap();
    assert!(matches!(public_key(&test, 7).await, Err(StoreError::NoInstallation)));
    drop(other);
    let test = test.reopened();
    assert_ne!(public_key(&test, 7).await.unwrap(), first);
}
