//! Applying work to the open transaction. Everything that must happen together happens here: the
//! steps, the claim, the events with their gapless numbers, and the audit link.

use std::collections::HashMap;

use frontdesk_engine::Fault;
use frontdesk_engine::plan::{Stale, Step};
use frontdesk_engine::ports::{Claim, Claimed, Commit, Committed};
use frontdesk_engine::table::{Kind, Row};
use frontdesk_engine::tool::Item;
use rusqlite::{Connection, ErrorCode, OptionalExtension, ffi, params};

use super::Shared;
use super::writer::Task;
use crate::StoreError;
use crate::audit::{Head, tenant_chain};
use crate::claims;
use crate::sql::{self, Value};
use crate::vault::TenantKeys;

/// The writer's hand: the connection and what it remembers between statements.
pub(crate) struct Scribe<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) shared: &'a Shared,
    /// The event numbers that this transaction has given out.
    numbers: HashMap<String, Numbers>,
    /// The last link of each chain.
    pub(super) heads: HashMap<String, Head>,
    /// The chains whose head has moved past what its row says.
    pub(super) ahead: Vec<String>,
    /// How far the piece at hand has come.
    piece: Piece,
}

/// A tenant's event numbers: the one in its row, and the last one given out since. The row is written once for
/// all the pieces of a group, and so is the head of a chain: they are the same ones for each piece.
struct Numbers {
    row: i64,
    last: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    Untouched,
    Begun,
    /// It failed in its middle, with nothing to take it back alone.
    Spoiled,
}

/// How the pieces of a group are kept from each other's failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Care {
    /// Not at all. A piece that fails after its first change spoils the group, which is then made again `Apart`:
    /// that is rare, and a savepoint costs a copy of every page that is changed.
    Together,
    /// Each behind a savepoint.
    Apart,
}

/// The group has to be made again, its pieces apart.
pub(crate) struct Spoiled;

/// Why a plan was not applied, when that is not the database's fault.
enum Ends {
    As(Box<Committed>),
    Broken(StoreError),
}

impl From<StoreError> for Ends {
    fn from(error: StoreError) -> Ends {
        Ends::Broken(error)
    }
}

impl From<rusqlite::Error> for Ends {
    fn from(error: rusqlite::Error) -> Ends {
        Ends::Broken(error.into())
    }
}

