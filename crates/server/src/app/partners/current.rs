//! The credentials that are accepted now, by the path of their mount. A call keeps the app it began with, but a credential
//! that was taken away must not be good for as long as a stream is open.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;

use super::PartnerSecrets;

/// One entry for each path that was ever a partner's. Clones share them.
#[derive(Clone, Default)]
pub(in crate::app) struct CurrentSecrets(Arc<Mutex<BTreeMap<String, Arc<ArcSwap<PartnerSecrets>>>>>);

impl CurrentSecrets {
    /// Accepts these and no others, at no other path.
    pub(in crate::app) fn replace<'a>(&self, secrets: impl IntoIterator<Item = (&'a str, PartnerSecrets)>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut given: BTreeMap<&str, PartnerSecrets> = secrets.into_iter().collect();
        for (path, current) in known.iter() {
            current.store(Arc::new(given.remove(path.as_str()).unwrap_or_default()));
        }
        for (path, secrets) in given {
            known.insert(path.to_owned(), Arc::new(ArcSwap::from_pointee(secrets)));
        }
    }

    /// Those of a mount, now and later; none at a path that has no partner.
    pub(in crate::app) fn of(&self, path: &str) -> Arc<ArcSwap<PartnerSecrets>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned().unwrap_or_default()
    }
}
