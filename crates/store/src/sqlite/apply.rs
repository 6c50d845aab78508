//! Applying work to the open transaction. Everything that must happen together happens here: the
//! steps, the claim, the events with their gapless numbers, and the audit link.

use std::collections::HashMap;

use frontdesk_engine::Fault;
use frontdesk_engine::model::plan::OnConflict;
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::ports::{Claim, Committed, StoredAnswer};
use rusqlite::{Connection, ErrorCode, OptionalExtension, Statement, ffi, params};

use super::Shared;
use super::hands::Hands;
use super::ready::{Claiming, Ready, Step, Values};
use super::words::AT_ONCE;
use super::writer::Task;
use crate::StoreError;
use crate::audit::Head;
use crate::claims;
use crate::sql::{FIND_CLAIM, for_sqlite};
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
    pub(super) hands: Hands<'a>,
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
            hands: Hands::new(connection),
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
    pub(crate) fn commit(&mut self, ready: &Ready, care: Care) -> Result<Committed, StoreError> {
        self.piece = Piece::Untouched;
        let outcome = match care {
            Care::Together => self.apply(ready),
            Care::Apart => self.apply_apart(ready),
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

    fn apply_apart(&mut self, ready: &Ready) -> Result<(), Ends> {
        self.connection.execute_batch("SAVEPOINT piece")?;
        let outcome = self.apply(ready);
        self.settle(outcome)
    }

    /// What is only remembered, the last number and the last link, changes when nothing can fail any more.
    fn apply(&mut self, ready: &Ready) -> Result<(), Ends> {
        let tenant = ready.tenant.as_str();
        if let Some(Claiming { claim, hash, keys, .. }) = &ready.claim
            && let Some(earlier) = claimed_by(self.hands.find_claim()?, keys, tenant, claim, hash)?
        {
            return Err(Ends::As(Box::new(Committed::AlreadyClaimed(earlier))));
        }
        for step in &ready.steps {
            self.step(tenant, step)?;
        }
        let mut last = self.numbers(tenant)?.last;
        for (name, event) in &ready.events {
            last += 1;
            let values = params![tenant, last, name, event.kind, event.id, event.change.as_str(), ready.at];
            self.hands.add_event()?.execute(values)?;
            self.piece = Piece::Begun;
        }
        if let Some(claiming) = &ready.claim {
            self.claim(tenant, claiming, ready.at)?;
            self.piece = Piece::Begun;
        }
        self.append(&ready.chain, ready.at, &ready.audit)?;
        self.numbers(tenant)?.last = last;
        Ok(())
    }

    fn step(&mut self, tenant: &str, step: &Step) -> Result<(), Ends> {
        match step {
            Step::Insert { kind, row, taken } => {
                let texts = self.shared.texts(kind)?;
                match write_row(self.hands.add_row(kind, texts)?, tenant, row) {
                    Ok(_) => {
                        self.piece = Piece::Begun;
                        self.index(kind, tenant, row)
                    }
                    Err(StoreError::Database(error)) if is_taken(&error) => Err(refused(taken)),
                    Err(error) => Err(error.into()),
                }
            }
            Step::Update { kind, row, expect_version, stale } => {
                let texts = self.shared.texts(kind)?;
                // While the row still knows them. One of another version keeps its words.
                let gone = self.connection.prepare_cached(&texts.remove_words)?.execute(params![
                    tenant,
                    row.id,
                    expect_version
                ])?;
                if gone > 0 {
                    self.piece = Piece::Begun;
                }
                let mut statement = self.connection.prepare_cached(&texts.update)?;
                match write_row(&mut statement, tenant, row)? {
                    0 => Err(ends_stale(stale)),
                    _ => {
                        self.piece = Piece::Begun;
                        self.index(kind, tenant, row)
                    }
                }
            }
            Step::Adjust { text, id, by, floor, below } => {
                match self.connection.prepare_cached(text)?.execute(params![tenant, id, by, floor])? {
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

    fn index(&mut self, kind: &TableSpec, tenant: &str, row: &Values) -> Result<(), Ends> {
        for group in row.words.chunks(AT_ONCE) {
            let Some(statement) = self.hands.add_words(kind, group.len())? else {
                return Err(StoreError::NotCommitted(format!("no statement adds {} words", group.len())).into());
            };
            statement.raw_bind_parameter(1, tenant)?;
            statement.raw_bind_parameter(2, &row.id)?;
            for (number, word) in (3..).zip(group) {
                statement.raw_bind_parameter(number, word)?;
            }
            statement.raw_execute()?;
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

    fn claim(&mut self, tenant: &str, claiming: &Claiming, at: i64) -> Result<(), StoreError> {
        let Claiming { claim, hash, kept, .. } = claiming;
        let values = params![tenant, claim.client.as_str(), claim.tool, hash, kept.meaning, kept.answer, at];
        self.hands.add_claim()?.execute(values)?;
        Ok(())
    }
}

fn write_row(statement: &mut Statement<'_>, tenant: &str, row: &Values) -> Result<usize, StoreError> {
    statement.raw_bind_parameter(1, tenant)?;
    statement.raw_bind_parameter(2, &row.id)?;
    for (number, value) in (3..).zip(&row.rest) {
        statement.raw_bind_parameter(number, value)?;
    }
    Ok(statement.raw_execute()?)
}

/// What was answered under a key, opened. The key comes with its hash.
pub(crate) fn claimed(
    connection: &Connection,
    keys: &TenantKeys,
    tenant: &str,
    claim: &Claim,
    hash: &str,
) -> Result<Option<StoredAnswer>, StoreError> {
    claimed_by(&mut *connection.prepare_cached(&for_sqlite(FIND_CLAIM))?, keys, tenant, claim, hash)
}

fn claimed_by(
    statement: &mut Statement<'_>,
    keys: &TenantKeys,
    tenant: &str,
    claim: &Claim,
    hash: &str,
) -> Result<Option<StoredAnswer>, StoreError> {
    let kept = statement
        .query_row(params![tenant, claim.client.as_str(), claim.tool, hash], |row| {
            Ok(claims::Kept { meaning: row.get(0)?, answer: row.get(1)? })
        })
        .optional()?;
    let opened = kept.map(|kept| claims::open(keys, tenant, claim, hash, &kept).ok_or(StoreError::WrongKey));
    opened.transpose()
}

fn ends_stale(stale: &OnConflict) -> Ends {
    match stale {
        OnConflict::Fail(fault) => refused(fault),
        OnConflict::Retry => Ends::As(Box::new(Committed::VersionConflict)),
    }
}

fn refused(fault: &Fault) -> Ends {
    Ends::As(Box::new(Committed::Refused(fault.clone())))
}

fn is_taken(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    matches!(code, Some(ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY))
}
