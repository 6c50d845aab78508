//! Whether the writer lives and the disk takes what it writes, and how busy it is.

use frontdesk_engine::Fault;
use tokio::sync::oneshot;

use super::SqliteStore;
use super::writer::Job;
use crate::Load;

impl SqliteStore {
    pub fn load(&self) -> Load {
        self.writer.load()
    }

    /// Commits something that changes nothing, through the same thread and to the same disk as everything
    /// else. A transaction without a write would not notice a full disk.
    pub async fn writable(&self) -> Result<(), Fault> {
        let (answer, waiting) = oneshot::channel();
        let task = Box::new(|scribe: &mut super::apply::Scribe<'_>| {
            let version: i64 = scribe.connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
            Ok(scribe.connection.pragma_update(None, "user_version", version)?)
        });
        self.writer.send(Job::Task(task, answer))?;
        Ok(self.settled(waiting).await?)
    }
}
