//! One connection with its prepared statements. Everything sent on it goes through its turn.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Connection, Error, NoTls, Row, Socket, Statement};

use super::address::{Dial, Encryption};
use super::flight::{Request, fly, fly_alone, fly_enclosed};
use super::texts::{BEGIN, BEGIN_READ, COMMIT, TENANT};
use super::tls::Connector;
use super::values::Bound;
use crate::StoreError;

/// So many prepared statements are kept; filters can be combined in more ways than anybody uses.
const STATEMENTS: usize = 256;
/// A server that has not let us in by then does not answer: the handshake and the login have no limit of their own.
const CONNECT: Duration = Duration::from_secs(5);
/// Nobody waits for a cancellation, but its connection must not stay open for ever.
const CANCEL: Duration = Duration::from_secs(5);

pub(crate) struct Live {
    client: Client,
    /// What a cancellation is encrypted with: it goes by a connection of its own, and the server may take no other.
    connector: Option<Connector>,
    /// The statement that names the tenant, which nearly every flight needs.
    tenant: Statement,
    statements: Mutex<HashMap<String, Statement>>,
    turn: Mutex<()>,
    /// What moves the bytes.
    carrier: Option<JoinHandle<()>>,
    /// Whether it is better not to wait on it.
    is_left: AtomicBool,
    leaving: Notify,
}

impl Drop for Live {
    /// A connection that was left is cut, and what the server still does for it is stopped: in this order, so that the
    /// server finds nobody to answer and does not begin with what was sent behind.
    fn drop(&mut self) {
        let carrier = self.carrier.take().filter(|_| *self.is_left.get_mut());
        if let (Some(carrier), Ok(runtime)) = (carrier, Handle::try_current()) {
            let (token, connector) = (self.client.cancel_token(), self.connector.take());
            carrier.abort();
            runtime.spawn(async move {
                let _ = carrier.await;
                // Should this fail, the statement ends at its time limit.
                let _ = timeout(CANCEL, async {
                    match connector {
                        Some(connector) => token.cancel_query(connector).await,
                        None => token.cancel_query(NoTls).await,
                    }
                })
                .await;
            });
        }
    }
}

/// The values of a statement, as the client library wants them.
pub(crate) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

impl Live {
    pub(crate) async fn connect(dial: &Dial) -> Result<Live, StoreError> {
        match timeout(CONNECT, Live::made(dial)).await {
            Ok(made) => made,
            Err(_) => Err(StoreError::Unreachable("it does not answer".to_owned())),
        }
    }

    async fn made(dial: &Dial) -> Result<Live, StoreError> {
        let connector = connector(&dial.encryption)?;
        let (client, carrier) = match &connector {
            Some(connector) => carried(dial.config.connect(connector.clone()).await)?,
            None => carried(dial.config.connect(NoTls).await)?,
        };
        // An answer means that the write is on disk, whatever the server was told.
        let durable = "SELECT set_config('synchronous_commit', 'on', false) \
                       WHERE current_setting('synchronous_commit') = 'off'";
        client.batch_execute(durable).await?;
        let tenant = client.prepare(TENANT).await?;
        Ok(Live {
            client,
            connector,
            tenant,
            statements: Mutex::default(),
            turn: Mutex::default(),
            carrier: Some(carrier),
            is_left: AtomicBool::new(false),
            leaving: Notify::new(),
        })
    }

    /// Tells everybody who waits on it to go elsewhere.
    pub(crate) fn leave(&self) {
        self.is_left.store(true, Ordering::Release);
        self.leaving.notify_waiters();
    }

    /// Until it is better not to wait here any longer.
    pub(crate) async fn left(&self) {
        let told = self.leaving.notified();
        if !self.is_left.load(Ordering::Acquire) {
            told.await;
        }
    }

    /// From here to the end of the open transaction, row-level security lets only this tenant's rows through.
    pub(crate) async fn of_tenant(self, tenant: &str) -> Result<Live, Error> {
        self.query(TENANT, &[&tenant]).await?;
        Ok(self)
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

/// What makes the connection as safe as the address asks for.
fn connector(encryption: &Encryption) -> Result<Option<Connector>, StoreError> {
    match encryption {
        Encryption::None => Ok(None),
        Encryption::Verified { authority: Some(authority) } => {
            Connector::trusting(authority).map(Some).map_err(|refusal| StoreError::Untrusted(refusal.0))
        }
        Encryption::Verified { authority: None } => {
            let why = "no authority is named. Set `database_ca` to the PEM file of the authority that issued the \
                       server's certificate; the system's own list of authorities is not used";
            Err(StoreError::Untrusted(why.to_owned()))
        }
    }
}

/// The client, and who carries what it sends.
fn carried<T>(connected: Result<(Client, Connection<Socket, T>), Error>) -> Result<(Client, JoinHandle<()>), StoreError>
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (client, connection) = connected.map_err(StoreError::unreachable)?;
    let carrier = tokio::spawn(async move {
        // Whoever waits for an answer is told; there is nobody else to tell.
        let _ = connection.await;
    });
    Ok((client, carrier))
}
