//! The values as they were given, the defaults that depend on other keys, and the checks across keys.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use frontdesk_contracts::SignalSettings;
use frontdesk_engine::model::contract_entry::ContractEntry;
use frontdesk_identity::{ClientDocuments, LoginSettings, Registration};
use frontdesk_store::{StorageLimits, UsageLimit};

use super::finding::{ConfigError, Finding};
use super::layers::Layers;
use super::mount::{self, MountConfig};
use super::show::ValueSource;
use super::url::PublicUrl;
use super::{
    AdminConfig, AnchorConfig, AuditConfig, CertificateConfig, Collector, CollectorUrl, Config, DatabaseConfig,
    DeadlinesConfig, IdempotencyConfig, IpNetwork, LimitsConfig, LogConfig, LogFormat, OutboundConfig, Retention,
    SampleRatio, TokenConfig, TracesConfig,
};

use crate::data_dir::master_key_file;

/// One field per key. A missing option depends on other keys, or is empty on purpose.
#[derive(Debug, Clone)]
pub(super) struct RawConfig {
    pub(super) data: PathBuf,
    pub(super) listen: SocketAddr,
    pub(super) public_url: Option<PublicUrl>,
    pub(super) allowed_hosts: Option<Vec<String>>,
    pub(super) allowed_origins: Option<Vec<String>>,
    pub(super) trusted_proxies: Vec<IpNetwork>,
    pub(super) database: DatabaseConfig,
    pub(super) database_ca: Option<PathBuf>,
    pub(super) master_key: Option<PathBuf>,
    pub(super) certificate: Option<PathBuf>,
    pub(super) key: Option<PathBuf>,
    pub(super) operator_listen: SocketAddr,
    pub(super) token_lifetime_seconds: u32,
    pub(super) token_cache_milliseconds: u32,
    pub(super) token_operator_days: u32,
    pub(super) login_session_minutes: u32,
    pub(super) login_grant_days: u32,
    pub(super) login_idle_days: u32,
    pub(super) login_registration: Registration,
    pub(super) login_client_documents: ClientDocuments,
    pub(super) body_bytes: u32,
    pub(super) import_bytes: u32,
    pub(super) body_memory_bytes: u32,
    pub(super) page_bytes: u32,
    pub(super) connections: u32,
    pub(super) connections_per_address: u32,
    pub(super) calls_per_minute: u32,
    pub(super) streams: u32,
    pub(super) streams_per_client: u32,
    pub(super) burst: u32,
    pub(super) token_requests_per_minute: u32,
    pub(super) tenant_records: u32,
    pub(super) tenant_mebibytes: u32,
    pub(super) client_records: u32,
    pub(super) client_mebibytes: u32,
    pub(super) min_free_mebibytes: u32,
    pub(super) call_seconds: u32,
    pub(super) drain_seconds: u32,
    pub(super) retain_hours: u32,
    pub(super) retain_days: u32,
    pub(super) retain_days_writes: Option<u32>,
    pub(super) retain_days_reads: Option<u32>,
    pub(super) retain_days_admin: Option<u32>,
    pub(super) audit_anchor: Option<PathBuf>,
    pub(super) anchor_minutes: u32,
    pub(super) log_format: LogFormat,
    pub(super) traces_endpoint: Option<CollectorUrl>,
    pub(super) traces_ca: Option<PathBuf>,
    pub(super) traces_headers: Option<PathBuf>,
    pub(super) traces_sample: SampleRatio,
    pub(super) outbound_allow: Vec<IpNetwork>,
    pub(super) outbound_ca: Option<PathBuf>,
    pub(super) signals_min_group: u32,
    pub(super) mounts: Option<Vec<MountConfig>>,
}

