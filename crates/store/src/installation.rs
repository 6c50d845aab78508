//! The installation's own row: its Ed25519 key, made when the schema gains the table and sealed with the master key. A row
//! that was deleted is made again, so that the server starts, but it says so for ever.

use std::sync::Arc;

use frontdesk_engine::ports::Random;
use frontdesk_engine::seal::SealKey;
use frontdesk_engine::seal::installation_key::InstallationKey;

use crate::StoreError;
use crate::postgres::connection::PgConnection;
use crate::sql::session::{SqlReader, SqlSession, StoredValue};
use crate::sqlite::open;
use crate::transfer::DataLocation;

/// What the key that seals the row is derived for.
const KEY_PURPOSE: &str = "installation key";

/// What is needed to set up a database.
pub(crate) struct SetupKeys {
    pub(crate) master: SealKey,
    pub(crate) random: Arc<dyn Random>,
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
    #[expect(dead_code, reason = "audit verify reads it, which follows")]
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

/// Within the transaction that has created the table, or found the row missing.
pub(crate) async fn create<S: SqlSession>(
    session: &S,
    keys: &SetupKeys,
    state: InstallationState,
) -> Result<(), StoreError> {
    let key = keys.master.derive(KEY_PURPOSE);
    let seed = InstallationKey::random_seed(keys.random.as_ref());
    let sealed = key.seal(keys.random.as_ref(), &[KEY_PURPOSE], seed.as_slice()).ok_or(StoreError::WrongKey)?;
    let seal = row_seal(&key, &sealed, state.as_str());
    let text = "INSERT INTO fd_installation (one, sealed_seed, state, seal) VALUES (1, $1, $2, $3)";
    let params: [StoredValue; 3] = [sealed.as_slice().into(), state.as_str().into(), seal.as_slice().into()];
    session.execute(text, &params).await?;
    Ok(())
}

fn row_seal(key: &SealKey, sealed: &[u8], state: &str) -> [u8; 32] {
    key.digest(&[b"row", sealed, state.as_bytes()])
}
