//! The table of everything that can be configured: reading, `config show`, the reference and the example all come from it.
//! No key may be known anywhere else.

use super::value_type::ValueType;

/// A key of the configuration.
pub struct ConfigKey {
    /// In a file: `table.name`.
    pub path: &'static str,
    /// In the environment.
    pub env: &'static str,
    pub default: DefaultValue,
    /// Its description for operators.
    pub about: &'static str,
    pub(super) value_type: ValueType,
}

/// The value of a key that is not set.
pub enum DefaultValue {
    /// As in the environment.
    Text(&'static str),
    /// Depends on other keys, as the text describes.
    Derived(&'static str),
}

impl ConfigKey {
    /// The table and the name in it; the table is empty for keys at the top.
    pub fn split(&self) -> (&'static str, &'static str) {
        self.path.split_once('.').unwrap_or(("", self.path))
    }
}

/// Every key, those at the top level first, `mount` last, in the order of the documentation.
pub static KEYS: &[ConfigKey] = &[
    ConfigKey {
        path: "data",
        env: "FRONTDESK_DATA",
        default: DefaultValue::Text("frontdesk-data"),
        about: "The folder for the database, the keys and the development certificates. A relative path starts at the working directory.",
        value_type: ValueType::Dir(|raw| &mut raw.data),
    },
    ConfigKey {
        path: "listen",
        env: "FRONTDESK_LISTEN",
        default: DefaultValue::Text("127.0.0.1:8443"),
        about: "The address and port of the HTTPS endpoint. Port 0 picks a free one; 0.0.0.0 or [::] listens on every interface.",
        value_type: ValueType::Address(|raw| &mut raw.listen),
    },
    ConfigKey {
        path: "public_url",
        env: "FRONTDESK_PUBLIC_URL",
        default: DefaultValue::Derived("https://localhost with the port of `listen`"),
        about: "The URL of this server for clients. Every URL that Frontdesk publishes about itself, and the resource that tokens are bound to, starts with it.",
        value_type: ValueType::Url(|raw| &mut raw.public_url),
    },
    ConfigKey {
        path: "allowed_hosts",
        env: "FRONTDESK_ALLOWED_HOSTS",
        default: DefaultValue::Derived("the host of `public_url`, localhost, 127.0.0.1 and [::1]"),
        about: "The hosts, without port, that a request may be addressed to. Others are refused, which prevents DNS rebinding.",
        value_type: ValueType::Hosts(|raw| &mut raw.allowed_hosts),
    },
    ConfigKey {
        path: "allowed_origins",
        env: "FRONTDESK_ALLOWED_ORIGINS",
        default: DefaultValue::Derived("the origin of `public_url`"),
        about: "The origins of web pages that may call from a browser. A request without an Origin header is not affected; an empty list refuses every page.",
        value_type: ValueType::Origins(|raw| &mut raw.allowed_origins),
    },
    ConfigKey {
        path: "trusted_proxies",
        env: "FRONTDESK_TRUSTED_PROXIES",
        default: DefaultValue::Text(""),
        about: "Ranges of addresses of your own proxies. For a connection from one of them the client's address is the nearest one in `Forwarded` or `X-Forwarded-For` that is not in these ranges; it counts for login limits, refusals, audit and log. From anybody else these headers are ignored. If a proxy passes both headers and they disagree, its own address counts, so let it set one and remove the other. `limits.connections_per_address` does not apply to these proxies.",
        value_type: ValueType::Networks(|raw| &mut raw.trusted_proxies),
    },
    ConfigKey {
        path: "database",
        env: "FRONTDESK_DATABASE",
        default: DefaultValue::Text(""),
        about: "Empty for the embedded SQLite database in the data folder, or the postgres:// URL of a PostgreSQL database. A database on another machine must use TLS with a verified certificate; on this machine, through localhost or its socket, TLS is used only if the URL has sslmode=verify-full. Several nodes can share a database if each has the same master.key in its data folder.",
        value_type: ValueType::Database(|raw| &mut raw.database),
    },
    ConfigKey {
        path: "database_ca",
        env: "FRONTDESK_DATABASE_CA",
        default: DefaultValue::Text(""),
        about: "A PEM file with the CA that issued the certificate of PostgreSQL. Required with TLS: the CAs of the system are not trusted. It is read for every connection.",
        value_type: ValueType::File(|raw| &mut raw.database_ca),
    },
    ConfigKey {
        path: "tls.certificate",
        env: "FRONTDESK_TLS_CERTIFICATE",
        default: DefaultValue::Text(""),
        about: "A PEM file with the server's certificate and its intermediates. Empty for one issued by the development CA in the data folder, which only clients that trust its ca.pem accept.",
        value_type: ValueType::File(|raw| &mut raw.certificate),
    },
    ConfigKey {
        path: "tls.key",
        env: "FRONTDESK_TLS_KEY",
        default: DefaultValue::Text(""),
        about: "The PEM file with the private key of `tls.certificate`. Set both or neither.",
        value_type: ValueType::File(|raw| &mut raw.key),
    },
    ConfigKey {
        path: "operator.listen",
        env: "FRONTDESK_OPERATOR_LISTEN",
        default: DefaultValue::Text("127.0.0.1:8444"),
        about: "The address and port of the admin listener, which serves health and metrics. It must be a loopback address.",
        value_type: ValueType::Loopback(|raw| &mut raw.operator_listen),
    },
    ConfigKey {
        path: "token.lifetime_seconds",
        env: "FRONTDESK_TOKEN_LIFETIME_SECONDS",
        default: DefaultValue::Text("300"),
        about: "The lifetime of access tokens. Frontdesk warns above 900, because a stolen token can be used so long.",
        value_type: ValueType::Number { min: 1, max: 3600, at: |raw| &mut raw.token_lifetime_seconds },
    },
    ConfigKey {
        path: "token.cache_milliseconds",
        env: "FRONTDESK_TOKEN_CACHE_MILLISECONDS",
        default: DefaultValue::Text("1000"),
        about: "How long a verified token is cached. A revocation takes effect within this time.",
        value_type: ValueType::Number { min: 0, max: 1000, at: |raw| &mut raw.token_cache_milliseconds },
    },
    ConfigKey {
        path: "limits.body_bytes",
        env: "FRONTDESK_LIMITS_BODY_BYTES",
        default: DefaultValue::Text("1048576"),
        about: "The largest request body. It is charged by its size: one call for every 16 KiB or part of them (for a file, 256 KiB), before it is read.",
        value_type: ValueType::Number { min: 1024, max: 67_108_864, at: |raw| &mut raw.body_bytes },
    },
    ConfigKey {
        path: "limits.import_bytes",
        env: "FRONTDESK_LIMITS_IMPORT_BYTES",
        default: DefaultValue::Text("16777216"),
        about: "The largest file that can be pushed to a route that takes files, such as an import.",
        value_type: ValueType::Number { min: 1024, max: 67_108_864, at: |raw| &mut raw.import_bytes },
    },
    ConfigKey {
        path: "limits.body_memory_bytes",
        env: "FRONTDESK_LIMITS_BODY_MEMORY_BYTES",
        default: DefaultValue::Text("67108864"),
        about: "The memory for all request bodies that are being received or answered; those up to 16 KiB do not count. When it is used up, whoever holds most of it is refused first.",
        value_type: ValueType::Number { min: 1_048_576, max: 4_000_000_000, at: |raw| &mut raw.body_memory_bytes },
    },
    ConfigKey {
        path: "limits.page_bytes",
        env: "FRONTDESK_LIMITS_PAGE_BYTES",
        default: DefaultValue::Text("262144"),
        about: "The approximate size of a page of a list. A larger page is cut after a whole item, and a cursor continues the list.",
        value_type: ValueType::Number { min: 4096, max: 16_777_216, at: |raw| &mut raw.page_bytes },
    },
    ConfigKey {
        path: "limits.connections",
        env: "FRONTDESK_LIMITS_CONNECTIONS",
        default: DefaultValue::Text("4096"),
        about: "How many connections may be open in total. Each takes a file descriptor. At the limit, the oldest connection over which no request has begun is closed for a new one, first of the address that has most of them.",
        value_type: ValueType::Number { min: 1, max: 1_000_000, at: |raw| &mut raw.connections },
    },
    ConfigKey {
        path: "limits.connections_per_address",
        env: "FRONTDESK_LIMITS_CONNECTIONS_PER_ADDRESS",
        default: DefaultValue::Text("256"),
        about: "How many connections may be open from one address. At the limit, its oldest connection over which no request has begun is closed for a new one. A proxy in `trusted_proxies` may have as many as there are.",
        value_type: ValueType::Number { min: 1, max: 1_000_000, at: |raw| &mut raw.connections_per_address },
    },
    ConfigKey {
        path: "limits.streams",
        env: "FRONTDESK_LIMITS_STREAMS",
        default: DefaultValue::Text("1024"),
        about: "How many answers may stay open as streams of events in total. Further ones are refused for a few seconds. Only mounts with `stream_seconds` have any.",
        value_type: ValueType::Number { min: 1, max: 1_000_000, at: |raw| &mut raw.streams },
    },
    ConfigKey {
        path: "limits.streams_per_client",
        env: "FRONTDESK_LIMITS_STREAMS_PER_CLIENT",
        default: DefaultValue::Text("256"),
        about: "How many of them one client may have.",
        value_type: ValueType::Number { min: 1, max: 1_000_000, at: |raw| &mut raw.streams_per_client },
    },
    ConfigKey {
        path: "limits.calls_per_minute",
        env: "FRONTDESK_LIMITS_CALLS_PER_MINUTE",
        default: DefaultValue::Text("6000"),
        about: "How many calls a client may make per minute in the long run.",
        value_type: ValueType::Number { min: 1, max: 10_000_000, at: |raw| &mut raw.calls_per_minute },
    },
    ConfigKey {
        path: "limits.burst",
        env: "FRONTDESK_LIMITS_BURST",
        default: DefaultValue::Text("1000"),
        about: "The burst size: how many calls a client may make at once after an idle period.",
        value_type: ValueType::Number { min: 1, max: 1_000_000, at: |raw| &mut raw.burst },
    },
    ConfigKey {
        path: "limits.token_requests_per_minute",
        env: "FRONTDESK_LIMITS_TOKEN_REQUESTS_PER_MINUTE",
        default: DefaultValue::Text("60"),
        about: "How many tokens a client may request per minute. An address may fail ten times as often; further wrong secrets from it are answered 429 and wait for each other, while a right secret still gets its token.",
        value_type: ValueType::Number { min: 1, max: 1_000_000, at: |raw| &mut raw.token_requests_per_minute },
    },
    ConfigKey {
        path: "deadlines.call_seconds",
        env: "FRONTDESK_DEADLINES_CALL_SECONDS",
        default: DefaultValue::Text("30"),
        about: "How long a call may take before it is answered as unavailable.",
        value_type: ValueType::Number { min: 1, max: 600, at: |raw| &mut raw.call_seconds },
    },
    ConfigKey {
        path: "deadlines.drain_seconds",
        env: "FRONTDESK_DEADLINES_DRAIN_SECONDS",
        default: DefaultValue::Text("25"),
        about: "How long a shutdown waits for running calls. Keep it below the time after which your process supervisor kills the process.",
        value_type: ValueType::Number { min: 0, max: 600, at: |raw| &mut raw.drain_seconds },
    },
    ConfigKey {
        path: "idempotency.retain_hours",
        env: "FRONTDESK_IDEMPOTENCY_RETAIN_HOURS",
        default: DefaultValue::Text("168"),
        about: "How long an idempotency key is stored. A retry after that is a new request.",
        value_type: ValueType::Number { min: 24, max: 8760, at: |raw| &mut raw.retain_hours },
    },
    ConfigKey {
        path: "audit.retain_days",
        env: "FRONTDESK_AUDIT_RETAIN_DAYS",
        default: DefaultValue::Text("0"),
        about: "How long audit records are stored. 0 stores them for ever.",
        value_type: ValueType::Number { min: 0, max: 36_500, at: |raw| &mut raw.retain_days },
    },
    ConfigKey {
        path: "audit.retain_days_writes",
        env: "FRONTDESK_AUDIT_RETAIN_DAYS_WRITES",
        default: DefaultValue::Derived("`audit.retain_days`"),
        about: "The same for records of writes, which are on the tenants' own chains.",
        value_type: ValueType::OptionalNumber { min: 0, max: 36_500, at: |raw| &mut raw.retain_days_writes },
    },
    ConfigKey {
        path: "audit.retain_days_reads",
        env: "FRONTDESK_AUDIT_RETAIN_DAYS_READS",
        default: DefaultValue::Derived("`audit.retain_days`"),
        about: "The same for records of reads, refusals and new tokens.",
        value_type: ValueType::OptionalNumber { min: 0, max: 36_500, at: |raw| &mut raw.retain_days_reads },
    },
    ConfigKey {
        path: "audit.retain_days_admin",
        env: "FRONTDESK_AUDIT_RETAIN_DAYS_ADMIN",
        default: DefaultValue::Derived("`audit.retain_days`"),
        about: "The same for records of administration: changes of tenants and clients, revocations, exports and erasures.",
        value_type: ValueType::OptionalNumber { min: 0, max: 36_500, at: |raw| &mut raw.retain_days_admin },
    },
    ConfigKey {
        path: "audit.anchor",
        env: "FRONTDESK_AUDIT_ANCHOR",
        default: DefaultValue::Text(""),
        about: "The file that signed anchors of the audit chains are appended to. Keep it outside the data folder, where nobody who can write to the database can write to it.",
        value_type: ValueType::File(|raw| &mut raw.audit_anchor),
    },
    ConfigKey {
        path: "audit.anchor_minutes",
        env: "FRONTDESK_AUDIT_ANCHOR_MINUTES",
        default: DefaultValue::Text("15"),
        about: "How often an anchor is appended while something is written.",
        value_type: ValueType::Number { min: 1, max: 1440, at: |raw| &mut raw.anchor_minutes },
    },
    ConfigKey {
        path: "log.format",
        env: "FRONTDESK_LOG_FORMAT",
        default: DefaultValue::Text("auto"),
        about: "The format of log lines. `auto` is pretty on a terminal and JSON otherwise.",
        value_type: ValueType::LogFormat(|raw| &mut raw.log_format),
    },
    ConfigKey {
        path: "traces.endpoint",
        env: "FRONTDESK_TRACES_ENDPOINT",
        default: DefaultValue::Text(""),
        about: "The base URL of an OpenTelemetry collector that accepts OTLP over HTTP as JSON at /v1/traces; spans of calls are exported there. Empty exports none. http is allowed on this machine only.",
        value_type: ValueType::CollectorUrl(|raw| &mut raw.traces_endpoint),
    },
    ConfigKey {
        path: "traces.ca",
        env: "FRONTDESK_TRACES_CA",
        default: DefaultValue::Text(""),
        about: "A PEM file with the CAs that are trusted for an https collector.",
        value_type: ValueType::File(|raw| &mut raw.traces_ca),
    },
    ConfigKey {
        path: "traces.headers_file",
        env: "FRONTDESK_TRACES_HEADERS_FILE",
        default: DefaultValue::Text(""),
        about: "A file with headers for the collector, one `Name: value` a line, such as an API key. It must not be readable by everyone.",
        value_type: ValueType::File(|raw| &mut raw.traces_headers),
    },
    ConfigKey {
        path: "traces.sample",
        env: "FRONTDESK_TRACES_SAMPLE",
        default: DefaultValue::Text("1.0"),
        about: "The ratio of traces that is exported. An authenticated caller that sends a traceparent decides for its own traces; that of an unauthenticated caller is sampled like one that starts here.",
        value_type: ValueType::SampleRatio(|raw| &mut raw.traces_sample),
    },
    ConfigKey {
        path: "outbound.allow",
        env: "FRONTDESK_OUTBOUND_ALLOW",
        default: DefaultValue::Text(""),
        about: "Ranges of addresses that are not public and that requests of this server may reach all the same, such as the private network of your own systems. Addresses at which clouds give out credentials are never reached.",
        value_type: ValueType::Networks(|raw| &mut raw.outbound_allow),
    },
    ConfigKey {
        path: "outbound.ca",
        env: "FRONTDESK_OUTBOUND_CA",
        default: DefaultValue::Text(""),
        about: "A PEM file with the CAs that are trusted for requests of this server, instead of the public ones.",
        value_type: ValueType::File(|raw| &mut raw.outbound_ca),
    },
    ConfigKey {
        path: "signals.min_group",
        env: "FRONTDESK_SIGNALS_MIN_GROUP",
        default: DefaultValue::Text("5"),
        about: "The smallest number of records that a figure of `signals.list` and `signals.get` may be from. Smaller groups are suppressed, and others with them where they would give a small one away.",
        value_type: ValueType::Number { min: 2, max: 1000, at: |raw| &mut raw.signals_min_group },
    },
    ConfigKey {
        path: "mount",
        env: "FRONTDESK_MOUNT",
        default: DefaultValue::Derived("without a file, every contract at /mcp/NAME; required in a file"),
        about: "Which contract is served at which path: one [[mount]] table each, with `contract` and `path`, `rest` for the prefix of its REST routes (by default /v1 for the first mount of a contract with routes, below its path for others; \"\" for none), and for a contract that reads a site the keys below. In the environment: contract=path, separated by commas.",
        value_type: ValueType::Mounts(|raw| &mut raw.mounts),
    },
];
