//! Erasing a tenant while other nodes work on the same database.

use std::sync::Arc;

use frontdesk_engine::FaultKind;
use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::plan::Change;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::{
    Changed, Client, ErasureProgress, ErasureRecords, ErasureReport, Registry as _, Tenant, Token,
};
use frontdesk_engine::ports::{Commit, Committed, Disclosure, Store as _};
use frontdesk_engine::{ClientId, Scopes};
use frontdesk_store::PostgresStore;

use crate::test_store::TestStore;
use frontdesk_testkit::eventually;
use frontdesk_testkit::store_suite::boats::{BOAT, add, boat, claim, done, event, ids, insert, personal, plan};
use frontdesk_testkit::store_suite::{StoreInspector as _, north, south};

/// The other node has the old key in memory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_nodes_forget_the_key_of_an_erased_tenant() {
    let test = TestStore::new().await;
    let other = test.neighbour().await;
    add(&*other, &north(), [boat("old", 1)]).await;
    let lovelace = || vec![Filter::SearchTerms(vec![personal("lovelace")])];
    assert_eq!(ids(&*other, &north(), lovelace()).await, ["old"]);
    erased(&test.store).await;
    let tenant = Tenant::new(north(), "New North");
    assert_eq!(test.store.add_tenant(tenant, "{}".to_owned()).await.unwrap(), Changed::Done);
    add(&*test.store, &north(), [boat("new", 2)]).await;
    // At once: the erasure has waited until no node uses the old key.
    assert_eq!(ids(&*other, &north(), lovelace()).await, ["new"]);
    let found = other.get(&north(), &BOAT, "new", Disclosure::Full).await.unwrap().unwrap();
    assert_eq!(found.personal.as_deref(), Some(r#"{"owner":"Ada Lovelace"}"#));
    add(&*other, &north(), [boat("newer", 3)]).await;
    let found = test.store.get(&north(), &BOAT, "newer", Disclosure::Full).await.unwrap().unwrap();
    assert_eq!(found.personal.as_deref(), Some(r#"{"owner":"Ada Lovelace"}"#));
    assert!(test.verified().await.is_intact());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_node_serves_a_tenant_that_is_being_erased() {
    let test = TestStore::new().await;
    let other = test.neighbour().await;
    add(&*other, &north(), [boat("b1", 1)]).await;
    let begun = test.store.erase_tenant(&north(), Millis(50), records()).await.unwrap();
    assert!(matches!(begun, ErasureProgress::More(_)), "{begun:?}");
    // A write at once, a read within a second.
    let late = other.commit(plan("late", &north(), vec![insert(boat("late", 1))])).await;
    assert!(late.as_ref().is_err_and(|fault| fault.kind == FaultKind::TenantForbidden), "{late:?}");
    eventually("reads are refused", || async {
        let read = other.get(&north(), &BOAT, "b1", Disclosure::Masked).await;
        read.is_err_and(|fault| fault.kind == FaultKind::TenantForbidden)
    })
    .await;
    assert_eq!(test.database.sql("SELECT count(*) FROM boat WHERE tenant = 'north'"), ["1"]);
    // Another node can complete it.
    erased(&other).await;
    assert_eq!(test.database.sql("SELECT count(*) FROM boat WHERE tenant = 'north'"), ["0"]);
}

/// Both nodes work at the same erasure, while the other tenant is written for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_erase_together_and_count_each_row_once() {
    let test = TestStore::new().await;
    let other = test.neighbour().await;
    for part in 0..4 {
        add(&*test.store, &north(), (0..250).map(|number| boat(&format!("b{part}-{number}"), number))).await;
    }
    let commit = plan("b", &north(), vec![insert(boat("last", 1))]);
    let commit = Commit { claim: Some(claim("k", 1)), events: vec![event("e1", "last", Change::Created)], ..commit };
    done(&*test.store, commit).await;
    let writing = async {
        for number in 0..50 {
            let commit = plan("s", &south(), vec![insert(boat(&format!("s{number}"), number))]);
            assert!(matches!(other.commit(commit).await.unwrap(), Committed::Done));
        }
    };
    let (one, another, ()) = tokio::join!(step_to_end(&test.store), step_to_end(&other), writing);
    let report = one.or(another).unwrap();
    let counted: Vec<(&str, u64)> = report.rows.iter().map(|(table, rows)| (table.as_str(), *rows)).collect();
    assert_eq!(counted, [("boat", 1001), ("boat_word", 2002), ("fd_claim", 1), ("fd_counter", 1), ("fd_outbox", 1)]);
    for table in ["boat", "boat_word", "fd_claim", "fd_counter", "fd_outbox", "fd_tenant"] {
        let left = test.database.sql(&format!("SELECT count(*) FROM {table} WHERE tenant = 'north'"));
        assert_eq!(left, ["0"], "{table}");
    }
    for table in ["fd_audit", "fd_audit_head"] {
        let left = test.database.sql(&format!("SELECT count(*) FROM {table} WHERE chain = 'tenant:north'"));
        assert_eq!(left, ["0"], "{table}");
    }
    assert_eq!(test.peek().audit("south").len(), 50);
    assert_eq!(test.peek().administration().len(), 2, "it began once and ended once");
    assert!(test.verified().await.is_intact());
}

/// A token that is being stored on another node, and has looked up its tenants already, is waited for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_token_outlives_an_erasure_that_it_raced() {
    let test = TestStore::new().await;
    let other = test.neighbour().await;
    let client = Client {
        id: ClientId::new("agent"),
        name: "An agent".to_owned(),
        secret: [1; 32],
        tenants: vec![north(), south()],
        groups: Vec::new(),
        scopes: Scopes::parse("boats:read").unwrap(),
        created_at: Millis(40),
        revoked_at: None,
    };
    test.store.add_client(client.clone(), "{}".to_owned()).await.unwrap();
    let token = Token {
        hash: [1; 32],
        client: client.id,
        tenants: client.tenants,
        scopes: client.scopes,
        resource: "https://desk.example/mcp/boats".to_owned(),
        expires_at: Millis(90_000),
        authenticated_at: None,
    };
    // Somebody else is inserting the same token, so this one waits in its last statement.
    let held = test.database.hold(
        "INSERT INTO fd_token (token_hash, client, tenants, scopes, resource, expires_at) \
         VALUES (decode(repeat('01', 32), 'hex'), 'nobody', 'nobody', '', '', 90000)",
    );
    let waiting = || {
        let text =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        test.database.sql(text)[0].clone()
    };
    let issuing = tokio::spawn(async move { other.add_token(token, Vec::new(), Millis(0), "{}".to_owned()).await });
    eventually("the token waits", async || waiting() == "1").await;
    let store = Arc::clone(&test.store);
    let erasing = tokio::spawn(async move { store.erase_tenant(&north(), Millis(50), records()).await });
    let has_begun = || test.database.sql("SELECT count(*) FROM fd_erasure") == ["1"];
    eventually("the erasure waits, or has not waited", async || waiting() == "2" || has_begun()).await;
    drop(held);
    assert_eq!(issuing.await.unwrap().unwrap(), Changed::Done);
    assert!(matches!(erasing.await.unwrap().unwrap(), ErasureProgress::More(_)));
    assert_eq!(test.database.sql("SELECT tenants FROM fd_token"), ["south"]);
}

async fn erased(store: &Arc<PostgresStore>) -> ErasureReport {
    step_to_end(store).await.unwrap()
}

/// `None` if another node has ended it.
async fn step_to_end(store: &Arc<PostgresStore>) -> Option<ErasureReport> {
    loop {
        match store.erase_tenant(&north(), Millis(50), records()).await.unwrap() {
            ErasureProgress::More(_) => {}
            ErasureProgress::Done(report) => return Some(report),
            ErasureProgress::UnknownTenant => return None,
        }
    }
}

fn records() -> ErasureRecords {
    ErasureRecords { begin: r#"{"did":"begin"}"#.to_owned(), end: r#"{"did":"end"}"#.to_owned() }
}
