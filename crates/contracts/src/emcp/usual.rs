//! What a mount of this contract is like when its operator says nothing else (§1.5, §1.6 of what was observed, with a
//! scope map under which an ordinary client finishes its handshake).

use frontdesk_engine::TenantId;
use frontdesk_engine::model::contract_entry::{MountDefaults, QueryLimits};

use super::{Limits, Settings, scopes};

pub const USUAL: MountDefaults = MountDefaults {
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

impl Settings {
    pub fn of(tenant: &TenantId, limits: QueryLimits) -> Settings {
        let QueryLimits { items, bytes, depth, offset } = limits;
        let limits = Limits { max_result_items: items, max_result_bytes: bytes, max_depth: depth, max_offset: offset };
        Settings { limits, tenant: Some(tenant.as_str().to_owned()) }
    }
}
