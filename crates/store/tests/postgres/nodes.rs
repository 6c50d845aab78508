//! Several nodes on one database: they agree on idempotency keys, stock, event numbers, revocation and the audit.

use std::sync::Arc;

use frontdesk_engine::model::plan::Change;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::{Changed, Client, Registry as _, Tenant, Token};
use frontdesk_engine::ports::{Commit, Committed, Disclosure, Durability, Store as _};
use frontdesk_engine::{ClientId, Scopes, TenantId};
use frontdesk_store::PostgresStore;
use tokio::task::JoinSet;

use crate::test_store::{TestStore, open};
use frontdesk_testkit::store_suite::boats::{
    BOAT, add, boat, claim, done, ended, event, ids, insert, plan, take_berths, with,
};
use frontdesk_testkit::store_suite::{StoreInspector as _, north, south};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_node_claims_a_key_and_the_others_replay_its_answer() {
    let test = TestStore::new().await;
    agree(&test).await;
}

/// After waiting for the tenant's row, a writer must see what was committed meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_agree_whatever_isolation_their_role_has_by_default() {
    let test = TestStore::new().await;
    let database = test.database.name();
    test.database
        .sql(&format!("ALTER ROLE desk IN DATABASE {database} SET default_transaction_isolation = 'repeatable read'"));
    agree(&test).await;
}

