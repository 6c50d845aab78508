//! The running application: everything that answers calls, built from a configuration and the opened data. It is replaced
//! as a whole on reload; a call keeps the one it began with.

pub(crate) mod audit_anchor;
mod audit_sealing;
mod backend;
mod background;
mod booking_clock;
mod maintenance;
mod mounts;
mod open_mounts;
mod partners;
mod reload;
mod retention_gate;
mod router;
mod run;
mod signals;
mod sites;
mod tenants;

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use frontdesk_engine::desk::{Desk, DeskSettings, Keys, Mount};
use frontdesk_engine::dispatch::{DeskSource, TaskQueue};
use frontdesk_engine::import::{ImportHost, ImportQueue};
use frontdesk_engine::limits::inflight::Inflight;
use frontdesk_engine::limits::rate::{Budget, Rates};
use frontdesk_engine::limits::streams::StreamLimits;
use frontdesk_engine::limits::tally::Tally;
use frontdesk_engine::limits::tenant_changes::TenantChanges;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::login_records::LoginRecords;
use frontdesk_engine::ports::registry::Registry;
use frontdesk_engine::ports::{Identity, Store};
use frontdesk_engine::{Contract, Fault, TenantId};
use frontdesk_identity::{Dependencies, EmbeddedServer};

use crate::config::{Config, DatabaseConfig};
use crate::http::DemoSearch;
use crate::telemetry::traces::Traces;
use crate::telemetry::{CallMetrics, DeliveryMetrics, Log, Telemetry};
pub(crate) use audit_sealing::AnchorCounters;
pub use backend::{DataBackend, DataBackendError, data_location, existing_root_key};
use background::shortest_retention;
pub(crate) use background::{
    abort_tasks, flush_tally, flush_traces, run_import_worker, run_retention, run_tally_flush,
};
pub(crate) use maintenance::MaintenanceSwitches;
pub(crate) use mounts::Via;
use mounts::{MountPlan, build_router, is_reachable, loopback_resources, plan_mounts, protected_resources};
pub use open_mounts::OpenMounts;
use partners::CurrentSecrets;
pub(crate) use partners::PartnerEndpoint;
pub use partners::{TenantCurrency, check_currencies};
pub use reload::{RESTART_KEYS, ReadConfig, Reload, ReloadedConfig};
pub(crate) use retention_gate::{RetentionGate, stored_pause};
pub use router::Router;
pub use run::{BoundListeners, OnSighup, serve_until_shutdown};
pub use signals::{install_sighup_handler, install_signal_handlers};
pub use sites::{OnDatabaseDown, SiteErrors, SiteNotice};
pub use tenants::register_tenants;

/// The largest answer is this many times a page.
const REPLY_FACTOR: usize = 4;
/// However small pages are configured, one whole resource must fit.
const MIN_REPLY_BYTES: usize = 1024 * 1024;

/// Everything that answers calls.
pub struct App {
    pub backend: Arc<DataBackend>,
    pub desk: Desk,
    pub mounts: Router,
    /// Databases and credentials that are open.
    pub opened: OpenMounts,
    pub(crate) maintenance: MaintenanceSwitches,
    pub(crate) retention: Arc<RetentionGate>,
    current_secrets: CurrentSecrets,
    /// The resources that only callers on this machine may reach.
    pub loopback_only: Vec<String>,
    /// The resources that this server issues tokens for.
    pub token_resources: Vec<String>,
    pub identity: Arc<EmbeddedServer>,
    pub log: Arc<Log>,
    pub call_metrics: Arc<CallMetrics>,
    pub delivery_metrics: Arc<DeliveryMetrics>,
    /// Exports nothing until an exporter is set.
    pub traces: Arc<Traces>,
    /// Set by `frontdesk demo` and by nothing else.
    pub demo_search: Arc<OnceLock<DemoSearch>>,
    pub config: Config,
}

impl App {
    /// With the contracts of this build as the configuration mounts them, and what some of them need opened.
    pub fn open(backend: DataBackend, config: Config, opened: OpenMounts, log: Arc<Log>) -> App {
        let (maintenance, current_secrets) = (MaintenanceSwitches::default(), CurrentSecrets::default());
        let plans = plan_mounts(&config, &opened, &maintenance, &current_secrets);
        App { maintenance, current_secrets, ..App::build(backend, config, opened, plans, log) }
    }

