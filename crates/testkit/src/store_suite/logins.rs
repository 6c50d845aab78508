//! People and what they have allowed.

use std::sync::Arc;

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::login_records::{LoginAudit, LoginRecord, LoginRecordKind, RecordChange};
use frontdesk_engine::ports::registry::{Changed, ErasureProgress, ErasureRecords};
use frontdesk_engine::{FaultKind, TenantId};

use super::{StoreUnderTest, north};

const NOW: Millis = Millis(1_000);

fn record(kind: LoginRecordKind, id: &str, owner: &str) -> LoginRecord {
    let content = format!("{{\"name\":\"Ada of {id}\"}}");
    LoginRecord {
        kind,
        id: id.to_owned(),
        owner: owner.to_owned(),
        tenant: None,
        expires_at: None,
        version: 1,
        content,
    }
}

async fn change(subject: &StoreUnderTest, changes: Vec<RecordChange>) -> Changed {
    subject.logins.change_login_records(changes, NOW, LoginAudit::None).await.unwrap()
}

async fn found(subject: &StoreUnderTest, kind: LoginRecordKind, id: &str) -> Option<LoginRecord> {
    subject.logins.login_record(kind, id).await.unwrap()
}

pub async fn a_login_record_comes_back_whole_and_is_added_once(subject: &StoreUnderTest) {
    let whole = LoginRecord {
        tenant: Some(north()),
        expires_at: Some(Millis(9_000)),
        ..record(LoginRecordKind::Grant, "g1", "u1")
    };
    let audit = LoginAudit::Administration("{\"operator\":\"grant.add\"}".to_owned());
    let added = subject.logins.change_login_records(vec![RecordChange::Add(whole.clone())], NOW, audit).await.unwrap();
    assert_eq!(added, Changed::Done);
    assert_eq!(found(subject, LoginRecordKind::Grant, "g1").await, Some(whole.clone()));
    assert_eq!(found(subject, LoginRecordKind::User, "g1").await, None);
    assert_eq!(found(subject, LoginRecordKind::Grant, "g1\0").await, None);
    let other = LoginRecord { content: "{}".to_owned(), ..whole.clone() };
    assert_eq!(change(subject, vec![RecordChange::Add(other)]).await, Changed::Nothing);
    assert_eq!(found(subject, LoginRecordKind::Grant, "g1").await, Some(whole));
    assert_eq!(subject.peek.administration().last().unwrap(), "{\"operator\":\"grant.add\"}");
}

pub async fn login_records_change_all_or_none(subject: &StoreUnderTest) {
    let user = record(LoginRecordKind::User, "u1", "");
    assert_eq!(change(subject, vec![RecordChange::Add(user.clone())]).await, Changed::Done);
    let newer = LoginRecord { content: "2".to_owned(), ..user.clone() };
    let replace = vec![RecordChange::Replace(newer.clone()), RecordChange::Add(record(LoginRecordKind::Code, "c", ""))];
    assert_eq!(change(subject, replace.clone()).await, Changed::Done);
    assert_eq!(found(subject, LoginRecordKind::User, "u1").await, Some(LoginRecord { version: 2, ..newer }));
    // The first step holds, the second does not; and the other way round.
    let session = RecordChange::Add(record(LoginRecordKind::Session, "s", "u1"));
    let stale = RecordChange::Remove { kind: LoginRecordKind::User, id: "u1".to_owned(), version: 1 };
    for steps in [vec![session.clone(), stale.clone()], vec![stale, session], replace] {
        assert_eq!(change(subject, steps).await, Changed::Nothing);
        assert_eq!(found(subject, LoginRecordKind::Session, "s").await, None);
        assert_eq!(found(subject, LoginRecordKind::User, "u1").await.unwrap().version, 2);
    }
    let current = RecordChange::Remove { kind: LoginRecordKind::User, id: "u1".to_owned(), version: 2 };
    assert_eq!(change(subject, vec![current]).await, Changed::Done);
    assert_eq!(found(subject, LoginRecordKind::User, "u1").await, None);
}

