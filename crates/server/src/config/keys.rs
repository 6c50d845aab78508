//! The table of everything that can be configured: reading, `config show`, the reference and the example all come from it.
//! No key may be known anywhere else.

use super::kind::Kind;

/// One thing that can be configured.
pub struct Key {
    /// As a file has it: `table.name`.
    pub path: &'static str,
    /// As the environment has it.
    pub env: &'static str,
    pub default: Fallback,
    /// What it means, in sentences for an operator.
    pub about: &'static str,
    pub(super) kind: Kind,
}

/// What a key is when nobody sets it.
pub enum Fallback {
    /// Written as the environment would write it.
    Text(&'static str),
    /// Made from other keys; the words say how.
    Derived(&'static str),
}

impl Key {
    /// The table and the name in it; the table is empty for keys at the top.
    pub fn split(&self) -> (&'static str, &'static str) {
        self.path.split_once('.').unwrap_or(("", self.path))
    }
}

/// Every key, those at the top first, `mount` last, in the order in which they are explained.
pub static KEYS: &[Key] = &[
    Key {
        path: "data",
        env: "FRONTDESK_DATA",
        default: Fallback::Text("frontdesk-data"),
        about: "The folder for the database, the keys and the development certificates. A relative path starts at the working directory.",
        kind: Kind::Folder(|draft| &mut draft.data),
    },
    Key {
        path: "listen",
        env: "FRONTDESK_LISTEN",
        default: Fallback::Text("127.0.0.1:8443"),
        about: "The address and port of the HTTPS endpoint. Port 0 picks a free one; 0.0.0.0 or [::] reaches every network.",
        kind: Kind::Address(|draft| &mut draft.listen),
    },
    Key {
        path: "public_url",
        env: "FRONTDESK_PUBLIC_URL",
        default: Fallback::Derived("https://localhost with the port of `listen`"),
        about: "How the outside reaches this server. Every URL that Frontdesk publishes about itself, and the resource that tokens are bound to, starts with it.",
        kind: Kind::Url(|draft| &mut draft.public_url),
    },
    Key {
        path: "allowed_hosts",
        env: "FRONTDESK_ALLOWED_HOSTS",
        default: Fallback::Derived("the host of `public_url`, localhost, 127.0.0.1 and [::1]"),
        about: "The hosts, without port, that a request may be addressed to. Others are refused, which stops DNS rebinding.",
        kind: Kind::Hosts(|draft| &mut draft.allowed_hosts),
    },
    Key {
        path: "allowed_origins",
        env: "FRONTDESK_ALLOWED_ORIGINS",
        default: Fallback::Derived("the origin of `public_url`"),
        about: "The web pages that may call from a browser. A request without an Origin header is not from a page and is unaffected; an empty list refuses every page.",
        kind: Kind::Origins(|draft| &mut draft.allowed_origins),
    },
    Key {
        path: "database",
        env: "FRONTDESK_DATABASE",
        default: Fallback::Text(""),
        about: "Empty for the embedded SQLite database in the data folder, or the postgres:// URL of a PostgreSQL database. One on another machine is reached by TLS with a verified certificate or not at all; one on this machine, by localhost or its socket, goes without unless the URL has sslmode=verify-full. Several nodes can share one if the same master.key is in the data folder of each.",
        kind: Kind::Database(|draft| &mut draft.database),
    },
    Key {
        path: "database_ca",
        env: "FRONTDESK_DATABASE_CA",
        default: Fallback::Text(""),
        about: "A PEM file with the authority that PostgreSQL's certificate must come from. Needed with TLS: the authorities that the system knows are not trusted. Read anew for every connection.",
        kind: Kind::File(|draft| &mut draft.database_ca),
    },
    Key {
        path: "tls.certificate",
        env: "FRONTDESK_TLS_CERTIFICATE",
        default: Fallback::Text(""),
        about: "A PEM file with the server's certificate and the chain above it. Empty for one made by the development authority in the data folder, which only clients that trust its ca.pem accept.",
        kind: Kind::File(|draft| &mut draft.certificate),
    },
    Key {
        path: "tls.key",
        env: "FRONTDESK_TLS_KEY",
        default: Fallback::Text(""),
        about: "The PEM file with the private key of `tls.certificate`. Set both or neither.",
        kind: Kind::File(|draft| &mut draft.key),
    },
    Key {
        path: "operator.listen",
        env: "FRONTDESK_OPERATOR_LISTEN",
        default: Fallback::Text("127.0.0.1:8444"),
        about: "The address and port for the operator of this machine. It must be a loopback address.",
        kind: Kind::Loopback(|draft| &mut draft.operator_listen),
    },
    Key {
        path: "token.lifetime_seconds",
        env: "FRONTDESK_TOKEN_LIFETIME_SECONDS",
        default: Fallback::Text("300"),
        about: "How long an access token is good for. Above 900 a stolen token is of use for long, and Frontdesk warns.",
        kind: Kind::Number { least: 1, most: 3600, at: |draft| &mut draft.token_lifetime_seconds },
    },
    Key {
        path: "token.cache_milliseconds",
        env: "FRONTDESK_TOKEN_CACHE_MILLISECONDS",
        default: Fallback::Text("1000"),
        about: "How long a token that was looked up is believed without another look. A revocation takes effect within this time.",
        kind: Kind::Number { least: 0, most: 1000, at: |draft| &mut draft.token_cache_milliseconds },
    },
    Key {
        path: "limits.body_bytes",
        env: "FRONTDESK_LIMITS_BODY_BYTES",
        default: Fallback::Text("1048576"),
        about: "The largest request body.",
        kind: Kind::Number { least: 1024, most: 67_108_864, at: |draft| &mut draft.body_bytes },
    },
    Key {
        path: "limits.page_bytes",
        env: "FRONTDESK_LIMITS_PAGE_BYTES",
        default: Fallback::Text("262144"),
        about: "About how large a page of a list may grow. A fuller page is cut at a whole item, and a cursor leads to the rest.",
        kind: Kind::Number { least: 4096, most: 16_777_216, at: |draft| &mut draft.page_bytes },
    },
    Key {
        path: "limits.connections",
        env: "FRONTDESK_LIMITS_CONNECTIONS",
        default: Fallback::Text("4096"),
        about: "How many connections may be open in all. Each takes a file descriptor.",
        kind: Kind::Number { least: 1, most: 1_000_000, at: |draft| &mut draft.connections },
    },
    Key {
        path: "limits.connections_per_address",
        env: "FRONTDESK_LIMITS_CONNECTIONS_PER_ADDRESS",
        default: Fallback::Text("256"),
        about: "How many connections may be open from one address. Behind a proxy all clients share the proxy's address.",
        kind: Kind::Number { least: 1, most: 1_000_000, at: |draft| &mut draft.connections_per_address },
    },
    Key {
        path: "limits.calls_per_minute",
        env: "FRONTDESK_LIMITS_CALLS_PER_MINUTE",
        default: Fallback::Text("6000"),
        about: "How many calls a client may make per minute in the long run.",
        kind: Kind::Number { least: 1, most: 10_000_000, at: |draft| &mut draft.calls_per_minute },
    },
    Key {
        path: "limits.burst",
        env: "FRONTDESK_LIMITS_BURST",
        default: Fallback::Text("1000"),
        about: "How many calls a client that was quiet may make at once.",
        kind: Kind::Number { least: 1, most: 1_000_000, at: |draft| &mut draft.burst },
    },
    Key {
        path: "limits.token_requests_per_minute",
        env: "FRONTDESK_LIMITS_TOKEN_REQUESTS_PER_MINUTE",
        default: Fallback::Text("60"),
        about: "How many tokens a client may ask for per minute. An address may ask ten times as often, for all its clients and whoever guesses at secrets there.",
        kind: Kind::Number { least: 1, most: 1_000_000, at: |draft| &mut draft.token_requests_per_minute },
    },
    Key {
        path: "deadlines.call_seconds",
        env: "FRONTDESK_DEADLINES_CALL_SECONDS",
        default: Fallback::Text("30"),
        about: "How long a call may take before it is answered as unavailable.",
        kind: Kind::Number { least: 1, most: 600, at: |draft| &mut draft.call_seconds },
    },
    Key {
        path: "deadlines.drain_seconds",
        env: "FRONTDESK_DEADLINES_DRAIN_SECONDS",
        default: Fallback::Text("25"),
        about: "How long a stopping server waits for calls that are running. Keep it below the time after which your process supervisor kills.",
        kind: Kind::Number { least: 0, most: 600, at: |draft| &mut draft.drain_seconds },
    },
    Key {
        path: "idempotency.retain_hours",
        env: "FRONTDESK_IDEMPOTENCY_RETAIN_HOURS",
        default: Fallback::Text("168"),
        about: "How long an idempotency key is remembered. A retry after that is a new order.",
        kind: Kind::Number { least: 24, most: 8760, at: |draft| &mut draft.retain_hours },
    },
    Key {
        path: "audit.retain_days",
        env: "FRONTDESK_AUDIT_RETAIN_DAYS",
        default: Fallback::Text("0"),
        about: "How long audit records are kept. 0 keeps them for ever.",
        kind: Kind::Number { least: 0, most: 36_500, at: |draft| &mut draft.retain_days },
    },
    Key {
        path: "log.format",
        env: "FRONTDESK_LOG_FORMAT",
        default: Fallback::Text("auto"),
        about: "How log lines look. `auto` is pretty on a terminal and JSON otherwise.",
        kind: Kind::LogFormat(|draft| &mut draft.log_format),
    },
    Key {
        path: "traces.endpoint",
        env: "FRONTDESK_TRACES_ENDPOINT",
        default: Fallback::Text(""),
        about: "Where the spans of calls are sent: the base URL of an OpenTelemetry collector that takes OTLP over HTTP as JSON, at /v1/traces under it. Empty sends none. http is possible within this machine only.",
        kind: Kind::Endpoint(|draft| &mut draft.traces_endpoint),
    },
    Key {
        path: "traces.ca",
        env: "FRONTDESK_TRACES_CA",
        default: Fallback::Text(""),
        about: "A PEM file with the authorities that may vouch for an https collector.",
        kind: Kind::File(|draft| &mut draft.traces_ca),
    },
    Key {
        path: "traces.headers_file",
        env: "FRONTDESK_TRACES_HEADERS_FILE",
        default: Fallback::Text(""),
        about: "A file with headers for the collector, one `Name: value` a line, such as an API key. It must not be readable by everyone.",
        kind: Kind::File(|draft| &mut draft.traces_headers),
    },
    Key {
        path: "traces.sample",
        env: "FRONTDESK_TRACES_SAMPLE",
        default: Fallback::Text("1.0"),
        about: "Which part of the traces that begin here is sent. A known caller that sends a traceparent has decided for its own; a stranger's counts as one that begins here.",
        kind: Kind::Ratio(|draft| &mut draft.traces_sample),
    },
    Key {
        path: "mount",
        env: "FRONTDESK_MOUNT",
        default: Fallback::Derived("without a file, every contract at /mcp/NAME; a file must say it"),
        about: "Which contract is served at which path: one [[mount]] table each, with `contract` and `path`, and for a contract that reads a site the keys below. In the environment: contract=path, separated by commas.",
        kind: Kind::Mounts(|draft| &mut draft.mounts),
    },
];
