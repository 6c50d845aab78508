//! The defaults of a mount of this contract (§1.5 and §1.6 of the observed original, with a scope map under which an
//! ordinary client can complete its handshake).

use frontdesk_engine::TenantId;
use frontdesk_engine::model::contract_entry::{MountDefaults, QueryLimits};
use frontdesk_wire::method::Method;

use super::{EmcpSettings, scopes};

pub const DEFAULTS: MountDefaults = MountDefaults {
    base: "/api/v1/mcp",
    server: "content",
    prefix: "evo_",
    scopes: &[
        (
            scopes::READ,
            &[
                Method::Initialize.as_str(),
                Method::Ping.as_str(),
                Method::ToolsList.as_str(),
                Method::ResourcesList.as_str(),
                Method::ResourcesTemplatesList.as_str(),
                Method::ResourcesRead.as_str(),
                Method::PromptsList.as_str(),
                Method::PromptsGet.as_str(),
                Method::CompletionComplete.as_str(),
                Method::LoggingSetLevel.as_str(),
                Method::ServerDiscover.as_str(),
                "notifications/*",
            ],
        ),
        (scopes::CALL, &[Method::ToolsCall.as_str()]),
        (scopes::ADMIN, &["admin/*"]),
    ],
    write_tools: "evo.write.*",
};

impl EmcpSettings {
    pub fn new(tenant: &TenantId, limits: QueryLimits) -> EmcpSettings {
        EmcpSettings { limits, tenant: Some(tenant.as_str().to_owned()) }
    }
}