pub async fn login_records_are_found_by_owner_and_kind(subject: &StoreUnderTest) {
    let all = [("b", "u1"), ("a", "u1"), ("c", "u2")].map(|(id, owner)| record(LoginRecordKind::Grant, id, owner));
    let mut steps: Vec<RecordChange> = all.into_iter().map(RecordChange::Add).collect();
    steps.push(RecordChange::Add(record(LoginRecordKind::Session, "s", "u1")));
    assert_eq!(change(subject, steps).await, Changed::Done);
    let ids = |found: Vec<LoginRecord>| found.into_iter().map(|record| record.id).collect::<Vec<_>>();
    assert_eq!(ids(subject.logins.login_records_of(LoginRecordKind::Grant, "u1").await.unwrap()), ["a", "b"]);
    assert_eq!(ids(subject.logins.login_records(LoginRecordKind::Grant, 2).await.unwrap()), ["a", "b"]);
    assert_eq!(subject.logins.count_login_records(LoginRecordKind::Grant).await.unwrap(), 3);
    let end = RecordChange::RemoveOwned { kind: LoginRecordKind::Grant, owner: "u1".to_owned() };
    assert_eq!(change(subject, vec![end.clone(), end]).await, Changed::Done);
    assert_eq!(ids(subject.logins.login_records(LoginRecordKind::Grant, 9).await.unwrap()), ["c"]);
    assert_eq!(ids(subject.logins.login_records_of(LoginRecordKind::Session, "u1").await.unwrap()), ["s"]);
}

pub async fn expired_login_records_are_deleted_on_the_way(subject: &StoreUnderTest) {
    let until = |id: &str, at: i64| {
        RecordChange::Add(LoginRecord { expires_at: Some(Millis(at)), ..record(LoginRecordKind::Code, id, "") })
    };
    let audit = LoginAudit::Access("{\"method\":\"login\"}".to_owned());
    let early = subject.logins.change_login_records(vec![until("old", 500), until("new", 1_001)], Millis(0), audit);
    assert_eq!(early.await.unwrap(), Changed::Done);
    // An id is free again once its record has expired.
    assert_eq!(change(subject, vec![until("old", 2_000)]).await, Changed::Done);
    assert_eq!(found(subject, LoginRecordKind::Code, "old").await.unwrap().expires_at, Some(Millis(2_000)));
    assert!(found(subject, LoginRecordKind::Code, "new").await.is_some());
    assert!(subject.peek.node().iter().any(|line| line == "{\"method\":\"login\"}"));
}

/// Of all that replace the same version of a record, one wins, and what the others would have added is not there.
pub async fn of_a_thousand_changes_at_once_one_is_made(subject: &StoreUnderTest) {
    let code = record(LoginRecordKind::Code, "c", "");
    assert_eq!(change(subject, vec![RecordChange::Add(code.clone())]).await, Changed::Done);
    let mut running = Vec::new();
    for number in 0..1_000 {
        let (logins, code) = (Arc::clone(&subject.logins), code.clone());
        running.push(tokio::spawn(async move {
            let grant = record(LoginRecordKind::Grant, &format!("g{number:04}"), "u1");
            let steps = vec![RecordChange::Add(grant), RecordChange::Replace(code)];
            // A full queue refuses some; they come again.
            for _ in 0..100 {
                match logins.change_login_records(steps.clone(), NOW, LoginAudit::None).await {
                    Ok(changed) => return changed,
                    Err(fault) => assert_eq!(fault.kind, FaultKind::Unavailable, "{fault:?}"),
                }
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
            panic!("the queue stays full")
        }));
    }
    let mut won = 0;
    for running in running {
        won += usize::from(running.await.unwrap() == Changed::Done);
    }
    assert_eq!(won, 1);
    assert_eq!(subject.logins.count_login_records(LoginRecordKind::Grant).await.unwrap(), 1);
    assert_eq!(found(subject, LoginRecordKind::Code, "c").await.unwrap().version, 2);
}

pub async fn an_erased_tenant_takes_its_login_records_along(subject: &StoreUnderTest) {
    let of = |id: &str, tenant: Option<TenantId>| {
        RecordChange::Add(LoginRecord { tenant, ..record(LoginRecordKind::Membership, id, "u1") })
    };
    let south = TenantId::parse("south");
    assert_eq!(change(subject, vec![of("n", Some(north())), of("s", south), of("all", None)]).await, Changed::Done);
    let records = || ErasureRecords { begin: "{}".to_owned(), end: "{}".to_owned() };
    while let ErasureProgress::More(_) = subject.registry.erase_tenant(&north(), NOW, records()).await.unwrap() {}
    let left = subject.logins.login_records_of(LoginRecordKind::Membership, "u1").await.unwrap();
    assert_eq!(left.into_iter().map(|record| record.id).collect::<Vec<_>>(), ["all", "s"]);
}
