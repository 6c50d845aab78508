//! Sending several requests back to back on one connection. Nothing of anybody else gets in between, and
//! there is one wait for all the answers.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

pub(crate) type Request<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A request of this client library is on its way once it was polled for the first time; answers come in the
/// order of the requests. So the first polls are made together, holding the connection's turn, and the answers
/// are awaited without it. A caller who stops waiting leaves a whole flight behind, not half of one.
pub(crate) async fn fly<T>(turn: &Mutex<()>, requests: Vec<Request<'_, T>>) -> Vec<T> {
    let mut sent: Vec<(Option<T>, Request<'_, T>)> = requests.into_iter().map(|request| (None, request)).collect();
    poll_fn(|context| {
        let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
        for (answer, request) in &mut sent {
            if let Poll::Ready(ready) = request.as_mut().poll(context) {
                *answer = Some(ready);
            }
        }
        Poll::Ready(())
    })
    .await;
    let mut answers = Vec::with_capacity(sent.len());
    for (answer, request) in sent {
        answers.push(match answer {
            Some(answer) => answer,
            None => request.await,
        });
    }
    answers
}

/// One request, which must not get into the middle of somebody's flight.
pub(crate) async fn fly_alone<T>(turn: &Mutex<()>, request: impl Future<Output = T>) -> T {
    let mut request = pin!(request);
    let mut is_sent = false;
    poll_fn(|context| {
        let _turn = (!is_sent).then(|| turn.lock().unwrap_or_else(PoisonError::into_inner));
        is_sent = true;
        request.as_mut().poll(context)
    })
    .await
}

/// A read between what opens and what closes it, all four sent back to back. Only the answer to the question
/// wakes whoever waits: each of the others would cost as much as the question itself. `open` is looked at
/// when the answer is there, since it came before; `name` and `close` are not waited for.
///
/// Whoever passes a `name` must know that the question fails if it did: nobody hears its answer.
pub(crate) async fn fly_enclosed<T, E>(
    turn: &Mutex<()>,
    open: impl Future<Output = Result<(), E>>,
    name: impl Future,
    question: impl Future<Output = Result<T, E>>,
    close: impl Future,
) -> Result<T, E> {
    let mut open = pin!(open);
    let mut question = pin!(question);
    let mut opened = None;
    let mut answer = None;
    {
        let (mut name, mut close) = (pin!(name), pin!(close));
        poll_fn(|context| {
            let mut unheard = Context::from_waker(Waker::noop());
            let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
            opened = ready(open.as_mut().poll(&mut unheard));
            let _ = name.as_mut().poll(&mut unheard);
            answer = ready(question.as_mut().poll(context));
            let _ = close.as_mut().poll(&mut unheard);
            Poll::Ready(())
        })
        .await;
        // The connection throws away answers that nobody can receive any more.
    }
    let answer = match answer {
        Some(answer) => answer,
        None => question.await,
    };
    match opened {
        Some(opened) => opened?,
        None => open.await?,
    }
    answer
}

fn ready<T>(poll: Poll<T>) -> Option<T> {
    match poll {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}
