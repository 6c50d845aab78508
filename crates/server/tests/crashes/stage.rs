//! A desk with three dealerships on either database, the lines to it, and repeating orders until they are answered.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::task::JoinSet;

use frontdesk_testkit::app::{EVERYTHING, TestAgent, TestApp};
use frontdesk_testkit::databases::{PostgresServer, WalSync};

use super::line::{Answer, Line};
use super::order_log::{Order, OrderLog};
use super::tables::Database;

/// Room for thousands of calls from one address.
const UNHURRIED: [(&str, &str); 3] = [
    ("FRONTDESK_LIMITS_CALLS_PER_MINUTE", "10000000"),
    ("FRONTDESK_LIMITS_BURST", "1000000"),
    ("FRONTDESK_LIMITS_TOKEN_REQUESTS_PER_MINUTE", "1000000"),
];

pub(crate) struct Stage {
    pub(crate) desk: TestApp,
    pub(crate) database: Database,
    third: (String, String),
    tokens: Vec<String>,
    customers: Vec<Arc<[String]>>,
}

impl Stage {
    pub(crate) async fn embedded() -> Stage {
        Stage::before(TestApp::start_with(&UNHURRIED), Database::Embedded).await
    }

    /// A write beyond a limit on the size of files then fails instead of ending the desk.
    pub(crate) async fn embedded_and_limitable() -> Stage {
        Stage::before(TestApp::start_after("trap '' XFSZ", &UNHURRIED), Database::Embedded).await
    }

    pub(crate) async fn on_postgres() -> Stage {
        Stage::on_postgres_with(PostgresServer::start_with(WalSync::On, &[]), &[]).await
    }

    pub(crate) async fn on_postgres_with(server: PostgresServer, settings: &[(&str, &str)]) -> Stage {
        let url = server.url();
        let settings = [&UNHURRIED, settings, &[("FRONTDESK_DATABASE", &url)]].concat();
        Stage::before(TestApp::start_with(&settings), Database::Postgres(server)).await
    }

    async fn before(desk: TestApp, database: Database) -> Stage {
        let third = desk.add_client(&["dlr_third"], EVERYTHING);
        let mut stage = Stage { desk, database, third, tokens: Vec::new(), customers: Vec::new() };
        for mut agent in stage.agents().await {
            let known = agent.all("customers.list", json!({"limit": 100})).await;
            stage.customers.push(known.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect());
            stage.tokens.push(agent.token);
        }
        stage
    }

    /// The desk is killed in the middle of whatever it does, and started again on what it left.
    pub(crate) async fn kill_the_desk(mut self) -> Stage {
        self.desk = self.desk.crash_and_restart();
        self.renew().await;
        self
    }

    /// As `kill_the_desk`; this is done before it is started again.
    pub(crate) async fn kill_the_desk_and(mut self, meanwhile: impl FnOnce()) -> Stage {
        self.desk.signal("KILL");
        self.desk.wait();
        meanwhile();
        self.desk = self.desk.start_again();
        self.renew().await;
        self
    }

    /// New tokens: those of a desk that was started again are bound to its old port, and every token ends.
    pub(crate) async fn renew(&mut self) {
        self.tokens = self.agents().await.into_iter().map(|agent| agent.token).collect();
    }

    /// The settings of the desk, for a command that works on the same data.
    pub(crate) fn settings(&self) -> Vec<(String, String)> {
        match &self.database {
            Database::Embedded => Vec::new(),
            Database::Postgres(server) => vec![("FRONTDESK_DATABASE".to_owned(), server.url())],
        }
    }

    pub(crate) fn dealerships(&self) -> usize {
        self.tokens.len()
    }

    pub(crate) fn line(&self, dealership: usize) -> Line {
        Line::new(self.desk.stranger(), &self.tokens[dealership])
    }

    pub(crate) fn customers(&self, dealership: usize) -> Arc<[String]> {
        Arc::clone(&self.customers[dealership])
    }

    pub(crate) async fn agents(&self) -> [TestAgent; 3] {
        [
            self.desk.agent().await,
            self.desk.other_tenant().await,
            self.desk.agent_of_client(&self.third, EVERYTHING).await,
        ]
    }

    /// Sends every order again, several at a time, until each is answered.
    pub(crate) async fn repeat(&self, orders: Vec<Order>, ledger: OrderLog) -> OrderLog {
        const LINES: usize = 4;
        let ledger = Arc::new(Mutex::new(ledger));
        let mut repeating = JoinSet::new();
        for dealership in 0..self.dealerships() {
            for part in 0..LINES {
                let mine = orders.iter().filter(|order| order.dealership == dealership).skip(part).step_by(LINES);
                let mine: Vec<Order> = mine.cloned().collect();
                if !mine.is_empty() {
                    repeating.spawn(insist(self.line(dealership), mine, Arc::clone(&ledger)));
                }
            }
        }
        repeating.join_all().await;
        std::mem::take(&mut *ledger.lock().unwrap())
    }
}

async fn insist(mut line: Line, orders: Vec<Order>, ledger: Arc<Mutex<OrderLog>>) {
    for order in orders {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            match line.call(order.tool, &order.arguments).await {
                Answer::Done(text) => break ledger.lock().unwrap().answer(order.key(), &text),
                Answer::Later(why) => assert!(Instant::now() < until, "{}: {why}", order.key()),
                Answer::Cut => panic!("{}: the desk is gone", order.key()),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
