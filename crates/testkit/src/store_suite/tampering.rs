//! What somebody who can write to the database, and does not have the master key, does not achieve. These are no part of
//! `every_behaviour!`: a store in memory has no such writer.

use frontdesk_engine::FaultKind;
use frontdesk_engine::model::plan::OnConflict;
use frontdesk_engine::model::table::Row;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::Disclosure;
use frontdesk_engine::ports::registry::{Changed, RefusedRows, Registry};

use super::boats::{BOAT, boat, done, insert, plan, query, update};
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

pub async fn a_changed_row_is_never_shown(subject: &StoreUnderTest, execute: RawExecute<'_>) {
    let store = &*subject.store;
    done(store, plan("launch", &north(), vec![insert(boat("b1", 1)), insert(boat("b2", 2))])).await;
    let other = "SELECT body FROM boat WHERE id = 'b2'";
    for change in [
        format!("body = ({other})"),
        "body = replace(body, 'b1', 'b9')".to_owned(),
        "masked = '{}'".to_owned(),
        "version = 2".to_owned(),
        "created_at = created_at + 1".to_owned(),
        "updated_at = updated_at + 1".to_owned(),
        format!("sealed = ({})", other.replace("body", "sealed")),
        "sealed_secret = sealed".to_owned(),
        "mac = NULL".to_owned(),
        format!("mac = ({})", other.replace("body", "mac")),
    ] {
        execute("DROP TABLE IF EXISTS kept");
        execute("CREATE TABLE kept AS SELECT * FROM boat WHERE id = 'b1'");
        execute(&format!("UPDATE boat SET {change} WHERE id = 'b1'"));
        for disclosure in [Disclosure::Masked, Disclosure::Full, Disclosure::ToChange] {
            let found = store.get(&north(), &BOAT, "b1", disclosure).await;
            assert_eq!(found.err().unwrap().kind, FaultKind::Internal, "{change}");
        }
        assert!(store.page(&north(), query(Vec::new())).await.is_err(), "{change}");
        let restored = ["body", "masked", "version", "created_at", "updated_at", "sealed", "sealed_secret", "mac"];
        let set: Vec<String> =
            restored.iter().map(|column| format!("{column} = (SELECT {column} FROM kept)")).collect();
        execute(&format!("UPDATE boat SET {} WHERE id = 'b1'", set.join(", ")));
        assert!(store.get(&north(), &BOAT, "b1", Disclosure::Full).await.unwrap().is_some(), "{change}");
        assert_eq!(store.page(&north(), query(Vec::new())).await.unwrap().rows.len(), 2);
    }
    execute("DROP TABLE kept");
}

/// Every value of it was right once.
pub async fn a_row_mixed_from_two_versions_is_never_shown(subject: &StoreUnderTest, execute: RawExecute<'_>) {
    let store = &*subject.store;
    done(store, plan("launch", &north(), vec![insert(boat("b1", 1))])).await;
    execute("CREATE TABLE kept AS SELECT * FROM boat WHERE id = 'b1'");
    let changed =
        Row { version: 2, updated_at: 2_000, body: r#"{"id":"b1","name":"Sold"}"#.to_owned(), ..boat("b1", 1) };
    done(store, plan("sell", &north(), vec![update(changed, 1, OnConflict::Retry)])).await;
    assert!(store.get(&north(), &BOAT, "b1", Disclosure::Masked).await.is_ok());
    execute("UPDATE boat SET body = (SELECT body FROM kept) WHERE id = 'b1'");
    assert_eq!(store.get(&north(), &BOAT, "b1", Disclosure::Masked).await.err().unwrap().kind, FaultKind::Internal);
    // With its old MAC, too.
    execute("UPDATE boat SET mac = (SELECT mac FROM kept) WHERE id = 'b1'");
    assert_eq!(store.get(&north(), &BOAT, "b1", Disclosure::Masked).await.err().unwrap().kind, FaultKind::Internal);
    execute("DROP TABLE kept");
}
