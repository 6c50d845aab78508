//! The tenants' keys: each tenant's personal data is sealed with a key of its own, and that key is
//! sealed with the master key. Nothing here is ever written in clear.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use frontdesk_engine::ports::Random;
use frontdesk_engine::seal::SealKey;

/// One tenant's two keys: one for sealing, one for look-up by hash.
pub(crate) struct TenantKeys {
    data: SealKey,
    lookup: SealKey,
}

/// Where a hash for look-up is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place<'a> {
    Column {
        kind: &'a str,
        column: &'a str,
    },
    /// Among the words that a kind is found by.
    Word {
        kind: &'a str,
    },
    /// An idempotency key of one client for one tool.
    Claim {
        client: &'a str,
        tool: &'a str,
    },
}

/// So many bytes of a hash are kept for look-up.
const SHOWN: usize = 16;

/// What the key that seals the tenants' keys is derived for.
const PURPOSE: &str = "tenant keys";

pub(crate) struct Vault {
    master: SealKey,
    random: Arc<dyn Random>,
    tenants: RwLock<HashMap<String, Arc<TenantKeys>>>,
}

impl Vault {
    pub(crate) fn new(master: &SealKey, random: Arc<dyn Random>) -> Vault {
        Vault { master: master.derive(PURPOSE), random, tenants: RwLock::new(HashMap::new()) }
    }

    /// A new tenant's key, sealed for keeping. It can be used only after `unlock`.
    pub(crate) fn create(&self, tenant: &str) -> Option<Vec<u8>> {
        self.lock(tenant, &SealKey::random(self.random.as_ref()))
    }

    /// Seals a tenant's key for keeping.
    pub(crate) fn lock(&self, tenant: &str, key: &SealKey) -> Option<Vec<u8>> {
        self.master.seal(self.random.as_ref(), &["tenant key", tenant], key.expose())
    }

    /// Opens a kept key; `None` if the master key is not the one that sealed it.
    pub(crate) fn unlock(&self, tenant: &str, sealed: &[u8]) -> Option<()> {
        let data = opened(&self.master, tenant, sealed)?;
        let keys = TenantKeys { lookup: data.derive("look-up"), data: data.derive("data") };
        self.tenants.write().ok()?.insert(tenant.to_owned(), Arc::new(keys));
        Some(())
    }

    pub(crate) fn keys(&self, tenant: &str) -> Option<Arc<TenantKeys>> {
        self.tenants.read().ok()?.get(tenant).cloned()
    }

    /// Seals for one cell of one table, so that no sealed value can be moved to another place.
    pub(crate) fn seal(&self, keys: &TenantKeys, place: &[&str], plain: &[u8]) -> Option<Vec<u8>> {
        keys.data.seal(self.random.as_ref(), place, plain)
    }
}

/// A tenant's kept key itself, for one that moves to another master key.
pub(crate) fn tenant_key(master: &SealKey, tenant: &str, sealed: &[u8]) -> Option<SealKey> {
    opened(&master.derive(PURPOSE), tenant, sealed)
}

fn opened(master: &SealKey, tenant: &str, sealed: &[u8]) -> Option<SealKey> {
    let plain = master.open(&["tenant key", tenant], sealed)?;
    Some(SealKey::from_bytes(plain.try_into().ok()?))
}

impl TenantKeys {
    pub(crate) fn open(&self, place: &[&str], sealed: &[u8]) -> Option<String> {
        String::from_utf8(self.open_bytes(place, sealed)?).ok()
    }

    pub(crate) fn open_bytes(&self, place: &[&str], sealed: &[u8]) -> Option<Vec<u8>> {
        self.data.open(place, sealed)
    }

    /// A keyed hash as text: equal values in one place can be found, nothing can be read back, and equal
    /// values in two places have nothing in common.
    pub(crate) fn digest(&self, place: Place<'_>, value: &str) -> String {
        let parts = match place {
            Place::Column { kind, column } => ["column", kind, column, value],
            Place::Word { kind } => ["word", kind, "", value],
            Place::Claim { client, tool } => ["claim", client, tool, value],
        };
        let hash = self.lookup.digest(&parts.map(str::as_bytes));
        let half = |bits: u8| char::from_digit(u32::from(bits), 16).unwrap_or('0');
        let mut text = String::with_capacity(2 * SHOWN);
        for byte in hash.iter().take(SHOWN) {
            text.push(half(byte >> 4));
            text.push(half(byte & 15));
        }
        text
    }
}
