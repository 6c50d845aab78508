//! The keys of a mount with a partner: parsing, suggestions and the reference all use these tables.

use frontdesk_contracts::partner::PartnerSource;

use super::super::fields::{MountKey, key};

#[rustfmt::skip]
pub(in super::super) static PARTNER_MOUNT: &[MountKey] = &[
    key("contract", "name", "", "Which contract is served."),
    key("path", "path", "", "Its path. Each intent is best mounted by itself, because intents can have tools of the same name."),
    key("tenant", "name", "", "The tenant whose goods and times are sold. It is created at startup if it is missing."),
    key("intents", "list", "", "Which intents are served: the ids of built-in ones, or files that end in `.json`. A relative path starts at the folder of the configuration file."),
    key("source", PartnerSource::WORDS, "`own`", "What is sold: records of this contract, which come in by `frontdesk import`, or what the tenant has under another contract."),
    key("backend", "URL", "empty", "The business's own system, https only. Every tool is then forwarded to it instead of being run on records here."),
    key("backend_keys", "file", "empty", "Keys that requests to `backend` are signed with, one a line; the first one is used. Required with `backend`."),
    key("backend_timeout_ms", "table of numbers", "`{ search = 2500, get = 1200, create = 8000, cancel = 4000, track = 600 }`", "How many milliseconds `backend` may take for each kind of tool. Each must be shorter than the contract allows: at most 2900, 1400, 9500, 4800 and 700."),
    key("error_status", "ok or equivalent", "`ok`", "The HTTP status of errors other than that of a missing credential: always 200, because common clients lose the body of anything else, or the equivalent that the contract names."),
    key("maintenance", "true or false", "`false`", "Whether every call of a tool is answered as closed for maintenance. The tools stay listed."),
    key("stream_seconds", "number, 0 to 600", "`0`", "How long a caller who takes a stream of events may watch something, such as a ride. With 0 the stream has one look at it and ends."),
    key("clock", "true or false", "`false`", "Whether bookings with stages, such as rides and orders, go through them by themselves every few seconds. For trying out: then nobody else need report them."),
    key("complete_after_hours", "1 to 8760", "never", "So many hours after their time, bookings for a time that no system has reported are completed, such as stays and slots."),
    key("partner", "table", "", "[mount.partner]: what the business says of itself."),
    key("auth", "table", "", "[mount.auth]: the credentials of the caller."),
    key("notifications", "table", "", "[mount.notifications]: who may report what becomes of bookings."),
    key("manifest", "table", "empty", "[mount.manifest]: what the business registers with."),
    key("completion", "table", "empty", "[mount.completion]: how the caller is told about orders that have ended."),
];

#[rustfmt::skip]
pub(in super::super) static PARTNER: &[MountKey] = &[
    key("id", "text", "", "The id under which the caller knows the business."),
    key("company", "text", "", "The name of the company, which is also the name of the server."),
    key("signals", "table of numbers", "", "How the business rates itself, from 0.0 to 1.0 for each axis that the contract names, such as { time = 0.6 }."),
    key("service_area", "list", "", "Cities or pincodes."),
    key("pricing_band", "word", "", "One of the contract's words for how it is priced."),
    key("callback", "URL", "", "Where completed orders are reported; it ends with the partner's id."),
];

#[rustfmt::skip]
pub(in super::super) static AUTH: &[MountKey] = &[
    key("live_tokens", "file", "empty", "Secrets that are accepted as `Authorization: Bearer`, for live operation."),
    key("sandbox_tokens", "file", "empty", "The same for the sandbox, whose bookings are harmless."),
    key("live_keys", "file", "empty", "Secrets that are accepted as `X-Partner-Auth`, for live operation."),
    key("sandbox_keys", "file", "empty", "The same for the sandbox."),
    key("client_certificates", "list of files", "`[]`", "PEM files with the certificates that a client may present, for live operation."),
    key("sandbox_client_certificates", "list of files", "`[]`", "The same for the sandbox."),
];

#[rustfmt::skip]
pub(in super::super) static MANIFEST: &[MountKey] = &[
    key("legal_name", "text", "", "The name under which the business is registered."),
    key("tier", "tier1 or tier2", "", "Its tier at the caller."),
    key("gstin", "text", "", "Its number for goods and services tax, 15 characters with their check digit."),
    key("licences", "table of texts", "empty", "Kind and number of each licence, such as { fssai = \"…\" }, which food needs, or { rera = \"…\" }, which real estate needs."),
    key("privacy_policy_url", "URL", "", "Its privacy policy, https only."),
    key("min_price_inr", "number", "", "What an order costs at least, in whole rupees."),
    key("max_price_inr", "number", "", "What an order costs at most."),
    key("availability", "text", "", "When orders are taken: `24x7`, or hours such as `Mon-Fri 09:00-18:00, Sat 10:00-14:00`."),
    key("description", "text", "", "What the business offers here, in one line."),
];

#[rustfmt::skip]
pub(in super::super) static NOTIFICATIONS: &[MountKey] = &[
    key("keys", "file", "empty", "Keys that notifications at `<path>/notifications` are signed with, one a line, newest first. Without it every notification is refused."),
];

#[rustfmt::skip]
pub(in super::super) static COMPLETION: &[MountKey] = &[
    key("keys", "file", "empty", "Keys that reports to `callback` are signed with, one a line, the newest first. Without a key they are kept and sent when there is one."),
    key("key_format", "text or hex", "`text`", "Whether the characters of a line are the key, or hexadecimal digits of its bytes."),
];
