//! MCP over standard input and output: one message a line, for the one caller that started the process.
//! Nothing but messages may ever be written to standard output.

mod lines;
mod message;
mod pass;

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, PoisonError};

use frontdesk_engine::model::incoming::{Incoming, RequestBody, Verb};
use frontdesk_engine::{Fault, FaultKind, serve};
use frontdesk_wire::frame::Id;
use frontdesk_wire::version::Version;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::house::House;
use crate::http::most;
use crate::net::Shutdown;
use lines::{Input, Line, Output};
use message::{Kind, Message};
pub use pass::Pass;

/// So many requests at a time; further ones are read when one has been answered.
const MOST: usize = 64;

/// Answers until the input ends or the process is asked to; what is running then is finished.
pub async fn converse(house: Arc<House>, mount: usize, pass: Pass, shutdown: Shutdown) {
    let mut input = Input::open(most_bytes(&house, mount));
    let output = Arc::new(Output::open());
    let running = Arc::new(Running::default());
    let mut conversation = Conversation { house, mount, pass, agreed: None, running };
    let mut answers = JoinSet::new();
    loop {
        while answers.len() >= MOST {
            answers.join_next().await;
        }
        let line = tokio::select! {
            () = shutdown.requested() => break,
            line = input.next() => line,
            Some(_answered) = answers.join_next() => continue,
        };
        match line {
            None => break,
            Some(_) if output.is_closed() => break,
            Some(line) => {
                let answer = conversation.take(line).await;
                let output = Arc::clone(&output);
                answers.spawn(async move {
                    if let Some(text) = answer.await {
                        output.write(text);
                    }
                });
            }
        }
    }
    let finished = async { while answers.join_next().await.is_some() {} };
    let _ = timeout(conversation.house.config.deadlines.drain, finished).await;
    answers.shutdown().await;
    // The last one to hold it: what was written is flushed before the process ends.
    drop(output);
}

/// As much as over HTTPS: where a server takes more than others, that much is read.
fn most_bytes(house: &House, mount: usize) -> usize {
    house.mounts.get(mount).map_or(house.config.limits.body_bytes, |(_, mount)| most(&house.config, mount))
}

struct Conversation {
    house: Arc<House>,
    mount: usize,
    pass: Pass,
    /// What the handshake, if there was one, has agreed on. It takes the place of the header of HTTP.
    agreed: Option<Version>,
    running: Arc<Running>,
}

impl Conversation {
    /// What is to be answered, not answered yet.
    async fn take(&mut self, line: Line) -> impl Future<Output = Option<Vec<u8>>> + Send + 'static {
        let message = match &line {
            Line::Whole(bytes) => Message::read(bytes, &mut self.agreed),
            Line::TooLong => Message::unread(self.agreed),
        };
        let entry = match &message.kind {
            Kind::Request(id) => Some(Running::enter(&self.running, id)),
            Kind::Withdrawal(id) => {
                self.running.withdraw(id);
                None
            }
            Kind::Notice | Kind::Other => None,
        };
        let most = most_bytes(&self.house, self.mount);
        let incoming = Incoming {
            verb: Verb::Post,
            credential: self.pass.credential().await,
            protocol_version: message.headers.version,
            method_header: message.headers.method,
            name_header: message.headers.name,
            idempotency_key: None,
            transport_fault: None,
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            trace: self.house.desk.new_trace(),
            body: match line {
                Line::Whole(bytes) => RequestBody::from_bytes(bytes),
                Line::TooLong => RequestBody::from_future(async move {
                    Err(Fault::new(FaultKind::TooLarge, format!("The message is larger than {most} bytes.")))
                }),
            },
        };
        let (house, at) = (Arc::clone(&self.house), self.mount);
        async move {
            let (_, mount) = house.mounts.get(at)?;
            let reply = serve(&house.desk, mount, incoming).await;
            match &entry {
                // Whoever has withdrawn a request is not told how it ended.
                Some(entry) if entry.is_withdrawn() => None,
                Some(_) | None => message::line(reply, &message.kind),
            }
        }
    }
}

/// The requests that are being answered, and whether their caller still wants to know.
#[derive(Default)]
struct Running(Mutex<HashMap<Id, Withdrawn>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Withdrawn {
    Yes,
    No,
}

/// A request's place among those running; leaving it is automatic.
struct Entry {
    running: Arc<Running>,
    id: Id,
}

impl Running {
    fn enter(running: &Arc<Running>, id: &Id) -> Entry {
        running.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), Withdrawn::No);
        Entry { running: Arc::clone(running), id: id.clone() }
    }

    fn withdraw(&self, id: &Id) {
        if let Some(withdrawn) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get_mut(id) {
            *withdrawn = Withdrawn::Yes;
        }
    }
}

impl Entry {
    fn is_withdrawn(&self) -> bool {
        let running = self.running.0.lock().unwrap_or_else(PoisonError::into_inner);
        running.get(&self.id) == Some(&Withdrawn::Yes)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.running.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}
