//! The reference's reads on PostgreSQL: as many shared connections as Frontdesk has, and the same pipelined statements for each
//! read, because the wall between tenants is part of the question. Connections are made once and never mended.

use std::future::{Future as _, poll_fn};
use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use frontdesk_store::statements::postgres::{BEGIN_READ, COMMIT, SET_TENANT};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Row, Statement};

use super::{Arguments, Items, Texts};
use crate::BenchResult;

/// As many for look-ups and as many for pages.
const CONNECTIONS: usize = 2;

pub struct PostgresReader {
    gets: Vec<Connection>,
    searches: Vec<Connection>,
    next: AtomicUsize,
}

struct Connection {
    client: Client,
    turn: Mutex<()>,
    tenant: Statement,
    get: Statement,
    search_make: Statement,
    search_status: Statement,
}

impl PostgresReader {
    pub async fn connect(url: &str) -> BenchResult<PostgresReader> {
        let (mut gets, mut searches) = (Vec::new(), Vec::new());
        for _ in 0..CONNECTIONS {
            gets.push(Connection::connect(url).await?);
            searches.push(Connection::connect(url).await?);
        }
        Ok(PostgresReader { gets, searches, next: AtomicUsize::new(0) })
    }

    pub async fn get(&self, arguments: &Arguments) -> BenchResult<String> {
        let connection = self.one_of(&self.gets)?;
        let id = arguments.id.as_deref();
        let rows = connection.send(&arguments.dealership_id, &connection.get, &[&arguments.dealership_id, &id]).await?;
        Ok(rows.first().ok_or("no such vehicle")?.try_get(3)?)
    }

    pub async fn search(&self, arguments: &Arguments) -> BenchResult<String> {
        let connection = self.one_of(&self.searches)?;
        let limit = arguments.limit.unwrap_or(25);
        let more = limit + 1;
        let (statement, value) = match &arguments.make {
            Some(make) => (&connection.search_make, Some(make.to_lowercase())),
            None => (&connection.search_status, arguments.status.clone()),
        };
        let values: &[&(dyn ToSql + Sync)] = &[&arguments.dealership_id, &value, &more];
        let mut items = Items::new(limit);
        for row in connection.send(&arguments.dealership_id, statement, values).await? {
            if !items.add(row.try_get(2)?) {
                break;
            }
        }
        Ok(items.end())
    }

    fn one_of<'a>(&self, connections: &'a [Connection]) -> BenchResult<&'a Connection> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        Ok(connections.get(number % CONNECTIONS).ok_or("no connection")?)
    }
}

impl Connection {
    async fn connect(url: &str) -> BenchResult<Connection> {
        let client = connect(url).await?;
        let texts = Texts::new(str::to_owned);
        Ok(Connection {
            tenant: client.prepare(SET_TENANT).await?,
            get: client.prepare(&texts.get).await?,
            search_make: client.prepare(&texts.search_make).await?,
            search_status: client.prepare(&texts.search_status).await?,
            turn: Mutex::default(),
            client,
        })
    }

    /// All four are sent back to back, and only the answer that matters is waited for: a transaction that did not
    /// begin, or a name that was not taken, shows no rows.
    async fn send(&self, tenant: &str, statement: &Statement, values: &[&(dyn ToSql + Sync)]) -> BenchResult<Vec<Row>> {
        let name: &[&(dyn ToSql + Sync)] = &[&tenant];
        let mut asked = pin!(self.client.query(statement, values));
        let mut sent = false;
        let rows = poll_fn(|context| {
            if sent {
                return asked.as_mut().poll(context);
            }
            sent = true;
            let _turn = self.turn.lock();
            let mut ignored = Context::from_waker(Waker::noop());
            let _ = pin!(self.client.batch_execute(BEGIN_READ)).poll(&mut ignored);
            let _ = pin!(self.client.query(&self.tenant, name)).poll(&mut ignored);
            let answer: Poll<_> = asked.as_mut().poll(context);
            let _ = pin!(self.client.batch_execute(COMMIT)).poll(&mut ignored);
            answer
        });
        Ok(rows.await?)
    }
}

pub async fn connect(url: &str) -> BenchResult<Client> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(async move {
        let _ = connection.await;
    });
    Ok(client)
}