impl<'a> Scribe<'a> {
    pub(crate) fn new(connection: &'a Connection, shared: &'a Shared) -> Scribe<'a> {
        Scribe {
            connection,
            shared,
            numbers: HashMap::new(),
            heads: HashMap::new(),
            ahead: Vec::new(),
            piece: Piece::Untouched,
        }
    }

    pub(crate) fn begin(&mut self) -> Result<(), StoreError> {
        self.piece = Piece::Untouched;
        Ok(self.connection.execute_batch("BEGIN IMMEDIATE")?)
    }

    /// A commit that was written but did not safely reach the disk may be found there after a restart. One of
    /// which a part could not even be written has no end in the log, and never happened.
    pub(crate) fn finish(&mut self) -> Result<(), StoreError> {
        self.write_down()?;
        self.connection.execute_batch("COMMIT").map_err(|error| {
            let is_unwritten = error.sqlite_error().is_some_and(|cause| cause.extended_code == ffi::SQLITE_IOERR_WRITE);
            match error.sqlite_error_code() {
                Some(ErrorCode::SystemIoFailure) if !is_unwritten => StoreError::Unfinished,
                Some(_) | None => StoreError::Database(error),
            }
        })
    }

    /// Whether the transaction is still there. A full disk or an I/O error makes the database end it
    /// by itself; what came after would then be committed piece by piece, behind everybody's back.
    pub(crate) fn is_open(&self) -> bool {
        !self.connection.is_autocommit()
    }

    /// Forgets the transaction and everything that was remembered during it.
    pub(crate) fn abandon(&mut self) {
        if self.is_open() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        self.numbers.clear();
        self.heads.clear();
        self.ahead.clear();
    }

    /// Runs a piece of work so that its failure undoes it alone.
    pub(crate) fn guarded(&mut self, task: Task) -> Result<(), StoreError> {
        // What is only remembered must not be lost with the links that the task may have to take back. If half of it
        // is written, the transaction holds numbers and links that nobody counts any more, and is given up.
        if let Err(error) = self.write_down() {
            self.abandon();
            return Err(error);
        }
        self.connection.execute_batch("SAVEPOINT piece")?;
        let outcome = task(self);
        let settled = self.settle(outcome);
        if settled.is_err() {
            // Links written behind the savepoint were taken back with it.
            self.heads.clear();
            self.ahead.clear();
        }
        settled
    }

    /// Keeps a piece that went well and undoes one that did not. If even that fails, nobody knows what
    /// the transaction holds, and it is given up.
    fn settle<T, E: From<StoreError>>(&mut self, outcome: Result<T, E>) -> Result<T, E> {
        let closed = match (&outcome, self.is_open()) {
            (Ok(_), _) => self.connection.execute_batch("RELEASE piece"),
            (Err(_), true) => self.connection.execute_batch("ROLLBACK TO piece; RELEASE piece"),
            (Err(_), false) => Ok(()),
        };
        match closed {
            Ok(()) => outcome,
            Err(error) => {
                self.abandon();
                outcome.and(Err(StoreError::from(error).into()))
            }
        }
    }

    /// Applies a plan, or says how it ended otherwise. See `is_spoiled` before going on.
    pub(crate) fn commit(&mut self, commit: &Commit, care: Care) -> Result<Committed, StoreError> {
        self.piece = Piece::Untouched;
        let outcome = match care {
            Care::Together => self.apply(commit),
            Care::Apart => self.apply_apart(commit),
        };
        if outcome.is_err() && care == Care::Together && self.piece == Piece::Begun && self.is_open() {
            self.piece = Piece::Spoiled;
        }
        match outcome {
            Ok(()) => Ok(Committed::Done),
            Err(Ends::As(committed)) => Ok(*committed),
            Err(Ends::Broken(error)) => Err(error),
        }
    }

    /// Whether a plan has left half of itself in the transaction.
    pub(crate) fn is_spoiled(&self) -> bool {
        self.piece == Piece::Spoiled
    }

    fn apply_apart(&mut self, commit: &Commit) -> Result<(), Ends> {
        self.connection.execute_batch("SAVEPOINT piece")?;
        let outcome = self.apply(commit);
        self.settle(outcome)
    }

    /// What is only remembered, the last number and the last link, changes when nothing can fail any more.
    fn apply(&mut self, commit: &Commit) -> Result<(), Ends> {
        let tenant = commit.tenant.as_str();
        let keys = self.shared.vault.keys(tenant).ok_or(StoreError::UnknownTenant)?;
        if let Some(claim) = &commit.claim
            && let Some(earlier) = claimed(self.connection, &keys, tenant, claim)?
        {
            return Err(Ends::As(Box::new(Committed::Claimed(earlier))));
        }
        for step in &commit.steps {
            self.step(tenant, &keys, step)?;
        }
        let mut last = self.numbers(tenant)?.last;
        for (name, event) in &commit.events {
            last += 1;
            self.connection
                .prepare_cached(
                    "INSERT INTO fd_outbox (tenant, seq, event, kind, id, change, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?
                .execute(params![tenant, last, name, event.kind, event.id, event.change.word(), commit.at.0])?;
            self.piece = Piece::Begun;
        }
        if let Some(claim) = &commit.claim {
            self.claim(tenant, &keys, claim, &commit.answer, commit.at.0)?;
            self.piece = Piece::Begun;
        }
        self.append(&tenant_chain(tenant), commit.at.0, &commit.audit)?;
        self.numbers(tenant)?.last = last;
        Ok(())
    }

    fn step(&mut self, tenant: &str, keys: &TenantKeys, step: &Step) -> Result<(), Ends> {
        match step {
            Step::Insert { kind, row, taken } => {
                let text = &self.shared.texts(kind)?.insert;
                match self.write_row(text, tenant, keys, kind, row, None) {
                    Ok(_) => {
                        self.piece = Piece::Begun;
                        self.index(tenant, keys, kind, row)
                    }
                    Err(StoreError::Database(error)) if is_taken(&error) => Err(refused(taken)),
                    Err(error) => Err(error.into()),
                }
            }
            Step::Update { kind, row, expect_version, stale } => {
                let texts = self.shared.texts(kind)?;
                match self.write_row(&texts.update, tenant, keys, kind, row, Some(*expect_version))? {
                    0 => Err(ends_stale(stale)),
                    _ => {
                        self.piece = Piece::Begun;
                        self.connection.prepare_cached(&texts.remove_words)?.execute(params![tenant, row.id])?;
                        self.index(tenant, keys, kind, row)
                    }
                }
            }
            Step::Adjust { kind, id, column, by, floor, below } => {
                let text = sql::for_sqlite(&sql::adjust(kind, column));
                match self.connection.prepare_cached(&text)?.execute(params![tenant, id, by, floor])? {
                    0 => Err(refused(below)),
                    _ => {
                        self.piece = Piece::Begun;
                        Ok(())
                    }
                }
            }
            Step::Require { kind, id, expect_version, stale } => {
                let text = &self.shared.texts(kind)?.version;
                let mut statement = self.connection.prepare_cached(text)?;
                let version: Option<i64> = statement.query_row(params![tenant, id], |row| row.get(0)).optional()?;
                match version {
                    Some(version) if version == *expect_version => Ok(()),
                    Some(_) | None => Err(ends_stale(stale)),
                }
            }
        }
    }

    /// The values in the order of `sql::insert`, then the expected version of `sql::update`.
    fn write_row(
        &self,
        text: &str,
        tenant: &str,
        keys: &TenantKeys,
        kind: &Kind,
        row: &Row,
        expect_version: Option<i64>,
    ) -> Result<usize, StoreError> {
        let sealed = match &row.personal {
            None => None,
            Some(personal) => {
                let place = [tenant, kind.name, row.id.as_str(), "personal"];
                Some(self.shared.vault.seal(keys, &place, personal.as_bytes()).ok_or(StoreError::WrongKey)?)
            }
        };
        let mut statement = self.connection.prepare_cached(text)?;
        statement.raw_bind_parameter(1, tenant)?;
        statement.raw_bind_parameter(2, &row.id)?;
        statement.raw_bind_parameter(3, row.version)?;
        statement.raw_bind_parameter(4, row.created_at)?;
        statement.raw_bind_parameter(5, row.updated_at)?;
        statement.raw_bind_parameter(6, &row.body)?;
        statement.raw_bind_parameter(7, &row.masked)?;
        statement.raw_bind_parameter(8, sealed)?;
        let mut number = 9;
        for value in sql::cells(kind, row, keys) {
            statement.raw_bind_parameter(number, value)?;
            number += 1;
        }
        if let Some(version) = expect_version {
            statement.raw_bind_parameter(number, version)?;
        }
        Ok(statement.raw_execute()?)
    }

    fn index(&self, tenant: &str, keys: &TenantKeys, kind: &Kind, row: &Row) -> Result<(), Ends> {
        let mut statement = self.connection.prepare_cached(&self.shared.texts(kind)?.add_word)?;
        for word in &row.words {
            statement.execute(params![tenant, Value::of_word(word, kind, Some(keys)), row.id])?;
        }
        Ok(())
    }

    fn numbers(&mut self, tenant: &str) -> Result<&mut Numbers, StoreError> {
        if !self.numbers.contains_key(tenant) {
            let row = self
                .connection
                .prepare_cached("SELECT event_seq FROM fd_counter WHERE tenant = ?1")?
                .query_row([tenant], |row| row.get(0))
                .optional()?
                .unwrap_or(0);
            self.numbers.insert(tenant.to_owned(), Numbers { row, last: row });
        }
        self.numbers.get_mut(tenant).ok_or(StoreError::Unfinished)
    }

    /// Writes what was only remembered, in the transaction of what it counts.
    fn write_down(&mut self) -> Result<(), StoreError> {
        for (tenant, numbers) in self.numbers.drain().filter(|(_, numbers)| numbers.last != numbers.row) {
            self.connection
                .prepare_cached(
                    "INSERT INTO fd_counter (tenant, event_seq) VALUES (?1, ?2) \
                     ON CONFLICT (tenant) DO UPDATE SET event_seq = excluded.event_seq",
                )?
                .execute(params![tenant, numbers.last])?;
        }
        self.write_heads()
    }

    fn claim(&self, tenant: &str, keys: &TenantKeys, claim: &Claim, answer: &Item, at: i64) -> Result<(), StoreError> {
        let key_hash = claims::hash_of(keys, claim);
        let kept = claims::seal(&self.shared.vault, keys, tenant, claim, &key_hash, answer);
        let kept = kept.ok_or(StoreError::WrongKey)?;
        self.connection
            .prepare_cached(
                "INSERT INTO fd_claim (tenant, client, tool, key_hash, meaning, sealed_answer, at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![tenant, claim.client.as_str(), claim.tool, key_hash, kept.meaning, kept.answer, at])?;
        Ok(())
    }
}

/// What was answered under a key, opened.
pub(crate) fn claimed(
    connection: &Connection,
    keys: &TenantKeys,
    tenant: &str,
    claim: &Claim,
) -> Result<Option<Claimed>, StoreError> {
    let key_hash = claims::hash_of(keys, claim);
    let kept = connection
        .prepare_cached(
            "SELECT meaning, sealed_answer FROM fd_claim WHERE tenant = ?1 AND client = ?2 AND tool = ?3 AND key_hash = ?4",
        )?
        .query_row(params![tenant, claim.client.as_str(), claim.tool, key_hash], |row| {
            Ok(claims::Kept { meaning: row.get(0)?, answer: row.get(1)? })
        })
        .optional()?;
    let opened = kept.map(|kept| claims::open(keys, tenant, claim, &key_hash, &kept).ok_or(StoreError::WrongKey));
    opened.transpose()
}

fn ends_stale(stale: &Stale) -> Ends {
    match stale {
        Stale::Caller(fault) => refused(fault),
        Stale::Rerun => Ends::As(Box::new(Committed::Stale)),
    }
}

fn refused(fault: &Fault) -> Ends {
    Ends::As(Box::new(Committed::Refused(fault.clone())))
}

fn is_taken(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    matches!(code, Some(ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY))
}
