//! The values as they were given, and what becomes of them: defaults that follow from other keys, and the checks that
//! need more than one key. Nothing here reads text.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use frontdesk_engine::offer::Offer;

use super::finding::{Finding, Wrong};
use super::gather::Gathered;
use super::mount::{self, Mount};
use super::show::Origin;
use super::web::PublicUrl;
use super::{
    Audit, Certificate, Collector, Config, Database, Deadlines, Endpoint, Idempotency, Limits, Log, LogFormat,
    Operator, Ratio, Retention, Token, Traces,
};

/// One field per key. What is optional here was not given and follows from other keys, or is empty on purpose.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) data: PathBuf,
    pub(super) listen: SocketAddr,
    pub(super) public_url: Option<PublicUrl>,
    pub(super) allowed_hosts: Option<Vec<String>>,
    pub(super) allowed_origins: Option<Vec<String>>,
    pub(super) database: Database,
    pub(super) database_ca: Option<PathBuf>,
    pub(super) certificate: Option<PathBuf>,
    pub(super) key: Option<PathBuf>,
    pub(super) operator_listen: SocketAddr,
    pub(super) token_lifetime_seconds: u32,
    pub(super) token_cache_milliseconds: u32,
    pub(super) body_bytes: u32,
    pub(super) page_bytes: u32,
    pub(super) connections: u32,
    pub(super) connections_per_address: u32,
    pub(super) calls_per_minute: u32,
    pub(super) burst: u32,
    pub(super) token_requests_per_minute: u32,
    pub(super) call_seconds: u32,
    pub(super) drain_seconds: u32,
    pub(super) retain_hours: u32,
    pub(super) retain_days: u32,
    pub(super) log_format: LogFormat,
    pub(super) traces_endpoint: Option<Endpoint>,
    pub(super) traces_ca: Option<PathBuf>,
    pub(super) traces_headers: Option<PathBuf>,
    pub(super) traces_sample: Ratio,
    pub(super) mounts: Option<Vec<Mount>>,
}

impl Draft {
    /// Holds nothing yet: the table's defaults are read into it before anything else.
    pub(super) fn blank() -> Self {
        let nowhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Self {
            data: PathBuf::new(),
            listen: nowhere,
            public_url: None,
            allowed_hosts: None,
            allowed_origins: None,
            database: Database::Embedded,
            database_ca: None,
            certificate: None,
            key: None,
            operator_listen: nowhere,
            token_lifetime_seconds: 0,
            token_cache_milliseconds: 0,
            body_bytes: 0,
            page_bytes: 0,
            connections: 0,
            connections_per_address: 0,
            calls_per_minute: 0,
            burst: 0,
            token_requests_per_minute: 0,
            call_seconds: 0,
            drain_seconds: 0,
            retain_hours: 0,
            retain_days: 0,
            log_format: LogFormat::Auto,
            traces_endpoint: None,
            traces_ca: None,
            traces_headers: None,
            traces_sample: Ratio::NONE,
            mounts: None,
        }
    }

    /// The draft with everything that follows from other keys filled in.
    pub(super) fn derived(mut self) -> Self {
        let url = self.public_url.get_or_insert(PublicUrl::localhost(self.listen.port())).clone();
        self.allowed_hosts.get_or_insert_with(|| {
            let mut hosts = vec![url.host().to_owned()];
            hosts.extend(LOCAL.iter().filter(|local| **local != url.host()).map(|local| (*local).to_owned()));
            hosts
        });
        self.allowed_origins.get_or_insert_with(|| vec![url.to_string()]);
        self
    }
}

/// The configuration that a draft without problems means.
pub(super) fn complete(draft: Draft) -> Config {
    let draft = draft.derived();
    let certificate = match (draft.certificate, draft.key) {
        (Some(certificate), Some(key)) => Certificate::Files { certificate, key },
        (None | Some(_), None) | (None, Some(_)) => Certificate::Development,
    };
    let (ca, headers, sample) = (draft.traces_ca, draft.traces_headers, draft.traces_sample);
    let traces = draft
        .traces_endpoint
        .and_then(|endpoint| Some(Collector { channel: endpoint.channel(ca)?, endpoint, headers, sample }));
    Config {
        data: draft.data,
        listen: draft.listen,
        public_url: draft.public_url.unwrap_or(PublicUrl::localhost(draft.listen.port())),
        allowed_hosts: draft.allowed_hosts.unwrap_or_default(),
        allowed_origins: draft.allowed_origins.unwrap_or_default(),
        certificate,
        operator: Operator { listen: draft.operator_listen },
        token: Token {
            lifetime: seconds(draft.token_lifetime_seconds),
            cache: Duration::from_millis(draft.token_cache_milliseconds.into()),
        },
        limits: Limits {
            body_bytes: draft.body_bytes as usize,
            page_bytes: draft.page_bytes as usize,
            connections: draft.connections as usize,
            connections_per_address: draft.connections_per_address as usize,
            calls_per_minute: draft.calls_per_minute,
            burst: draft.burst,
            token_requests_per_minute: draft.token_requests_per_minute,
        },
        deadlines: Deadlines { call: seconds(draft.call_seconds), drain: seconds(draft.drain_seconds) },
        idempotency: Idempotency { retain: Duration::from_hours(draft.retain_hours.into()) },
        audit: Audit {
            retain: match draft.retain_days {
                0 => Retention::Forever,
                days => Retention::Days(days),
            },
        },
        log: Log { format: draft.log_format },
        traces: traces.map_or(Traces::Off, Traces::Sent),
        database: match (draft.database, draft.database_ca) {
            (Database::Postgres(address), Some(authority)) => Database::Postgres(address.trusting(&authority)),
            (database, Some(_) | None) => database,
        },
        mounts: draft.mounts.unwrap_or_default(),
    }
}