impl RawConfig {
    /// Empty: the defaults of the table are read into it first.
    pub(super) fn blank() -> Self {
        let unset = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Self {
            data: PathBuf::new(),
            listen: unset,
            public_url: None,
            allowed_hosts: None,
            allowed_origins: None,
            trusted_proxies: Vec::new(),
            database: DatabaseConfig::Embedded,
            database_ca: None,
            master_key: None,
            certificate: None,
            key: None,
            operator_listen: unset,
            token_lifetime_seconds: 0,
            token_cache_milliseconds: 0,
            token_operator_days: 0,
            login_session_minutes: 0,
            login_grant_days: 0,
            login_idle_days: 0,
            login_registration: Registration::Off,
            login_client_documents: ClientDocuments::Off,
            body_bytes: 0,
            import_bytes: 0,
            body_memory_bytes: 0,
            page_bytes: 0,
            connections: 0,
            connections_per_address: 0,
            calls_per_minute: 0,
            streams: 0,
            streams_per_client: 0,
            burst: 0,
            token_requests_per_minute: 0,
            tenant_records: 0,
            tenant_mebibytes: 0,
            client_records: 0,
            client_mebibytes: 0,
            min_free_mebibytes: 0,
            call_seconds: 0,
            drain_seconds: 0,
            retain_hours: 0,
            retain_days: 0,
            retain_days_writes: None,
            retain_days_reads: None,
            retain_days_admin: None,
            audit_anchor: None,
            anchor_minutes: 0,
            log_format: LogFormat::Auto,
            traces_endpoint: None,
            traces_ca: None,
            traces_headers: None,
            traces_sample: SampleRatio::NONE,
            outbound_allow: Vec::new(),
            outbound_ca: None,
            signals_min_group: 0,
            mounts: None,
        }
    }

    /// Fills in the defaults that depend on other keys.
    pub(super) fn derived(mut self) -> Self {
        let url = self.public_url.get_or_insert(PublicUrl::localhost(self.listen.port())).clone();
        self.allowed_hosts.get_or_insert_with(|| {
            let mut hosts = vec![url.host().to_owned()];
            hosts.extend(LOCAL.iter().filter(|local| **local != url.host()).map(|local| (*local).to_owned()));
            hosts
        });
        self.allowed_origins.get_or_insert_with(|| vec![url.to_string()]);
        for retain in [&mut self.retain_days_writes, &mut self.retain_days_reads, &mut self.retain_days_admin] {
            retain.get_or_insert(self.retain_days);
        }
        self
    }
}

