//! What somebody who writes to the database, and has no key, can do to the audit record, and what the verification then
//! says. Each attack is tried on every database.

use std::future::Future;
use std::sync::Arc;

use frontdesk_engine::model::plan::{OnConflict, Step};
use frontdesk_engine::model::table::Row;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::Store;
use frontdesk_engine::ports::registry::Registry;

use super::boats::{BOAT, boat, done, insert, plan, update};
use super::north;
use super::registry::{client, id, note, token};

/// A store with the tenants `north` and `south`, and its database as an intruder sees it.
pub trait AttackedStore: Sized {
    fn store(&self) -> Arc<dyn Store>;

    fn registry(&self) -> Arc<dyn Registry>;

    /// Runs statements behind the store's back.
    fn sql(&self, text: &str);

    fn seal(&self) -> impl Future<Output = ()>;

    /// As the server does when it starts again, without what it has in memory.
    fn restart(self) -> impl Future<Output = Self>;

    /// What the verification finds: broken chains, then the rest.
    fn findings(&self) -> impl Future<Output = Vec<String>>;
}

const DELETE_NORTH: &str = "DELETE FROM fd_audit WHERE chain = 'tenant:north'; \
                            DELETE FROM fd_audit_head WHERE chain = 'tenant:north'";
const SAVE: &str = "CREATE TABLE old_audit AS SELECT * FROM fd_audit; CREATE TABLE old_head AS SELECT * FROM fd_audit_head; \
                    CREATE TABLE old_roster AS SELECT * FROM fd_audit_roster; CREATE TABLE old_boat AS SELECT * FROM boat";
const PUT_BACK: &str = "DELETE FROM fd_audit; DELETE FROM fd_audit_head; INSERT INTO fd_audit SELECT * FROM old_audit; \
                        INSERT INTO fd_audit_head SELECT * FROM old_head";
const PUT_ROWS_BACK: &str = "DELETE FROM boat; INSERT INTO boat SELECT * FROM old_boat";
const INCOMPLETE: &str = "the list of chains is not the one that the summary was made of: entries are missing or older";

async fn write(test: &impl AttackedStore, ids: &[&str]) {
    for id in ids {
        done(&*test.store(), plan(id, &north(), vec![insert(boat(id, 7))])).await;
    }
}

/// Two links that the summary has.
async fn sealed(test: &impl AttackedStore) {
    write(test, &["b1", "b2"]).await;
    test.seal().await;
    assert_eq!(test.findings().await, [""; 0]);
}

pub async fn a_chain_deleted_with_its_head_is_missed(test: impl AttackedStore) {
    sealed(&test).await;
    test.sql(DELETE_NORTH);
    let missing = "tenant:north: the chain is missing; it had 2 links";
    assert_eq!(test.findings().await, [missing]);
    // Nor does it help to begin it again.
    let test = test.restart().await;
    write(&test, &["b3", "b4", "b5"]).await;
    test.seal().await;
    let findings = test.findings().await;
    let replaced = "tenant:north: link 2 is another than the sealed one: the chain was rolled back and continued";
    assert_eq!(findings.first().map(String::as_str), Some(replaced), "{findings:?}");
}

pub async fn all_chains_deleted_are_missed(test: impl AttackedStore) {
    sealed(&test).await;
    test.sql("DELETE FROM fd_audit; DELETE FROM fd_audit_head");
    assert_eq!(test.findings().await, ["tenant:north: the chain is missing; it had 2 links"]);
    test.sql("DELETE FROM fd_audit_roster");
    assert_eq!(test.findings().await, [INCOMPLETE]);
    test.sql("DELETE FROM fd_audit_summary");
    assert_eq!(test.findings().await, ["the summary of all chains is missing"]);
    test.sql("DELETE FROM fd_installation");
    let gone = ["the row of the installation is missing", "the summary of all chains is missing"];
    assert_eq!(test.findings().await, gone);
    // The next start does not take what is left for a new installation.
    let test = test.restart().await;
    test.seal().await;
    let remade = "the row of the installation was deleted or changed; the server has made another signing key";
    assert_eq!(test.findings().await, [remade, "the summary of all chains is missing"]);
}

pub async fn a_chain_rolled_back_with_its_old_head_is_found(test: impl AttackedStore) {
    sealed(&test).await;
    test.sql(SAVE);
    write(&test, &["b3", "b4"]).await;
    test.seal().await;
    test.sql(PUT_BACK);
    test.sql(PUT_ROWS_BACK);
    let rolled_back = "tenant:north: the chain ends at link 2, and it had 4 links: it was rolled back";
    assert_eq!(test.findings().await, [rolled_back]);
    // With its entry in the roster, too.
    test.sql("DELETE FROM fd_audit_roster; INSERT INTO fd_audit_roster SELECT * FROM old_roster");
    assert_eq!(test.findings().await, [INCOMPLETE]);
    // What is written and sealed afterwards hides nothing.
    let test = test.restart().await;
    write(&test, &["b5", "b6", "b7"]).await;
    test.seal().await;
    assert_eq!(test.findings().await, [INCOMPLETE]);
}

