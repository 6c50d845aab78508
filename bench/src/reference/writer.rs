//! The reference's way of writing on SQLite: one thread, whatever is waiting in one transaction. An answer is given
//! after COMMIT with `synchronous=FULL`.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use frontdesk_contracts::automotive::lead::Lead as LeadResource;
use frontdesk_contracts::record::Stored;
use frontdesk_store::statements::sqlite::{Checkpointer, FIND_CLAIM, INSERT_CLAIM, INSERT_EVENT, insert, insert_terms};
use frontdesk_store::statements::{GET_EVENT_COUNTER, SET_EVENT_COUNTER, for_sqlite};
use rusqlite::{Connection, OptionalExtension as _, params};
use tokio::sync::oneshot;

use super::lead::{CLIENT, Lead, TOOL};
use crate::BenchResult;

const GROUP: usize = 256;
/// A name has so many, see the load generator.
const WORDS: usize = 3;

type WriteRequest<J> = (J, oneshot::Sender<Result<String, String>>);

/// What a writer does for each job, within a transaction.
pub trait Write: Send + 'static {
    type Job: Send + 'static;

    /// The answer. `number` is another for every job of a process.
    fn apply(&self, connection: &Connection, job: &Self::Job, number: u64) -> BenchResult<String>;
}

pub struct SqliteWriter<J> {
    jobs: SyncSender<WriteRequest<J>>,
}

impl<J: Send + 'static> SqliteWriter<J> {
    pub fn start(database: &Path, work: impl Write<Job = J>) -> BenchResult<SqliteWriter<J>> {
        let connection = Connection::open(database)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        connection.pragma_update(None, "cache_size", -16_384)?;
        let mut checkpoints = Checkpointer::start(&connection, database)?;
        let (jobs, queue) = sync_channel(8192);
        std::thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || write(&connection, &work, &queue, &mut checkpoints))?;
        Ok(SqliteWriter { jobs })
    }

    pub async fn create(&self, job: J) -> BenchResult<String> {
        let (answer, waiting) = oneshot::channel();
        self.jobs.try_send((job, answer)).map_err(|_| "the writer's queue is full")?;
        Ok(waiting.await??)
    }
}

fn write<W: Write>(
    connection: &Connection,
    work: &W,
    queue: &Receiver<WriteRequest<W::Job>>,
    checkpoints: &mut Checkpointer,
) {
    let mut number: u64 = 0;
    while let Ok(first) = queue.recv() {
        let mut results = Vec::new();
        let mut transaction = connection.execute_batch("BEGIN IMMEDIATE").map_err(|error| error.to_string());
        for (job, answer) in std::iter::once(first).chain(queue.try_iter().take(GROUP - 1)) {
            number += 1;
            results.push((work.apply(connection, &job, number).map_err(|error| error.to_string()), answer));
        }
        transaction = transaction.and_then(|()| connection.execute_batch("COMMIT").map_err(|error| error.to_string()));
        for (outcome, answer) in results {
            let _ = answer.send(transaction.clone().and(outcome));
        }
        checkpoints.maybe_checkpoint(connection);
    }
}

/// As long as a MAC. The reference computes none, and never reads its rows through Frontdesk.
pub const NO_MAC: [u8; 16] = [0; 16];

/// The statements that every write needs for its key and its event.
pub struct CommonTexts {
    find_claim: String,
    add_claim: String,
    last_event: String,
    count_events: String,
    add_event: String,
}

impl CommonTexts {
    pub fn new() -> CommonTexts {
        CommonTexts {
            find_claim: for_sqlite(FIND_CLAIM),
            add_claim: for_sqlite(INSERT_CLAIM),
            last_event: for_sqlite(GET_EVENT_COUNTER),
            count_events: for_sqlite(SET_EVENT_COUNTER),
            add_event: for_sqlite(INSERT_EVENT),
        }
    }

    /// The answer that was given under this key.
    pub fn earlier(&self, connection: &Connection, of: [&str; 3]) -> BenchResult<Option<String>> {
        let [tenant, tool, key] = of;
        let earlier: Option<Vec<u8>> = connection
            .prepare_cached(&self.find_claim)?
            .query_row(params![tenant, CLIENT, tool, key], |row| row.get(1))
            .optional()?;
        Ok(earlier.map(String::from_utf8).transpose()?)
    }

