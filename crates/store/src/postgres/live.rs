//! One connection with its prepared statements. Everything sent on it goes through its turn.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Error, NoTls, Row, Statement};

use super::flight::{Request, fly, fly_alone, fly_enclosed};
use super::texts::{BEGIN, BEGIN_READ, COMMIT, TENANT};
use super::values::Bound;
use crate::StoreError;

/// So many prepared statements are kept; filters can be combined in more ways than anybody uses.
const STATEMENTS: usize = 256;

pub(crate) struct Live {
    client: Client,
    /// The statement that names the tenant, which nearly every flight needs.
    tenant: Statement,
    statements: Mutex<HashMap<String, Statement>>,
    turn: Mutex<()>,
}

/// The values of a statement, as the client library wants them.
pub(crate) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

impl Live {
    pub(crate) async fn connect(config: &Config) -> Result<Live, StoreError> {
        let (client, connection) = config.connect(NoTls).await.map_err(StoreError::unreachable)?;
        tokio::spawn(async move {
            // Whoever waits for an answer is told; there is nobody else to tell.
            let _ = connection.await;
        });
        // An answer means that the write is on disk, whatever the server was told.
        let durable = "SELECT set_config('synchronous_commit', 'on', false) \
                       WHERE current_setting('synchronous_commit') = 'off'";
        client.batch_execute(durable).await?;
        let tenant = client.prepare(TENANT).await?;
        Ok(Live { client, tenant, statements: Mutex::default(), turn: Mutex::default() })
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Runs statements without values or results.
    pub(crate) async fn batch(&self, text: &str) -> Result<(), Error> {
        self.alone(self.client.batch_execute(text)).await
    }

    pub(crate) async fn query(&self, text: &str, values: Values<'_>) -> Result<Vec<Row>, Error> {
        let statement = self.prepared(text).await?;
        self.alone(self.client.query(&statement, values)).await
    }

    pub(crate) async fn execute(&self, text: &str, values: Values<'_>) -> Result<u64, Error> {
        let statement = self.prepared(text).await?;
        self.alone(self.client.execute(&statement, values)).await
    }

    /// Reads as one tenant: the transaction, the tenant's name and the question travel together, so the
    /// name can hold for no other question.
    pub(crate) async fn query_as(&self, tenant: &str, text: &str, values: Values<'_>) -> Result<Vec<Row>, Error> {
        let statement = self.prepared(text).await?;
        let name: Values<'_> = &[&tenant];
        // A name that was not taken ends the transaction, and the question with it.
        fly_enclosed(
            &self.turn,
            self.client.batch_execute(BEGIN_READ),
            self.client.query(&self.tenant, name),
            self.client.query(&statement, values),
            self.client.batch_execute(COMMIT),
        )
        .await
    }

    /// Begins to write as one tenant and asks these questions about it, all in one flight.
    pub(crate) async fn begin_as(
        &self,
        tenant: &str,
        questions: &[(&str, Values<'_>)],
    ) -> Result<Vec<Vec<Row>>, Error> {
        let mut statements = Vec::with_capacity(questions.len());
        for (text, values) in questions {
            statements.push((self.prepared(text).await?, *values));
        }
        let tenant: Values<'_> = &[&tenant];
        let mut requests: Vec<Request<'_, Result<Vec<Row>, Error>>> =
            vec![self.said(BEGIN), Box::pin(self.client.query(&self.tenant, tenant))];
        for (statement, values) in &statements {
            requests.push(Box::pin(self.client.query(statement, values)));
        }
        let answers: Result<Vec<_>, _> = fly(&self.turn, requests).await.into_iter().collect();
        Ok(answers?.split_off(2))
    }

    /// Sends changes in one flight, after `first` if there is any; each answer is the number of rows it met.
    pub(crate) async fn change_all(
        &self,
        first: Option<&str>,
        changes: &[(&str, &[Bound])],
    ) -> Result<Vec<Result<u64, Error>>, Error> {
        let mut statements = Vec::with_capacity(changes.len());
        for (text, values) in changes {
            statements.push((self.prepared(text).await?, *values));
        }
        let mut requests: Vec<Request<'_, Result<u64, Error>>> = Vec::with_capacity(changes.len() + 1);
        if let Some(first) = first {
            requests.push(Box::pin(async move { self.client.batch_execute(first).await.map(|()| 0) }));
        }
        for (statement, values) in &statements {
            requests.push(Box::pin(self.client.execute_raw(statement, values.iter())));
        }
        let mut answers = fly(&self.turn, requests).await.into_iter();
        if first.is_some() {
            answers.next().transpose()?;
        }
        Ok(answers.collect())
    }

    async fn prepared(&self, text: &str) -> Result<Statement, Error> {
        if let Some(known) = self.statements.lock().unwrap_or_else(PoisonError::into_inner).get(text) {
            return Ok(known.clone());
        }
        let made = self.alone(self.client.prepare(text)).await?;
        let mut statements = self.statements.lock().unwrap_or_else(PoisonError::into_inner);
        if statements.len() >= STATEMENTS {
            statements.clear();
        }
        statements.insert(text.to_owned(), made.clone());
        Ok(made)
    }

    fn said<'a>(&'a self, text: &'a str) -> Request<'a, Result<Vec<Row>, Error>> {
        Box::pin(async move { self.client.batch_execute(text).await.map(|()| Vec::new()) })
    }

    /// Sends one request, and not into the middle of somebody's flight.
    async fn alone<T>(&self, request: impl Future<Output = T>) -> T {
        fly_alone(&self.turn, request).await
    }
}
