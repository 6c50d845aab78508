//! One connection with its prepared statements. Everything sent on it goes through its send lock.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Connection, Error, NoTls, Row, Socket, Statement};

use super::address::{ConnectConfig, Encryption};
use super::pipeline::{PipelinedRequest, send, send_all, send_in_tx};
use super::sql_texts::{BEGIN, BEGIN_READ, COMMIT, SET_TENANT};
use super::tls::PgTlsConnector;
use super::values::PgValue;
use crate::StoreError;

/// How many prepared statements are cached; filters can be combined in more ways than are used.
const STATEMENT_CACHE: usize = 256;
/// For the TLS handshake and the login together, which have no timeout of their own.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) struct PgConnection {
    client: Client,
    /// For a cancellation, which needs a connection of its own with the same TLS settings.
    connector: Option<PgTlsConnector>,
    /// The statement `SET_TENANT`, which nearly every pipeline needs.
    set_tenant: Statement,
    statements: Mutex<HashMap<String, Statement>>,
    send_lock: Mutex<()>,
    /// The task that reads and writes the socket.
    driver: Option<JoinHandle<()>>,
    is_retired: AtomicBool,
    retirement: Notify,
}

impl Drop for PgConnection {
    /// A retired connection is closed, and then the statement that still runs on it is cancelled. In this order the
    /// server does not begin with what was sent behind that statement.
    fn drop(&mut self) {
        let driver = self.driver.take().filter(|_| *self.is_retired.get_mut());
        if let (Some(driver), Ok(runtime)) = (driver, Handle::try_current()) {
            let (token, connector) = (self.client.cancel_token(), self.connector.take());
            driver.abort();
            runtime.spawn(async move {
                let _ = driver.await;
                // If this fails, the statement ends at its timeout.
                let _ = timeout(CANCEL_TIMEOUT, async {
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

/// The parameters of a statement.
pub(crate) type PgParams<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Owned values as parameters.
pub(crate) fn refs<T: ToSql + Sync>(values: &[T]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|value| value as _).collect()
}

impl PgConnection {
    pub(crate) async fn connect(config: &ConnectConfig) -> Result<PgConnection, StoreError> {
        match timeout(CONNECT_TIMEOUT, PgConnection::open(config)).await {
            Ok(connection) => connection,
            Err(_) => Err(StoreError::Unreachable("it does not answer".to_owned())),
        }
    }

    async fn open(config: &ConnectConfig) -> Result<PgConnection, StoreError> {
        let connector = tls_connector(&config.encryption)?;
        let (client, driver) = match &connector {
            Some(connector) => spawn_driver(config.config.connect(connector.clone()).await)?,
            None => spawn_driver(config.config.connect(NoTls).await)?,
        };
        // A reply means that the write is on disk, whatever the server's default is.
        let durable = "SELECT set_config('synchronous_commit', 'on', false) \
                       WHERE current_setting('synchronous_commit') = 'off'";
        client.batch_execute(durable).await?;
        let set_tenant = client.prepare(SET_TENANT).await?;
        Ok(PgConnection {
            client,
            connector,
            set_tenant,
            statements: Mutex::default(),
            send_lock: Mutex::default(),
            driver: Some(driver),
            is_retired: AtomicBool::new(false),
            retirement: Notify::new(),
        })
    }

    /// Tells everyone who waits on this connection to use another one.
    pub(crate) fn retire(&self) {
        self.is_retired.store(true, Ordering::Release);
        self.retirement.notify_waiters();
    }

    /// Waits until the connection is retired.
    pub(crate) async fn retired(&self) {
        let notified = self.retirement.notified();
        if !self.is_retired.load(Ordering::Acquire) {
            notified.await;
        }
    }

    /// From here to the end of the open transaction, row-level security shows only this tenant's rows.
    pub(crate) async fn with_tenant(self, tenant: &str) -> Result<PgConnection, Error> {
        self.query(SET_TENANT, &[&tenant]).await?;
        Ok(self)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Runs statements without parameters or results.
    pub(crate) async fn batch_execute(&self, text: &str) -> Result<(), Error> {
        send(&self.send_lock, self.client.batch_execute(text)).await
    }

    pub(crate) async fn query(&self, text: &str, params: PgParams<'_>) -> Result<Vec<Row>, Error> {
        let statement = self.prepare(text).await?;
        send(&self.send_lock, self.client.query(&statement, params)).await
    }

    pub(crate) async fn execute(&self, text: &str, params: PgParams<'_>) -> Result<u64, Error> {
        let statement = self.prepare(text).await?;
        send(&self.send_lock, self.client.execute(&statement, params)).await
    }

    /// Commits. If the connection is lost meanwhile, it is unknown whether the server has committed.
    pub(crate) async fn commit(&self) -> Result<(), StoreError> {
        self.batch_execute(COMMIT).await.map_err(|error| {
            if is_outcome_unknown(error.code()) || self.is_closed() {
                StoreError::OutcomeUnknown
            } else {
                StoreError::Postgres(error)
            }
        })
    }

    /// Reads as one tenant, in a read-only transaction that is sent as one pipeline.
    pub(crate) async fn query_as_tenant(
        &self,
        tenant: &str,
        text: &str,
        params: PgParams<'_>,
    ) -> Result<Vec<Row>, Error> {
        let statement = self.prepare(text).await?;
        let tenant: PgParams<'_> = &[&tenant];
        // If the tenant cannot be set, the transaction is aborted and the query fails with it.
        send_in_tx(
            &self.send_lock,
            self.client.batch_execute(BEGIN_READ),
            self.client.query(&self.set_tenant, tenant),
            self.client.query(&statement, params),
            self.client.batch_execute(COMMIT),
        )
        .await
    }

    /// Begins to write as one tenant and runs these queries, all in one pipeline.
    pub(crate) async fn begin_as_tenant(
        &self,
        tenant: &str,
        queries: &[(&str, PgParams<'_>)],
    ) -> Result<Vec<Vec<Row>>, Error> {
        let mut statements = Vec::with_capacity(queries.len());
        for (text, params) in queries {
            statements.push((self.prepare(text).await?, *params));
        }
        let tenant: PgParams<'_> = &[&tenant];
        let begin = async { self.client.batch_execute(BEGIN).await.map(|()| Vec::new()) };
        let mut requests: Vec<PipelinedRequest<'_, Result<Vec<Row>, Error>>> =
            vec![Box::pin(begin), Box::pin(self.client.query(&self.set_tenant, tenant))];
        for (statement, params) in &statements {
            requests.push(Box::pin(self.client.query(statement, params)));
        }
        let results: Result<Vec<_>, _> = send_all(&self.send_lock, requests).await.into_iter().collect();
        Ok(results?.split_off(2))
    }

    /// Runs statements in one pipeline, after `first` if it is given; each result is the number of affected rows.
    pub(crate) async fn execute_all(
        &self,
        first: Option<&str>,
        changes: &[(&str, &[PgValue])],
    ) -> Result<Vec<Result<u64, Error>>, Error> {
        let mut statements = Vec::with_capacity(changes.len());
        for (text, params) in changes {
            statements.push((self.prepare(text).await?, *params));
        }
        let mut requests: Vec<PipelinedRequest<'_, Result<u64, Error>>> = Vec::with_capacity(changes.len() + 1);
        if let Some(first) = first {
            requests.push(Box::pin(async move { self.client.batch_execute(first).await.map(|()| 0) }));
        }
        for (statement, params) in &statements {
            requests.push(Box::pin(self.client.execute_raw(statement, params.iter())));
        }
        let mut results = send_all(&self.send_lock, requests).await.into_iter();
        if first.is_some() {
            results.next().transpose()?;
        }
        Ok(results.collect())
    }

    async fn prepare(&self, text: &str) -> Result<Statement, Error> {
        if let Some(cached) = self.statements.lock().unwrap_or_else(PoisonError::into_inner).get(text) {
            return Ok(cached.clone());
        }
        let prepared = send(&self.send_lock, self.client.prepare(text)).await?;
        let mut statements = self.statements.lock().unwrap_or_else(PoisonError::into_inner);
        if statements.len() >= STATEMENT_CACHE {
            statements.clear();
        }
        statements.insert(text.to_owned(), prepared.clone());
        Ok(prepared)
    }
}

/// A server that shuts down sends its code as the last message, possibly after it has committed.
fn is_outcome_unknown(code: Option<&SqlState>) -> bool {
    code.is_none_or(|code| code.code().starts_with("57P"))
}

fn tls_connector(encryption: &Encryption) -> Result<Option<PgTlsConnector>, StoreError> {
    match encryption {
        Encryption::None => Ok(None),
        Encryption::Verified { authority: Some(authority) } => {
            PgTlsConnector::trusting(authority).map(Some).map_err(|error| StoreError::Untrusted(error.0))
        }
        Encryption::Verified { authority: None } => {
            let why = "no authority is named. Set `database_ca` to the PEM file of the authority that issued the \
                       server's certificate; the system's own list of authorities is not used";
            Err(StoreError::Untrusted(why.to_owned()))
        }
    }
}

fn spawn_driver<T>(
    connected: Result<(Client, Connection<Socket, T>), Error>,
) -> Result<(Client, JoinHandle<()>), StoreError>
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (client, connection) = connected.map_err(StoreError::from_connect)?;
    let driver = tokio::spawn(async move {
        // An error is reported to the requests that wait.
        let _ = connection.await;
    });
    Ok((client, driver))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shutdown_during_commit_leaves_the_outcome_unknown() {
        let unknown = [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN].map(|code| is_outcome_unknown(Some(&code)));
        assert_eq!((unknown, is_outcome_unknown(None)), ([true, true], true));
        let refused = [SqlState::QUERY_CANCELED, SqlState::T_R_SERIALIZATION_FAILURE, SqlState::DISK_FULL];
        assert_eq!(refused.map(|code| is_outcome_unknown(Some(&code))), [false; 3]);
    }
}
