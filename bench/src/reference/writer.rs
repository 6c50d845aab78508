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

type WriteRequest = (Lead, oneshot::Sender<Result<String, String>>);

pub struct SqliteWriter {
    jobs: SyncSender<WriteRequest>,
}

impl SqliteWriter {
    pub fn start(database: &Path) -> BenchResult<SqliteWriter> {
        let connection = Connection::open(database)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        connection.pragma_update(None, "cache_size", -16_384)?;
        let mut checkpoints = Checkpointer::start(&connection, database)?;
        let (jobs, queue) = sync_channel(8192);
        std::thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || write(&connection, &queue, &mut checkpoints))?;
        Ok(SqliteWriter { jobs })
    }

    pub async fn create(&self, lead: Lead) -> BenchResult<String> {
        let (answer, waiting) = oneshot::channel();
        self.jobs.try_send((lead, answer)).map_err(|_| "the writer's queue is full")?;
        Ok(waiting.await??)
    }
}

struct Texts {
    find_claim: String,
    insert: String,
    /// For the three words of a name.
    add_words: String,
    last_event: String,
    count_events: String,
    add_event: String,
    add_claim: String,
}

fn write(connection: &Connection, queue: &Receiver<WriteRequest>, checkpoints: &mut Checkpointer) {
    let texts = Texts {
        find_claim: for_sqlite(FIND_CLAIM),
        insert: for_sqlite(&insert(LeadResource::table())),
        add_words: insert_terms(LeadResource::table(), WORDS),
        last_event: for_sqlite(GET_EVENT_COUNTER),
        count_events: for_sqlite(SET_EVENT_COUNTER),
        add_event: for_sqlite(INSERT_EVENT),
        add_claim: for_sqlite(INSERT_CLAIM),
    };
    let mut number: u64 = 0;
    while let Ok(first) = queue.recv() {
        let mut results = Vec::new();
        let mut transaction = connection.execute_batch("BEGIN IMMEDIATE").map_err(|error| error.to_string());
        for (lead, answer) in std::iter::once(first).chain(queue.try_iter().take(GROUP - 1)) {
            number += 1;
            results.push((apply(connection, &texts, &lead, number).map_err(|error| error.to_string()), answer));
        }
        transaction = transaction.and_then(|()| connection.execute_batch("COMMIT").map_err(|error| error.to_string()));
        for (outcome, answer) in results {
            let _ = answer.send(transaction.clone().and(outcome));
        }
        checkpoints.maybe_checkpoint(connection);
    }
}

fn apply(connection: &Connection, texts: &Texts, lead: &Lead, number: u64) -> BenchResult<String> {
    let Lead { tenant, email, key, .. } = lead;
    let earlier: Option<Vec<u8>> = connection
        .prepare_cached(&texts.find_claim)?
        .query_row(params![tenant, CLIENT, TOOL, key], |row| row.get(1))
        .optional()?;
    if let Some(answer) = earlier {
        return Ok(String::from_utf8(answer)?);
    }
    let row = lead.to_row(number);
    let nothing: Option<&str> = None;
    let [first, second, third] = row.words.as_slice() else {
        return Err("a name of three words is expected".into());
    };
    let words = serde_json::to_string(&row.words)?;
    connection.prepare_cached(&texts.insert)?.execute(params![
        tenant,
        row.id,
        1,
        row.at,
        row.at,
        row.body,
        row.personal,
        row.personal.as_bytes(),
        nothing,
        words,
        "new",
        "ai_agent",
        nothing,
        nothing,
        nothing,
        row.at,
        email,
        nothing
    ])?;
    connection.prepare_cached(&texts.add_words)?.execute(params![tenant, row.id, first, second, third])?;
    let last: Option<i64> =
        connection.prepare_cached(&texts.last_event)?.query_row([tenant], |row| row.get(0)).optional()?;
    let seq = last.unwrap_or(0) + 1;
    connection.prepare_cached(&texts.count_events)?.execute(params![tenant, seq])?;
    connection
        .prepare_cached(&texts.add_event)?
        .execute(params![tenant, seq, row.event, "lead", row.id, "created", row.at])?;
    connection.prepare_cached(&texts.add_claim)?.execute(params![
        tenant,
        CLIENT,
        TOOL,
        key,
        [0u8; 32],
        row.answer.as_bytes(),
        row.at
    ])?;
    Ok(row.answer)
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
