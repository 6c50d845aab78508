//! A site on MariaDB: as many connections as Frontdesk has, one call at a time on each.

use frontdesk_store::statements::site::SqlParam;
use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Opts, OptsBuilder, Params, Value};
use tokio::sync::{Mutex, Semaphore};

use super::{Base, Query, Row, write};
use crate::BenchResult;

const CONNECTIONS: usize = 4;

pub struct Mysql {
    idle: Mutex<Vec<Conn>>,
    turns: Semaphore,
}

impl Mysql {
    pub async fn connect(url: &str) -> BenchResult<Mysql> {
        let options: Opts = OptsBuilder::from_opts(Opts::from_url(url)?).prefer_socket(false).into();
        let mut idle = Vec::new();
        for _ in 0..CONNECTIONS {
            let mut connection = Conn::new(options.clone()).await?;
            connection.query_drop("SET SESSION TRANSACTION READ ONLY").await?;
            connection.query_drop("SET NAMES utf8mb4 COLLATE utf8mb4_unicode_520_ci").await?;
            idle.push(connection);
        }
        Ok(Mysql { idle: Mutex::new(idle), turns: Semaphore::new(CONNECTIONS) })
    }

    async fn rows_of<T>(
        &self,
        query: &Query<'_>,
        mut work: impl FnMut(&mysql_async::Row) -> BenchResult<T>,
    ) -> BenchResult<Vec<T>> {
        let _turn = self.turns.acquire().await?;
        let mut connection = self.idle.lock().await.pop().ok_or("no connection")?;
        let values = query.values.iter().map(value).collect();
        let mut rows = connection.exec_iter(query.text, Params::Positional(values)).await?;
        let mut read = Vec::new();
        while let Some(row) = rows.next().await? {
            read.push(work(&row)?);
        }
        drop(rows);
        self.idle.lock().await.push(connection);
        Ok(read)
    }
}

impl Base for Mysql {
    async fn variables(&self, query: &Query<'_>) -> BenchResult<Vec<(i64, String)>> {
        self.rows_of(query, |row| Ok((row.whole(0)?, row.text(1)?.unwrap_or_default().to_owned()))).await
    }

    async fn documents(&self, query: &Query<'_>, names: &[String]) -> BenchResult<(String, usize)> {
        let mut out = String::new();
        let rows = self.rows_of(query, |row| write(row, names, &mut out)).await?;
        Ok((out, rows.len()))
    }
}

impl Row for mysql_async::Row {
    fn whole(&self, column: usize) -> BenchResult<i64> {
        match self.as_ref(column) {
            Some(Value::Int(number)) => Ok(*number),
            Some(Value::UInt(number)) => Ok(i64::try_from(*number)?),
            Some(_) | None => Err("not a number".into()),
        }
    }

    fn text(&self, column: usize) -> BenchResult<Option<&str>> {
        match self.as_ref(column) {
            Some(Value::Bytes(text)) => Ok(Some(std::str::from_utf8(text)?)),
            Some(Value::NULL) => Ok(None),
            Some(_) | None => Err("not a text".into()),
        }
    }
}

fn value(bound: &SqlParam) -> Value {
    match bound {
        SqlParam::Integer(number) => Value::Int(*number),
        SqlParam::Text(text) => Value::Bytes(text.as_bytes().to_vec()),
        SqlParam::SortKey(key) => Value::Bytes(key.clone()),
    }
}
