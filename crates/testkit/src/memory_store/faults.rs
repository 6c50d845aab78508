//! What a test can make go wrong in a `MemoryStore`.

use std::sync::Arc;
use std::time::Duration;

use frontdesk_engine::ports::StoredAnswer;
use frontdesk_engine::{Fault, FaultKind};
use tokio::sync::Semaphore;

#[derive(Default, Clone)]
pub struct InjectedFaults {
    pub reads: InjectedFault,
    /// Looking up one row of the table of this name.
    pub reads_of: Option<(&'static str, InjectedFault)>,
    pub commits: InjectedFault,
    pub(super) commit_permits: Option<Arc<Semaphore>>,
    /// From the last of so many commits on, all fail.
    pub commits_left: Option<usize>,
    pub records: InjectedFault,
    pub registry: InjectedFault,
    /// So many commits end with a version conflict.
    pub stale_commits: usize,
    /// So many look-ups of a key find nothing, as if another call had not committed yet.
    pub hidden_claims: usize,
    /// The next commit loses against a call that claimed its key with this.
    pub rival_claim: Option<StoredAnswer>,
    /// The next commit is not finished in time.
    pub unknown_commit: bool,
    /// Happens to the client just before its next token is stored, as another process could cause it.
    pub before_token: Option<ClientChange>,
}

/// A change of a client by another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientChange {
    Revoked,
    Rotated([u8; 32]),
}

impl InjectedFaults {
    pub(super) fn count_commit(&mut self) {
        self.stale_commits = self.stale_commits.saturating_sub(1);
        self.rival_claim = None;
        self.unknown_commit = false;
        self.commits_left = self.commits_left.map(|left| left.saturating_sub(1));
    }
}

/// How an operation goes wrong.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub enum InjectedFault {
    #[default]
    None,
    Fail,
    /// More is stored than may be.
    Full,
    Hang,
    Delay(Duration),
}

impl InjectedFault {
    pub(super) async fn happen(self) -> Result<(), Fault> {
        match self {
            InjectedFault::None => Ok(()),
            InjectedFault::Fail => Err(Fault::unavailable(Self::CAUSE)),
            InjectedFault::Full => Err(Fault::new(FaultKind::QuotaExceeded, "The quota is used up.")),
            InjectedFault::Hang => std::future::pending().await,
            InjectedFault::Delay(time) => {
                tokio::time::sleep(time).await;
                Ok(())
            }
        }
    }

    /// The cause that an injected failure has in the log.
    pub const CAUSE: &'static str = "injected failure";
}
