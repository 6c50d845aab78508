//! The audit chains: they hold after any work, say where they were tampered with, and survive retention.

use frontdesk_engine::ports::{Durability, Store};
use frontdesk_engine::seal::Key;
use frontdesk_engine::timestamp::Millis;
use frontdesk_store::audit::{ChainReport, Report};
use frontdesk_store::{AuditReader, Selection};

use crate::house::House;
use crate::suite::boats::{boat, done, ended, insert, plan};
use crate::suite::{north, south};

#[tokio::test]
async fn chains_hold_after_mixed_work_and_a_restart() {
    let house = worked().await.reopened();
    done(&*house.store, plan("late", &north(), vec![insert(boat("late", 7))])).await;
    let expected =
        [chain("node:embedded", 2, 3, None), chain("tenant:north", 5, 5, None), chain("tenant:south", 1, 1, None)];
    assert_eq!(house.store.verify_audit().unwrap(), Report { chains: expected.to_vec() });
    assert!(house.store.verify_audit().unwrap().holds());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chains_hold_while_they_grow() {
    let house = House::new().await;
    let store = house.store.clone();
    let writing = tokio::spawn(async move {
        for number in 0..300 {
            let id = format!("b{number}");
            done(&*store, plan(&id, &north(), vec![insert(boat(&id, 7))])).await;
        }
    });
    let mut checks = 0;
    while !writing.is_finished() {
        let report = house.store.verify_audit().unwrap();
        assert!(report.holds(), "{report:?}");
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
        let house = worked().await;
        assert!(house.store.verify_audit().unwrap().holds());
        house.raw().execute_batch(tampering).unwrap();
        let report = house.store.verify_audit().unwrap();
        assert!(!report.holds(), "{tampering}");
        let broken: Vec<_> =
            report.chains.iter().filter_map(|chain| Some((chain.chain.as_str(), chain.broken?))).collect();
        assert_eq!(broken, [("tenant:north", place)], "{tampering}");
    }
}

/// A head that was tampered with is not made good by the next writer.
#[tokio::test]
async fn writing_on_does_not_hide_what_was_tampered_with() {
    let cut_off = "DELETE FROM fd_audit WHERE chain = 'tenant:north' AND seq = 4; \
                   UPDATE fd_audit_head SET seq = 3, hash = (SELECT hash FROM fd_audit \
                   WHERE chain = 'tenant:north' AND seq = 3) WHERE chain = 'tenant:north'";
    let headless = "DELETE FROM fd_audit_head WHERE chain = 'tenant:north'";
    for (tampering, last) in [(cut_off, 5), (headless, 6)] {
        let House { store, folder, clock } = worked().await;
        drop(store);
        rusqlite::Connection::open(folder.database()).unwrap().execute_batch(tampering).unwrap();
        let house = House::open(folder, clock);
        for name in ["p5", "p6"] {
            done(&*house.store, plan(name, &north(), vec![insert(boat(name, 7))])).await;
        }
        house.store.forget_audit(Millis(i64::MAX)).await.unwrap();
        let house = house.reopened();
        let north = house.store.verify_audit().unwrap().chains[1].clone();
        assert_eq!(north.chain, "tenant:north");
        assert_eq!(north.broken, Some((last, "the head is not what was written")), "{tampering}");
    }
}

#[tokio::test]
async fn the_chains_can_be_read_beside_a_running_server_and_without_one() {
    let house = worked().await;
    let reader = AuditReader::open(&house.folder.database(), &Key::from_bytes([7; 32]));
    assert_eq!(reader.verify().unwrap(), house.store.verify_audit().unwrap());
    done(&*house.store, plan("p5", &north(), vec![insert(boat("p5", 7))])).await;
    assert_eq!(reader.verify().unwrap().chains[1], chain("tenant:north", 5, 5, None));
    let House { store, folder, .. } = house;
    drop((store, reader));
    let reader = AuditReader::open(&folder.database(), &Key::from_bytes([7; 32]));
    assert!(reader.verify().unwrap().holds());
    assert_eq!(reader.export(&Selection::default(), |_, _| Ok(())).unwrap(), 9);
    let stranger = AuditReader::open(&folder.database(), &Key::from_bytes([8; 32]));
    assert!(!stranger.verify().unwrap().holds());
}

#[tokio::test]
async fn a_link_does_not_fit_into_another_chain() {
    let house = worked().await;
    let text = "UPDATE fd_audit SET (at, records, hash) = (SELECT at, records, hash FROM fd_audit \
                WHERE chain = 'tenant:north' AND seq = 1) WHERE chain = 'tenant:south' AND seq = 1";
    house.raw().execute_batch(text).unwrap();
    let report = house.store.verify_audit().unwrap();
    let broken: Vec<_> = report.chains.iter().filter_map(|chain| Some((chain.chain.as_str(), chain.broken?))).collect();
    assert_eq!(broken, [("tenant:south", (1, "the link is not what was written"))]);
}

#[tokio::test]
async fn what_retention_leaves_is_still_checkable() {
    let house = worked().await;
    house.store.forget_audit(Millis(300)).await.unwrap();
    assert_eq!(house.audit("north"), [r#"{"plan":"p3"}"#, r#"{"plan":"p4"}"#]);
    let expected =
        [chain("node:embedded", 2, 3, None), chain("tenant:north", 2, 2, None), chain("tenant:south", 1, 1, None)];
    assert_eq!(house.store.verify_audit().unwrap().chains, expected);

    // The node's chain goes by the clock.
    house.clock.set(9_000);
    house.store.observe(r#"{"read":4}"#.to_owned(), Durability::Awaited).await.unwrap();
    house.store.forget_audit(Millis(9_000)).await.unwrap();
    assert_eq!(house.store.verify_audit().unwrap().chains[0], chain("node:embedded", 1, 1, None));

    // Everything may go, and the chain goes on where it was.
    house.store.forget_audit(Millis(i64::MAX)).await.unwrap();
    assert_eq!(house.audit("north"), [""; 0]);
    done(&*house.store, plan("p5", &north(), vec![insert(boat("p5", 7))])).await;
    let house = house.reopened();
    done(&*house.store, plan("p6", &north(), vec![insert(boat("p6", 7))])).await;
    let expected =
        [chain("node:embedded", 0, 0, None), chain("tenant:north", 2, 2, None), chain("tenant:south", 0, 0, None)];
    assert_eq!(house.store.verify_audit().unwrap().chains, expected);
    house.raw().execute_batch("DELETE FROM fd_audit WHERE chain = 'tenant:north' AND seq = 5").unwrap();
    assert_eq!(house.store.verify_audit().unwrap().chains[1].broken, Some((5, "a link is missing")));
}

#[tokio::test]
async fn retention_does_not_remove_the_traces_of_tampering() {
    let house = worked().await;
    let text = "UPDATE fd_audit SET records = 'nothing', at = 0 WHERE chain = 'tenant:north' AND seq = 1";
    house.raw().execute_batch(text).unwrap();
    house.store.forget_audit(Millis(300)).await.unwrap();
    let report = house.store.verify_audit().unwrap();
    assert_eq!(report.chains[1].broken, Some((1, "the link is not what was written")));
    // The other chains are tended all the same.
    house.store.forget_audit(Millis(i64::MAX)).await.unwrap();
    let left: Vec<u64> = house.store.verify_audit().unwrap().chains.iter().map(|chain| chain.links).collect();
    assert_eq!(left, [0, 1, 0]);
    assert_eq!(house.audit("north").len(), 4);
}

#[tokio::test]
async fn an_export_hands_out_each_record_with_its_chain() {
    let house = worked().await;
    let export = |selection: Selection| {
        let mut lines = Vec::new();
        let count = house.store.export_audit(&selection, |chain, record| {
            lines.push(format!("{chain} {record}"));
            Ok(())
        });
        assert_eq!(count.unwrap(), lines.len() as u64);
        lines
    };
    assert_eq!(
        export(Selection::default()),
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
        export(Selection { since: 300, tenant: north }),
        [r#"tenant:north {"plan":"p3"}"#, r#"tenant:north {"plan":"p4"}"#,]
    );
    assert_eq!(export(Selection { since: 301, tenant: Some("south".to_owned()) }), [r#"tenant:south {"plan":"s1"}"#]);
    assert_eq!(export(Selection { since: 0, tenant: Some("nobody".to_owned()) }), [""; 0]);
}

#[tokio::test]
async fn an_export_that_cannot_be_written_stops_with_its_error() {
    let house = worked().await;
    let full = || std::io::Error::other("no room");
    let error = house.store.export_audit(&Selection::default(), |_, _| Err(full())).unwrap_err();
    assert!(error.to_string().contains("no room"), "{error}");
}

/// Four writes in the north at 100 to 400, one in the south, one refusal, and three records of this node.
async fn worked() -> House {
    let house = House::new().await;
    for number in 1..=4 {
        let name = format!("p{number}");
        let mut commit = plan(&name, &north(), vec![insert(boat(&name, 7))]);
        commit.at = Millis(number * 100);
        done(&*house.store, commit).await;
    }
    let refused = house.store.commit(plan("refused", &north(), vec![insert(boat("p1", 7))])).await;
    assert_eq!(ended(&refused), "boat_taken");
    done(&*house.store, plan("s1", &south(), vec![insert(boat("s1", 7))])).await;
    house.store.observe(r#"{"read":1}"#.to_owned(), Durability::Awaited).await.unwrap();
    house.store.observe(r#"{"read":2}"#.to_owned(), Durability::Grouped).await.unwrap();
    house.store.observe(r#"{"read":3}"#.to_owned(), Durability::Awaited).await.unwrap();
    house
}

fn chain(chain: &str, links: u64, records: u64, broken: Option<(i64, &'static str)>) -> ChainReport {
    ChainReport { chain: chain.to_owned(), links, records, broken }
}
