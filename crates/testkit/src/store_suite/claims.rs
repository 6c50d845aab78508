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

pub async fn erased_answers_name_nobody_and_keep_their_keys(subject: &StoreUnderTest) {
    for (tenant, id, key) in [(north(), "b1", "k1"), (north(), "b2", "k2"), (south(), "b1", "k1")] {
        done(&*subject.store, create(&tenant, id, claim(key, 1))).await;
    }
    let events = subject.peek.outbox("north");
    assert_eq!((subject.erase_answers)(north(), vec!["b1".to_owned(), "b9".to_owned()]).await.unwrap(), 1);
    let stored =
        async |tenant: &TenantId, key| subject.store.find_claim(tenant, &claim(key, 1)).await.unwrap().unwrap();
    let expected = StoredAnswer {
        request_hash: [1; 32],
        answer: Item {
            id: "b1".to_owned(),
            version: 1,
            body: r#"{"id":"b1"}"#.to_owned(),
            masked: Some(r#"{"owner":"A***"}"#.to_owned()),
            personal: None,
        },
    };
    assert_eq!(stored(&north(), "k1").await, expected);
    // The retry of an old key has no effect.
    let Ok(Committed::AlreadyClaimed(retried)) = subject.store.commit(create(&north(), "b3", claim("k1", 1))).await
    else {
        panic!("the key was not claimed");
    };
    assert_eq!(retried, expected);
    assert_eq!(subject.peek.outbox("north"), events);
    // Those of other records and of other tenants are as they were.
    let personal = Some(r#"{"owner":"Ada \"Countess\" Lovelace"}"#.to_owned());
    assert_eq!(stored(&north(), "k2").await.answer.personal, personal);
    assert_eq!(stored(&south(), "k1").await.answer.personal, personal);
    assert_eq!((subject.erase_answers)(north(), vec!["b1".to_owned()]).await.unwrap(), 0);
}

pub async fn more_answers_than_one_chunk_are_erased(subject: &StoreUnderTest) {
    let keys = 1_100;
    let mut all = JoinSet::new();
    for number in 0..keys {
        let store = Arc::clone(&subject.store);
        let commit = create(&north(), &format!("b{number}"), claim(&format!("k{number}"), 1));
        all.spawn(async move { done(&*store, commit).await });
    }
    all.join_all().await;
    let ids: Vec<String> = (0..keys).map(|number| format!("b{number}")).collect();
    assert_eq!((subject.erase_answers)(north(), ids).await.unwrap(), keys);
    for number in 0..keys {
        let claim = claim(&format!("k{number}"), 1);
        assert_eq!(subject.store.find_claim(&north(), &claim).await.unwrap().unwrap().answer.personal, None);
    }
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
