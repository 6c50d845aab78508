//! PostgreSQL, for one or several nodes. Reads share a few pipelined connections; writes are gathered and
//! committed one transaction per tenant. Row-level security stands behind every statement about a tenant's
//! rows, and a role that could pass it is refused.

pub(crate) mod address;
mod apply;
mod audits;
mod chains;
pub(crate) mod flight;
mod lanes;
pub(crate) mod live;
mod node;
mod registry;
mod schema;
mod store;
mod tenants;
pub(crate) mod texts;
pub(crate) mod tls;
mod upkeep;
pub(crate) mod values;
mod walls;
pub(crate) mod writers;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::ports::{Clock, Random};
use frontdesk_engine::seal::SealKey;

use crate::StoreError;
use crate::audit;
use crate::vault::Vault;
use lanes::Lanes;
use live::Live;
use texts::Texts;
use writers::Writers;

pub use address::{Address, AddressError};
pub use audits::PostgresAudit;

/// Look-ups by key share these.
const SHORT_LANES: usize = 2;
/// Pages have their own, so that a slow search holds up no look-up.
const SLOW_LANES: usize = 2;

pub struct PostgresOptions {
    pub address: Address,
    pub master: SealKey,
    pub random: Arc<dyn Random>,
    pub clock: Arc<dyn Clock>,
    pub kinds: Vec<&'static TableSpec>,
    /// How long a commit is waited for.
    pub commit_wait: Duration,
}

pub struct PostgresStore {
    shared: Arc<Shared>,
    address: Address,
    short: Lanes,
    slow: Lanes,
    writers: Writers,
    commit_wait: Duration,
}

/// What readers and writers both need.
pub(crate) struct Shared {
    vault: Vault,
    audit_key: SealKey,
    clock: Arc<dyn Clock>,
    texts: HashMap<&'static str, Texts>,
    /// This node's name, new at every start: no two processes ever write to one chain.
    node: String,
}

/// Whether the server is there, can be trusted, and lets us in as a role that the wall holds. Nothing is changed.
pub async fn reach(address: &Address) -> Result<(), StoreError> {
    walls::check_role(&Live::connect(&address.brief()).await?).await
}

/// Whether the database was set up by this version with this master key, and its walls hold us. Nothing is changed.
pub(crate) async fn set_up_with(live: &Live, master: &SealKey, kinds: &[&'static TableSpec]) -> Result<(), StoreError> {
    walls::check_role(live).await?;
    schema::check(live, master).await?;
    walls::check(live, kinds).await
}

impl PostgresStore {
    pub async fn open(options: PostgresOptions) -> Result<PostgresStore, StoreError> {
        // Migrations may take their time; everything else has a limit.
        let setting_up = Live::connect(&options.address.patient()).await?;
        walls::check_role(&setting_up).await?;
        schema::migrate(&setting_up, &options.kinds).await?;
        walls::check(&setting_up, &options.kinds).await?;
        schema::check_key(&setting_up, &options.master).await?;
        let mut name = [0; 8];
        options.random.fill(&mut name);
        let shared = Arc::new(Shared {
            vault: Vault::new(&options.master, options.random),
            audit_key: options.master.derive(audit::KEY),
            clock: options.clock,
            texts: options.kinds.iter().map(|kind| (kind.name, Texts::of(kind))).collect(),
            node: name.iter().map(|byte| format!("{byte:02x}")).collect(),
        });
        registry::unlock_tenants(&setting_up, &shared.vault).await?;
        let writers = Writers::start(&options.address, Arc::clone(&shared))?;
        Ok(PostgresStore {
            short: Lanes::new(options.address.brief(), SHORT_LANES),
            slow: Lanes::new(options.address.brief(), SLOW_LANES),
            shared,
            address: options.address,
            writers,
            commit_wait: options.commit_wait,
        })
    }

    /// The name of this node's own audit chain.
    pub fn node(&self) -> &str {
        &self.shared.node
    }
}

impl Shared {
    fn texts(&self, kind: &TableSpec) -> Result<&Texts, StoreError> {
        self.texts.get(kind.name).ok_or(StoreError::UnknownKind(kind.name))
    }
}
