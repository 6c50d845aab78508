//! What each code means and how to handle it, for developers of agents. docs/errors.md is generated from it.

use super::CodeSpec;

/// For resources that have no code of their own for it.
pub const DUPLICATE: CodeSpec = CodeSpec {
    code: super::DUPLICATE_VALUE,
    means: "A value that must be unique belongs to another record.",
    next: "Find that one and change it.",
};

/// The codes that no resource brings along.
pub const COMMON: &[CodeSpec] = &[
    CodeSpec {
        code: super::UNAUTHORIZED,
        means: "The access token is missing, invalid for this resource, or expired.",
        next: "Request a new one at the token endpoint; `WWW-Authenticate` links to the metadata that names it.",
    },
    CodeSpec {
        code: super::INSUFFICIENT_SCOPE,
        means: "The token lacks a scope that this needs.",
        next: "Request a token with the scopes that `WWW-Authenticate` names.",
    },
    CodeSpec {
        code: super::STEP_UP_REQUIRED,
        means: "The tool needs a person who has logged in within the last 5 minutes; a token of client credentials never has one.",
        next: "Have them log in at the authorization endpoint; then repeat the call with the new \
               token.",
    },
    CodeSpec {
        code: super::RATE_LIMITED,
        means: "The client has exceeded its rate limit.",
        next: "Wait `retry_after` seconds.",
    },
    CodeSpec {
        code: super::MALFORMED,
        means: "The body is not valid JSON, or is incomplete.",
        next: "Fix the JSON: valid UTF-8, no duplicate keys.",
    },
    CodeSpec {
        code: super::NOT_RPC,
        means: "The body is JSON, but not a JSON-RPC message that this protocol version allows.",
        next: "Send one request with `jsonrpc`, `id` and `method`.",
    },
    CodeSpec {
        code: super::HEADER_MISMATCH,
        means: "Headers that must match the message do not.",
        next: "Send `MCP-Protocol-Version`, `Mcp-Method` and `Mcp-Name` as the body has them.",
    },
    CodeSpec {
        code: super::WRONG_VERSION,
        means: "The protocol version is not supported.",
        next: "Choose one of those in `data.supported`.",
    },
    CodeSpec {
        code: super::UNKNOWN_METHOD,
        means: "The method does not exist.",
        next: "Use a method that MCP defines; this server has tools and resources.",
    },
    CodeSpec {
        code: super::UNKNOWN_TOOL,
        means: "The tool does not exist, or this token has no access to it.",
        next: "Call `tools/list` for the available tools.",
    },
    CodeSpec {
        code: super::INVALID,
        means: "Arguments do not match the schema.",
        next: "Fix each argument that `details.errors` names.",
    },
    CodeSpec {
        code: super::INVALID_CURSOR,
        means: "The cursor is not from this list, or has expired after a day.",
        next: "Start again without a cursor.",
    },
    CodeSpec {
        code: super::IDEMPOTENCY_CONFLICT,
        means: "The idempotency key was used with other arguments.",
        next: "Use a new key for each new write.",
    },
    CodeSpec {
        code: super::IN_PROGRESS,
        means: "The first call with this key is still in progress.",
        next: "Repeat it with the same key after `retry_after` seconds.",
    },
    CodeSpec {
        code: super::VERSION_CONFLICT,
        means: "The record has changed since `expected_version`.",
        next: "Read it again, then repeat the update with its current version.",
    },
    CodeSpec {
        code: super::QUOTA_EXCEEDED,
        means: "The dealership or the client has stored as much as it may. Nothing was changed; reading and deleting go on.",
        next: "Delete what is no longer needed, or ask the operator for more.",
    },
    CodeSpec {
        code: super::TOO_LARGE,
        means: "The message or its answer is too large.",
        next: "Send or request less, for example with a smaller `limit`.",
    },
    CodeSpec {
        code: super::WRONG_MEDIA,
        means: "The body is not uncompressed JSON in UTF-8.",
        next: "Send `Content-Type: application/json`.",
    },
    CodeSpec { code: super::WRONG_VERB, means: "The HTTP method is not allowed here.", next: "Send a POST request." },
    CodeSpec {
        code: super::WRONG_HOST,
        means: "The `Host` or `Origin` header is not allowed.",
        next: "Use the published URL; the operator can allow more.",
    },
    CodeSpec {
        code: super::CANCELLED,
        means: "The caller has cancelled the request.",
        next: "Nothing, or send it again.",
    },
    CodeSpec {
        code: super::NOT_FOUND,
        means: "No resource has this URI.",
        next: "Call `resources/templates/list` for the available URIs.",
    },
    CodeSpec {
        code: super::DEALERSHIP_REQUIRED,
        means: "The token is valid for several dealerships and none was named.",
        next: "Send `dealership_id`.",
    },
    CodeSpec {
        code: super::DEALERSHIP_FORBIDDEN,
        means: "The token is not valid for this dealership.",
        next: "Send the `dealership_id` of one of the client's own.",
    },
    CodeSpec {
        code: super::UNAVAILABLE,
        means: "The server cannot handle the call right now.",
        next: "Retry after `retry_after` seconds; a write with the same idempotency key.",
    },
    CodeSpec {
        code: super::OUTCOME_UNKNOWN,
        means: "A write without an idempotency key may or may not have been committed.",
        next: "Check whether it was committed before you repeat it, or it may be applied twice. Send a key with every write.",
    },
    CodeSpec {
        code: super::INTERNAL,
        means: "An internal error of the server.",
        next: "Report the `x-trace-id` of the answer to the operator.",
    },
];