    /// With these contracts at these paths instead of those of this build; for interoperability tests.
    pub fn with_contracts(backend: DataBackend, config: Config, contracts: Vec<(String, Contract)>) -> App {
        let plans = contracts.into_iter().map(|(path, contract)| MountPlan::new(path, contract)).collect();
        let log = Arc::new(Log::new(config.log.format, Arc::clone(&backend.clock)));
        App::build(backend, config, OpenMounts::default(), plans, log)
    }

    fn build(backend: DataBackend, config: Config, opened: OpenMounts, plans: Vec<MountPlan>, log: Arc<Log>) -> App {
        let retention = RetentionGate::new(backend.data_dir.path(), backend.clock.as_ref());
        retention.check_start(backend.newest_record, backend.clock.now(), shortest_retention(&config));
        let retention = Arc::new(retention);
        backend.store.set_storage_limits(config.limits.storage);
        let backend = Arc::new(backend);
        let traces = Arc::new(Traces::new(Arc::clone(&backend.random)));
        let call_metrics = Arc::new(CallMetrics::default());
        let delivery_metrics = Arc::new(DeliveryMetrics::default());
        let tally = Arc::new(Tally::default());
        let telemetry = Arc::new(Telemetry {
            log: Arc::clone(&log),
            call_metrics: Arc::clone(&call_metrics),
            delivery_metrics: Arc::clone(&delivery_metrics),
            traces: Arc::clone(&traces),
        });
        let resources = protected_resources(&plans, &config.public_url);
        let token_resources = resources.iter().map(|resource| resource.url.clone()).collect();
        let identity = Arc::new(EmbeddedServer::new(
            Dependencies {
                registry: Arc::clone(&backend.store) as Arc<dyn Registry>,
                login_records: Arc::clone(&backend.store) as Arc<dyn LoginRecords>,
                http_client: Arc::clone(&opened.http_client),
                clock: Arc::clone(&backend.clock),
                random: Arc::clone(&backend.random),
                observer: Arc::clone(&telemetry) as _,
                store: Arc::clone(&backend.store) as Arc<dyn Store>,
                tally: Arc::clone(&tally),
            },
            identity_settings(&config),
            resources,
        ));
        let own_identity = Arc::clone(&identity) as Arc<dyn Identity>;
        let loopback_only = loopback_resources(&plans, &config.public_url);
        let mounts = build_router(plans, &config.public_url, &own_identity);
        let desk = Desk {
            store: Arc::clone(&backend.store) as Arc<dyn Store>,
            identity: own_identity,
            clock: Arc::clone(&backend.clock),
            random: Arc::clone(&backend.random),
            observer: telemetry,
            keys: Keys { cursor: backend.root.derive("cursor") },
            rates: Rates::default(),
            inflight: inflight(&Inflight::default(), &config),
            tally,
            tenant_locks: Default::default(),
            task_queue: match config.database {
                DatabaseConfig::Embedded => TaskQueue::default().alone(backend.clock.now()),
                DatabaseConfig::Postgres(_) => TaskQueue::default(),
            },
            import_queue: ImportQueue::default(),
            changes: TenantChanges::default(),
            http_client: Arc::clone(&opened.http_client),
            settings: desk_settings(&config),
        };
        App {
            backend,
            desk,
            mounts,
            opened,
            maintenance: MaintenanceSwitches::default(),
            retention,
            current_secrets: CurrentSecrets::default(),
            loopback_only,
            token_resources,
            identity,
            log,
            call_metrics,
            delivery_metrics,
            traces,
            demo_search: Arc::default(),
            config,
        }
    }

    /// Whether this peer may reach the mount at all. A loopback listener accepts nobody else, but a reload can remove the
    /// authentication of a mount on a listener that is open to the network.
    pub(crate) fn allows_peer(&self, mount: &Mount, peer: IpAddr, via: Via) -> bool {
        is_reachable(&self.loopback_only, &mount.resource, peer, via)
    }

    pub(crate) fn issues_tokens_for(&self, mount: &Mount) -> bool {
        self.token_resources.contains(&mount.resource)
    }

