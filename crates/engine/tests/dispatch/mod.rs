//! Dispatched messages, answered at once and later.

mod later;
mod now;
mod recovering;
mod servers;
mod validation;

use std::sync::Arc;
use std::time::Duration;

use frontdesk_engine::desk::Mount;
use frontdesk_engine::dispatch::{
    DeskSource, DispatchConfig, DispatchMode, DispatchPreference, OnQueueFull, TASK, run_worker,
};
use frontdesk_engine::model::incoming::Incoming;
use frontdesk_engine::model::table::{Cell, Row};
use frontdesk_engine::{Desk, TenantId, dispatch};
use tokio::task::JoinHandle;

use crate::support::requests::{call, keyed, post};
use crate::support::{TestDesk, TestReply, eventually};

pub(crate) const RETAIN: Duration = Duration::from_secs(86_400);

impl DeskSource for TestDesk {
    fn desk(&self) -> &Desk {
        &self.desk
    }

    fn mounts(&self) -> Vec<&Mount> {
        vec![&self.mount]
    }
}

/// The stocked library, which takes dispatched messages for its north branch.
pub(crate) fn office(when: DispatchMode, full: OnQueueFull) -> TestDesk {
    TestDesk::stocked().taking("desk", when, full)
}

impl TestDesk {
    /// Takes dispatched messages as the server of this name.
    pub(crate) fn taking(self, server: &str, when: DispatchMode, full: OnQueueFull) -> TestDesk {
        let tenant = TenantId::parse("north").unwrap();
        let dispatching = DispatchConfig { tenant, server: server.to_owned(), when, full, retain: RETAIN };
        TestDesk { mount: self.mount.with_dispatch(dispatching), ..self }
    }

    /// As a test renewed from the other: its store, its clock and its queue.
    fn sharing(self, other: &TestDesk) -> TestDesk {
        let test = self.beside(other);
        TestDesk { desk: Desk { task_queue: other.desk.task_queue.clone(), ..test.desk }, ..test }
    }

    /// As another node: the other's store and its clock, and a queue that knows nothing.
    fn beside(self, other: &TestDesk) -> TestDesk {
        let (store, clock) = (Arc::clone(&other.store), Arc::clone(&other.clock));
        let desk = Desk { store: store.clone(), clock: clock.clone(), ..self.desk };
        TestDesk { desk, store, clock, ..self }
    }
}

pub(crate) async fn sent(test: &TestDesk, incoming: Incoming) -> TestReply {
    sent_as(test, DispatchPreference::AsConfigured, incoming).await
}

pub(crate) async fn sent_as(test: &TestDesk, wanted: DispatchPreference, incoming: Incoming) -> TestReply {
    let reply = dispatch(&test.desk, &test.mount, wanted, incoming).await;
    TestReply { status: reply.status, body: String::from_utf8(reply.body.to_vec()).unwrap() }
}

/// A call of this tool under this key, with id 1.
pub(crate) fn letter(who: &str, key: &str, tool: &str, arguments: &str) -> Incoming {
    keyed(key, post(who, &call("1", tool, arguments)))
}

/// Somebody who runs what is accepted, until dropped.
pub(crate) struct Clerk(JoinHandle<()>);

impl Clerk {
    pub(crate) fn of<P: DeskSource>(premises: &Arc<P>) -> Clerk {
        let premises = Arc::clone(premises);
        Clerk(tokio::spawn(run_worker(move || Arc::clone(&premises))))
    }
}

impl Drop for Clerk {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The tasks that are kept.
pub(crate) fn tasks(test: &TestDesk) -> Vec<Row> {
    test.store
        .inspect(|state| state.rows.iter().filter(|(key, _)| key.1 == TASK.name).map(|(_, row)| row.clone()).collect())
}

/// Waits until no task is open any more.
pub(crate) async fn all_done(test: &TestDesk) {
    let is_open = |row: &Row| row.cells.iter().any(|(name, cell)| *name == "open_for" && *cell != Cell::Null);
    eventually(|| !tasks(test).iter().any(is_open)).await;
}

/// How often this tool was called, however that ended.
pub(crate) fn calls(test: &TestDesk, tool: &str) -> usize {
    let named = format!(r#""tool":"{tool}""#);
    test.calls.lines().iter().filter(|line| line.contains(&named)).count()
}
