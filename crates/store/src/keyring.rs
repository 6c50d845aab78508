//! The tenants' keys: each tenant's personal data is sealed with a key of its own, and that key is wrapped with the
//! master key. No key is ever stored in clear.

mod row_mac;

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use frontdesk_engine::model::table::{Row, TableSpec};
use frontdesk_engine::ports::Random;
use frontdesk_engine::seal::{MacKey, SealKey};

use crate::StoreError;
use crate::sql::registry_rows::RegistryKey;

pub(crate) use row_mac::RowContent;

/// A tenant's keys: for sealing, for keyed hashes and for the MACs of rows.
pub(crate) struct TenantKeys {
    data: SealKey,
    lookup: SealKey,
    rows: MacKey,
    /// The key as it is stored. A tenant that was erased and added again has another one.
    wrapped: Vec<u8>,
}

/// What a keyed hash is used for. Equal values in two domains have different hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HashDomain<'a> {
    Column {
        table: &'a str,
        column: &'a str,
    },
    SearchTerm {
        table: &'a str,
    },
    /// An idempotency key of one client for one tool.
    Claim {
        client: &'a str,
        tool: &'a str,
    },
}

/// A part of a row that is sealed by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowPart {
    /// The column `sealed`.
    Personal,
    /// Write-only values, in the column `sealed_secret`.
    Secret,
}

impl RowPart {
    /// A part that is copied into another row or column does not open there.
    fn associated_data<'a>(self, tenant: &'a str, table: &TableSpec, id: &'a str) -> [&'a str; 4] {
        let column = match self {
            RowPart::Personal => "personal",
            RowPart::Secret => "sealed_secret",
        };
        [tenant, table.name, id, column]
    }
}

/// How many bytes of a hash are stored.
const DIGEST_BYTES: usize = 16;

/// What the key that wraps the tenants' keys is derived for.
const PURPOSE: &str = "tenant keys";

pub(crate) struct Keyring {
    wrapping: SealKey,
    registry: RegistryKey,
    random: Arc<dyn Random>,
    cache: RwLock<KeyCache>,
}

#[derive(Default)]
struct KeyCache {
    tenants: HashMap<String, Arc<TenantKeys>>,
    /// How often keys were removed.
    removals: u64,
}

/// Taken before a key is read from the database, and given back with the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CacheState(u64);

impl Keyring {
    pub(crate) fn new(master: &SealKey, random: Arc<dyn Random>) -> Keyring {
        Keyring {
            wrapping: master.derive(PURPOSE),
            registry: RegistryKey::new(master),
            random,
            cache: RwLock::default(),
        }
    }

    /// The key of the rows that decide access.
    pub(crate) fn registry(&self) -> &RegistryKey {
        &self.registry
    }

    /// A new tenant's wrapped key. It can be used only after `unwrap`.
    pub(crate) fn create(&self, tenant: &str) -> Option<Vec<u8>> {
        self.wrap(tenant, &SealKey::random(self.random.as_ref()))
    }

    pub(crate) fn wrap(&self, tenant: &str, key: &SealKey) -> Option<Vec<u8>> {
        self.wrapping.seal(self.random.as_ref(), &["tenant key", tenant], key.expose())
    }

    /// Adds a tenant's key; fails if another master key wrapped it.
    pub(crate) fn unwrap(&self, tenant: &str, wrapped: &[u8]) -> Result<Arc<TenantKeys>, StoreError> {
        self.unwrap_since(self.state(), tenant, wrapped)
    }

    /// The same for a key that was read after `state` was taken. If keys were removed since then, this one may have been
    /// read before its tenant was erased: it is returned, and not added.
    pub(crate) fn unwrap_since(
        &self,
        state: CacheState,
        tenant: &str,
        wrapped: &[u8],
    ) -> Result<Arc<TenantKeys>, StoreError> {
        let key = unwrap_key(&self.wrapping, tenant, wrapped).ok_or(StoreError::WrongKey)?;
        let keys = Arc::new(TenantKeys { wrapped: wrapped.to_vec(), ..TenantKeys::of(&key) });
        let mut cache = self.cache.write().map_err(|_| StoreError::Closed)?;
        if cache.removals == state.0 {
            cache.tenants.insert(tenant.to_owned(), Arc::clone(&keys));
        }
        Ok(keys)
    }

    /// Whether this master key has wrapped the tenant's key.
    pub(crate) fn opens(&self, tenant: &str, wrapped: &[u8]) -> bool {
        unwrap_key(&self.wrapping, tenant, wrapped).is_some()
    }

