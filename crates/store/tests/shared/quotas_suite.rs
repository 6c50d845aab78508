//! What tenants and clients have stored, and may, on both databases.

use frontdesk_engine::model::plan::{Change, OnConflict, Step};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::{Commit, Disclosure};
use frontdesk_engine::{ClientId, TenantId};
use frontdesk_store::{Backend, StorageLimits, StoredUsage, Usage, UsageLimit};
use frontdesk_testkit::store_suite::boats::{
    BOAT, MOVED_ON, boat, claim, done, ended, event, fault, insert, plan, update,
};
use frontdesk_testkit::store_suite::{north, south};

fn by(client: &str, commit: Commit) -> Commit {
    Commit { client: Some(ClientId::new(client)), ..commit }
}

fn create(id: &str) -> Commit {
    // With an event: its number is in the row that counts.
    let events = vec![event(id, id, Change::Created)];
    Commit { claim: Some(claim(id, 1)), events, ..by("agent", plan(id, &north(), vec![insert(boat(id, 7))])) }
}

fn remove(id: &str) -> Commit {
    let step = Step::Remove {
        table: &BOAT,
        id: id.to_owned(),
        expect_version: 1,
        on_conflict: OnConflict::Fail(fault(MOVED_ON)),
    };
    by("agent", plan(id, &north(), vec![step]))
}

async fn usage(store: &dyn Backend, tenant: &TenantId) -> StoredUsage {
    store.usage(tenant).await.unwrap().unwrap()
}

fn limits(tenant: UsageLimit, client: UsageLimit) -> StorageLimits {
    StorageLimits { tenant, client, min_free_bytes: 0 }
}

const NONE: UsageLimit = UsageLimit { rows: 0, bytes: 0 };

pub(crate) async fn a_full_quota_refuses_only_what_adds(store: &dyn Backend) {
    store.set_storage_limits(limits(UsageLimit { rows: 2, bytes: 0 }, NONE));
    assert_eq!(usage(store, &north()).await, StoredUsage::default());
    done(store, create("b1")).await;
    done(store, create("b2")).await;
    assert_eq!(ended(&store.commit(create("b3")).await), "quota_exceeded");
    assert_eq!(usage(store, &north()).await.tenant.rows, 2);
    // What was answered is answered again, a record can be changed, read and removed, and others are not affected.
    assert_eq!(ended(&store.commit(create("b1")).await), "claimed");
    let longer = Step::Update {
        table: &BOAT,
        row: {
            let mut row = boat("b1", 9);
            row.version = 2;
            row
        },
        expect_version: 1,
        on_conflict: OnConflict::Fail(fault(MOVED_ON)),
        on_duplicate: fault(MOVED_ON),
    };
    done(store, by("agent", plan("longer", &north(), vec![longer]))).await;
    assert!(store.get(&north(), &BOAT, "b1", Disclosure::Full).await.unwrap().is_some());
    done(store, by("agent", plan("b9", &south(), vec![insert(boat("b9", 7))]))).await;
    // The server's own rows are counted and not refused.
    done(store, plan("own", &north(), vec![insert(boat("own", 7))])).await;
    assert_eq!(usage(store, &north()).await.tenant.rows, 3);
    done(store, remove("own")).await;
    assert_eq!(ended(&store.commit(create("b3")).await), "quota_exceeded");
    done(store, remove("b2")).await;
    done(store, create("b3")).await;
}

pub(crate) async fn a_client_is_refused_and_another_is_not(store: &dyn Backend) {
    store.set_storage_limits(limits(NONE, UsageLimit { rows: 1, bytes: 0 }));
    done(store, create("b1")).await;
    assert_eq!(ended(&store.commit(create("b2")).await), "quota_exceeded");
    done(store, by("other", plan("b2", &north(), vec![insert(boat("b2", 7))]))).await;
    let clients: Vec<(String, i64)> =
        usage(store, &north()).await.clients.into_iter().map(|(client, usage)| (client, usage.rows)).collect();
    assert_eq!(clients, [("agent".to_owned(), 1), ("other".to_owned(), 1)]);
    store.set_storage_limits(limits(UsageLimit { rows: 0, bytes: 1 }, NONE));
    assert_eq!(ended(&store.commit(create("b3")).await), "quota_exceeded");
    store.set_storage_limits(StorageLimits::default());
    done(store, create("b3")).await;
}

/// Everything that deletes counts: in the end only one boat is left. Returns what was counted.
pub(crate) async fn what_is_deleted_is_counted(store: &dyn Backend) -> Usage {
    done(store, by("agent", plan("left", &north(), vec![insert(boat("left", 9))]))).await;
    let one = usage(store, &north()).await.tenant;
    assert!(one.rows == 1 && (200..400).contains(&one.bytes), "{one:?}");
    for id in ["b1", "b2", "b3"] {
        done(store, create(id)).await;
    }
    let all = usage(store, &north()).await;
    assert_eq!(all.tenant.rows, 4);
    assert_eq!(all.clients, [("agent".to_owned(), Usage { rows: 4, bytes: all.tenant.bytes })]);
    // A plan that fails counts nothing, whether alone or among others.
    let (taken, fine) = (plan("b1", &north(), vec![insert(boat("b1", 7))]), create("b4"));
    let (refused, made) = tokio::join!(store.commit(by("agent", taken)), store.commit(fine));
    assert_eq!([ended(&refused), ended(&made)], ["boat_taken", "done"]);
    assert_eq!(usage(store, &north()).await.tenant.rows, 5);
    done(store, remove("b4")).await;
    let mut row = boat("b1", 7);
    (row.version, row.body) = (2, format!(r#"{{"id":"b1","note":"{}"}}"#, "x".repeat(1_000)));
    let before = usage(store, &north()).await.tenant.bytes;
    let change = vec![update(row, 1, OnConflict::Fail(fault(MOVED_ON)))];
    done(store, by("agent", plan("b1", &north(), change))).await;
    let grown = usage(store, &north()).await.tenant.bytes - before;
    assert!((900..1_100).contains(&grown), "{grown}");
    // Erasing somebody makes stored answers shorter, if they have a personal part; these have none.
    assert_eq!(store.erase_answers(&north(), &["b1".to_owned()]).await.unwrap(), 0);
    store.delete_expired_rows(&BOAT, "length", Millis(8)).await.unwrap();
    assert_eq!(usage(store, &north()).await.tenant.rows, 1);
    store.delete_expired_claims(Millis(i64::MAX)).await.unwrap();
    let end = usage(store, &north()).await;
    assert_eq!(end.tenant, one, "only the first boat is left");
    end.tenant
}
