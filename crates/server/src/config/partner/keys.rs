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
    key("error_status", "ok or equivalent", "`ok`", "The HTTP status of errors other than that of a missing credential: always 200, because common clients lose the body of anything else, or the equivalent that the contract names."),
    key("maintenance", "true or false", "`false`", "Whether every call of a tool is answered as closed for maintenance. The tools stay listed."),
    key("partner", "table", "", "[mount.partner]: what the business says of itself."),
    key("auth", "table", "", "[mount.auth]: the credentials of the caller."),
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
