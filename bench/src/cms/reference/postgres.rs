//! A site on PostgreSQL: as many connections as Frontdesk has, one call at a time on each. As Frontdesk does, a session
//! changes its `plan_cache_mode` between single rows and lists.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Waker};

use frontdesk_store::statements::site::SqlParam;
use tokio::sync::Semaphore;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Row as Record, Statement};

use super::{Base, Query, Row, Rows, write};
use crate::BenchResult;

const CONNECTIONS: usize = 4;

pub struct Postgres {
    idle: Mutex<Vec<Session>>,
    turns: Semaphore,
}

struct Session {
    client: Client,
    statements: HashMap<String, Statement>,
    plans_for: Rows,
}

impl Postgres {
    pub async fn connect(url: &str) -> BenchResult<Postgres> {
        let mut idle = Vec::new();
        for _ in 0..CONNECTIONS {
            let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
            tokio::spawn(async move { drop(connection.await) });
            idle.push(Session { client, statements: HashMap::new(), plans_for: Rows::One });
        }
        Ok(Postgres { idle: Mutex::new(idle), turns: Semaphore::new(CONNECTIONS) })
    }

    async fn rows_of(&self, query: &Query<'_>) -> BenchResult<Vec<Record>> {
        let _turn = self.turns.acquire().await?;
        let idle = || self.idle.lock().map_err(|_| "a thread has ended in the middle");
        let mut session = idle()?.pop().ok_or("no connection")?;
        let rows = session.ask(query).await?;
        idle()?.push(session);
        Ok(rows)
    }
}

impl Session {
    async fn ask(&mut self, query: &Query<'_>) -> BenchResult<Vec<Record>> {
        if !self.statements.contains_key(query.text) {
            let prepared = self.client.prepare(query.text).await?;
            self.statements.insert(query.text.to_owned(), prepared);
        }
        let statement = self.statements.get(query.text).ok_or("no statement")?;
        let values: Vec<&(dyn ToSql + Sync)> = query.values.iter().map(value).collect();
        if self.plans_for != query.rows {
            self.plans_for = query.rows;
            let set = match query.rows {
                Rows::One => "SET plan_cache_mode = auto",
                Rows::Many => "SET plan_cache_mode = force_custom_plan",
            };
            // Sent before the query; its answer is not waited for.
            let _ = pin!(self.client.batch_execute(set)).poll(&mut Context::from_waker(Waker::noop()));
        }
        Ok(self.client.query(statement, &values).await?)
    }
}

impl Base for Postgres {
    async fn variables(&self, query: &Query<'_>) -> BenchResult<Vec<(i64, String)>> {
        let rows = self.rows_of(query).await?;
        rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
    }

    async fn documents(&self, query: &Query<'_>, names: &[String]) -> BenchResult<(String, usize)> {
        let rows = self.rows_of(query).await?;
        let mut out = String::new();
        for row in &rows {
            write(row, names, &mut out)?;
        }
        Ok((out, rows.len()))
    }
}

impl Row for Record {
    fn whole(&self, column: usize) -> BenchResult<i64> {
        Ok(self.try_get(column)?)
    }

    fn text(&self, column: usize) -> BenchResult<Option<&str>> {
        Ok(self.try_get(column)?)
    }
}

fn value(bound: &SqlParam) -> &(dyn ToSql + Sync) {
    match bound {
        SqlParam::Integer(number) => number,
        SqlParam::Text(text) => text,
        SqlParam::SortKey(key) => key,
    }
}
