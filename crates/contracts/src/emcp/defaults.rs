//! The defaults of a mount of this contract (§1.5 and §1.6 of the observed original, with a scope map under which an
//! ordinary client can complete its handshake).

use frontdesk_engine::TenantId;
use frontdesk_engine::model::contract_entry::{MountDefaults, QueryLimits};

use super::{EmcpSettings, scopes};

pub const DEFAULTS: MountDefaults = MountDefaults {
    base: "/api/v1/mcp",
    server: "content",
    prefix: "evo_",
    scopes: &[
        (
            scopes::READ,
            &[
                "initialize",
                "ping",
                "tools/list",
                "resources/list",
                "resources/templates/list",
                "resources/read",
                "prompts/list",
                "prompts/get",
                "completion/complete",
                "logging/setLevel",
                "server/discover",
                "notifications/*",
            ],
        ),
        (scopes::CALL, &["tools/call"]),
        (scopes::ADMIN, &["admin/*"]),
    ],
    write_tools: "evo.write.*",
};

impl EmcpSettings {
    pub fn new(tenant: &TenantId, limits: QueryLimits) -> EmcpSettings {
        EmcpSettings { limits, tenant: Some(tenant.as_str().to_owned()) }
    }
}
