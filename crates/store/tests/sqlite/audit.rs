//! The audit chains: they are intact after any work, show where they were tampered with, and survive retention.

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::Registry as _;
use frontdesk_engine::ports::{Commit, Durability, Store};
use frontdesk_engine::seal::SealKey;
use frontdesk_store::audit::AuditClass;
use frontdesk_store::audit::{AuditReport, ChainReport};
use frontdesk_store::{AuditReader, AuditSelection, Backend as _};

use crate::test_store::{TABLES, TestStore};
use frontdesk_testkit::store_suite::boats::{boat, done, ended, insert, plan};
use frontdesk_testkit::store_suite::{north, south, without_rows};

#[tokio::test]
async fn chains_hold_after_mixed_work_and_a_restart() {
    let test = worked().await.reopened();
    done(&*test.store, plan("late", &north(), vec![insert(boat("late", 7))])).await;
    let expected =
        [chain("node:embedded", 2, 3, None), chain("tenant:north", 5, 5, None), chain("tenant:south", 1, 1, None)];
    assert_eq!(
        test.store.verify_audit().unwrap(),
        AuditReport {
            chains: expected.to_vec(),
            findings: Vec::new(),
            more_findings: 0,
            rows: test.store.verify_audit().unwrap().rows
        }
    );
    assert!(test.store.verify_audit().unwrap().is_intact());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chains_hold_while_they_grow() {
    let test = TestStore::new().await;
    let store = test.store.clone();
    let writing = tokio::spawn(async move {
        for number in 0..300 {
            let id = format!("b{number}");
            done(&*store, plan(&id, &north(), vec![insert(boat(&id, 7))])).await;
        }
    });
    let mut checks = 0;
    while !writing.is_finished() {
        let report = test.store.verify_audit().unwrap();
        assert!(report.is_intact(), "{report:?}");
        checks += 1;
    }
    writing.await.unwrap();
    assert!(checks > 1);
}

#[tokio::test]
async fn every_way_of_tampering_names_the_chain_and_the_place() {
    let edited = "the link is not what was written";
    let head = "the head is not what was written";
    let cases = [
        (
            "UPDATE fd_audit SET records = replace(records, 'p2', 'p9') WHERE chain = 'tenant:north' AND seq = 2",
            (2, edited),
        ),
        ("UPDATE fd_audit SET at = 1 WHERE chain = 'tenant:north' AND seq = 2", (2, edited)),
        ("UPDATE fd_audit SET hash = zeroblob(32) WHERE chain = 'tenant:north' AND seq = 3", (3, edited)),
        ("DELETE FROM fd_audit WHERE chain = 'tenant:north' AND seq = 2", (2, "a link is missing")),
        ("DELETE FROM fd_audit WHERE chain = 'tenant:north' AND seq = 1", (1, "a link is missing")),
        ("DELETE FROM fd_audit WHERE chain = 'tenant:north' AND seq = 4", (4, "the end of the chain is missing")),
        ("DELETE FROM fd_audit WHERE chain = 'tenant:north'", (1, "the end of the chain is missing")),
        (
            "UPDATE fd_audit SET seq = 99 WHERE chain = 'tenant:north' AND seq = 2; \
             UPDATE fd_audit SET seq = 2 WHERE chain = 'tenant:north' AND seq = 3; \
             UPDATE fd_audit SET seq = 3 WHERE chain = 'tenant:north' AND seq = 99",
            (2, edited),
        ),
        (
            "INSERT INTO fd_audit SELECT 'tenant:north', 5, at, records, hash FROM fd_audit \
             WHERE chain = 'tenant:north' AND seq = 4",
            (5, edited),
        ),
        // The end is cut off and the head turned back to match.
        (
            "DELETE FROM fd_audit WHERE chain = 'tenant:north' AND seq = 4; \
             UPDATE fd_audit_head SET seq = 3, hash = (SELECT hash FROM fd_audit WHERE chain = 'tenant:north' AND seq = 3) \
             WHERE chain = 'tenant:north'",
            (3, head),
        ),
        // The beginning is cut off as if retention had done it.
        (
            "UPDATE fd_audit_head SET kept_after_seq = 2, \
             kept_after_hash = (SELECT hash FROM fd_audit WHERE chain = 'tenant:north' AND seq = 2) \
             WHERE chain = 'tenant:north'; \
             DELETE FROM fd_audit WHERE chain = 'tenant:north' AND seq <= 2",
            (4, head),
        ),
        ("DELETE FROM fd_audit_head WHERE chain = 'tenant:north'", (0, head)),
    ];
    for (tampering, place) in cases {
        let test = worked().await;
        assert!(test.store.verify_audit().unwrap().is_intact());
        test.raw().execute_batch(tampering).unwrap();
        let report = test.store.verify_audit().unwrap();
        assert!(!report.is_intact(), "{tampering}");
        let broken: Vec<_> =
            report.chains.iter().filter_map(|chain| Some((chain.chain.as_str(), chain.broken?))).collect();
        assert_eq!(broken, [("tenant:north", place)], "{tampering}");
    }
}

/// A head that was tampered with is not made good by the next writer.
#[tokio::test]
async fn later_writes_do_not_hide_tampering() {
    let cut_off = "DELETE FROM fd_audit WHERE chain = 'tenant:north' AND seq = 4; \
                   UPDATE fd_audit_head SET seq = 3, hash = (SELECT hash FROM fd_audit \
                   WHERE chain = 'tenant:north' AND seq = 3) WHERE chain = 'tenant:north'";
    let headless = "DELETE FROM fd_audit_head WHERE chain = 'tenant:north'";
    for (tampering, last) in [(cut_off, 5), (headless, 6)] {
        let TestStore { store, folder, clock } = worked().await;
        drop(store);
        rusqlite::Connection::open(folder.database()).unwrap().execute_batch(tampering).unwrap();
        let test = TestStore::open(folder, clock);
        for name in ["p5", "p6"] {
            done(&*test.store, plan(name, &north(), vec![insert(boat(name, 7))])).await;
        }
        test.delete_expired_audit(Millis(i64::MAX)).await.unwrap();
        let test = test.reopened();
        let north = test.store.verify_audit().unwrap().chains[1].clone();
        assert_eq!(north.chain, "tenant:north");
        assert_eq!(north.broken, Some((last, "the head is not what was written")), "{tampering}");
    }
}

#[tokio::test]
async fn chains_are_readable_with_and_without_a_server() {
    let test = worked().await;
    let reader = AuditReader::open(&test.folder.database(), &SealKey::from_bytes([7; 32]));
    assert_eq!(reader.verify(&TABLES).unwrap(), test.store.verify_audit().unwrap());
    done(&*test.store, plan("p5", &north(), vec![insert(boat("p5", 7))])).await;
    assert_eq!(reader.verify(&TABLES).unwrap().chains[1], chain("tenant:north", 5, 5, None));
    let TestStore { store, folder, .. } = test;
    drop((store, reader));
    let reader = AuditReader::open(&folder.database(), &SealKey::from_bytes([7; 32]));
    assert!(reader.verify(&TABLES).unwrap().is_intact());
    assert_eq!(reader.export(&AuditSelection::default(), |_, _, _| Ok(())).unwrap(), 9);
    let stranger = AuditReader::open(&folder.database(), &SealKey::from_bytes([8; 32]));
    assert!(!stranger.verify(&TABLES).unwrap().is_intact());
}

#[tokio::test]
async fn a_link_does_not_fit_into_another_chain() {
    let test = worked().await;
    let text = "UPDATE fd_audit SET (at, records, hash) = (SELECT at, records, hash FROM fd_audit \
                WHERE chain = 'tenant:north' AND seq = 1) WHERE chain = 'tenant:south' AND seq = 1";
    test.raw().execute_batch(text).unwrap();
    let report = test.store.verify_audit().unwrap();
    let broken: Vec<_> = report.chains.iter().filter_map(|chain| Some((chain.chain.as_str(), chain.broken?))).collect();
    assert_eq!(broken, [("tenant:south", (1, "the link is not what was written"))]);
}

/// Administration can be stored longer than reads, and reads longer than writes.
#[tokio::test]
async fn each_class_of_records_is_stored_for_its_own_time() {
    let test = worked().await;
    test.store.record_administration(r#"{"did":"something"}"#.to_owned()).await.unwrap();
    let links = |name: &str| {
        let chains = test.store.verify_audit().unwrap().chains;
        chains.into_iter().find(|chain| chain.chain == name).map(|chain| (chain.links, chain.broken))
    };
    let all = || ["admin:embedded", "node:embedded", "tenant:north", "tenant:south"].map(links);
    let [admin, node, north, south] = all();
    assert_eq!(admin, Some((1, None)));
    assert!(node.is_some_and(|(links, _)| links > 0) && north.is_some_and(|(links, _)| links > 0));
    let none = Some((0, None));
    test.store.delete_expired_audit(AuditClass::Reads, Millis(i64::MAX)).await.unwrap();
    assert_eq!(all(), [admin, none, north, south]);
    test.store.delete_expired_audit(AuditClass::Writes, Millis(i64::MAX)).await.unwrap();
    assert_eq!(all(), [admin, none, none, none]);
    test.store.delete_expired_audit(AuditClass::Administration, Millis(i64::MAX)).await.unwrap();
    assert_eq!(all(), [none, none, none, none]);
}

#[tokio::test]
async fn links_that_retention_keeps_can_be_verified() {
    let test = worked().await;
    test.delete_expired_audit(Millis(300)).await.unwrap();
    assert_eq!(test.audit("north"), [r#"{"plan":"p3"}"#, r#"{"plan":"p4"}"#]);
    let expected =
        [chain("node:embedded", 2, 3, None), chain("tenant:north", 2, 2, None), chain("tenant:south", 1, 1, None)];
    assert_eq!(test.store.verify_audit().unwrap().chains, expected);

    // The node's chain goes by the clock.
    test.clock.set(9_000);
    test.store.append_audit(r#"{"read":4}"#.to_owned(), Durability::Awaited).await.unwrap();
    test.delete_expired_audit(Millis(9_000)).await.unwrap();
    assert_eq!(test.store.verify_audit().unwrap().chains[0], chain("node:embedded", 1, 1, None));

    // Everything may go, and the chain goes on where it was.
    test.delete_expired_audit(Millis(i64::MAX)).await.unwrap();
    assert_eq!(test.audit("north"), [""; 0]);
    done(&*test.store, plan("p5", &north(), vec![insert(boat("p5", 7))])).await;
    let test = test.reopened();
    done(&*test.store, plan("p6", &north(), vec![insert(boat("p6", 7))])).await;
    let expected =
        [chain("node:embedded", 0, 0, None), chain("tenant:north", 2, 2, None), chain("tenant:south", 0, 0, None)];
    assert_eq!(test.store.verify_audit().unwrap().chains, expected);
    test.raw().execute_batch("DELETE FROM fd_audit WHERE chain = 'tenant:north' AND seq = 5").unwrap();
    assert_eq!(test.store.verify_audit().unwrap().chains[1].broken, Some((5, "a link is missing")));
}

/// In chunks, so that writes do not wait long: chunks before a failure stay deleted, and the rest can be verified.
#[tokio::test]
async fn many_links_are_deleted_a_thousand_at_a_time() {
    let test = long().await;
    let trap = "CREATE TRIGGER trap BEFORE DELETE ON fd_audit WHEN OLD.seq = 2300 \
                BEGIN SELECT RAISE(ABORT, 'trapped'); END";
    test.raw().execute_batch(trap).unwrap();
    let fault = test.delete_expired_audit(Millis(i64::MAX)).await.unwrap_err();
    assert!(fault.cause.unwrap().contains("trapped"));
    assert_eq!(of_north(&test), chain("tenant:north", 600, 600, None));

    test.raw().execute_batch("DROP TRIGGER trap").unwrap();
    test.delete_expired_audit(Millis(2_501)).await.unwrap();
    assert_eq!(of_north(&test), chain("tenant:north", 100, 100, None));
    assert_eq!(test.audit("north")[0], r#"{"plan":"p2501"}"#);
    test.delete_expired_audit(Millis(i64::MAX)).await.unwrap();
    assert_eq!(of_north(&test), chain("tenant:north", 0, 0, None));
}

/// The thousand links with the tampered one stay, and everything after them.
#[tokio::test]
async fn retention_stops_where_a_long_chain_was_tampered_with() {
    let cases = [
        (
            "UPDATE fd_audit SET records = 'nothing' WHERE chain = 'tenant:north' AND seq = 1500",
            1_600,
            (1_500, "the link is not what was written"),
        ),
        ("DELETE FROM fd_audit WHERE chain = 'tenant:north' AND seq = 1001", 2_599, (1_001, "a link is missing")),
        (
            "DELETE FROM fd_audit WHERE chain = 'tenant:north' AND seq > 2400",
            400,
            (2_401, "the end of the chain is missing"),
        ),
    ];
    for (tampering, left, place) in cases {
        let test = long().await;
        test.raw().execute_batch(tampering).unwrap();
        test.delete_expired_audit(Millis(i64::MAX)).await.unwrap();
        assert_eq!(test.audit("north").len(), left, "{tampering}");
        assert_eq!(of_north(&test).broken, Some(place), "{tampering}");
    }
}

#[tokio::test]
async fn retention_does_not_remove_the_traces_of_tampering() {
    let test = worked().await;
    let text = "UPDATE fd_audit SET records = 'nothing', at = 0 WHERE chain = 'tenant:north' AND seq = 1";
    test.raw().execute_batch(text).unwrap();
    test.delete_expired_audit(Millis(300)).await.unwrap();
    let report = test.store.verify_audit().unwrap();
    assert_eq!(report.chains[1].broken, Some((1, "the link is not what was written")));
    // The other chains are tended all the same.
    test.delete_expired_audit(Millis(i64::MAX)).await.unwrap();
    let left: Vec<u64> = test.store.verify_audit().unwrap().chains.iter().map(|chain| chain.links).collect();
    assert_eq!(left, [0, 1, 0]);
    assert_eq!(test.audit("north").len(), 4);
}

#[tokio::test]
async fn an_export_hands_out_each_record_with_its_chain() {
    let test = worked().await;
    let export = |selection| exported(&test, &selection);
    assert_eq!(
        export(AuditSelection::default()),
        [
            r#"node:embedded {"read":1}"#,
            r#"node:embedded {"read":2}"#,
            r#"node:embedded {"read":3}"#,
            r#"tenant:north {"plan":"p1"}"#,
            r#"tenant:north {"plan":"p2"}"#,
            r#"tenant:north {"plan":"p3"}"#,
            r#"tenant:north {"plan":"p4"}"#,
            r#"tenant:south {"plan":"s1"}"#,
        ]
    );
    let north = Some("north".to_owned());
    assert_eq!(
        export(AuditSelection { since: 300, tenant: north }),
        [r#"tenant:north {"plan":"p3"}"#, r#"tenant:north {"plan":"p4"}"#,]
    );
    assert_eq!(
        export(AuditSelection { since: 301, tenant: Some("south".to_owned()) }),
        [r#"tenant:south {"plan":"s1"}"#]
    );
    assert_eq!(export(AuditSelection { since: 0, tenant: Some("nobody".to_owned()) }), [""; 0]);
}

/// Reads and refusals are on the node's chain; those of a tenant are that tenant's records too.
#[tokio::test]
async fn an_export_of_a_tenant_has_its_reads_as_well_as_its_writes() {
    let test = TestStore::new().await;
    done(&*test.store, plan("p1", &north(), vec![insert(boat("p1", 7))])).await;
    for record in [
        r#"{"tenant":"north","read":1}"#,
        r#"{"tenant":"south","read":2}"#,
        r#"{"read":3,"note":{"tenant":"north"}}"#,
        r#"{"read":4,"note":"\"tenant\":\"north\""}"#,
        r#"{"read":5,"tenant":"north"}"#,
        r#"{"read":6,"tenant":"northern"}"#,
        r#"{"read":7,"tenant":["north"]}"#,
        "not JSON, tenant north",
    ] {
        test.store.append_audit(record.to_owned(), Durability::Awaited).await.unwrap();
    }
    let expected = [
        r#"node:embedded {"tenant":"north","read":1}"#,
        r#"node:embedded {"read":5,"tenant":"north"}"#,
        r#"tenant:north {"plan":"p1"}"#,
    ];
    assert_eq!(exported(&test, &AuditSelection { since: 0, tenant: Some("north".to_owned()) }), expected);
    // The clock stands at 5,000.
    assert_eq!(exported(&test, &AuditSelection { since: 5_001, tenant: Some("north".to_owned()) }), [""; 0]);
}

#[tokio::test]
async fn an_export_of_many_links_has_each_record_once_in_order() {
    let test = long().await;
    // A link with more in it than is read at once.
    let wide = format!(r#"{{"wide":"{}"}}"#, "x".repeat(3_000_000));
    test.store.append_audit(wide.clone(), Durability::Awaited).await.unwrap();
    test.store.append_audit(r#"{"after":1}"#.to_owned(), Durability::Awaited).await.unwrap();
    let mut expected = vec![format!("node:embedded {wide}"), r#"node:embedded {"after":1}"#.to_owned()];
    expected.extend((1..=LONG).map(|number| format!(r#"tenant:north {{"plan":"p{number}"}}"#)));
    let mut lines = exported(&test, &AuditSelection::default());
    // What the test itself was opened with.
    lines.retain(|line| !line.contains(r#"{"add":"#));
    assert!(lines == expected, "{} lines instead of {}", lines.len(), expected.len());
}

/// A slow consumer of the export must not keep the database from checkpointing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_export_holds_no_transaction_and_ends_at_its_start() {
    let test = worked().await;
    let before = exported(&test, &AuditSelection::default()).len() as u64;
    let mut lines = 0;
    let count = test.store.export_audit(&AuditSelection::default(), |_, _, _| {
        lines += 1;
        let name = format!("during{lines}");
        let write = done(&*test.store, plan(&name, &south(), vec![insert(boat(&name, 7))]));
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(write));
        let raw = test.raw();
        raw.busy_timeout(std::time::Duration::ZERO).unwrap();
        let busy: i64 = raw.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).unwrap();
        assert_eq!(busy, 0, "record {lines}");
        Ok(())
    });
    assert_eq!(count.unwrap(), before);
}

#[tokio::test]
async fn an_export_that_cannot_be_written_stops_with_its_error() {
    let test = worked().await;
    let full = || std::io::Error::other("no room");
    let error = test.store.export_audit(&AuditSelection::default(), |_, _, _| Err(full())).unwrap_err();
    assert!(error.to_string().contains("no room"), "{error}");
}

/// Four writes in the north at 100 to 400, one in the south, one refusal, and three records of this node.
async fn worked() -> TestStore {
    let test = TestStore::new().await;
    for number in 1..=4 {
        let name = format!("p{number}");
        let mut commit = plan(&name, &north(), vec![insert(boat(&name, 7))]);
        commit.at = Millis(number * 100);
        done(&*test.store, commit).await;
    }
    let refused = test.store.commit(plan("refused", &north(), vec![insert(boat("p1", 7))])).await;
    assert_eq!(ended(&refused), "boat_taken");
    done(&*test.store, plan("s1", &south(), vec![insert(boat("s1", 7))])).await;
    test.store.append_audit(r#"{"read":1}"#.to_owned(), Durability::Awaited).await.unwrap();
    test.store.append_audit(r#"{"read":2}"#.to_owned(), Durability::Grouped).await.unwrap();
    test.store.append_audit(r#"{"read":3}"#.to_owned(), Durability::Awaited).await.unwrap();
    test
}

const LONG: i64 = 2_600;

/// That many writes in the north, at 1, 2, 3 and so on.
async fn long() -> TestStore {
    let test = TestStore::new().await;
    let mut writes = tokio::task::JoinSet::new();
    for number in 1..=LONG {
        let store = test.store.clone();
        let commit = Commit { at: Millis(number), ..plan(&format!("p{number}"), &north(), Vec::new()) };
        writes.spawn(async move { done(&*store, commit).await });
    }
    writes.join_all().await;
    test
}

fn of_north(test: &TestStore) -> ChainReport {
    let report = test.store.verify_audit().unwrap();
    report.chains.into_iter().find(|chain| chain.chain == "tenant:north").unwrap()
}

fn exported(test: &TestStore, selection: &AuditSelection) -> Vec<String> {
    let mut lines = Vec::new();
    let count = test.store.export_audit(selection, |chain, _, record| {
        lines.push(format!("{chain} {}", without_rows(record)));
        Ok(())
    });
    assert_eq!(count.unwrap(), lines.len() as u64);
    lines
}

fn chain(chain: &str, links: u64, records: u64, broken: Option<(i64, &'static str)>) -> ChainReport {
    ChainReport { chain: chain.to_owned(), links, records, broken }
}
