//! The table of everything that can be configured: reading, `config show`, the reference and the example all come from it.
//! No key may be known anywhere else.

use super::value_type::ValueType;

/// One thing that can be configured.
pub struct ConfigKey {
    /// As a file has it: `table.name`.
    pub path: &'static str,
    /// As the environment has it.
    pub env: &'static str,
    pub default: DefaultValue,
    /// What it means, in sentences for an operator.
    pub about: &'static str,
    pub(super) value_type: ValueType,
}

/// What a key is when nobody sets it.
pub enum DefaultValue {
    /// Written as the environment would write it.
    Text(&'static str),
    /// Made from other keys; the words say how.
    Derived(&'static str),
}

impl ConfigKey {
    /// The table and the name in it; the table is empty for keys at the top.
    pub fn split(&self) -> (&'static str, &'static str) {
        self.path.split_once('.').unwrap_or(("", self.path))
    }
}

/// Every key, those at the top first, `mount` last, in the order in which they are explained.
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
        about: "The address and port of the HTTPS endpoint. Port 0 picks a free one; 0.0.0.0 or [::] reaches every network.",
        value_type: ValueType::Address(|raw| &mut raw.listen),
    },
    ConfigKey {
        path: "public_url",
        env: "FRONTDESK_PUBLIC_URL",
        default: DefaultValue::Derived("https://localhost with the port of `listen`"),
        about: "How the env reaches this server. Every URL that Frontdesk publishes about itself, and the resource that tokens are bound to, starts with it.",
        value_type: ValueType::Url(|raw| &mut raw.public_url),
    },
    ConfigKey {
        path: "allowed_hosts",
        env: "FRONTDESK_ALLOWED_HOSTS",
        default: DefaultValue::Derived("the host of `public_url`, localhost, 127.0.0.1 and [::1]"),
        about: "The hosts, without port, that a request may be addressed to. Others are refused, which stops DNS rebinding.",
        value_type: ValueType::Hosts(|raw| &mut raw.allowed_hosts),
    },
    ConfigKey {
        path: "allowed_origins",
        env: "FRONTDESK_ALLOWED_ORIGINS",
        default: DefaultValue::Derived("the origin of `public_url`"),
        about: "The web pages that may call from a browser. A request without an ValueSource header is not from a page and is unaffected; an empty list refuses every page.",
        value_type: ValueType::Origins(|raw| &mut raw.allowed_origins),
    },
    ConfigKey {
        path: "database",
        env: "FRONTDESK_DATABASE",
        default: DefaultValue::Text(""),
        about: "Empty for the embedded SQLite database in the data folder, or the postgres:// URL of a PostgreSQL database. One on another machine is reached by TLS with a verified certificate or not at all; one on this machine, by localhost or its socket, goes without unless the URL has sslmode=verify-full. Several nodes can share one if the same master.key is in the data folder of each.",
        value_type: ValueType::Database(|raw| &mut raw.database),
    },
    ConfigKey {
        path: "database_ca",
        env: "FRONTDESK_DATABASE_CA",
        default: DefaultValue::Text(""),
        about: "A PEM file with the authority that PostgreSQL's certificate must come from. Needed with TLS: the authorities that the system knows are not trusted. Read anew for every connection.",
        value_type: ValueType::File(|raw| &mut raw.database_ca),
    },
    ConfigKey {
        path: "tls.certificate",
        env: "FRONTDESK_TLS_CERTIFICATE",
        default: DefaultValue::Text(""),
        about: "A PEM file with the server's certificate and the chain above it. Empty for one made by the development authority in the data folder, which only clients that trust its ca.pem accept.",
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
        about: "The address and port for the operator of this machine. It must be a loopback address.",
        value_type: ValueType::Loopback(|raw| &mut raw.operator_listen),
    },
    ConfigKey {
        path: "token.lifetime_seconds",
        env: "FRONTDESK_TOKEN_LIFETIME_SECONDS",
        default: DefaultValue::Text("300"),
        about: "How long an access token is good for. Above 900 a stolen token is of use for long, and Frontdesk warns.",
        value_type: ValueType::Number { min: 1, max: 3600, at: |raw| &mut raw.token_lifetime_seconds },
    },
    ConfigKey {
        path: "token.cache_milliseconds",
        env: "FRONTDESK_TOKEN_CACHE_MILLISECONDS",
        default: DefaultValue::Text("1000"),
        about: "How long a token that was looked up is believed without another look. A revocation takes effect within this time.",
        value_type: ValueType::Number { min: 0, max: 1000, at: |raw| &mut raw.token_cache_milliseconds },
    },
    ConfigKey {
        path: "limits.body_bytes",
        env: "FRONTDESK_LIMITS_BODY_BYTES",
        default: DefaultValue::Text("1048576"),
        about: "The largest request body.",
        value_type: ValueType::Number { min: 1024, max: 67_108_864, at: |raw| &mut raw.body_bytes },
    },
    ConfigKey {
        path: "limits.page_bytes",
        env: "FRONTDESK_LIMITS_PAGE_BYTES",
        default: DefaultValue::Text("262144"),
        about: "About how large a page of a list may grow. A fuller page is cut at a whole item, and a cursor leads to the rest.",
        value_type: ValueType::Number { min: 4096, max: 16_777_216, at: |raw| &mut raw.page_bytes },
    },
    ConfigKey {
        path: "limits.connections",
        env: "FRONTDESK_LIMITS_CONNECTIONS",
        default: DefaultValue::Text("4096"),
        about: "How many connections may be open in all. Each takes a file descriptor.",
        value_type: ValueType::Number { min: 1, max: 1_000_000, at: |raw| &mut raw.connections },
    },
    ConfigKey {
        path: "limits.connections_per_address",
        env: "FRONTDESK_LIMITS_CONNECTIONS_PER_ADDRESS",
        default: DefaultValue::Text("256"),
        about: "How many connections may be open from one address. Behind a proxy all clients share the proxy's address.",
        value_type: ValueType::Number { min: 1, max: 1_000_000, at: |raw| &mut raw.connections_per_address },
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
        about: "How many calls a client that was quiet may make at once.",
        value_type: ValueType::Number { min: 1, max: 1_000_000, at: |raw| &mut raw.burst },
    },
    ConfigKey {
        path: "limits.token_requests_per_minute",
        env: "FRONTDESK_LIMITS_TOKEN_REQUESTS_PER_MINUTE",
        default: DefaultValue::Text("60"),
        about: "How many tokens a client may ask for per minute. An address may ask ten times as often, for all its clients and whoever guesses at secrets there.",
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
        about: "How long a stopping server waits for calls that are running. Keep it below the time after which your process supervisor kills.",
        value_type: ValueType::Number { min: 0, max: 600, at: |raw| &mut raw.drain_seconds },
    },
    ConfigKey {
        path: "idempotency.retain_hours",
        env: "FRONTDESK_IDEMPOTENCY_RETAIN_HOURS",
        default: DefaultValue::Text("168"),
        about: "How long an idempotency key is remembered. A retry after that is a new order.",
        value_type: ValueType::Number { min: 24, max: 8760, at: |raw| &mut raw.retain_hours },
    },
    ConfigKey {
        path: "audit.retain_days",
        env: "FRONTDESK_AUDIT_RETAIN_DAYS",
        default: DefaultValue::Text("0"),
        about: "How long audit records are kept. 0 keeps them for ever.",
        value_type: ValueType::Number { min: 0, max: 36_500, at: |raw| &mut raw.retain_days },
    },
    ConfigKey {
        path: "log.format",
        env: "FRONTDESK_LOG_FORMAT",
        default: DefaultValue::Text("auto"),
        about: "How log lines look. `auto` is pretty on a terminal and JSON otherwise.",
        value_type: ValueType::LogFormat(|raw| &mut raw.log_format),
    },
    ConfigKey {
        path: "traces.endpoint",
        env: "FRONTDESK_TRACES_ENDPOINT",
        default: DefaultValue::Text(""),
        about: "Where the spans of calls are sent: the base URL of an OpenTelemetry collector that takes OTLP over HTTP as JSON, at /v1/traces under it. Empty sends none. http is possible within this machine only.",
        value_type: ValueType::CollectorUrl(|raw| &mut raw.traces_endpoint),
    },
    ConfigKey {
        path: "traces.ca",
        env: "FRONTDESK_TRACES_CA",
        default: DefaultValue::Text(""),
        about: "A PEM file with the authorities that may vouch for an https collector.",
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
        about: "Which part of the traces that begin here is sent. A known caller that sends a traceparent has decided for its own; a stranger's counts as one that begins here.",
        value_type: ValueType::SampleRatio(|raw| &mut raw.traces_sample),
    },
    ConfigKey {
        path: "mount",
        env: "FRONTDESK_MOUNT",
        default: DefaultValue::Derived("without a file, every contract at /mcp/NAME; a file must say it"),
        about: "Which contract is served at which path: one [[mount]] table each, with `contract` and `path`, and for a contract that reads a site the keys below. In the environment: contract=path, separated by commas.",
        value_type: ValueType::Mounts(|raw| &mut raw.mounts),
    },
];