    /// Records that a row of this kind was created, and the answer under its key.
    pub fn record(&self, connection: &Connection, of: [&str; 3], new: &Created<'_>) -> BenchResult<()> {
        let [tenant, tool, key] = of;
        let last: Option<i64> =
            connection.prepare_cached(&self.last_event)?.query_row([tenant], |row| row.get(0)).optional()?;
        let seq = last.unwrap_or(0) + 1;
        connection.prepare_cached(&self.count_events)?.execute(params![tenant, seq])?;
        connection
            .prepare_cached(&self.add_event)?
            .execute(params![tenant, seq, new.event, new.kind, new.id, "created", new.at])?;
        connection.prepare_cached(&self.add_claim)?.execute(params![
            tenant,
            CLIENT,
            tool,
            key,
            [0u8; 32],
            new.answer.as_bytes(),
            new.at
        ])?;
        Ok(())
    }
}

/// What was created.
pub struct Created<'a> {
    pub kind: &'a str,
    pub id: &'a str,
    pub event: &'a str,
    pub at: i64,
    pub answer: &'a str,
}

/// Leads.
pub struct WriteLead {
    common: CommonTexts,
    insert: String,
    /// For the three words of a name.
    add_words: String,
}

impl WriteLead {
    pub fn new() -> WriteLead {
        WriteLead {
            common: CommonTexts::new(),
            insert: for_sqlite(&insert(LeadResource::table())),
            add_words: insert_terms(LeadResource::table(), WORDS),
        }
    }
}

impl Write for WriteLead {
    type Job = Lead;

    fn apply(&self, connection: &Connection, lead: &Lead, number: u64) -> BenchResult<String> {
        let Lead { tenant, email, key, .. } = lead;
        let of = [tenant.as_str(), TOOL, key.as_str()];
        if let Some(answer) = self.common.earlier(connection, of)? {
            return Ok(answer);
        }
        let row = lead.to_row(number);
        let nothing: Option<&str> = None;
        let [first, second, third] = row.words.as_slice() else {
            return Err("a name of three words is expected".into());
        };
        let words = serde_json::to_string(&row.words)?;
        connection.prepare_cached(&self.insert)?.execute(params![
            tenant,
            row.id,
            1,
            row.at,
            row.at,
            row.body,
            row.personal,
            row.personal.as_bytes(),
            nothing,
            NO_MAC,
            words,
            "new",
            "ai_agent",
            nothing,
            nothing,
            nothing,
            nothing,
            row.at,
            nothing,
            email,
            nothing
        ])?;
        connection.prepare_cached(&self.add_words)?.execute(params![tenant, row.id, first, second, third])?;
        let (event, answer) = (&row.event, &row.answer);
        self.common.record(connection, of, &Created { kind: "lead", id: &row.id, event, at: row.at, answer })?;
        Ok(row.answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The embedded store may write a statement out where it uses it; then it must be the same word for word.
    #[test]
    fn every_statement_of_the_reference_is_one_of_the_embedded_store() {
        let store = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/store/src");
        let mut source = std::fs::read_to_string(store.join("sqlite.rs")).unwrap();
        for file in std::fs::read_dir(store.join("sqlite")).unwrap() {
            source.push_str(&std::fs::read_to_string(file.unwrap().path()).unwrap());
        }
        let plain = |text: &str| text.replace('\\', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        let source = plain(&source);
        for (name, text) in [
            ("FIND_CLAIM", FIND_CLAIM),
            ("INSERT_CLAIM", INSERT_CLAIM),
            ("INSERT_EVENT", INSERT_EVENT),
            ("GET_EVENT_COUNTER", GET_EVENT_COUNTER),
            ("SET_EVENT_COUNTER", SET_EVENT_COUNTER),
            ("sql::insert", "sql::insert"),
            ("insert_terms", "insert_terms"),
        ] {
            let is_there = source.contains(&plain(&for_sqlite(text))) || source.contains(name);
            assert!(is_there, "the embedded store does not prepare: {text}");
        }
    }
}