pub async fn a_chain_rolled_back_and_continued_is_found(test: impl AttackedStore) {
    sealed(&test).await;
    test.sql(SAVE);
    write(&test, &["b3", "b4"]).await;
    test.seal().await;
    test.sql(PUT_BACK);
    test.sql(PUT_ROWS_BACK);
    let test = test.restart().await;
    write(&test, &["b5", "b6", "b7"]).await;
    test.seal().await;
    let replaced = "tenant:north: link 4 is another than the sealed one: the chain was rolled back and continued";
    assert_eq!(test.findings().await, [replaced]);
}

pub async fn the_summary_and_its_entries_cannot_be_edited(test: impl AttackedStore) {
    sealed(&test).await;
    test.sql("UPDATE fd_audit_roster SET sealed_seq = 1 WHERE chain = 'tenant:north'");
    let changed = "tenant:north: its entry is not what was written";
    assert_eq!(test.findings().await.first().map(String::as_str), Some(changed));
    test.sql("UPDATE fd_audit_roster SET sealed_seq = 2 WHERE chain = 'tenant:north'");
    test.sql("UPDATE fd_audit_summary SET count = count + 1");
    assert_eq!(test.findings().await, ["the summary of all chains is not what was written"]);
    test.sql("UPDATE fd_audit_summary SET count = count - 1");
    assert_eq!(test.findings().await, [""; 0]);
}

/// The rows are whole and were valid once: only the audit record shows that they are not the last ones.
pub async fn rows_put_back_whole_are_found(test: impl AttackedStore) {
    write(&test, &["b1", "b2", "b3", "b4"]).await;
    test.sql(SAVE);
    let north = north();
    let row = Row { version: 2, ..boat("b1", 9) };
    done(&*test.store(), plan("up", &north, vec![update(row, 1, OnConflict::Retry)])).await;
    let (id, on_conflict) = ("b2".to_owned(), OnConflict::Retry);
    let remove = Step::Remove { table: &BOAT, id, expect_version: 1, on_conflict };
    done(&*test.store(), plan("gone", &north, vec![remove])).await;
    assert_eq!(test.findings().await, [""; 0]);
    test.sql(
        "DELETE FROM boat WHERE id IN ('b1', 'b3'); INSERT INTO boat SELECT * FROM old_boat WHERE id IN ('b1', 'b2')",
    );
    test.sql("UPDATE old_boat SET id = 'b9', hull = 'hull-b9' WHERE id = 'b4'; INSERT INTO boat SELECT * FROM old_boat WHERE id = 'b9'");
    let expected = [
        "north: boat b1: the row has version 1, and the last audited write made version 2",
        "north: boat b2: the row is there with version 1, and the last audited write removed it",
        "north: boat b9: the row is there with version 1, and no audited write made it",
        "north: boat b3: the row is missing, and no audited write removed it",
    ];
    assert_eq!(test.findings().await, expected);
}

/// Their MACs are right: only the audit record shows that they were revoked.
pub async fn access_put_back_whole_is_found(test: impl AttackedStore) {
    let registry = test.registry();
    registry.add_client(client("agent"), note()).await.unwrap();
    for number in [1, 2] {
        registry.add_token(token(number, "agent", 9_000), Vec::new(), Millis(0), note()).await.unwrap();
    }
    test.sql("CREATE TABLE old_client AS SELECT * FROM fd_client; CREATE TABLE old_token AS SELECT * FROM fd_token");
    registry.revoke_token([1; 32], &id("agent"), note()).await.unwrap();
    registry.revoke_client(&id("agent"), Millis(60), note()).await.unwrap();
    assert_eq!(test.findings().await, [""; 0]);
    test.sql("DELETE FROM fd_client; INSERT INTO fd_client SELECT * FROM old_client");
    test.sql("INSERT INTO fd_token SELECT * FROM old_token");
    let removed = "the row is there with version 1, and the last audited write removed it";
    let expected = [
        "fd_client agent: the row has version 1, and the last audited write made version 2".to_owned(),
        format!("fd_token {}: {removed}", "01".repeat(32)),
        format!("fd_token {}: {removed}", "02".repeat(32)),
    ];
    let mut findings = test.findings().await;
    findings.sort_unstable();
    assert_eq!(findings, expected);
}
