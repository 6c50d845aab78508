//! Which mounts the operator has closed. The switches outlive a reload; the configuration can close a mount as well, and
//! then no switch opens it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use frontdesk_engine::desk::MaintenanceSwitch;

/// One switch for each path that was ever mounted. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct MaintenanceSwitches(Arc<Mutex<BTreeMap<String, MaintenanceSwitch>>>);

impl MaintenanceSwitches {
    /// The operator's switch of a mount.
    pub(crate) fn of(&self, path: &str) -> MaintenanceSwitch {
        let mut switches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        switches.entry(path.to_owned()).or_default().clone()
    }
}

/// The switch of a mount that the configuration has closed.
pub(super) fn closed() -> MaintenanceSwitch {
    let switch = MaintenanceSwitch::default();
    switch.turn_on();
    switch
}
