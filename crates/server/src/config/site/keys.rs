//! The keys of a mount that reads a site: reading, guessing at slips and the reference all come from these tables.

/// One key of a `[[mount]]` table, or of a table in it.
pub(crate) struct SiteKey {
    pub(crate) name: &'static str,
    pub(crate) takes: &'static str,
    pub(crate) default: &'static str,
    /// What it means, in sentences for an operator.
    pub(crate) about: &'static str,
}

const fn key(name: &'static str, takes: &'static str, default: &'static str, about: &'static str) -> SiteKey {
    SiteKey { name, takes, default, about }
}

#[rustfmt::skip]
pub(crate) static SITE: &[SiteKey] = &[
    key("contract", "name", "", "Which contract is served."),
    key("path", "path", "the contract's own", "The base below which the servers answer, each at its handle, with `/dispatch` beside it."),
    key("database", "path or URL", "", "The site's database: a path or sqlite:// for SQLite, mysql:// for MariaDB and MySQL, postgres:// for PostgreSQL. It is only read. Exactly one of `database`, `database_env` and `database_file` must be set."),
    key("database_env", "variable", "", "The environment variable that holds the database's address, so that a password need not stand in the file."),
    key("database_file", "file", "", "The file that holds the database's address. It must not be readable by everyone."),
    key("database_ca", "file", "empty", "A PEM file with the authority that vouches for a database on another machine, which is reached by TLS or not at all."),
    key("prefix", "text", "the contract's own", "What the names of the site's tables begin with. It is checked at the start, and what was found instead is said."),
    key("tenant", "name", "`site`", "The name under which the site's callers, tasks and audit records are kept. It is made at the start if it is missing. Each site requires one of its own."),
    key("auth", "list", "`[\"oauth\"]`", "Who may call: `oauth` for tokens of this server, `jwt` for tokens that the site itself signs, or exactly `[\"none\"]` for whoever is on this machine and comes without a proxy."),
    key("jwt_secret_env", "variable", "", "The environment variable that holds the secret which tokens are signed with by HS256: 32 bytes at least."),
    key("jwt_secret_file", "file", "", "The file that holds that secret, or several, one a line: a token may be signed with any of them, so that a new one can come before the old one goes. It must not be readable by everyone."),
    key("jwt_issuer", "text", "empty", "What the `iss` of such tokens must be. Empty takes any."),
    key("jwt_audience", "text", "empty", "What the `aud` of such tokens must name. Empty takes tokens without `aud`, or with the server's own URL."),
    key("jwt_lifetime_seconds", "number, 1 to 2592000", "`86400`", "How long such a token may live, from its `iat` to its `exp`: a day, or up to 30 days."),
    key("allow_servers", "list of patterns", "`[\"*\"]`", "Which handles are served. `*` stands for any letters."),
    key("deny_tools", "list of patterns", "`[]`", "Tools that nobody may call. Without `enable_write_tools` those that write are among them."),
    key("enable_write_tools", "true or false", "`false`", "Whether tools that write may be called. This version has none."),
    key("dispatch", "sync or async", "`sync`", "Whether a dispatched message is answered at once, or accepted and done in the background."),
    key("failover", "sync or fail", "`sync`", "What happens to a dispatched message when the background has no room: it is done at once, or refused with 503."),
    key("limits", "table", "see below", "[mount.limits]: what a call may cost."),
    key("scope_map", "table", "the contract's own", "[mount.scope_map]: which methods each scope opens, such as \"mcp:call\" = [\"tools/call\"]. It replaces the defaults one."),
    key("server", "list of tables", "one", "[[mount.server]]: the handles under which the site answers."),
];

#[rustfmt::skip]
pub(crate) static SERVER: &[SiteKey] = &[
    key("handle", "name", "", "The last segment of the server's address."),
    key("path", "path", "empty", "A further address for this server."),
    key("limits", "table", "those of the mount", "[mount.server.limits]: the limits that differ here."),
    key("deny_tools", "list of patterns", "`[]`", "Further tools that nobody may call here."),
    key("scope_map", "table", "that of the mount", "[mount.server.scope_map]: replaces that of the mount."),
];

#[rustfmt::skip]
pub(crate) static LIMITS: &[SiteKey] = &[
    key("max_payload_kb", "number, 1 to 65536", "`128`", "The largest request body, in units of 1024 bytes."),
    key("max_result_items", "number, 1 to 1000", "`100`", "The most items of a list."),
    key("max_result_bytes", "number, 1 to 16777216", "`1048576`", "The largest answer. A larger one is refused, not cut."),
    key("max_depth", "number, 1 to 100", "`6`", "How deep a tree may be asked for."),
    key("max_offset", "number, 0 to 1000000", "`5000`", "How far into a list a call may begin."),
    key("per_minute", "number, 1 to 1000000", "`30`", "How many calls a caller may make of one method in a minute."),
    key("idempotency_ttl_seconds", "number, 60 to 31536000", "`86400`", "How long the answer of a dispatched message is kept under its key, from when it was given; and for how long a message is tried that cannot be answered."),
];
