//! Idempotency keys: the first plan under a key has its effect, every later one its answer.

use std::sync::Arc;

use frontdesk_engine::model::plan::Change;
use frontdesk_engine::model::tool::Item;
use frontdesk_engine::ports::{Claim, Commit, Committed, StoredAnswer};
use frontdesk_engine::{ClientId, TenantId};
use tokio::task::JoinSet;

use super::boats::{add, boat, claim, done, ended, event, ids, insert, plan};
use super::{StoreUnderTest, north, south};

pub async fn a_key_used_twice_answers_what_was_stored(subject: &StoreUnderTest) {
    assert_eq!(subject.store.find_claim(&north(), &claim("k", 1)).await.unwrap(), None);
    done(&*subject.store, create(&north(), "b1", claim("k", 1))).await;
    let expected = StoredAnswer {
        request_hash: [1; 32],
        answer: Item {
            id: "b1".to_owned(),
            version: 1,
            body: r#"{"id":"b1"}"#.to_owned(),
            masked: Some(r#"{"owner":"A***"}"#.to_owned()),
            personal: Some(r#"{"owner":"Ada \"Countess\" Lovelace"}"#.to_owned()),
        },
    };
    let Ok(Committed::AlreadyClaimed(second)) = subject.store.commit(create(&north(), "b2", claim("k", 1))).await
    else {
        panic!("the key was not claimed");
    };
    assert_eq!(second, expected);
    assert_eq!(subject.store.find_claim(&north(), &claim("k", 1)).await.unwrap(), Some(expected));
    assert_eq!(ids(&*subject.store, &north(), Vec::new()).await, ["b1"]);
    assert_eq!(subject.peek.outbox("north"), ["1 e-b1 boat b1 created"]);
    assert_eq!(subject.peek.audit("north"), [r#"{"plan":"b1"}"#]);
}

pub async fn a_key_with_another_meaning_reports_the_first_meaning(subject: &StoreUnderTest) {
    done(&*subject.store, create(&north(), "b1", claim("k", 1))).await;
    let Ok(Committed::AlreadyClaimed(second)) = subject.store.commit(create(&north(), "b2", claim("k", 2))).await
    else {
        panic!("the key was not claimed");
    };
    assert_eq!((second.request_hash, second.answer.id.as_str()), ([1; 32], "b1"));
    let looked_up = subject.store.find_claim(&north(), &claim("k", 2)).await.unwrap().unwrap();
    assert_eq!(looked_up.request_hash, [1; 32]);
}

pub async fn a_key_belongs_to_its_tenant_client_and_tool(subject: &StoreUnderTest) {
    let other_client = Claim { client: ClientId::new("other"), ..claim("k", 1) };
    let other_tool = Claim { tool: "boats.update", ..claim("k", 1) };
    let scopes = [
        ("b1", north(), claim("k", 1)),
        ("b2", south(), claim("k", 1)),
        ("b3", north(), other_client),
        ("b4", north(), other_tool),
        ("b5", north(), claim("K", 1)),
    ];
    for (id, tenant, claim) in &scopes {
        assert_eq!(subject.store.find_claim(tenant, claim).await.unwrap(), None, "{id}");
        let outcome = subject.store.commit(create(tenant, id, claim.clone())).await;
        assert_eq!(ended(&outcome), "done", "{id}");
    }
    for (id, tenant, claim) in &scopes {
        assert_eq!(subject.store.find_claim(tenant, claim).await.unwrap().unwrap().answer.id, *id);
    }
}

pub async fn a_refused_plan_claims_nothing(subject: &StoreUnderTest) {
    add(&*subject.store, &north(), [boat("b1", 7)]).await;
    let refused = subject.store.commit(create(&north(), "b1", claim("k", 1))).await;
    assert_eq!(ended(&refused), "boat_taken");
    assert_eq!(subject.store.find_claim(&north(), &claim("k", 1)).await.unwrap(), None);
    done(&*subject.store, create(&north(), "b2", claim("k", 2))).await;
}

pub async fn two_hundred_parallel_twins_commit_once(subject: &StoreUnderTest) {
    let mut all = JoinSet::new();
    for number in 0..200 {
        let store = Arc::clone(&subject.store);
        let commit = create(&north(), &format!("b{number}"), claim("k", 1));
        all.spawn(async move { store.commit(commit).await });
    }
    let outcomes = all.join_all().await;
    assert_eq!(outcomes.iter().filter(|outcome| ended(outcome) == "done").count(), 1);
    let rows = ids(&*subject.store, &north(), Vec::new()).await;
    assert_eq!(rows.len(), 1);
    let answers = outcomes.into_iter().filter_map(|outcome| match outcome {
        Ok(Committed::AlreadyClaimed(claimed)) => Some(claimed.answer.id),
        Ok(_) | Err(_) => None,
    });
    assert_eq!(answers.collect::<Vec<_>>(), vec![rows.first().unwrap().clone(); 199]);
    assert_eq!(subject.peek.outbox("north").len(), 1);
    assert_eq!(subject.peek.audit("north").len(), 1);
}

fn create(tenant: &TenantId, id: &str, claim: Claim) -> Commit {
    let first = plan(id, tenant, vec![insert(boat(id, 7))]);
    Commit {
        events: vec![event(&format!("e-{id}"), id, Change::Created)],
        claim: Some(claim),
        answer: Item {
            masked: Some(r#"{"owner":"A***"}"#.to_owned()),
            personal: Some(r#"{"owner":"Ada \"Countess\" Lovelace"}"#.to_owned()),
            ..first.answer
        },
        ..first
    }
}
