//! The rotation of the master key: a new one is on disk before it wraps the root key, both open the database until the
//! file is replaced, and then the old one opens it no longer. Interrupted at any point, the next call continues.

use frontdesk_store::root_key::{add_master_key, count_master_keys, retire_other_master_keys};
use frontdesk_store::transfer::DataLocation;
use serde::{Deserialize, Serialize};

use super::audit_record::key_record;
use super::requests::{AdminService, explain};
use crate::data_dir::{self, MasterKey};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyAction {
    Rotate,
    /// Every node has the new key.
    Finish,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyState {
    /// Only the key in the data folder opens the database.
    Rotated,
    /// Other nodes may still have the old key, which opens the database as well.
    BothAccepted,
    /// There was no old key.
    NothingToFinish,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyView {
    pub state: KeyState,
    pub master_key: String,
}

impl AdminService {
    pub(super) async fn change_key(&self, action: KeyAction) -> Result<KeyView, String> {
        let _turn = self.rotating.lock().await;
        let state = match action {
            KeyAction::Rotate => self.rotate_key().await?,
            KeyAction::Finish => self.finish_rotation().await?,
        };
        Ok(KeyView { state, master_key: self.key_file.display().to_string() })
    }

    async fn rotate_key(&self) -> Result<KeyState, String> {
        let failed = |error: frontdesk_store::StoreError| error.to_string();
        let (file, next) = (&self.key_file, data_dir::next_key_file(&self.key_file));
        let is_replaced = !next.exists() && count_master_keys(&self.location).await.map_err(failed)? > 1;
        match (&self.location, is_replaced) {
            // An earlier rotation was interrupted when the file had been replaced.
            (DataLocation::Sqlite(_), true) => return self.finish_rotation().await,
            (DataLocation::Postgres(_), true) => {
                return Err("the last rotation is not finished. Copy the new key to every node, and run: \
                            frontdesk key rotate --finish"
                    .to_owned());
            }
            (_, false) => {}
        }
        let new = MasterKey::read_or_create(&next, self.random.as_ref()).map_err(|error| error.to_string())?;
        self.record_key("key.rotate").await?;
        add_master_key(&self.location, &self.root, &new.key, self.random.as_ref()).await.map_err(failed)?;
        data_dir::replace_key(&next, file).map_err(|error| error.to_string())?;
        tracing::info!("the master key was rotated");
        match &self.location {
            DataLocation::Sqlite(_) => self.finish_rotation().await,
            DataLocation::Postgres(_) => Ok(KeyState::BothAccepted),
        }
    }

    async fn finish_rotation(&self) -> Result<KeyState, String> {
        let master = MasterKey::read(&self.key_file).map_err(|error| error.to_string())?;
        let retired = retire_other_master_keys(&self.location, &master.key).await.map_err(|error| error.to_string())?;
        if retired == 0 {
            return Ok(KeyState::NothingToFinish);
        }
        self.record_key("key.retire").await?;
        tracing::info!("the old master key no longer opens the database");
        Ok(KeyState::Rotated)
    }

    async fn record_key(&self, operation: &str) -> Result<(), String> {
        let record = key_record(self.clock.now(), operation);
        self.store.record_administration(record).await.map_err(explain)
    }
}
