//! A tool that watches a loan, which a test moves on as it likes, and a caller who listens to it.

use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use frontdesk_engine::desk::Streaming;
use frontdesk_engine::model::event_sink::{EventSource, StreamHead, event_slot};
use frontdesk_engine::model::incoming::{Incoming, Listening};
use frontdesk_engine::model::reply::Reply;
use frontdesk_engine::model::tool::{Future, Item, Outcome, Progress, Run, WatchReport, WatchState, WatchTool};
use frontdesk_engine::{Fault, Permitted, TenantId, serve};

use super::requests::{post, rpc};
use super::{TestDesk, library};

pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Looks only when something changes: every other reason is a minute away.
pub(crate) const ON_CHANGE: Streaming =
    Streaming { time: LONG, longest_pause: LONG, shortest_pause: Duration::ZERO, heartbeat: LONG };

/// The loan that is watched.
#[derive(Default)]
pub(crate) struct Loan {
    /// How far it has come, of three; it ends there.
    done: Mutex<u32>,
    fault: Mutex<Option<Fault>>,
    pub(crate) looks: AtomicUsize,
}

impl Loan {
    pub(crate) fn looks(&self) -> usize {
        self.looks.load(Ordering::SeqCst)
    }
}

struct WatchLoan(Arc<Loan>);

impl WatchTool for WatchLoan {
    fn observe<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<WatchReport, Fault>> {
        Box::pin(async move {
            self.0.looks.fetch_add(1, Ordering::SeqCst);
            if let Some(fault) = self.0.fault.lock().unwrap().clone() {
                return Err(fault);
            }
            let (id, done) = (permitted.input().text("id").unwrap().to_owned(), *self.0.done.lock().unwrap());
            Ok(WatchReport {
                outcome: Outcome::One(Item {
                    body: format!("{{\"id\":\"{id}\",\n\"done\":{done}}}"),
                    id,
                    version: 0,
                    masked: None,
                    personal: None,
                }),
                progress: Progress { done, total: 3, message: format!("Step {done}") },
                state: if done < 3 { WatchState::Open } else { WatchState::Ended },
            })
        })
    }
}

/// A library where `book.watch` can be called.
pub(crate) struct WatchDesk {
    pub(crate) test: Arc<TestDesk>,
    pub(crate) loan: Arc<Loan>,
}

impl WatchDesk {
    pub(crate) fn new(streaming: Streaming) -> WatchDesk {
        WatchDesk::on(TestDesk::stocked(), streaming)
    }

    pub(crate) fn on(test: TestDesk, streaming: Streaming) -> WatchDesk {
        let loan = Arc::new(Loan::default());
        let mut contract = library::contract();
        let get = contract.tools.iter().find(|tool| tool.spec.name == "book.get").unwrap().clone();
        let mut watch = get;
        watch.spec.name = "book.watch";
        watch.run = Run::watch(WatchLoan(Arc::clone(&loan)));
        contract.tools.push(watch);
        let test = test.under(contract);
        let test = TestDesk { mount: test.mount.with_streaming(streaming), ..test };
        WatchDesk { test: Arc::new(test), loan }
    }

    /// The loan comes so far, and whoever waits for changes is woken.
    pub(crate) fn moves_to(&self, done: u32) {
        *self.loan.done.lock().unwrap() = done;
        self.note();
    }

    /// How far the loan has come; nobody is told of a change.
    pub(crate) fn loan_done(&self) -> std::sync::MutexGuard<'_, u32> {
        self.loan.done.lock().unwrap()
    }

    /// The next look fails.
    pub(crate) fn fails(&self, fault: Fault) {
        *self.loan.fault.lock().unwrap() = Some(fault);
        self.note();
    }

    pub(crate) fn note(&self) {
        self.test.desk.changes.note(&TenantId::parse("north").unwrap());
    }

    /// A call by somebody who listens as long as the mount allows.
    pub(crate) fn listen(&self, who: &str, id: &str, meta: &str) -> Stream {
        self.listen_with(post(who, &watch(id, meta)))
    }

    pub(crate) fn listen_with(&self, incoming: Incoming) -> Stream {
        let (sink, source) = event_slot();
        let (test, incoming) = (Arc::clone(&self.test), Incoming { listening: Listening::Held(sink), ..incoming });
        let call = Box::pin(async move { serve(&test.desk, &test.mount, incoming).await });
        Stream { call: Some(call), source, head: None, last: None, reply: None }
    }
}

pub(crate) fn watch(id: &str, meta: &str) -> String {
    let meta = if meta.is_empty() { String::new() } else { format!(r#","_meta":{{{meta}}}"#) };
    rpc(id, "tools/call", &format!(r#"{{"name":"book.watch","arguments":{{"id":"b1"}}{meta}}}"#))
}

/// Somebody who listens; dropping it closes the connection.
pub(crate) struct Stream {
    call: Option<Future<'static, Reply>>,
    source: EventSource,
    pub(crate) head: Option<StreamHead>,
    /// What it ends with, before it is read.
    last: Option<Bytes>,
    /// What the call has ended with.
    pub(crate) reply: Option<Reply>,
}

impl Stream {
    /// The next event; none when the stream has ended.
    pub(crate) async fn next(&mut self) -> Option<String> {
        let event = poll_fn(|context| {
            loop {
                if let Some(event) = self.source.take_event() {
                    return Poll::Ready(Some(event));
                }
                let Some(call) = &mut self.call else {
                    return Poll::Ready(self.last.take());
                };
                let polled = call.as_mut().poll(context);
                self.head = self.head.take().or(self.source.take_head());
                match (polled, self.source.take_event()) {
                    (Poll::Ready(reply), event) => {
                        self.call = None;
                        self.last = Some(reply.body.clone()).filter(|body| !body.is_empty());
                        self.reply = Some(reply);
                        if event.is_some() {
                            return Poll::Ready(event);
                        }
                    }
                    (Poll::Pending, Some(event)) => return Poll::Ready(Some(event)),
                    (Poll::Pending, None) => return Poll::Pending,
                }
            }
        });
        let event = tokio::time::timeout(LONG / 2, event).await.unwrap();
        event.map(|event| String::from_utf8(event.to_vec()).unwrap())
    }

    /// Lets the call go on until it waits for something.
    pub(crate) async fn settle(&mut self) {
        let call = self.call.as_mut().unwrap();
        assert!(poll_fn(|context| Poll::Ready(call.as_mut().poll(context).is_pending())).await, "it has ended");
    }

    /// Lets the call go on until it has looked so often.
    pub(crate) async fn until_looked(&mut self, loan: &Loan, looks: usize) {
        while loan.looks() < looks {
            self.settle().await;
            tokio::task::yield_now().await;
        }
        assert!(self.source.take_event().is_none(), "it has something to tell");
    }
}