pub(super) struct Settled {
    pub(super) config: Config,
    /// Without what follows from the port, which may change once more.
    pub(super) given: Draft,
    /// With everything derived, for `config show`.
    pub(super) draft: Draft,
    pub(super) problems: Vec<Finding>,
    pub(super) warnings: Vec<Finding>,
}

/// Fills in what follows from other keys and judges the keys together.
pub(super) fn settle(gathered: &Gathered, offers: &[Offer]) -> Settled {
    let mut given = gathered.draft.clone();
    let mut report = Report { broken: &gathered.broken, found: Vec::new() };
    if given.mounts.is_none() {
        if gathered.file.is_some() {
            report.add(&["mount"], Wrong::new("nothing is mounted", mount::advice(offers)));
        }
        given.mounts = Some(offers.iter().filter_map(Mount::usual).collect());
    }
    problems(&given, &mut report);
    let problems = std::mem::take(&mut report.found);
    let draft = given.clone().derived();
    warnings(&draft, gathered.origins.get("public_url"), &mut report);
    Settled { config: complete(draft.clone()), given, draft, problems, warnings: report.found }
}

/// Names of this machine for itself.
pub(super) const LOCAL: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
/// RFC 9700 and common practice: beyond a quarter of an hour a bearer token is worth stealing.
const LONG_TOKEN: u32 = 900;

/// Findings about several keys are dropped when one of them is broken already, since it then holds its default.
struct Report<'a> {
    broken: &'a BTreeSet<&'static str>,
    found: Vec<Finding>,
}

impl Report<'_> {
    fn add(&mut self, keys: &[&str], wrong: Wrong) {
        if let [first, ..] = keys
            && !keys.iter().any(|key| self.broken.contains(key))
        {
            self.found.push(wrong.found(first, ""));
        }
    }
}

fn problems(draft: &Draft, report: &mut Report<'_>) {
    let (listen, operator) = (draft.listen, draft.operator_listen);
    let same_port = listen.port() == operator.port() && listen.port() != 0;
    let overlap = listen.ip() == operator.ip() || listen.ip().is_unspecified();
    if same_port && overlap {
        let wrong = format!("{operator} is taken by `listen` = {listen}");
        report.add(&["operator.listen", "listen"], Wrong::new(wrong, "Give one of them another port"));
    }
    match (&draft.certificate, &draft.key) {
        (Some(_), None) => {
            let wrong = Wrong::new(
                "it is empty, but `tls.certificate` is set",
                "Set both, or neither for the development authority",
            );
            report.add(&["tls.key", "tls.certificate"], wrong);
        }
        (None, Some(_)) => {
            let wrong =
                Wrong::new("it is empty, but `tls.key` is set", "Set both, or neither for the development authority");
            report.add(&["tls.certificate", "tls.key"], wrong);
        }
        (Some(_), Some(_)) | (None, None) => {}
    }
    if let Some(endpoint) = &draft.traces_endpoint
        && endpoint.channel(draft.traces_ca.clone()).is_none()
    {
        let wrong = Wrong::new(
            "it is empty, but `traces.endpoint` is https",
            "Name the PEM file of the authority that vouches for the collector; the public ones are often in \
             /etc/ssl/certs/ca-certificates.crt",
        );
        report.add(&["traces.ca", "traces.endpoint"], wrong);
    }
    if let (Database::Postgres(address), None) = (&draft.database, &draft.database_ca)
        && address.needs_authority()
    {
        let wrong = "it is empty, but `database` is reached by TLS, and the system's own authorities are not trusted";
        let next = "Name the PEM file of the authority that issued the certificate of PostgreSQL";
        report.add(&["database_ca", "database"], Wrong::new(wrong, next));
    }
    for (index, mount) in draft.mounts.iter().flatten().enumerate() {
        mount::with_the_rest(index, mount, draft.listen, &mut |keys, wrong| report.add(keys, wrong));
    }
    if draft.connections_per_address > draft.connections {
        let wrong =
            format!("{} is more than `limits.connections` = {}", draft.connections_per_address, draft.connections);
        let next = format!("Use at most {}, or raise `limits.connections`", draft.connections);
        report.add(&["limits.connections_per_address", "limits.connections"], Wrong::new(wrong, next));
    }
}

fn warnings(draft: &Draft, public_url: Option<&Origin>, report: &mut Report<'_>) {
    if draft.token_lifetime_seconds > LONG_TOKEN {
        let wrong = format!("tokens that live {} seconds are of use to a thief for long", draft.token_lifetime_seconds);
        report.add(&["token.lifetime_seconds"], Wrong::new(wrong, format!("Prefer {LONG_TOKEN} or less")));
    }
    if public_url == Some(&Origin::Default) && !draft.listen.ip().is_loopback() {
        let wrong = format!("other machines can reach {}, but clients will be told to use localhost", draft.listen);
        report.add(&["public_url", "listen"], Wrong::new(wrong, "Set it to the URL that clients use"));
    }
    let host = draft.public_url.as_ref().map_or("localhost", PublicUrl::host);
    for (index, mount) in draft.mounts.iter().flatten().enumerate() {
        mount::doubts(index, mount, host, &mut |keys, wrong| report.add(keys, wrong));
    }
    if let (Some(url), Some(hosts)) = (&draft.public_url, &draft.allowed_hosts)
        && !hosts.iter().any(|host| host == url.host())
    {
        let wrong = format!("{} is missing, so requests to `public_url` will be refused", url.host());
        report.add(&["allowed_hosts", "public_url"], Wrong::new(wrong, format!("Add \"{}\"", url.host())));
    }
}

fn seconds(seconds: u32) -> Duration {
    Duration::from_secs(seconds.into())
}
