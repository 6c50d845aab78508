//! Mixed work on many connections: orders under keys, changes of what was just made, readers in between, and pairs
//! that send the same order at the same time.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use frontdesk_testkit::TestRandom;

use super::line::{Answer, Line};
use super::order_log::{Order, OrderLog};
use super::stage::Stage;

const WORKERS: usize = 15;
const PAIRS: usize = 3;

/// How many ended in which way, once nobody works any more.
#[derive(Default, Debug)]
pub(crate) struct Ends {
    pub(crate) cut: usize,
    pub(crate) later: usize,
}

pub(crate) struct Load {
    book: Arc<Book>,
    crew: JoinSet<End>,
}

/// What all of them write into.
#[derive(Default)]
struct Book {
    order_log: Mutex<OrderLog>,
    /// Told of every answer.
    answered: Notify,
}

enum End {
    Cut,
    Later,
}

impl Load {
    /// Everybody works until there is an answer that is none.
    pub(crate) fn start(stage: &Stage, round: u64, random: &TestRandom) -> Load {
        let book: Arc<Book> = Arc::default();
        let mut crew = JoinSet::new();
        for number in 0..WORKERS {
            let dealership = number % stage.dealerships();
            let worker = Worker {
                line: stage.line(dealership),
                dealership,
                customers: stage.customers(dealership),
                name: format!("round-{round}-worker-{number}"),
                random: random.branch(),
                book: Arc::clone(&book),
            };
            crew.spawn(worker.work());
        }
        for number in 0..PAIRS {
            let dealership = number % stage.dealerships();
            let lines = [stage.line(dealership), stage.line(dealership)];
            crew.spawn(race(lines, dealership, format!("round-{round}-pair-{number}"), Arc::clone(&book)));
        }
        Load { book, crew }
    }

    /// Waits for the answer of this number.
    pub(crate) async fn answers(&self, number: usize) {
        while self.book.order_log.lock().unwrap().answered() < number {
            self.book.answered.notified().await;
        }
    }

    /// Waits until everybody has noticed.
    pub(crate) async fn end(self) -> (OrderLog, Ends) {
        let mut ends = Ends::default();
        for end in self.crew.join_all().await {
            match end {
                End::Cut => ends.cut += 1,
                End::Later => ends.later += 1,
            }
        }
        (std::mem::take(&mut *self.book.order_log.lock().unwrap()), ends)
    }
}

struct Worker {
    line: Line,
    dealership: usize,
    customers: Arc<[String]>,
    name: String,
    random: TestRandom,
    book: Arc<Book>,
}

impl Worker {
    async fn work(mut self) -> End {
        let mut latest: Option<Value> = None;
        for turn in 0_u64.. {
            let key = format!("{}-turn-{turn}", self.name);
            let answer = match (self.random.below(100), &latest) {
                (60..80, Some(lead)) => {
                    let change = json!({
                        "id": lead["id"], "expected_version": lead["version"], "comments": key, "idempotency_key": key,
                    });
                    order(&mut self.line, &self.book, self.dealership, "leads.update", change).await
                }
                (80..88, _) => read(&mut self.line, "inventory.search", json!({"text": "sunroof", "limit": 5})).await,
                (88..94, _) => read(&mut self.line, "leads.list", json!({"email": EMAIL, "limit": 5})).await,
                (94.., Some(lead)) => {
                    let got = read(&mut self.line, "leads.get", json!({"id": lead["id"]})).await;
                    if let Ok(Some(got)) = &got {
                        assert_eq!(got, lead, "what was answered is what is read");
                    }
                    got.map(|_| None)
                }
                (45..60, _) if !self.customers.is_empty() => {
                    let mut lead = lead(&key);
                    lead["customer_id"] = json!(self.random.pick(&self.customers));
                    order(&mut self.line, &self.book, self.dealership, "leads.create", lead).await
                }
                (_, _) => order(&mut self.line, &self.book, self.dealership, "leads.create", lead(&key)).await,
            };
            match answer {
                Ok(None) => {}
                Ok(Some(lead)) if lead.get("version").is_some() => latest = Some(lead),
                Ok(Some(_)) => {}
                Err(end) => return end,
            }
        }
        End::Cut
    }
}

/// The same order on two connections at once, again and again.
async fn race(lines: [Line; 2], dealership: usize, name: String, book: Arc<Book>) -> End {
    let [mut one, mut other] = lines;
    for turn in 0_u64.. {
        let wanted = lead(&format!("{name}-turn-{turn}"));
        let (first, second) = tokio::join!(
            order(&mut one, &book, dealership, "leads.create", wanted.clone()),
            order(&mut other, &book, dealership, "leads.create", wanted),
        );
        if let Err(end) = first.and(second) {
            return end;
        }
    }
    End::Cut
}

async fn order(
    line: &mut Line,
    book: &Book,
    dealership: usize,
    tool: &'static str,
    arguments: Value,
) -> Result<Option<Value>, End> {
    let order = Order { dealership, tool, arguments };
    book.order_log.lock().unwrap().send(&order);
    match line.call(tool, &order.arguments).await {
        Answer::Done(text) => {
            book.order_log.lock().unwrap().answer(order.key(), &text);
            book.answered.notify_one();
            Ok(Some(serde_json::from_str(&text).unwrap()))
        }
        Answer::Later(_) => Err(End::Later),
        Answer::Cut => Err(End::Cut),
    }
}

async fn read(line: &mut Line, tool: &str, arguments: Value) -> Result<Option<Value>, End> {
    match line.call(tool, &arguments).await {
        Answer::Done(text) => Ok(Some(serde_json::from_str(&text).unwrap())),
        Answer::Later(_) => Err(End::Later),
        Answer::Cut => Err(End::Cut),
    }
}

const EMAIL: &str = "dana.rivera@example.com";

pub(crate) fn lead(key: &str) -> Value {
    json!({
        "contact": {"name": "Dana Rivera", "email": EMAIL},
        "interest": "buy",
        "consent": {"granted": true, "channels": ["email"]},
        "idempotency_key": key,
    })
}
