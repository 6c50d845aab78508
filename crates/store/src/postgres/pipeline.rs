//! Sending several requests back to back on one connection: no other request gets in between, and all results are
//! awaited together.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

pub(crate) type PipelinedRequest<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// tokio-postgres sends a request when it is first polled, and results come in the order of the requests. So all
/// requests are polled once while the send lock is held, and the results are awaited without it. A caller who stops
/// waiting has sent either the whole pipeline or nothing.
pub(crate) async fn send_all<T>(send_lock: &Mutex<()>, requests: Vec<PipelinedRequest<'_, T>>) -> Vec<T> {
    let mut sent: Vec<(Option<T>, PipelinedRequest<'_, T>)> =
        requests.into_iter().map(|request| (None, request)).collect();
    poll_fn(|context| {
        let _lock = send_lock.lock().unwrap_or_else(PoisonError::into_inner);
        for (result, request) in &mut sent {
            if let Poll::Ready(ready) = request.as_mut().poll(context) {
                *result = Some(ready);
            }
        }
        Poll::Ready(())
    })
    .await;
    let mut results = Vec::with_capacity(sent.len());
    for (result, request) in sent {
        results.push(match result {
            Some(result) => result,
            None => request.await,
        });
    }
    results
}

/// Sends one request, but not into the middle of a pipeline.
pub(crate) async fn send<T>(send_lock: &Mutex<()>, request: impl Future<Output = T>) -> T {
    let mut request = pin!(request);
    let mut is_sent = false;
    poll_fn(|context| {
        let _lock = (!is_sent).then(|| send_lock.lock().unwrap_or_else(PoisonError::into_inner));
        is_sent = true;
        request.as_mut().poll(context)
    })
    .await
}

/// Sends a query in a transaction: `begin`, `set_tenant`, the query and `commit` in one pipeline. Only the query's
/// result wakes the caller, because each wake-up costs about as much as the query. The result of `begin` came before
/// it; those of `set_tenant` and `commit` are not awaited.
///
/// The caller must make sure that the query fails if `set_tenant` does, because its result is ignored.
pub(crate) async fn send_in_tx<T, E>(
    send_lock: &Mutex<()>,
    begin: impl Future<Output = Result<(), E>>,
    set_tenant: impl Future,
    query: impl Future<Output = Result<T, E>>,
    commit: impl Future,
) -> Result<T, E> {
    let mut begin = pin!(begin);
    let mut query = pin!(query);
    let mut begun = None;
    let mut result = None;
    {
        let (mut set_tenant, mut commit) = (pin!(set_tenant), pin!(commit));
        poll_fn(|context| {
            let mut no_wakeup = Context::from_waker(Waker::noop());
            let _lock = send_lock.lock().unwrap_or_else(PoisonError::into_inner);
            begun = ready(begin.as_mut().poll(&mut no_wakeup));
            let _ = set_tenant.as_mut().poll(&mut no_wakeup);
            result = ready(query.as_mut().poll(context));
            let _ = commit.as_mut().poll(&mut no_wakeup);
            Poll::Ready(())
        })
        .await;
        // The connection discards the results of requests that were dropped.
    }
    let result = match result {
        Some(result) => result,
        None => query.await,
    };
    match begun {
        Some(begun) => begun?,
        None => begin.await?,
    }
    result
}

fn ready<T>(poll: Poll<T>) -> Option<T> {
    match poll {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}