    /// The same app under another configuration. Counters, running requests and rate limits are shared between the two, so
    /// that a reload resets none of them.
    pub fn reloaded(&self, config: Config, opened: OpenMounts) -> App {
        self.backend.store.set_storage_limits(config.limits.storage);
        let plans = plan_mounts(&config, &opened, &self.maintenance, &self.current_secrets);
        let resources = protected_resources(&plans, &config.public_url);
        let token_resources = resources.iter().map(|resource| resource.url.clone()).collect();
        let identity = Arc::new(
            self.identity
                .reconfigured(identity_settings(&config), resources)
                .with_http_client(Arc::clone(&opened.http_client)),
        );
        let own_identity = Arc::clone(&identity) as Arc<dyn Identity>;
        let loopback_only = loopback_resources(&plans, &config.public_url);
        let mut mounts = build_router(plans, &config.public_url, &own_identity);
        mounts.keep_service_levels(&self.mounts);
        let desk = Desk {
            store: Arc::clone(&self.desk.store),
            identity: own_identity,
            clock: Arc::clone(&self.desk.clock),
            random: Arc::clone(&self.desk.random),
            observer: Arc::clone(&self.desk.observer),
            keys: Keys { cursor: self.backend.root.derive("cursor") },
            rates: self.desk.rates.clone(),
            inflight: inflight(&self.desk.inflight, &config),
            tally: Arc::clone(&self.desk.tally),
            tenant_locks: self.desk.tenant_locks.clone(),
            task_queue: self.desk.task_queue.clone(),
            import_queue: self.desk.import_queue.clone(),
            changes: self.desk.changes.clone(),
            http_client: Arc::clone(&opened.http_client),
            settings: desk_settings(&config),
        };
        App {
            backend: Arc::clone(&self.backend),
            desk,
            mounts,
            opened,
            maintenance: self.maintenance.clone(),
            retention: Arc::clone(&self.retention),
            current_secrets: self.current_secrets.clone(),
            loopback_only,
            token_resources,
            identity,
            log: Arc::clone(&self.log),
            call_metrics: Arc::clone(&self.call_metrics),
            delivery_metrics: Arc::clone(&self.delivery_metrics),
            traces: Arc::clone(&self.traces),
            demo_search: Arc::clone(&self.demo_search),
            config,
        }
    }
}

impl DeskSource for App {
    fn desk(&self) -> &Desk {
        &self.desk
    }

    fn mounts(&self) -> Vec<&Mount> {
        self.mounts.iter().map(|(_, mount)| mount).collect()
    }
}

impl ImportHost for App {
    fn tenants(&self) -> Future<'_, Result<Vec<TenantId>, Fault>> {
        Box::pin(async move {
            let tenants = self.backend.store.tenants().await?;
            Ok(tenants.into_iter().map(|tenant| tenant.id).collect())
        })
    }

    fn is_alone(&self) -> bool {
        matches!(self.config.database, DatabaseConfig::Embedded)
    }
}

fn identity_settings(config: &Config) -> frontdesk_identity::OAuthSettings {
    frontdesk_identity::OAuthSettings {
        issuer: config.public_url.to_string(),
        lifetime_seconds: u32::try_from(config.token.lifetime.as_secs()).unwrap_or(300),
        cache_ttl: config.token.cache,
        token_requests_per_minute: config.limits.token_requests_per_minute,
        operator_days: config.token.operator_days,
        login: config.login.clone(),
    }
}

fn desk_settings(config: &Config) -> DeskSettings {
    DeskSettings {
        page_bytes: config.limits.page_bytes,
        reply_bytes: config.limits.page_bytes.saturating_mul(REPLY_FACTOR).max(MIN_REPLY_BYTES),
        calls: Budget { per_minute: config.limits.calls_per_minute, burst: config.limits.burst },
        deadline: config.deadlines.call,
    }
}

fn inflight(shared: &Inflight, config: &Config) -> Inflight {
    let streams = StreamLimits { total: config.limits.streams, per_client: config.limits.streams_per_client };
    shared.with_stream_limits(streams).with_body_memory(config.limits.body_memory_bytes)
}