/// The configuration of values without problems.
pub(super) fn build(raw: RawConfig) -> Config {
    let raw = raw.derived();
    let certificate = match (raw.certificate, raw.key) {
        (Some(certificate), Some(key)) => CertificateConfig::Files { certificate, key },
        (None | Some(_), None) | (None, Some(_)) => CertificateConfig::Development,
    };
    let (ca, headers, sample) = (raw.traces_ca, raw.traces_headers, raw.traces_sample);
    let traces = raw
        .traces_endpoint
        .and_then(|endpoint| Some(Collector { channel: endpoint.channel(ca)?, endpoint, headers, sample }));
    Config {
        master_key: raw.master_key.unwrap_or_else(|| master_key_file(&raw.data)),
        data: raw.data,
        listen: raw.listen,
        public_url: raw.public_url.unwrap_or(PublicUrl::localhost(raw.listen.port())),
        allowed_hosts: raw.allowed_hosts.unwrap_or_default(),
        allowed_origins: raw.allowed_origins.unwrap_or_default(),
        trusted_proxies: raw.trusted_proxies,
        certificate,
        admin: AdminConfig { listen: raw.operator_listen },
        token: TokenConfig {
            lifetime: seconds(raw.token_lifetime_seconds),
            cache: Duration::from_millis(raw.token_cache_milliseconds.into()),
            operator_days: raw.token_operator_days,
        },
        login: LoginSettings {
            session_seconds: raw.login_session_minutes.saturating_mul(60),
            grant_days: raw.login_grant_days,
            idle_days: raw.login_idle_days,
            registration: raw.login_registration,
            client_documents: raw.login_client_documents,
            ..LoginSettings::default()
        },
        limits: LimitsConfig {
            body_bytes: raw.body_bytes as usize,
            import_bytes: raw.import_bytes as usize,
            body_memory_bytes: raw.body_memory_bytes as usize,
            page_bytes: raw.page_bytes as usize,
            connections: raw.connections as usize,
            connections_per_address: raw.connections_per_address as usize,
            streams: raw.streams as usize,
            streams_per_client: raw.streams_per_client as usize,
            calls_per_minute: raw.calls_per_minute,
            burst: raw.burst,
            token_requests_per_minute: raw.token_requests_per_minute,
            storage: StorageLimits {
                tenant: usage_limit(raw.tenant_records, raw.tenant_mebibytes),
                client: usage_limit(raw.client_records, raw.client_mebibytes),
                min_free_bytes: u64::from(raw.min_free_mebibytes) << 20,
            },
        },
        deadlines: DeadlinesConfig { call: seconds(raw.call_seconds), drain: seconds(raw.drain_seconds) },
        idempotency: IdempotencyConfig { retain: Duration::from_hours(raw.retain_hours.into()) },
        audit: AuditConfig {
            writes: Retention::of_days(raw.retain_days_writes.unwrap_or(raw.retain_days)),
            reads: Retention::of_days(raw.retain_days_reads.unwrap_or(raw.retain_days)),
            administration: Retention::of_days(raw.retain_days_admin.unwrap_or(raw.retain_days)),
            anchor: raw
                .audit_anchor
                .map(|file| AnchorConfig { file, interval: Duration::from_mins(raw.anchor_minutes.into()) }),
        },
        log: LogConfig { format: raw.log_format },
        traces: traces.map_or(TracesConfig::Off, |collector| TracesConfig::Otlp(Box::new(collector))),
        outbound: OutboundConfig { allow: raw.outbound_allow, ca: raw.outbound_ca },
        signals: SignalSettings { min_group: raw.signals_min_group as usize },
        database: match (raw.database, raw.database_ca) {
            (DatabaseConfig::Postgres(address), Some(authority)) => {
                DatabaseConfig::Postgres(address.trusting(&authority))
            }
            (database, Some(_) | None) => database,
        },
        mounts: raw.mounts.unwrap_or_default(),
    }
}

pub(super) struct ResolvedConfig {
    pub(super) config: Config,
    /// Without the defaults that depend on the port, which is not final.
    pub(super) given: RawConfig,
    /// With all defaults, for `config show`.
    pub(super) raw: RawConfig,
    pub(super) problems: Vec<Finding>,
    pub(super) warnings: Vec<Finding>,
}

/// Fills in defaults and checks the keys together.
pub(super) fn resolve(layers: &Layers, entries: &[ContractEntry]) -> ResolvedConfig {
    let mut given = layers.raw.clone();
    let mut report = Report { invalid: &layers.invalid, found: Vec::new() };
    if given.mounts.is_none() {
        if layers.file.is_some() {
            report.add(&["mount"], ConfigError::new("nothing is mounted", mount::how_to_mount(entries)));
        }
        given.mounts = Some(entries.iter().filter_map(MountConfig::default_for).collect());
    }
    problems(&given, &mut report);
    let problems = std::mem::take(&mut report.found);
    let raw = given.clone().derived();
    warnings(&raw, layers.sources.get("public_url"), &mut report);
    ResolvedConfig { config: build(raw.clone()), given, raw, problems, warnings: report.found }
}

/// The local names of every machine.
pub(super) const LOCAL: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
/// RFC 9700 and common practice: bearer tokens should live a few minutes.
const LONG_TOKEN: u32 = 900;

/// A finding about several keys is dropped if one of them is invalid, because it then has its default.
struct Report<'a> {
    invalid: &'a BTreeSet<&'static str>,
    found: Vec<Finding>,
}

impl Report<'_> {
    fn add(&mut self, keys: &[&str], error: ConfigError) {
        if let [first, ..] = keys
            && !keys.iter().any(|key| self.invalid.contains(key))
        {
            self.found.push(error.at_key(first, ""));
        }
    }
}

