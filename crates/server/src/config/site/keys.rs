//! The keys of a mount that reads a site: parsing, suggestions and the reference all use these tables.

use super::super::fields::{MountKey, key};

#[rustfmt::skip]
pub(in super::super) static SITE: &[MountKey] = &[
    key("contract", "name", "", "Which contract is served."),
    key("path", "path", "the contract's own", "The parent path of the servers, each at its handle, with `/dispatch` below it."),
    key("database", "path or URL", "", "The site's database: a path or sqlite:// for SQLite, mysql:// for MariaDB and MySQL, postgres:// for PostgreSQL. It is only read. Exactly one of `database`, `database_env` and `database_file` must be set."),
    key("database_env", "variable", "", "The environment variable with the database's address, to keep a password out of the file."),
    key("database_file", "file", "", "The file with the database's address. It must not be readable by everyone."),
    key("database_ca", "file", "empty", "A PEM file with the CA of a database on another machine, which must use TLS."),
    key("prefix", "text", "the contract's own", "The prefix of the site's table names. It is checked at startup; the error names the prefixes that exist."),
    key("connections", "number, 1 to 100", "`4`", "How many lists may be read from the database at once, each on a connection of its own. One caller may have half of them; look-ups by id have half as many of their own."),
    key("statement_seconds", "number, 1 to 300", "`5`", "How long the database may work on one query; a call whose query takes longer is answered with 503. `deadlines.call_seconds` limits the whole call."),
    key("tenant", "name", "`site`", "The tenant of the site's callers, tasks and audit records. It is created at startup if it is missing. Each site needs its own."),
    key("auth", "list", "`[\"oauth\"]`", "Who may call: `oauth` for tokens of this server, `jwt` for tokens that the site itself signs, or exactly `[\"none\"]` for direct callers on this machine, without a proxy."),
    key("jwt_secret_env", "variable", "", "The environment variable with the HS256 secret that tokens are signed with: at least 32 bytes."),
    key("jwt_secret_file", "file", "", "The file with that secret, or several, one a line: a token may be signed with any of them, to allow rotation. It must not be readable by everyone."),
    key("jwt_issuer", "text", "empty", "The required `iss` of such tokens. Empty accepts any."),
    key("jwt_audience", "text", "empty", "The required `aud` of such tokens. Empty accepts tokens without `aud`, or with the server's own URL."),
    key("jwt_lifetime_seconds", "number, 1 to 2592000", "`86400`", "The longest accepted lifetime of such a token, from `iat` to `exp`: up to 30 days."),
    key("allow_servers", "list of patterns", "`[\"*\"]`", "Which handles are served. `*` stands for any characters."),
    key("deny_tools", "list of patterns", "`[]`", "Tools that are disabled. Without `enable_write_tools` this includes all tools that write."),
    key("enable_write_tools", "true or false", "`false`", "Whether tools that write are enabled. This version has none."),
    key("dispatch", "sync or async", "`sync`", "Whether a dispatched request is answered at once, or queued and run in the background."),
    key("failover", "sync or fail", "`sync`", "What happens to a dispatched request when the queue is full: it is run at once, or refused with 503."),
    key("limits", "table", "see below", "[mount.limits]: what a call may cost."),
    key("scope_map", "table", "the contract's own", "[mount.scope_map]: which methods each scope allows, such as \"mcp:call\" = [\"tools/call\"]. It replaces the default."),
    key("server", "list of tables", "one", "[[mount.server]]: the handles under which the site answers."),
];

#[rustfmt::skip]
pub(in super::super) static SERVER: &[MountKey] = &[
    key("handle", "name", "", "The last segment of the server's address."),
    key("path", "path", "empty", "An additional path of this server."),
    key("limits", "table", "those of the mount", "[mount.server.limits]: the limits that differ here."),
    key("deny_tools", "list of patterns", "`[]`", "Additional tools that are disabled here."),
    key("scope_map", "table", "that of the mount", "[mount.server.scope_map]: replaces that of the mount."),
];

#[rustfmt::skip]
pub(in super::super) static LIMITS: &[MountKey] = &[
    key("max_payload_kb", "number, 1 to 65536", "`128`", "The largest request body, in units of 1024 bytes."),
    key("max_result_items", "number, 1 to 1000", "`100`", "The largest number of items of a list."),
    key("max_result_bytes", "number, 1 to 16777216", "`1048576`", "The largest answer. A larger one is refused, not cut."),
    key("max_depth", "number, 1 to 100", "`6`", "The largest depth of a tree."),
    key("max_offset", "number, 0 to 1000000", "`5000`", "The largest offset into a list."),
    key("per_minute", "number, 1 to 1000000", "`30`", "How many calls a caller may make of one method in a minute."),
    key("idempotency_ttl_seconds", "number, 60 to 31536000", "`86400`", "How long the answer to a dispatched request is stored under its key, and how long a failing request is retried."),
];
