//! The reference's way of writing: one thread, whatever is waiting in one transaction, the same rows as Frontdesk
//! writes except the audit, nothing sealed and nothing hashed. An answer is given after COMMIT with `synchronous=FULL`.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use frontdesk::ports::SystemClock;
use frontdesk_engine::ports::Clock as _;
use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::json;
use tokio::sync::oneshot;

use crate::Outcome;
use crate::reference::Arguments;

const GROUP: usize = 256;

/// As `store::sql` and `store::sqlite::apply` have them.
const CLAIMED: &str = "SELECT meaning, sealed_answer FROM fd_claim \
                       WHERE tenant = ?1 AND client = ?2 AND tool = ?3 AND key_hash = ?4";
const INSERT: &str = "INSERT INTO lead (tenant, id, version, created_at, updated_at, body, masked, sealed, status, channel, \
                      owner_id, customer_id, vehicle_id, received_at, email, phone) \
                      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";
const WORD: &str = "INSERT INTO lead_word (tenant, word, id) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
const LAST: &str = "SELECT event_seq FROM fd_counter WHERE tenant = ?1";
const COUNT: &str = "INSERT INTO fd_counter (tenant, event_seq) VALUES (?1, ?2) \
                     ON CONFLICT (tenant) DO UPDATE SET event_seq = excluded.event_seq";
const EVENT: &str =
    "INSERT INTO fd_outbox (tenant, seq, event, kind, id, change, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
const CLAIM: &str = "INSERT INTO fd_claim (tenant, client, tool, key_hash, meaning, sealed_answer, at) \
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";

pub struct Lead {
    tenant: String,
    name: String,
    email: String,
    key: String,
    interest: String,
}

impl Lead {
    pub fn new(arguments: Arguments) -> Outcome<Lead> {
        let contact = arguments.contact.ok_or("a contact is needed")?;
        Ok(Lead {
            tenant: arguments.dealership_id,
            name: contact.name,
            email: contact.email,
            key: arguments.idempotency_key.ok_or("a key is needed")?,
            interest: arguments.interest.ok_or("an interest is needed")?,
        })
    }
}

type Job = (Lead, oneshot::Sender<Result<String, String>>);

pub struct Writer {
    jobs: SyncSender<Job>,
}

impl Writer {
    pub fn start(database: &Path) -> Outcome<Writer> {
        let connection = Connection::open(database)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        connection.pragma_update(None, "cache_size", -16_384)?;
        connection.pragma_update(None, "wal_autocheckpoint", 8_192)?;
        let (jobs, queue) = sync_channel(8192);
        std::thread::Builder::new().name("writer".to_owned()).spawn(move || write(&connection, &queue))?;
        Ok(Writer { jobs })
    }

    pub async fn create(&self, lead: Lead) -> Outcome<String> {
        let (answer, waiting) = oneshot::channel();
        self.jobs.try_send((lead, answer)).map_err(|_| "the writer's queue is full")?;
        Ok(waiting.await??)
    }
}

fn write(connection: &Connection, queue: &Receiver<Job>) {
    let mut number: u64 = 0;
    while let Ok(first) = queue.recv() {
        let mut told = Vec::new();
        let mut held = connection.execute_batch("BEGIN IMMEDIATE").map_err(|error| error.to_string());
        for (lead, answer) in std::iter::once(first).chain(queue.try_iter().take(GROUP - 1)) {
            number += 1;
            told.push((apply(connection, &lead, number).map_err(|error| error.to_string()), answer));
        }
        held = held.and_then(|()| connection.execute_batch("COMMIT").map_err(|error| error.to_string()));
        for (outcome, answer) in told {
            let _ = answer.send(held.clone().and(outcome));
        }
    }
}

fn apply(connection: &Connection, lead: &Lead, number: u64) -> Outcome<String> {
    let Lead { tenant, name, email, key, interest } = lead;
    let (client, tool) = ("reference", "leads.create");
    let earlier: Option<Vec<u8>> = connection
        .prepare_cached(CLAIMED)?
        .query_row(params![tenant, client, tool, key], |row| row.get(1))
        .optional()?;
    if let Some(answer) = earlier {
        return Ok(String::from_utf8(answer)?);
    }
    let at = SystemClock.now();
    let instant = at.to_rfc3339();
    let id = format!("led_{at:016}{number:010}", at = at.0);
    let open = json!({
        "id": id, "type": "lead", "dealership_id": tenant, "status": "new", "created_at": instant,
        "updated_at": instant, "version": 1, "interest": interest, "received_at": instant,
        "consent": {"status": "granted", "channels": ["email"], "granted_at": instant},
    });
    let personal = json!({
        "contact": {"name": name, "email": email}, "source": {"channel": "ai_agent"}, "redacted": [],
    });
    let (body, personal) = (open.to_string(), personal.to_string());
    let nothing: Option<&str> = None;
    connection.prepare_cached(INSERT)?.execute(params![
        tenant,
        id,
        1,
        at.0,
        at.0,
        body,
        personal,
        personal.as_bytes(),
        "new",
        "ai_agent",
        nothing,
        nothing,
        nothing,
        at.0,
        email,
        nothing
    ])?;
    let mut word_of = connection.prepare_cached(WORD)?;
    for word in name.split(' ') {
        word_of.execute(params![tenant, word.to_lowercase(), id])?;
    }
    let last: Option<i64> = connection.prepare_cached(LAST)?.query_row([tenant], |row| row.get(0)).optional()?;
    let seq = last.unwrap_or(0) + 1;
    connection.prepare_cached(COUNT)?.execute(params![tenant, seq])?;
    let event = format!("evt_{at:016}{number:010}", at = at.0);
    connection.prepare_cached(EVENT)?.execute(params![tenant, seq, event, "lead", id, "created", at.0])?;
    let answer = frontdesk_wire::json::splice(&body, &personal);
    connection.prepare_cached(CLAIM)?.execute(params![
        tenant,
        client,
        tool,
        key,
        [0u8; 32],
        answer.as_bytes(),
        at.0
    ])?;
    Ok(answer)
}