fn problems(raw: &RawConfig, report: &mut Report<'_>) {
    let (listen, operator) = (raw.listen, raw.operator_listen);
    let same_port = listen.port() == operator.port() && listen.port() != 0;
    let overlap = listen.ip() == operator.ip() || listen.ip().is_unspecified();
    if same_port && overlap {
        let problem = format!("{operator} is taken by `listen` = {listen}");
        report.add(&["operator.listen", "listen"], ConfigError::new(problem, "Give one of them another port"));
    }
    match (&raw.certificate, &raw.key) {
        (Some(_), None) => {
            let problem = ConfigError::new(
                "it is empty, but `tls.certificate` is set",
                "Set both, or neither for the development CA",
            );
            report.add(&["tls.key", "tls.certificate"], problem);
        }
        (None, Some(_)) => {
            let problem =
                ConfigError::new("it is empty, but `tls.key` is set", "Set both, or neither for the development CA");
            report.add(&["tls.certificate", "tls.key"], problem);
        }
        (Some(_), Some(_)) | (None, None) => {}
    }
    if let Some(endpoint) = &raw.traces_endpoint
        && endpoint.channel(raw.traces_ca.clone()).is_none()
    {
        let problem = ConfigError::new(
            "it is empty, but `traces.endpoint` is https",
            "Name the PEM file of the CA that issued the certificate of the collector; public CAs are often in \
             /etc/ssl/certs/ca-certificates.crt",
        );
        report.add(&["traces.ca", "traces.endpoint"], problem);
    }
    if let (DatabaseConfig::Postgres(address), None) = (&raw.database, &raw.database_ca)
        && address.needs_authority()
    {
        let problem = "it is empty, but `database` is reached by TLS, and the CAs of the system are not trusted";
        let advice = "Name the PEM file of the CA that issued the certificate of PostgreSQL";
        report.add(&["database_ca", "database"], ConfigError::new(problem, advice));
    }
    for (index, mount) in raw.mounts.iter().flatten().enumerate() {
        mount::cross_checks(index, mount, raw.listen, &mut |keys, problem| report.add(keys, problem));
    }
    if raw.connections_per_address > raw.connections {
        let problem =
            format!("{} is more than `limits.connections` = {}", raw.connections_per_address, raw.connections);
        let advice = format!("Use at most {}, or raise `limits.connections`", raw.connections);
        report.add(&["limits.connections_per_address", "limits.connections"], ConfigError::new(problem, advice));
    }
}

fn warnings(raw: &RawConfig, public_url: Option<&ValueSource>, report: &mut Report<'_>) {
    if raw.token_lifetime_seconds > LONG_TOKEN {
        let problem = format!("a stolen token can be used for up to {} seconds", raw.token_lifetime_seconds);
        report.add(&["token.lifetime_seconds"], ConfigError::new(problem, format!("Prefer {LONG_TOKEN} or less")));
    }
    if public_url == Some(&ValueSource::Default) && !raw.listen.ip().is_loopback() {
        let problem = format!("other machines can reach {}, but clients will be told to use localhost", raw.listen);
        report.add(&["public_url", "listen"], ConfigError::new(problem, "Set it to the URL that clients use"));
    }
    let host = raw.public_url.as_ref().map_or("localhost", PublicUrl::host);
    for (index, mount) in raw.mounts.iter().flatten().enumerate() {
        mount::warnings(index, mount, host, &mut |keys, problem| report.add(keys, problem));
    }
    if let (Some(url), Some(hosts)) = (&raw.public_url, &raw.allowed_hosts)
        && !hosts.iter().any(|host| host == url.host())
    {
        let problem = format!("{} is missing, so requests to `public_url` will be refused", url.host());
        report.add(&["allowed_hosts", "public_url"], ConfigError::new(problem, format!("Add \"{}\"", url.host())));
    }
}

fn usage_limit(records: u32, mebibytes: u32) -> UsageLimit {
    UsageLimit { rows: i64::from(records), bytes: i64::from(mebibytes) << 20 }
}

fn seconds(seconds: u32) -> Duration {
    Duration::from_secs(seconds.into())
}
