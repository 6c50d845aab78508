//! What each code means and what to do about it, in words for whoever writes an agent. The page docs/errors.md is made
//! of them.

use frontdesk_engine::Code;

/// Every code, in the order of [`super::ALL`]: its meaning, and what its receiver can do.
pub const ABOUT: &[(Code, &str, &str)] = &[
    (
        super::UNAUTHORIZED,
        "The access token is missing, not good here, or has ended.",
        "Get a new one at the token endpoint; `WWW-Authenticate` says where that is described.",
    ),
    (
        super::INSUFFICIENT_SCOPE,
        "The token lacks a scope that this needs.",
        "Ask for a token with the scopes that `WWW-Authenticate` names.",
    ),
    (
        super::STEP_UP_REQUIRED,
        "The person must log in again.",
        "Send them to log in, then repeat the call with the new token.",
    ),
    (super::RATE_LIMITED, "More calls than this client's budget.", "Wait `retry_after` seconds."),
    (
        super::MALFORMED,
        "The body is not strict JSON, or did not arrive whole.",
        "Mend the JSON: UTF-8, no name twice in an object.",
    ),
    (
        super::NOT_RPC,
        "JSON, but no JSON-RPC message that this protocol version allows.",
        "Send one request with `jsonrpc`, `id` and `method`.",
    ),
    (
        super::HEADER_MISMATCH,
        "Headers that must mirror the message do not.",
        "Send `MCP-Protocol-Version`, `Mcp-Method` and `Mcp-Name` as the body has them.",
    ),
    (super::WRONG_VERSION, "The protocol version is not served.", "Choose one of those in `data.supported`."),
    (super::UNKNOWN_METHOD, "There is no such method.", "See the protocol; this desk has tools and resources."),
    (super::UNKNOWN_TOOL, "There is no such tool for this token.", "Ask `tools/list`."),
    (super::INVALID, "Arguments do not fit.", "Mend each place that `details.errors` names."),
    (
        super::INVALID_CURSOR,
        "The cursor is not one of this list, or older than a day.",
        "Ask for the first page again.",
    ),
    (
        super::IDEMPOTENCY_CONFLICT,
        "The idempotency key was used before with other arguments.",
        "Use a new key for a new order.",
    ),
    (
        super::IN_PROGRESS,
        "The first call with this key is still being worked on.",
        "Repeat it with the same key after `retry_after` seconds.",
    ),
    (
        super::VERSION_CONFLICT,
        "The record has changed since the version that was named.",
        "Read it again and decide anew.",
    ),
    (super::TOO_LARGE, "The message or its answer is too large.", "Send or ask for less."),
    (super::WRONG_MEDIA, "The body is not uncompressed JSON in UTF-8.", "Send `Content-Type: application/json`."),
    (super::WRONG_VERB, "Not an HTTP method of this endpoint.", "Send a POST."),
    (
        super::WRONG_HOST,
        "The request is addressed to another host, or comes from a web page that may not call.",
        "Use the published address; an operator can allow more.",
    ),
    (super::CANCELLED, "The caller has withdrawn the request.", "Nothing; or send it again."),
    (super::NOT_FOUND, "No resource has this address.", "See `resources/templates/list`."),
    (
        super::DEALERSHIP_REQUIRED,
        "The token is good for several dealerships and none was named.",
        "Name one as `dealership_id`.",
    ),
    (
        super::DEALERSHIP_FORBIDDEN,
        "The token is not good for the dealership that was named.",
        "Name one of the client's own.",
    ),
    (
        super::INVENTORY_NOT_FOUND,
        "No vehicle with this id is there for this caller.",
        "Look for it with `inventory.search`.",
    ),
    (super::LEADS_NOT_FOUND, "No lead with this id is there for this caller.", "Look for it with `leads.list`."),
    (
        super::CUSTOMERS_NOT_FOUND,
        "No customer with this id is there for this caller.",
        "Look for it with `customers.list`.",
    ),
    (super::LOST_REASON_REQUIRED, "A lead is marked as lost without a reason.", "Send `lost_reason`."),
    (super::CONSENT_REQUIRED, "The person has not agreed to be contacted.", "Ask them, then send their consent."),
    (
        super::CONSENT_INVALID,
        "The consent does not fit the contact data or the moment.",
        "Mend what `details.errors` names.",
    ),
    (
        super::UNAVAILABLE,
        "The desk cannot do this right now.",
        "Try again after `retry_after` seconds; a write with the same key.",
    ),
    (
        super::OUTCOME_UNKNOWN,
        "A write without an idempotency key may have happened, or may still happen.",
        "Look whether it is there before you send it again: a second one may do it twice. Send a key with every write.",
    ),
    (super::INTERNAL, "Something went wrong on the desk's side.", "Tell the operator the `x-trace-id` of the answer."),
];
