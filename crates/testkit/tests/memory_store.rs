//! The store in memory passes the suite that the databases pass, so that a test on it says something about them.

use std::sync::Arc;

use frontdesk_testkit::MemoryStore;
use frontdesk_testkit::store_suite::{StoreInspector, StoreUnderTest, tenants};

async fn subject() -> StoreUnderTest {
    let store = Arc::new(MemoryStore::default());
    store.inspect(|state| state.tenants.extend(tenants()));
    let peek = Arc::new(Inspected(Arc::clone(&store)));
    let (deleting, erasing) = (Arc::clone(&store), Arc::clone(&store));
    StoreUnderTest {
        store: Arc::clone(&store) as Arc<_>,
        logins: Arc::clone(&store) as Arc<_>,
        registry: store,
        delete_rows: Box::new(move |kind, column, before| {
            deleting.delete_rows(kind, column, before);
            Box::pin(async { Ok(()) })
        }),
        erase_answers: Box::new(move |tenant, ids| {
            let erased = erasing.erase_answers(&tenant, &ids);
            Box::pin(async move { Ok(erased) })
        }),
        peek,
    }
}

struct Inspected(Arc<MemoryStore>);

impl StoreInspector for Inspected {
    fn outbox(&self, tenant: &str) -> Vec<String> {
        self.0.inspect(|state| {
            let own = state.events.iter().filter(|stored| stored.tenant == tenant);
            own.map(|stored| {
                let event = &stored.event;
                format!("{} {} {} {} {}", stored.sequence, stored.id, event.kind, event.id, event.change.as_str())
            })
            .collect()
        })
    }

    fn audit(&self, tenant: &str) -> Vec<String> {
        self.0.inspect(|state| {
            let own = state.audit.iter().filter(|(owner, _)| owner == tenant);
            own.map(|(_, record)| record.clone()).collect()
        })
    }

    fn node(&self) -> Vec<String> {
        self.0.records()
    }

    fn administration(&self) -> Vec<String> {
        self.0.administration()
    }
}

frontdesk_testkit::every_behaviour!(subject);