async fn agree(test: &TestStore) {
    let nodes = nodes(test, 3).await;
    for round in 0..10 {
        let mut all = JoinSet::new();
        for (number, node) in nodes.iter().cycle().take(30).enumerate() {
            let (node, id) = (Arc::clone(node), format!("r{round}-{number}"));
            all.spawn(async move { node.commit(create(&id, &format!("key-{round}"))).await });
        }
        let outcomes = all.join_all().await;
        assert_eq!(outcomes.iter().filter(|outcome| ended(outcome) == "done").count(), 1);
        let answers: Vec<String> = outcomes
            .into_iter()
            .filter_map(|outcome| match outcome.unwrap() {
                Committed::AlreadyClaimed(claimed) => Some(claimed.answer.id),
                Committed::Done => None,
                other @ (Committed::Refused(_) | Committed::VersionConflict | Committed::Unknown) => {
                    panic!("{other:?}")
                }
            })
            .collect();
        let seen = nodes[0].find_claim(&north(), &claim(&format!("key-{round}"), 1)).await.unwrap().unwrap().answer.id;
        assert_eq!(answers, vec![seen; 29]);
    }
    assert_eq!(ids(&*test.store, &north(), Vec::new()).await.len(), 10);
    gapless(test, "north", 10);
    whole(test).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_units_are_taken_once_and_numbers_have_no_gap() {
    let test = TestStore::new().await;
    let nodes = nodes(&test, 3).await;
    add(&*test.store, &north(), [with(boat("b1", 7), "berths", frontdesk_engine::model::table::Cell::Integer(7))])
        .await;
    add(&*test.store, &south(), [with(boat("b1", 7), "berths", frontdesk_engine::model::table::Cell::Integer(9))])
        .await;
    let mut all = JoinSet::new();
    for (number, node) in nodes.iter().cycle().take(120).enumerate() {
        let tenant = if number % 2 == 0 { north() } else { south() };
        let node = Arc::clone(node);
        all.spawn(async move {
            let mut commit = plan(&format!("p{number}"), &tenant, vec![take_berths("b1", 1)]);
            commit.events = vec![event(&format!("e{number}"), "b1", Change::Updated)];
            (tenant, node.commit(commit).await)
        });
    }
    let outcomes = all.join_all().await;
    for (tenant, units) in [(north(), 7), (south(), 9)] {
        let taken = outcomes.iter().filter(|(whose, outcome)| *whose == tenant && ended(outcome) == "done").count();
        assert_eq!(taken, units, "{tenant:?}");
        gapless(&test, tenant.as_str(), units);
    }
    assert!(outcomes.iter().all(|(_, outcome)| ["done", "no_berth_left"].contains(&ended(outcome))));
    whole(&test).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn registry_changes_are_visible_on_other_nodes_at_once() {
    let test = TestStore::new().await;
    let other = test.neighbour().await;
    let west = TenantId::parse("west").unwrap();
    let tenant = || Tenant::new(west.clone(), "West Harbour");
    assert_eq!(test.store.add_tenant(tenant(), record("tenant")).await.unwrap(), Changed::Done);
    assert_eq!(other.add_tenant(tenant(), record("tenant")).await.unwrap(), Changed::Nothing);
    done(&*other, plan("launch", &west, vec![insert(boat("b1", 7))])).await;
    let found = test.store.get(&west, &BOAT, "b1", Disclosure::Full).await.unwrap().unwrap();
    assert_eq!(found.personal.as_deref(), Some(r#"{"owner":"Ada Lovelace"}"#));

    test.store.add_client(client(), record("client")).await.unwrap();
    test.store.add_token(token(1), Vec::new(), Millis(0), record("token")).await.unwrap();
    assert!(other.token([1; 32]).await.unwrap().is_some());
    assert_eq!(other.revoke_client(&client().id, Millis(60), record("end")).await.unwrap(), Changed::Done);
    assert_eq!(test.store.token([1; 32]).await.unwrap(), None);
    assert_eq!(test.store.revoke_client(&client().id, Millis(70), record("end")).await.unwrap(), Changed::Nothing);
    whole(&test).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_token_outlives_a_revocation_that_it_raced() {
    let test = TestStore::new().await;
    let other = test.neighbour().await;
    for round in 1..=40_u8 {
        let id = ClientId::new(format!("agent-{round}"));
        test.store.add_client(Client { id: id.clone(), ..client() }, record("client")).await.unwrap();
        let token = Token { client: id.clone(), ..token(round) };
        let (given, revoked) = tokio::join!(
            test.store.add_token(token, Vec::new(), Millis(0), record("token")),
            other.revoke_client(&id, Millis(60), record("end")),
        );
        given.unwrap();
        assert_eq!(revoked.unwrap(), Changed::Done);
        // Who gives out a token looks at the client again before handing it over.
        let is_revoked = test.store.client(&id).await.unwrap().unwrap().revoked_at.is_some();
        let is_alive = test.store.token([round; 32]).await.unwrap().is_some();
        assert!(is_revoked, "the giver sees the revocation");
        if is_alive {
            test.store.revoke_token([round; 32], &id, record("end of token")).await.unwrap();
        }
        assert_eq!(other.token([round; 32]).await.unwrap(), None);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_have_their_own_chains_and_share_those_of_tenants() {
    let test = TestStore::new().await;
    let other = test.neighbour().await;
    for (number, node) in [&test.store, &other].into_iter().cycle().take(10).enumerate() {
        node.append_audit(format!(r#"{{"read":{number}}}"#), Durability::Awaited).await.unwrap();
        done(&**node, plan(&format!("p{number}"), &north(), vec![insert(boat(&format!("b{number}"), 7))])).await;
    }
    let chain = |node: &PostgresStore| {
        let text = format!("SELECT records FROM fd_audit WHERE chain = 'node:{}' ORDER BY seq", node.node());
        test.database.sql(&text)
    };
    let read = |numbers: [i32; 5]| numbers.map(|number| format!(r#"{{"read":{number}}}"#));
    assert_eq!(chain(&test.store), read([0, 2, 4, 6, 8]));
    assert_eq!(chain(&other), read([1, 3, 5, 7, 9]));
    let records: Vec<String> = (0..10).map(|number| format!(r#"{{"plan":"p{number}"}}"#)).collect();
    assert_eq!(test.peek().audit("north"), records);
    whole(&test).await;
    test.database.sql("UPDATE fd_audit SET records = '{}' WHERE chain = 'tenant:north' AND seq = 4");
    let report = test.verified().await;
    let broken = report.chains.iter().find(|chain| chain.broken.is_some()).unwrap();
    assert_eq!(broken.chain, "tenant:north");
    assert_eq!(broken.broken, Some((4, "the link is not what was written")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_start_together_make_the_schema_once() {
    let test = TestStore::new().await;
    test.database.sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public AUTHORIZATION desk");
    let mut all = JoinSet::new();
    for _ in 0..4 {
        let (url, clock) = (test.database.url(), Arc::clone(&test.clock));
        all.spawn(
            async move { open(&url, &[&BOAT], [7; 32], &clock).await.map(|_| ()).map_err(|error| error.to_string()) },
        );
    }
    assert_eq!(all.join_all().await, vec![Ok(()); 4]);
    assert_eq!(test.database.sql("SELECT version FROM fd_schema"), ["9"]);
    test.database.sql("UPDATE fd_schema SET version = 99");
    let refused = open(&test.database.url(), &[&BOAT], [7; 32], &test.clock).await.err().unwrap();
    assert_eq!(
        refused.to_string(),
        "the PostgreSQL database is from a newer version of Frontdesk (schema 99, this one knows 9). \
         Start the newer version, or name another one in `database`."
    );
}

async fn nodes(test: &TestStore, count: usize) -> Vec<Arc<PostgresStore>> {
    let mut nodes = vec![Arc::clone(&test.store)];
    while nodes.len() < count {
        nodes.push(test.neighbour().await);
    }
    nodes
}

/// The tenant's events are numbered from one to `count`.
fn gapless(test: &TestStore, tenant: &str, count: usize) {
    let numbers: Vec<String> = test.peek().outbox(tenant);
    let numbers: Vec<&str> = numbers.iter().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(numbers, (1..=count).map(|number| number.to_string()).collect::<Vec<_>>());
}

async fn whole(test: &TestStore) {
    let report = test.verified().await;
    assert!(report.is_intact(), "{report:?}");
    assert!(report.chains.iter().any(|chain| chain.chain.starts_with("tenant:")), "{report:?}");
}

fn create(id: &str, key: &str) -> Commit {
    Commit {
        events: vec![event(&format!("e-{id}"), id, Change::Created)],
        claim: Some(claim(key, 1)),
        ..plan(id, &north(), vec![insert(boat(id, 7))])
    }
}

fn record(what: &str) -> String {
    format!(r#"{{"did":"{what}"}}"#)
}

fn client() -> Client {
    Client {
        id: ClientId::new("agent"),
        name: "An agent".to_owned(),
        secret: [1; 32],
        tenants: vec![north()],
        groups: Vec::new(),
        scopes: Scopes::parse("boats:read").unwrap(),
        created_at: Millis(40),
        revoked_at: None,
    }
}

fn token(number: u8) -> Token {
    Token {
        hash: [number; 32],
        client: client().id,
        tenants: vec![north()],
        scopes: Scopes::parse("boats:read").unwrap(),
        resource: "https://desk.example/mcp/boats".to_owned(),
        expires_at: Millis(9_000),
        authenticated_at: None,
    }
}
