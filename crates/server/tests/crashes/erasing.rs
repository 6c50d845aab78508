//! A server that is killed while it erases a tenant, at moments left to chance. The next run completes the erasure, and
//! the neighbour has lost nothing.

use std::time::Duration;

use serde_json::{Value, json};

use frontdesk_testkit::app::TestApp;
use frontdesk_testkit::app::process::CommandProcess;
use frontdesk_testkit::databases::PostgresDatabase;

use super::seed::{rounds, seeded};

const ERASE: [&str; 6] = ["tenant", "erase", "dlr_summit", "--confirm", "dlr_summit", "--json"];

#[tokio::test]
async fn a_killed_erasure_on_sqlite_is_completed_later() {
    survive("an erasure on SQLite", TestApp::start()).await;
}

#[tokio::test]
async fn a_killed_erasure_on_postgres_is_completed_later() {
    let database = PostgresDatabase::create();
    survive("an erasure on PostgreSQL", TestApp::start_with(&[("FRONTDESK_DATABASE", &database.url())])).await;
    for table in ["vehicle", "vehicle_word", "lead", "fd_claim", "fd_outbox", "fd_counter", "fd_tenant"] {
        let left = database.sql(&format!("SELECT count(*) FROM {table} WHERE tenant = 'dlr_summit'"));
        assert_eq!(left, ["0"], "{table}");
    }
    assert_eq!(database.sql("SELECT count(*) FROM fd_audit WHERE chain = 'tenant:dlr_summit'"), ["0"]);
}

async fn survive(what: &str, mut desk: TestApp) {
    let random = seeded(what);
    let stock = desk.agent().await.all("inventory.list", json!({"limit": 100})).await;
    let whole = desk.other_tenant().await.all("inventory.list", json!({"limit": 100})).await.len();
    let (mut round, mut cut) = (0, 0);
    // As often as asked for, and on until an erasure was cut off in the middle, however fast the machine is.
    while round < rounds() || cut == 0 {
        assert!(round < 20 * rounds(), "no kill came in the middle of an erasure");
        round += 1;
        let data = desk.data().display().to_string();
        let erasing = CommandProcess::new(&desk.data(), &[&ERASE[..], &["--data", &data]].concat(), &[]);
        // The wait before its end is the longest part, so most kills are aimed before it.
        let longest = *random.pick(&[150_000, 300_000, 1_200_000]);
        tokio::time::sleep(Duration::from_micros(random.number() % longest)).await;
        desk.signal("KILL");
        desk.wait();
        // A command that had not reached the server erases by itself, and would keep the folder locked.
        drop(erasing);
        desk = desk.start_again();
        let (code, out, errors) = desk.command(&["audit", "verify"]);
        assert_eq!(code, Some(0), "{out}{errors}");
        cut += usize::from(count_erasures(&desk, whole).is_open());
    }
    let (code, out, errors) = desk.command(&ERASE);
    assert_eq!(code, Some(0), "{errors}");
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["rows"]["vehicle"], json!(whole), "each row is counted once: {report}");
    assert_eq!(report["chain"]["intact"], json!(true));
    let (code, out, errors) = desk.command(&["audit", "verify"]);
    assert_eq!(code, Some(0), "{out}{errors}");
    let erasures = count_erasures(&desk, whole);
    assert!(!erasures.is_open() && erasures.ended > 0, "each began once and ended once: {erasures:?}");
    assert_eq!(desk.agent().await.all("inventory.list", json!({"limit": 100})).await, stock);
    eprintln!("{what}: {round} kills, {cut} of them left an erasure open, {} erasures in all", erasures.ended);
}

/// What the audit log says of erasures. There are several if one had ended before its kill: the demo then has its
/// businesses anew at the next start.
#[derive(Debug)]
struct Erasures {
    begun: usize,
    ended: usize,
}

impl Erasures {
    fn is_open(&self) -> bool {
        self.begun != self.ended
    }
}

/// At most the last one is open, and each that has ended has counted every vehicle once.
fn count_erasures(desk: &TestApp, vehicles: usize) -> Erasures {
    let (code, records, errors) = desk.command(&["audit", "export", "--tenant", "dlr_summit"]);
    assert_eq!(code, Some(0), "{errors}");
    let records = records.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut erasures = Erasures { begun: 0, ended: 0 };
    for record in records.filter(|record| record["operator"] == "tenant.erase") {
        if record["outcome"] == "begun" {
            erasures.begun += 1;
        } else {
            erasures.ended += 1;
            assert_eq!(record["removed"]["rows"]["vehicle"], json!(vehicles), "{record}");
            assert_eq!(record["erased_chain"]["intact"], json!(true), "{record}");
        }
    }
    assert!((erasures.ended..=erasures.ended + 1).contains(&erasures.begun), "one began twice: {erasures:?}");
    erasures
}
