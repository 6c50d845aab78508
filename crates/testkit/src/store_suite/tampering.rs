//! What somebody who can write to the database, and does not have the master key, does not achieve. These are no part of
//! `every_behaviour!`: a store in memory has no such writer.

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::{Changed, RefusedRows, Registry};

use super::registry::{client, id, note, with_tokens};
use super::{StoreUnderTest, north};

/// Runs a statement on the database, past the store.
pub type RawExecute<'a> = &'a (dyn Fn(&str) + Sync);

pub async fn a_client_inserted_past_the_store_is_refused(subject: &StoreUnderTest, execute: RawExecute<'_>) {
    let registry = &*subject.registry;
    registry.add_client(client("agent"), note()).await.unwrap();
    execute(
        "INSERT INTO fd_client (client, name, secret_hash, tenants, tenant_groups, scopes, created_at, version, mac) \
         SELECT 'intruder', name, secret_hash, 'north south', tenant_groups, scopes, created_at, version, mac FROM fd_client",
    );
    assert_eq!(registry.client(&id("intruder")).await.unwrap(), None);
    assert_eq!(registry.clients().await.unwrap(), [client("agent")]);
    assert_eq!(refused(registry).await, [("fd_client", 1)]);
}

pub async fn changed_rows_of_clients_and_tokens_are_refused(subject: &StoreUnderTest, execute: RawExecute<'_>) {
    let registry = &*subject.registry;
    with_tokens(registry).await;
    registry.revoke_client(&id("agent"), Millis(60), note()).await.unwrap();
    execute("UPDATE fd_client SET revoked_at = NULL WHERE client = 'agent'");
    assert_eq!(registry.client(&id("agent")).await.unwrap(), None);
    // Nothing else makes it valid again either.
    assert_eq!(registry.rotate_client(&id("agent"), [7; 32], note()).await.unwrap(), Changed::Nothing);
    assert_eq!(registry.client(&id("agent")).await.unwrap(), None);
    assert!(registry.token([3; 32]).await.unwrap().is_some());
    execute("UPDATE fd_token SET expires_at = expires_at + 1");
    assert_eq!(registry.token([3; 32]).await.unwrap(), None);
    assert_eq!(refused(registry).await, [("fd_client", 1), ("fd_token", 1)]);
}

pub async fn a_changed_row_of_a_tenant_is_refused(subject: &StoreUnderTest, execute: RawExecute<'_>) {
    let registry = &*subject.registry;
    execute("UPDATE fd_tenant SET tenant_group = 'harbours' WHERE tenant = 'north'");
    assert_eq!(registry.tenant(&north()).await.unwrap(), None);
    let names: Vec<String> = registry.tenants().await.unwrap().into_iter().map(|tenant| tenant.name).collect();
    assert_eq!(names, ["South Harbour"]);
    assert_eq!(refused(registry).await, [("fd_tenant", 1)]);
}

async fn refused(registry: &dyn Registry) -> Vec<(&'static str, usize)> {
    let refused = registry.refused_rows().await.unwrap();
    refused.into_iter().map(|RefusedRows { table, rows }| (table, rows)).collect()
}