    pub(crate) fn state(&self) -> CacheState {
        // A poisoned lock refuses keys as well.
        CacheState(self.cache.read().map_or(0, |cache| cache.removals))
    }

    pub(crate) fn keys(&self, tenant: &str) -> Option<Arc<TenantKeys>> {
        self.cache.read().ok()?.tenants.get(tenant).cloned()
    }

    /// Whether these are the keys that are used for the tenant now.
    pub(crate) fn is_current(&self, tenant: &str, keys: &Arc<TenantKeys>) -> bool {
        self.keys(tenant).is_some_and(|current| Arc::ptr_eq(&current, keys))
    }

    /// After an erasure: a key that is needed again is read from the database again.
    pub(crate) fn clear(&self) {
        if let Ok(mut cache) = self.cache.write() {
            cache.tenants.clear();
            cache.removals += 1;
        }
    }

    /// Seals for one cell of one table: elsewhere the sealed value cannot be opened.
    pub(crate) fn seal(&self, keys: &TenantKeys, associated_data: &[&str], plain: &[u8]) -> Option<Vec<u8>> {
        keys.data.seal(self.random.as_ref(), associated_data, plain)
    }

    /// A part of a row, sealed.
    pub(crate) fn seal_part(
        &self,
        part: RowPart,
        keys: &TenantKeys,
        tenant: &str,
        table: &TableSpec,
        row: &Row,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let plain = match part {
            RowPart::Personal => &row.personal,
            RowPart::Secret => &row.secret,
        };
        let Some(plain) = plain else {
            return Ok(None);
        };
        let sealed = self.seal(keys, &part.associated_data(tenant, table, &row.id), plain.as_bytes());
        sealed.map(Some).ok_or(StoreError::WrongKey)
    }
}

/// A tenant's key itself, for an export to a database with another master key.
pub(crate) fn unwrap_tenant_key(master: &SealKey, tenant: &str, wrapped: &[u8]) -> Option<SealKey> {
    unwrap_key(&master.derive(PURPOSE), tenant, wrapped)
}

fn unwrap_key(wrapping: &SealKey, tenant: &str, wrapped: &[u8]) -> Option<SealKey> {
    SealKey::from_vec(wrapping.open(&["tenant key", tenant], wrapped)?)
}

impl TenantKeys {
    /// The keys that are derived from the tenant's key.
    pub(crate) fn of(key: &SealKey) -> TenantKeys {
        TenantKeys {
            data: key.derive("data"),
            lookup: key.derive("look-up"),
            rows: MacKey::new(&key.derive("rows")),
            wrapped: Vec::new(),
        }
    }

    /// A number for one search term of one row. The sum over many of them is the same only for the same terms and rows.
    pub(crate) fn term_number(&self, term: &str, id: &str) -> u128 {
        let hash = self.lookup.digest(&[b"term of row", term.as_bytes(), id.as_bytes()]);
        hash.first_chunk().map_or(0, |bytes| u128::from_be_bytes(*bytes))
    }

    /// Whether they were made from this stored key.
    pub(crate) fn are_of(&self, wrapped: &[u8]) -> bool {
        self.wrapped == wrapped
    }

    pub(crate) fn open(&self, associated_data: &[&str], sealed: &[u8]) -> Option<String> {
        String::from_utf8(self.open_bytes(associated_data, sealed)?).ok()
    }

    pub(crate) fn open_bytes(&self, associated_data: &[&str], sealed: &[u8]) -> Option<Vec<u8>> {
        self.data.open(associated_data, sealed)
    }

    pub(crate) fn open_part(
        &self,
        part: RowPart,
        tenant: &str,
        table: &TableSpec,
        id: &str,
        sealed: &[u8],
    ) -> Result<String, StoreError> {
        self.open(&part.associated_data(tenant, table, id), sealed).ok_or(StoreError::WrongKey)
    }

    /// A keyed hash in hexadecimal: equal values of one domain can be found, and none can be read back.
    pub(crate) fn digest(&self, domain: HashDomain<'_>, value: &str) -> String {
        let parts = match domain {
            HashDomain::Column { table, column } => ["column", table, column, value],
            HashDomain::SearchTerm { table } => ["word", table, "", value],
            HashDomain::Claim { client, tool } => ["claim", client, tool, value],
        };
        let hash = self.lookup.digest(&parts.map(str::as_bytes));
        let digit = |bits: u8| char::from_digit(u32::from(bits), 16).unwrap_or('0');
        let mut text = String::with_capacity(2 * DIGEST_BYTES);
        for byte in hash.iter().take(DIGEST_BYTES) {
            text.push(digit(byte >> 4));
            text.push(digit(byte & 15));
        }
        text
    }
}
