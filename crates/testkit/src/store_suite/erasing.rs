//! Tenants that are erased.

use std::collections::BTreeMap;

use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::plan::Change;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::{
    Changed, Client, ErasureProgress, ErasureRecords, ErasureReport, Registry, Tenant, Token,
};
use frontdesk_engine::ports::{Commit, Disclosure};
use frontdesk_engine::{FaultKind, TenantId};
use serde_json::{Value, json};

use super::boats::{BOAT, add, boat, claim, done, event, ids, insert, personal, plan, query};
use super::registry::{client, id, note, token, with_tokens};
use super::{StoreUnderTest, north, south};

pub async fn an_erased_tenant_has_no_row_client_or_token_left(subject: &StoreUnderTest) {
    let (store, registry) = (&*subject.store, &*subject.registry);
    for tenant in [north(), south()] {
        add(store, &tenant, (0..600).map(|number| boat(&format!("b{number}"), number))).await;
        let launch = plan("b", &tenant, vec![insert(boat("last", 1))]);
        let launch =
            Commit { claim: Some(claim("k", 1)), events: vec![event("e1", "last", Change::Created)], ..launch };
        done(store, launch).await;
    }
    with_tokens(registry).await;
    let alone = Client { tenants: vec![north()], ..client("alone") };
    registry.add_client(alone, note()).await.unwrap();
    let both = Token { tenants: vec![south(), north()], ..token(4, "other", 9_000) };
    registry.add_token(both, Vec::new(), Millis(0), note()).await.unwrap();
    let south_before = (subject.peek.outbox("south"), subject.peek.audit("south"));

    let report = erased(registry, &north()).await;
    assert_eq!((report.rows.get("boat"), report.clients), (Some(&601), 1));

    assert_eq!((subject.peek.outbox("north"), subject.peek.audit("north")), (Vec::new(), Vec::new()));
    assert_eq!(registry.tenant(&north()).await.unwrap(), None);
    assert_eq!(registry.client(&id("alone")).await.unwrap(), None);
    assert_eq!(registry.client(&id("agent")).await.unwrap().unwrap().tenants, [south()]);
    // Tokens 1 to 3 were for it alone.
    for number in 1..=3 {
        assert_eq!(registry.token([number; 32]).await.unwrap(), None);
    }
    assert_eq!(registry.token([4; 32]).await.unwrap().unwrap().tenants, [south()]);
    // The neighbour has lost nothing.
    assert_eq!(ids(store, &south(), Vec::new()).await.len(), 601);
    assert_eq!((subject.peek.outbox("south"), subject.peek.audit("south")), south_before);
    assert!(store.find_claim(&south(), &claim("k", 1)).await.unwrap().is_some());
    assert_eq!(registry.erase_tenant(&north(), Millis(50), records()).await.unwrap(), ErasureProgress::UnknownTenant);
}

pub async fn a_tenant_being_erased_is_refused_from_the_first_moment(subject: &StoreUnderTest) {
    let (store, registry) = (&*subject.store, &*subject.registry);
    add(store, &north(), [boat("b1", 1)]).await;
    registry.add_client(client("agent"), note()).await.unwrap();
    registry.add_token(token(1, "agent", 9_000), Vec::new(), Millis(0), note()).await.unwrap();
    let begun = registry.erase_tenant(&north(), Millis(50), records()).await.unwrap();
    assert!(matches!(begun, ErasureProgress::More(_)), "{begun:?}");
    assert_eq!(registry.tenant(&north()).await.unwrap().unwrap().erasing_since, Some(Millis(50)));
    assert_eq!(registry.token([1; 32]).await.unwrap(), None);

    let forbidden = |fault: frontdesk_engine::Fault| fault.kind == FaultKind::TenantForbidden;
    assert!(store.get(&north(), &BOAT, "b1", Disclosure::Masked).await.is_err_and(forbidden));
    assert!(store.page(&north(), query(Vec::new())).await.is_err_and(forbidden));
    assert!(store.find_claim(&north(), &claim("k", 1)).await.is_err_and(forbidden));
    assert!(store.commit(plan("late", &north(), vec![insert(boat("late", 1))])).await.is_err_and(forbidden));
    let named = registry.add_token(token(2, "agent", 9_000), Vec::new(), Millis(0), note()).await;
    assert_eq!(named.unwrap(), Changed::Nothing);
    let update = frontdesk_engine::model::tenant::TenantUpdate::default();
    assert_eq!(registry.update_tenant(&north(), update, note()).await.unwrap(), Changed::Nothing);
    let again = Tenant::new(north(), "North again");
    assert_eq!(registry.add_tenant(again, note()).await.unwrap(), Changed::Nothing);
    erased(registry, &north()).await;
}

pub async fn a_new_tenant_with_an_erased_id_begins_empty(subject: &StoreUnderTest) {
    let (store, registry) = (&*subject.store, &*subject.registry);
    add(store, &north(), [boat("b1", 1)]).await;
    erased(registry, &north()).await;
    assert_eq!(registry.add_tenant(Tenant::new(north(), "New North"), note()).await.unwrap(), Changed::Done);
    assert_eq!(ids(store, &north(), Vec::new()).await, [""; 0]);
    let launch = plan("b", &north(), vec![insert(boat("b1", 2))]);
    done(store, Commit { events: vec![event("e9", "b1", Change::Created)], ..launch }).await;
    let found = store.get(&north(), &BOAT, "b1", Disclosure::Full).await.unwrap().unwrap();
    assert_eq!(found.personal.as_deref(), Some(r#"{"owner":"Ada Lovelace"}"#));
    let lovelace = vec![Filter::SearchTerms(vec![personal("lovelace")])];
    assert_eq!(ids(store, &north(), lovelace).await, ["b1"]);
    assert_eq!(subject.peek.outbox("north"), ["1 e9 boat b1 created"]);
    assert_eq!(subject.peek.audit("north").len(), 1);
}

pub async fn an_erasure_is_recorded_with_its_counts_and_chain(subject: &StoreUnderTest) {
    let (store, registry) = (&*subject.store, &*subject.registry);
    add(store, &north(), [boat("b1", 1), boat("b2", 2)]).await;
    let links = subject.peek.audit("north").len();
    let report = erased(registry, &north()).await;
    assert_eq!((report.chain.seq, report.chain.links), (i64::try_from(links).unwrap(), links as u64));
    let written: Vec<Value> =
        subject.peek.administration().iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let removed = json!({"rows": report.rows, "clients": 0});
    assert_eq!(
        written,
        [
            json!({"did": "begin", "erased_chain": report.chain}),
            json!({"did": "end", "erased_chain": report.chain, "removed": removed}),
        ]
    );
    let expected: BTreeMap<&str, u64> = report.rows.iter().map(|(table, rows)| (table.as_str(), *rows)).collect();
    assert_eq!(expected.get("boat"), Some(&2));
}

/// Erases until it is done.
async fn erased(registry: &dyn Registry, tenant: &TenantId) -> ErasureReport {
    loop {
        match registry.erase_tenant(tenant, Millis(50), records()).await.unwrap() {
            ErasureProgress::More(_) => {}
            ErasureProgress::Done(report) => return report,
            ErasureProgress::UnknownTenant => panic!("there is no tenant {tenant}"),
        }
    }
}

fn records() -> ErasureRecords {
    ErasureRecords { begin: r#"{"did":"begin"}"#.to_owned(), end: r#"{"did":"end"}"#.to_owned() }
}
