//! The connections that reads share. A lane that lost its connection makes a new one for whoever comes
//! next, and while that fails it says so at once instead of letting everybody wait.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use tokio::sync::{Mutex, Semaphore};
use tokio_postgres::{Error, Row};

use super::address::Dial;
use super::live::{Live, Values};
use crate::StoreError;

/// So many reads may be under way on the lanes of one kind.
const QUEUE: usize = 1024;
/// A read that ends by itself within this is left to do so when its caller has gone.
const SLOW: Duration = Duration::from_millis(250);
/// After a failed attempt to connect, nobody tries again for so long.
const PAUSE: Duration = Duration::from_millis(200);

pub(crate) struct Lanes {
    lanes: Vec<Lane>,
    next: AtomicUsize,
    room: Semaphore,
}

/// Whose rows a read may see.
#[derive(Clone, Copy)]
pub(crate) enum Seeing<'a> {
    /// Only tables that belong to no tenant.
    Nobodys,
    Tenant(&'a str),
}

impl Lanes {
    pub(crate) fn new(dial: Dial, count: usize) -> Lanes {
        Lanes {
            lanes: (0..count).map(|_| Lane::new(dial.clone())).collect(),
            next: AtomicUsize::new(0),
            room: Semaphore::new(QUEUE),
        }
    }

    /// A read changes nothing, so one that lost its connection, or waits behind one that nobody wants any more, is
    /// sent once more on a new one.
    pub(crate) async fn read(
        &self,
        seeing: Seeing<'_>,
        text: &str,
        values: Values<'_>,
    ) -> Result<Vec<Row>, StoreError> {
        let _room = self.room.try_acquire().map_err(|_| StoreError::Busy)?;
        let number = self.next.fetch_add(1, Ordering::Relaxed) % self.lanes.len().max(1);
        let lane = self.lanes.get(number).ok_or(StoreError::Closed)?;
        let mut waiting = Waiting { lane, live: lane.live().await?, since: Instant::now(), is_answered: false };
        let first = tokio::select! {
            biased;
            outcome = ask(&waiting.live, seeing, text, values) => Some(outcome),
            () = waiting.live.left() => None,
        };
        let outcome = match first {
            Some(Err(error)) if !error.is_closed() => Err(error),
            Some(Ok(rows)) => Ok(rows),
            Some(Err(_)) | None => {
                waiting.live = lane.live().await?;
                // On the new connection it has not waited yet.
                waiting.since = Instant::now();
                ask(&waiting.live, seeing, text, values).await
            }
        };
        waiting.is_answered = true;
        Ok(outcome?)
    }
}

/// Somebody who waits for an answer. If they leave without it and it takes long, nobody else is to wait behind a
/// question that no one asks any more: the connection is left to it, and ended when the others have moved.
struct Waiting<'a> {
    lane: &'a Lane,
    live: Arc<Live>,
    since: Instant,
    is_answered: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if !self.is_answered && self.since.elapsed() > SLOW {
            self.lane.leave(&self.live);
        }
    }
}

async fn ask(live: &Live, seeing: Seeing<'_>, text: &str, values: Values<'_>) -> Result<Vec<Row>, Error> {
    match seeing {
        Seeing::Nobodys => live.query(text, values).await,
        Seeing::Tenant(tenant) => live.query_as(tenant, text, values).await,
    }
}

/// An attempt to connect. If whoever makes it leaves before its end and it took long, it has failed: those who wait
/// for it are told so, instead of each trying as long again.
struct Attempt<'a> {
    failed: &'a mut Option<Instant>,
    since: Instant,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if self.since.elapsed() > SLOW {
            *self.failed = Some(Instant::now());
        }
    }
}

pub(crate) struct Lane {
    dial: Dial,
    live: RwLock<Option<Arc<Live>>>,
    /// When the last attempt to connect failed; held while one is made.
    connecting: Mutex<Option<Instant>>,
}

impl Lane {
    pub(crate) fn new(dial: Dial) -> Lane {
        Lane { dial, live: RwLock::default(), connecting: Mutex::default() }
    }

    pub(crate) async fn live(&self) -> Result<Arc<Live>, StoreError> {
        if let Some(live) = self.current() {
            return Ok(live);
        }
        let mut failed = self.connecting.lock().await;
        if let Some(live) = self.current() {
            return Ok(live);
        }
        if failed.is_some_and(|at| at.elapsed() < PAUSE) {
            return Err(StoreError::Unreachable("the last attempt has just failed".to_owned()));
        }
        let attempt = Attempt { failed: &mut failed, since: Instant::now() };
        let made = Live::connect(&self.dial).await;
        drop(attempt);
        match made {
            Ok(live) => {
                *failed = None;
                let live = Arc::new(live);
                *self.live.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&live));
                Ok(live)
            }
            Err(error) => {
                *failed = Some(Instant::now());
                Err(error)
            }
        }
    }

    /// Lets go of a connection that cannot be trusted any more.
    pub(crate) fn drop_live(&self) {
        *self.live.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Nobody new comes to this connection, and whoever waits on it moves, once.
    fn leave(&self, live: &Arc<Live>) {
        let mut current = self.live.write().unwrap_or_else(PoisonError::into_inner);
        if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, live)) {
            *current = None;
        }
        drop(current);
        live.leave();
    }

    fn current(&self) -> Option<Arc<Live>> {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        live.as_ref().filter(|live| !live.is_closed()).cloned()
    }
}
