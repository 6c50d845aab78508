//! What each code means and how to handle it, for developers of agents. docs/errors.md is generated from it.

use frontdesk_engine::Code;

/// Every code, in the order of [`super::ALL`]: its meaning, and what the caller can do.
pub const DESCRIPTIONS: &[(Code, &str, &str)] = &[
    (
        super::UNAUTHORIZED,
        "The access token is missing, invalid for this resource, or expired.",
        "Request a new one at the token endpoint; `WWW-Authenticate` links to the metadata that names it.",
    ),
    (
        super::INSUFFICIENT_SCOPE,
        "The token lacks a scope that this needs.",
        "Request a token with the scopes that `WWW-Authenticate` names.",
    ),
    (
        super::STEP_UP_REQUIRED,
        "The person must log in again.",
        "Have them log in, then repeat the call with the new token.",
    ),
    (super::RATE_LIMITED, "The client has exceeded its rate limit.", "Wait `retry_after` seconds."),
    (
        super::MALFORMED,
        "The body is not valid JSON, or is incomplete.",
        "Fix the JSON: valid UTF-8, no duplicate keys.",
    ),
    (
        super::NOT_RPC,
        "The body is JSON, but not a JSON-RPC message that this protocol version allows.",
        "Send one request with `jsonrpc`, `id` and `method`.",
    ),
    (
        super::HEADER_MISMATCH,
        "Headers that must match the message do not.",
        "Send `MCP-Protocol-Version`, `Mcp-Method` and `Mcp-Name` as the body has them.",
    ),
    (super::WRONG_VERSION, "The protocol version is not supported.", "Choose one of those in `data.supported`."),
    (
        super::UNKNOWN_METHOD,
        "The method does not exist.",
        "Use a method that MCP defines; this server has tools and resources.",
    ),
    (
        super::UNKNOWN_TOOL,
        "The tool does not exist, or this token has no access to it.",
        "Call `tools/list` for the available tools.",
    ),
    (super::INVALID, "Arguments do not match the schema.", "Fix each argument that `details.errors` names."),
    (
        super::INVALID_CURSOR,
        "The cursor is not from this list, or has expired after a day.",
        "Start again without a cursor.",
    ),
    (
        super::IDEMPOTENCY_CONFLICT,
        "The idempotency key was used with other arguments.",
        "Use a new key for each new write.",
    ),
    (
        super::IN_PROGRESS,
        "The first call with this key is still in progress.",
        "Repeat it with the same key after `retry_after` seconds.",
    ),
    (
        super::VERSION_CONFLICT,
        "The record has changed since `expected_version`.",
        "Read it again, then repeat the update with its current version.",
    ),
    (
        super::TOO_LARGE,
        "The message or its answer is too large.",
        "Send or request less, for example with a smaller `limit`.",
    ),
    (super::WRONG_MEDIA, "The body is not uncompressed JSON in UTF-8.", "Send `Content-Type: application/json`."),
    (super::WRONG_VERB, "The HTTP method is not allowed here.", "Send a POST request."),
    (
        super::WRONG_HOST,
        "The `Host` or `Origin` header is not allowed.",
        "Use the published URL; the operator can allow more.",
    ),
    (super::CANCELLED, "The caller has cancelled the request.", "Nothing, or send it again."),
    (super::NOT_FOUND, "No resource has this URI.", "Call `resources/templates/list` for the available URIs."),
    (
        super::DEALERSHIP_REQUIRED,
        "The token is valid for several dealerships and none was named.",
        "Send `dealership_id`.",
    ),
    (
        super::DEALERSHIP_FORBIDDEN,
        "The token is not valid for this dealership.",
        "Send the `dealership_id` of one of the client's own.",
    ),
    (super::INVENTORY_NOT_FOUND, "No vehicle with this id exists for this caller.", "Find it with `inventory.search`."),
    (super::LEADS_NOT_FOUND, "No lead with this id exists for this caller.", "Find it with `leads.list`."),
    (super::CUSTOMERS_NOT_FOUND, "No customer with this id exists for this caller.", "Find it with `customers.list`."),
    (super::LOST_REASON_REQUIRED, "Status lost was sent without a reason.", "Send `lost_reason`."),
    (super::CONSENT_REQUIRED, "The person has not agreed to be contacted.", "Ask them, then send their consent."),
    (
        super::CONSENT_INVALID,
        "The consent does not cover the contact data, lies in the future, or has expired.",
        "Fix what `details.errors` names.",
    ),
    (
        super::UNAVAILABLE,
        "The server cannot handle the call right now.",
        "Retry after `retry_after` seconds; a write with the same idempotency key.",
    ),
    (
        super::OUTCOME_UNKNOWN,
        "A write without an idempotency key may or may not have been committed.",
        "Check whether it was committed before you repeat it, or it may be applied twice. Send a key with every write.",
    ),
    (super::INTERNAL, "An internal error of the server.", "Report the `x-trace-id` of the answer to the operator."),
];
