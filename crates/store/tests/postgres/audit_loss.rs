//! Attacks on the audit record of a PostgreSQL database.

use std::sync::Arc;

use frontdesk_engine::ports::Store;
use frontdesk_engine::ports::registry::Registry;
use frontdesk_store::Backend as _;
use frontdesk_store::audit::AuditReport;
use frontdesk_testkit::store_suite::audit_loss::{self, AttackedStore};
use frontdesk_testkit::store_suite::boats::{boat, done, insert, plan};
use frontdesk_testkit::store_suite::{north, south};
use tokio::task::JoinSet;

use crate::test_store::TestStore;

impl AttackedStore for TestStore {
    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as Arc<_>
    }

    fn registry(&self) -> Arc<dyn Registry> {
        Arc::clone(&self.store) as Arc<_>
    }

    fn sql(&self, text: &str) {
        self.database.sql(text);
    }

    async fn seal(&self) {
        self.store.seal_audit().await.unwrap();
    }

    async fn restart(self) -> TestStore {
        let store = self.neighbour().await;
        TestStore { store, ..self }
    }

    async fn findings(&self) -> Vec<String> {
        shown(&self.verified().await)
    }
}

/// A broken chain as the command shows it, then the findings.
fn shown(report: &AuditReport) -> Vec<String> {
    let broken = report.chains.iter().filter_map(|chain| Some(format!("{} {:?}", chain.chain, chain.broken?)));
    broken.chain(report.findings.iter().map(ToString::to_string)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chain_deleted_with_its_head_is_missed() {
    audit_loss::a_chain_deleted_with_its_head_is_missed(TestStore::new().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_chains_deleted_are_missed() {
    audit_loss::all_chains_deleted_are_missed(TestStore::new().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chain_rolled_back_with_its_old_head_is_found() {
    audit_loss::a_chain_rolled_back_with_its_old_head_is_found(TestStore::new().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chain_rolled_back_and_continued_is_found() {
    audit_loss::a_chain_rolled_back_and_continued_is_found(TestStore::new().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_summary_and_its_entries_cannot_be_edited() {
    audit_loss::the_summary_and_its_entries_cannot_be_edited(TestStore::new().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn access_put_back_whole_is_found() {
    audit_loss::access_put_back_whole_is_found(TestStore::new().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_put_back_whole_are_found() {
    audit_loss::rows_put_back_whole_are_found(TestStore::new().await).await;
}

/// Two nodes write for two tenants and seal all the while.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_seal_at_once_agree() {
    let test = TestStore::new().await;
    let nodes = [Arc::clone(&test.store), test.neighbour().await];
    let mut all = JoinSet::new();
    for (number, node) in nodes.into_iter().enumerate() {
        let sealing = Arc::clone(&node);
        all.spawn(async move {
            for round in 0..20 {
                let id = format!("n{number}-{round}");
                for tenant in [north(), south()] {
                    done(&*node, plan(&id, &tenant, vec![insert(boat(&id, 7))])).await;
                }
            }
        });
        all.spawn(async move {
            for _ in 0..20 {
                sealing.seal_audit().await.unwrap();
            }
        });
    }
    all.join_all().await;
    test.seal().await;
    assert_eq!(test.findings().await, [""; 0]);
    let sealed = test.database.sql("SELECT chain || ' ' || sealed_seq FROM fd_audit_roster ORDER BY chain");
    assert_eq!(sealed, ["tenant:north 40", "tenant:south 40"]);
}
