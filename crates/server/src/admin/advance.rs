//! What becomes of a booking, as the operator says it. A contract's own tool records it, under the same rules as for a
//! notification.

use std::net::{IpAddr, Ipv4Addr};

use frontdesk_contracts::notification::{ADVANCE_TOOL, field_of, message_of, refusal};
use frontdesk_engine::desk::Mount;
use frontdesk_engine::model::tool::Outcome;
use frontdesk_engine::serve::own_call::{CallOrigin, OwnTool, call_tool};
use frontdesk_engine::{Fault, FaultKind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::requests::AdminService;
use crate::app::{App, PartnerEndpoint};

/// Which booking has come to which stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdvanceTask {
    /// The contract's name.
    pub contract: String,
    /// The path of the mount; all of the contract are tried if there is none.
    pub mount: Option<String>,
    /// The arguments of the tool.
    pub arguments: Map<String, Value>,
}

/// A booking as it is then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdvanceView {
    pub booking_ref: String,
    pub status: String,
    pub stage: String,
}

impl AdminService {
    pub(super) async fn advance(&self, task: AdvanceTask) -> Result<AdvanceView, String> {
        let app = self.app()?;
        let is_asked = |partner: &PartnerEndpoint| task.mount.as_ref().is_none_or(|mount| *mount == partner.path);
        let chosen: Vec<(&PartnerEndpoint, &Mount)> = app
            .mounts
            .partners()
            .filter(|(partner, mount)| mount.contract.id == task.contract && is_asked(partner))
            .collect();
        if chosen.is_empty() {
            let all: Vec<&str> = app.mounts.partners().map(|(partner, _)| partner.path.as_str()).collect();
            let there_are = if all.is_empty() { String::new() } else { format!("; there are: {}", all.join(", ")) };
            return Err(format!("no mount of {} is there{there_are}", task.contract));
        }
        let mut missing = None;
        for (partner, mount) in chosen {
            match call(&app, partner, mount, task.arguments.clone()).await {
                Ok(view) => return Ok(view),
                Err(fault) if refusal(fault.kind).0 == 404 => missing = Some(fault),
                Err(fault) => return Err(explain(&fault)),
            }
        }
        Err(missing.as_ref().map(explain).unwrap_or_default())
    }
}

async fn call(
    app: &App,
    partner: &PartnerEndpoint,
    mount: &Mount,
    arguments: Map<String, Value>,
) -> Result<AdvanceView, Fault> {
    let origin = CallOrigin {
        caller: partner.caller("operator"),
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        trace: app.desk.new_trace(),
        import_id: None,
    };
    match call_tool(&app.desk, mount, &origin, OwnTool::Operator(ADVANCE_TOOL), arguments, None).await? {
        Outcome::One(item) => serde_json::from_str(&item.body).map_err(|_| Fault::internal("the answer is no JSON")),
        Outcome::Raw { .. } | Outcome::Many(_) => Err(Fault::internal("the tool answers with rows")),
    }
}

fn explain(fault: &Fault) -> String {
    match (field_of(fault), &fault.cause) {
        (Some(field), _) => format!("{field}: {}", message_of(fault)),
        (None, Some(cause)) if fault.kind == FaultKind::Internal => cause.clone(),
        (None, _) => message_of(fault),
    }
}
