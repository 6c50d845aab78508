//! The installation's own row: its Ed25519 key, made when the schema gains the table and sealed with the master key. A row
//! that was deleted is made again, so that the server starts, but it says so for ever.

pub mod root_key;

use std::sync::Arc;

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::Random;
use frontdesk_engine::seal::SealKey;
use frontdesk_engine::seal::installation_key::InstallationKey;

use serde_json::json;

use crate::StoreError;
use crate::audit::reader::AUDITOR;
use crate::audit::{self, summary};
use crate::postgres::connection::PgConnection;
use crate::reindex::IndexSession;
use crate::sql::session::{SqlReader, SqlSession, StoredValue};
use crate::sqlite::open;
use crate::transfer::DataLocation;

/// What the key that seals the row is derived for.
const KEY_PURPOSE: &str = "installation key";

/// What is needed to set up a database.
pub(crate) struct SetupKeys {
    pub(crate) master: SealKey,
    pub(crate) random: Arc<dyn Random>,
    /// Whose audit chain records it.
    pub(crate) node: String,
    pub(crate) at: Millis,
}

/// When the row was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InstallationState {
    /// With its table.
    Original,
    /// Later, because it was gone.
    Recreated,
}

impl InstallationState {
    fn as_str(self) -> &'static str {
        match self {
            InstallationState::Original => "original",
            InstallationState::Recreated => "recreated",
        }
    }
}

pub(crate) struct Installation {
    pub(crate) key: InstallationKey,
    pub(crate) state: InstallationState,
}

/// The installation's signing key, of a database that may be in use by servers.
pub async fn installation_key(location: &DataLocation, master: &SealKey) -> Result<InstallationKey, StoreError> {
    let found = match location {
        DataLocation::Sqlite(path) => find(&open::reader(path)?, master).await?,
        DataLocation::Postgres(address) => {
            find(&PgConnection::connect(&address.with_statement_timeout()).await?, master).await?
        }
    };
    found.map(|installation| installation.key).ok_or(StoreError::NoInstallation)
}

/// `None` if there is no row. Fails if another master key sealed it, or somebody has changed it.
pub(crate) async fn find<S: SqlReader>(session: &S, master: &SealKey) -> Result<Option<Installation>, StoreError> {
    let rows = session.query("SELECT sealed_seed, state, seal FROM fd_installation", &[]).await?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let (key, sealed, state) = (master.derive(KEY_PURPOSE), row.bytes(0)?, row.text(1)?);
    let seed = key.open(&[KEY_PURPOSE], sealed).ok_or(StoreError::WrongKey)?;
    let is_original = state == InstallationState::Original.as_str() && row.bytes(2)? == row_seal(&key, sealed, state);
    Ok(Some(Installation {
        key: InstallationKey::from_seed(&seed).ok_or(StoreError::WrongKey)?,
        state: if is_original { InstallationState::Original } else { InstallationState::Recreated },
    }))
}

/// Within the transaction that migrates the schema. The row is made with its table; then the summary is, too, of the
/// chains that are there. A row that is missing later is made again, and the record and the row say so.
pub(crate) async fn set_up<S: IndexSession>(
    session: &S,
    keys: &SetupKeys,
    is_new: IsNewTable,
) -> Result<(), StoreError> {
    let audit_key = keys.master.derive(audit::KEY_PURPOSE);
    let state = match is_new {
        IsNewTable::Yes => InstallationState::Original,
        IsNewTable::No if find(session, &keys.master).await?.is_none() => InstallationState::Recreated,
        IsNewTable::No => return Ok(()),
    };
    let public_key = create(session, keys, state).await?;
    if state == InstallationState::Original {
        session.set_tenant(AUDITOR).await?;
        summary::create(session, &audit_key, keys.at).await?;
        session.set_tenant("").await?;
        // A new database has nothing to record it for.
        if session.query("SELECT 1 FROM fd_audit_roster LIMIT 1", &[]).await?.is_empty() {
            return Ok(());
        }
    }
    let at = keys.at.to_rfc3339();
    let record = json!({"at": at, "action": "installation.set_up", "state": state.as_str(), "public_key": public_key});
    summary::append_record(session, &audit_key, &keys.node, keys.at, &record.to_string()).await
}

/// Whether the migration creates the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IsNewTable {
    Yes,
    No,
}

async fn create<S: SqlSession>(session: &S, keys: &SetupKeys, state: InstallationState) -> Result<String, StoreError> {
    let key = keys.master.derive(KEY_PURPOSE);
    let seed = InstallationKey::random_seed(keys.random.as_ref());
    let sealed = key.seal(keys.random.as_ref(), &[KEY_PURPOSE], seed.as_slice()).ok_or(StoreError::WrongKey)?;
    let seal = row_seal(&key, &sealed, state.as_str());
    let text = "INSERT INTO fd_installation (one, sealed_seed, state, seal) VALUES (1, $1, $2, $3)";
    let params: [StoredValue; 3] = [sealed.as_slice().into(), state.as_str().into(), seal.as_slice().into()];
    session.execute(text, &params).await?;
    let pair = InstallationKey::from_seed(seed.as_slice()).ok_or(StoreError::WrongKey)?;
    Ok(pair.public_key().to_string())
}

fn row_seal(key: &SealKey, sealed: &[u8], state: &str) -> [u8; 32] {
    key.digest(&[b"row", sealed, state.as_bytes()])
}
