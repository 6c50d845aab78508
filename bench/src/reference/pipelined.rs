//! The reference's reads on PostgreSQL: as many shared connections as Frontdesk has, and the same flight for each
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
use crate::Outcome;

/// As many for look-ups and as many for pages.
const LANES: usize = 2;

pub struct Pipelined {
    gets: Vec<Lane>,
    searches: Vec<Lane>,
    next: AtomicUsize,
}

struct Lane {
    client: Client,
    turn: Mutex<()>,
    tenant: Statement,
    get: Statement,
    search_make: Statement,
    search_status: Statement,
}

impl Pipelined {
    pub async fn connect(url: &str) -> Outcome<Pipelined> {
        let (mut gets, mut searches) = (Vec::new(), Vec::new());
        for _ in 0..LANES {
            gets.push(Lane::connect(url).await?);
            searches.push(Lane::connect(url).await?);
        }
        Ok(Pipelined { gets, searches, next: AtomicUsize::new(0) })
    }

    pub async fn get(&self, arguments: &Arguments) -> Outcome<String> {
        let lane = self.one_of(&self.gets)?;
        let id = arguments.id.as_deref();
        let rows = lane.fly(&arguments.dealership_id, &lane.get, &[&arguments.dealership_id, &id]).await?;
        Ok(rows.first().ok_or("no such vehicle")?.try_get(3)?)
    }

    pub async fn search(&self, arguments: &Arguments) -> Outcome<String> {
        let lane = self.one_of(&self.searches)?;
        let limit = arguments.limit.unwrap_or(25);
        let more = limit + 1;
        let (statement, value) = match &arguments.make {
            Some(make) => (&lane.search_make, Some(make.to_lowercase())),
            None => (&lane.search_status, arguments.status.clone()),
        };
        let values: &[&(dyn ToSql + Sync)] = &[&arguments.dealership_id, &value, &more];
        let mut items = Items::new(limit);
        for row in lane.fly(&arguments.dealership_id, statement, values).await? {
            if !items.add(row.try_get(2)?) {
                break;
            }
        }
        Ok(items.end())
    }

    fn one_of<'a>(&self, lanes: &'a [Lane]) -> Outcome<&'a Lane> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        Ok(lanes.get(number % LANES).ok_or("no lane")?)
    }
}

impl Lane {
    async fn connect(url: &str) -> Outcome<Lane> {
        let client = connect(url).await?;
        let texts = Texts::new(str::to_owned);
        Ok(Lane {
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
    async fn fly(&self, tenant: &str, statement: &Statement, values: &[&(dyn ToSql + Sync)]) -> Outcome<Vec<Row>> {
        let name: &[&(dyn ToSql + Sync)] = &[&tenant];
        let mut asked = pin!(self.client.query(statement, values));
        let mut sent = false;
        let rows = poll_fn(|context| {
            if sent {
                return asked.as_mut().poll(context);
            }
            sent = true;
            let _turn = self.turn.lock();
            let mut unheard = Context::from_waker(Waker::noop());
            let _ = pin!(self.client.batch_execute(BEGIN_READ)).poll(&mut unheard);
            let _ = pin!(self.client.query(&self.tenant, name)).poll(&mut unheard);
            let answer: Poll<_> = asked.as_mut().poll(context);
            let _ = pin!(self.client.batch_execute(COMMIT)).poll(&mut unheard);
            answer
        });
        Ok(rows.await?)
    }
}

pub async fn connect(url: &str) -> Outcome<Client> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(async move {
        let _ = connection.await;
    });
    Ok(client)
}
